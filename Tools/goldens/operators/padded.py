# SPDX-License-Identifier: Apache-2.0
"""CONV_2D and DEPTHWISE_CONV_2D that read what PAD writes: engines may join the two."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from graph_builder import GraphBuilder
from operators.multiply_accumulate import draw_products
from operators.windows import PADDINGS

VERSIONS = {"int8": 3}


@operator("PADDED_CONV_2D", ("uint8", "int8", "float32"), cases=12, versions=VERSIONS)
def padded_convolution(draw):
    filters, channels = draw.integer(1, 20), draw.integer(1, 9)
    return _padded(draw, "CONV_2D", channels, filters, 0)


@operator("PADDED_DEPTHWISE_CONV_2D", ("uint8", "int8", "float32"), cases=12, versions=VERSIONS)
def padded_depthwise_convolution(draw):
    channels = draw.channels(40)
    return _padded(draw, "DEPTHWISE_CONV_2D", channels, channels, 3)


def _padded(draw, name, channels, filters, axis):
    """An image, rows and columns around it, and a window over both."""
    window = (draw.integer(1, 4), draw.integer(1, 4))
    strides = (draw.integer(1, 2), draw.integer(1, 3))
    amounts = [draw.integer(0, 3) for _ in range(4)]
    image = (draw.integer(4, 9), draw.integer(4, 12))
    padding = draw.pick("padding", {"valid": 1, "same": 0})
    readers = draw.pick("readers", [1, 1, 1, 2])
    draw.tag(f"pad{''.join(map(str, amounts))}", "two_readers" if readers == 2 else "", padding)
    shape = (filters, *window, channels) if axis == 0 else (1, *window, channels)
    products = draw_products(draw, shape, axis, int(np.prod(window)) * (channels if axis == 0 else 1), {})

    model = GraphBuilder()
    source = model.input(products.inputs((draw.integer(1, 2), *image, channels)), products.input_quantization)
    paddings = model.constant(np.array([[0, 0], amounts[:2], amounts[2:], [0, 0]], np.int32))
    type_name = products.output_type
    padded = model.tensor(type_name, (), products.input_quantization)
    model.add("PAD", [source, paddings], [padded], schema.PadOptionsT(), version=2)
    common = {"padding": PADDINGS[padding], "strideH": strides[0], "strideW": strides[1]}
    common["fusedActivationFunction"] = draw.activation()
    options = (
        schema.Conv2DOptionsT(**common)
        if axis == 0
        else schema.DepthwiseConv2DOptionsT(depthMultiplier=1, **common)
    )
    operands = [
        padded,
        model.constant(products.weights, products.weight_quantization, products.weight_type),
        model.constant(*products.bias()),
    ]
    output = model.output(type_name, products.output_quantization)
    model.add(name, operands, [output], options, main=True)
    if readers == 2:
        model.result(padded)
    return model
