# SPDX-License-Identifier: Apache-2.0
"""What lives from run to run: resource variables, and tensors that operators change."""

import numpy as np

from random_graphs.model import Operator, Subgraph, Tensor, options
from random_graphs.moves import move
from random_graphs.moves.elementwise import binary, table_of, unary
from random_graphs.weaver import Abandoned, Weaver, is_real


def handle(w, name):
    """VAR_HANDLE; each subgraph that uses a variable has one."""
    tensor = Tensor("resource", ())
    w.subgraph.operators.append(Operator("VAR_HANDLE", [], [tensor], options("VarHandle", container="", sharedName=name),
                                         state=True))
    return tensor


def assign(w, where, tensor):
    w.subgraph.operators.append(Operator("ASSIGN_VARIABLE", [where, tensor], [], options("AssignVariable"), state=True))


def read(w, where, like, unranked=None):
    """READ_VARIABLE, now and then into a tensor of which the file tells no shape."""
    y = w.emit("READ_VARIABLE", [where], like.value, like.type, like.quantization, options("ReadVariable"), 1, state=True)
    if w.chance(0.3) if unranked is None else unranked:
        y.open = "unranked"
    return y


@move(state=8, control=1, mixed=0.4)
def variable(w):
    """A variable that is set, read, changed and read again."""
    x = w.find(lambda t: t.size > 0 and (is_real(t) and t.type in ("float32", "int8", "uint8") or t.type == "int32"))
    if w.parent is not None or w.is_flexible:
        raise Abandoned
    w.graph.has_state = True
    name = f"state{w.random.randrange(10**6)}"
    if w.chance(0.6):
        child = Weaver(w.random, w.numbers, w.graph, Subgraph(), parent=w)
        where = handle(child, name)
        real = w.numbers.standard_normal(x.shape)
        start = w.constant((real * 3).astype(np.int32)) if x.type == "int32" else w.real_constant(
            real, Tensor(x.type, x.shape), x.quantization) if x.type != "float32" else w.constant(real.astype(np.float32))
        assign(child, where, start)
        w.subgraph.operators.append(Operator(
            "CALL_ONCE", [], [], lambda indices: options("CallOnce", initSubgraphIndex=indices[0]),
            subgraphs=[child.subgraph], state=True))
        where = handle(w, name)
    else:
        where = handle(w, name)
        assign(w, where, x)
    old = read(w, where, x)
    new = sum_of(w, old, x, x.quantization)
    assign(w, where, new)
    if w.chance(0.6):
        again = read(w, where, x)
        sum_of(w, old, again, "fit")
    w.later.append(lambda: read(w, handle(w, name) if w.chance(0.5) else where, x))


@move(state=3, control=1.5, mixed=0.3, shapes=0.7, batch=0.8)
def passing(w):
    """A variable that is assigned before it is read in each run, so that its shape is what it happens to be; a branch or a called
    subgraph may read it."""
    x = w.find(lambda t: t.size > 0 and not t.is_variable, ("float32", "int32"))
    name = f"passing{w.random.randrange(10**6)}"
    where = handle(w, name)
    assign(w, where, x)
    if w.is_flexible or w.parent is not None or w.chance(0.6):
        again = handle(w, name) if w.chance(0.4) else where
        y = read(w, again, x, unranked=w.is_flexible or None)
        if w.chance(0.4) and not w.is_flexible and w.parent is None:
            # Another shape for the same variable.
            twice = w.emit("CONCATENATION", [y, y], np.concatenate([y.value] * 2), opts=options("Concatenation", axis=0)
                           ) if y.rank else y
            assign(w, where, twice)
            read(w, where, twice, unranked=True)
        return
    truth = w.input([np.array(w.chance(0.5)) for _ in range(2)])
    children = []
    for reads in (True, w.chance(0.5)):
        child = Weaver(w.random, w.numbers, w.graph, Subgraph(), w.act, parent=w)
        argument = Tensor(x.type, x.shape, None, value=x.value)
        child.subgraph.inputs.append(argument)
        y = read(child, handle(child, name), x) if reads else argument
        child.subgraph.outputs = [child.emit("ADD", [y, argument], y.value + argument.value, opts=table_of("ADD", 0))]
        children.append(child.subgraph)
    w.emit_all("IF", [truth, x], [(x.value, x.type, None)],
               lambda indices: options("If", thenSubgraphIndex=indices[0], elseSubgraphIndex=indices[1]), subgraphs=children,
               state=True)


