# SPDX-License-Identifier: Apache-2.0
"""Shapes that operators compute, known before a run or not, and shapes that data decides."""

import numpy as np

from random_graphs import numeric
from random_graphs.model import options
from random_graphs.moves import move
from random_graphs.moves.elementwise import binary
from random_graphs.weaver import Abandoned, is_real, version_of

MOVABLE = ("float32", "int8", "uint8", "int16", "int32")


def known(w, values, x=None):
    """An int32 tensor that holds these values: a constant, an input, or the result of operators."""
    values = np.array(values, np.int32)
    kind = w.weighted({"constant": 1, "input": 2, "sum": 2, "packed": 2 if values.ndim == 1 and values.size else 0,
                       "cast": 1, "shape": 3 if x is not None and x.shape == tuple(values.tolist()) else 0})
    if w.parent is not None and kind in ("input", "sum"):
        kind = "cast"
    if kind == "shape":
        return shape_of(w, x)
    if kind == "constant" or not values.size:
        return w.constant(values)
    if kind == "input":
        return w.input([values, values])
    if kind == "sum":
        shift = w.integer(0, 2)
        added = w.input([np.array(shift, np.int32)] * 2)
        return w.emit("ADD", [added, w.constant(values - np.int32(shift))], values, opts=options("Add"))
    if kind == "cast":
        return w.emit("CAST", [w.constant(values.astype(np.float32))], values, "int32", version=1)
    parts = [known(w, value) if w.chance(0.5) else w.constant(np.array(value, np.int32)) for value in values]
    return w.emit("PACK", parts, values, "int32", None, options("Pack", valuesCount=len(parts), axis=0), 1)


def shape_of(w, x):
    kind = w.choice(["int32", "int32", "int64"])
    found = w.emit("SHAPE", [x], np.array(x.shape, kind), kind, None, options("Shape", outType={"int32": 2, "int64": 4}[kind]))
    if kind == "int64":
        found = w.emit("CAST", [found], found.value.astype(np.int32), "int32", version=1)
    return found


@move(shapes=6, mixed=2, batch=0.5, control=0.5)
def reshaped(w):
    x = w.find(lambda t: t.size > 0 and t.rank > 0, MOVABLE)
    if w.is_flexible:
        count = shape_of(w, x)
        first = w.emit("STRIDED_SLICE", [count, w.indices([0]), w.indices([1]), w.indices([1])],
                       np.array(x.shape[0], np.int32), "int32", None, options("StridedSlice", shrinkAxisMask=1))
        rest = x.size // max(x.shape[0], 1)
        shape = w.emit("PACK", [first, w.constant(np.array(rest, np.int32))], np.array([x.shape[0], rest], np.int32),
                       "int32", None, options("Pack", valuesCount=2, axis=0), 1)
        w.emit("RESHAPE", [x, shape], x.value.reshape(-1, rest), x.type, x.quantization, version=1)
        return
    others = [t for t in w.pool if t.size == x.size and not t.loose and t.rank > 0]
    shape = w.choice(others).shape if w.chance(0.5) else (x.size,) if w.chance(0.4) else (x.shape[0] if x.rank else 1, -1)
    if x.rank and -1 in shape and not x.shape[0]:
        raise Abandoned
    target = known(w, shape)
    w.emit("RESHAPE", [x, target], x.value.reshape(shape), x.type, x.quantization, version=1)


