# SPDX-License-Identifier: Apache-2.0
"""MediaPipe's custom operators, which LiteRT lacks: their answers are computed here, as MediaPipe's sources say."""

import struct

import numpy as np

from catalogue import operator
from model_builder import ModelBuilder


@operator("Convolution2DTransposeBias", ("float32",), cases=12)
def transpose_convolution_bias(draw):
    padding = draw.pick("padding", {"same": 1, "valid": 2})
    stride = draw.pick("stride", [(2, 2), (1, 1), (3, 2), (2, 1)])
    taps = draw.pick("filter", [(2, 2), (3, 3), (4, 4), (1, 1), (5, 2)])
    draw.tag(f"{taps[0]}x{taps[1]}", f"strides{stride[0]}x{stride[1]}", padding)
    size = [draw.choice([1, 2, 3, 5]) for _ in range(2)]
    channels, outputs, batch = draw.choice([1, 3, 8]), draw.choice([1, 2, 5, 9]), draw.pick("batch", [1, 2])
    image = draw.values((batch, *size, channels))
    weights, bias = draw.values((outputs, *taps, channels)), draw.values((outputs,))
    model = ModelBuilder()
    operands = [model.input(image), model.constant(weights), model.constant(bias)]
    code = {"same": 1, "valid": 2}[padding]
    model.answer = [_transposed(image, weights, bias, stride, padding == "same")]
    options = struct.pack("<3i", code, stride[1], stride[0])
    output = model.output("float32")
    return model.operator("Convolution2DTransposeBias", operands, [output], custom_options=options)


def _transposed(image, weights, bias, stride, is_same):
    outputs, *taps, _ = weights.shape
    removed, sizes = [], []
    for size, tap, step in zip(image.shape[1:3], taps, stride):
        removed.append(max(0, tap - (size - 1) % step - 1) if is_same else 0)
        sizes.append(step * (size - 1) + tap - removed[-1])
    whole = np.zeros((len(image), *(size + cut for size, cut in zip(sizes, removed)), outputs))
    products = np.einsum("byxi,ohwi->byxhwo", image.astype(np.float64), weights)
    for y in range(image.shape[1]):
        for x in range(image.shape[2]):
            top, left = y * stride[0], x * stride[1]
            whole[:, top : top + taps[0], left : left + taps[1]] += products[:, y, x]
    top, left = removed[0] // 2, removed[1] // 2
    inside = whole[:, top : top + sizes[0], left : left + sizes[1]]
    return (inside + bias).astype(np.float32)


def _pooling(draw):
    padding = draw.pick("padding", {"same": 1, "valid": 2})
    window = draw.pick("window", [(2, 2), (3, 3), (2, 3), (1, 1)])
    stride = draw.pick("stride", [(2, 2), (1, 1), (2, 1)])
    draw.tag(f"{window[0]}x{window[1]}", f"strides{stride[0]}x{stride[1]}", padding)
    return padding, window, stride


def _options(padding, window, stride, activation):
    code = {"same": 1, "valid": 2}[padding]
    return struct.pack("<6i", code, stride[1], stride[0], window[1], window[0], activation)


@operator("MaxPoolingWithArgmax2D", ("float32",), cases=12)
def pooling_with_places(draw):
    padding, window, stride = _pooling(draw)
    size = [tap + draw.integer(0, 4) for tap in window]
    batch, channels = draw.pick("batch", [1, 2]), draw.choice([1, 3, 8])
    image = np.round(draw.values((batch, *size, channels)))
    activation = draw.activation()
    low, high = {0: (-np.inf, np.inf), 1: (0, np.inf), 2: (-1, 1), 3: (0, 6)}[activation]
    is_same = padding == "same"
    counts = [-(-s // t) if is_same else (s - w) // t + 1 for s, w, t in zip(size, window, stride)]
    before = [max(0, (c - 1) * t + w - s) // 2 for c, t, w, s in zip(counts, stride, window, size)]
    maxima = np.zeros((batch, *counts, channels), np.float32)
    places = np.zeros_like(maxima)
    for b, y, x, c in np.ndindex(*maxima.shape):
        best, tap = np.finfo(np.float32).min, 0
        for h, w in np.ndindex(*window):
            row, column = y * stride[0] - before[0] + h, x * stride[1] - before[1] + w
            if 0 <= row < size[0] and 0 <= column < size[1] and image[b, row, column, c] > best:
                best, tap = image[b, row, column, c], h * window[1] + w
        maxima[b, y, x, c], places[b, y, x, c] = np.clip(best, low, high), np.float32(tap) + np.float32(0.1)
    model = ModelBuilder()
    operands = [model.input(image)]
    model.answer = [maxima, places]
    outputs = [model.output("float32"), model.output("float32")]
    options = _options(padding, window, stride, activation)
    return model.operator("MaxPoolingWithArgmax2D", operands, outputs, custom_options=options)


@operator("MaxUnpooling2D", ("float32",), cases=12)
def unpooling(draw):
    padding, window, stride = _pooling(draw)
    size = [draw.integer(1, 4) for _ in range(2)]
    batch, channels = draw.pick("batch", [1, 2]), draw.choice([1, 3, 8])
    image = draw.values((batch, *size, channels))
    taps = draw.values(image.shape, "int32", 100) % (window[0] * window[1] + 1)
    indices = taps.astype(np.float32) + np.float32(0.1)
    large = [s * w for s, w in zip(size, window)]
    before = [max(0, (s - 1) * t + w - n) // 2 for s, t, w, n in zip(size, stride, window, large)]
    answer = np.zeros((batch, *large, channels), np.float32)
    for b, y, x, c in np.ndindex(*image.shape):
        row = y * stride[0] - before[0] + int(taps[b, y, x, c]) // window[1]
        column = x * stride[1] - before[1] + int(taps[b, y, x, c]) % window[1]
        if 0 <= row < large[0] and 0 <= column < large[1]:
            answer[b, row, column, c] = image[b, y, x, c]
    model = ModelBuilder()
    operands = [model.input(image), model.input(indices)]
    model.answer = [answer]
    options = _options(padding, window, stride, 0)
    return model.operator("MaxUnpooling2D", operands, [model.output("float32")], custom_options=options)
