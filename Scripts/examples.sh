#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs every program of Examples, and compares what it prints with Examples/Expected.
#
# A line of Expected must be printed, in this order; a line that ends with … need only begin so. Arguments has the arguments of
# those programs that take any, one a line; programs that need APUS_TEST_DATA are skipped without it. APUS_EXAMPLES names
# another folder than Examples, APUS_CONFIGURATION another configuration than release; arguments are passed to swift build.
set -euo pipefail
cd "${APUS_EXAMPLES:-$(dirname "$0")/../Examples}"
configuration=${APUS_CONFIGURATION:-release}
swift build -c "$configuration" --quiet "$@"
bin=$(swift build -c "$configuration" --show-bin-path)
failed=0
rm -rf .build/models
for source in Sources/*/*.swift; do
  name=$(basename "$(dirname "$source")")
  if (($(wc -l < "$source") > 40)); then echo "error: $name has more than 40 lines" >&2; failed=1; fi
  arguments=()
  if [[ -e Arguments/$name.txt ]]; then
    if [[ -z ${APUS_TEST_DATA:-} ]]; then echo "$name: skipped, APUS_TEST_DATA is not set"; continue; fi
    while IFS= read -r line; do arguments+=("${line/#\$APUS_TEST_DATA/$APUS_TEST_DATA}"); done < "Arguments/$name.txt"
  fi
  "$bin/$name" "${arguments[@]}" > ".build/$name.txt" || { echo "error: $name failed" >&2; failed=1; continue; }
  python3 - "Expected/$name.txt" ".build/$name.txt" <<'PYTHON' || failed=1
import sys
expected, printed = (open(path, encoding="utf-8").read().splitlines() for path in sys.argv[1:])
position = 0
for line in expected:
    fits = lambda text: text.startswith(line[:-1]) if line.endswith("…") else text == line
    while position < len(printed) and not fits(printed[position]):
        position += 1
    if position == len(printed):
        sys.exit(f"error: {sys.argv[2]} does not print, after what comes before it: {line}")
    position += 1
PYTHON
  echo "$name: as expected"
done
[[ -s detections.png ]] || { echo "error: DetectShapes wrote no picture" >&2; failed=1; }
exit $failed
