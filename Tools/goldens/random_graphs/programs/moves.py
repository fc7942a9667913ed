# SPDX-License-Identifier: Apache-2.0
"""What a function grows by: operators that take any size, and operators whose results are as large as data says.

All values are small integers or quarters, so that sums are exact in any order.
"""

import numpy as np

from random_graphs.model import options
from random_graphs.programs.sizes import Size, added, derived, multiplied
from random_graphs.weaver import Abandoned

MOVES = {}
NUMBERS = ("float32", "int32")


def move(weight):
    def register(function):
        MOVES[function] = weight
        return function

    return register


@move(4)
def unary(s):
    x = s.find(NUMBERS, unranked=True)
    if x.type == "int32":
        s.emit("NEG", [x], x.type, x.sizes, options("Neg"))
        return
    name = s.choice(["RELU", "NEG", "ABS", "FLOOR", "RELU6", "RELU_N1_TO_1", "SIGN", "CEIL"][:7])
    opts = {"NEG": options("Neg"), "ABS": options("Abs"), "SIGN": options("Sign")}.get(name)
    s.emit(name, [x], x.type, x.sizes, opts, 1)


@move(5)
def binary(s):
    x = s.find(NUMBERS)
    others = [y for y in s.pool if y.type == x.type and y.sizes is not None and (y.sizes == x.sizes or y.sizes in ((), (1,)))]
    y = s.choice(others)
    name = s.choice(["ADD", "SUB", "MAXIMUM", "MINIMUM"])
    opts = {"ADD": options("Add"), "SUB": options("Sub")}.get(name, options("MaximumMinimum"))
    if s.chance(0.3):
        x, y = y, x
    sizes = x.sizes if len(x.sizes) >= len(y.sizes) and x.sizes != (1,) else y.sizes
    s.emit(name, [x, y], x.type, sizes, opts, 1)


@move(2)
def scaled(s):
    x = s.find(NUMBERS, unranked=True)
    factor = s.choice([0.5, 2, -1]) if x.type == "float32" else s.choice([2, -1, 0])
    s.emit("MUL", [x, s.constant(np.array(factor, x.type))], x.type, x.sizes, options("Mul"), 1)


@move(1.5)
def bounded(s):
    """Keeps numbers small."""
    x = s.find(NUMBERS)
    s.pool.append(s.clamped(x, -8, 8))


@move(2)
def flattened(s):
    x = s.find((*NUMBERS, "int64"), unranked=True, test=lambda value: value.rank != 1)
    s.pool.append(s.flat(x))


@move(2)
def turned_shape(s):
    """RESHAPE by the reversed shape, or with a dimension more: both computed."""
    x = s.find(NUMBERS, (1, 2, 3))
    shape = s.shape_of(x)
    if s.chance(0.5):
        turned = s.emit("REVERSE_V2", [shape, s.integers(0)], "int32", (x.rank,), options("ReverseV2"), pooled=False)
        s.emit("RESHAPE", [x, turned], x.type, x.sizes[::-1], version=1)
    else:
        first = s.chance(0.5)
        parts = [s.integers(1), shape] if first else [shape, s.integers(1)]
        longer = s.emit("CONCATENATION", parts, "int32", (x.rank + 1,), options("Concatenation", axis=0), pooled=False)
        s.emit("RESHAPE", [x, longer], x.type, (1, *x.sizes) if first else (*x.sizes, 1), version=1)


@move(1)
def any_rank(s):
    """RESHAPE to as many dimensions as data says."""
    x = s.find(NUMBERS, (1, 2))
    ones = s.emit("PACK", [s.amount(0, 3)], "int32", (1,), options("Pack", valuesCount=1, axis=0), 1, pooled=False)
    ones = s.emit("FILL", [ones, s.integer_constant(1)], "int32", (Size(),), pooled=False)
    shape = s.emit("CONCATENATION", [s.shape_of(x), ones], "int32", (Size(),), options("Concatenation", axis=0), pooled=False)
    s.emit("RESHAPE", [x, shape], x.type, None, version=1)


