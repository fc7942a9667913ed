#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves that a versioned dependency works: tags a scratch copy of this tree, then builds and runs the programs of Examples
# against it, and the tests of Tests/Client, which see the internals of TensorFlowLite, and of Tests/FormerClient, which are Swift 5
# and XCTest as code for TensorFlowLiteSwift is.
#
#   Scripts/consumer.sh --products [--sizes]   says instead what a consumer of each product resolves and builds, and fails if that is more
#                                              than it asked for; with --sizes, it builds and says which libraries are linked, and their size
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ ${1:-} == --products ]]; then
  exec python3 Tools/products.py "${@:2}"
fi
[[ -z ${1:-} ]] || { echo "error: unknown option '$1': only --products is known" >&2; exit 64; }
python3 Tools/products.py
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

mkdir -p "$scratch/apus" "$scratch/consumer/Tests"
version=$(Scripts/version.sh)
git ls-files -z --cached --others --exclude-standard | grep -zE '^(Package.swift|Sources/|Plugins/)' |
  while IFS= read -r -d '' file; do [[ -e $file ]] && printf '%s\0' "$file"; done | tar --null -T - -cf - | tar -xf - -C "$scratch/apus"
# The tests' targets are declared in the manifest: empty folders stand for them.
git ls-files Tests Benchmarks | grep '\.swift$' | xargs -r -n1 dirname | sort -u | while read -r folder; do
  mkdir -p "$scratch/apus/$folder" && echo '// Left out of this copy.' > "$scratch/apus/$folder/Empty.swift"
done
git -C "$scratch/apus" init -q
git -C "$scratch/apus" add -A
git -C "$scratch/apus" -c user.name=consumer -c user.email=consumer@example.com commit -q -m 'A version'
git -C "$scratch/apus" tag "$version"

cp -r Examples/{Sources,Models,Pictures,Arguments,Expected,References} "$scratch/consumer"
cp -r Tests/Client "$scratch/consumer/Tests/ClientTests"
cp -r Tests/FormerClient "$scratch/consumer/Tests/FormerClientTests"
sed -e "s|.package(name: \"apus\", path: \"..\")|.package(url: \"file://$scratch/apus\", from: \"$version\")|" \
  -e 's|^  targets: \[|&\n    .testTarget(name: "ClientTests", dependencies: [\
      .product(name: "ApusShapes", package: "apus"), .product(name: "TensorFlowLite", package: "apus")]),\
    .testTarget(name: "FormerClientTests", dependencies: [.product(name: "TensorFlowLite", package: "apus")],\
      swiftSettings: [.swiftLanguageMode(.v5)]),|' \
  Examples/Package.swift > "$scratch/consumer/Package.swift"

echo "== A consumer of version $version"
# A debug build, as a consumer's first is: tests see internals in it, and it takes a fraction of the time of a release build.
APUS_EXAMPLES=$scratch/consumer APUS_CONFIGURATION=debug Scripts/examples.sh --build-tests
swift test --package-path "$scratch/consumer" --skip-build
