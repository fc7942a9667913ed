# SPDX-License-Identifier: Apache-2.0
"""Operators that join or part tensors: CONCATENATION, SPLIT, PACK and UNPACK."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from model_builder import ModelBuilder


def _axis_tag(axis):
    return f"axis{axis}".replace("-", "m")


@operator(
    "CONCATENATION",
    ("uint8", "int8", "float32", "int16", "int32", "int64", "bool"),
    cases=12,
    versions={"int8": 2, "int16": 3},
    rare=("float16", "bfloat16", "uint32", "int4"),
)
def concatenation(draw):
    rank = draw.pick("rank", [1, 2, 3, 4, 5])
    count = draw.pick("count", [1, 2, 3, 4])
    axis = draw.integer(-rank, rank - 1)
    draw.tag(f"rank{rank}", f"{count}_operands", _axis_tag(axis))
    shape = draw.shape(rank, draw.limit // count)
    output_quantization = draw.quantization("output")
    rescaled = draw.type == "uint8" and draw.flag("rescaled", 2)
    if draw.type == "int16":
        output_quantization = draw.quantization("output", 1 / 2048)
    model = ModelBuilder()
    operands = []
    for position in range(count):
        shape[axis] = draw.choice([1, 2, 3, 5, 0] if count > 1 else [1, 2, 3])
        quantization = output_quantization
        if rescaled and draw.chance(0.8):
            scale = output_quantization.scale * draw.power(-2, 2)
            quantization = draw.quantization(f"operand {position}", scale)
        values = draw.values(shape)
        constant = values.size > 0 and position > 0 and draw.chance(0.2)
        operands.append((model.constant if constant else model.input)(values, quantization))
    options = schema.ConcatenationOptionsT(axis=axis)
    output = model.output(draw.type, output_quantization)
    return model.operator("CONCATENATION", operands, [output], options)


@operator("SPLIT", ("uint8", "int8", "float32", "int16", "int32", "int64"), versions={"int8": 2, "int16": 4})
def split(draw):
    rank = draw.pick("rank", [1, 2, 3, 4])
    count = draw.pick("count", [1, 2, 3, 5])
    axis = draw.integer(-rank, rank - 1)
    draw.tag(f"rank{rank}", f"{count}_parts", _axis_tag(axis))
    dynamic = draw.flag("dynamic_axis", 6)
    shape = draw.shape(rank, draw.limit // count)
    shape[axis] = count * draw.integer(1, 3)
    quantization = draw.maybe_quantization("all")
    model = ModelBuilder()
    # The input comes second, but is the first model input in either case.
    values = model.input(draw.values(shape), quantization)
    axis = np.array(axis if draw.chance(0.5) else [axis], np.int32)
    operands = [model.index_operand(axis, dynamic), values]
    outputs = [model.output(draw.type, quantization) for _ in range(count)]
    return model.operator("SPLIT", operands, outputs, schema.SplitOptionsT(numSplits=count))


@operator(
    "PACK",
    ("uint8", "int8", "float32", "int16", "int32", "int64", "uint32"),
    versions={"int8": 2, "int16": 3},
)
def pack(draw):
    rank = draw.pick("rank", [1, 2, 3, 4, 0])
    count = draw.pick("count", [1, 2, 3, 5])
    axis = draw.integer(-rank - 1, rank)
    draw.tag(f"rank{rank}", f"{count}_operands", _axis_tag(axis))
    shape = draw.shape(rank, draw.limit // count)
    if rank and draw.flag("empty", 10):
        shape[0] = 0
    quantization = draw.maybe_quantization("all")
    model = ModelBuilder()
    operands = [model.input(draw.values(shape), quantization) for _ in range(count)]
    options = schema.PackOptionsT(valuesCount=count, axis=axis)
    return model.operator("PACK", operands, [model.output(draw.type, quantization)], options)


@operator(
    "UNPACK",
    ("uint8", "int8", "float32", "int16", "int32", "bool"),
    versions={"int8": 2, "bool": 3, "int16": 4},
    rare=("float16", "bfloat16"),
)
def unpack(draw):
    rank = draw.pick("rank", [1, 2, 3, 4, 5])
    count = draw.pick("count", [1, 2, 3, 5])
    axis = draw.integer(-rank, rank - 1)
    draw.tag(f"rank{rank}", f"{count}_parts", _axis_tag(axis))
    shape = draw.shape(rank, draw.limit // count)
    shape[axis] = count
    quantization = draw.maybe_quantization("all")
    model = ModelBuilder()
    operand = model.input(draw.values(shape), quantization)
    outputs = [model.output(draw.type, quantization) for _ in range(count)]
    return model.operator("UNPACK", [operand], outputs, schema.UnpackOptionsT(num=count, axis=axis))
