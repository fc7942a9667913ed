#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws Examples/Pictures/hidden.png, shapes of grain on a plain ground, and writes their boxes to Tests/Goldens/hidden.json.

A shape is where pixels are a little lighter or darker than the ground by turns, at random, but in each square of 2 × 2 as
light as the ground on the whole. Run it from the root of the package: python3 Tools/pictures/hidden.py. With the argument
--check it also runs the embedded model in LiteRT, before and after the filters, and prints what it finds; that needs what
Tools/goldens/requirements.txt lists, and SciPy.
"""

import argparse
import json
import math

import numpy as np
from PIL import Image, ImageDraw

SIZE = (640, 480)
GROUND = 118
GRAIN = 6
CHAIN = "prewitt:0.7,closing:1,invert,gaussian:1,erosion:1"


def polygon(x, y, radius, corners, turn):
    return [(x + radius * math.cos(turn + 2 * math.pi * k / corners), y + radius * math.sin(turn + 2 * math.pi * k / corners))
            for k in range(corners)]


# Label, center, and the outline.
SHAPES = [
    ("triangle", polygon(140, 150, 95, 3, 0.4)),
    ("rectangle", [(330, 70), (545, 95), (533, 200), (318, 175)]),
    ("pentagon", polygon(175, 350, 88, 5, 0.2)),
    ("circle", polygon(455, 345, 88, 72, 0)),
]


def draw():
    random = np.random.default_rng(4)
    mask = Image.new("L", SIZE)
    canvas = ImageDraw.Draw(mask)
    for _, outline in SHAPES:
        canvas.polygon(outline, fill=255)
    # Each square has two light and two dark pixels, in one of six orders.
    orders = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1], [-1, 1, 1, -1], [-1, 1, -1, 1], [-1, -1, 1, 1]])
    width, height = SIZE
    squares = orders[random.integers(0, 6, (height // 2, width // 2))].reshape(height // 2, width // 2, 2, 2)
    grain = squares.transpose(0, 2, 1, 3).reshape(height, width) * GRAIN
    picture = np.where(np.asarray(mask) > 0, GROUND + grain, GROUND)
    return picture.astype(np.uint8)


def boxes():
    for label, outline in SHAPES:
        x, y = [point[0] for point in outline], [point[1] for point in outline]
        yield {"label": label, "x": min(x), "y": min(y), "width": max(x) - min(x), "height": max(y) - min(y)}


def check(picture):
    import re
    import base64
    import pathlib

    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    import filters

    text = pathlib.Path("Sources/ApusVision/Embedded/ShapesModel.swift").read_text()
    model = base64.b64decode(re.search(r'base64: StaticString = "([^"]*)"', text).group(1))
    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    for name, pixels in (("before", picture), ("after", filters.apply(picture[..., None], CHAIN)[..., 0])):
        small = Image.fromarray(pixels).resize((160, 160), Image.Resampling.BOX)
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], np.asarray(small.convert("RGB"))[None])
        interpreter.invoke()
        rows, classes, scores, _ = (interpreter.get_tensor(o["index"]) for o in interpreter.get_output_details())
        print(name, [(int(c), round(float(s), 2)) for c, s in zip(classes[0], scores[0]) if s > 0.1], "best", scores[0][0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    picture = draw()
    Image.fromarray(picture).save("Examples/Pictures/hidden.png", optimize=True)
    with open("Tests/Goldens/hidden.json", "w") as out:
        out.write("[\n" + ",\n".join(map(json.dumps, boxes())) + "\n]\n")
    if arguments.check:
        check(picture)


if __name__ == "__main__":
    main()
