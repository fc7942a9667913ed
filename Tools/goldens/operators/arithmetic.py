# SPDX-License-Identifier: Apache-2.0
"""Operators of two broadcast operands: ADD, SUB, MUL, MAXIMUM and MINIMUM."""

from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from model_builder import ModelBuilder


def broadcast_shapes(draw, ranks):
    """Two shapes that broadcast to each other."""
    rank = draw.pick("rank", ranks)
    draw.tag(f"rank{rank}")
    kind = draw.pick("broadcast", ["", "scalar", "outer", "inner", "both", "fewer", "empty"])
    draw.tag(kind)
    left = draw.shape(rank)
    right = list(left)
    if kind == "empty":
        left[0] = right[0] = 0
    elif kind == "scalar":
        right = draw.choice([[], [1]])
    elif kind == "outer":
        right[: rank // 2 + 1] = [1] * (rank // 2 + 1)
    elif kind == "inner":
        right[-1] = 1
    elif kind == "both":
        for axis in range(rank):
            (left if axis % 2 else right)[axis] = 1
    elif kind == "fewer":
        right = right[draw.integer(1, rank) :]
    return (left, right) if draw.chance(0.5) else (right, left)


def operand(draw, model, shape, quantization, constant):
    values = draw.specials(draw.values(shape))
    return model.constant(values, quantization) if constant else model.input(values, quantization)


def arithmetic(name, types, options, versions, rare=()):
    """ADD, SUB or MUL: each operand and the output have scales of their own."""

    def case(draw):
        left_shape, right_shape = broadcast_shapes(draw, (1, 2, 3, 4, 5, 6))
        # Complex numbers have no activation; of uint32 the reference takes the bound −1 for 2³² − 1.
        fields = {"fusedActivationFunction": 0 if draw.type in ("complex64", "uint32") else draw.activation()}
        left, right, output = _quantizations(draw, name)
        if draw.type == "int16" and name != "MUL":
            # The reference broadcasts only in the general form.
            fields["potScaleInt16"] = left_shape == right_shape and draw.flag("power_of_two_scale", 2)
            if fields["potScaleInt16"]:
                left, right, output = _power_of_two_quantizations(draw)
        if draw.type == "float16" and draw.flag("overflow", 5):
            # What is too large becomes the largest number.
            values = draw.values(left_shape, magnitude=10_000)
            model = ModelBuilder()
            operands = [model.input(values), model.input(draw.values(right_shape, magnitude=10_000))]
            return model.operator(name, operands, [model.output(draw.type)], options(**fields))
        model = ModelBuilder()
        constant = draw.pick("constant", [False, False, True]) and 0 not in right_shape
        operands = [
            operand(draw, model, left_shape, left, False),
            operand(draw, model, right_shape, right, constant),
        ]
        # Without a table all fields are zero, those with other defaults, too.
        has_table = any(fields.values()) or not draw.flag("no_options", 3)
        return model.operator(
            name, operands, [model.output(draw.type, output)], options(**fields) if has_table else None
        )

    return operator(name, types, cases=12, versions=versions, rare=rare)(case)


def _quantizations(draw, name):
    left = draw.quantization("left")
    right = draw.quantization("right")
    if left is None:
        return None, None, None
    kind = draw.pick("output scale", ["fit"] * 4 + ["saturated", "coarse"] + ["gain"] * (name == "MUL"))
    draw.tag(kind if kind != "fit" else "")
    values = 32768 if draw.type == "int16" else 128
    fitting = left.scale * right.scale * values if name == "MUL" else max(left.scale, right.scale)
    scale = {
        "fit": fitting * draw.real(0.7, 2),
        "saturated": fitting / draw.real(20, 60),
        "coarse": fitting * draw.real(10, 100),
        "gain": left.scale * right.scale / draw.power(0, 3),
    }[kind]
    return left, right, draw.quantization("output", scale)


def _power_of_two_quantizations(draw):
    """The restricted int16 form: the output has the larger of two powers of two."""
    exponents = [draw.integer(-15, -9), draw.integer(-15, -9)]
    return [draw.quantization("all", 2.0**exponent) for exponent in (*exponents, max(exponents))]


def extremum(name):
    """MAXIMUM or MINIMUM: one quantization for all."""

    def case(draw):
        left_shape, right_shape = broadcast_shapes(draw, (1, 2, 3, 4, 5))
        quantization = draw.quantization("all")
        model = ModelBuilder()
        constant = draw.pick("constant", [False, False, True]) and 0 not in right_shape
        operands = [
            operand(draw, model, left_shape, quantization, False),
            operand(draw, model, right_shape, quantization, constant),
        ]
        output = model.output(draw.type, quantization)
        return model.operator(name, operands, [output], schema.MaximumMinimumOptionsT())

    types = ("uint8", "int8", "float32", "int16", "int32", "int64", "float16", "bfloat16")
    return operator(name, types, versions={"int8": 2, "int16": 4})(case)


TYPES = ("uint8", "int8", "float32", "int16", "int32", "int64")
arithmetic("ADD", (*TYPES, "float16"), schema.AddOptionsT, {"int8": 2, "int16": 3, "int64": 4})
arithmetic("SUB", TYPES, schema.SubOptionsT, {"int8": 2, "int16": 5, "int64": 4})
arithmetic(
    "MUL", (*TYPES, "float16"), schema.MulOptionsT, {"int8": 2, "int16": 4, "int64": 6}, ("uint32", "complex64")
)
extremum("MAXIMUM")
extremum("MINIMUM")
