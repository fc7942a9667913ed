# SPDX-License-Identifier: Apache-2.0
"""Draws a whole program: variables, entries, sets of data of several shapes, and the order in which they run."""

import copy

import numpy as np

from random_graphs.model import Operator, Subgraph, options
from random_graphs.programs.control import ARGUMENTS, grow
from random_graphs.programs.scope import Scope
from random_graphs.programs.sizes import Size
from random_graphs.programs.variables import Variable, begin
from random_graphs.weaver import Abandoned

# Subgraphs of a program, each call counted: beyond that, the reference gets the functions shared.
MOST_CALLS = 120


class Program:
    def __init__(self, graph, random, numbers):
        self.graph = graph
        self.random = random
        self.numbers = numbers
        self.library = []
        self.variables = []


def draw_program(graph, random, numbers):
    """Fills a graph with a program."""
    program = Program(graph, random, numbers)
    graph.is_program = True
    graph.may_mix = random.random() < 0.15
    if random.random() < 0.5:
        graph.has_state = random.random() < 0.6
        for number in range(random.choice([1, 1, 2])):
            program.variables.append(Variable(
                f"kept{number}", random.choice(["float32", "float32", "int32"]), random.choice([0, 1, 1, 2])))
    entries = [_entry(program) for _ in range(random.choice([1, 1, 1, 2, 3]))]
    exported = [function for function in program.library if function.role == "plain" and function.parameters
                and all(sizes is not None for _, sizes in function.parameters)]
    # A function that others call is an entry, too.
    if exported and random.random() < 0.2 and not (program.variables and not graph.has_state):
        function = random.choice(exported)
        entries.append((function.subgraph, function.parameters))
    graph.main = entries[0][0]
    graph.signatures = [(f"f{number}", subgraph) for number, (subgraph, _) in enumerate(entries)] if (
        len(entries) > 1 or random.random() < 0.1) else []
    for number, (subgraph, parameters) in enumerate(entries):
        _give_sets(program, subgraph, parameters)
    _order(program, entries)
    graph.has_state = graph.has_state and bool(program.variables)
    if not any(operator.subgraphs for subgraph in graph.subgraphs() for operator in subgraph.operators) and random.random() < 0.7:
        raise Abandoned


def _entry(program):
    random = program.random
    s = Scope(program)
    names = [Size() for _ in range(2)]
    for number in range(random.choice([1, 2, 2, 3])):
        rank = random.choice([0, 1, 1, 1, 2, 2, 3] if number else [1, 1, 2, 2, 3])
        sizes = [random.choice([*names, Size(), random.randint(1, 4)]) for _ in range(rank)]
        s.parameter(random.choice(["float32", "float32", "float32", "int32"]), sizes)
    if random.random() < 0.4:
        s.parameter(random.choice(["bool", "int32"]), ())
    parameters = [(value.type, value.sizes) for value in s.pool]
    begin(s, program, lambda: Scope(program))
    grow(s, random.choice([3, 6, 10, 16]), 0)
    produced = {id(tensor) for operator in s.subgraph.operators for tensor in operator.outputs}
    results = [value for value in s.pool if id(value.tensor) in produced and value.type in ARGUMENTS]
    if not results:
        raise Abandoned
    read = {id(tensor) for operator in s.subgraph.operators for tensor in operator.inputs}
    chosen = [value for value in results if id(value.tensor) not in read][-6:] or results[-1:]
    if random.random() < 0.2:
        chosen.append(random.choice(results))
    s.subgraph.outputs = [value.tensor for value in chosen]
    if program.variables and program.graph.has_state and random.random() < 0.25:
        _draw_numbers(s)
    _prune(s.subgraph)
    return s.subgraph, parameters


def _draw_numbers(s):
    """Random numbers of a fixed shape: they begin anew with other shapes of inputs, and of results before them.

    They stand before the first loop, to whose results LiteRT gives shapes of earlier iterations, too.
    """
    seeds = options("Random", seed=s.integer(1, 10**6), seed2=s.integer(1, 10**6))
    name = s.choice(["RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL"])
    value = s.emit(name, [s.integer_constant([3])], "float32", (3,), seeds, 1, pooled=False)
    operators = s.subgraph.operators
    loop = next((place for place, operator in enumerate(operators) if _has_loop(operator)), len(operators) - 1)
    operators.insert(s.integer(0, loop), operators.pop())
    s.subgraph.outputs.append(value.tensor)


def _has_loop(operator):
    return operator.name == "WHILE" or any(_has_loop(o) for subgraph in operator.subgraphs for o in subgraph.operators)