@move(shapes=2, mixed=1)
def reshaped_by_data(w):
    """A shape that differs from run to run."""
    if w.parent is not None or w.is_flexible:
        raise Abandoned
    x = w.find(lambda t: t.size > 1, MOVABLE)
    divisors = [d for d in range(1, x.size + 1) if x.size % d == 0]
    first, second = w.choice(divisors), w.choice(divisors)
    target = w.input([np.array([d, x.size // d], np.int32) for d in (first, second)])
    y = w.emit("RESHAPE", [x, target], x.value.reshape(first, -1), x.type, x.quantization, version=1,
               loose=first != second)
    y.loose = y.loose or first != second


@move(shapes=3, mixed=1)
def broadcast_to_shape(w):
    x = w.find(lambda t: t.size > 0 and 0 < t.rank < 5, MOVABLE)
    if w.is_flexible:
        raise Abandoned
    target = [w.integer(1, 3) if size == 1 else size for size in x.shape]
    w.emit("BROADCAST_TO", [x, known(w, target)], np.broadcast_to(x.value, target).copy(), x.type, x.quantization,
           version=version_of("BROADCAST_TO", x.type))


@move(shapes=2, mixed=1)
def filled(w):
    """FILL or ZEROS_LIKE in a tensor's shape, and the sum with it."""
    x = w.find(lambda t: t.rank > 0 and t.size > 0, ("float32", "int32"))
    if w.chance(0.4):
        y = w.emit("ZEROS_LIKE", [x], np.zeros_like(x.value))
    else:
        number = np.array(w.integer(-2, 2), x.type)
        y = w.emit("FILL", [known(w, x.shape, x), w.constant(number)], np.full(x.shape, number), x.type, None,
                   version=version_of("FILL", x.type))
    binary(w, w.choice(["ADD", "MUL", "SUB"]), x, y)


@move(shapes=2, mixed=1)
def counted(w):
    """RANGE up to a dimension, as positions are made."""
    x = w.find(lambda t: t.rank > 0 and t.size > 0 and t.shape[-1] > 0, ("float32",))
    count = x.shape[-1]
    limit = known(w, count)
    numbers = np.arange(0, count, 1, np.int32)
    y = w.emit("RANGE", [w.constant(np.int32(0)), limit, w.constant(np.int32(1))], numbers, "int32", version=1)
    if w.chance(0.7):
        z = w.emit("CAST", [y], numbers.astype(np.float32), "float32", version=1)
        binary(w, "ADD", x, z)


@move(shapes=3, mixed=1.5)
def cut_by_values(w):
    x = w.find(lambda t: 0 < t.rank < 5 and t.size > 0, MOVABLE)
    if w.is_flexible:
        raise Abandoned
    begin = [w.integer(0, n - 1) if w.chance(0.5) else 0 for n in x.shape]
    size = [w.integer(1, n - b) for n, b in zip(x.shape, begin)]
    value = x.value[tuple(slice(b, b + s) for b, s in zip(begin, size))]
    w.emit("SLICE", [x, known(w, begin), known(w, size)], value, x.type, x.quantization)


@move(shapes=2, images=0.7, mixed=0.7)
def resized_by_values(w):
    """A size computed from a picture's shape, as upsampling layers do."""
    x = w.image()
    n, h, wd, c = x.shape
    if w.chance(0.6):
        shape = shape_of(w, x)
        sizes = w.emit("STRIDED_SLICE", [shape, w.indices([1]), w.indices([3]), w.indices([1])],
                       np.array([h, wd], np.int32), "int32", None, options("StridedSlice"))
        sizes = w.emit("MUL", [sizes, w.indices([2, 2])], np.array([2 * h, 2 * wd], np.int32), "int32", opts=options("Mul"))
        target = (2 * h, 2 * wd)
    else:
        target = (w.integer(1, 8), w.integer(1, 8))
        sizes = known(w, target)
    name = w.choice(["RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"])
    opts = options("ResizeBilinear" if name == "RESIZE_BILINEAR" else "ResizeNearestNeighbor", halfPixelCenters=w.chance(0.5))
    w.emit(name, [x, sizes], numeric.resize(x.value, target), x.type, x.quantization, opts)


@move(shapes=1.5, mixed=0.7)
def tiled_by_values(w):
    x = w.find(lambda t: 0 < t.rank < 5 and t.size > 0, MOVABLE)
    if w.is_flexible:
        raise Abandoned
    times = [w.choice([1, 1, 2]) for _ in x.shape]
    w.emit("TILE", [x, known(w, times)], np.tile(x.value, times), x.type, x.quantization, version=version_of("TILE", x.type))


@move(shapes=1.5, mixed=0.7)
def padded_by_values(w):
    x = w.find(lambda t: 0 < t.rank < 5 and t.size > 0, MOVABLE)
    if w.is_flexible:
        raise Abandoned
    amounts = [[w.integer(0, 2), w.integer(0, 1)] for _ in x.shape]
    y = w.emit("PAD", [x, known(w, amounts)], np.pad(x.value, amounts), x.type, x.quantization, options("Pad"),
               version_of("PAD", x.type))
    if y.rank == 4 and is_real(y) and w.chance(0.5):
        from random_graphs.moves.images import conv

        conv(w, y, same=False)


@move(shapes=1.5, mixed=1)
def places(w):
    """WHERE: as many rows as there are true elements."""
    x = w.find(lambda t: 0 < t.rank < 5 and t.size > 0, ("float32", "int32", "bool"))
    if w.is_flexible:
        raise Abandoned
    if x.type != "bool":
        x = w.emit("GREATER", [x, w.constant(np.array(0, x.type))], x.value > 0, "bool", version=1)
    y = w.emit("WHERE", [x], np.argwhere(x.value).astype(np.int64), "int64", loose=True)
    if w.chance(0.5):
        z = w.emit("CAST", [y], y.value.astype(np.float32), "float32", version=1, loose=True)
        if w.chance(0.5):
            w.emit("SUM", [z, w.indices([0])], z.value.sum(0), "float32", None, options("Reducer", keepDims=False))
            w.pool[-1].loose = False


@move(shapes=1, mixed=0.7)
def ranks(w):
    x = w.find(None, MOVABLE)
    w.emit("RANK", [x], np.array(x.rank, np.int32), "int32", None)


@move(shapes=1, mixed=0.5)
def one_hot(w):
    x = w.find(lambda t: t.rank < 3 and t.size > 0, ("int32", "int64"))
    if not x.size:
        raise Abandoned
    depth = w.integer(1, 6)
    value = (np.asarray(x.value)[..., None] == np.arange(depth)).astype(np.float32)
    w.emit("ONE_HOT", [x, known(w, depth) if w.chance(0.4) else w.constant(np.int32(depth)), w.constant(np.float32(1)),
                       w.constant(np.float32(0))], value, "float32", None, options("OneHot", axis=-1), version_of("ONE_HOT", "float32"))



