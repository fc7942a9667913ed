# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, attention and what stands around them."""

import numpy as np

from random_graphs import numeric
from random_graphs.model import Quantization, options
from random_graphs.moves import move
from random_graphs.moves.elementwise import FIXED, binary, unary
from random_graphs.moves.images import weights_for, with_bias
from random_graphs.weaver import Abandoned, is_real, version_of

TYPES = ("float32", "int8", "uint8", "int16")


def vector(w, types=TYPES, ranks=(2, 3, 4), test=None):
    return w.find(lambda t: is_real(t) and t.size > 0 and t.shape[-1] <= (300 if w.is_large else 96) and (test is None or test(t)), types, ranks)


def dense(w, x, units=None, activation=None, keeps=None, omit=0.15):
    """FULLY_CONNECTED."""
    depth = x.shape[-1]
    units = units or w.choice([32, 33, 48, 64, 96, 128] if w.is_large and w.chance(0.6) else [1, 2, 3, 4, 5, 7, 8, 10, 16, 17, 20, 32])
    rows = x.size // depth
    if rows * units > 3 * w.limit:
        raise Abandoned
    w.spend(rows * units * depth)
    activation = w.activation() if activation is None else activation
    keeps = (x.rank > 2 and (w.is_flexible or w.chance(0.6))) if keeps is None else keeps
    weights, real, kind = weights_for(w, x, "FULLY_CONNECTED", (units, depth), 0, depth, ("hybrid", "int4", "hybrid_int4"))
    value = x.value.reshape(-1, depth) @ real.T
    inputs = [x, weights]
    before = len(inputs)
    value = numeric.activated(value + with_bias(w, inputs, x, weights, units, omit), activation)
    if len(inputs) == before and w.chance(0.5):
        inputs.append(None)
    value = value.reshape(*x.shape[:-1], units) if keeps else value
    fields = {"asymmetricQuantizeInputs": True} if kind == "hybrid" and w.chance(0.5) else {}
    opts = options("FullyConnected", fusedActivationFunction=activation, keepNumDims=keeps, **fields)
    return w.emit("FULLY_CONNECTED", inputs, value, x.type, "fit", opts, version_of("FULLY_CONNECTED", kind))


def product(w, a, b, adj_x=False, adj_y=False):
    """BATCH_MATMUL."""
    left = np.swapaxes(a.value, -1, -2) if adj_x else a.value
    right = np.swapaxes(b.value, -1, -2) if adj_y else b.value
    if left.shape[-1] != right.shape[-2] or min(a.rank, b.rank) < 2 or max(a.rank, b.rank) > 4:
        raise Abandoned
    w.spend(left.size * right.shape[-1])
    try:
        value = left @ right
    except ValueError:
        raise Abandoned from None
    opts = options("BatchMatMul", adjX=adj_x, adjY=adj_y)
    return w.emit("BATCH_MATMUL", [a, b], value, a.type, "fit", opts, version_of("BATCH_MATMUL", a.type))


@move(vectors=12, batch=3, mixed=3, images=1, odd=3, control=2)
def fully_connected(w):
    dense(w, vector(w))


@move(vectors=3, mixed=1, batch=1)
def layers(w):
    x = vector(w)
    for _ in range(w.integer(2, 3)):
        x = dense(w, x)
        if w.chance(0.5):
            x = unary(w, x)


