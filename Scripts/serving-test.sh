#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the server's tests need, builds the server and the worker, and passes every test of them.
# Arguments are those of pytest: Scripts/serving-test.sh -k pictures
#
# APUS_TEST_DATA names a folder with models/ and images/; tests of real models are skipped without it.
# APUS_SERVING_REQUESTS and APUS_SERVING_FUZZ are how many requests the tests of memory and of malformed requests send:
# 200000 and 100000 take about five minutes each. APUS_SERVING_RANDOM is how many requests are drawn at random in the end,
# by default 3000, if there are no arguments.
set -euo pipefail
cd "$(dirname "$0")/.."
Scripts/setup.sh --serving-tests

swift build -c release --product apus
for product in apus-server apus-worker; do swift build -c release --package-path Serving --product "$product"; done
serving=$(swift build -c release --package-path Serving --show-bin-path)
APUS="$(swift build -c release --show-bin-path)/apus"
APUS_SERVER="$serving/apus-server"
APUS_WORKER="$serving/apus-worker"
export APUS APUS_SERVER APUS_WORKER
if (($# == 0)); then swift test -c release --package-path Serving --disable-testable-imports --disable-xctest; fi
Scripts/cases.sh "$APUS" "$APUS_SERVER"
.build/serving-python/bin/python -m pytest -q -p no:cacheprovider --durations=5 Serving/Tests "$@"
if (($# == 0)); then .build/serving-python/bin/python Serving/Tests/random_requests.py --count "${APUS_SERVING_RANDOM:-3000}"; fi