@move(state=2, control=1, shapes=0.5)
def growing(w):
    """A loop that makes a variable longer each time, which is read behind it."""
    if w.parent is not None or w.is_flexible:
        raise Abandoned
    x = w.find(lambda t: 0 < t.rank < 4 and 0 < t.size < 60 and not t.is_variable, ("float32", "int32"))
    name, times = f"growing{w.random.randrange(10**6)}", w.choice([0, 1, 2, 3])
    where = handle(w, name)
    assign(w, where, x)
    counter = w.constant(np.array(0, np.int32))
    test, body = (Weaver(w.random, w.numbers, w.graph, Subgraph(), w.act, parent=w) for _ in range(2))
    for child in (test, body):
        child.subgraph.inputs = [Tensor("int32", (), None, value=counter.value), Tensor(x.type, x.shape, None, value=x.value)]
    test.subgraph.outputs = [test.emit("LESS", [test.subgraph.inputs[0], test.constant(np.int32(times))], np.array(True), "bool",
                                       None, version=1)]
    number, argument = body.subgraph.inputs
    inside = handle(body, name)
    old = read(body, inside, x, unranked=True)
    parts = [old, argument] if w.chance(0.5) else [argument, old]
    assign(body, inside, body.emit("CONCATENATION", parts, np.concatenate([x.value] * 2), opts=options("Concatenation", axis=0)))
    body.subgraph.outputs = [
        body.emit("ADD", [number, body.constant(np.int32(1))], number.value, opts=options("Add")), argument]
    w.emit_all("WHILE", [counter, x], [(counter.value, "int32", None), (x.value, x.type, None)],
               lambda indices: options("While", condSubgraphIndex=indices[0], bodySubgraphIndex=indices[1]),
               subgraphs=[test.subgraph, body.subgraph], state=True)
    grown = Tensor(x.type, (), None, value=np.concatenate([x.value] * (1 + times)))
    read(w, where if w.chance(0.5) else handle(w, name), grown, unranked=True)
    if w.chance(0.4):
        # As it was at first.
        w.pool.append(_first(w, where, grown, x.shape))


@move(state=5, control=1, mixed=0.3, shapes=0.5, batch=2)
def outgrown(w):
    """A variable that is larger than the tensor into which it is read: that declares the shape of the variable before it grew, or any with
    fewer elements, and has the first ones. Models of another batch size have a larger one, and the same tensor."""
    x = w.find(lambda t: 0 < t.rank < 5 and 0 < t.size <= 300 and not t.is_variable, ("float32", "int32", "int8", "uint8"))
    if w.parent is not None:
        raise Abandoned
    name = f"outgrown{w.random.randrange(10**6)}"
    rest, rows = x.shape[1:], w.integer(1, 3)
    more = np.resize(x.value.reshape(-1)[::-1], (rows, *rest))
    if x.type == "float32":
        added = w.constant(more.astype(np.float32))
    elif x.type == "int32":
        added = w.constant(more.astype(np.int32))
    elif is_real(x):
        added = w.real_constant(more, x, x.quantization)
    else:
        raise Abandoned
    grown = w.emit("CONCATENATION", [x, added], np.concatenate([x.value, added.value]), x.type, x.quantization,
                   options("Concatenation", axis=0), pooled=not w.is_flexible)
    where = handle(w, name)
    if w.chance(0.4) and not w.is_flexible:
        # Smaller at first.
        assign(w, where, x)
        w.pool.append(_first(w, where, x, x.shape))
    assign(w, where, grown)
    # Of a batch, one may be all that there is.
    count = rows + 1 if w.is_flexible else grown.shape[0] - 1
    shape = w.choice([(w.integer(1, count), *rest), x.shape if not w.is_flexible else (count, *rest)])
    if w.chance(0.25):
        shape = (w.integer(1, count * int(np.prod(rest, dtype=np.int64))),)
    y = _first(w, handle(w, name) if w.chance(0.4) else where, grown, shape)
    if not w.is_flexible:
        w.pool.append(y)
    if w.chance(0.7) and y.type == "float32":
        factor = w.constant(w.numbers.standard_normal(y.shape).astype(np.float32))
        w.emit("MUL", [y, factor], y.value * factor.value, opts=table_of("MUL", 0), pooled=not w.is_flexible)
    if w.chance(0.3) and not w.is_flexible:
        # And smaller than the tensor that was read before: it is what is read that counts.
        assign(w, where, y)
        w.pool.append(_first(w, where, y, y.shape))


