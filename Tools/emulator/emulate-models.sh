#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares outputs of whole models: `portable` on this processor with generated sets on the emulated one, byte for byte.
#   emulate-models.sh [-k "SETS"] <build folder> <model.tflite>...      (models with float outputs may differ in last bits)
set -eu
sets="x86-avx512vnni x86-avxvnni"
if [ "$1" = -k ]; then sets=$2; shift 2; fi
build=$(cd "$1" && pwd); shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
i=0
line="true"
for model in "$@"; do
  i=$((i + 1))
  nice -n 19 "$build/apus" run "$model" --kernels portable --threads 1 --output-dir "$work/portable/$i" > /dev/null
  (cd "$work/portable/$i" && sha256sum -- *.npy) | sed "s,^,$(basename "$model") ," >> "$work/expected"
  for set in $sets; do
    line="$line; apus run $model --kernels $set --threads 1 --output-dir \$HOME/$set/$i > /dev/null"
    line="$line; cd \$HOME/$set/$i && sha256sum *.npy | sed 's,^,@ $set $(basename "$model") ,'"
  done
done
"$(dirname "$0")/emulate.sh" -t 1200 "$build" "$line" > "$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
status=0
for set in $sets; do
  sed -n "s/^@ $set //p" "$work/log" > "$work/found"
  if cmp -s "$work/expected" "$work/found"; then
    echo "$set: all $(wc -l < "$work/expected") outputs equal portable's"
  else
    status=1
    echo "$set: differs:"; diff "$work/expected" "$work/found" || true
  fi
done
exit $status
