#!/bin/bash -eu
# SPDX-License-Identifier: Apache-2.0
# Builds one program and gives it the name of each target: it chooses by its own name.
cd Fuzzing
for configuration in release debug; do
  swift build -c "$configuration" --static-swift-stdlib --sanitize=fuzzer -Xswiftc "-sanitize=fuzzer,$SANITIZER" \
    --product apus-fuzz
  program="$(swift build -c "$configuration" --show-bin-path)/apus-fuzz"
  for target in model run operator differential detection flexbuffer archive labels numpy jpeg png bmp pnm export gallery wav edge calls; do
    suffix=""; if [[ $configuration == debug ]]; then suffix="_debug"; fi
    cp "$program" "$OUT/fuzz-$target$suffix"
    if [[ -f Dictionaries/$target.dict ]]; then cp "Dictionaries/$target.dict" "$OUT/fuzz-$target$suffix.dict"; fi
  done
done
python3 seeds.py seeds
for target in seeds/*; do
  (cd "$target" && zip -q -r "$OUT/fuzz-$(basename "$target")_seed_corpus.zip" .)
done
