# SPDX-License-Identifier: Apache-2.0
"""Means, sums and extremes along axes; positions and sums on the way."""

import numpy as np

from random_graphs.model import QUANTIZED, options
from random_graphs.moves import move
from random_graphs.weaver import Abandoned, is_real, version_of

TYPES = ("float32", "int8", "uint8", "int16", "int32", "int64")


def reduced(w, x, name, axes, keeps, function, quantization):
    value = np.asarray(function(x.value, axis=tuple(axes), keepdims=keeps))
    if x.type in ("int32", "int64"):
        value = value.astype(x.type)
    given = [a - x.rank if w.chance(0.3) else a for a in axes]
    return w.emit(name, [x, w.indices(given)], value, x.type, quantization, options("Reducer", keepDims=keeps),
                  version_of(name, x.type))


@move(images=2, vectors=3, batch=2, mixed=3, odd=3)
def reduction(w):
    x = w.find(lambda t: 0 < t.rank < 5 and t.size > 0 and (is_real(t) or not t.is_quantized), TYPES)
    possible = list(range(1 if w.is_flexible else 0, x.rank))
    if not possible:
        raise Abandoned
    axes = w.random.sample(possible, w.integer(1, len(possible)))
    if x.rank == 4 and w.chance(0.5):
        axes = [1, 2]
    name = w.weighted({"MEAN": 5, "SUM": 2, "REDUCE_MAX": 2, "REDUCE_MIN": 1, "REDUCE_PROD": 0.3})
    function = {"MEAN": np.mean, "SUM": np.sum, "REDUCE_MAX": np.max, "REDUCE_MIN": np.min, "REDUCE_PROD": np.prod}[name]
    if name == "REDUCE_PROD" and x.type != "float32" or name == "MEAN" and x.type in ("int32", "int64"):
        raise Abandoned
    if x.type in QUANTIZED and not x.quantization:
        raise Abandoned
    fits = name in ("MEAN", "SUM") and x.type in QUANTIZED
    quantization = "fit" if fits and w.chance(0.7) else x.quantization
    if name == "SUM" and x.type == "int16":
        raise Abandoned
    reduced(w, x, name, axes, w.chance(0.5), function, quantization)


@move(vectors=1, mixed=1.5, odd=0.5)
def position(w):
    """ARG_MAX or ARG_MIN."""
    x = w.find(lambda t: 0 < t.rank < 5 and t.size > 0, ("float32", "int8", "uint8", "int32"))
    axis = w.integer(0, x.rank - 1)
    if w.is_flexible and axis == 0:
        raise Abandoned
    name = w.choice(["ARG_MAX", "ARG_MIN"])
    function = np.argmax if name == "ARG_MAX" else np.argmin
    index = w.choice(["int32", "int64"])
    table = options("ArgMax" if name == "ARG_MAX" else "ArgMin", outputType={"int32": 2, "int64": 4}[index])
    w.emit(name, [x, w.constant(np.array(axis, np.int32))], np.asarray(function(x.value, axis)).astype(index), index,
           None, table, version_of(name, x.type))


@move(vectors=0.7, mixed=1)
def running_sum(w):
    x = w.find(lambda t: 0 < t.rank < 5 and t.size > 0, ("float32", "int32", "int64"))
    axis = w.integer(0, x.rank - 1)
    opts = options("Cumsum", exclusive=w.chance(0.3), reverse=w.chance(0.3))
    w.emit("CUMSUM", [x, w.constant(np.array(axis, np.int32))], np.cumsum(x.value, axis).astype(x.type), opts=opts)


@move(vectors=0.7, mixed=1)
def largest(w):
    x = w.find(lambda t: 0 < t.rank < 4 and t.size > 0 and t.shape[-1] > 1, ("float32", "int8", "uint8", "int32"))
    count = w.integer(1, x.shape[-1])
    order = np.argsort(-x.value.astype(np.float64), -1, kind="stable")[..., :count]
    value = np.take_along_axis(x.value, order, -1)
    w.emit_all("TOPK_V2", [x, w.constant(np.array(count, np.int32))],
               [(value, x.type, x.quantization), (order.astype(np.int32), "int32", None)], options("TopKV2"),
               version_of("TOPK_V2", x.type))
