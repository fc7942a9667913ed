#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures apus-server beside Triton and MLServer, in one run: requests per second and latency of an identity model of 16
# bytes, of MobileNet v2 and of SSD MobileNet v1, over REST and gRPC, with 1 to 64 clients. Under ten minutes on two processors.
#
#   Benchmarks/serving/run.sh MODELS_DIR [--seconds 3] [--clients 1,8,64] [--servers apus,triton,mlserver]
#                             [--models identity,coco_ssd,mobilenet_v2] [--docs Docs/Benchmarks.md] [--note TEXT]
#
# Installs wrk and perf_analyzer's libraries as root, and the pinned servers under .build/serving-benchmark.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [[ $# -eq 0 || $1 == -h || $1 == --help ]]; then
  sed -n '3,9s/^# \{0,1\}//p' "$0"
  exit 0
fi
models=$(realpath "$1")
shift

Scripts/setup.sh --serving-tests >&2
missing=()
for package in wrk libb64-0d libarchive13; do dpkg -s "$package" > /dev/null 2>&1 || missing+=("$package"); done
if ((${#missing[@]})); then
  run=()
  if [[ $(id -u) -ne 0 ]]; then run=(sudo); fi
  DEBIAN_FRONTEND=noninteractive "${run[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
fi
# A Python environment for each server, and one for the load: their requirements exclude each other.
for name in triton mlserver load; do
  environment=.build/serving-benchmark/$name
  if ! cmp -s "Benchmarks/serving/$name.txt" "$environment/requirements"; then
    echo "Installing $name in $environment" >&2
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check -r "Benchmarks/serving/$name.txt"
    cp "Benchmarks/serving/$name.txt" "$environment/requirements"
  fi
done
swift build -c release --product apus-benchmark >&2
swift build -c release --package-path Serving --product apus-server >&2
APUS_BENCHMARK="$(swift build -c release --show-bin-path)/apus-benchmark"
APUS_SERVER="$(swift build -c release --package-path Serving --show-bin-path)/apus-server"
export APUS_BENCHMARK APUS_SERVER
exec .build/serving-python/bin/python Benchmarks/serving/compare.py "$models" "$@"
