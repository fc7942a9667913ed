#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs Apus, LiteRT and OpenVINO in turn on a folder of models and writes tables and a plot to Benchmarks/results.
#
#   Benchmarks/compare/run.sh MODELS_DIR [--only NAME] [--threads 1,2] [--rounds 15] [--output DIR] …
#
# Installs the pinned peers in a Python environment under .build/ first, and builds apus-benchmark.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [[ $# -eq 0 || "$1" == -h || "$1" == --help ]]; then
  sed -n '2,6s/^# \{0,1\}//p' "$0"
  exit 0
fi
models=$(realpath "$1")
shift

environment=.build/benchmark/python
stamp=$environment/requirements.txt
if ! cmp -s Benchmarks/compare/requirements.txt "$stamp"; then
  echo "Installing LiteRT, OpenVINO and matplotlib in $environment" >&2
  mkdir -p .build/benchmark
  python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet --disable-pip-version-check -r Benchmarks/compare/requirements.txt
  cp Benchmarks/compare/requirements.txt "$stamp"
fi
# Linked with Swift's own libraries, as programs for servers are: the peers' are loaded before they are measured, too.
build=(swift build -c release --static-swift-stdlib --scratch-path .build/benchmark/swift)
"${build[@]}" --product apus-benchmark >&2
apus="$("${build[@]}" --show-bin-path)/apus-benchmark"
exec "$environment/bin/python" Benchmarks/compare/compare.py "$models" --apus "$apus" "$@"
