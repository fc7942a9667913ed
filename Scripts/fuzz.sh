#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the readers and the engine with libFuzzer.
#
#   Scripts/fuzz.sh                    replays all kept findings, then fuzzes every target for two minutes in all
#   Scripts/fuzz.sh --replay           replays kept findings and the corpora only
#   Scripts/fuzz.sh TARGET SECONDS     fuzzes one target
#   Scripts/fuzz.sh --totals           sums up the ledger: executions of each target, and hours
#
# With --plain in front there is no AddressSanitizer, which makes executions several times as fast: Swift's own checks trap
# in both builds. Corpora grow in Fuzzing/.build/corpus, and each run is a line of Fuzzing/.build/ledger.tsv. A finding is
# left in Fuzzing/.build/findings and ends the script with 1.
set -euo pipefail
cd "$(dirname "$0")/../Fuzzing"
targets=(model run operator differential detection flexbuffer archive labels numpy jpeg png bmp pnm export gallery wav edge calls)

kind=address scratch=.build sanitizers=fuzzer,address
if [[ "${1:-}" == --plain ]]; then
  kind=plain scratch=.build/plain sanitizers=fuzzer
  shift
fi
if [[ "${1:-}" == --totals ]]; then
  awk -F '\t' '{ count[$3 " " $4] += $5; seconds[$3 " " $4] += $6; all[$4] += $5; hours[$4] += $6 / 3600 }
    END { for (place in count) printf "%s %d executions in %d s\n", place, count[place], seconds[place]
          for (kind in all) printf "all %s %d executions in %.2f hours\n", kind, all[kind], hours[kind] }' \
    .build/ledger.tsv | sort
  exit
fi
if [[ -n "${1:-}" && "$1" != --replay && " ${targets[*]} " != *" $1 "* ]]; then
  echo "error: there is no target '$1', only ${targets[*]}" >&2
  exit 64
fi

# Swift's own backtracer would wait for ever beneath the sanitizer. Short stacks of allocations and a small quarantine make
# executions faster; a finding is looked at with more.
export SWIFT_BACKTRACE=enable=no
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:malloc_context_size=3:quarantine_size_mb=16
limits=(-timeout=20 -rss_limit_mb=2048)

swift build -c release --scratch-path "$scratch" --sanitize=fuzzer -Xswiftc -sanitize="$sanitizers" --product apus-fuzz
bin=$(swift build -c release --scratch-path "$scratch" --show-bin-path)/apus-fuzz
mkdir -p .build/corpus .build/findings
python3 seeds.py .build/corpus

# Messages of calls without a reporter go to standard error, where libFuzzer then writes alone.
quiet() { if [[ $1 == calls ]]; then echo "-close_fd_mask=2"; fi; }

# Runs each file of a target's folders once.
replay() {
  local target=$1 log=.build/$1-replay.log folders=() folder
  for folder in "Kept/$target" ".build/corpus/$target"; do
    if [[ -d $folder ]]; then folders+=("$folder"); fi
  done
  find "${folders[@]}" -type f -print0 | APUS_FUZZ_TARGET=$target xargs -0 -r "$bin" "${limits[@]}" $(quiet "$target") >"$log" 2>&1 \
    || { tail -40 "$log"; echo "error: $target: a kept input fails"; exit 1; }
}

fuzz() { # target, seconds
  local target=$1 seconds=$2 log=.build/$1.log options=() length=4096 began=$SECONDS count
  case $target in model | run | differential | calls) length=16384 ;; esac
  if [[ -f Dictionaries/$target.dict ]]; then options+=("-dict=Dictionaries/$target.dict"); fi
  mkdir -p ".build/corpus/$target"
  APUS_FUZZ_TARGET=$target "$bin" "${options[@]}" "${limits[@]}" $(quiet "$target") -max_total_time="$seconds" -max_len="$length" \
    -print_final_stats=1 -artifact_prefix=".build/findings/$target-" ".build/corpus/$target" >"$log" 2>&1 \
    || { tail -40 "$log"; echo "error: $target found something, see Fuzzing/.build/findings"; exit 1; }
  grep -q 'cov:' "$log" || { echo "error: the build has no coverage"; exit 1; }
  count=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$(date -u +%FT%TZ)" "$(git rev-parse --short HEAD)" "$target" "$kind" "$count" \
    $((SECONDS - began)) >> .build/ledger.tsv
  echo "$target: $count executions"
}

case "${1:-}" in
  "" | --replay)
    for target in "${targets[@]}"; do replay "$target"; done
    echo "every kept input passes"
    if [[ -z "${1:-}" ]]; then
      for target in "${targets[@]}"; do fuzz "$target" 7; done
    fi
    ;;
  *) fuzz "$1" "${2:-60}" ;;
esac
