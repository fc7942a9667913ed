#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes Tests/Goldens/filters.json: what NumPy and SciPy have for filtered pictures.

The rules are those of GPUImage 2's filters, on bytes. Needs NumPy and SciPy. Run it from the root of the package:
python3 Tools/pictures/filters.py
"""

import base64
import json
import math

import numpy as np
from scipy import ndimage

CHANNELS = {"gray": 1, "rgb": 3, "bgra": 4}
SEED_CHAIN = "prewitt:0.7,closing:1,invert,gaussian:1,erosion:1"


def rounded(values):
    return np.clip(np.floor(values + 0.5), 0, 255).astype(np.uint8)


def edges(colors, strength, side, luminance):
    red = colors[..., 0]
    if luminance and colors.shape[2] == 3:
        red = (colors.astype(np.int64) @ [19595, 38470, 7471] + 32768) >> 16
    kernel = np.array([[-1, -side, -1], [0, 0, 0], [1, side, 1]], np.float64)
    h = ndimage.correlate(red.astype(np.float64), kernel, mode="nearest")
    v = ndimage.correlate(red.astype(np.float64), kernel.T, mode="nearest")
    level = rounded(np.sqrt(h * h + v * v) * strength)
    return np.repeat(level[..., None], colors.shape[2], 2)


def extreme(colors, radius, function):
    return function(colors, size=(2 * radius + 1, 2 * radius + 1, 1), mode="nearest")


def blur(colors, radius):
    sigma = math.floor(radius + 0.5)
    if not sigma:
        return colors
    reach = int(math.sqrt(-2 * sigma**2 * math.log(sigma * math.sqrt(2 * math.pi) / 256)))
    reach += reach % 2
    weights = np.exp(-np.arange(-reach, reach + 1) ** 2 / (2 * sigma**2))
    for axis in (1, 0):
        colors = rounded(ndimage.correlate1d(colors.astype(np.float64), weights / weights.sum(), axis, mode="nearest"))
    return colors


def apply(colors, chain):
    for step in chain.split(","):
        name, *parameters = step.split(":")
        number = float(parameters[0]) if parameters else 1
        if name in ("prewitt", "sobel"):
            colors = edges(colors, number, 1 if name == "prewitt" else 2, "luminance" in parameters)
        elif name == "invert":
            colors = 255 - colors
        elif name == "gaussian":
            colors = blur(colors, number)
        else:
            order = {"erosion": [ndimage.minimum_filter], "dilation": [ndimage.maximum_filter],
                     "closing": [ndimage.maximum_filter, ndimage.minimum_filter]}[name]
            for function in order:
                colors = extreme(colors, int(number), function)
    return colors


def main():
    random = np.random.default_rng(6)
    chains = ["prewitt", "prewitt:0.25:luminance", "sobel:0.7", "sobel:1:luminance", "erosion", "erosion:3", "dilation:2",
              "dilation:40", "closing", "closing:2", "invert", "gaussian:0.4", "gaussian", "gaussian:2.5", "gaussian:9",
              "erosion:0", SEED_CHAIN]
    cases = []
    for width, height, form in [(23, 17, "rgb"), (16, 9, "bgra"), (19, 5, "gray"), (1, 7, "rgb"), (1, 1, "gray")]:
        # Steps and slopes with some noise: bytes of noise alone would be 255 after any edge filter.
        x, y = np.meshgrid(np.arange(width), np.arange(height))
        base = (x * 5 + y * 9) % 200 + 40 * ((x // 5 + y // 4) % 2)
        shape = (height, width, CHANNELS[form])
        picture = np.clip(base[..., None] + random.integers(-20, 21, shape), 0, 255).astype(np.uint8)
        for chain in chains:
            colors = picture[..., 2::-1] if form == "bgra" else picture
            result = apply(colors, chain)
            if form == "bgra":
                result = np.concatenate([result[..., ::-1], picture[..., 3:]], 2)
            cases.append({"chain": chain, "width": width, "height": height, "format": form,
                          "pixels": base64.b64encode(picture.tobytes()).decode(),
                          "result": base64.b64encode(np.ascontiguousarray(result).tobytes()).decode()})
    with open("Tests/Goldens/filters.json", "w") as out:
        out.write("[\n" + ",\n".join(map(json.dumps, cases)) + "\n]\n")
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    main()
