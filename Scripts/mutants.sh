#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs damaged models, pictures, archives, labels, arrays and galleries through every command of the released executable that
# takes files, each within 20 seconds and 2 GiB of address space: Scripts/mutants.sh [COUNT [SEED [OPTIONS…]]].
#
# APUS_TEST_DATA names real models and pictures; without it, goldens and random graphs are damaged. A finding is kept with
# its command in .build/findings and makes the status 1.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ ! -x .build/python/bin/python ]]; then Scripts/setup.sh --tests; fi
swift build -c release --product apus
data=()
if [[ -n "${APUS_TEST_DATA:-}" ]]; then data=(--data "$APUS_TEST_DATA"); fi
# A copy, which builds that go on beside this do not replace.
cp "$(swift build -c release --show-bin-path)/apus" .build/apus-for-mutants
exec .build/python/bin/python Tools/fuzzing/mutants.py --apus "$PWD/.build/apus-for-mutants" "${data[@]}" \
  --count "${1:-1000}" --seed "${2:-0}" --kept .build/findings "${@:3}"
