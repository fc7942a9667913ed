# SPDX-License-Identifier: Apache-2.0
"""Operators that write blocks, diagonals and segments, and a few of a kind of their own."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import RARE, operator
from model_builder import ModelBuilder

NUMBERS = ("uint8", "int8", "float32", "int16", "int32", "int64")
TYPES = (*NUMBERS, "bool")


@operator("DYNAMIC_UPDATE_SLICE", TYPES, rare=(*RARE, "int4"))
def dynamic_update_slice(draw):
    rank = draw.pick("rank", [1, 2, 3, 4])
    shape = draw.shape(rank)
    size = [draw.integer(1, length) for length in shape]
    index_type = draw.pick("index type", ["int32", "int64"])
    draw.tag(f"rank{rank}", f"by_{index_type}")
    starts = [draw.integer(-2, length + 1) for length in shape]
    quantization = draw.quantization("all")
    model = ModelBuilder()
    operands = [
        model.input(draw.values(shape), quantization),
        model.input(draw.values(size), quantization),
        model.input(np.array(starts, index_type)),
    ]
    output = model.output(draw.type, quantization)
    return model.operator("DYNAMIC_UPDATE_SLICE", operands, [output], schema.DynamicUpdateSliceOptionsT())


# The reference takes diagonals of other types for float32.
@operator("MATRIX_DIAG", NUMBERS)
def matrix_diag(draw):
    rank = draw.pick("rank", [1, 2, 3])
    draw.tag(f"rank{rank}")
    model = ModelBuilder()
    operand = model.input(draw.values(draw.shape(rank, 16)))
    return model.operator("MATRIX_DIAG", [operand], [model.output(draw.type)], schema.MatrixDiagOptionsT())


@operator("MATRIX_SET_DIAG", NUMBERS)
def matrix_set_diag(draw):
    rank = draw.pick("rank", [2, 3, 4])
    draw.tag(f"rank{rank}")
    shape = draw.shape(rank)
    model = ModelBuilder()
    diagonal = draw.values([*shape[:-2], min(shape[-2:])])
    operands = [model.input(draw.values(shape)), model.input(diagonal)]
    output = model.output(draw.type)
    return model.operator("MATRIX_SET_DIAG", operands, [output], schema.MatrixSetDiagOptionsT())


@operator("DILATE", NUMBERS)
def dilate(draw):
    rank = draw.pick("rank", [1, 2, 3, 4])
    draw.tag(f"rank{rank}")
    dilations = [draw.choice([1, 2, 3]) for _ in range(rank)]
    dynamic = draw.flag("dynamic_dilations", 5)
    model = ModelBuilder()
    operands = [
        model.input(draw.values(draw.shape(rank, 24))),
        model.index_operand(np.array(dilations, np.int32), dynamic),
        model.constant(draw.values([])),
    ]
    return model.operator("DILATE", operands, [model.output(draw.type)])


@operator("REVERSE_SEQUENCE", ("float32", "uint8", "int16", "int32", "int64"))
def reverse_sequence(draw):
    rank = draw.pick("rank", [2, 3, 4])
    shape = draw.shape(rank)
    sequence, batch = draw.sample(range(rank), 2)
    draw.tag(f"rank{rank}", f"axes{sequence}{batch}")
    lengths = [draw.integer(0, shape[sequence]) for _ in range(shape[batch])]
    quantization = draw.quantization("both")
    model = ModelBuilder()
    lengths = np.array(lengths, draw.choice(["int32", "int64"]))
    operands = [model.input(draw.values(shape), quantization), model.index_operand(lengths, draw.chance(0.5))]
    output = model.output(draw.type, quantization)
    options = schema.ReverseSequenceOptionsT(seqDim=sequence, batchDim=batch)
    return model.operator("REVERSE_SEQUENCE", operands, [output], options)


@operator("SPARSE_TO_DENSE", ("float32", "int8", "uint8", "int32", "int64"), versions={"int8": 3, "uint8": 3})
def sparse_to_dense(draw):
    rank = draw.pick("rank", [1, 2, 3, 4])
    shape = draw.shape(rank)
    count = draw.integer(1, 6)
    index_type = draw.pick("index type", ["int32", "int64"])
    draw.tag(f"rank{rank}")
    columns = [draw.values([count], "int32", 10**6) % size for size in shape]
    indices = np.stack(columns, -1).astype(index_type)
    if rank == 1 and draw.chance(0.5):
        indices = indices[:, 0]
    dynamic = draw.flag("dynamic_shape", 5)
    one = draw.flag("one_value", 3)
    model = ModelBuilder()
    operands = [
        model.input(indices),
        model.index_operand(np.array(shape, index_type), dynamic),
        model.input(draw.values([] if one else [count])),
        model.constant(draw.values([])),
    ]
    output = model.output(draw.type)
    return model.operator("SPARSE_TO_DENSE", operands, [output], schema.SparseToDenseOptionsT())


@operator("UNIQUE", ("float32", "int8", "int16", "uint8", "int32", "int64"))
def unique(draw):
    index_type = draw.pick("index type", ["int32", "int64"])
    types = {"int32": schema.TensorType.INT32, "int64": schema.TensorType.INT64}
    values = draw.values([draw.integer(1, 20)])
    values = (values % 5).astype(values.dtype)
    if draw.type == "float32" and draw.flag("nan", 3):
        for _ in range(draw.integer(1, 3)):
            values[draw.integer(0, values.size - 1)] = np.nan
    model = ModelBuilder()
    operand = model.input(values)
    model._has_dynamic_output = True
    options = schema.UniqueOptionsT(idxOutType=types[index_type])
    outputs = [model.output(draw.type), model.output(index_type)]
    return model.operator("UNIQUE", [operand], outputs, options)


def segments(kind):
    name = f"UNSORTED_SEGMENT_{kind}"

    def case(draw):
        rank = draw.pick("rank", [1, 2, 3])
        shape = draw.shape(rank)
        depth = draw.integer(1, rank)
        count = draw.integer(1, 5)
        draw.tag(f"rank{rank}", f"depth{depth}")
        ids = draw.values(shape[:depth], "int32", 10**6) % (count + 1) - 1
        magnitude = 3 if kind == "PROD" else None
        model = ModelBuilder()
        operands = [
            model.input(draw.values(shape, magnitude=magnitude)),
            model.index_operand(ids.astype(np.int32), draw.chance(0.5)),
            model.index_operand(np.array(count, np.int32), draw.chance(0.3)),
        ]
        options = {
            "SUM": schema.UnsortedSegmentSumOptionsT,
            "PROD": schema.UnsortedSegmentProdOptionsT,
            "MAX": schema.UnsortedSegmentMaxOptionsT,
            "MIN": schema.UnsortedSegmentMinOptionsT,
        }[kind]()
        return model.operator(name, operands, [model.output(draw.type)], options)

    return operator(name, ("float32", "int32"))(case)


for kind in ("SUM", "PROD", "MAX", "MIN"):
    segments(kind)


@operator("LOCAL_RESPONSE_NORMALIZATION", ("float32",))
def local_response_normalization(draw):
    options = schema.LocalResponseNormalizationOptionsT(
        radius=draw.integer(0, 5),
        bias=draw.choice([0.5, 1.0, 2.0]),
        alpha=draw.choice([0.1, 1.0]),
        beta=draw.choice([0.5, 0.75]),
    )
    model = ModelBuilder()
    operand = model.input(draw.values([1, draw.integer(1, 3), draw.integer(1, 3), draw.integer(1, 9)], magnitude=2))
    output = model.output("float32")
    return model.operator("LOCAL_RESPONSE_NORMALIZATION", [operand], [output], options)


@operator("BUCKETIZE", ("float32", "int32", "int64", "float64"))
def bucketize(draw):
    boundaries = np.sort(draw.values([draw.integer(1, 8)], "int32", 60)).astype(np.float32)
    shape = draw.shape(draw.pick("rank", [1, 2, 3]))
    values = draw.values(shape, "int32", 70).astype(draw.type)
    model = ModelBuilder()
    options = schema.BucketizeOptionsT(boundaries=boundaries)
    return model.operator("BUCKETIZE", [model.input(values)], [model.output("int32")], options)


@operator("ADD_N", ("float32", "int32"))
def add_n(draw):
    count = draw.pick("count", [2, 3, 5])
    draw.tag(f"{count}_operands")
    shape = draw.shape(draw.pick("rank", [1, 2, 3, 4]), draw.limit // count)
    model = ModelBuilder()
    values = [draw.values(shape) for _ in range(count)]
    if draw.type == "float32" and draw.flag("infinite", 5):
        for operand in values:
            operand.flat[draw.integer(0, operand.size - 1)] = draw.choice([np.inf, -np.inf, 3e38])
    operands = [model.input(operand) for operand in values]
    return model.operator("ADD_N", operands, [model.output(draw.type)], schema.AddNOptionsT())


@operator("SEGMENT_SUM", ("float32", "int32"))
def segment_sum(draw):
    """Identifiers that do not decrease, from zero on."""
    rank = draw.pick("rank", [1, 2, 3])
    shape = draw.shape(rank)
    steps = draw.values(shape[:1], "int32", 10**6) % 2
    steps[:1] = 0
    draw.tag(f"rank{rank}")
    model = ModelBuilder()
    operands = [
        model.input(draw.values(shape)),
        model.index_operand(np.cumsum(steps).astype(np.int32), draw.chance(0.5)),
    ]
    return model.operator("SEGMENT_SUM", operands, [model.output(draw.type)], schema.SegmentSumOptionsT())
