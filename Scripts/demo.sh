#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds apus, installing what it needs, and finds the shapes in the embedded picture with the embedded model. It is a debug build, which
# takes a third of a release build's time, without the index that editors look things up in.
set -euo pipefail
cd "$(dirname "$0")/.."
Scripts/setup.sh
swift build --product apus --disable-index-store
"$(swift build --show-bin-path)/apus" detect "$@"
