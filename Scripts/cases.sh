#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the cases of APUS_TEST_DATA/cases, which people reported about this and other engines:
#
#   Scripts/cases.sh APUS                                          what commands answer
#   Scripts/cases.sh APUS SERVER [WORKER PYTHON_WITH_PYSPARK]      what servers and clusters answer, too
#
# Does nothing without the folder. The status is 1 if a case fails.
set -euo pipefail
cd "$(dirname "$0")/.."
cases=${APUS_TEST_DATA:-}/cases
if [[ -z ${APUS_TEST_DATA:-} || ! -d $cases ]]; then
  echo "skipped: APUS_TEST_DATA names no folder with cases/"
  exit
fi
failed=0
if (($# == 1)); then bash "$cases/check.sh" "$1" || failed=1; fi
SPARK_PROGRAM=$PWD/Serving/spark/apus_spark.py bash "$cases/ground.sh" "$@" || failed=1
exit $failed
