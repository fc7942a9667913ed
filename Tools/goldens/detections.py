#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes Tests/Goldens/detections.json: what LiteRT's reference kernels find in real pictures.

Needs Pillow besides requirements.txt. Run it from the root of the package, with a folder that has `models/` and
`images/`:

    .venv/bin/python Tools/goldens/detections.py "$APUS_TEST_DATA"

Pictures are resized by the rule that `ResizeFilter` documents, written here a second time, so that the tests
compare the pixels (by their CRC-32), too.
"""

import argparse
import json
import pathlib
import zlib

import numpy as np
from PIL import Image

from reference import Reference

ONE = 32768

# Which output holds boxes, classes, scores and the count.
FIRST_TENSORFLOW = (0, 1, 2, 3)
SECOND_TENSORFLOW = (1, 3, 0, 2)

COCO = ("coco_ssd_mobilenet_v1_1.0_quant_2018_06_29", FIRST_TENSORFLOW, 300)
FACES = ("thermal_face_automl_edge_fast", FIRST_TENSORFLOW, 192)
CUSTOM = ("custom_ssd_mobilenet_v2_fpn_lite_320x320_flutter", SECOND_TENSORFLOW, 320)
CASES = [
    (COCO, "cats_and_dogs.jpg", "stretch"),
    (COCO, "cats_and_dogs.jpg", "centerCrop"),
    (COCO, "cats_and_dogs.jpg", "letterbox"),
    (COCO, "burger.jpg", "stretch"),
    (COCO, "grace_hopper.bmp", "letterbox"),
    (COCO, "multi_objects.jpg", "stretch"),
    (COCO, "sparrow.png", "centerCrop"),
    (FACES, "grace_hopper.bmp", "stretch"),
    (FACES, "segmentation_input_rotation0.jpg", "stretch"),
    (CUSTOM, "segmentation_input_rotation0.jpg", "stretch"),
]


def axis(source, target):
    """For each result, the first source pixel and the weights."""
    for index in range(target):
        if source > 2 * target:
            begin, end = index * source, (index + 1) * source
            first, total, weights = begin // target, 0, []
            for pixel in range(first, -(-end // target)):
                covered = min(end, (pixel + 1) * target) - begin
                rounded = (2 * covered * ONE + source) // (2 * source)
                weights.append(rounded - total)
                total = rounded
            yield first, weights
            continue
        position = (2 * index + 1) * source - target
        if position <= 0:
            yield 0, [ONE]
            continue
        start, fraction = divmod(position, 2 * target)
        second = (fraction * ONE + target) // (2 * target)
        if start >= source - 1:
            yield source - 1, [ONE]
        else:
            yield start, [ONE - second, second]


def resized(pixels, width, height):
    pixels = pixels.astype(np.uint64)
    rows = np.stack([
        sum(pixels[start + tap] * weight for tap, weight in enumerate(weights))
        for start, weights in axis(pixels.shape[0], height)
    ])
    sums = np.stack([
        sum(rows[:, start + tap] * weight for tap, weight in enumerate(weights))
        for start, weights in axis(pixels.shape[1], width)
    ], axis=1)
    return ((sums + (1 << 29)) >> 30).astype(np.uint8)


def prepared(pixels, size, fit):
    """The input, and the part of the picture and of the input that show the same: x, y, width, height."""
    height, width = pixels.shape[:2]
    source, target = (0, 0, width, height), (0, 0, size, size)
    if fit == "centerCrop":
        side = min(width, height)
        source = ((width - side) // 2, (height - side) // 2, side, side)
    elif fit == "letterbox":
        longer = max(width, height)
        inner = tuple((2 * side * size + longer) // (2 * longer) for side in (width, height))
        target = ((size - inner[0]) // 2, (size - inner[1]) // 2, *inner)
    result = np.zeros((size, size, 3), np.uint8)
    x, y, w, h = source
    left, top, inner_width, inner_height = target
    result[top:top + inner_height, left:left + inner_width] = resized(
        pixels[y:y + h, x:x + w], inner_width, inner_height)
    return result, source, target


def in_picture(box, source, target, size):
    """A box of the model, as top, left, bottom, right in pixels of the picture."""
    def place(value, axis):
        return (value * size - target[axis]) * source[axis + 2] / target[axis + 2] + source[axis]

    top, left, bottom, right = map(float, box)
    return place(top, 1), place(left, 0), place(bottom, 1), place(right, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=pathlib.Path, help="a folder with models/ and images/")
    data = parser.parse_args().data
    reference = Reference()
    found = []
    for (model, order, size), image, fit in CASES:
        pixels = np.array(Image.open(data / "images" / image).convert("RGB"))
        pixels, source, target = prepared(pixels, size, fit)
        answers = reference.run(data / "models" / f"{model}.tflite", [pixels[None]])
        boxes, classes, scores, count = (answers[position] for position in order)
        rows = [row for row in range(int(count[0])) if scores[0, row] >= 0.3][:10]
        found.append({
            "model": model, "image": image, "fit": fit, "pixels": zlib.crc32(pixels.tobytes()),
            "objects": [{
                "index": int(classes[0, row]), "score": float(str(scores[0, row])),
                "edges": [round(edge, 4) for edge in in_picture(boxes[0, row], source, target, size)],
            } for row in rows]})
    reference.close()
    path = pathlib.Path(__file__).resolve().parents[2] / "Tests/Goldens/detections.json"
    path.write_text("[\n" + ",\n".join(map(json.dumps, found)) + "\n]\n")


if __name__ == "__main__":
    main()
