#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From picture files to boxes: Apus beside OpenCV and LiteRT, stage by stage, in one run.
#
#   Benchmarks/pictures/run.sh MODEL PICTURE… [--rounds 7] [--runs 5] [--threads 1]
#
# Enlarges the pictures to 1080p and 4K in a temporary folder, as JPEG. Installs OpenCV and LiteRT in a Python environment
# under .build/ first, and builds apus-picture-benchmark. Prints a table.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [[ $# -eq 0 || "$1" == -h || "$1" == --help ]]; then
  sed -n '2,7s/^# \{0,1\}//p' "$0"
  exit 0
fi
environment=.build/pictures/python
stamp=$environment/requirements.txt
if ! cmp -s Benchmarks/pictures/requirements.txt "$stamp"; then
  echo "Installing OpenCV and LiteRT in $environment" >&2
  mkdir -p .build/pictures
  python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet --disable-pip-version-check -r Benchmarks/pictures/requirements.txt
  cp Benchmarks/pictures/requirements.txt "$stamp"
fi
swift build -c release --product apus-picture-benchmark >&2
apus="$(swift build -c release --show-bin-path)/apus-picture-benchmark"
exec "$environment/bin/python" Benchmarks/pictures/pictures.py --apus "$apus" "$@"
