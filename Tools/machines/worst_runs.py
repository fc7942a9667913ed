# SPDX-License-Identifier: Apache-2.0
"""Shapes whose runs are long and whose preparation is short: few weights, few results, many cells, rows that each run quantizes.

A deadline that falls into packing says nothing about what comes after it. `limits.py --deadlines` puts several into these runs.
"""

import numpy as np

from limit_model import LimitModel
from random_graphs.model import Quantization, Tensor, options
from worst_shapes import BYTES, FLOAT, WORDS, bias, shape

CENTI = Quantization.per_tensor(0.01, 0)


def matrix(m: LimitModel, kind, *sizes):
    """Weights of floats, or of bytes with one scale: a layer with those quantizes its operands in each run."""
    if kind == "hybrid":
        return m.constant(np.ones(sizes, np.int8), BYTES, CENTI)
    return m.constant(np.full(sizes, 0.01, np.float32))


def vector(m, count, value=0.0):
    return m.constant(np.full(count, value, np.float32))


def state(*sizes):
    return Tensor(FLOAT, sizes, is_variable=True)


# Batch, steps, values of a step, cells, outputs of the projection: with one output, cells may be many without many weights.
CELLS = [(1, 4, 1, 1 << 21, 1), (1, 4, 1, 1 << 22, 1), (1, 2, 1, 1 << 24, 1), (64, 1, 1, 1 << 20, 1)]
ROWS = [(1, 2, 1 << 24, 1, 1), (1, 1, 1 << 25, 1, 1), (16, 1, 1 << 22, 1, 1)]


@shape("LSTM of many cells", *[(t, extra, *c) for t in ("float", "hybrid") for extra in ("plain", "peepholes", "normalized") for c in CELLS
                               if t == "float" or extra != "normalized"])
@shape("LSTM of long rows", *[(t, "plain", *c) for t in ("float", "hybrid") for c in ROWS])
def projected(m, kind, extra, batch, steps, depth, cells, outputs):
    x = m.input(FLOAT, (batch, steps, depth))
    inputs = [x, *[matrix(m, kind, cells, depth) for _ in range(4)], *[matrix(m, kind, cells, outputs) for _ in range(4)],
              *[matrix(m, kind, cells) if extra == "peepholes" else None for _ in range(3)],
              *[vector(m, cells) for _ in range(4)], matrix(m, kind, outputs, cells), None, state(batch, outputs), state(batch, cells)]
    if extra == "normalized":
        inputs += [vector(m, cells, 1) for _ in range(4)]
    return m.add("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, FLOAT, options(
        "UnidirectionalSequenceLSTM", fusedActivationFunction=4, asymmetricQuantizeInputs=kind == "hybrid"), 1)


@shape("RNN of long rows", *[(t, *c) for t in ("float", "hybrid") for c in ((1, 2, 1 << 25, 1), (1, 1, 1 << 26, 1), (16, 1, 1 << 22, 2))])
def long_rows(m, kind, batch, steps, depth, units):
    inputs = [m.input(FLOAT, (batch, steps, depth)), matrix(m, kind, units, depth), matrix(m, kind, units, units), vector(m, units),
              state(batch, units)]
    return m.add("UNIDIRECTIONAL_SEQUENCE_RNN", inputs, FLOAT, options(
        "SequenceRNN", fusedActivationFunction=4, asymmetricQuantizeInputs=kind == "hybrid"), 1)


@shape("SVDF of long rows", *[(t, *c) for t in ("float", "hybrid") for c in ((1, 1 << 26, 1, 1), (16, 1 << 22, 1, 1))])
@shape("SVDF of many units", *[(t, *c) for t in ("float", "hybrid") for c in ((1, 1, 1 << 24, 1), (1, 1, 1 << 22, 4), (16, 1, 1 << 21, 1))])
def filters(m, kind, batch, depth, units, memory):
    inputs = [m.input(FLOAT, (batch, depth)), matrix(m, kind, units, depth), matrix(m, kind, units, memory), vector(m, units),
              state(batch, units * memory)]
    return m.add("SVDF", inputs, FLOAT, options(
        "SVDF", rank=1, fusedActivationFunction=4, asymmetricQuantizeInputs=kind == "hybrid"), 2 if kind == "hybrid" else 1)


