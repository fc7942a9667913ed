# SPDX-License-Identifier: Apache-2.0
"""TRANSPOSE_CONV, BATCH_MATMUL, CONV_3D and CONV_3D_TRANSPOSE."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from model_builder import ModelBuilder, Quantization
from operators.multiply_accumulate import draw_products

MIXES = {
    "int16": ["int8 per_channel", "int8", "int8 per_channel narrow", "int8 narrow"],
    "hybrid": ["int8 per_channel", "int8"],
}


@operator(
    "TRANSPOSE_CONV",
    ("uint8", "int8", "float32", "int16", "hybrid"),
    cases=16,
    more={"int8": 24, "int16": 28},
    versions={"int8": 3, "int16": 4, "hybrid": 5, "uint8": 4, "float32": 4},
)
def transpose_convolution(draw):
    padding = draw.pick("padding", {"same": 0, "valid": 1})
    stride = draw.pick("stride", [(2, 2), (1, 1), (2, 2), (3, 2), (1, 4)])
    taps = draw.pick("filter", [(3, 3), (2, 2), (4, 4), (1, 1), (draw.integer(1, 5), draw.integer(1, 5))])
    draw.tag(f"{taps[0]}x{taps[1]}", f"strides{stride[0]}x{stride[1]}" if stride != (1, 1) else "", padding)
    draws = [draw.choice([1, 2, 3, 4, 5, 7]) for _ in range(2)]
    sizes = [_output_size(draw, size, tap, step, padding) for size, tap, step in zip(draws, taps, stride)]
    batch = draw.pick("batch", [1, 1, 2])
    input_channels = draw.channels(max(draw.limit // (draws[0] * draws[1]), 3))
    output_channels = draw.channels(4 * draw.limit // (taps[0] * taps[1] * input_channels))
    if draw.type in MIXES:
        output_channels = max(output_channels, 2)  # one scale says nothing of scales for each channel
    products = draw_products(
        draw, (output_channels, *taps, input_channels), 0, taps[0] * taps[1] * input_channels, MIXES
    )
    options = schema.TransposeConvOptionsT(
        padding={"same": 0, "valid": 1}[padding],
        strideH=stride[0],
        strideW=stride[1],
        fusedActivationFunction=draw.activation(),
        **products.bias_options,
    )
    model = ModelBuilder()
    operands = [
        model.index_operand(np.array([batch, *sizes, output_channels], np.int32), draw.flag("dynamic_shape", 6)),
        model.constant(products.weights, products.weight_quantization),
        model.input(products.inputs((batch, *draws, input_channels)), products.input_quantization),
    ]
    if not draw.flag("no_bias", 4):
        operands.append(model.constant(*products.bias()))
    output = model.output(products.output_type, products.output_quantization)
    return model.operator("TRANSPOSE_CONV", operands, [output], options)


def _output_size(draw, size, taps, step, padding):
    """Some size that a convolution turns into `size`."""
    if padding == "same":
        return max((size - 1) * step + 1 + draw.integer(0, step - 1), 1)
    return (size - 1) * step + taps + draw.integer(0, step - 1)


BATCHES = [
    ((), ()),
    ((2,), (2,)),
    ((3,), ()),
    ((), (2,)),
    ((2, 3), (2, 3)),
    ((2, 1), (1, 3)),
    ((1, 2), (2,)),
    ((2, 3), (1, 1)),
    ((2, 1, 2), (1, 3, 1)),
]


@operator(
    "BATCH_MATMUL",
    ("int8", "float32", "int16", "hybrid", "int16x8"),
    cases=24,
    versions={"int8": 2, "int16": 3, "hybrid": 1, "int16x8": 4},
)
def batch_product(draw):
    outer = draw.pick("batches", BATCHES)
    if draw.type == "hybrid":
        # With more dimensions of batches, the reference takes the scales of other rows.
        outer = draw.pick("batches", [((), ()), ((3,), ()), ((2,), ())])
    adj_x, adj_y = draw.flag("adj_x", 2), draw.flag("adj_y", 3)
    rows, columns = draw.choice([1, 2, 3, 5, 8]), draw.choice([1, 3, 4, 7, 8, 9])
    depth = draw.choice([1, 3, 7, 8, 16, 17, 33])
    is_row = draw.type == "float32" and draw.flag("row", 5)
    if is_row:
        # A row times the rows of a matrix that only a run knows.
        rows, columns, adj_y = 1, draw.choice([4, 9, 33]), True
    lhs_shape = (*outer[0], *((depth, rows) if adj_x else (rows, depth)))
    rhs_shape = (*outer[1], *((columns, depth) if adj_y else (depth, columns)))
    draw.tag("x".join(map(str, outer[0])) or "1", "by", "x".join(map(str, outer[1])) or "1")
    kind = {"int16x8": "int16", "hybrid": "float32"}.get(draw.type, draw.type)
    rhs_kind = {"int16x8": "int8", "hybrid": "int8"}.get(draw.type, draw.type)
    def quantization(name, topic):
        if name == "float32":
            return None
        zero_point = draw.zero_point(topic, name) if draw.type == "int8" else 0
        return Quantization.per_tensor(draw.power(-9, -4), zero_point)

    lhs_quantization, rhs_quantization = quantization(kind, "lhs"), quantization(rhs_kind, "rhs")
    if draw.type == "hybrid" and columns > 1 and draw.flag("per_channel", 3):
        axis = len(rhs_shape) - (2 if adj_y else 1)
        rhs_quantization = Quantization(tuple(draw.power(-9, -4) for _ in range(columns)), (0,) * columns, axis)
    elif kind != "float32" and columns > 1 and draw.flag("per_channel", 3):
        # The reference takes no notice of these scales: its outputs are zero points, or plain sums.
        axis = len(rhs_shape) - (2 if adj_y else 1)
        rhs_quantization = Quantization(tuple(draw.power(-9, -4) for _ in range(columns)), (0,) * columns, axis)
    output_quantization = None
    if kind != "float32":
        unit = lhs_quantization.scale * rhs_quantization.scale
        spread = {"int8": 74, "int16": 18_000}
        steps = {"int8": 50, "int16": 10_000}[kind]
        scale = unit * spread[kind] * spread[rhs_kind] * 2 * depth**0.5 / steps * draw.real(0.3, 2)
        output_quantization = Quantization.per_tensor(scale, draw.zero_point("output", kind) if kind == "int8" else 0)
    model = ModelBuilder()
    rhs = draw.values(rhs_shape, rhs_kind, 127 if draw.type == "hybrid" else None)
    operands = [model.input(draw.values(lhs_shape, kind), lhs_quantization)]
    if draw.type == "hybrid" or not is_row and draw.flag("constant", 2):
        operands.append(model.constant(rhs, rhs_quantization))
    else:
        operands.append(model.input(rhs, rhs_quantization))
    options = schema.BatchMatMulOptionsT(adjX=adj_x, adjY=adj_y)
    if draw.type == "hybrid":
        options.asymmetricQuantizeInputs = draw.flag("asymmetric", 2)
    if draw.type == "int8" and draw.flag("wide", 6):
        output = model.output("int32", None)
    else:
        output = model.output(kind, output_quantization)
    return model.operator("BATCH_MATMUL", operands, [output], options)


def _volume(draw):
    """A window in three dimensions: filter, strides, dilations and padding."""
    padding = draw.pick("padding", ["same", "valid"])
    taps = draw.pick("filter", [(1, 1, 1), (3, 3, 3), (2, 2, 2), (1, 3, 2), (3, 1, 1)])
    strides = draw.pick("strides", [(1, 1, 1), (2, 2, 2), (1, 2, 1), (2, 1, 3)])
    dilations = draw.pick("dilations", [(1, 1, 1), (1, 1, 1), (1, 1, 1), (2, 1, 2)])
    draw.tag("x".join(map(str, taps)), f"strides{''.join(map(str, strides))}", padding)
    draw.tag("dilated" if dilations != (1, 1, 1) else "")
    return padding, taps, strides, dilations


def _volume_options(padding, strides, dilations, activation):
    return schema.Conv3DOptionsT(
        padding={"same": 0, "valid": 1}[padding],
        strideD=strides[0],
        strideH=strides[1],
        strideW=strides[2],
        fusedActivationFunction=activation,
        dilationDFactor=dilations[0],
        dilationHFactor=dilations[1],
        dilationWFactor=dilations[2],
    )


@operator("CONV_3D", ("float32",), cases=14)
def volume_convolution(draw):
    padding, taps, strides, dilations = _volume(draw)
    extents = [(tap - 1) * step + 1 for tap, step in zip(taps, dilations)]
    low = extents if padding == "valid" else (1, 1, 1)
    size = [least + draw.integer(0, 3) for least in low]
    channels, outputs = draw.choice([1, 2, 3, 5]), draw.choice([1, 2, 7, 9])
    model = ModelBuilder()
    operands = [
        model.input(draw.values((draw.pick("batch", [1, 2]), *size, channels))),
        model.constant(draw.values((*taps, channels, outputs))),
    ]
    if not draw.flag("no_bias", 3):
        operands.append(model.constant(draw.values((outputs,))))
    options = _volume_options(padding, strides, dilations, draw.activation())
    return model.operator("CONV_3D", operands, [model.output("float32")], options)


@operator("CONV_3D_TRANSPOSE", ("float32",), cases=14)
def volume_transpose_convolution(draw):
    padding, taps, strides, dilations = _volume(draw)
    size = [draw.integer(1, 3) for _ in range(3)]
    outputs = []
    for axis in range(3):
        extent = (taps[axis] - 1) * dilations[axis] + 1
        outputs.append(_output_size(draw, size[axis], extent, strides[axis], padding))
    batch, channels, output_channels = draw.pick("batch", [1, 2]), draw.choice([1, 2, 5]), draw.choice([1, 3, 8])
    model = ModelBuilder()
    shape = np.array([batch, *outputs, output_channels], np.int32)
    operands = [
        model.index_operand(shape, draw.flag("dynamic_shape", 5)),
        model.constant(draw.values((*taps, output_channels, channels))),
        model.input(draw.values((batch, *size, channels))),
    ]
    if not draw.flag("no_bias", 3):
        operands.append(model.constant(draw.values((output_channels,))))
    options = _volume_options(padding, strides, dilations, draw.activation())
    return model.operator("CONV_3D_TRANSPOSE", operands, [model.output("float32")], options)
