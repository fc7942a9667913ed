#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes Docs/API, the listing of all that is public, from the modules of a release build; --check compares instead.
set -euo pipefail
cd "$(dirname "$0")/.."
modules=$(swift build -c release --show-bin-path)/Modules
target=$(swift -print-target-info | sed -n 's/.*"unversionedTriple" *: *"\([^"]*\)".*/\1/p' | head -1)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
includes=(-I "$modules")
for flag in $(pkg-config --cflags cairo libpng libturbojpeg); do includes+=(-Xcc "$flag"); done
for folder in Sources/C*/; do includes+=(-Xcc "-fmodule-map-file=$PWD/${folder}module.modulemap"); done
failed=0
for module in Apus ApusVision ApusImages ApusShapes ApusTracking ApusVideo ApusTesting TensorFlowLite; do
  mkdir "$scratch/$module"
  swift symbolgraph-extract -module-name "$module" "${includes[@]}" -target "$target" \
    -minimum-access-level public -skip-synthesized-members -output-dir "$scratch/$module"
  python3 Tools/api.py "$scratch/$module"/*.json > "$scratch/$module.txt"
  if [[ ${1:-} == --check ]]; then
    diff -u "Docs/API/$module.txt" "$scratch/$module.txt" || failed=1
  else
    mkdir -p Docs/API
    cp "$scratch/$module.txt" Docs/API/
  fi
done
((failed == 0)) || echo "error: the public API changed: if that is meant, run Scripts/api.sh and commit Docs/API" >&2
exit $failed