@move(vectors=2, mixed=1)
def computed_weights(w):
    """A product whose weights are computed, too."""
    x = vector(w, ("float32", "int8"))
    depth = x.shape[-1]
    other = w.find(lambda t: t.type == x.type and is_real(t) and t.size >= depth and t.size <= 40 * depth, recent=0.2)
    if w.is_flexible:
        raise Abandoned
    units = max(other.size // depth, 1)
    weights = w.fitted(other, (units, depth))
    if x.type == "int8":
        raise Abandoned
    w.spend(x.size * units)
    value = x.value.reshape(-1, depth) @ weights.value.T
    inputs = [x, weights, w.constant(np.zeros(units, np.float32)) if w.chance(0.5) else None]
    w.emit("FULLY_CONNECTED", inputs, value, x.type, "fit", options("FullyConnected"), 1)


@move(vectors=4, mixed=1.5, odd=1)
def matrix_product(w):
    x = vector(w, ("float32", "int8", "int16"))
    if w.is_flexible:
        raise Abandoned
    kind = w.weighted({"self": 2, "other": 3, "constant": 2})
    if kind == "self":
        first = w.chance(0.5)
        product(w, x, x, first, not first)
        return
    adj_y = w.chance(0.4)
    columns = w.integer(1, 9)
    outer = x.shape[:-2] if w.chance(0.6) else ()
    shape = (*outer, columns, x.shape[-1]) if adj_y else (*outer, x.shape[-1], columns)
    if kind == "other":
        other = w.find(lambda t: t.type == x.type and is_real(t) and t.size > 0, recent=0.2)
        y = w.fitted(other, shape)
    else:
        if x.type == "int16":
            raise Abandoned
        real = w.numbers.standard_normal(shape) / np.sqrt(x.shape[-1])
        y = w.real_constant(real, x)
    product(w, x, y, False, adj_y)


@move(vectors=3, mixed=0.7)
def attention(w):
    """Scores of queries and keys, and the values that they weigh; several heads by views and permutations."""
    x = vector(w, ("float32", "int8", "int16"), (2, 3))
    if w.is_flexible:
        raise Abandoned
    rows = x.shape[-2]
    batch = x.shape[0] if x.rank == 3 else 1
    heads, size = w.choice([(1, 4), (2, 2), (2, 4), (4, 2), (1, 8)])
    parts = []
    shared = w.chance(0.15)
    for index in range(3):
        y = parts[-1] if shared and index == 1 else dense(w, x, heads * size, activation=0)
        if not (shared and index == 1):
            y = w.view(y, (batch, rows, heads, size))
            y = w.emit("TRANSPOSE", [y, w.indices([0, 2, 1, 3])], y.value.transpose(0, 2, 1, 3), y.type, y.quantization,
                       options("Transpose"), version_of("TRANSPOSE", y.type))
        parts.append(y)
    q, k, v = parts
    if w.chance(0.5):
        scores = product(w, q, k, adj_y=True)
    else:
        k = w.emit("TRANSPOSE", [k, w.indices([0, 1, 3, 2])], k.value.transpose(0, 1, 3, 2), k.type, k.quantization,
                   options("Transpose"), version_of("TRANSPOSE", k.type))
        scores = product(w, q, k)
    scores = binary(w, "MUL", scores, w.real_constant(np.float32(size**-0.5), scores))
    if w.chance(0.4):
        scores = binary(w, "ADD", scores, w.real_constant(w.numbers.normal(0, 1, (1, 1, rows, rows)), scores))
    fixed = FIXED["SOFTMAX"].get(scores.type)
    weights = w.emit("SOFTMAX", [scores], numeric.softmax(scores.value), scores.type,
                     Quantization.per_tensor(*fixed) if fixed else None, options("Softmax", beta=1.0))
    y = product(w, weights, v)
    y = w.emit("TRANSPOSE", [y, w.indices([0, 2, 1, 3])], y.value.transpose(0, 2, 1, 3), y.type, y.quantization,
               options("Transpose"), version_of("TRANSPOSE", y.type))
    y = w.view(y, (*x.shape[:-1], heads * size))
    y = dense(w, y, x.shape[-1], activation=0, keeps=x.rank > 2)
    if w.chance(0.7):
        binary(w, "ADD", x, y)


@move(vectors=3, batch=1, mixed=1)
def layer_normalization(w):
    x = vector(w, ("float32", "int8"))
    axis = [x.rank - 1] if w.chance(0.5) else [-1]
    def mean(t):
        return w.emit("MEAN", [t, w.indices(axis)], t.value.mean(-1, keepdims=True), t.type, "fit",
                      options("Reducer", keepDims=True), version_of("MEAN", t.type))
    m = mean(x)
    if w.chance(0.5):
        d = binary(w, "SUB", x, m)
        square = binary(w, "MUL", d, d) if w.chance(0.5) or x.type == "int8" else unary(w, d, "SQUARE")
    else:
        square = binary(w, "SQUARED_DIFFERENCE", x, m)
        d = binary(w, "SUB", x, m)
    v = mean(square)
    if x.type == "int8":
        binary(w, "ADD", d, v)
        return
    v = binary(w, "ADD", v, w.constant(np.float32(0.01)))
    r = w.emit("RSQRT", [v], 1 / np.sqrt(v.value))
    y = binary(w, "MUL", d, r)
    if w.chance(0.6):
        y = binary(w, "MUL", y, w.constant(w.numbers.normal(1, 0.2, x.shape[-1:]).astype(np.float32)))
        binary(w, "ADD", y, w.constant(w.numbers.normal(0, 0.2, x.shape[-1:]).astype(np.float32)))


@move(vectors=2, mixed=1, batch=1)
def gated_layer(w):
    """A layer cut in two, one half of which lets the other through."""
    x = vector(w)
    y = dense(w, x, 2 * w.integer(1, 8), activation=0, keeps=x.rank > 2)
    axis = w.constant(np.array(y.rank - 1 if w.chance(0.5) else -1, np.int32))
    halves = np.split(y.value, 2, -1)
    a, b = w.emit_all("SPLIT", [axis, y], [(h, y.type, y.quantization) for h in halves], options("Split", numSplits=2),
                      version_of("SPLIT", y.type))
    binary(w, "MUL", a, unary(w, b, w.choice(["LOGISTIC", "TANH"])))


@move(vectors=1, images=1, mixed=1)
def to_vectors(w):
    """Pixels as rows."""
    x = w.find(lambda t: is_real(t) and t.size > 0, TYPES, (4,))
    if w.is_flexible:
        raise Abandoned
    n, h, wd, c = x.shape
    w.view(x, w.choice([(n, h * wd, c), (n * h * wd, c), (n, h * wd * c)]))


@move(vectors=0.7, mixed=0.7)
def to_image(w):
    x = w.find(lambda t: is_real(t) and t.size > 0, TYPES, (2, 3))
    if w.is_flexible:
        raise Abandoned
    if x.rank == 2:
        w.view(x, (1, 1, *x.shape) if w.chance(0.5) else (x.shape[0], 1, 1, x.shape[1]))
    else:
        w.view(x, (x.shape[0], x.shape[1], 1, x.shape[2]))


@move(vectors=1, mixed=0.7)
def rectangular(w):
    """RELU between two layers that share weights, as tied ones do."""
    x = vector(w, test=lambda t: t.shape[-1] <= 32)
    y = dense(w, x, x.shape[-1], activation=w.choice([0, 1]), keeps=x.rank > 2)
    y = dense(w, y, x.shape[-1], keeps=x.rank > 2)
    if y.shape == x.shape:
        binary(w, "ADD", x, y)



