#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the tests need and passes every test: format and rules, the versioned dependency, whole models
# against LiteRT, random graphs and commands, fuzzers for two minutes, the server and Spark, then the unit tests and goldens. Ends with
# the test runner's closing line. With --engine, the server and Spark are left out.
#
# APUS_TEST_DATA names a folder with models/, images/ and labels/; tests of real models are skipped without it.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in
  "" | --engine) ;;
  *) echo "error: unknown option '$1': only --engine is known" >&2; exit 64 ;;
esac
# What the package manager leaves in the folder of temporary files goes with the folder.
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
Scripts/setup.sh --tests
Scripts/check.sh

# One build in one configuration: debug code is a hundred times slower.
swift build -c release --build-tests
bin="$(swift build -c release --show-bin-path)"
apus="$bin/apus"

# What is generated from the code and committed is that of this code.
Scripts/api.sh --check
Scripts/manual.sh --check
Scripts/readings.sh --check
Tools/pages.py --run "$bin"

Scripts/consumer.sh
Scripts/documentation.sh
Scripts/package.sh --test

if [[ -n "${APUS_TEST_DATA:-}" ]]; then
  kernels=$("$apus" kernels --json | .build/python/bin/python -c \
    'import json,sys; print(*[k["name"] for k in json.load(sys.stdin) if k["supported"]], sep=",")')
  echo "== Whole models against LiteRT's reference kernels: each of $kernels with 1 to 8 threads"
  .build/python/bin/python Tools/compare/compare_models.py "$APUS_TEST_DATA/models" --apus "$apus" \
    --kernels "$kernels" --threads 1,2,3,4,5,6,7,8

  echo "== Reported cases: what a person has is answered rightly, or refused"
  Scripts/cases.sh "$apus"
else
  echo "== Whole models and reported cases: skipped, APUS_TEST_DATA is not set"
fi

echo "== Random graphs against LiteRT's reference kernels and against other ways of running: 3,000 known and 1,000 new"
.build/python/bin/python Tools/goldens/graphs.py --apus-probe "$bin/GraphProbe" --seed 1 --count 3000
.build/python/bin/python Tools/goldens/graphs.py --apus-probe "$bin/GraphProbe" --count 1000

echo "== Rows of a batch together and alone, on random graphs: 2,000 known and 1,000 new"
.build/python/bin/python Tools/goldens/rows.py --apus-probe "$bin/GraphProbe" --seed 1 --count 2000
.build/python/bin/python Tools/goldens/rows.py --apus-probe "$bin/GraphProbe" --seed $RANDOM --count 1000

echo "== Random commands on small files of all kinds, checked against properties: 1,500 known and 300 new"
.build/python/bin/python Tools/machines/commands.py --apus "$apus" --seed 1 --count 1500
.build/python/bin/python Tools/machines/commands.py --apus "$apus" --count 300

echo "== Fuzzers: every kept finding, then two minutes of new inputs"
Scripts/fuzz.sh

if [[ ${1:-} != --engine ]]; then
  echo "== The server and the worker"
  Scripts/serving-test.sh
  echo "== Spark"
  Scripts/cluster-test.sh
fi

swift test -c release --skip-build --disable-xctest
