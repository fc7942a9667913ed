# SPDX-License-Identifier: Apache-2.0
"""Branches, loops and calls: subgraphs that grow by the same moves."""

from functools import lru_cache

import numpy as np
from ai_edge_litert import schema_py_generated as schema

import flatbuffers.flexbuffers as flexbuffers
from random_graphs.model import QUANTIZED, Blob, Subgraph, Tensor, options
from random_graphs.moves import MOVES, move
from random_graphs.moves.elementwise import table_of, unary
from random_graphs.weaver import Abandoned, Weaver, is_real

DEPTH = 2


def depth_of(w):
    return 0 if w.parent is None else 1 + depth_of(w.parent)


def child_of(w, arguments, numbers=()):
    """A subgraph with an argument for each tensor."""
    child = Weaver(w.random, w.numbers, w.graph, Subgraph(), w.act, parent=w)
    for tensor in arguments:
        argument = Tensor(tensor.type, tensor.shape, tensor.quantization, value=tensor.value)
        child.subgraph.inputs.append(argument)
        child.pool.append(argument)
    return child


def grow(w, count):
    """Some moves of the theme for subgraphs."""
    table = MOVES["control"]
    for _ in range(count):
        w.attempt(w.weighted(table))


def result_like(w, x):
    """A tensor of the type, shape and quantization of an argument: itself, a constant, or something computed."""
    kind = w.weighted({"computed": 6, "argument": 1, "constant": 0.7})
    if kind == "argument":
        return x
    if kind == "constant":
        real = w.numbers.standard_normal(x.shape)
        if x.type in ("int32", "bool"):
            return w.constant(real.astype(x.type))
        return w.real_constant(real, x, x.quantization) if x.type != "float32" else w.constant(real.astype(np.float32))
    others = [t for t in w.pool if t.type == x.type and (t.is_quantized or t.type not in QUANTIZED) and t.size and not t.loose]
    if x.type == "bool" or not x.size:
        return x
    y = w.fitted(w.choice(others), x.shape) if others else x
    if x.type == "float32":
        y = unary(w, y, w.choice(["TANH", "LOGISTIC", "RELU6"]))
        half = w.emit("MUL", [x, w.constant(np.float32(0.5))], x.value / 2, opts=options("Mul"))
        return w.emit("ADD", [half, y], half.value + y.value, opts=table_of("ADD", 0))
    name = w.choice(["ADD", "SUB"])
    value = x.value + y.value if x.type != "int32" else np.zeros_like(x.value)
    return w.emit(name, [x, y], value, x.type, x.quantization, table_of(name, 0))


def branch(w, arguments, templates):
    child = child_of(w, arguments)
    grow(child, w.integer(0, 4))
    inputs = child.subgraph.inputs
    child.subgraph.outputs = [result_like(child, inputs[position]) for position in templates]
    return child.subgraph


def some_arguments(w, count):
    types = ("float32", "int8", "uint8", "int32")
    found = [t for t in w.pool if t.type in types and (is_real(t) or t.type == "int32" and not t.is_quantized)
             and not t.loose and t.size > 0]
    if not found:
        raise Abandoned
    return [w.choice(found) for _ in range(count)]


def condition(w):
    """A truth: an input, or computed from one of the tensors."""
    if w.parent is None and w.chance(0.5):
        first = w.chance(0.5)
        return w.input([np.array(first), np.array(first != w.chance(0.6))])
    x = w.find(lambda t: t.size > 0 and t.rank > 0, ("float32", "int32"))
    axes = w.indices(list(range(x.rank)))
    name = w.choice(["REDUCE_MAX", "REDUCE_MIN"])
    value = np.asarray(x.value.max() if name == "REDUCE_MAX" else x.value.min())
    y = w.emit(name, [x, axes], value, x.type, None, options("Reducer", keepDims=False))
    limit = w.constant(np.array(w.choice([0, 1]), x.type))
    return w.emit("GREATER", [y, limit], np.asarray(value > limit.value), "bool", version=1)


@move(control=7, mixed=0.7)
def conditional(w):
    if depth_of(w) >= DEPTH or w.is_flexible:
        raise Abandoned
    arguments = some_arguments(w, w.integer(1, 3))
    templates = [w.integer(0, len(arguments) - 1) for _ in range(w.choice([1, 1, 2]))]
    truth = condition(w)
    first, second = branch(w, arguments, templates), branch(w, arguments, templates)
    chosen = first if bool(np.asarray(truth.value).reshape(-1)[0]) else second
    results = [(t.value, t.type, t.quantization) for t in chosen.outputs]
    w.emit_all("IF", [truth, *arguments], results,
               lambda indices: options("If", thenSubgraphIndex=indices[0], elseSubgraphIndex=indices[1]),
               subgraphs=[first, second])