def _prune(subgraph):
    """Takes out what nobody reads; calls stay, as they may assign variables."""
    while True:
        read = {id(tensor) for operator in subgraph.operators for tensor in operator.inputs} | {id(t) for t in subgraph.outputs}
        kept = [o for o in subgraph.operators if o.subgraphs or not o.outputs or any(id(t) in read for t in o.outputs)]
        if len(kept) == len(subgraph.operators):
            return
        subgraph.operators = kept


# Data

def _give_sets(program, subgraph, parameters):
    """Several sets of data, mostly of different shapes; the last one may be refused."""
    random = program.random
    names = list(dict.fromkeys(size for _, sizes in parameters for size in sizes if isinstance(size, Size)))
    count = random.choice([2, 3, 3, 4])
    for tensor in subgraph.inputs:
        tensor.sets = []
    known = {}
    for number in range(count + 1):
        if number == 0 or random.random() < 0.75:
            known = {name: 0 if random.random() < 0.04 else random.randint(1, 6) for name in names}
        for tensor, (type_name, sizes) in zip(subgraph.inputs, parameters):
            shape = [known.get(size, size) for size in sizes]
            if number == count:
                # Sizes that need not fit each other, or what operators expect.
                shape = [size + random.choice([0, 0, 1]) for size in shape]
                if random.random() < 0.1:
                    shape = [*shape, 1]
            tensor.sets.append(_values(program.numbers, type_name, shape))
    for tensor in subgraph.inputs:
        tensor.shape = tensor.sets[0].shape
        if tensor.rank and random.random() < 0.8:
            tensor.open = tuple([-1] * tensor.rank)


def _values(numbers, type_name, shape):
    if type_name == "bool":
        return np.asarray(numbers.integers(0, 2, shape)).astype(bool)
    if type_name in ("int32", "int64"):
        return np.asarray(numbers.integers(-3, 7, shape)).astype(type_name)
    return np.asarray(numbers.integers(-6, 10, shape) / 2).astype(np.float32)


def _order(program, entries):
    """Which entry runs which set, and when: each set once, some again, and what may be refused in between."""
    random = program.random
    order = []
    for number, (subgraph, _) in enumerate(entries):
        count = len(subgraph.inputs[0].sets)
        order += [(number, place) for place in range(count - 1)]
    random.shuffle(order)
    # What the file declares comes first.
    order.insert(0, (0, 0))
    last = [(number, len(subgraph.inputs[0].sets) - 1) for number, (subgraph, _) in enumerate(entries)]
    for each in last:
        order.insert(random.randint(1, len(order)), each)
    order += random.sample(order, min(len(order), 3))
    program.graph.order = order[:9]


def unshared(graph):
    """The graph with a subgraph of its own for each call, whose outputs differ from each other; None if these are too many.

    Of a tensor that a called subgraph lists twice among its outputs, LiteRT moves the memory to the first result, and the second is empty.
    """
    from random_graphs.shrinking import copied

    count = 0

    def copy_of(subgraph, is_called=True):
        nonlocal count
        count += 1
        if count > MOST_CALLS:
            raise Abandoned
        new = Subgraph()
        new.inputs, new.outputs = list(subgraph.inputs), list(subgraph.outputs)
        for o in subgraph.operators:
            # What is called once is called once in all.
            children = o.subgraphs if o.name == "CALL_ONCE" else [copy_of(child) for child in o.subgraphs]
            new.operators.append(Operator(
                o.name, o.inputs, o.outputs, o.options, o.version, o.custom, o.intermediates, children, o.state))
        if is_called:
            _separate(new)
        return new

    new = copied(graph)
    try:
        new.main = copy_of(new.main, is_called=False)
        new.signatures = [(key, new.main if number == 0 else copy_of(subgraph, is_called=False))
                          for number, (key, subgraph) in enumerate(new.signatures)]
    except Abandoned:
        return None
    return new


def _separate(subgraph):
    """Gives a place of its own to each output that is listed twice: the larger of the tensor and itself."""
    for place, tensor in enumerate(subgraph.outputs):
        if any(tensor is other for other in subgraph.outputs[:place]):
            same = copy.copy(tensor)
            name, opts = ("LOGICAL_OR", options("LogicalOr")) if tensor.type == "bool" else ("MAXIMUM", options("MaximumMinimum"))
            subgraph.operators.append(Operator(name, [tensor, tensor], [same], opts))
            subgraph.outputs[place] = same
