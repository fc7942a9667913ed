# SPDX-License-Identifier: Apache-2.0
"""CONV_2D and DEPTHWISE_CONV_2D."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from model_builder import ModelBuilder
from operators.multiply_accumulate import draw_products
from operators.windows import draw_window


CONVOLUTIONS = {
    "int16": ["int8 per_channel", "int8", "int8 per_channel narrow", "int8 narrow", "int16"],
    "hybrid": ["int8 per_channel", "int8", "int4 per_channel", "uint8", "int8 per_channel"],
    "int4": ["int4 per_channel", "int4"],
}
DEPTHWISE = {
    "int16": ["int8 per_channel", "int8", "int16"],
    "hybrid": ["int8 per_channel"],
    "int4": ["int4 per_channel", "int4"],
    # The reference set ends at version 6; the only kernel of version 7 rounds in another way.
    "int4_version6": ["int4 per_channel", "int4"],
}


@operator(
    "CONV_2D",
    ("uint8", "int8", "float32", "int16", "hybrid", "int4"),
    cases=18,
    versions={"int8": 3, "int16": 4, "hybrid": 5, "int4": 7},
)
def convolution(draw):
    window = draw_window(draw)
    kind = draw.pick("kind", ["plain"] * 4 + ["grouped"] * 2 + ["long"])
    draw.tag(kind if kind != "plain" else "")
    batch = draw.batch() if kind != "long" else 1
    filter_channels, output_channels, groups = draw.channels(), 0, 1
    if kind == "grouped":
        groups = draw.integer(2, 4)
        filter_channels = draw.integer(1, 4)
        output_channels = groups * draw.integer(1, 3)
    if kind == "long":
        output_channels = draw.integer(1, 3)
        filter_channels = 1025 // np.prod(window.filter) + draw.integer(1, 9)
        window = _shrunk(window)
    taps = int(np.prod(window.filter))
    output_channels = output_channels or draw.channels(4 * draw.limit // (taps * filter_channels))
    image = _fitting(window.image, draw.limit * 6 // (filter_channels * groups * max(batch, 1)), window)

    filter_shape = (output_channels, *window.filter, filter_channels)
    products = draw_products(draw, filter_shape, 0, taps * filter_channels, CONVOLUTIONS)
    bias, bias_quantization = products.bias()
    options = schema.Conv2DOptionsT(
        padding=window.padding,
        strideH=window.strides[0],
        strideW=window.strides[1],
        dilationHFactor=window.dilations[0],
        dilationWFactor=window.dilations[1],
        fusedActivationFunction=draw.activation(),
        **products.bias_options,
    )
    model = ModelBuilder()
    input_shape = (batch, *image, filter_channels * groups)
    operands = [
        model.input(products.inputs(input_shape), products.input_quantization),
        model.constant(products.weights, products.weight_quantization, products.weight_type),
        model.constant(bias, bias_quantization),
    ]
    output = model.output(products.output_type, products.output_quantization)
    return model.operator("CONV_2D", operands, [output], options)


@operator(
    "DEPTHWISE_CONV_2D",
    ("uint8", "int8", "float32", "int16", "hybrid", "int4", "int4_version6"),
    cases=16,
    more={"int16": 30},
    versions={"int8": 3, "int16": 5, "hybrid": 6, "int4": 7, "int4_version6": 6},
)
def depthwise_convolution(draw):
    window = draw_window(draw)
    multiplier = draw.pick("multiplier", [1, 2, 1, 3, 8])
    draw.tag(f"multiplier{multiplier}" if multiplier > 1 else "")
    batch = draw.batch()
    channels = draw.channels(66 // multiplier)
    if draw.flag("one_channel", 6):
        channels, multiplier = 1, draw.choice([4, 9, 16, 20])
    image = _fitting(window.image, draw.limit * 6 // (channels * max(batch, 1)), window)

    filter_shape = (1, *window.filter, channels * multiplier)
    products = draw_products(draw, filter_shape, 3, int(np.prod(window.filter)), DEPTHWISE)
    has_bias = not draw.flag("no_bias", 5)
    options = schema.DepthwiseConv2DOptionsT(
        padding=window.padding,
        strideH=window.strides[0],
        strideW=window.strides[1],
        depthMultiplier=multiplier,
        dilationHFactor=window.dilations[0],
        dilationWFactor=window.dilations[1],
        fusedActivationFunction=draw.activation(),
    )
    model = ModelBuilder()
    operands = [
        model.input(products.inputs((batch, *image, channels)), products.input_quantization),
        model.constant(products.weights, products.weight_quantization, products.weight_type),
    ]
    if has_bias:
        operands.append(model.constant(*products.bias()))
    output = model.output(products.output_type, products.output_quantization)
    return model.operator("DEPTHWISE_CONV_2D", operands, [output], options)


def _shrunk(window):
    """The same window where it has one or two places, for many channels."""
    extents = zip(window.filter, window.dilations)
    image = tuple((size - 1) * dilation + 1 for size, dilation in extents)
    return type(window)(image, window.filter, window.strides, window.dilations, window.padding)


def _fitting(image, pixels, window):
    """The image, cut to about so many pixels, but never below the window's extent."""
    height, width = image
    extents = [(size - 1) * step + 1 for size, step in zip(window.filter, window.dilations)]
    while height * width > pixels and (height > extents[0] or width > extents[1]):
        height, width = max(height - 1, min(height, extents[0])), max(width - 1, min(width, extents[1]))
    return height, width
