# SPDX-License-Identifier: Apache-2.0
"""Convolutions of floats whose filters have infinities and NaN: what lies outside the picture adds nothing, and no NaN."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from graph_builder import GraphBuilder
from operators.windows import PADDINGS

LAYERS = ["CONV_2D", "TRANSPOSE_CONV", "CONV_3D", "DEPTHWISE_CONV_2D", "grouped CONV_2D", "PAD CONV_2D", "PAD DEPTHWISE_CONV_2D"]


@operator("SPECIAL_FILTERS", ("float32",), cases=42)
def special_filter(draw):
    layer = draw.pick("layer", LAYERS)
    draw.tag(layer.replace(" ", "_"))
    padding = "valid" if layer.startswith("PAD") else draw.pick("padding", ["same", "same", "same", "valid"])
    draw.tag(padding if padding == "valid" and not layer.startswith("PAD") else "")
    *_, name = layer.split()
    taps = [draw.choice([1, 2, 3, 3, 4, 5]) for _ in range(3 if name == "CONV_3D" else 2)]
    strides = [draw.choice([1, 1, 2, 3]) for _ in taps]
    # The reference of CONV_3D knows no dilations, and no convolution dilates and strides at once.
    dilates = name == "CONV_2D" and max(strides) == 1 and draw.chance(0.3)
    dilations = [2 if dilates else 1] * 2
    size = [(tap - 1) * dilations[0] + draw.integer(1, 5) for tap in taps]
    # One channel with few filters, one with many taps, and more, have kernels of their own.
    groups = draw.integer(2, 3) if layer.startswith("grouped") else 1
    channels = draw.choice([1, 1, 2, 3, 8]) * groups
    filters = draw.choice([1, 3, 4, 9, 16]) * groups
    batch = draw.integer(1, 2)
    shape = {
        "CONV_2D": (filters, *taps, channels // groups),
        "TRANSPOSE_CONV": (filters, *taps, channels),
        "CONV_3D": (*taps, channels, filters),
        "DEPTHWISE_CONV_2D": (1, *taps, channels * filters),
    }[name]
    outputs = channels * filters if name == "DEPTHWISE_CONV_2D" else filters
    weights = draw.values(shape).astype(np.float32)
    for _ in range(draw.integer(1, 4)):
        weights.flat[draw.integer(0, weights.size - 1)] = draw.choice([np.inf, -np.inf, np.nan, np.inf])
    bias = draw.values((outputs,)).astype(np.float32)

    model = GraphBuilder()
    source = model.input(draw.values((batch, *size, channels)).astype(np.float32))
    operands = [source, model.constant(weights)]
    if layer.startswith("PAD"):
        padded = model.tensor("float32", ())
        amounts = np.array([[0, 0], [draw.integer(0, 2), 1], [1, draw.integer(0, 2)], [0, 0]], np.int32)
        model.add("PAD", [source, model.constant(amounts)], [padded], schema.PadOptionsT())
        operands[0] = padded
    common = {"padding": PADDINGS[padding], "strideH": strides[-2], "strideW": strides[-1]}
    common["fusedActivationFunction"] = draw.activation()
    factors = {"dilationHFactor": dilations[0], "dilationWFactor": dilations[1]}
    if name == "CONV_2D":
        options = schema.Conv2DOptionsT(**common, **factors)
    elif name == "DEPTHWISE_CONV_2D":
        options = schema.DepthwiseConv2DOptionsT(depthMultiplier=filters, **common, **factors)
    elif name == "CONV_3D":
        options = schema.Conv3DOptionsT(strideD=strides[0], **common)
    else:
        options = schema.TransposeConvOptionsT(**common)
        result = [
            (count - 1) * step + (1 if padding == "same" else tap) for count, tap, step in zip(size, taps, strides)
        ]
        operands = [model.constant(np.array([batch, *result, filters], np.int32)), operands[1], source]
    operands.append(model.constant(bias))
    model.add(name, operands, [model.output("float32", None)], options, version=4 if name == "TRANSPOSE_CONV" else 1, main=True)
    return model
