# SPDX-License-Identifier: Apache-2.0
"""Grows one function: a subgraph with parameters of open sizes."""

import numpy as np

from random_graphs.model import Operator, Subgraph, Tensor, options
from random_graphs.programs.sizes import Size, added, derived
from random_graphs.weaver import Abandoned, version_of


class Value:
    """A tensor, and what is known about its shape: sizes, or nothing at all (None)."""

    __slots__ = ("tensor", "type", "sizes")

    def __init__(self, tensor, sizes):
        self.tensor = tensor
        self.type = tensor.type
        self.sizes = None if sizes is None else tuple(sizes)

    @property
    def rank(self):
        return None if self.sizes is None else len(self.sizes)


class Function:
    """A subgraph that others call: what it takes, and what it makes of that."""

    def __init__(self, subgraph, parameters, results, depth, role, touches):
        self.subgraph = subgraph
        self.parameters = [(value.type, value.sizes) for value in parameters]
        self.results = [(value.type, value.sizes) for value in results]
        self.depth = depth
        # "plain", "condition" or "body": what it is made for. Others may call it, too.
        self.role = role
        # Whether it reads or assigns variables.
        self.touches = touches


class Scope:
    def __init__(self, program, depth=0):
        self.program = program
        self.random = program.random
        self.numbers = program.numbers
        self.subgraph = Subgraph()
        self.pool = []
        # How many levels of functions it calls.
        self.depth = depth
        self.touches = False
        # Whether it runs in loops, where what grows is multiplied.
        self.is_inner = False

    # Choices

    def chance(self, probability):
        return self.random.random() < probability

    def choice(self, values):
        values = list(values)
        if not values:
            raise Abandoned
        return self.random.choice(values)

    def integer(self, low, high):
        return self.random.randint(low, high)

    def find(self, types=("float32",), rank=None, test=None, unranked=False):
        found = [
            value for value in self.pool
            if value.type in types and (value.sizes is not None or unranked)
            and (rank is None or value.sizes is not None and value.rank in rank) and (test is None or test(value))]
        if not found:
            raise Abandoned
        return found[-1] if self.chance(0.5) else self.choice(found)

    # Tensors

    def parameter(self, type_name, sizes):
        value = Value(_tensor(self, type_name, sizes), sizes)
        self.subgraph.inputs.append(value.tensor)
        self.pool.append(value)
        return value

    def constant(self, values, type_name=None):
        values = np.asarray(values, type_name) if type_name else np.asarray(values)
        return Value(Tensor(values.dtype.name, values.shape, data=values), values.shape)

    def integers(self, *values):
        return self.constant(np.array(values, np.int32))

    def integer_constant(self, value):
        return self.constant(np.array(value, np.int32))

    # Operators

    def emit_all(self, name, inputs, results, opts=None, version=None, subgraphs=(), pooled=True, state=False):
        """Adds an operator; `results` are types and sizes."""
        # A SLICE whose operands are computed is held against the shape that the file declares, unless it has a signature.
        values = [Value(_tensor(self, type_name, sizes, name == "SLICE"), sizes) for type_name, sizes in results]
        if version is None:
            version = version_of(name, results[0][0] if results else "float32")
        self.subgraph.operators.append(Operator(
            name, [value.tensor for value in inputs], [value.tensor for value in values], opts, version,
            subgraphs=subgraphs, state=state))
        if pooled:
            self.pool += values
        return values

    def emit(self, name, inputs, type_name, sizes, opts=None, version=None, pooled=True):
        return self.emit_all(name, inputs, [(type_name, sizes)], opts, version, pooled=pooled)[0]

    def attempt(self, move):
        """Makes a move, or leaves all as it was."""
        operators, pool, touches, depth = len(self.subgraph.operators), len(self.pool), self.touches, self.depth
        try:
            move(self)
            return True
        except Abandoned:
            del self.subgraph.operators[operators:], self.pool[pool:]
            self.touches, self.depth = touches, depth
            return False

    # Often needed

    def shape_of(self, x):
        rank = Size() if x.sizes is None else x.rank
        return self.emit("SHAPE", [x], "int32", (rank,), options("Shape", outType=2), pooled=False)

    def size_of(self, x, axis):
        """A dimension as a scalar."""
        end = self.integers(axis + 1)
        return self.emit("STRIDED_SLICE", [self.shape_of(x), self.integers(axis), end, self.integers(1)], "int32", (),
                         options("StridedSlice", shrinkAxisMask=1), pooled=False)

    def clamped(self, x, low, high):
        x = self.emit("MAXIMUM", [x, self.constant(np.array(low, x.type))], x.type, x.sizes, options("MaximumMinimum"), pooled=False)
        return self.emit("MINIMUM", [x, self.constant(np.array(high, x.type))], x.type, x.sizes, options("MaximumMinimum"), pooled=False)

    def flat(self, x):
        """All elements as a vector."""
        if x.rank == 1:
            return x
        from random_graphs.programs.sizes import multiplied

        sizes = (multiplied(*x.sizes),) if x.sizes is not None else (Size(),)
        return self.emit("RESHAPE", [x, self.integers(-1)], x.type, sizes, version=1, pooled=False)

    def cast(self, x, type_name):
        if x.type == type_name:
            return x
        return self.emit("CAST", [x], type_name, x.sizes, version=1, pooled=False)

    def amount(self, low, high):
        """A number that data or a shape decides, as an int32 scalar."""
        if self.chance(0.4):
            x = self.find(("float32", "int32", "int64"), test=lambda value: value.rank)
            return self.clamped(self.size_of(x, self.integer(0, x.rank - 1)), low, high)
        scalars = [value for value in self.pool if value.type == "int32" and value.sizes == ()]
        if scalars and self.chance(0.5):
            return self.clamped(self.choice(scalars), low, high)
        x = self.flat(self.find(("float32", "int32"), unranked=True))
        # Of no element, a maximum is not defined.
        x = self.emit("CONCATENATION", [x, self.constant(np.zeros(1, x.type))], x.type, (added(x.sizes[0], 1),),
                      options("Concatenation", axis=0), pooled=False)
        x = self.emit(self.choice(["REDUCE_MAX", "REDUCE_MIN"]), [x, self.integers(0)], x.type, (),
                      options("Reducer", keepDims=False), version=1, pooled=False)
        return self.cast(self.clamped(x, low, high), "int32")

    def truth(self):
        """A Boolean scalar."""
        known = [value for value in self.pool if value.type == "bool" and value.sizes in ((), (1,))]
        kind = self.random.random()
        if known and kind < 0.3:
            return self.choice(known)
        if kind < 0.65:
            limit = self.integer(0, 5)
            return self.emit(self.choice(["LESS", "GREATER", "EQUAL", "GREATER_EQUAL"]),
                             [self.amount(0, 6), self.integer_constant(limit)], "bool", (), version=1, pooled=False)
        if known and kind < 0.8:
            return self.emit("LOGICAL_NOT", [self.choice(known)], "bool", self.choice(known[:1]).sizes, options("LogicalNot"), 1,
                             pooled=False) if all(value.sizes == known[0].sizes for value in known) else self.choice(known)
        x = self.find(("float32", "int32"), test=lambda value: value.rank)
        y = self.emit("SUM", [x, self.integers(*range(x.rank))], x.type, (), options("Reducer", keepDims=False),
                      version=1, pooled=False)
        return self.emit("GREATER", [y, self.constant(np.array(self.integer(-2, 3), x.type))], "bool", (), version=1, pooled=False)

    def short(self, x, most=48):
        """At most so many rows, and a few columns: what loops make longer stays small."""
        if x.rank == 1 and self.chance(0.5):
            count = self.emit("MINIMUM", [self.size_of(x, 0), self.integer_constant(most)], "int32", (), options("MaximumMinimum"),
                              pooled=False)
            return self.first_rows(x, count, derived("up to", x.sizes[0], most))
        ends = [most if axis == 0 else 6 for axis in range(x.rank)]
        sizes = [min(size, end) if isinstance(size, int) else derived("up to", size, end) for size, end in zip(x.sizes, ends)]
        return self.emit("STRIDED_SLICE", [x, self.integers(*[0] * x.rank), self.integers(*ends), self.integers(*[1] * x.rank)], x.type,
                         sizes, options("StridedSlice"))

    def first_rows(self, x, count, size):
        """So many rows from the beginning, by SLICE or STRIDED_SLICE."""
        rest = [-1] * (x.rank - 1)
        if self.chance(0.5):
            counts = self.emit("PACK", [count, *map(self.integer_constant, rest)], "int32", (x.rank,),
                               options("Pack", valuesCount=x.rank, axis=0), 1, pooled=False)
            return self.emit("SLICE", [x, self.integers(*[0] * x.rank), counts], x.type, (size, *x.sizes[1:]))
        end = self.emit("PACK", [count], "int32", (1,), options("Pack", valuesCount=1, axis=0), 1, pooled=False)
        return self.emit("STRIDED_SLICE", [x, self.integers(0), end, self.integers(1)], x.type, (size, *x.sizes[1:]),
                         options("StridedSlice"))


def _tensor(scope, type_name, sizes, has_signature=False):
    """A tensor as a converter would declare it: sizes that are not known are 1, with or without a signature; or nothing is said."""
    shape = () if sizes is None else tuple(size if isinstance(size, int) else 1 for size in sizes)
    tensor = Tensor(type_name, shape)
    if sizes is None:
        tensor.open = "unranked"
    elif any(not isinstance(size, int) for size in sizes):
        tensor.loose = True
        if has_signature or scope.chance(0.7):
            tensor.open = tuple(size if isinstance(size, int) else -1 for size in sizes)
    return tensor
