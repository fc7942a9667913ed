# SPDX-License-Identifier: Apache-2.0
"""Products whose weights are halves that a DEQUANTIZE makes floats, as converters store them."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from graph_builder import GraphBuilder
from operators.transposed import _output_size


def _half(model, draw, shape):
    """Floats of halves, and the tensor of halves behind them."""
    values = draw.values(shape, "float16", magnitude=1 / np.sqrt(np.prod(shape[1:])))
    floats = model.tensor("float32", shape)
    model.add("DEQUANTIZE", [model.constant(values)], [floats], schema.DequantizeOptionsT(), version=3)
    return floats


def _floats(draw, shape):
    return draw.values(np.atleast_1d(shape), "float32", magnitude=1)


@operator("HALF_TRANSPOSE_CONV", ("float32",), cases=12, versions={"float32": 1})
def half_transposed_convolution(draw):
    padding = draw.pick("padding", {"same": 0, "valid": 1})
    taps = draw.pick("filter", [(3, 3), (4, 4), (2, 2), (3, 2), (5, 3), (1, 1)])
    stride = draw.pick("stride", [(2, 2), (2, 2), (1, 1), (3, 2)])
    two = draw.pick("readers", [1, 1, 2])
    draw.tag(f"{taps[0]}x{taps[1]}", f"strides{stride[0]}x{stride[1]}", padding, "two_readers" if two == 2 else "")
    size = (draw.integer(2, 5), draw.integer(2, 5))
    # Above and below the size from which results of constants are computed when somebody reads them.
    channels, filters = draw.pick("channels", [(1, 1), (3, 5), (64, 32), (8, 2)])
    outputs = [_output_size(draw, n, tap, step, padding) for n, tap, step in zip(size, taps, stride)]
    model = GraphBuilder()
    source = model.input(_floats(draw, (1, *size, channels)))
    weights = _half(model, draw, (filters, *taps, channels))
    shape = model.constant(np.array([1, *outputs, filters], np.int32))
    options = schema.TransposeConvOptionsT(padding={"same": 0, "valid": 1}[padding], strideH=stride[0], strideW=stride[1])
    output = model.output("float32")
    model.add("TRANSPOSE_CONV", [shape, weights, source], [output], options, main=True)
    if two == 2:
        negative = model.tensor("float32", ())
        model.add("NEG", [weights], [negative], schema.NegOptionsT())
        model.result(negative)
    return model


@operator("HALF_CONV_2D", ("float32",), cases=12, versions={"float32": 1})
def half_convolution(draw):
    taps = draw.pick("filter", [(3, 3), (1, 1), (2, 3)])
    channels, filters = draw.pick("channels", [(1, 1), (3, 5), (48, 40), (9, 16)])
    reader = draw.pick("also", ["", "reshaped", "shared", ""])
    draw.tag(f"{taps[0]}x{taps[1]}", f"{channels}to{filters}", reader)
    model = GraphBuilder()
    source = model.input(_floats(draw, (1, draw.integer(3, 7), draw.integer(3, 7), channels)))
    weights = _half(model, draw, (filters, *taps, channels))
    if reader == "reshaped":
        flat = model.tensor("float32", ())
        shape = model.constant(np.array([filters * taps[0], taps[1] * channels], np.int32))
        model.add("RESHAPE", [weights, shape], [flat], schema.ReshapeOptionsT())
        model.result(flat)
    bias = model.constant(_floats(draw, filters))
    options = schema.Conv2DOptionsT(padding=0, strideH=1, strideW=1)
    output = model.output("float32")
    model.add("CONV_2D", [source, weights, bias], [output], options, main=True)
    if reader == "shared":
        second = model.tensor("float32", ())
        model.add("CONV_2D", [source, weights, bias], [second], schema.Conv2DOptionsT(padding=0, strideH=2, strideW=2))
        model.result(second)
    return model
