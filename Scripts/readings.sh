#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes Docs/Readings.md, what is known and guessed about each kind of model, with the built program; --check compares instead.
set -euo pipefail
cd "$(dirname "$0")/.."
apus=${APUS_BIN:-$(swift build -c release --show-bin-path)}/apus
page=$(python3 Tools/readings.py "$apus")
if [[ ${1:-} == --check ]]; then
  diff -u Docs/Readings.md - <<< "$page" || { echo "error: Docs/Readings.md is not current: run Scripts/readings.sh" >&2; exit 1; }
else
  echo "$page" > Docs/Readings.md
fi
