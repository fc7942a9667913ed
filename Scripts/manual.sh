#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes Docs/apus.1, the manual page, from the help of the built program; --check compares instead.
set -euo pipefail
cd "$(dirname "$0")/.."
apus=${APUS_BIN:-$(swift build -c release --show-bin-path)}/apus
page=$("$apus" --experimental-dump-help | python3 Tools/manual.py "$(Scripts/version.sh)")
if [[ ${1:-} == --check ]]; then
  diff -u Docs/apus.1 - <<< "$page" || { echo "error: Docs/apus.1 is not current: run Scripts/manual.sh" >&2; exit 1; }
else
  echo "$page" > Docs/apus.1
fi
