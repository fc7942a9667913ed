#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs Java 17 and PySpark 4, builds the worker, and passes the tests on Spark: local[2,4], local-cluster[2,1,1024], a
# worker and an executor that are killed, and a folder of a thousand pictures by spark-submit.
# Arguments are those of pytest: Scripts/cluster-test.sh -k killed
set -euo pipefail
cd "$(dirname "$0")/.."
Scripts/setup.sh --cluster-tests

swift build -c release --product apus
for product in apus-server apus-worker; do swift build -c release --package-path Serving --product "$product"; done
serving=$(swift build -c release --package-path Serving --show-bin-path)
APUS="$(swift build -c release --show-bin-path)/apus"
APUS_SERVER="$serving/apus-server"
APUS_WORKER="$serving/apus-worker"
PYSPARK_PYTHON=$PWD/.build/spark-python/bin/python
export APUS APUS_SERVER APUS_WORKER PYSPARK_PYTHON
Scripts/cases.sh "$APUS" "$APUS_SERVER" "$APUS_WORKER" "$PYSPARK_PYTHON"
"$PYSPARK_PYTHON" -m pytest -q -p no:cacheprovider Serving/spark "$@"
