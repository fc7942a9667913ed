# SPDX-License-Identifier: Apache-2.0
"""What moves elements without computing: views, slices, joins and splits, paddings, permutations."""

import numpy as np

from random_graphs.model import QUANTIZED, options
from random_graphs.moves import move
from random_graphs.weaver import Abandoned, is_real, version_of

MOVABLE = ("float32", "int8", "uint8", "int16", "int32", "int64", "bool")
COMMON = ("float32", "int8", "uint8", "int16", "int32", "int64")


def emit(w, name, inputs, value, opts=None, version=None, like=None):
    x = like or inputs[0]
    return w.emit(name, inputs, value, x.type, x.quantization, opts, version)


def factors(w, count, rank):
    """A shape of so many elements."""
    shape = [1] * rank
    for prime in (2, 3, 5, 7, 11, 13):
        while rank and count % prime == 0 and count:
            shape[w.integer(0, rank - 1)] *= prime
            count //= prime
    if rank:
        shape[w.integer(0, rank - 1)] *= count
    return tuple(shape)


def view_of(w, x):
    """Another shape of the same elements: RESHAPE, SQUEEZE or EXPAND_DIMS."""
    kind = w.weighted({"reshape": 3, "squeeze": 2, "expand": 2})
    if kind == "squeeze" and 1 in x.shape:
        axes = [axis for axis, size in enumerate(x.shape) if size == 1 and not (w.is_flexible and axis == 0)]
        if axes:
            if w.chance(0.4) and not w.is_flexible:
                return emit(w, "SQUEEZE", [x], x.value.reshape([s for s in x.shape if s != 1]), options("Squeeze"))
            axis = w.choice(axes)
            given = axis - x.rank if w.chance(0.3) else axis
            return emit(w, "SQUEEZE", [x], np.squeeze(x.value, axis), options("Squeeze", squeezeDims=(given,)))
    if kind == "expand" and x.rank < 5:
        axis = w.integer(1 if w.is_flexible else 0, x.rank)
        given = axis - x.rank - 1 if w.chance(0.3) else axis
        axes = w.constant(np.array(given, np.int32) if w.chance(0.5) else np.array([given], np.int32))
        return emit(w, "EXPAND_DIMS", [x, axes], np.expand_dims(x.value, axis), version=1)
    if not x.size:
        raise Abandoned
    if w.is_flexible:
        if x.rank < 1 or not x.shape[0]:
            raise Abandoned
        shape = [-1, *factors(w, x.size // x.shape[0], w.integer(1, 3))]
        value = x.value.reshape([x.shape[0], *shape[1:]])
        return emit(w, "RESHAPE", [x, w.indices(shape)], value, options("Reshape"))
    shape = list(factors(w, x.size, w.choice([1, 1, 2, 2, 3, 4])))
    value = x.value.reshape(shape)
    if w.chance(0.3):
        shape[w.integer(0, len(shape) - 1)] = -1
    if w.chance(0.2):
        return emit(w, "RESHAPE", [x], value, options("Reshape", newShape=tuple(shape)))
    return emit(w, "RESHAPE", [x, w.indices(shape)], value, options("Reshape", newShape=tuple(shape)))


@move(images=3, vectors=4, batch=3, mixed=4, odd=5, shapes=3, control=3, special=2)
def view(w):
    view_of(w, w.find(None, MOVABLE))


@move(images=1.5, vectors=2, batch=1, mixed=2, odd=2)
def views(w):
    """Views of views, some of which others read, too."""
    x = w.find(None, MOVABLE)
    for _ in range(w.integer(2, 4)):
        x = view_of(w, x)


@move(images=1, vectors=2, mixed=2, batch=0.7, odd=2)
def transpose(w):
    x = w.find(lambda t: 1 < t.rank < 6, MOVABLE)
    order = list(range(x.rank))
    if w.is_flexible:
        tail = order[1:]
        w.random.shuffle(tail)
        order = [0, *tail]
    else:
        w.random.shuffle(order)
    emit(w, "TRANSPOSE", [x, w.indices(order)], x.value.transpose(order), options("Transpose"),
         version_of("TRANSPOSE", x.type))


@move(images=1, vectors=2, mixed=2, odd=3, batch=1)
def cut(w):
    """SLICE or STRIDED_SLICE."""
    x = w.find(lambda t: 0 < t.rank < 5 and t.size > 0, MOVABLE)
    begin, size = [], []
    for axis, length in enumerate(x.shape):
        if w.is_flexible and axis == 0:
            begin.append(0)
            size.append(length)
            continue
        start = w.integer(0, length - 1) if w.chance(0.5) else 0
        begin.append(start)
        size.append(w.integer(1, length - start) if w.chance(0.6) else length - start)
    if not w.is_flexible and w.chance(0.03):
        size[w.integer(0, x.rank - 1)] = 0
    places = tuple(slice(b, b + s) for b, s in zip(begin, size))
    value = x.value[places]
    if w.chance(0.5):
        given = [-1 if b + s == n and (w.chance(0.3) or w.is_flexible) and s else s for b, s, n in zip(begin, size, x.shape)]
        kind = np.int64 if w.chance(0.2) else np.int32
        emit(w, "SLICE", [x, w.constant(np.array(begin, kind)), w.constant(np.array(given, kind))], value)
        return
    strides = [w.choice([1, 1, 2, 3]) if not (w.is_flexible and a == 0) else 1 for a in range(x.rank)]
    ends = [b + s for b, s in zip(begin, size)]
    value = x.value[tuple(slice(b, e, s) for b, e, s in zip(begin, ends, strides))]
    shrink = 0
    if value.size and not w.is_flexible and w.chance(0.3):
        axis = w.integer(0, x.rank - 1)
        shrink = 1 << axis
        strides[axis] = 1
        ends[axis] = begin[axis] + 1
        value = np.take(x.value[tuple(slice(b, e, s) for b, e, s in zip(begin, ends, strides))], 0, axis)
    end_mask = sum(1 << a for a, (e, n) in enumerate(zip(ends, x.shape)) if e == n and (w.chance(0.3) or w.is_flexible))
    end_mask &= ~shrink
    opts = options("StridedSlice", endMask=end_mask, shrinkAxisMask=shrink, beginMask=1 if w.is_flexible else 0)
    emit(w, "STRIDED_SLICE", [x, w.indices(begin), w.indices(ends), w.indices(strides)], value, opts)


def aligned(w, tensors):
    """Quantized tensors with the parameters of the first."""
    if tensors[0].type in QUANTIZED and tensors[0].quantization:
        return [w.rescaled(tensor, tensors[0].quantization) for tensor in tensors]
    return tensors


def alike(x):
    """A test for tensors that can be put beside another."""
    return lambda t: t.type == x.type and (t.quantization is None) == (x.quantization is None) and t.size > 0


@move(images=4, vectors=3, batch=3, mixed=3, odd=3, special=1)
def concatenation(w):
    x = w.find(lambda t: 0 < t.rank < 5 and t.size > 0, COMMON)
    axis = x.rank - 1 if w.chance(0.7) else w.integer(0, x.rank - 1)
    if w.is_flexible and axis == 0:
        raise Abandoned
    parts = [x]
    for _ in range(w.choice([1, 1, 1, 2, 3, 0])):
        fits = [t for t in w.pool if alike(x)(t) and not t.loose and t.rank == x.rank
                and all(a == b for d, (a, b) in enumerate(zip(t.shape, x.shape)) if d != axis)]
        kind = w.weighted({"other": 5, "same": 1, "constant": 0.5})
        if kind == "constant" and not w.is_flexible and is_real(x):
            shape = list(x.shape)
            shape[axis] = w.integer(1, 3)
            parts.append(w.real_constant(w.numbers.normal(0, 1, shape), x, x.quantization))
        else:
            parts.append(x if kind == "same" or not fits else w.choice(fits))
    w.random.shuffle(parts)
    first = next(part for part in parts if not part.is_constant)
    # Bytes without a sign may come with any scale.
    if x.type == "uint8" and x.quantization and w.chance(0.5):
        quantization = first.quantization
    else:
        if first.quantization:
            parts = [p if p.is_constant and p.quantization == first.quantization else w.rescaled(p, first.quantization)
                     if not p.is_constant else w.emit("QUANTIZE", [p], p.value, p.type, first.quantization, options("Quantize"))
                     for p in parts]
        quantization = first.quantization
    value = np.concatenate([p.value for p in parts], axis)
    given = axis - x.rank if w.chance(0.3) else axis
    activation = 0
    w.emit("CONCATENATION", parts, value, x.type, quantization,
           options("Concatenation", axis=given, fusedActivationFunction=activation), version_of("CONCATENATION", x.type))


@move(images=2, vectors=2, batch=1, mixed=2, odd=2)
def split(w):
    x = w.find(lambda t: t.rank > 0 and t.size > 0 and max(t.shape) > 1, COMMON)
    axes = [a for a, size in enumerate(x.shape) if size > 1 and not (w.is_flexible and a == 0)]
    if not axes:
        raise Abandoned
    axis = w.choice(axes)
    size = x.shape[axis]
    given = axis - x.rank if w.chance(0.3) else axis
    if w.chance(0.5):
        counts = [n for n in (2, 3, 4, 5) if size % n == 0]
        if not counts:
            raise Abandoned
        count = w.choice(counts)
        parts = np.split(x.value, count, axis)
        axes = w.constant(np.array(given, np.int32) if w.chance(0.5) else np.array([given], np.int32))
        w.emit_all("SPLIT", [axes, x], [(p, x.type, x.quantization) for p in parts],
                   options("Split", numSplits=count), version_of("SPLIT", x.type))
        return
    count = w.integer(1, min(3, size))
    cuts = sorted(w.random.sample(range(1, size), count - 1))
    parts = np.split(x.value, cuts, axis)
    sizes = [p.shape[axis] for p in parts]
    if w.chance(0.3):
        sizes[w.integer(0, count - 1)] = -1
    w.emit_all("SPLIT_V", [x, w.indices(sizes), w.constant(np.array(given, np.int32))],
               [(p, x.type, x.quantization) for p in parts], options("SplitV", numSplits=count),
               version_of("SPLIT_V", x.type))


@move(vectors=1, mixed=2, odd=2)
def pack(w):
    x = w.find(lambda t: t.rank < 4 and t.size > 0, COMMON)
    parts = [x]
    for _ in range(w.integer(1, 3)):
        fits = [t for t in w.pool if t.type == x.type and t.shape == x.shape and t.quantization == x.quantization
                and not t.loose]
        parts.append(w.choice(fits))
    axis = w.integer(0, x.rank)
    given = axis - x.rank - 1 if w.chance(0.3) else axis
    packed = emit(w, "PACK", parts, np.stack([p.value for p in parts], axis),
                  options("Pack", valuesCount=len(parts), axis=given), version_of("PACK", x.type), like=x)
    if w.chance(0.3) and x.type != "int64":
        unpacked(w, packed)


def unpacked(w, x, limit=6):
    axes = [a for a, size in enumerate(x.shape) if 0 < size <= limit]
    if not axes or x.type == "int64":
        raise Abandoned
    axis = w.choice(axes)
    count = x.shape[axis]
    given = axis - x.rank if w.chance(0.3) else axis
    return w.emit_all("UNPACK", [x], [(np.take(x.value, i, axis), x.type, x.quantization) for i in range(count)],
                      options("Unpack", num=count, axis=given), version_of("UNPACK", x.type))


@move(vectors=1, mixed=1, odd=1)
def unpack(w):
    if w.is_flexible:
        raise Abandoned
    unpacked(w, w.find(lambda t: t.rank > 0 and t.size > 0, ("float32", "int8", "uint8", "int16", "int32", "bool")))


@move(images=2, vectors=0.5, mixed=1.5, odd=2, batch=1)
def pad(w):
    x = w.find(lambda t: 0 < t.rank < 5 and t.size > 0, COMMON)
    amounts = np.array([[0, 0] if w.is_flexible and a == 0 else [w.integer(0, 2), w.integer(0, 2)] if w.chance(0.6) else [0, 0]
                        for a in range(x.rank)])
    kind = w.weighted({"PAD": 3, "PADV2": 1, "MIRROR_PAD": 1})
    fill = x.quantization.zero_point if x.quantization else 0
    paddings = w.constant(amounts.astype(np.int64 if w.chance(0.15) else np.int32))
    if kind == "MIRROR_PAD":
        reflect = w.chance(0.5)
        least = 1 if reflect else 0
        if any(amounts.max(1) > np.array(x.shape) - least):
            raise Abandoned
        value = np.pad(x.value, amounts, mode="reflect" if reflect else "symmetric")
        emit(w, "MIRROR_PAD", [x, paddings], value, options("MirrorPad", mode=0 if reflect else 1))
        return
    if kind == "PADV2":
        stored = np.array(w.integer(-3, 3) if x.type in ("float32", "int32", "int64") else fill)
        pad_value = w.constant(stored.astype(x.type), x.type, x.quantization)
        value = np.pad(x.value, amounts, constant_values=pad_value.value.reshape(-1)[0])
        emit(w, "PADV2", [x, paddings, pad_value], value, version=version_of("PADV2", x.type))
        return
    emit(w, "PAD", [x, paddings], np.pad(x.value, amounts), options("Pad"), version_of("PAD", x.type))


@move(vectors=1, mixed=2, odd=1.5)
def gather(w):
    if w.is_flexible:
        raise Abandoned
    x = w.find(lambda t: 0 < t.rank < 5 and t.size > 0, COMMON)
    axis = w.integer(0, x.rank - 1)
    shape = w.choice([(), (1,), (3,), (2, 2), (5,)])
    places = w.numbers.integers(0, x.shape[axis], shape)
    kind = w.choice([np.int32, np.int32, np.int64])
    value = np.take(x.value, places, axis)
    emit(w, "GATHER", [x, w.constant(places.astype(kind))], value, options("Gather", axis=axis), version_of("GATHER", x.type))


@move(vectors=0.7, mixed=1.5, odd=1)
def reverse(w):
    x = w.find(lambda t: 0 < t.rank < 5 and t.size > 0, ("float32", "uint8", "int16", "int32", "int64", "int8"))
    axis = w.integer(0, x.rank - 1)
    emit(w, "REVERSE_V2", [x, w.indices([axis])], np.flip(x.value, axis), options("ReverseV2"))


@move(vectors=1, mixed=1.5, odd=2, images=0.5)
def repeated(w):
    """TILE or BROADCAST_TO."""
    if w.is_flexible:
        raise Abandoned
    x = w.find(lambda t: t.rank > 0 and t.size > 0, MOVABLE)
    if w.chance(0.5):
        times = [w.choice([1, 1, 2, 3]) for _ in x.shape]
        emit(w, "TILE", [x, w.indices(times)], np.tile(x.value, times), version=version_of("TILE", x.type))
        return
    shape = [w.choice([2, 3]) if size == 1 else size for size in x.shape]
    if x.rank < 4 and w.chance(0.4):
        shape = [w.integer(1, 3), *shape]
    emit(w, "BROADCAST_TO", [x, w.indices(shape)], np.broadcast_to(x.value, shape).copy(),
         version=version_of("BROADCAST_TO", x.type))


@move(images=1.5, batch=1, mixed=0.7)
def depth_and_space(w):
    x = w.find(lambda t: t.rank == 4 and t.size > 0, ("float32", "int8", "uint8", "int32", "int64"))
    n, h, wd, c = x.shape
    if h % 2 == 0 and wd % 2 == 0 and w.chance(0.6):
        value = x.value.reshape(n, h // 2, 2, wd // 2, 2, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h // 2, wd // 2, 4 * c)
        emit(w, "SPACE_TO_DEPTH", [x], value, options("SpaceToDepth", blockSize=2), version_of("SPACE_TO_DEPTH", x.type))
    elif c % 4 == 0:
        value = x.value.reshape(n, h, wd, 2, 2, c // 4).transpose(0, 1, 3, 2, 4, 5).reshape(n, 2 * h, 2 * wd, c // 4)
        emit(w, "DEPTH_TO_SPACE", [x], value, options("DepthToSpace", blockSize=2), version_of("DEPTH_TO_SPACE", x.type))
    else:
        raise Abandoned


def to_batch(w, x, block, amounts):
    padded = np.pad(x.value, [[0, 0], *amounts, [0, 0]])
    n, h, wd, c = padded.shape
    b = block
    value = padded.reshape(n, h // b, b, wd // b, b, c).transpose(2, 4, 0, 1, 3, 5).reshape(-1, h // b, wd // b, c)
    return emit(w, "SPACE_TO_BATCH_ND", [x, w.indices([b, b]), w.indices(amounts)], value,
                version=version_of("SPACE_TO_BATCH_ND", x.type))


def from_batch(w, x, block, crops):
    n, h, wd, c = x.shape
    b = block
    value = x.value.reshape(b, b, n // (b * b), h, wd, c).transpose(2, 3, 0, 4, 1, 5).reshape(n // (b * b), h * b, wd * b, c)
    value = value[:, crops[0][0]:h * b - crops[0][1], crops[1][0]:wd * b - crops[1][1]]
    return emit(w, "BATCH_TO_SPACE_ND", [x, w.indices([b, b]), w.indices(crops)], value,
                version=version_of("BATCH_TO_SPACE_ND", x.type))


@move(images=1, mixed=0.5)
def batch_and_space(w):
    """Pixels to batches, something small, and back: as converters write dilations."""
    from random_graphs.moves.elementwise import unary

    x = w.find(lambda t: t.rank == 4 and t.size > 0, ("float32", "int8", "uint8", "int16"))
    block = 2
    amounts = [[0, -x.shape[1 + axis] % block] for axis in range(2)]
    y = to_batch(w, x, block, amounts)
    if w.chance(0.6) and is_real(y):
        y = unary(w, y)
    from_batch(w, y, block, amounts)


@move(images=1, vectors=0.7, mixed=0.7, odd=0.7)
def there_and_back(w):
    """Permutations, views or paddings that undo each other, with something between them or nothing."""
    from random_graphs.moves.elementwise import unary

    x = w.find(lambda t: 1 < t.rank < 5 and t.size > 0, ("float32", "int8", "uint8", "int16"))
    order = list(range(x.rank))
    w.random.shuffle(order)
    if w.is_flexible:
        raise Abandoned
    y = emit(w, "TRANSPOSE", [x, w.indices(order)], x.value.transpose(order), options("Transpose"),
             version_of("TRANSPOSE", x.type))
    if w.chance(0.5) and is_real(y):
        y = unary(w, y)
    back = [int(axis) for axis in np.argsort(order)]
    emit(w, "TRANSPOSE", [y, w.indices(back)], y.value.transpose(back), options("Transpose"),
         version_of("TRANSPOSE", y.type))


@move(images=1.5, batch=0.7, mixed=0.5)
def shuffled_channels(w):
    """Channels in groups, dealt out: a view, a permutation, a view; or halves that change places."""
    x = w.find(lambda t: t.rank == 4 and t.size > 0 and t.shape[3] % 2 == 0, ("float32", "int8", "uint8", "int16"))
    n, h, wd, c = x.shape
    if w.chance(0.5) and not w.is_flexible:
        y = w.view(x, (n, h, wd, 2, c // 2))
        y = emit(w, "TRANSPOSE", [y, w.indices([0, 1, 2, 4, 3])], y.value.transpose(0, 1, 2, 4, 3), options("Transpose"),
                 version_of("TRANSPOSE", x.type))
        w.view(y, (n, h, wd, c))
        return
    halves = np.split(x.value, 2, 3)
    a, b = w.emit_all("SPLIT", [w.constant(np.int32(3)), x], [(p, x.type, x.quantization) for p in halves],
                      options("Split", numSplits=2), version_of("SPLIT", x.type))
    if w.chance(0.5) and is_real(a):
        from random_graphs.moves.images import conv

        a = conv(w, a, taps=(1, 1), strides=(1, 1), outputs=c // 2)
        if a.quantization:
            a = w.rescaled(a, b.quantization)
    emit(w, "CONCATENATION", [b, a], np.concatenate([b.value, a.value], 3), options("Concatenation", axis=3),
         version_of("CONCATENATION", x.type))


@move(vectors=1, mixed=1, state=0.7, odd=0.5)
def updated(w):
    """DYNAMIC_UPDATE_SLICE, as caches are written; others may read what was there before."""
    x = w.find(lambda t: 0 < t.rank < 5 and t.size > 0, ("float32", "int8", "int32"))
    if w.is_flexible:
        raise Abandoned
    shape = tuple(w.integer(1, size) for size in x.shape)
    begin = [w.integer(0, size - part) for size, part in zip(x.shape, shape)]
    others = [t for t in w.pool if t.type == x.type and t.size > 0 and not t.loose and t.quantization == x.quantization]
    update = w.fitted(w.choice(others), shape)
    if w.parent is None and w.chance(0.4):
        place = w.input([np.array(begin, np.int32), np.zeros(x.rank, np.int32)])
    else:
        place = w.indices(begin)
    value = x.value.copy()
    value[tuple(slice(b, b + s) for b, s in zip(begin, shape))] = update.value
    emit(w, "DYNAMIC_UPDATE_SLICE", [x, update, place], value, version=version_of("DYNAMIC_UPDATE_SLICE", x.type))


@move(vectors=0.7, mixed=1)
def chosen_rows(w):
    """Rows of a tensor or of a table by indices that were computed or given."""
    if w.is_flexible:
        raise Abandoned
    x = w.find(lambda t: 0 < t.rank < 4 and t.size > 0, ("float32", "int8", "uint8"))
    if w.parent is None and w.chance(0.4):
        count = w.integer(1, 4)
        rows = w.input([w.numbers.integers(0, x.shape[0], count).astype(np.int32) for _ in range(2)])
    else:
        scores = w.find(lambda t: t.rank == 2 and 0 < t.shape[1] <= x.shape[0] and t.size > 0, ("float32", "int8"))
        rows = w.emit("ARG_MAX", [scores, w.constant(np.int32(1))], scores.value.argmax(1).astype(np.int32), "int32", None,
                      options("ArgMax", outputType=2), version_of("ARG_MAX", scores.type))
    emit(w, "GATHER", [x, rows], x.value[rows.value], options("Gather", axis=0), version_of("GATHER", x.type))
