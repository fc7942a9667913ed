# SPDX-License-Identifier: Apache-2.0
"""RANDOM_UNIFORM, RANDOM_STANDARD_NORMAL, MULTINOMIAL and STABLEHLO_RNG_BIT_GENERATOR."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from graph_builder import GraphBuilder
from model_builder import ModelBuilder


def seeds(draw):
    """Two seeds that are not both zero: those stand for chance."""
    kind = draw.pick("seeds", ["both", "first", "second", "large", "negative"])
    draw.tag(kind)
    options = schema.RandomOptionsT()
    first, second = draw.integer(1, 10**6), draw.integer(1, 10**6)
    if kind == "large":
        first, second = first * 10**12, second * 10**12
    if kind == "negative":
        first, second = -first, -second
    options.seed = first if kind != "second" else 0
    options.seed2 = second if kind != "first" else 0
    return options


def repeated(draw, name, shape, operands=None, type_name="float32"):
    """A loop that adds random numbers to others: each run of the operator goes on where the last one ended."""
    model = GraphBuilder()
    condition, body = model.subgraph(), model.subgraph()
    types = [(type_name, shape), ("int32", ())]
    arguments = [condition.argument(*each) for each in types]
    less = condition.tensor("bool")
    limit = condition.constant(np.int32(draw.choice([1, 2, 3])))
    condition.add("LESS", [arguments[1], limit], [less], schema.LessOptionsT())
    condition.result(less)
    arguments = [body.argument(*each) for each in types]
    drawn, total, counter = body.tensor(type_name, shape), body.tensor(type_name, shape), body.tensor("int32")
    operands = operands or [np.array(shape, np.int32)]
    body.add(name, [body.constant(values) for values in operands], [drawn], seeds(draw))
    body.add("ADD", [arguments[0], drawn], [total], schema.AddOptionsT())
    body.add("ADD", [arguments[1], body.constant(np.int32(1))], [counter], schema.AddOptionsT())
    body.result(total)
    body.result(counter)
    options = schema.WhileOptionsT()
    options.condSubgraphIndex, options.bodySubgraphIndex = condition.index, body.index
    inputs = [model.input(np.zeros(shape, type_name)), model.constant(np.int32(0))]
    return model.add("WHILE", inputs, [model.output(type_name), model.output("int32")], options)


def numbers(name):
    def case(draw):
        rank = draw.pick("rank", [1, 2, 3, 0])
        draw.tag(f"rank{rank}")
        shape = draw.shape(rank)
        if rank and draw.flag("empty", 10):
            shape[0] = 0
        if draw.flag("in_a_loop", 4):
            return repeated(draw, name, shape)
        dynamic = draw.flag("dynamic_shape", 4)
        model = ModelBuilder()
        operands = [model.index_operand(np.array(shape, np.int32), dynamic)]
        return model.operator(name, operands, [model.output("float32")], seeds(draw))

    return operator(name, ("int32",), cases=12)(case)


for each in ("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL"):
    numbers(each)


@operator("MULTINOMIAL", ("float32",), cases=16)
def multinomial(draw):
    batch, classes = draw.choice([1, 2, 3]), draw.choice([1, 2, 3, 7, 20])
    count = draw.pick("samples", [1, 2, 3, 5, 8, 0])
    output = draw.pick("output", ["int64", "int32"])
    dynamic = draw.flag("dynamic_count", 4)
    draw.tag(f"{classes}_classes", f"{count}_samples", output)
    logits = draw.values((batch, classes), magnitude=draw.choice([0.5, 2.0, 30.0]))
    special = draw.pick("special", ["", "infinities", "", "all_infinite"])
    draw.tag(special)
    if special == "infinities":
        logits.flat[draw.integer(0, logits.size - 1)] = draw.choice([-np.inf, np.inf, np.nan])
    if special == "all_infinite":
        logits[0] = -np.inf
    if draw.flag("in_a_loop", 4) and count:
        operands = [logits, np.array(count, np.int32)]
        return repeated(draw, "MULTINOMIAL", (batch, count), operands, "int32")
    model = ModelBuilder()
    operands = [model.input(logits), model.index_operand(np.array(count, np.int32), dynamic)]
    return model.operator("MULTINOMIAL", operands, [model.output(output)], seeds(draw))


@operator("STABLEHLO_RNG_BIT_GENERATOR", ("uint64",), cases=16)
def random_bits(draw):
    name = draw.pick("algorithm", ["default", "philox", "threefry", "philox3"])
    output = draw.pick("output", ["int32", "uint32", "int64", "uint64", "int32"])
    shape = draw.shape(draw.choice([1, 2, 3]))
    draw.tag(name, output)
    words = [draw.integer(0, 2**32 - 1) << 32 | draw.integer(0, 2**32 - 1) for _ in range(3)]
    if draw.flag("carry", 4):
        words[1] = words[1] | 0xFFFFFFFF
    state = np.array(words[: 3 if name == "philox3" else 2], np.uint64)
    model = GraphBuilder()
    options = schema.StablehloRngBitGeneratorOptionsT()
    options.algorithm = {"default": 0, "philox": 1, "philox3": 1, "threefry": 2}[name]
    operand = model.input(state)
    outputs = [model.tensor("uint64", state.shape), model.tensor(output, shape)]
    for tensor in outputs:
        model.result(tensor)
    return model.add("STABLEHLO_RNG_BIT_GENERATOR", [operand], outputs, options2=options, main=True)
