# SPDX-License-Identifier: Apache-2.0
"""SELECT, SELECT_V2, CAST and LOG_SOFTMAX."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import RARE, operator
from model_builder import ModelBuilder, Quantization, TENSOR_TYPES

TYPES = ("uint8", "int8", "float32", "int16", "int32", "int64", "bool")


@operator("SELECT", TYPES, rare=RARE)
def select(draw):
    rank = draw.pick("rank", [1, 2, 3, 4])
    draw.tag(f"rank{rank}")
    shape = draw.shape(rank)
    condition = draw.pick("condition", [shape, shape[:1], []])
    model = ModelBuilder()
    operands = [
        model.input(draw.values(condition, "bool")),
        model.input(draw.values(shape)),
        model.input(draw.values(shape)),
    ]
    return model.operator("SELECT", operands, [model.output(draw.type)], schema.SelectOptionsT())


@operator("SELECT_V2", TYPES, rare=RARE)
def select_v2(draw):
    rank = draw.pick("rank", [1, 2, 3, 4])
    draw.tag(f"rank{rank}")
    shape = [0, *draw.shape(rank)[1:]] if draw.flag("empty", 10) else draw.shape(rank)
    shapes = [shape if draw.chance(0.4) else _reduced(draw, shape) for _ in range(3)]
    model = ModelBuilder()
    operands = [
        model.input(draw.values(shapes[0], "bool")),
        model.input(draw.values(shapes[1])),
        model.input(draw.values(shapes[2])),
    ]
    return model.operator("SELECT_V2", operands, [model.output(draw.type)], schema.SelectV2OptionsT())


def _reduced(draw, shape):
    """A shape that broadcasts to the given one."""
    reduced = [1 if draw.chance(0.4) else size for size in shape]
    return reduced[draw.integer(0, len(shape)):] if draw.chance(0.4) else reduced


CASTS = (
    *(f"float32_to_{t}" for t in ("int32", "int64", "uint8", "int8", "int16", "bool", "float16")),
    *(f"uint8_to_{t}" for t in ("float32", "int32")),
    *(f"int8_to_{t}" for t in ("float32", "int16", "uint8")),
    *("int32_to_float32", "int32_to_int64", "int32_to_bool", "int32_to_uint8", "int32_to_float16"),
    *("int64_to_float32", "int64_to_int32", "int16_to_int32"),
    *("bool_to_float32", "bool_to_int32", "float16_to_float32", "float16_to_int32", "float32_to_float64"),
    *("float64_to_float32", "float64_to_int32"),
    *("float32_to_bfloat16", "bfloat16_to_float32", "bfloat16_to_int32", "int32_to_bfloat16"),
    *("float16_to_bfloat16", "uint32_to_float32", "uint32_to_int16", "int64_to_float64"),
    *("float32_to_int4", "float32_to_int2", "float32_to_uint4"),
)


# Each of these to and from float32, and some pairs more.
RARE_CASTS = (
    *(f"float32_to_{t}" for t in ("bfloat16", "complex64", "uint16", "uint32", "int4")),
    *(f"{t}_to_float32" for t in ("bfloat16", "complex64", "uint16", "int4")),
    *("complex64_to_int32", "complex64_to_bool", "complex64_to_float16", "complex64_to_complex64"),
    *("int64_to_complex64", "bool_to_complex64", "bfloat16_to_complex64", "float64_to_complex64"),
    *("bfloat16_to_float16", "float16_to_bfloat16", "bfloat16_to_int8", "int32_to_bfloat16", "bfloat16_to_bfloat16"),
)


@operator("CAST", CASTS, rare=(*RARE_CASTS, "float32_to_int2", "float32_to_uint4", "int2_to_float32", "uint4_to_float32"))
def cast(draw):
    source, target = draw.type.split("_to_")
    rank = draw.pick("rank", [1, 2, 3, 4])
    draw.tag(f"rank{rank}")
    shape = [0, *draw.shape(rank)[1:]] if draw.flag("empty", 10) else draw.shape(rank)
    bounds = {"uint8": 200.0, "int8": 50.0, "bool": 1.0}
    values = draw.values(shape, source, bounds.get(target) if "float" in source else None)
    if source.startswith("float") and target in ("uint8", "bool"):
        values = np.floor(np.abs(values)).clip(0, 255).astype(source) if target == "uint8" else values.round()
    if source.startswith("float") and target == "int8":
        values = values.clip(-128, 127)
    model = ModelBuilder()
    operand = model.input(values)
    options = schema.CastOptionsT(inDataType=TENSOR_TYPES[source], outDataType=TENSOR_TYPES[target])
    return model.operator("CAST", [operand], [model.output(target)], options)


@operator("LOG_SOFTMAX", ("uint8", "int8", "float32"), cases=12, versions={"int8": 2})
def log_softmax(draw):
    rank = draw.pick("rank", [1, 2, 3, 4])
    depth = draw.pick("depth", [1, 2, 5, 10, 21, 91])
    draw.tag(f"rank{rank}", f"depth{depth}")
    shape = [*draw.shape(rank - 1, max(draw.limit * 2 // depth, 1)), depth]
    if rank > 1 and draw.flag("empty", 12):
        shape[0] = 0
    fixed = {"uint8": 255, "int8": 127}.get(draw.type)
    model = ModelBuilder()
    operand = model.input(draw.values(shape), draw.quantization("input", draw.power(-7, 0)))
    output = model.output(draw.type, None if fixed is None else Quantization.per_tensor(16 / 256, fixed))
    return model.operator("LOG_SOFTMAX", [operand], [output], schema.LogSoftmaxOptionsT())
