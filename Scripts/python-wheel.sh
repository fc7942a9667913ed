#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Python package apus-tflite, with the C library inside, as a wheel in a folder.
#
#   Scripts/python-wheel.sh --output DIR [--library FILE]
#
# With --library, an existing libtensorflowlite_c.so is packed; otherwise Scripts/c-library.sh builds it.
set -euo pipefail
cd "$(dirname "$0")/.."
usage() { echo "usage: Scripts/python-wheel.sh --output DIR [--library FILE]" >&2; exit 64; }
output='' library=''
while [[ $# -gt 0 ]]; do
  case $1 in
    --output) output=${2:-} ;;
    --library) library=${2:-} ;;
    *) usage ;;
  esac
  shift 2 || usage
done
[[ -n $output ]] || usage
if [[ -z $library ]]; then
  Scripts/c-library.sh --output Bindings/C/.build/library
  library=Bindings/C/.build/library/lib/libtensorflowlite_c.so
fi
mkdir -p "$output"
python3 Bindings/Python/wheel.py "$(Scripts/version.sh)" "$library" "$output"
