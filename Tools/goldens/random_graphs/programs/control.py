# SPDX-License-Identifier: Apache-2.0
"""Calls of functions: branches, loops and composites, which share the functions that fit."""


from random_graphs.model import options
from random_graphs.moves.control import _case, _composite
from random_graphs.programs.moves import MOVES, result
from random_graphs.programs.scope import Function, Scope
from random_graphs.programs.sizes import Size, matched, replaced
from random_graphs.programs.variables import variable_moves
from random_graphs.weaver import Abandoned

# How many levels of functions call each other.
DEPTH = 3
ARGUMENTS = ("float32", "int32", "bool", "int64")


def grow(s, count, level):
    """Adds so many moves; `level` counts the functions around."""
    table = dict(MOVES)
    if level < DEPTH:
        table |= {lambda s, make=make: make(s, level): weight * (3 if level == 0 else 1.5)
                  for make, weight in ((branch, 4), (loop, 4), (call, 2), (switch, 0.7))}
    table |= variable_moves(s.program)
    for _ in range(count):
        s.attempt(s.random.choices(list(table), list(table.values()))[0])


def arguments(s, count):
    found = [value for value in s.pool if value.type in ARGUMENTS and value.sizes is not None and value.rank < 5]
    return [found[-1] if s.chance(0.4) else s.choice(found) for _ in range(count)] if found else s.choice([])


def fitting(s, values, level, test=lambda function: True):
    """Functions of the library that take these values."""
    return [
        function for function in s.program.library
        if level + 1 + function.depth <= DEPTH and len(function.parameters) == len(values) and test(function)
        and all(type_name == value.type for (type_name, _), value in zip(function.parameters, values))
        and binding(function, values) is not None]


def binding(function, values):
    """What names of a function's parameters stand for; None if it does not take the values."""
    known = {}
    for (_, pattern), value in zip(function.parameters, values):
        if not matched(pattern, value.sizes, known):
            return None
    return known


def results_of(function, values):
    known = binding(function, values)
    return [(type_name, None if sizes is None else tuple(replaced(size, known) for size in sizes))
            for type_name, sizes in function.results]


def child_of(s, values, level, keeps, unites=True):
    """A function's beginning, with a parameter for each value; sizes are open, or now and then numbers (`keeps`)."""
    child = Scope(s.program)
    child.is_inner = True
    names = {}
    for value in values:
        sizes = []
        for size in value.sizes:
            if isinstance(size, int) and child.chance(keeps):
                sizes.append(size)
            elif unites:
                sizes.append(names.setdefault(size, Size()))
            else:
                sizes.append(Size())
        child.parameter(value.type, sizes)
    return child


def finished(s, child, parameters, results, role="plain"):
    child.subgraph.outputs = [value.tensor for value in results]
    function = Function(child.subgraph, parameters, results, child.depth, role, child.touches)
    s.program.library.append(function)
    return function


def plain(s, values, level, types=None):
    """A function of the values: one of the library, or a new one; with results of these types."""
    known = fitting(s, values, level, lambda function: types is None or [name for name, _ in function.results] == types)
    if known and s.chance(0.65):
        return s.choice(known)
    child = child_of(s, values, level, 0.5)
    parameters = list(child.pool)
    grow(child, child.integer(1, 5), level + 1)
    if types is None:
        types = [child.choice([value.type for value in child.pool if value.type in ARGUMENTS])
                 for _ in range(child.choice([1, 1, 2, 3]))]
    results = []
    for type_name in types:
        try:
            results.append(result(child, type_name))
        except Abandoned:
            if type_name not in ("float32", "int32"):
                raise
            child.attempt(lambda c: c.pool.append(c.cast(c.amount(0, 5), type_name)))
            results.append(result(child, type_name))
    return finished(s, child, parameters, results)


def use(s, *functions):
    """Notes what a caller of functions does by that."""
    s.depth = max(s.depth, *(function.depth + 1 for function in functions))
    s.touches = s.touches or any(function.touches for function in functions)


def either(first, second):
    """What is known of a result of one branch or the other."""
    if first is None or second is None or len(first) != len(second):
        return None
    return tuple(a if a == b else Size() for a, b in zip(first, second))


