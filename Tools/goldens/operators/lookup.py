# SPDX-License-Identifier: Apache-2.0
"""Operators that look rows up, hash them, or sum them: EMBEDDING_LOOKUP_SPARSE, LSH_PROJECTION, HASHTABLE_LOOKUP."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from model_builder import ModelBuilder


@operator("EMBEDDING_LOOKUP_SPARSE", ("float32",), cases=18)
def embedding_lookup_sparse(draw):
    combiner = draw.pick("combiner", ["sum", "mean", "sqrtn"])
    rank = draw.pick("rank", [2, 3, 1])
    dynamic = draw.flag("dynamic_shape", 3)
    draw.tag(combiner, f"rank{rank}")
    table = draw.values((draw.choice([1, 2, 5, 9]), *draw.shape(draw.choice([1, 1, 2]), 20)), "float32")
    shape = draw.shape(rank, 30)
    count = draw.choice([1, 2, 3, 8, 15])
    # In the order of the places, as a sparse tensor has it.
    rows = [[draw.integer(0, size - 1) for size in shape] for _ in range(count)]
    if not draw.flag("unsorted", 4):
        rows.sort()
    weights = draw.values((count,), "float32")
    weights[weights == 0] = 1
    model = ModelBuilder()
    operands = [
        model.input(draw.values((count,), "int32", 10**6) % len(table)),
        model.input(np.array(rows, np.int32)),
        model.index_operand(np.array(shape, np.int32), dynamic),
        model.input(weights),
        model.input(table) if draw.chance(0.5) else model.constant(table),
    ]
    options = schema.EmbeddingLookupSparseOptionsT()
    options.combiner = {"sum": 0, "mean": 1, "sqrtn": 2}[combiner]
    return model.operator("EMBEDDING_LOOKUP_SPARSE", operands, [model.output("float32")], options)


@operator("LSH_PROJECTION", ("float32",), cases=24)
def lsh_projection(draw):
    kind = draw.pick("kind", ["sparse", "dense"])
    type_name = draw.pick("items", ["int32", "float32", "uint8", "int64", "int8"])
    weighted = draw.flag("weighted", 2)
    # Hashes differ by the number of bytes: up to 3, 7, 16, 32, 64, and more.
    width = draw.pick("width", [1, 3, 4, 7, 12, 15, 28, 29, 60, 61, 124, 125, 200])
    draw.tag(kind, type_name, f"{width}_each")
    items = draw.choice([1, 2, 3, 5])
    bits = draw.pick("bits", [1, 4, 31, 8])
    seeds = draw.values((draw.choice([1, 2, 4]), bits))
    shape = (items,) if width == 1 and draw.chance(0.5) else (items, width)
    model = ModelBuilder()
    operands = [model.input(seeds), model.input(draw.values(shape, type_name))]
    if weighted:
        operands.append(model.input(draw.values((items,))))
    options = schema.LSHProjectionOptionsT()
    options.type = {"sparse": 1, "dense": 2}[kind]
    return model.operator("LSH_PROJECTION", operands, [model.output("int32")], options)


@operator("HASHTABLE_LOOKUP", ("int32",), cases=16)
def hashtable_lookup(draw):
    type_name = draw.pick("values", ["float32", "int32", "int8", "uint8", "int64", "bool"])
    rank = draw.pick("rank", [1, 2, 3])
    draw.tag(type_name, f"rank{rank}")
    rows = draw.choice([1, 2, 3, 8, 13])
    keys = draw.values((rows,), "int32", 40)
    if draw.flag("repeated", 3):
        keys //= 8
    if not draw.flag("unsorted", 5):
        keys.sort()
    wanted = np.array([draw.choice([*keys, draw.integer(-50, 50)]) for _ in range(draw.choice([1, 4, 11]))], np.int32)
    values = draw.values((rows, *draw.shape(rank - 1, 20)), type_name)
    model = ModelBuilder()
    operands = [model.input(wanted), model.input(keys), model.input(values)]
    outputs = [model.output(type_name), model.output("uint8")]
    return model.operator("HASHTABLE_LOOKUP", operands, outputs)
