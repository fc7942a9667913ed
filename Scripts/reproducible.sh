#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds apus and apus-benchmark twice, from clones of the last commit in two folders of different names, and compares the
# programs as they are released: with Swift's libraries inside, and stripped. The status is 1 if a byte differs.
#
# Paths of the folders would end in debugging information and in messages; -file-prefix-map replaces them.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for name in one another-folder; do
  folder=$scratch/$name/apus
  git clone -q "file://$PWD" "$folder"
  for product in apus apus-benchmark; do
    swift build --package-path "$folder" -c release --static-swift-stdlib --product "$product" --quiet \
      -Xswiftc -file-prefix-map -Xswiftc "$folder=."
    strip --strip-unneeded -o "$scratch/$name/$product" "$folder/.build/release/$product"
  done
  rm -rf "$folder/.build"
done
failed=0
for product in apus apus-benchmark; do
  if cmp "$scratch/one/$product" "$scratch/another-folder/$product"; then
    sha256sum "$scratch/one/$product" | sed "s|$scratch/one/||"
  else
    failed=1
  fi
done
exit $failed
