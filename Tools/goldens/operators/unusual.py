# SPDX-License-Identifier: Apache-2.0
"""Models that no converter writes, but that the reference runs: calls of subgraphs whose tensors have other types or
quantizations than the caller's, moves that change a quantization, blocks in another order, gates that are normalized alone."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from flatbuffers import flexbuffers
from graph_builder import GraphBuilder
from model_builder import ModelBuilder, Quantization
from operators.control import binary
from operators.recurrent import ABSENT, Cell, clips, floats
from operators.sparse import _compressed, _dense, kept_tiles

KINDS = (
    "case_quantization", "case_types", "if_types", "while_types", "composite_types",
    "space_to_batch", "batch_to_space", "block_order", "partial_norms", "no_options",
)


@operator("UNUSUAL", KINDS, cases=10)
def unusual(draw):
    kind = draw.type
    draw.type = "float32"
    model = globals()["_" + kind](draw)
    # The name of the case begins with it.
    draw.type = kind
    return model


def _case_quantization(draw):
    """The branches' tensors have scales of their own, or none, which do not count."""
    draw.type = draw.pick("operands", ["int8", "uint8", "int8"])
    version = 2 if draw.type == "int8" else 1
    draw.tag(draw.type)
    model = GraphBuilder()
    shape = draw.shape(2)
    count = draw.pick("branches", [1, 2, 3])
    index = model.input(np.array(draw.integer(0, count - 1), np.int32))
    scale = draw.power(-6, -2)
    outer = [draw.quantization("first", scale), draw.quantization("second", scale * draw.power(-1, 1))]
    result = draw.quantization("result", scale * draw.power(0, 1))
    arguments = [model.input(draw.values(shape), each) for each in outer]
    children = []
    for number in range(count):
        child = model.subgraph()

        def own(topic):
            return draw.quantization(f"{topic} {number}") if draw.chance(0.6) else None

        inner = [child.argument(draw.type, shape, own("inner")) for _ in outer]
        output = child.tensor(draw.type, shape, own("inner result"))
        name = draw.choice(["ADD", "MUL", "SUB"])
        options = {"ADD": schema.AddOptionsT, "MUL": schema.MulOptionsT, "SUB": schema.SubOptionsT}[name]
        child.add(name, inner, [output], options(), version=version)
        child.result(output)
        children.append(child.index)
    options = schema.StablehloCaseOptionsT(branchSubgraphIndices=np.array(children, np.int32))
    output = model.output(draw.type, result)
    return model.add("STABLEHLO_CASE", [index, *arguments], [output], options2=options, main=True)


def _pair(draw):
    """The type that values have, and the one that the file declares for them elsewhere.

    They are equally wide: otherwise the reference may write beyond a tensor's end.
    """
    real, declared = draw.choice([("float32", "int32"), ("int32", "float32")])
    draw.tag(real, "for", declared)
    draw.type = real
    return real, declared


def _retyped_branch(draw, model, shape, declared):
    child = model.subgraph()
    argument = child.argument(declared, shape)
    # ADD and SUB set the type of their result while they prepare.
    other = child.constant(draw.values(shape))
    child.result(binary(child, draw.choice(["ADD", "SUB"]), argument, other, declared, shape))
    return child.index


def _case_types(draw):
    real, declared = _pair(draw)
    model = GraphBuilder()
    shape = draw.shape(2)
    count = draw.pick("branches", [1, 2])
    inputs = [model.input(np.array(draw.integer(0, count - 1), np.int32)), model.input(draw.values(shape))]
    children = [_retyped_branch(draw, model, shape, declared) for _ in range(count)]
    options = schema.StablehloCaseOptionsT(branchSubgraphIndices=np.array(children, np.int32))
    return model.add("STABLEHLO_CASE", inputs, [model.output(real)], options2=options, main=True)


def _if_types(draw):
    real, declared = _pair(draw)
    model = GraphBuilder()
    shape = draw.shape(2)
    inputs = [model.input(np.array(draw.chance(0.5))), model.input(draw.values(shape))]
    options = schema.IfOptionsT()
    options.thenSubgraphIndex = _retyped_branch(draw, model, shape, declared)
    options.elseSubgraphIndex = _retyped_branch(draw, model, shape, declared)
    # The declared type of the result does not count either.
    output = model.output(draw.choice([real, declared]))
    return model.add("IF", inputs, [output], options, main=True)


def _composite_types(draw):
    real, declared = _pair(draw)
    model = GraphBuilder()
    shape = draw.shape(2)
    options = schema.StableHLOCompositeOptionsT()
    options.name = "odml.example"
    options.compositeAttributes = np.frombuffer(flexbuffers.Dumps({"axis": 1}), np.uint8)
    options.decompositionSubgraphIndex = _retyped_branch(draw, model, shape, declared)
    output = model.output(real)
    return model.add("STABLEHLO_COMPOSITE", [model.input(draw.values(shape))], [output], options2=options, main=True)


