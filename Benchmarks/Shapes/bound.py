#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Estimates which share of the `vpdpbusd` peak layers of few terms could reach where two pipes do all that takes 512 bits.

For sixteen outputs, a product of `s` steps and what makes bytes of its sums take `(s + e) / 2` cycles at least. In single
precision `e` is three instructions where outputs are rectified and four elsewhere, three quarters for packing, up to a half
for the zero point, and a quarter for putting the bytes of narrow panels in order. Layers count as in
`apus-benchmark kernels`: K of at most 64, 49 rows or more.
"""

import math
import pathlib


def steps(filter_height, filter_width, channels, dilation_width, groups):
    """Steps of four bytes: rows of the filter lie side by side, unless dilation or groups part its places."""
    if dilation_width == 1 and groups == 1:
        return filter_height * math.ceil(filter_width * channels / 4)
    return filter_height * filter_width * math.ceil(channels / groups / 4)


def finish(scheme, rectified, vectors):
    zero_point = (0.25 if scheme == "int8" else 0) if rectified else 0.5
    return (3 if rectified else 4) + 0.75 + zero_point + (0.25 if vectors < 4 else 0)


def bound(scheme, lines):
    products = cycles = 0
    for line in lines:
        kind, type_name, *numbers = line.split()
        if kind != "conv" or type_name != scheme:
            continue
        batches, _, _, channels, columns, filter_height, filter_width, height, width = map(int, numbers[:9])
        dilation_width, groups, rectified, count = (int(numbers[place]) for place in (12, 15, 16, 17))
        depth, rows = filter_height * filter_width * channels // groups, batches * height * width
        if depth > 64 or rows < 49:
            continue
        whole, rest = divmod(columns // groups, 64)
        for vectors, panels in ((4, whole), (math.ceil(rest / 16), 1)):
            each = steps(filter_height, filter_width, channels, dilation_width, groups) + finish(
                scheme, rectified, vectors)
            cycles += count * groups * rows * panels * vectors * each / 2
        products += count * rows * depth * columns
    return products / (cycles * 2 * 64)


def main():
    text = pathlib.Path(__file__).with_name("shapes.txt").read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    for scheme in ("uint8", "int8"):
        print(f"{scheme}: {bound(scheme, lines):.1%} of the peak")


if __name__ == "__main__":
    main()