@move(0.5)
def split_by_data(s):
    """RESHAPE into rows as many as data says: refused where they do not divide the elements."""
    x = s.flat(s.find(NUMBERS))
    rows = s.amount(1, 3)
    shape = s.emit("PACK", [rows, s.integer_constant(-1)], "int32", (2,), options("Pack", valuesCount=2, axis=0), 1, pooled=False)
    s.emit("RESHAPE", [x, shape], x.type, (Size(), Size()), version=1)


@move(2.5)
def joined(s):
    x = s.find(NUMBERS, (1, 2, 3))
    axis = s.integer(0, x.rank - 1)
    others = [y for y in s.pool if y.type == x.type and y.rank == x.rank
              and all(a == b for place, (a, b) in enumerate(zip(x.sizes, y.sizes)) if place != axis)]
    parts = [x, s.choice(others)]
    sizes = list(x.sizes)
    sizes[axis] = added(*(part.sizes[axis] for part in parts))
    y = s.emit("CONCATENATION", parts, x.type, sizes, options("Concatenation", axis=axis - (x.rank if s.chance(0.3) else 0)),
               pooled=False)
    s.pool.append(s.short(y))


@move(1.5)
def padded(s):
    x = s.find(NUMBERS, (1, 2, 3, 4))
    amounts = [[s.integer(0, 2), s.integer(0, 1)] for _ in x.sizes]
    sizes = [added(size, *pair) for size, pair in zip(x.sizes, amounts)]
    s.emit("PAD", [x, s.constant(np.array(amounts, np.int32))], x.type, sizes, options("Pad"))


@move(1)
def padded_by_data(s):
    x = s.find(NUMBERS, (1,))
    amounts = s.emit("PACK", [s.amount(0, 2), s.amount(0, 2)], "int32", (2,), options("Pack", valuesCount=2, axis=0), 1, pooled=False)
    amounts = s.emit("RESHAPE", [amounts, s.integers(1, 2)], "int32", (1, 2), version=1, pooled=False)
    s.emit("PAD", [x, amounts], x.type, (Size(),), options("Pad"))


@move(1.5)
def transposed(s):
    x = s.find((*NUMBERS, "int64"), (2, 3, 4))
    order = list(range(x.rank))
    s.random.shuffle(order)
    s.emit("TRANSPOSE", [x, s.integers(*order)], x.type, [x.sizes[axis] for axis in order], options("Transpose"))


@move(2.5)
def reduced(s):
    x = s.find(NUMBERS, (1, 2, 3, 4))
    axes = sorted(s.random.sample(range(x.rank), s.integer(1, x.rank)))
    keeps = s.chance(0.4)
    sizes = [1 if axis in axes else size for axis, size in enumerate(x.sizes) if keeps or axis not in axes]
    s.emit("SUM", [x, s.integers(*axes)], x.type, sizes, options("Reducer", keepDims=keeps), version=1)


@move(1)
def shape_as_value(s):
    x = s.find(NUMBERS, unranked=True)
    s.pool.append(s.shape_of(x))
    if s.chance(0.4):
        s.emit("RANK", [x], "int32", (), None)


@move(2)
def first_rows(s):
    x = s.find(NUMBERS, (1, 2, 3))
    count = s.emit("MINIMUM", [s.size_of(x, 0), s.amount(0, 4)], "int32", (), options("MaximumMinimum"), pooled=False)
    s.first_rows(x, count, Size())


@move(2)
def strided(s):
    """STRIDED_SLICE with ends that are cut to the tensor."""
    x = s.find(NUMBERS, (1, 2, 3))
    steps = [s.choice([1, 1, 2, -1]) for _ in x.sizes]
    begins = [s.integer(0, 1) if step > 0 else -1 for step in steps]
    ends = [s.choice([2, 3, 100]) if step > 0 else s.choice([-100, 0]) for step in steps]
    masks = s.integer(0, 3), s.integer(0, 3)
    sizes = [derived("cut", size, begin, end, step, mask & 1, other & 1) for size, begin, end, step, mask, other in zip(
        x.sizes, begins, ends, steps, (masks[0], masks[0] >> 1, 0), (masks[1], masks[1] >> 1, 0))]
    bounds = [s.integers(*begins), s.integers(*ends), s.integers(*steps)]
    s.emit("STRIDED_SLICE", [x, *bounds], x.type, [Size() if isinstance(size, int) else size for size in sizes],
           options("StridedSlice", beginMask=masks[0], endMask=masks[1]))


