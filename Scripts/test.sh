#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the tests need and runs them. The last line is the test runner's own.
#
#   Scripts/test.sh           format and rules, generated documents, reported cases, random graphs and commands, all unit tests and goldens
#   Scripts/test.sh --quick   format and rules, and random graphs with a debug build: what to run before each commit
#   Scripts/test.sh --engine  also a versioned dependency, documentation, whole models, rows of batches, kept findings of fuzzers
#   Scripts/test.sh --all     also packages, the server, Spark, programs in other languages, fuzzers for two minutes, and what Scripts/draw.sh
#                             draws anew
#
# What is drawn at random has seeds that are known, except with --all: no other run fails by luck.
# APUS_TEST_DATA names a folder with models/, images/ and labels/; tests of real models are skipped without it.
set -euo pipefail
cd "$(dirname "$0")/.."
scope=${1:-}
case $scope in
  "" | --quick | --engine | --all) ;;
  *) echo "error: unknown option '$scope': --quick, --engine and --all are known" >&2; exit 64 ;;
esac
# What the package manager leaves in the folder of temporary files goes with the folder.
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

summary=()
# Runs a part and writes down how long it took.
part() { # title, command...
  local title=$1 began=$SECONDS
  shift
  echo "== $title"
  "$@"
  summary+=("$(printf '%5d s  %s' $((SECONDS - began)) "$title")")
}
skip() { summary+=("skipped  $1: $2"); } # title, reason
summarize() { printf '%s\n' "== Summary" "${summary[@]}"; }

python=.build/python/bin/python
graphs() { "$python" Tools/goldens/graphs.py --apus-probe "$bin/GraphProbe" "$@"; }

Scripts/setup.sh --tests

if [[ $scope == --quick ]]; then
  part "Format and rules" Scripts/check.sh
  part "Debug build" swift build --product GraphProbe --disable-index-store
  bin="$(swift build --show-bin-path)"
  part "300 random graphs against LiteRT's reference kernels" graphs --seed 2 --count 300
  summarize
  exit
fi

# One build in one configuration: debug code is several times slower. Without the plugin, whose tool would compile the engine a second
# time; Scripts/generate-test.sh tests it.
#
# Format and rules are checked beside it: each module waits for those that it imports, so that a processor is idle in the first minutes.
build() {
  local rules status=0
  Scripts/check.sh > "$TMPDIR/rules" 2>&1 & rules=$!
  APUS_WITHOUT_PLUGIN=1 swift build -c release --build-tests || status=$?
  wait "$rules" || status=$?
  cat "$TMPDIR/rules"
  return "$status"
}
part "Release build with tests, and format and rules" build
bin="$(swift build -c release --show-bin-path)"
apus="$bin/apus"

# What is generated from the code and committed is that of this code.
documents() { Scripts/api.sh --check && Scripts/manual.sh --check && Scripts/readings.sh --check && Tools/pages.py --run "$bin"; }
part "Generated documents" documents

if [[ -n $scope ]]; then
  part "A package that depends on a version" Scripts/consumer.sh
  part "Documentation" Scripts/documentation.sh
else
  skip "A versioned dependency, the documentation" "--engine"
fi

if [[ -z "${APUS_TEST_DATA:-}" ]]; then
  skip "Whole models and reported cases" "APUS_TEST_DATA is not set"
else
  models() {
    local kernels
    kernels=$("$apus" kernels --json | "$python" -c \
      'import json,sys; print(*[k["name"] for k in json.load(sys.stdin) if k["supported"]], sep=",")')
    "$python" Tools/compare/compare_models.py "$APUS_TEST_DATA/models" --apus "$apus" --kernels "$kernels" \
      --threads "$1"
  }
  part "Whole models against LiteRT's reference kernels" models "$([[ -n $scope ]] && echo 1,2,3,4,5,6,7,8 || echo 1,2)"
  part "Reported cases: what a person has is answered rightly, or refused" Scripts/cases.sh "$apus"
fi

part "3,000 random graphs against LiteRT's reference kernels and against other ways of running" graphs --seed 1 --count 3000
part "Functions of floats over all exponents, in last places" \
  "$python" Tools/machines/functions.py --apus-probe "$bin/GraphProbe"
part "1,500 random commands, checked against properties" \
  "$python" Tools/machines/commands.py --apus "$apus" --seed 1 --count 1500
if [[ -n $scope ]]; then
  part "Rows of a batch together and alone, on 2,000 random graphs" \
    "$python" Tools/goldens/rows.py --apus-probe "$bin/GraphProbe" --seed 1 --count 2000
  part "200 random programs of several functions" graphs --seed 1 --count 200 --kinds programs
  part "Fuzzers: every kept finding" Scripts/fuzz.sh --replay
else
  skip "Rows of batches, programs, fuzzers" "--engine"
fi
if [[ $scope == --all ]]; then
  part "Debian package" Scripts/package.sh --test
  part "The server and the worker" Scripts/serving-test.sh
  part "Spark" Scripts/cluster-test.sh
  part "Programs in C, C++, Python, Go and Rust" env PYTHON="$PWD/$python" Scripts/bindings-test.sh
  part "Fuzzers: two minutes of new inputs" Scripts/fuzz.sh
  part "Drawn anew" Scripts/draw.sh
else
  skip "Packages, the server, Spark, programs in other languages, new draws" "--all"
fi

summarize

# What failed is said again at the end, where somebody looks first, and where an output that is cut off still has it.
status=0
APUS_WITHOUT_PLUGIN=1 swift test -c release --skip-build --disable-xctest 2>&1 | tee "$TMPDIR/tests" \
  | sed -u '/^◇ Test/d; /Test run with .* tests/d' || status=$?
awk '/^✘ Test run/ { next } /^✘/ { failed = 1; print; next } /^↳/ { if (failed) print; next } { failed = 0 }' "$TMPDIR/tests"
# A runner that was killed has no closing line: what it ran last says where.
grep -a 'Test run with .* tests' "$TMPDIR/tests" || tail -n 40 "$TMPDIR/tests"
exit "$status"