def branch(s, level):
    values = arguments(s, s.integer(1, 3))
    truth = s.truth()
    first = plain(s, values, level)
    second = plain(s, values, level, [name for name, _ in first.results])
    results = [(name, either(a, b)) for (name, a), (_, b) in zip(results_of(first, values), results_of(second, values))]
    s.emit_all("IF", [truth, *values], results,
               lambda indices: options("If", thenSubgraphIndex=indices[0], elseSubgraphIndex=indices[-1]), 1,
               subgraphs=[first.subgraph, second.subgraph])
    use(s, first, second)


def call(s, level):
    values = arguments(s, s.integer(1, 3))
    function = plain(s, values, level)
    s.emit_all("STABLEHLO_COMPOSITE", values, results_of(function, values), lambda indices: _composite(indices[0]), 1,
               subgraphs=[function.subgraph])
    use(s, function)


def switch(s, level):
    """STABLEHLO_CASE, for which LiteRT has an optimized kernel alone. Of two in a model, it takes one's subgraphs for the other's."""
    if not s.program.graph.may_mix or s.program.graph.is_mixed or level:
        raise Abandoned
    values = arguments(s, s.integer(1, 2))
    number = s.amount(-1, 3)
    functions = [plain(s, values, level)]
    for _ in range(s.integer(0, 2)):
        functions.append(plain(s, values, level, [name for name, _ in functions[0].results]))
    results = results_of(functions[0], values)
    for function in functions[1:]:
        results = [(name, either(a, b)) for (name, a), (_, b) in zip(results, results_of(function, values))]
    s.emit_all("STABLEHLO_CASE", [number, *values], results, lambda indices: _case(tuple(indices)), 1,
               subgraphs=[function.subgraph for function in functions])
    s.program.graph.is_mixed = True
    use(s, *functions)


def condition(s, values, level):
    """A function that says whether a loop goes on: at most three times."""
    known = fitting(s, values, level, lambda function: function.role == "condition")
    if known and s.chance(0.5):
        return s.choice(known)
    child = child_of(s, values, level, 0, unites=False)
    parameters = list(child.pool)
    counter = child.pool.pop(0)
    if child.chance(0.3):
        grow(child, child.integer(1, 2), level + 1)
    if child.chance(0.5):
        limit = child.integer_constant(child.integer(0, 3))
    else:
        limit = child.amount(0, 3)
    less = child.emit("LESS", [counter, limit], "bool", (), version=1, pooled=False)
    if child.chance(0.3):
        truth = child.truth()
        if truth.sizes == ():
            less = child.emit("LOGICAL_AND", [less, truth], "bool", (), options("LogicalAnd"), 1, pooled=False)
    return finished(s, child, parameters, [less], "condition")


def body(s, values, level):
    known = fitting(s, values, level, lambda function: function.role == "body")
    if known and s.chance(0.5):
        return s.choice(known)
    child = child_of(s, values, level, 0.5, unites=False)
    parameters = list(child.pool)
    counter = child.pool[0]
    grow(child, child.integer(1, 4), level + 1)
    following = child.emit("ADD", [counter, child.integer_constant(1)], "int32", (), options("Add"), 1, pooled=False)
    results = [following]
    for value in parameters[1:]:
        # LiteRT copies results to arguments one after the other: those before this one are overwritten already.
        overwritten = parameters[:len(results)]
        found = result(child, value.type, value.sizes, overwritten)
        # What could grow in each iteration stays short.
        if found is not value and found.rank and found.type in ("float32", "int32") and any(isinstance(n, Size) for n in value.sizes):
            found = child.short(found, 24)
        if child.chance(0.3) and found.type == "float32":
            found = child.clamped(found, -64, 64)
        results.append(found)
    return finished(s, child, parameters, results, "body")


def loop(s, level):
    values = arguments(s, s.integer(1, 3))
    counter = s.integer_constant(0) if s.chance(0.6) else s.amount(0, 2)
    values = [counter, *values]
    test = condition(s, values, level)
    inside = body(s, values, level)
    results = []
    for value, (name, pattern), (_, sizes) in zip(values, inside.parameters, inside.results):
        results.append((name, tuple(
            have if isinstance(want, int) or want == made else Size() for have, want, made in zip(value.sizes, pattern, sizes))))
    s.emit_all("WHILE", values, results,
               lambda indices: options("While", condSubgraphIndex=indices[0], bodySubgraphIndex=indices[1]), 1,
               subgraphs=[test.subgraph, inside.subgraph])
    use(s, test, inside)