@move(control=5, mixed=0.5)
def loop(w):
    """Counts up, and changes values on the way."""
    if depth_of(w) >= DEPTH or w.is_flexible:
        raise Abandoned
    values = some_arguments(w, w.integer(1, 3))
    limit = w.choice([0, 1, 2, 3])
    if w.parent is None and w.chance(0.3):
        counter = w.input([np.array(0, np.int32), np.array(w.choice([0, 1]), np.int32)])
    else:
        counter = w.constant(np.array(0, np.int32))
    arguments = [counter, *values]
    test = child_of(w, arguments)
    less = test.emit("LESS", [test.pool[0], test.constant(np.int32(limit))], np.array(True), "bool", None, version=1)
    test.subgraph.outputs = [less]
    body = child_of(w, arguments)
    number = body.subgraph.inputs[0]
    body.pool.remove(number)
    grow(body, w.integer(0, 3))
    counted = body.emit("ADD", [number, body.constant(np.int32(1))], number.value, opts=options("Add"))
    order = list(range(1, len(arguments)))
    results = []
    for position in order:
        x = body.subgraph.inputs[position]
        # LiteRT copies results to arguments one after the other: what an argument held before has to be copied first.
        alike = [t for t in body.subgraph.inputs[position:] if (t.type, t.shape, t.quantization) == (x.type, x.shape, x.quantization)]
        results.append(w.choice(alike) if w.chance(0.15) else result_like(body, x))
    body.subgraph.outputs = [counted, *results]
    outputs = [(counter.value, "int32", None)] + [(t.value, t.type, t.quantization) for t in values]
    w.emit_all("WHILE", arguments, outputs,
               lambda indices: options("While", condSubgraphIndex=indices[0], bodySubgraphIndex=indices[1]),
               subgraphs=[test.subgraph, body.subgraph])


@lru_cache(maxsize=64)
def _composite(index):
    table = schema.StableHLOCompositeOptionsT()
    table.name = "odml.example"
    table.compositeAttributes = np.frombuffer(flexbuffers.Dumps({"axis": 1}), np.uint8)
    table.decompositionSubgraphIndex = index
    return Blob(table, 2)


@move(control=2, mixed=0.3)
def composite(w):
    if depth_of(w) >= DEPTH or w.is_flexible:
        raise Abandoned
    arguments = some_arguments(w, w.integer(1, 3))
    child = branch(w, arguments, [w.integer(0, len(arguments) - 1)])
    results = [(t.value, t.type, t.quantization) for t in child.outputs]
    w.emit_all("STABLEHLO_COMPOSITE", arguments, results, lambda indices: _composite(indices[0]), subgraphs=[child])


@lru_cache(maxsize=64)
def _case(indices):
    table = schema.StablehloCaseOptionsT()
    table.branchSubgraphIndices = np.array(indices, np.int32)
    return Blob(table, 2)


@move(control=0.7)
def cases(w):
    if depth_of(w) >= DEPTH or not w.allows("STABLEHLO_CASE") or w.parent is not None:
        raise Abandoned
    arguments = some_arguments(w, w.integer(1, 2))
    templates = [w.integer(0, len(arguments) - 1)]
    children = [branch(w, arguments, templates) for _ in range(w.integer(1, 3))]
    number = w.input([np.array(w.integer(-1, 3), np.int32) for _ in range(2)])
    index = int(number.value)
    chosen = children[index if 0 <= index < len(children) else -1]
    w.emit_all("STABLEHLO_CASE", [number, *arguments], [(t.value, t.type, t.quantization) for t in chosen.outputs],
               lambda indices: _case(tuple(indices)), subgraphs=children)


@move(control=1, shapes=0.7)
def growing_branch(w):
    """IF whose branches have results of different shapes."""
    if depth_of(w) >= DEPTH or w.is_flexible or w.parent is not None:
        raise Abandoned
    x = w.find(lambda t: 0 < t.rank < 5 and 0 < t.size < 200, ("float32", "int32"))
    truth = condition(w)
    children = [child_of(w, [x]) for _ in range(2)]
    grown = w.integer(0, 1)
    for number, child in enumerate(children):
        y = child.pool[0]
        if number == grown:
            y = child.emit("CONCATENATION", [y, y], np.concatenate([y.value] * 2), opts=options("Concatenation", axis=0))
        child.subgraph.outputs = [child.emit("ADD", [y, y], y.value * 2, opts=table_of("ADD", 0))]
    chosen = children[0 if bool(np.asarray(truth.value).reshape(-1)[0]) else 1].subgraph.outputs[0]
    w.emit_all("IF", [truth, x], [(chosen.value, x.type, None)],
               lambda indices: options("If", thenSubgraphIndex=indices[0], elseSubgraphIndex=indices[1]),
               loose=True, subgraphs=[child.subgraph for child in children])


@move(control=1, shapes=1)
def growing_loop(w):
    """A value beside itself, run by run: its shape grows."""
    if depth_of(w) >= DEPTH or w.is_flexible:
        raise Abandoned
    x = w.find(lambda t: 0 < t.rank < 4 and 0 < t.size < 60, ("float32", "int32"))
    limit = w.choice([0, 1, 2])
    counter = w.constant(np.array(0, np.int32))
    arguments = [counter, x]
    test, body = child_of(w, arguments), child_of(w, arguments)
    less = test.emit("LESS", [test.pool[0], test.constant(np.int32(limit))], np.array(True), "bool", None, version=1)
    test.subgraph.outputs = [less]
    number, value = body.subgraph.inputs
    counted = body.emit("ADD", [number, body.constant(np.int32(1))], number.value, opts=options("Add"))
    doubled = body.emit("CONCATENATION", [value, value], np.concatenate([value.value] * 2), opts=options("Concatenation", axis=0))
    body.subgraph.outputs = [counted, doubled]
    grown = np.concatenate([x.value] * 2**limit)
    y = w.emit_all("WHILE", arguments, [(counter.value, "int32", None), (grown, x.type, None)],
                   lambda indices: options("While", condSubgraphIndex=indices[0], bodySubgraphIndex=indices[1]),
                   subgraphs=[test.subgraph, body.subgraph])
    for each in y:
        each.loose = True