def _first(w, where, variable, shape):
    """READ_VARIABLE into a tensor of a declared shape: the first elements."""
    value = variable.value.reshape(-1)[:int(np.prod(shape, dtype=np.int64))].reshape(shape)
    return w.emit("READ_VARIABLE", [where], value, variable.type, variable.quantization, options("ReadVariable"), 1, pooled=False,
                  state=True)


def sum_of(w, a, b, quantization):
    """Half of each, so that sums do not grow from run to run."""
    if a.type == "float32":
        a = w.emit("MUL", [a, w.constant(np.float32(0.5))], a.value / 2, opts=options("Mul"))
    return w.emit("ADD", [a, b], a.value + b.value if a.type != "int32" else b.value, a.type, quantization, table_of("ADD", 0))


def variable_tensor(w, shape, quantization=None, type_name="float32"):
    return Tensor(type_name, shape, quantization, value=np.zeros(shape, np.float32), is_variable=True)


# What is written into a tensor that keeps its values; all stay small.
WRITERS = {
    "ADD": lambda w: ([w.constant(np.float32(w.choice([1, -0.5])))], table_of("ADD", w.choice([0, 0, 1]))),
    "MUL": lambda w: ([w.constant(np.float32(w.choice([0.5, -1])))], table_of("MUL", 0)),
    "RELU": lambda w: ([], None),
    "LOGISTIC": lambda w: ([], None),
    "TANH": lambda w: ([], None),
    "NEG": lambda w: ([], options("Neg")),
}


@move(state=6, control=0.5, mixed=0.3, images=0.15)
def kept(w):
    """A tensor that keeps its values until an operator writes it, before or after others read it."""
    x = w.find(lambda t: t.size > 0, ("float32",))
    if w.is_flexible or w.parent is not None:
        raise Abandoned
    w.graph.has_state = True
    state = variable_tensor(w, x.shape)

    def look():
        if w.chance(0.5):
            unary(w, state, w.choice(["RELU", "LOGISTIC", "TANH", "NEG", "ABS"]))
        else:
            binary(w, w.choice(["ADD", "MUL", "SUB", "MAXIMUM"]), *w.choice([(state, x), (x, state)]))

    def write():
        name = w.choice(list(WRITERS))
        more, opts = WRITERS[name](w)
        w.subgraph.operators.append(Operator(name, [x, *more], [state], opts, 1, state=True))

    if w.chance(0.7):
        look()
    if w.chance(0.5):
        write()
        if w.chance(0.5):
            look()
    else:
        w.later.append(write)
    if w.chance(0.5):
        w.pool.append(state)


