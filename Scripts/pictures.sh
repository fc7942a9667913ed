#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes the README's pictures to Docs/Pictures: the embedded picture, and those of Examples, annotated by apus.
set -euo pipefail
cd "$(dirname "$0")/.."
swift build -c release --product apus
apus="$(swift build -c release --show-bin-path)/apus"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 - "$scratch/shapes.jpg" <<'PYTHON'
import base64, re, sys
text = open("Sources/ApusVision/Embedded/ShapesPicture.swift").read()
open(sys.argv[1], "wb").write(base64.b64decode(re.search(r'StaticString = "([^"]*)"', text).group(1)))
PYTHON

mkdir -p Docs/Pictures
models=Examples/Models
"$apus" detect --annotate Docs/Pictures/detect.jpg
"$apus" segment "$scratch/shapes.jpg" --model $models/colors.tflite --annotate Docs/Pictures/segment.jpg
"$apus" detect Examples/Pictures/squares.png --model $models/squares-yolo.tflite --annotate Docs/Pictures/yolo.png
"$apus" faces Examples/Pictures/group.png --model $models/faces.tflite --annotate Docs/Pictures/faces.png
