# SPDX-License-Identifier: Apache-2.0
"""Functions of two broadcast operands: divisions, comparisons, logic, bits, and PRELU."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from model_builder import ModelBuilder
from operators.arithmetic import broadcast_shapes, operand


def binary(name, types, options=None, versions=None, quantized=(), right_values=None, output_type=None,
           quantized_output=True, shapes=None):
    """An operator of two operands; those of `quantized` types have scales of their own."""

    def case(draw):
        left_shape, right_shape = (shapes or broadcast_shapes)(draw, (1, 2, 3, 4))
        left = draw.quantization("left") if draw.type in quantized else None
        right = draw.quantization("right") if left else None
        if left and draw.flag("same_quantization", 4):
            right = left
        values = right_values(draw, right_shape, right) if right_values else draw.specials(draw.values(right_shape))
        model = ModelBuilder()
        first = operand(draw, model, left_shape, left, False)
        constant = draw.pick("constant", [False, False, True]) and 0 not in right_shape
        second = model.constant(values, right) if constant else model.input(values, right)
        result = None
        if left and quantized_output:
            result = draw.quantization("output", _output_scale(draw, name, left, right))
        return model.operator(
            name, [first, second], [model.output(output_type or draw.type, result)],
            options(draw) if options else None)

    return operator(name, types, versions=versions)(case)


def _output_scale(draw, name, left, right):
    if name == "DIV":
        return left.scale / right.scale * draw.power(-6, 1)
    if name == "SQUARED_DIFFERENCE":
        return max(left.scale, right.scale) ** 2 * draw.power(4, 10)
    return max(left.scale, right.scale) * draw.power(-1, 2)


def _nonzero(draw, shape, quantization):
    values = draw.values(shape)
    zero = quantization.zero_point if quantization else 0
    return np.where(values == zero, np.asarray(zero - 1 if zero > 0 else zero + 1), values).astype(values.dtype)


def _exponents(draw, shape, quantization):
    if draw.type == "float32":
        return draw.values(shape, magnitude=2.0)
    return np.abs(draw.values(shape, magnitude=4))


def _shifts(draw, shape, quantization):
    return np.asarray(draw.values(shape, "int8", 40) if draw.type[0] == "i" else
                      np.abs(draw.values(shape, "int8", 40))).astype(draw.type)


def _same_shapes(draw, ranks):
    rank = draw.pick("rank", ranks)
    draw.tag(f"rank{rank}")
    shape = draw.shape(rank)
    return shape, shape


def _activated(table):
    return lambda draw: table(fusedActivationFunction=draw.activation())


BYTES = ("uint8", "int8")
binary("DIV", ("uint8", "int8", "float32", "int16", "int32"), _activated(schema.DivOptionsT),
       versions={"int8": 2}, quantized=("uint8", "int8", "int16"), right_values=_nonzero)
binary("FLOOR_DIV", ("int8", "float32", "int16", "int32"), versions={"float32": 2, "int16": 3, "int8": 3},
       right_values=_nonzero)
binary("FLOOR_MOD", ("int8", "float32", "int16", "int32", "int64"), versions={"int16": 2, "int8": 2},
       right_values=_nonzero)
binary("POW", ("float32", "int32"), right_values=_exponents)
binary("SQUARED_DIFFERENCE", ("int8", "float32", "int32"), versions={"int8": 2}, quantized=("int8",))
binary("ATAN2", ("float32", "float16", "bfloat16", "float64"), shapes=_same_shapes)
binary("LOGICAL_AND", ("bool",))
binary("LOGICAL_OR", ("bool",))
binary("BITWISE_XOR", ("uint8", "int8", "int16", "int32", "uint32"))
binary("RIGHT_SHIFT", ("uint8", "int8", "int16", "int32", "uint32"), right_values=_shifts)
for relation in ("EQUAL", "NOT_EQUAL"):
    binary(relation, ("uint8", "int8", "float32", "bool", "int16", "int32", "int64", "float16"), output_type="bool",
           versions={"int8": 2, "int16": 4}, quantized=("uint8", "int8", "int16"), quantized_output=False)
for relation in ("LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):
    halves = ("float16", "bfloat16") if relation in ("LESS", "GREATER") else ("float16",)
    binary(relation, ("uint8", "int8", "float32", "int16", "int32", "int64", *halves), output_type="bool",
           versions={"int8": 2}, quantized=BYTES, quantized_output=False)


@operator("PRELU", ("uint8", "int8", "float32", "int16"))
def prelu(draw):
    if draw.flag("many_rows", 4):
        # Engines may prepare more for factors of channels that serve many rows.
        shape = [1, 12, 11, draw.pick("channels", [16, 33, 3])]
        alpha_shape = draw.pick("channel_alpha", [shape[-1:], [1, 1, shape[-1]]])
    else:
        rank = draw.pick("rank", [1, 2, 3, 4])
        draw.tag(f"rank{rank}")
        shape = [0, *draw.shape(rank)[1:]] if draw.flag("empty", 10) else draw.shape(rank)
        alpha_shape = draw.pick("alpha", [shape, shape[-1:], [1] * rank, [1] * (rank - 1) + shape[-1:]])
    alpha_type = "int8" if draw.type == "int16" else draw.type
    quantization = draw.quantization("input")
    model = ModelBuilder()
    first = model.input(draw.values(shape), quantization)
    alphas = draw.values(alpha_shape, alpha_type)
    factor = draw.quantization("alpha", type_name=alpha_type)
    second = model.input(alphas, factor) if 0 in alpha_shape else model.constant(alphas, factor)
    output = draw.quantization("output", quantization.scale * draw.power(-1, 2)) if quantization else None
    return model.operator("PRELU", [first, second], [model.output(draw.type, output)])
