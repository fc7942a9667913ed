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
text = open("Sources/ApusShapes/ShapesPicture.swift").read()
open(sys.argv[1], "wb").write(base64.b64decode(re.search(r'StaticString = "([^"]*)"', text).group(1)))
PYTHON

mkdir -p Docs/Pictures
models=Examples/Models
"$apus" detect --annotate Docs/Pictures/detect.jpg
"$apus" segment "$scratch/shapes.jpg" --model $models/colors.tflite --annotate Docs/Pictures/segment.jpg
"$apus" detect Examples/Pictures/squares.png --model $models/squares-yolo.tflite --annotate Docs/Pictures/yolo.png
"$apus" keypoints Examples/Pictures/figure.png --model $models/marked-joints.tflite --annotate Docs/Pictures/poses.png
"$apus" classify Examples/Pictures/sunset.png --model $models/color-classifier.tflite --annotate Docs/Pictures/classify.png
places=(--gallery "$scratch/places.gallery" --model $models/embedder.tflite)
"$apus" gallery add squares Examples/Pictures/squares.png "${places[@]}"
"$apus" gallery add figure Examples/Pictures/figure.png "${places[@]}"
"$apus" filter Examples/Pictures/squares.png "$scratch/blurred.png" --chain gaussian:6
"$apus" gallery find "$scratch/blurred.png" "${places[@]}" --annotate Docs/Pictures/similar.png
people=(--gallery "$scratch/people.gallery" --model $models/embedder.tflite --faces $models/faces.tflite)
"$apus" gallery add Ada Examples/Pictures/ada.png "${people[@]}"
"$apus" gallery add Bo Examples/Pictures/bo.png "${people[@]}"
"$apus" gallery find Examples/Pictures/group.png "${people[@]}" --distance 0.9 --annotate Docs/Pictures/faces.png
