#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares a debug build with a release build byte by byte on two goldens of each operator, and on the models that are given:
# Scripts/debug-release.sh [MODEL…]. Plain kernels are up to a hundred times slower in debug builds, so that models must be small.
set -euo pipefail
cd "$(dirname "$0")/.."
swift build -c release --product apus
swift build -c debug --product apus
exec python3 Tools/compare/compare_builds.py "$(swift build -c debug --show-bin-path)/apus" \
  "$(swift build -c release --show-bin-path)/apus" --kernels default,portable --models "$@"
