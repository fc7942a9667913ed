# SPDX-License-Identifier: Apache-2.0
"""Control flow between subgraphs, and resource variables."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from flatbuffers import flexbuffers
from graph_builder import GraphBuilder


def binary(graph, name, lhs, rhs, type_name, shape, quantization=None):
    output = graph.tensor(type_name, shape, quantization)
    options = {"ADD": schema.AddOptionsT, "MUL": schema.MulOptionsT, "SUB": schema.SubOptionsT}.get(name)
    graph.add(name, [lhs, rhs], [output], options() if options else None, version=2 if type_name == "int8" else 1)
    return output


def doubled(draw, graph, value, type_name, shape, axis=0):
    """A value beside itself: its shape grows."""
    options = schema.ConcatenationOptionsT()
    options.axis = axis
    grown = list(shape)
    grown[axis] *= 2
    output = graph.tensor(type_name, grown, graph.quantization)
    graph.add("CONCATENATION", [value, value], [output], options, version=2 if type_name == "int8" else 1)
    return output


def branch(draw, model, shape, grows, takes):
    """A subgraph of some inputs whose output is an input, a sum, a constant, or of another shape."""
    child = model.subgraph()
    child.quantization = model.quantization
    arguments = [child.argument(draw.type, shape, model.quantization) for _ in range(takes)]
    if grows:
        child.result(doubled(draw, child, arguments[0], draw.type, shape))
        return child
    kind = draw.choice(["sum", "product", "input", "constant"])
    if kind == "input":
        child.result(draw.choice(arguments))
    elif kind == "constant":
        child.result(child.constant(draw.values(shape), model.quantization))
    else:
        name = "ADD" if kind == "sum" else "MUL"
        quantization = model.quantization
        child.result(binary(child, name, arguments[0], arguments[-1], draw.type, shape, quantization))
    return child


TYPES = ("float32", "int8", "uint8", "int32")


@operator("IF", TYPES, cases=10)
def conditional(draw):
    model = GraphBuilder()
    model.quantization = draw.quantization("all")
    grows = draw.pick("grows", [0, 0, 0, 1, 2, 3])
    draw.tag(["", "first_grows", "second_grows", "both_grow"][grows])
    shape = draw.shape(draw.choice([1, 2, 3]))
    takes = draw.choice([1, 2])
    condition = model.input(np.array([draw.chance(0.5)] if draw.chance(0.5) else draw.chance(0.5), bool))
    arguments = [model.input(draw.values(shape), model.quantization) for _ in range(takes)]
    options = schema.IfOptionsT()
    options.thenSubgraphIndex = branch(draw, model, shape, grows & 1, takes).index
    options.elseSubgraphIndex = branch(draw, model, shape, grows & 2, takes).index
    if draw.flag("used_after", 2) and not grows:
        result = model.tensor(draw.type, shape, model.quantization)
        model.add("IF", [condition, *arguments], [result], options, main=True)
        output = model.output(draw.type, model.quantization)
        version = 2 if draw.type == "int8" else 1
        return model.add("ADD", [result, arguments[0]], [output], schema.AddOptionsT(), version=version)
    if grows and draw.flag("grown_after", 2):
        result = model.tensor(draw.type, shape, model.quantization)
        model.add("IF", [condition, *arguments], [result], options, main=True)
        model.result(doubled(draw, model, result, draw.type, shape))
        return model
    output = model.output(draw.type, model.quantization)
    return model.add("IF", [condition, *arguments], [output], options, main=True)


@operator("WHILE", ("float32", "int8", "uint8", "int32"), cases=12)
def loop(draw):
    """Counts up to a limit, and changes values on the way."""
    model = GraphBuilder()
    model.quantization = quantization = draw.quantization("all")
    shape = draw.shape(draw.choice([1, 2]), 12)
    kind = draw.pick("kind", ["sum", "grows", "swap", "sum", "unchanged"])
    draw.tag(kind)
    limit = draw.choice([0, 1, 2, 3, 5]) if kind != "grows" else draw.choice([0, 1, 2, 3])
    draw.tag(f"{limit}_times")
    # Values first, the counter last: their order of use puts the type in the first input.
    types = [(draw.type, shape, quantization)] * (2 if kind == "swap" else 1) + [("int32", (), None)]
    condition, body = model.subgraph(), model.subgraph()
    condition.quantization = body.quantization = quantization
    arguments = [condition.argument(*each) for each in types]
    less = condition.tensor("bool", ())
    condition.add("LESS", [arguments[-1], condition.constant(np.int32(limit))], [less], schema.LessOptionsT())
    condition.result(less)
    arguments = [body.argument(*each) for each in types]
    counter = binary(body, "ADD", arguments[-1], body.constant(np.int32(1)), "int32", ())
    if kind == "sum":
        step = body.constant(draw.values(shape), quantization)
        body.result(binary(body, "ADD", arguments[0], step, draw.type, shape, quantization))
    elif kind == "grows":
        body.result(doubled(draw, body, arguments[0], draw.type, shape))
    elif kind == "swap":
        body.result(arguments[1])
        body.result(binary(body, "ADD", arguments[0], arguments[1], draw.type, shape, quantization))
    else:
        body.result(arguments[0])
    body.result(counter)
    options = schema.WhileOptionsT()
    options.condSubgraphIndex, options.bodySubgraphIndex = condition.index, body.index
    inputs = [model.input(draw.values(each[1], each[0]), each[2]) for each in types[:-1]]
    inputs.append(model.input(np.int32(0)) if draw.chance(0.5) else model.constant(np.int32(0)))
    outputs = [model.output(each[0], each[2]) for each in types]
    return model.add("WHILE", inputs, outputs, options, main=True)


@operator("STABLEHLO_COMPOSITE", ("float32", "int8", "uint8", "int32"), cases=12)
def composite(draw):
    model = GraphBuilder()
    model.quantization = draw.quantization("all")
    shape = draw.shape(draw.choice([1, 2, 3]))
    takes = draw.choice([1, 2])
    arguments = [model.input(draw.values(shape), model.quantization) for _ in range(takes)]
    options = schema.StableHLOCompositeOptionsT()
    options.name = "odml.example"
    options.compositeAttributes = np.frombuffer(flexbuffers.Dumps({"axis": 1}), np.uint8)
    grows = draw.flag("grows", 3)
    options.decompositionSubgraphIndex = branch(draw, model, shape, grows, takes).index
    output = model.output(draw.type, model.quantization)
    return model.add("STABLEHLO_COMPOSITE", arguments, [output], options2=options, main=True)


def handle_of(model, name, main=False):
    handle = model.handle()
    options = schema.VarHandleOptionsT()
    options.container, options.sharedName = "", name
    model.add("VAR_HANDLE", [], [handle], options, main=main)
    return handle


def variables(name, main):
    """A model that keeps state: an initial value, set once or not, is read, changed and read again.

    What is read into a tensor of unknown shape has the variable's; of a larger variable the first elements are read.
    """

    def case(draw):
        model = GraphBuilder()
        model.quantization = quantization = draw.quantization("all")
        shape = draw.choice([draw.shape(2), draw.shape(1), []])
        draw.tag("scalar" if not shape else "")
        count = draw.choice([1, 2])
        once = main == "CALL_ONCE" or draw.flag("initialized", 2)
        reads = main == "READ_VARIABLE" and bool(shape)
        larger = [2 * shape[0], *shape[1:]] if reads and draw.flag("larger", 3) else shape
        read_shape = [] if reads and larger == shape and draw.flag("unknown", 3) else shape
        version = 2 if draw.type == "int8" else 1
        if once:
            start = model.subgraph()
            options = schema.CallOnceOptionsT()
            options.initSubgraphIndex = start.index
            model.add("CALL_ONCE", [], [], options, main=main == "CALL_ONCE")
        for index in range(count):
            if once:
                handle = handle_of(start, f"state{index}")
                value = start.constant(draw.values(larger), quantization)
                start.add("ASSIGN_VARIABLE", [handle, value], [], schema.AssignVariableOptionsT())
            is_main = index == 0
            handle = handle_of(model, f"state{index}", main == "VAR_HANDLE" and is_main)
            value = model.input(draw.values(shape), quantization)
            if not once:
                first = value if larger == shape else model.input(draw.values(larger), quantization)
                model.add(
                    "ASSIGN_VARIABLE", [handle, first], [], schema.AssignVariableOptionsT(),
                    main=main == "ASSIGN_VARIABLE" and is_main,
                )
            old = model.tensor(draw.type, read_shape, quantization)
            model.add(
                "READ_VARIABLE", [handle], [old], schema.ReadVariableOptionsT(),
                main=main == "READ_VARIABLE" and is_main,
            )
            new = model.tensor(draw.type, shape, quantization)
            model.add("ADD", [old, value], [new], schema.AddOptionsT(), version=version)
            model.add("ASSIGN_VARIABLE", [handle, new], [], schema.AssignVariableOptionsT())
            again = model.tensor(draw.type, read_shape, quantization)
            model.add("READ_VARIABLE", [handle], [again], schema.ReadVariableOptionsT())
            output = model.output(draw.type, quantization)
            model.add("ADD", [old, again], [output], schema.AddOptionsT(), version=version)
        return model

    return operator(name, TYPES, cases=10)(case)


for each in ("CALL_ONCE", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"):
    variables(each, each)


@operator("STABLEHLO_CASE", ("int32",), cases=16)
def case_of(draw):
    draw.type = draw.pick("operands", TYPES)
    draw.tag(draw.type)
    model = GraphBuilder()
    model.quantization = draw.quantization("all")
    shape = draw.shape(draw.choice([1, 2, 3]))
    takes = draw.choice([1, 2])
    count = draw.pick("branches", [2, 3, 1])
    number = draw.choice([*range(count), -1, count, count + 5])
    draw.tag(f"{number}_of_{count}".replace("-", "m"))
    grows = draw.flag("one_grows", 4)
    index = model.input(np.array([number] if draw.chance(0.5) else number, np.int32))
    arguments = [model.input(draw.values(shape), model.quantization) for _ in range(takes)]
    options = schema.StablehloCaseOptionsT()
    children = [branch(draw, model, shape, grows and each == 0, takes).index for each in range(count)]
    options.branchSubgraphIndices = np.array(children, np.int32)
    output = model.output(draw.type, model.quantization)
    return model.add("STABLEHLO_CASE", [index, *arguments], [output], options2=options, main=True)
