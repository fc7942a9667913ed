# SPDX-License-Identifier: Apache-2.0
"""Operators that make tensors from shapes and numbers, and running sums."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import PACKED, RARE, operator
from model_builder import ModelBuilder
from operators.reductions import draw_axes

ANY = (*RARE, *PACKED, "complex128")
TYPES = ("uint8", "int8", "float32", "int16", "int32", "int64", "bool")


@operator("SHAPE", TYPES, rare=ANY)
def shape(draw):
    rank = draw.pick("rank", [0, 1, 2, 3, 4, 5])
    to = draw.pick("to", ["int32", "int64"])
    draw.tag(f"rank{rank}", f"to_{to}")
    types = {"int32": schema.TensorType.INT32, "int64": schema.TensorType.INT64}
    model = ModelBuilder()
    operand = model.input(draw.values(draw.shape(rank)), draw.quantization("input"))
    return model.operator("SHAPE", [operand], [model.output(to)], schema.ShapeOptionsT(outType=types[to]))


@operator("RANK", TYPES, rare=ANY)
def rank(draw):
    rank = draw.pick("rank", [0, 1, 2, 3, 4, 5])
    draw.tag(f"rank{rank}")
    model = ModelBuilder()
    operand = model.input(draw.values(draw.shape(rank)), draw.quantization("input"))
    return model.operator("RANK", [operand], [model.output("int32")], schema.RankOptionsT())


@operator("FILL", TYPES, versions={"int8": 3, "int16": 3}, rare=RARE)
def fill(draw):
    rank = draw.pick("rank", [0, 1, 2, 3, 4])
    index_type = draw.pick("index type", ["int32", "int64"])
    draw.tag(f"rank{rank}")
    dynamic = draw.flag("dynamic_shape", 3)
    quantization = draw.quantization("both")
    model = ModelBuilder()
    dims = model.index_operand(np.array(draw.shape(rank), index_type).reshape(rank), dynamic and rank > 0)
    operands = [dims, model.input(draw.values([]), quantization)]
    return model.operator("FILL", operands, [model.output(draw.type, quantization)], schema.FillOptionsT())


@operator("ZEROS_LIKE", ("float32", "int32", "int64"))
def zeros_like(draw):
    model = ModelBuilder()
    operand = model.input(draw.values(draw.shape(draw.pick("rank", [0, 1, 2, 3, 4]))))
    return model.operator("ZEROS_LIKE", [operand], [model.output(draw.type)], schema.ZerosLikeOptionsT())


@operator("RANGE", ("float32", "int32", "int64"))
def range_(draw):
    steps = draw.integer(0, 12)
    delta = draw.choice([1, 2, 3, -1, -2]) * (1 if draw.type != "float32" else draw.choice([0.1, 1, 0.3]))
    start = draw.integer(-5, 5)
    limit = start + steps * delta - (draw.choice([0, 0.5]) * delta if steps else 0)
    if draw.type != "float32":
        limit = int(limit)
    dynamic = draw.flag("dynamic", 2)
    model = ModelBuilder()
    operands = [model.index_operand(np.array(v, draw.type), dynamic) for v in (start, limit, delta)]
    if not dynamic:
        # The model has to have an input.
        operands[0] = model.index_operand(np.array(start, draw.type), True)
    return model.operator("RANGE", operands, [model.output(draw.type)], schema.RangeOptionsT())


@operator("BROADCAST_ARGS", ("int32", "int64"))
def broadcast_args(draw):
    rank = draw.pick("rank", [1, 2, 3, 4])
    whole = draw.shape(rank)
    shapes = [[1 if draw.chance(0.4) else size for size in whole[draw.integer(0, rank) :]] for _ in range(2)]
    model = ModelBuilder()
    operands = [model.input(np.array(s, draw.type).reshape(len(s))) for s in shapes]
    return model.operator("BROADCAST_ARGS", operands, [model.output(draw.type)])


@operator("CUMSUM", ("float32", "int32", "int64"))
def cumsum(draw):
    rank = draw.pick("rank", [1, 2, 3, 4])
    axis = draw.integer(-rank, rank - 1)
    exclusive, reverse = draw.flag("exclusive", 2), draw.pick("reverse", [False, True, True, False])
    draw.tag(f"rank{rank}", "reverse" if reverse else "")
    model = ModelBuilder()
    operands = [model.input(draw.values(draw.shape(rank))), model.constant(np.array(axis, np.int32))]
    options = schema.CumsumOptionsT(exclusive=exclusive, reverse=reverse)
    return model.operator("CUMSUM", operands, [model.output(draw.type)], options)


def reduce(name, types, versions=None):
    def case(draw):
        rank = draw.pick("rank", [1, 2, 3, 4])
        keeps = draw.flag("keep_dims", 2)
        draw.tag(f"rank{rank}")
        axes = draw_axes(draw, rank)
        shape = draw.shape(rank, 24)
        source = target = None
        if name == "REDUCE_PROD" and draw.type in ("int8", "int16") and draw.flag("quantized", 2):
            source, target = draw.quantization("input", 0.05), draw.quantization("output", 0.1)
        magnitude = 2 if name == "REDUCE_PROD" and source is None else None
        values = draw.values(shape, magnitude=magnitude)
        model = ModelBuilder()
        operands = [model.input(values, source), model.constant(np.array(axes, np.int32))]
        output = model.output(draw.type, target)
        return model.operator(name, operands, [output], schema.ReducerOptionsT(keepDims=keeps))

    return operator(name, types, versions=versions)(case)


reduce("REDUCE_PROD", ("float32", "int32", "int64", "int8", "int16", "uint8"), {"int8": 2, "int16": 2})
reduce("REDUCE_ANY", ("bool",))
reduce("REDUCE_ALL", ("bool",))


@operator("L2_POOL_2D", ("float32",))
def l2_pool(draw):
    image = [draw.integer(3, 8), draw.integer(3, 8)]
    filter = [draw.integer(1, 3), draw.integer(1, 3)]
    padding = draw.pick("padding", [0, 1])
    options = schema.Pool2DOptionsT(
        padding=padding,
        strideH=draw.integer(1, 2),
        strideW=draw.integer(1, 3),
        filterHeight=filter[0],
        filterWidth=filter[1],
        fusedActivationFunction=draw.activation(),
    )
    model = ModelBuilder()
    operand = model.input(draw.values([draw.choice([1, 2]), *image, draw.channels(8)]))
    return model.operator("L2_POOL_2D", [operand], [model.output("float32")], options)
