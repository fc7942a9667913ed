#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the readers and the engine with libFuzzer and AddressSanitizer.
#
#   Scripts/fuzz.sh                    replays all kept findings, then fuzzes every target for two minutes in all
#   Scripts/fuzz.sh --replay           replays kept findings and seeds only
#   Scripts/fuzz.sh TARGET SECONDS     fuzzes one target
#
# Corpora grow in Fuzzing/.build/corpus; a finding is left in Fuzzing/.build/findings and ends the script with 1.
set -euo pipefail
cd "$(dirname "$0")/../Fuzzing"
# Swift's own backtracer would wait for ever beneath the sanitizer.
export SWIFT_BACKTRACE=enable=no
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
targets=(model run operator differential detection flexbuffer archive labels numpy jpeg png bmp pnm export gallery)

swift build -c release --sanitize=fuzzer -Xswiftc -sanitize=fuzzer,address --product apus-fuzz
bin="$PWD/$(swift build -c release --show-bin-path | sed "s|^$PWD/||")/apus-fuzz"
mkdir -p .build/corpus .build/findings
python3 seeds.py .build/corpus

fuzz() { # target, seconds
  local target="$1" seconds="$2" log
  log=".build/$target.log"
  mkdir -p ".build/corpus/$target"
  local dictionary=()
  if [[ -f "Dictionaries/$target.dict" ]]; then dictionary=("-dict=Dictionaries/$target.dict"); fi
  APUS_FUZZ_TARGET="$target" "$bin" "${dictionary[@]}" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
    -max_len=16384 -print_final_stats=1 -artifact_prefix=".build/findings/$target-" ".build/corpus/$target" "Kept/$target" \
    >"$log" 2>&1 || { tail -40 "$log"; echo "error: $target found something, see Fuzzing/.build/findings"; exit 1; }
  grep -q 'cov:' "$log" || { echo "error: the build has no coverage"; exit 1; }
  echo "$target: $(grep -o 'stat::number_of_executed_units: *[0-9]*' "$log" | grep -o '[0-9]*$') executions"
}

for target in "${targets[@]}"; do
  mkdir -p "Kept/$target" ".build/corpus/$target"
  find "Kept/$target" ".build/corpus/$target" -type f -size -64k -print0 \
    | APUS_FUZZ_TARGET="$target" xargs -0 -r "$bin" -timeout=20 -rss_limit_mb=2048 >".build/$target-replay.log" 2>&1 \
    || { tail -40 ".build/$target-replay.log"; echo "error: $target: a kept input fails"; exit 1; }
done
echo "every kept input passes"
case "${1:-}" in
  --replay) ;;
  "") for target in "${targets[@]}"; do fuzz "$target" 8; done ;;
  *) fuzz "$1" "${2:-60}" ;;
esac
