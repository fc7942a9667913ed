#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the server's tests need, builds the server and the worker, and passes every test of them.
#
# APUS_TEST_DATA names a folder with models/ and images/; tests of real models are skipped without it.
# APUS_SERVING_REQUESTS and APUS_SERVING_FUZZ are how many requests the tests of memory and of malformed requests send.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ $(id -u) == 0 ]] && command -v apt-get > /dev/null; then
  missing=()
  for package in libturbojpeg0-dev libpng-dev libcairo2-dev zlib1g-dev protobuf-compiler curl openssl; do
    dpkg -s "$package" > /dev/null 2>&1 || missing+=("$package")
  done
  if ((${#missing[@]})); then apt-get update -qq && apt-get install -y -qq "${missing[@]}"; fi
fi
python=.build/serving-python/bin/python
if [[ ! -x $python ]]; then python3 -m venv .build/serving-python; fi
$python -m pip --disable-pip-version-check -q install -r Tools/goldens/requirements.txt -r Serving/Tests/requirements.txt

swift format lint --strict --recursive --parallel Serving/Package.swift Serving/Sources/{ApusServing,ApusServer,ApusWorker}

swift build -c release --product apus
for product in apus-server apus-worker; do swift build -c release --package-path Serving --product "$product"; done
serving=$(swift build -c release --package-path Serving --show-bin-path)
APUS="$(swift build -c release --show-bin-path)/apus"
APUS_SERVER="$serving/apus-server"
APUS_WORKER="$serving/apus-worker"
export APUS APUS_SERVER APUS_WORKER
$python -m pytest -q -p no:cacheprovider Serving/Tests "$@"