@shape("quantized rows", *[(name, *c) for name in ("FULLY_CONNECTED", "BATCH_MATMUL") for c in (
    (1, 1, 1 << 26), (64, 1, 1 << 20), (1 << 13, 1, 1 << 13), (1 << 20, 1, 64), (1 << 22, 1, 8), (3, 2, 12_345_677))])
def quantized_rows(m, name, rows, units, depth):
    """Rows of floats that each run quantizes, for few weights."""
    x = m.input(FLOAT, (rows, depth))
    if name == "BATCH_MATMUL":
        return m.add(name, [x, matrix(m, "hybrid", depth, units)], FLOAT, options("BatchMatMul", asymmetricQuantizeInputs=True), 4)
    return m.add(name, [x, matrix(m, "hybrid", units, depth), bias(m, FLOAT, units)], FLOAT, options(
        "FullyConnected", asymmetricQuantizeInputs=True), 9)


@shape("quantized pictures", *[(name, *c) for name in ("CONV_2D", "DEPTHWISE_CONV_2D") for c in (
    ((1, 1 << 13, 1 << 13, 1), (1, 1), 64), ((1, 1 << 12, 1 << 12, 4), (3, 3), 16), ((1 << 10, 256, 256, 1), (1, 1), 256))])
def quantized_pictures(m, name, image, window, stride):
    """Pictures that each run quantizes, of which a large stride reads few places."""
    x, depth = m.input(FLOAT, image), image[3]
    if name == "CONV_2D":
        opts = options("Conv2D", padding=1, strideH=stride, strideW=stride, dilationHFactor=1, dilationWFactor=1)
        filter_, version = m.constant(np.ones((1, *window, depth), np.int8), BYTES, Quantization((0.01,), (0,), 0)), 5
    else:
        opts = options("DepthwiseConv2D", padding=1, strideH=stride, strideW=stride, depthMultiplier=1, dilationHFactor=1, dilationWFactor=1)
        filter_, version = m.constant(np.ones((1, *window, depth), np.int8), BYTES, Quantization((0.01,) * depth, (0,) * depth, 3)), 6
    return m.add(name, [x, filter_, bias(m, FLOAT, 1 if name == "CONV_2D" else depth)], FLOAT, opts, version)


# One result of a hundred million elements, two columns, three rows, results whose elements are far apart.
FEW = [((1 << 27,), (0,)), ((1 << 26, 2), (0,)), ((3, 1 << 25), (1,)), ((1 << 12, 2, 1 << 14), (0, 2)), ((5, 1 << 23, 3), (1,))]
REDUCED = {"SUM": (FLOAT, BYTES, WORDS, "int32", "int64"), "MEAN": (FLOAT, BYTES), "REDUCE_PROD": (FLOAT,), "REDUCE_MAX": (FLOAT, BYTES, "int64"),
           "REDUCE_MIN": (FLOAT,), "REDUCE_ANY": ("bool",), "ARG_MAX": (FLOAT, BYTES)}


@shape("few results", *[(name, t, *c) for name, types in REDUCED.items() for t in types for c in FEW if name != "ARG_MAX" or len(c[1]) == 1])
def few_results(m, name, t, image, axes):
    if t == "int64":
        image = (*image[:-1], image[-1] >> 1) if image[-1] > 3 else (image[0], image[1] >> 1, *image[2:]) if image[0] < 8 else (
            image[0] >> 1, *image[1:])
    x = m.input(t, image)
    if name == "ARG_MAX":
        return m.add(name, [x, m.integers(*axes)], "int32", options("ArgMax", outputType=2))
    return m.add(name, [x, m.integers(*axes)], t, options("Reducer")), 3


@shape("one product", *[(name, t, depth) for name in ("FULLY_CONNECTED", "BATCH_MATMUL") for t in (FLOAT, BYTES) for depth in (1 << 24, 1 << 26)])
def one_product(m, name, t, depth):
    """Two inputs, of which each run makes one sum."""
    if name == "BATCH_MATMUL":
        return m.add(name, [m.input(t, (1, depth)), m.input(t, (depth, 1))], t, options("BatchMatMul"), 1 if t == FLOAT else 4)
    return m.add(name, [m.input(t, (1, depth)), m.input(t, (1, depth))], t, options("FullyConnected"), 1 if t == FLOAT else 4)
