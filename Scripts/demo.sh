#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds apus, installing what it needs, and finds the shapes in the embedded picture with the embedded model.
set -euo pipefail
cd "$(dirname "$0")/.."
Scripts/setup.sh
swift build -c release --product apus
"$(swift build -c release --show-bin-path)/apus" detect "$@"