@move(1.5)
def one_row(s):
    x = s.find(NUMBERS, (2, 3))
    s.emit("STRIDED_SLICE", [x, s.integers(-1), s.integers(0), s.integers(1)], x.type, x.sizes[1:],
           options("StridedSlice", endMask=1, shrinkAxisMask=1))


@move(1.5)
def gathered(s):
    """Rows in another order, or as many as data says; an index may be outside."""
    x = s.find(NUMBERS, (1, 2, 3))
    kind = s.random.random()
    if kind < 0.45:
        count = s.size_of(x, 0)
        last = s.emit("SUB", [count, s.integer_constant(1)], "int32", (), options("Sub"), 1, pooled=False)
        places = s.emit("RANGE", [last, s.integer_constant(-1), s.integer_constant(-1)], "int32", (x.sizes[0],), version=1, pooled=False)
    elif kind < 0.9:
        count = s.emit("MINIMUM", [s.size_of(x, 0), s.amount(0, 3)], "int32", (), options("MaximumMinimum"), pooled=False)
        places = s.emit("RANGE", [s.integer_constant(0), count, s.integer_constant(1)], "int32", (Size(),), version=1, pooled=False)
    else:
        places = s.emit("PACK", [s.amount(0, 2)] * 2, "int32", (2,), options("Pack", valuesCount=2, axis=0), 1, pooled=False)
    s.emit("GATHER", [x, places], x.type, (*places.sizes, *x.sizes[1:]), options("Gather", axis=0))


@move(1.5)
def places(s):
    """WHERE: a row for each element that is true."""
    x = s.find(NUMBERS, (1, 2))
    marks = s.emit("GREATER", [x, s.constant(np.array(s.integer(-1, 1), x.type))], "bool", x.sizes, version=1, pooled=False)
    found = s.emit("WHERE", [marks], "int64", (Size(), x.rank), options("Where"), version=1, pooled=False)
    s.pool.append(s.cast(found, s.choice(NUMBERS)))
    if s.chance(0.3):
        s.emit("SELECT_V2", [marks, x, s.constant(np.array(1, x.type))], x.type, x.sizes, options("SelectV2"))


@move(1.2)
def distinct(s):
    x = s.flat(s.find(NUMBERS))
    s.emit_all("UNIQUE", [x], [(x.type, (Size(),)), ("int32", x.sizes)], options("Unique", idxOutType=2))


@move(1.5)
def counted(s):
    """RANGE up to a number of data."""
    y = s.emit("RANGE", [s.integer_constant(0), s.amount(0, 6), s.integer_constant(1)], "int32", (Size(),), version=1)
    if s.chance(0.6):
        s.pool.append(s.cast(y, "float32"))


@move(2)
def filled(s):
    """FILL in a computed shape; with what is folded where a run's shapes are known."""
    type_name = s.choice(NUMBERS)
    number = s.constant(np.array(s.integer(-2, 3), type_name))
    if s.chance(0.5):
        x = s.find(NUMBERS, (1, 2, 3))
        y = s.emit("FILL", [s.shape_of(x), number], type_name, x.sizes)
        if s.chance(0.5):
            table = s.emit("MUL", [y, s.constant(np.array(2, type_name))], type_name, y.sizes, options("Mul"), 1)
            s.emit("CUMSUM", [table, s.integer_constant(0)], type_name, y.sizes, options("Cumsum"), 1)
    else:
        shape = s.emit("PACK", [s.amount(0, 3), s.amount(1, 3)], "int32", (2,), options("Pack", valuesCount=2, axis=0), 1, pooled=False)
        s.emit("FILL", [shape, number], type_name, (Size(), Size()))