def _while_types(draw):
    real, declared = _pair(draw)
    model = GraphBuilder()
    number = np.dtype(real).type
    condition, body = model.subgraph(), model.subgraph()
    less = condition.tensor("bool", ())
    limit = condition.constant(number(draw.integer(-2, 5)))
    condition.add("LESS", [condition.argument(declared, ()), limit], [less], schema.LessOptionsT())
    condition.result(less)
    body.result(binary(body, "ADD", body.argument(declared, ()), body.constant(number(1)), declared, ()))
    options = schema.WhileOptionsT(condSubgraphIndex=condition.index, bodySubgraphIndex=body.index)
    return model.add("WHILE", [model.input(number(0))], [model.output(real)], options, main=True)


def _space_to_batch(draw, name="SPACE_TO_BATCH_ND"):
    """The quantization of an int32 tensor means nothing to a move."""
    draw.type = "int32"
    batch = 1 if name == "SPACE_TO_BATCH_ND" else 4
    model = ModelBuilder()
    quantizations = [Quantization.per_tensor(draw.power(-6, 0), 0), Quantization.per_tensor(draw.power(-6, 0), 0), None]
    first, second = draw.sample(quantizations, 2)
    operands = [
        model.input(draw.values([batch, 2 * draw.integer(1, 3), 2 * draw.integer(1, 3), draw.integer(1, 3)]), first),
        model.constant(np.array([2, 2], np.int32)),
        model.constant(np.array(draw.choice([[[0, 0], [0, 0]], [[1, 1], [0, 2]], [[0, 2], [1, 1]]]), np.int32)),
    ]
    return model.operator(name, operands, [model.output("int32", second)])


def _batch_to_space(draw):
    return _space_to_batch(draw, "BATCH_TO_SPACE_ND")


def _block_order(draw):
    """The dimensions of the blocks are stored in another order than those of the matrix."""
    draw.type = draw.choice(["float32", "int8", "float16"])
    block = draw.choice([(2, 4), (4, 2), (2, 2), (3, 2)])
    size = [draw.integer(1, 4) * extent for extent in block]
    draw.tag(draw.type, "{}x{}".format(*block))
    values = draw.values(size)
    tiles = [side // extent for side, extent in zip(size, block)]
    keep = np.where(draw.values(tiles, "float32") > draw.real(-1, 1), np.ones(tiles), 0)
    values = (values * np.kron(keep, np.ones(block))).astype(values.dtype)
    if not values.any():
        values.flat[0] = 1
    swapped = draw.flag("columns_first", 2)
    parts = values.reshape(tiles[0], block[0], tiles[1], block[1]).transpose(0, 2, 3, 1)
    if swapped:
        parts, tiles = parts.transpose(1, 0, 2, 3), tiles[::-1]
    segments, indices, stored = kept_tiles(parts)
    table = schema.SparsityParametersT()
    table.blockMap = [0, 1]
    table.traversalOrder = [1, 0, 3, 2] if swapped else [0, 1, 3, 2]
    table.dimMetadata = [_dense(tiles[0]), _compressed(draw, segments, indices), _dense(block[1]), _dense(block[0])]
    stored = np.array(stored, values.dtype).reshape(-1)
    model = ModelBuilder()
    model.input(np.zeros(1, np.float32))
    constant = model.constant(values, sparsity=(table, stored))
    return model.operator("DENSIFY", [constant], [model.output(draw.type)])


def _partial_norms(draw):
    """Some of the gates have a vector that normalizes them, but not the one that forgets: one of the operators takes no notice."""
    model = GraphBuilder()
    cell = Cell(draw, "", draw.choice([1, 3, 8]), "float")
    name = draw.pick("operator", ["LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM", "LSTM"])
    draw.tag("step" if name == "LSTM" else "sequence")
    options = schema.LSTMOptionsT() if name == "LSTM" else schema.UnidirectionalSequenceLSTMOptionsT()
    clips(draw, options)
    batch = draw.integer(1, 3)
    shape = (batch, cell.inputs)
    if name != "LSTM":
        options.timeMajor = True
        shape = (draw.integer(1, 4), *shape)
    values = draw.values(shape, "float32", 0.8)
    inputs = [model.input(values), *cell.tensors(draw, model)]
    inputs.append(model.variable("float32", (batch, cell.outputs)))
    inputs.append(model.variable("float32", (batch, cell.cells)))
    gates = draw.pick("gates", ["output", "cell", "input", "cell_output"])
    draw.tag(gates)
    for gate in ("input", "forget", "cell", "output"):
        normalized = gate in gates.split("_") and not (gate == "input" and cell.cifg)
        inputs.append(floats(draw, model, (cell.cells,), 1) if normalized else ABSENT)
    return model.add(name, inputs, [model.output("float32")], options, main=True)


def _no_options(draw):
    """Without a table of options, all of them are zero, also where the schema has another default: `time_major` is false."""
    model = GraphBuilder()
    cell = Cell(draw, "", draw.choice([1, 3, 8]), "float")
    batch = draw.integer(2, 4)
    inputs = [model.input(draw.values((batch, draw.integer(1, 6), cell.inputs), "float32", 0.5))]
    inputs += cell.tensors(draw, model) + cell.tensors(draw, model)
    for _ in range(2):
        inputs.append(model.variable("float32", (batch, cell.outputs)))
        inputs.append(model.variable("float32", (batch, cell.cells)))
    inputs += [ABSENT] * 9
    outputs = [model.output("float32") for _ in range(2)]
    return model.add("BIDIRECTIONAL_SEQUENCE_LSTM", inputs, outputs, main=True)
