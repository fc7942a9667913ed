#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs operators at large shapes under a limit of time and one of memory, with each kernel set: Scripts/limits.sh [--grown 1] [--only LSTM].
# Takes an hour on two cores; --part 0/8 is an eighth of it. Tools/machines/README.md has the options.
set -euo pipefail
cd "$(dirname "$0")/.."
swift build -c release --product GraphProbe
.build/python/bin/python Tools/machines/limits.py --apus-probe "$(swift build -c release --show-bin-path)/GraphProbe" "$@"