@move(1)
def zeros(s):
    x = s.find(NUMBERS)
    s.emit("ZEROS_LIKE", [x], x.type, x.sizes, options("ZerosLike"))


@move(1.2)
def tiled(s):
    x = s.find(NUMBERS, (1, 2))
    times = s.emit("PACK", [s.amount(0, 2), *[s.integer_constant(1)] * (x.rank - 1)], "int32", (x.rank,),
                   options("Pack", valuesCount=x.rank, axis=0), 1, pooled=False)
    y = s.emit("TILE", [x, times], x.type, (Size(), *x.sizes[1:]))
    s.pool.remove(y)
    s.pool.append(s.short(y))


@move(1.2)
def broadcast(s):
    """BROADCAST_TO the shape of another tensor."""
    x = s.find(NUMBERS, (1, 2, 3))
    y = s.find(NUMBERS, (0, 1), lambda value: value.sizes in ((), (1,)))
    s.emit("BROADCAST_TO", [y, s.shape_of(x)], y.type, x.sizes)


@move(0.8)
def enlarged(s):
    """A picture made of a matrix, resized to a computed size."""
    x = s.find(("float32",), (2, 4))
    if x.rank == 2:
        shape = s.emit("CONCATENATION", [s.integers(1), s.shape_of(x), s.integers(1)], "int32", (4,), options("Concatenation", axis=0),
                       pooled=False)
        x = s.emit("RESHAPE", [x, shape], "float32", (1, *x.sizes, 1), version=1)
    sizes = s.emit("PACK", [s.amount(1, 5), s.amount(1, 5)], "int32", (2,), options("Pack", valuesCount=2, axis=0), 1, pooled=False)
    s.emit("RESIZE_NEAREST_NEIGHBOR", [x, sizes], "float32", (x.sizes[0], Size(), Size(), x.sizes[3]),
           options("ResizeNearestNeighbor", halfPixelCenters=s.chance(0.5)))


@move(0.8)
def layer(s):
    """FULLY_CONNECTED of rows, as many as there are."""
    x = s.find(("float32",), (2,), lambda value: isinstance(value.sizes[1], int) and 0 < value.sizes[1] < 20)
    units = s.integer(1, 4)
    weights = s.constant(s.numbers.integers(-1, 2, (units, x.sizes[1])).astype(np.float32))
    s.emit("FULLY_CONNECTED", [x, weights, s.constant(np.zeros(units, np.float32))], "float32", (x.sizes[0], units),
           options("FullyConnected"), 1)


@move(0.8)
def product(s):
    x = s.find(("float32",), (2,))
    s.emit("BATCH_MATMUL", [s.clamped(x, -4, 4)] * 2, "float32", (x.sizes[0], x.sizes[0]), options("BatchMatMul", adjY=True))


@move(0.8)
def best(s):
    """TOPK_V2 of as many as there are and data says."""
    x = s.find(("float32",), (1,))
    count = s.emit("MINIMUM", [s.size_of(x, 0), s.amount(0, 3)], "int32", (), options("MaximumMinimum"), pooled=False)
    size = Size()
    s.emit_all("TOPK_V2", [x, count], [("float32", (size,)), ("int32", (size,))], options("TopKV2"))


@move(0.7)
def suppressed(s):
    """NON_MAX_SUPPRESSION_V4: as many boxes as data leaves."""
    x = s.find(("float32",), (1,))
    column = s.emit("RESHAPE", [x, s.integers(-1, 1)], "float32", (x.sizes[0], 1), version=1, pooled=False)
    more = s.emit("ADD", [column, s.constant(np.float32(2))], "float32", column.sizes, options("Add"), 1, pooled=False)
    boxes = s.emit("CONCATENATION", [column, column, more, more], "float32", (x.sizes[0], 4), options("Concatenation", axis=1), pooled=False)
    most = s.integer(1, 4)
    chosen, count = s.emit_all(
        "NON_MAX_SUPPRESSION_V4",
        [boxes, x, s.integer_constant(most), s.constant(np.float32(0.3)), s.constant(np.float32(-3.25))],
        [("int32", (most,)), ("int32", ())], options("NonMaxSuppressionV4"))
    kept = s.first_rows(chosen, count, Size())
    s.emit("GATHER", [x, kept], "float32", kept.sizes, options("Gather", axis=0))


