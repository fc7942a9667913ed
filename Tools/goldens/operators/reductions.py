# SPDX-License-Identifier: Apache-2.0
"""Reductions over axes: MEAN, SUM, REDUCE_MAX, REDUCE_MIN and ARG_MAX."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from draw import QUANTIZED
from model_builder import ModelBuilder

NUMBERS = ("uint8", "int8", "float32", "int16", "int32", "int64")


def draw_axes(draw, rank):
    """Axes in any order, from either end; some twice, sometimes all of them."""
    count = draw.pick("axes", [1, 2, 1, 3, rank])
    axes = draw.sample(range(rank), min(count, rank))
    axes = [axis - rank if draw.chance(0.4) else axis for axis in axes]
    if draw.flag("repeated_axis", 8):
        axes.append(axes[0])
    if draw.flag("no_axes", 12):
        return []
    draw.tag("axes" + "".join(str(axis).replace("-", "m") for axis in axes))
    return axes


def reduction(name, types, versions):
    def case(draw):
        rank = draw.pick("rank", [1, 2, 3, 4, 4, 5])
        keeps = draw.flag("keep_dims", 2)
        draw.tag(f"rank{rank}")
        axes = draw_axes(draw, rank)
        dynamic = draw.flag("dynamic_axes", 7)
        shape = draw.shape(rank)
        if draw.flag("empty", 10):
            shape[draw.integer(0, rank - 1)] = 0
        input_quantization = output_quantization = draw.quantization("input")
        if name in ("MEAN", "SUM") and draw.type in QUANTIZED:
            input_quantization, output_quantization = _rescaled(draw, name, shape, axes)
        # A single axis may be a scalar.
        axes = np.int32(axes[0] if len(axes) == 1 and draw.chance(0.3) else axes)
        model = ModelBuilder()
        operand = model.input(draw.values(shape), input_quantization)
        operands = [operand, model.index_operand(axes, dynamic)]
        output = model.output(draw.type, output_quantization)
        return model.operator(name, operands, [output], schema.ReducerOptionsT(keepDims=keeps))

    return operator(name, types, versions=versions)(case)


def _rescaled(draw, name, shape, axes):
    """Parameters of input and output, often not the same."""
    source = draw.quantization("input")
    if draw.flag("same_scale", 4):
        return source, source
    count = np.prod([shape[axis] for axis in set(axes)]) if name == "SUM" else 1
    count = max(count, 1)
    scale = source.scale * np.sqrt(count) * draw.power(-1.5, 2)
    return source, draw.quantization("output", scale)


@operator("ARG_MAX", ("uint8", "int8", "float32", "int32", "bool"), versions={"int8": 2})
def arg_max(draw):
    rank = draw.pick("rank", [1, 2, 3, 4, 5])
    axis = draw.integer(-rank, rank - 1)
    index_type = draw.pick("index type", ["int32", "int64"])
    draw.tag(f"rank{rank}", f"axis{axis}".replace("-", "m"), f"to_{index_type}")
    dynamic = draw.flag("dynamic_axis", 6)
    values = draw.values(draw.shape(rank))
    if draw.flag("ties", 3):
        values = (values // 64).astype(values.dtype) if draw.type != "bool" else values
    axis = np.array(axis if draw.chance(0.5) else [axis], draw.choice(["int32", "int64"]))
    types = {"int32": schema.TensorType.INT32, "int64": schema.TensorType.INT64}
    model = ModelBuilder()
    operands = [model.input(values, draw.quantization("input")), model.index_operand(axis, dynamic)]
    options = schema.ArgMaxOptionsT(outputType=types[index_type])
    return model.operator("ARG_MAX", operands, [model.output(index_type)], options)


reduction("MEAN", NUMBERS, {"int8": 2, "int16": 3})
# The reference accepts int16 sums, but leaves their output unwritten.
reduction("SUM", tuple(name for name in NUMBERS if name != "int16"), {"int8": 2})
reduction("REDUCE_MAX", (*NUMBERS, "bool"), {"int8": 2, "int16": 3})
reduction("REDUCE_MIN", (*NUMBERS, "bool"), {"int8": 2, "int16": 3})
