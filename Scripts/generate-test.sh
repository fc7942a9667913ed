#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a Swift type for every model at hand and compiles it; then builds a package that uses the plugin ApusModels, by a versioned
# dependency, runs it, and breaks it in twelve ways, each of which must end the build with one line that says why.
#
# APUS_TEST_DATA names a folder with models/; without it, the embedded model alone is used.
set -euo pipefail
cd "$(dirname "$0")/.."
swift build -c release --product apus
bin=$(swift build -c release --show-bin-path)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== Every model has a type that compiles"
models=()
if [[ -n ${APUS_TEST_DATA:-} ]]; then models=("$APUS_TEST_DATA"/models/*.tflite); else echo "skipped: APUS_TEST_DATA is not set"; fi
files=()
for model in "${models[@]}"; do
  name=$(basename "$model" .tflite)
  if "$bin/apus" generate "$model" --without-resource --output "$work/$name.swift" 2> "$work/error"; then
    files+=("$work/$name.swift")
  else
    [[ $(wc -l < "$work/error") == 1 ]] || { cat "$work/error"; echo "error: $name: not one line"; exit 1; }
    echo "no type: $(cat "$work/error")"
  fi
done
# Classes of every kind, and more than have cases.
if ((${#models[@]})); then
  printf '%s\n' self init in Type 🐱 3d 'a "b"' 'c\d' ネコ none Self 'a b' 'a-b' > "$work/odd.txt"
  seq 1 2500 | sed 's/^/a "label" \\/' > "$work/many.txt"
  for kind in odd many; do
    "$bin/apus" generate "${models[0]}" --without-resource --name "Labels$kind" --labels "$work/$kind.txt" --output "$work/labels-$kind.swift"
    files+=("$work/labels-$kind.swift")
  done
fi
if ((${#files[@]})); then
  swiftc -typecheck -swift-version 6 -warnings-as-errors -I "$bin/Modules" "${files[@]}"
  echo "${#files[@]} types of ${#models[@]} models compile"
fi

[[ -n ${APUS_TEST_DATA:-} ]] || exit 0

echo "== A package with the plugin, by a version"
# A clone with a tag is what a package manager resolves.
git clone -q --no-hardlinks . "$work/apus"
git -C "$work/apus" tag -f 9.9.9 > /dev/null
# A blank and a letter beyond ASCII: paths of URLs have them as per cent signs.
package="$work/My Shöp"
mkdir -p "$package/Sources/Shop/Models"
good=$APUS_TEST_DATA/models/coco_ssd_mobilenet_v1_1.0_quant_2018_06_29_metadata.tflite
model=$package/Sources/Shop/Models/street.tflite
cp "$good" "$model"
manifest() { # resources
  cat > "$package/Package.swift" <<SWIFT
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
  name: "shop", platforms: [.macOS(.v15)], dependencies: [.package(url: "file://$work/apus", from: "9.9.9")],
  targets: [
    .executableTarget(
      name: "Shop", dependencies: [.product(name: "ApusVision", package: "apus")], $1
      plugins: [.plugin(name: "ApusModels", package: "apus")])
  ])
SWIFT
}
manifest 'resources: [.copy("Models/street.tflite")],'
cat > "$package/Sources/Shop/main.swift" <<'SWIFT'
import ApusVision

let street = try Street()
let output = try street.run(.init(normalizedInputImageTensor: [UInt8](repeating: 0, count: 300 * 300 * 3)))
print(Street.sha256.count, output.boxesCount, Street.Label.allCases.count, Street.Label(rawValue: 0)!.name)
print(try Street.task().detect(ImageBuffer(bytes: [0, 0, 0], width: 1, height: 1, format: .rgb)).detections.count)
SWIFT
"$bin/apus" generate "$model" > "$work/street.txt"
# The test does not know the output's name by heart.
output=$(sed -n '/struct Output/,/^  }/s/^ *let \([A-Za-z0-9`_]*\):.*/\1/p' "$work/street.txt" | head -1)
input=$(sed -n '/struct Input/,/^  }/s/^ *var \([A-Za-z0-9`_]*\):.*/\1/p' "$work/street.txt" | head -1)
sed -i "s/output.boxesCount/output.$output.count/; s/normalizedInputImageTensor/$input/" "$package/Sources/Shop/main.swift"
began=$SECONDS
swift build --package-path "$package" > "$work/log" 2>&1 || { tail -20 "$work/log"; exit 1; }
echo "The first build took $((SECONDS - began)) s"
(cd / && "$package/.build/debug/Shop") | tee "$work/answer"
grep -q '^64 40 [0-9]* person$' "$work/answer"
touch "$model"
began=$SECONDS
swift build --package-path "$package" > "$work/log" 2>&1
echo "A build after a touched model took $((SECONDS - began)) s"

echo "== Labels beside the model"
printf 'someone\nbicycle\n' > "${model%.tflite}.txt"
swift build --package-path "$package" > "$work/log" 2>&1 || { tail -20 "$work/log"; exit 1; }
"$package/.build/debug/Shop" | grep -q ' someone$' || { echo "error: the labels beside the model are not read"; exit 1; }
rm "${model%.tflite}.txt"

echo "== Twelve ways of breaking it"
broken() { # expected text
  if swift build --package-path "$package" > "$work/log" 2>&1; then echo "error: it builds, without: $1"; exit 1; fi
  # After a change of the manifest, the package manager asks a plugin twice, and prints its answer as often.
  [[ $(grep -a "error: .*$1" "$work/log" | sort -u | wc -l) == 1 ]] || { tail -20 "$work/log"; echo "error: not one line with: $1"; exit 1; }
  grep -a "error: .*$1" "$work/log" | sort -u | cut -c1-300
  cp "$good" "$model"
}
head -c 100000 "$good" > "$model"; broken 'street.tflite'
: > "$model"; broken 'street.tflite'
echo 'version https://git-lfs.github.com/spec/v1' > "$model"; broken 'LFS'
echo '<!DOCTYPE html><html></html>' > "$model"; broken 'web page'
printf 'PK\003\004%0100d' 0 > "$model"; broken 'ZIP archive'
printf '\211HDF\r\n\032\n%0100d' 0 > "$model"; broken 'HDF5'
sed 's/TFLite_Detection_PostProcess\x00/TFLite_Detection_PostProceX\x00\x00/' "$good" > "$model"; broken 'TFLite_Detection_PostProceX'
printf '%064d  street.tflite\n' 0 > "$model.sha256"; broken 'not 0000'
printf '%064d  street.tflite\n' 0 | iconv -t UTF-16 > "$model.sha256"; broken 'no text in UTF-8'
: > "$model.sha256"; broken 'is empty'; rm "$model.sha256"
echo '{"0": ' > "${model%.tflite}.json"; broken 'street.json'; rm "${model%.tflite}.json"
manifest ''; broken 'is not a resource of the target'
echo "Each ended the build with one line"
