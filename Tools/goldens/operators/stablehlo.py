# SPDX-License-Identifier: Apache-2.0
"""StableHLO's operators, and REDUCE_WINDOW."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from graph_builder import GraphBuilder
from model_builder import ModelBuilder

TYPES = ("float32", "int8", "uint8", "int16", "int32", "uint32", "int64", "bool")


def elementwise(name, types):
    def case(draw):
        rank = draw.pick("rank", [1, 2, 3, 4, 0])
        draw.tag(f"rank{rank}")
        shape = draw.shape(rank)
        if rank and draw.flag("empty", 12):
            shape[0] = 0
        operands = [draw.values(shape), draw.values(shape)]
        if name == "STABLEHLO_SHIFT_LEFT":
            operands[1] = np.abs(operands[1] % (8 * operands[1].dtype.itemsize))
        if draw.type == "float32" and draw.flag("nan", 4) and operands[0].size:
            for values in operands:
                values.flat[draw.integer(0, values.size - 1)] = np.nan
        model = ModelBuilder()
        return model.operator(name, [model.input(values) for values in operands], [model.output(draw.type)])

    rare = ("float16", "float64", "uint16", "uint64") if "float32" in types else ("uint16", "uint64")
    return operator(name, types, cases=12, rare=rare if name != "STABLEHLO_SHIFT_LEFT" else ())(case)


for each in ("ADD", "MULTIPLY", "MAXIMUM", "MINIMUM"):
    elementwise(f"STABLEHLO_{each}", TYPES)
elementwise("STABLEHLO_AND", TYPES[1:])
elementwise("STABLEHLO_SHIFT_LEFT", ("int8", "int16", "int32"))


@operator("STABLEHLO_PAD", ("float32", "int8", "uint8", "int16", "int32", "int64", "bool"), cases=14)
def pad(draw):
    rank = draw.pick("rank", [1, 2, 3, 4])
    kind = draw.pick("kind", ["edges", "crop", "interior", "both", "crop"])
    draw.tag(f"rank{rank}", kind)
    shape = draw.shape(rank)
    options = schema.StablehloPadOptionsT()
    least = -3 if kind in ("crop", "both") else 0
    most = 3 if kind != "interior" else 0
    options.edgePaddingLow = np.array([draw.integer(least, most) for _ in shape], np.int64)
    options.edgePaddingHigh = np.array([draw.integer(least, most) for _ in shape], np.int64)
    gaps = 0 if kind == "edges" else 3
    options.interiorPadding = np.array([draw.integer(0, gaps) for _ in shape], np.int64)
    quantization = draw.quantization("all")
    model = ModelBuilder()
    value = draw.values([])
    operands = [
        model.input(draw.values(shape), quantization),
        model.input(value, quantization) if draw.chance(0.5) else model.constant(value, quantization),
    ]
    output = model.output(draw.type, quantization)
    return model.operator("STABLEHLO_PAD", operands, [output], options2=options)


def body(model, name, type_name):
    """A subgraph that is one function of two scalars; without a name, the second of them."""
    child = model.subgraph()
    arguments = [child.argument(type_name, ()) for _ in range(2)]
    if name is None:
        child.result(arguments[1])
    else:
        output = child.tensor(type_name, ())
        kind = {"ADD": "Add", "MUL": "Mul", "MAXIMUM": "MaximumMinimum", "MINIMUM": "MaximumMinimum"}.get(name)
        child.add(name, arguments, [output], getattr(schema, f"{kind}OptionsT")() if kind else None)
        child.result(output)
    return child.index


def window(draw, rank):
    shape = draw.shape(rank, sizes=(1, 2, 3, 4, 5, 7))
    sizes = [draw.integer(1, min(3, size)) for size in shape]
    return shape, sizes, [draw.integer(1, 3) for _ in shape], [draw.choice([1, 1, 2]) for _ in shape]


FOLDS = {"ADD": 1, "MUL": 2, "MINIMUM": 3, "MAXIMUM": 4, "ALL": 5, "ANY": 6}
REDUCIBLE = ("float32", "int8", "uint8", "int16", "int32", "int64", "float64", "bool")


def reducible(draw, shape, fold):
    return draw.values(shape, magnitude=2 if fold == "MUL" and draw.type != "bool" else None)


@operator("REDUCE_WINDOW", REDUCIBLE, cases=14)
def reduce_window(draw):
    fold = draw.pick("fold", FOLDS)
    shape, sizes, strides, dilations = window(draw, draw.pick("rank", [1, 2, 3, 4]))
    draw.tag(fold.lower(), f"rank{len(shape)}")
    model = ModelBuilder()
    operands = [model.input(reducible(draw, shape, fold)), model.input(draw.values([]))]
    for values in (sizes, strides, dilations):
        operands.append(model.constant(np.array(values, np.int64)))
    options = schema.ReduceWindowOptionsT()
    options.reduceFunction = FOLDS[fold]
    return model.operator("REDUCE_WINDOW", operands, [model.output(draw.type)], options2=options)


@operator("STABLEHLO_REDUCE_WINDOW", REDUCIBLE, cases=16)
def stablehlo_reduce_window(draw):
    names = ["STABLEHLO_ADD", "STABLEHLO_MAXIMUM", "STABLEHLO_MULTIPLY", "STABLEHLO_MINIMUM", "STABLEHLO_AND"]
    names += ["ADD", "MUL", "MAXIMUM", "MINIMUM", "LOGICAL_AND", "LOGICAL_OR"]
    name = draw.pick("fold", names)
    shape, sizes, strides, dilations = window(draw, draw.pick("rank", [1, 2, 3, 4]))
    kind = draw.pick("kind", ["plain", "padded", "spread", "cropped", "all"])
    draw.tag(name.lower(), f"rank{len(shape)}", kind)
    options = schema.StablehloReduceWindowOptionsT()
    options.windowDimensions = np.array(sizes, np.int64)
    if draw.chance(0.8):
        options.windowStrides = np.array(strides, np.int64)
        options.windowDilations = np.array(dilations, np.int64)
    if kind in ("spread", "all"):
        options.baseDilations = np.array([draw.integer(1, 3) for _ in shape], np.int64)
    if kind in ("padded", "cropped", "all"):
        least = 0 if kind == "padded" else -1
        options.padding = np.array([draw.integer(least, 2) for _ in range(2 * len(shape))], np.int64)
    model = GraphBuilder()
    options.bodySubgraphIndex = body(model, name, draw.type)
    fold = "MUL" if "MUL" in name else ""
    operands = [model.input(reducible(draw, shape, fold)), model.input(draw.values([]))]
    return model.add("STABLEHLO_REDUCE_WINDOW", operands, [model.output(draw.type)], options2=options, main=True)


MOVABLE = ("float32", "int8", "uint8", "int16", "int32", "int64", "bool")


@operator("STABLEHLO_GATHER", MOVABLE, cases=14)
def gather(draw):
    rank = draw.pick("rank", [1, 2, 3, 4])
    shape = draw.shape(rank)
    mapped = draw.sample(range(rank), draw.integer(1, rank))
    collapsed = sorted(draw.sample(mapped, draw.integer(0, len(mapped))))
    sizes = [1 if axis in collapsed else draw.integer(1, size) for axis, size in enumerate(shape)]
    batch = draw.shape(draw.pick("batch rank", [1, 0, 2]), 6)
    index_dimension = draw.integer(0, len(batch))
    index_type = draw.pick("index type", ["int32", "int64"])
    result_rank = len(batch) + rank - len(collapsed)
    offsets = sorted(draw.sample(range(result_rank), rank - len(collapsed)))
    draw.tag(f"rank{rank}", f"batch{len(batch)}", f"by_{index_type}")
    indices = np.stack([draw.values(batch, "int32", shape[axis] + 1) for axis in mapped], index_dimension)
    options = schema.StablehloGatherOptionsT()
    options.offsetDims = np.array(offsets, np.int64)
    options.collapsedSliceDims = np.array(collapsed, np.int64)
    options.startIndexMap = np.array(mapped, np.int64)
    options.indexVectorDim = index_dimension
    options.sliceSizes = np.array(sizes, np.int64)
    model = GraphBuilder()
    operands = [model.input(draw.values(shape)), model.input(indices.astype(index_type))]
    output = model.tensor(draw.type, [1] * result_rank)
    model.result(output)
    return model.add("STABLEHLO_GATHER", operands, [output], options2=options, main=True)


@operator("STABLEHLO_SCATTER", (*MOVABLE, "uint32", "float16"), cases=14)
def scatter(draw):
    rank = draw.pick("rank", [1, 2, 3, 4])
    shape = draw.shape(rank)
    fold = draw.pick("fold", ["ADD", None, "MULTIPLY", "MAXIMUM", "MINIMUM"])
    mapped = draw.sample(range(rank), draw.integer(1, rank))
    inserted = sorted(draw.sample(mapped, draw.integer(0, len(mapped))))
    sizes = [draw.integer(1, size) for axis, size in enumerate(shape) if axis not in inserted]
    batch = draw.shape(draw.pick("batch rank", [1, 0, 2]), 6)
    index_dimension = draw.integer(0, len(batch))
    index_type = draw.pick("index type", ["int32", "int64"])
    update_rank = len(batch) + len(sizes)
    windows = sorted(draw.sample(range(update_rank), len(sizes)))
    draw.tag(f"rank{rank}", (fold or "update").lower(), f"by_{index_type}")
    indices = np.stack([draw.values(batch, "int32", shape[axis]) for axis in mapped], index_dimension)
    rest = iter(batch)
    blocks = iter(sizes)
    updates = [next(blocks) if axis in windows else next(rest) for axis in range(update_rank)]
    options = schema.StablehloScatterOptionsT()
    options.updateWindowDims = np.array(windows, np.int64)
    options.insertedWindowDims = np.array(inserted, np.int64)
    options.scatterDimsToOperandDims = np.array(mapped, np.int64)
    options.indexVectorDim = index_dimension
    model = GraphBuilder()
    options.updateComputationSubgraphIndex = body(model, f"STABLEHLO_{fold}" if fold else None, draw.type)
    operands = [
        model.input(draw.values(shape)),
        model.input(indices.astype(index_type)),
        model.input(draw.values(updates)),
    ]
    output = model.tensor(draw.type, shape)
    model.result(output)
    return model.add("STABLEHLO_SCATTER", operands, [output], options2=options, main=True)
