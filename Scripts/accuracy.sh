#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The accuracy of the models of MLPerf Tiny on its data, as Docs/Accuracy.md lists it: Scripts/accuracy.sh SETS [MODELS]
# It fetches nothing. SETS has four folders, each with y_labels.csv and the files that it names: ic01, vww01, kws01 and ad01. The lists are in
# mlcommons/tiny on GitHub, in benchmark/evaluation/datasets. The files are EEMBC's, for tests only: eembc/energyrunner had them in datasets/, and
# its history still has (git log --all --raw -- datasets); or the scripts in benchmark/training of mlcommons/tiny make them from the original sets.
# MODELS has the .tflite files of mlcommons/tiny, by default those in $APUS_TEST_DATA/models. APUS names another executable.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ $# -lt 1 || $1 == -* ]]; then sed -n '3,8s/^# //p' "$0" >&2; exit 64; fi
sets=$1
models=${2:-${APUS_TEST_DATA:+$APUS_TEST_DATA/models}}
[[ -n $models ]] || { echo "error: name the folder of models, or set APUS_TEST_DATA" >&2; exit 64; }
apus=${APUS:-.build/release/apus}
[[ -x $apus ]] || { echo "error: there is no $apus: swift build -c release --product apus" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# measure SET MODEL LIMIT OPTIONS…
measure() {
  local set=$1 model=$2 limit=$3 file= folder
  shift 3
  folder=$(realpath "$sets/$set" 2> /dev/null || true)
  for file in "$models/$model.tflite" "$models/mlperftiny_$model.tflite"; do [[ -f $file ]] && break; done
  if [[ ! -f $file ]]; then echo "$set  $model  no such model in $models"; return; fi
  if [[ ! -f $folder/y_labels.csv ]]; then echo "$set  $model  no $sets/$set/y_labels.csv"; return; fi
  "$apus" evaluate "$folder/y_labels.csv" --model "$file" --quiet --json "$@" > "$work/$set.json"
  python3 - "$set" "$model" "$limit" "$work/$set.json" << 'END'
import json, sys
name, model, limit, path = sys.argv[1:]
found = json.load(open(path))
if "auc" in found:
    text = f"AUC {found['auc']:.6f} of {found['files']} files, {found['windows']} windows"
else:
    text = f"{found['correct']}/{found['files']} = {100 * found['top1']:.1f} %"
print(f"{name}  {model}  {text}  (limit {limit})")
END
}

measure ic01 pretrainedResnet_quant "85 %" --task classify --type uint8
measure ic01 pretrainedResnet_large_int8 "none" --task classify --type uint8
measure vww01 vww_96_int8 "80 %" --task classify --type uint8
measure kws01 kws_ref_model "90 %" --task classify --type int8
# A window of 2,560 bytes is 640 floats, and a step of 512 bytes is 128.
measure ad01 ad01_int8 "AUC 0.85" --task anomaly --type float32 --step 128