@move(0.8)
def hot(s):
    x = s.find(("int32",), (0, 1))
    y = s.emit("ONE_HOT", [x, s.amount(0, 4), s.constant(np.float32(1)), s.constant(np.float32(0))], "float32", (*x.sizes, Size()),
               options("OneHot", axis=-1))
    return y


@move(0.8)
def scattered(s):
    """SCATTER_ND into a computed shape."""
    x = s.find(("float32",), (1,))
    places = s.emit("RANGE", [s.integer_constant(0), s.size_of(x, 0), s.integer_constant(1)], "int32", x.sizes, version=1, pooled=False)
    places = s.emit("RESHAPE", [places, s.integers(-1, 1)], "int32", (x.sizes[0], 1), version=1, pooled=False)
    count = s.emit("ADD", [s.size_of(x, 0), s.amount(0, 2)], "int32", (), options("Add"), 1, pooled=False)
    shape = s.emit("PACK", [count], "int32", (1,), options("Pack", valuesCount=1, axis=0), 1, pooled=False)
    s.emit("SCATTER_ND", [places, x, shape], "float32", (Size(),), options("ScatterNd"))


@move(0.7)
def columns(s):
    """UNPACK and PACK of a matrix of known width."""
    x = s.find(NUMBERS, (2,), lambda value: isinstance(value.sizes[1], int) and 0 < value.sizes[1] < 5)
    width = x.sizes[1]
    parts = s.emit_all("UNPACK", [x], [(x.type, x.sizes[:1])] * width, options("Unpack", num=width, axis=1))
    if s.chance(0.5):
        s.random.shuffle(parts)
        s.emit("PACK", parts, x.type, (width, x.sizes[0]), options("Pack", valuesCount=width, axis=0))


@move(0.6)
def updated(s):
    """DYNAMIC_UPDATE_SLICE at a place that data says; places are moved inside."""
    x = s.find(("float32",), (1,))
    y = s.constant(np.array([5], np.float32))
    start = s.emit("PACK", [s.amount(0, 3)], "int32", (1,), options("Pack", valuesCount=1, axis=0), 1, pooled=False)
    s.emit("DYNAMIC_UPDATE_SLICE", [x, y, start], "float32", x.sizes, options("DynamicUpdateSlice"))


@move(0.6)
def running(s):
    x = s.find(NUMBERS, (1, 2))
    s.emit("CUMSUM", [s.clamped(x, -4, 4), s.integer_constant(s.integer(0, x.rank - 1))], x.type, x.sizes,
           options("Cumsum", exclusive=s.chance(0.3), reverse=s.chance(0.3)), 1)


@move(0.8)
def converted(s):
    x = s.find((*NUMBERS, "bool"))
    y = s.clamped(x, -100, 100) if x.type == "float32" else x
    s.pool.append(s.cast(y, "int32" if x.type == "float32" else "float32"))


@move(0.6)
def truths(s):
    s.pool.append(s.truth())


def result(s, type_name, pattern=None, excluded=()):
    """A value of a type as a function's result; of a pattern, whose names may be any size and whose numbers are kept."""
    def fits(value):
        if value.type != type_name or any(value is other for other in excluded):
            return False
        if pattern is None:
            return True
        return value.rank == len(pattern) and all(isinstance(want, Size) or want == have for want, have in zip(pattern, value.sizes))

    found = [value for value in s.pool if fits(value)]
    if not found:
        raise Abandoned
    return found[-1] if s.chance(0.6) else s.choice(found)


__all__ = ["MOVES", "multiplied", "result"]
