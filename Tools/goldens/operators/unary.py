# SPDX-License-Identifier: Apache-2.0
"""Functions of one value that have no file of their own: ABS, EXP, FLOOR, LEAKY_RELU and their like."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from model_builder import ModelBuilder, Quantization


def unary(name, types, options=None, versions=None, positive=(), same_scale=0):
    """An operator of one operand; in types of `positive`, values are those that stand for real ones above zero."""

    def case(draw):
        rank = draw.pick("rank", [1, 2, 3, 4, 5])
        draw.tag(f"rank{rank}")
        shape = [0, *draw.shape(rank)[1:]] if draw.flag("empty", 10) else draw.shape(rank)
        plain = draw.type == "int16" and name in ("ABS", "NEG") and draw.flag("plain", 3)
        quantization = None if plain else draw.quantization("input", draw.power(-7, -2) / _steps(draw))
        values = draw.values(shape)
        if draw.type in positive:
            zero = quantization.zero_point if quantization else 0
            values = np.abs(values) if quantization is None else np.maximum(values, zero).astype(draw.type)
        if "float" in draw.type and draw.flag("halves", 3):
            values = (np.round(values.astype(np.float32) * 4) / 4).astype(draw.type)
        output_quantization = None
        if quantization:
            output_quantization = draw.quantization("output", _output_scale(draw, name, quantization.scale))
            if same_scale and draw.flag("same_scale", same_scale):
                output_quantization = Quantization.per_tensor(quantization.scale, output_quantization.zero_point)
        model = ModelBuilder()
        operand = model.input(draw.specials(values), quantization)
        output = model.output(draw.type, output_quantization)
        return model.operator(name, [operand], [output], options(draw) if options else None)

    return operator(name, types, versions=versions)(case)


def _steps(draw):
    return 256 if draw.type == "int16" else 1


def _output_scale(draw, name, scale):
    if name == "EXP":
        return draw.power(-6, 0) / _steps(draw)
    if name in ("LOG", "RSQRT"):
        return draw.power(-6, -2) / _steps(draw)
    if name == "HARD_SWISH":
        return scale * draw.power(-3, 2)
    return scale * draw.power(-2, 2)


QUANTIZED = {"int8": 2, "int16": 2}
unary("ABS", ("int8", "float32", "int16", "int32"), versions={"int8": 2, "int16": 3}, same_scale=4)
HALVES = ("float16", "bfloat16")
unary("NEG", ("int8", "float32", "int16", "int32", "int64", *HALVES))
unary("SIGN", ("float32", "int32", "float64"), versions={"int32": 2})
unary("SQUARE", ("float32",), lambda draw: schema.SquareOptionsT())
unary("FLOOR", ("float32", *HALVES))
unary("CEIL", ("float32",))
unary("ROUND", ("float32", *HALVES))
unary("SIN", ("float32", "float16"))
unary("COS", ("float32", "float16"))
unary("EXP", ("int8", "float32", "int16"), versions=QUANTIZED)
unary("LOG", ("int8", "float32", "int16"), versions=QUANTIZED, positive=("float32",))
unary("SQRT", ("int8", "float32", "int16"), versions=QUANTIZED, positive=("int8", "float32", "int16"))
unary("RSQRT", ("int8", "float32", "int16"), versions={"int8": 2, "int16": 3}, positive=("int8", "float32", "int16"))
unary("LOGICAL_NOT", ("bool",))
unary("ELU", ("int8", "float32"))
unary("HARD_SWISH", ("uint8", "int8", "float32"))
unary("RELU_0_TO_1", ("uint8", "int8", "float32"), same_scale=2)
unary(
    "GELU",
    ("uint8", "int8", "float32", "int16", "float16"),
    lambda draw: schema.GeluOptionsT(approximate=draw.pick("approximate", [True, False])),
    versions={"int16": 2},
)
unary(
    "LEAKY_RELU",
    ("uint8", "int8", "float32", "int16"),
    lambda draw: schema.LeakyReluOptionsT(alpha=draw.pick("alpha", [0.1, 0.5, 2.0, -0.3, 0.01])),
    versions={"int8": 2, "int16": 2},
    same_scale=4,
)