@move(state=4, vectors=0.5, mixed=0.4)
def recurrent(w):
    """RNN, a step or a sequence; others may read the tensor that keeps its state."""
    x = w.find(lambda t: t.rank in (2, 3) and 0 < t.size and t.shape[-1] <= 40, ("float32",))
    if w.is_flexible or w.parent is not None:
        raise Abandoned
    w.graph.has_state = True
    units, depth = w.integer(1, 9), x.shape[-1]
    batch = x.shape[0]
    w.spend(x.size * units * 2)
    weights = w.constant((w.numbers.standard_normal((units, depth)) / np.sqrt(depth)).astype(np.float32))
    again = w.constant((w.numbers.standard_normal((units, units)) * 0.5 / np.sqrt(units)).astype(np.float32))
    bias = w.constant((w.numbers.standard_normal(units) * 0.1).astype(np.float32))
    time_major = x.rank == 3 and w.chance(0.5)
    state = variable_tensor(w, (x.shape[1] if time_major else batch, units))
    if w.chance(0.3):
        w.subgraph.operators.append(_with_output(w, "ADD", [state, w.constant(np.float32(1))], state.value + 1,
                                                 options("Add"), True))
    value = np.tanh(x.value @ weights.value.T)
    activation = w.choice([4, 4, 1])
    if x.rank == 2:
        operator = _with_output(w, "RNN", [x, weights, again, bias, state], value,
                                options("RNN", fusedActivationFunction=activation), True)
    else:
        operator = _with_output(w, "UNIDIRECTIONAL_SEQUENCE_RNN", [x, weights, again, bias, state], value,
                                options("SequenceRNN", timeMajor=time_major, fusedActivationFunction=activation), True)
    w.subgraph.operators.append(operator)
    if w.chance(0.3):
        w.subgraph.operators.append(_with_output(w, "MUL", [state, w.constant(np.float32(2))], state.value, options("Mul"), True))


def _with_output(w, name, inputs, value, opts, state):
    output = Tensor("float32", value.shape, value=value.astype(np.float32))
    w.pool.append(output)
    return Operator(name, inputs, [output], opts, 1, state=state)


@move(state=3, vectors=0.3, mixed=0.3)
def svdf(w):
    x = w.find(lambda t: t.rank == 2 and 0 < t.size and t.shape[-1] <= 40, ("float32",))
    if w.is_flexible or w.parent is not None:
        raise Abandoned
    w.graph.has_state = True
    units, rank, memory, depth = w.integer(1, 6), w.integer(1, 2), w.integer(1, 6), x.shape[1]
    w.spend(x.size * units * rank * memory)
    features = w.constant((w.numbers.standard_normal((units * rank, depth)) / np.sqrt(depth)).astype(np.float32))
    times = w.constant((w.numbers.standard_normal((units * rank, memory)) / np.sqrt(memory)).astype(np.float32))
    bias = w.constant((w.numbers.standard_normal(units) * 0.1).astype(np.float32)) if w.chance(0.6) else None
    state = variable_tensor(w, (x.shape[0], memory * units * rank))
    value = (x.value @ features.value.T).reshape(x.shape[0], units, rank).sum(-1) * times.value.mean()
    operator = _with_output(w, "SVDF", [x, features, times, bias, state], value,
                            options("SVDF", rank=rank, fusedActivationFunction=w.choice([0, 1])), True)
    w.subgraph.operators.append(operator)


@move(state=1, mixed=0.15, shapes=0.6)
def random_numbers(w):
    shape = w.constant(np.array(w.choice([(3,), (2, 4), (1, 5)]), np.int32))
    if w.parent is not None or w.is_flexible:
        raise Abandoned
    if w.graph.has_random:
        raise Abandoned
    w.graph.has_state = w.graph.has_random = True
    name = w.choice(["RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL"])
    value = np.full(tuple(shape.data), 0.5, np.float32)
    y = w.emit(name, [shape], value, "float32", None,
               options("Random", seed=w.integer(1, 10**6), seed2=w.integer(1, 10**6)), 1, state=True)
    if w.chance(0.6):
        binary(w, "ADD", y, w.constant(np.float32(1)))
