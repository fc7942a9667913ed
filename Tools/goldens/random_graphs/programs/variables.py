# SPDX-License-Identifier: Apache-2.0
"""Resource variables of programs: assigned and read in any function, with any shape of a rank."""

from random_graphs.model import Operator, Tensor, options
from random_graphs.programs.scope import Value
from random_graphs.programs.sizes import Size


class Variable:
    def __init__(self, name, type_name, rank):
        self.name = name
        self.type = type_name
        self.rank = rank


def handle(s, variable):
    """VAR_HANDLE; each function that uses a variable has one, or several."""
    tensor = Tensor("resource", ())
    s.subgraph.operators.append(
        Operator("VAR_HANDLE", [], [tensor], options("VarHandle", container="", sharedName=variable.name), state=True))
    return tensor


def put(s, variable, value):
    s.subgraph.operators.append(
        Operator("ASSIGN_VARIABLE", [handle(s, variable), value.tensor], [], options("AssignVariable"), state=True))
    s.touches = True


def assign(s):
    variable = s.choice(s.program.variables)
    value = s.find((variable.type,), (variable.rank,))
    # What is kept from run to run stays short and small.
    if value.rank:
        value = s.short(value, 16)
    put(s, variable, s.clamped(value, -64, 64))


def read(s):
    variable = s.choice(s.program.variables)
    tensor = Tensor(variable.type, ())
    tensor.open, tensor.loose = "unranked", True
    s.subgraph.operators.append(
        Operator("READ_VARIABLE", [handle(s, variable)], [tensor], options("ReadVariable"), state=True))
    s.pool.append(Value(tensor, [Size() for _ in range(variable.rank)]))
    s.touches = True


def variable_moves(program):
    return {assign: 5, read: 6} if program.variables else {}


def first_value(s, variable):
    """A constant, or a value that is there."""
    known = [value for value in s.pool if value.type == variable.type and value.rank == variable.rank]
    if known and s.chance(0.5):
        return s.choice(known)
    shape = [s.integer(1, 3) for _ in range(variable.rank)]
    return s.constant(s.numbers.integers(-3, 4, shape), variable.type)


def begin(s, program, make):
    """Gives every variable a value at the beginning of an entry, in each run or once; `make` makes another scope."""
    for variable in program.variables:
        if program.graph.has_state:
            if s.chance(0.75):
                child = make()
                put(child, variable, first_value(child, variable))
                s.subgraph.operators.append(Operator(
                    "CALL_ONCE", [], [], lambda indices: options("CallOnce", initSubgraphIndex=indices[0]),
                    subgraphs=[child.subgraph], state=True))
        else:
            put(s, variable, first_value(s, variable))
    s.touches = s.touches or bool(program.variables)
