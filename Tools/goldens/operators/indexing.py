# SPDX-License-Identifier: Apache-2.0
"""Operators that look elements up by index, or find where they are."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import RARE, operator
from model_builder import ModelBuilder, Quantization

TYPES = ("uint8", "int8", "float32", "int16", "int32", "int64", "bool")


@operator("GATHER", TYPES, cases=12, versions={"int8": 2, "int16": 4}, rare=("float16", "bfloat16"))
def gather(draw):
    rank = draw.pick("rank", [1, 2, 3, 4])
    shape = draw.shape(rank)
    axis = draw.integer(0, rank - 1)
    batch = draw.integer(1, axis) if axis and draw.flag("batched", 2) else 0
    index_type = draw.pick("index type", ["int32", "int64", "int16"])
    index_shape = [*shape[:batch], *draw.shape(draw.integer(0 if not batch else 1, 2), 6)]
    draw.tag(f"rank{rank}", f"axis{axis}", f"by_{index_type}")
    indices = draw.values(index_shape, "int32", 10**6) % shape[axis]
    quantization = draw.quantization("both")
    model = ModelBuilder()
    operands = [
        model.input(draw.values(shape), quantization),
        model.index_operand(indices.astype(index_type), True),
    ]
    options = schema.GatherOptionsT(axis=axis - rank if draw.chance(0.3) else axis, batchDims=batch)
    return model.operator("GATHER", operands, [model.output(draw.type, quantization)], options)


def coordinates(draw, shape, depth, index_shape, index_type):
    columns = [draw.values(index_shape, "int32", 10**6) % shape[axis] for axis in range(depth)]
    return np.stack(columns, -1).astype(index_type)


@operator("GATHER_ND", TYPES, versions={"int8": 2, "int16": 3, "bool": 5}, rare=("float16", "bfloat16"))
def gather_nd(draw):
    rank = draw.pick("rank", [1, 2, 3, 4])
    shape = draw.shape(rank)
    depth = draw.integer(1, rank)
    index_type = draw.pick("index type", ["int32", "int64"])
    draw.tag(f"rank{rank}", f"depth{depth}", f"by_{index_type}")
    indices = coordinates(draw, shape, depth, draw.shape(draw.integer(1, 2), 8), index_type)
    quantization = draw.quantization("both")
    model = ModelBuilder()
    operands = [model.input(draw.values(shape), quantization), model.index_operand(indices, True)]
    output = model.output(draw.type, quantization)
    return model.operator("GATHER_ND", operands, [output], schema.GatherNdOptionsT())


@operator("SCATTER_ND", ("float32", "int8", "uint8", "int32", "int64", "bool"))
def scatter_nd(draw):
    rank = draw.pick("rank", [1, 2, 3, 4])
    shape = draw.shape(rank)
    depth = draw.integer(1, rank)
    dynamic = draw.flag("dynamic_shape", 4)
    draw.tag(f"rank{rank}", f"depth{depth}")
    indices = coordinates(draw, shape, depth, draw.shape(1, 8), np.int32)
    updates = draw.values([*indices.shape[:-1], *shape[depth:]])
    quantization = draw.quantization("both")
    model = ModelBuilder()
    operands = [
        model.input(indices),
        model.input(updates, quantization),
        model.index_operand(np.array(shape, np.int32), dynamic),
    ]
    output = model.output(draw.type, quantization)
    return model.operator("SCATTER_ND", operands, [output], schema.ScatterNdOptionsT())


@operator("ONE_HOT", ("float32", "int32", "int64", "int8", "uint8", "bool"))
def one_hot(draw):
    rank = draw.pick("rank", [0, 1, 2, 3])
    depth = draw.pick("depth", [1, 3, 5, 0])
    axis = draw.integer(-1, rank)
    index_type = draw.pick("index type", ["int32", "int64"])
    draw.tag(f"rank{rank}", f"depth{depth}", f"axis{axis}".replace("-", "m"))
    dynamic = draw.flag("dynamic_depth", 4)
    indices = draw.values(draw.shape(rank, 20), "int32", 7).astype(index_type)
    model = ModelBuilder()
    operands = [
        model.input(indices),
        model.index_operand(np.array(depth, np.int32), dynamic),
        model.constant(draw.values([])),
        model.constant(draw.values([])),
    ]
    return model.operator("ONE_HOT", operands, [model.output(draw.type)], schema.OneHotOptionsT(axis=axis))


# The reference goes wrong where rows of a packed type end within a byte.
@operator(
    "EMBEDDING_LOOKUP",
    ("float32", "int32", "uint8", "int8", "hybrid"),
    versions={"int8": 2, "uint8": 2, "hybrid": 5},
    rare=RARE,
)
def embedding_lookup(draw):
    rank = draw.pick("rank", [2, 3, 4])
    shape = draw.shape(rank)
    draw.tag(f"rank{rank}")
    model = ModelBuilder()
    if draw.type == "hybrid":
        return _hybrid_lookup(draw, model, shape)
    indices = draw.values(draw.shape(1, 8), "int32", 10**6) % shape[0]
    quantization = draw.quantization("both")
    operands = [model.input(indices.astype(np.int32)), model.constant(draw.values(shape), quantization)]
    return model.operator("EMBEDDING_LOOKUP", operands, [model.output(draw.type, quantization)])


def _hybrid_lookup(draw, model, shape):
    """Bytes or parts of bytes that become floats."""
    kind = draw.pick("kind", ["int8", "int4", "uint8", "int2", "int4_blocks", "int2_blocks"])
    per_row = draw.pick("per_row", [True, False])
    result = draw.pick("result", ["float32", "float32", "float16"])
    draw.tag(kind, result if result != "float32" else "")
    type_name, *blocks = kind.split("_")
    if type_name in ("int4", "int2"):
        shape[-1] = 4 * draw.integer(1, 4)
    if blocks:
        shape = [shape[0], 32 * draw.integer(1, 2)]
    # The reference takes the bytes of uint8 for signed ones.
    values = draw.values(shape, "int8" if type_name == "int8" else type_name)
    scales = tuple(float(np.float32(draw.power(-9, -2))) for _ in range(shape[0] if per_row and not blocks else 1))
    table = model.constant(values, Quantization(scales, (0,) * len(scales)), type_name)
    if blocks:
        parts = shape[0] * shape[1] // 32
        halves = np.array([draw.power(-7, -2) for _ in range(parts)], np.float16)
        model.set_blocks(table, model.constant(halves.reshape(shape[0], -1)), 32)
    indices = draw.values(draw.shape(1, 8), "int32", 10**6) % shape[0]
    operands = [model.input(indices.astype(np.int32)), table]
    return model.operator("EMBEDDING_LOOKUP", operands, [model.output(result)])


@operator("WHERE", ("bool", "float32", "int8", "uint8", "int32", "uint32", "int64"), versions={"bool": 1})
def where(draw):
    rank = draw.pick("rank", [1, 2, 3, 4])
    draw.tag(f"rank{rank}")
    values = draw.values(draw.shape(rank))
    mask = draw.values(values.shape, "bool")
    values = (values * mask).astype(values.dtype)
    if draw.flag("none", 8):
        values[...] = 0
    model = ModelBuilder()
    operand = model.input(values)
    model._has_dynamic_output = True
    return model.operator("WHERE", [operand], [model.output("int64")], schema.WhereOptionsT())


@operator("TOPK_V2", ("float32", "uint8", "int8", "int16", "int32", "int64"), versions={"int8": 2, "int16": 3})
def top_k(draw):
    rank = draw.pick("rank", [1, 2, 3])
    shape = draw.shape(rank)
    shape[-1] = draw.choice([1, 5, 8, 17, 30])
    count = draw.pick("count", ["one", "some", "all", "some", "none"])
    draw.tag(f"rank{rank}", count)
    number = {"one": 1, "some": draw.integer(1, shape[-1]), "all": shape[-1], "none": 0}[count]
    dynamic = draw.flag("dynamic_count", 4)
    values = draw.values(shape)
    if draw.flag("ties", 2):
        values = (values // 64).astype(values.dtype)
    quantization = draw.quantization("both")
    model = ModelBuilder()
    operands = [model.input(values, quantization), model.index_operand(np.array(number, np.int32), dynamic)]
    outputs = [model.output(draw.type, quantization), model.output("int32")]
    return model.operator("TOPK_V2", operands, outputs, schema.TopKV2OptionsT())


def arg_min(draw):
    rank = draw.pick("rank", [1, 2, 3, 4])
    axis = draw.integer(-rank, rank - 1)
    index_type = draw.pick("index type", ["int32", "int64"])
    draw.tag(f"rank{rank}", f"axis{axis}".replace("-", "m"), f"to_{index_type}")
    values = draw.values(draw.shape(rank))
    if draw.flag("ties", 3) and draw.type != "bool":
        values = (values // 64).astype(values.dtype)
    types = {"int32": schema.TensorType.INT32, "int64": schema.TensorType.INT64}
    model = ModelBuilder()
    operands = [model.input(values, draw.quantization("input")), model.constant(np.array(axis, np.int32))]
    options = schema.ArgMinOptionsT(outputType=types[index_type])
    return model.operator("ARG_MIN", operands, [model.output(index_type)], options)


operator("ARG_MIN", ("uint8", "int8", "float32", "int32", "bool"), versions={"int8": 2})(arg_min)
