#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzzers of requests with AddressSanitizer, and runs each: FuzzBody, FuzzMessage, FuzzPicture.
#
#   Serving/Fuzzing/run.sh [EXECUTIONS] [FUZZER…]      340,000 executions of each are more than a million in all
#
# A finding is left in Serving/Fuzzing/.build/findings; once it is mended, it moves to Serving/Fuzzing/Findings/FUZZER,
# from where it is run first. Needs what Scripts/serving-test.sh installs.
set -euo pipefail
cd "$(dirname "$0")"
executions=${1:-340000}
shift || true
fuzzers=("$@")
if ((${#fuzzers[@]} == 0)); then fuzzers=(FuzzBody FuzzMessage FuzzPicture); fi

python=../../.build/serving-python/bin/python
work=.build/work
mkdir -p "$work" .build/findings
"$python" ../Tests/make_models.py "$work/all"
mkdir -p "$work/models"
for model in dense dense_int8 logarithm mixing nameless open_length simple simple_batch types; do
  cp "$work/all/$model.tflite" "$work/models/"
done
"$python" seeds.py "$work/seeds"

# One flag for both sanitizers: of two, the last one alone would take effect.
build=(swift build -c release --sanitize=fuzzer -Xswiftc -sanitize=fuzzer,address)
for fuzzer in "${fuzzers[@]}"; do "${build[@]}" --product "$fuzzer"; done
bin=$("${build[@]}" --show-bin-path)

export APUS_FUZZ_MODELS=$PWD/$work/models
# With its own backtraces, Swift hangs in the sanitizer's handler.
export SWIFT_BACKTRACE=enable=no
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1
for fuzzer in "${fuzzers[@]}"; do
  mkdir -p "$work/corpus/$fuzzer"
  folders=("$work/corpus/$fuzzer" "$work/seeds/$fuzzer")
  if [[ -d Findings/$fuzzer ]]; then folders+=("Findings/$fuzzer"); fi
  echo "== $fuzzer: $executions executions"
  "$bin/$fuzzer" "${folders[@]}" -runs="$executions" -max_len=8192 -len_control=20 -timeout=20 -rss_limit_mb=3000 \
    -artifact_prefix=".build/findings/$fuzzer-" -print_final_stats=1 -dict=requests.dict > "$work/$fuzzer.log" 2>&1 || {
    tail -40 "$work/$fuzzer.log"
    exit 1
  }
  # Without coverage it would only guess.
  grep -q ' cov: ' "$work/$fuzzer.log" || { echo "error: $fuzzer was built without coverage" >&2; exit 1; }
  grep -E ' DONE |number_of_executed_units|average_exec_per_sec' "$work/$fuzzer.log"
done
