#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs damaged models, pictures, labels, arrays and galleries through the released executable, each within 20 seconds and
# 2 GiB of address space: Scripts/mutants.sh [COUNT [SEED [OPTIONS…]]]. APUS_TEST_DATA names real models and pictures.
set -euo pipefail
cd "$(dirname "$0")/.."
swift build -c release --product apus
data=()
what="goldens"
if [[ -n "${APUS_TEST_DATA:-}" ]]; then
  data=(--data "$APUS_TEST_DATA")
  what="models,models,goldens,pictures,others"
fi
exec .build/python/bin/python Tools/fuzzing/mutants.py --apus "$(swift build -c release --show-bin-path)/apus" "${data[@]}" \
  --what "$what" --count "${1:-1000}" --seed "${2:-0}" --kept .build/findings "${@:3}"
