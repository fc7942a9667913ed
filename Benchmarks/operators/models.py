#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small models of operators that whole networks spend little time on, for `Benchmarks/compare/compare.py`.

  .build/python/bin/python Benchmarks/operators/models.py FOLDER
"""

import argparse
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Tools" / "goldens"))

from ai_edge_litert import schema_py_generated as schema  # noqa: E402
from graph_builder import GraphBuilder  # noqa: E402
from model_builder import ABSENT, Quantization  # noqa: E402

TANH = 4
RANDOM = np.random.default_rng(1)
MODELS = {}


def model(function):
    """Adds the models of a function: pairs of a name and a builder."""
    MODELS.update(dict(function()))
    return function


def floats(*shape, spread=0.1):
    return (RANDOM.random(shape, np.float32) * 2 - 1) * np.float32(spread)


class Graph(GraphBuilder):
    """A builder whose operators make their own output."""

    def argument_of(self, *shape, type_name="float32", quantization=None):
        index = self._add(f"input_{len(self._input_indices)}", type_name, shape, quantization)
        self._input_indices.append(index)
        return index

    def of(self, name, inputs, shape, options=None, type_name="float32", quantization=None, version=1):
        output = self.tensor(type_name, shape, quantization)
        self.add(name, inputs, [output], options, version=version)
        return output

    def done(self, *outputs):
        for output in outputs:
            self.result(output)
        return self


def options(name, **fields):
    result = getattr(schema, name + "OptionsT")()
    for field, value in fields.items():
        setattr(result, field, value)
    return result


def lstm_inputs(graph, depth, units):
    inputs = [graph.constant(floats(units, depth)) for _ in range(4)]
    inputs += [graph.constant(floats(units, units)) for _ in range(4)]
    inputs += [ABSENT] * 3
    inputs += [graph.constant(floats(units)) for _ in range(4)]
    return inputs + [ABSENT, ABSENT]


def lstm(time, depth, units, batch=1):
    graph = Graph()
    x = graph.argument_of(batch, time, depth)
    inputs = [x, *lstm_inputs(graph, depth, units)]
    inputs += [graph.variable("float32", (batch, units)), graph.variable("float32", (batch, units))]
    inputs += [ABSENT] * 4
    choice = options("UnidirectionalSequenceLSTM", fusedActivationFunction=TANH, timeMajor=False)
    return graph.done(graph.of("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, (batch, time, units), choice))


def bidirectional(time, depth, units):
    graph = Graph()
    x = graph.argument_of(time, 1, depth)
    inputs = [x, *lstm_inputs(graph, depth, units), *lstm_inputs(graph, depth, units)]
    inputs += [graph.variable("float32", (1, units)) for _ in range(4)]
    inputs += [ABSENT] * 9
    choice = options("BidirectionalSequenceLSTM", fusedActivationFunction=TANH, timeMajor=True, mergeOutputs=True)
    return graph.done(graph.of("BIDIRECTIONAL_SEQUENCE_LSTM", inputs, (time, 1, 2 * units), choice))


def rnn(time, depth, units):
    graph = Graph()
    x = graph.argument_of(1, time, depth)
    inputs = [x, graph.constant(floats(units, depth)), graph.constant(floats(units, units))]
    inputs += [graph.constant(floats(units)), graph.variable("float32", (1, units))]
    choice = options("SequenceRNN", fusedActivationFunction=TANH, timeMajor=False)
    return graph.done(graph.of("UNIDIRECTIONAL_SEQUENCE_RNN", inputs, (1, time, units), choice))


def gru_step(graph, x, h, weights, units):
    """One step of a GRU with its reset gate after the product, as Keras exports it."""
    wx, wh, bx, bh = weights
    keep = options("FullyConnected", keepNumDims=False)
    of_x = graph.of("FULLY_CONNECTED", [x, wx, bx], (1, 3 * units), keep)
    of_h = graph.of("FULLY_CONNECTED", [h, wh, bh], (1, 3 * units), keep)
    parts = []
    for whole in (of_x, of_h):
        axis = graph.constant(np.array(1, np.int32))
        pieces = [graph.tensor("float32", (1, units)) for _ in range(3)]
        graph.add("SPLIT", [axis, whole], pieces, options("Split", numSplits=3))
        parts.append(pieces)
    add, multiply, subtract = options("Add"), options("Mul"), options("Sub")
    shape = (1, units)
    z = graph.of("LOGISTIC", [graph.of("ADD", [parts[0][0], parts[1][0]], shape, add)], shape)
    r = graph.of("LOGISTIC", [graph.of("ADD", [parts[0][1], parts[1][1]], shape, add)], shape)
    inner = graph.of("MUL", [r, parts[1][2]], shape, multiply)
    new = graph.of("TANH", [graph.of("ADD", [parts[0][2], inner], shape, add)], shape)
    one = graph.constant(np.array(1, np.float32))
    rest = graph.of("SUB", [one, z], shape, subtract)
    kept = graph.of("MUL", [z, h], shape, multiply)
    return graph.of("ADD", [kept, graph.of("MUL", [rest, new], shape, multiply)], shape, add)


def gru_weights(graph, depth, units):
    shapes = [(3 * units, depth), (3 * units, units), (3 * units,), (3 * units,)]
    return [graph.constant(floats(*shape)) for shape in shapes]


def gru_unrolled(time, depth, units):
    graph = Graph()
    x = graph.argument_of(time, depth)
    weights = gru_weights(graph, depth, units)
    h = graph.constant(np.zeros((1, units), np.float32))
    for step in range(time):
        begin = graph.constant(np.array([step, 0], np.int32))
        size = graph.constant(np.array([1, depth], np.int32))
        row = graph.of("SLICE", [x, begin, size], (1, depth), options("Slice"))
        h = gru_step(graph, row, h, weights, units)
    return graph.done(h)


def gru_loop(time, depth, units):
    graph = Graph()
    x = graph.argument_of(time, depth)
    step = graph.constant(np.array(0, np.int32))
    h = graph.constant(np.zeros((1, units), np.float32))
    kinds = [("int32", ()), ("float32", (1, units)), ("float32", (time, depth))]

    def child():
        sub = graph.subgraph()
        sub.__class__ = Graph
        return sub, [sub.argument(name, shape) for name, shape in kinds]

    condition, arguments = child()
    limit = condition.constant(np.array(time, np.int32))
    condition.done(condition.of("LESS", [arguments[0], limit], (), type_name="bool"))
    body, (count, state, sequence) = child()
    row = body.of("GATHER", [sequence, count], (depth,), options("Gather", axis=0))
    shape = body.constant(np.array([1, depth], np.int32))
    row = body.of("RESHAPE", [row, shape], (1, depth), options("Reshape", newShape=[1, depth]))
    state = gru_step(body, row, state, gru_weights(body, depth, units), units)
    one = body.constant(np.array(1, np.int32))
    body.done(body.of("ADD", [count, one], (), options("Add"), type_name="int32"), state, sequence)
    outputs = [graph.tensor(name, shape) for name, shape in kinds]
    graph.add(
        "WHILE",
        [step, h, x],
        outputs,
        options("While", condSubgraphIndex=condition.index, bodySubgraphIndex=body.index),
    )
    return graph.done(outputs[1])


@model
def recurrent():
    yield "lstm_32", lstm(64, 32, 32)
    yield "lstm_128", lstm(64, 128, 128)
    yield "lstm_512", lstm(32, 512, 512)
    yield "lstm_128_batch4", lstm(32, 128, 128, batch=4)
    yield "bilstm_128", bidirectional(64, 128, 128)
    yield "rnn_128", rnn(64, 128, 128)
    yield "gru_unrolled_128", gru_unrolled(16, 128, 128)
    yield "gru_loop_128", gru_loop(64, 128, 128)


def depthwise(size, filters, window, stride, type_name):
    graph = Graph()
    height, width = size
    choice = options(
        "DepthwiseConv2D", strideW=stride, strideH=stride, depthMultiplier=filters, dilationWFactor=1,
        dilationHFactor=1, padding=0, fusedActivationFunction=1,
    )
    out = (1, -(-height // stride), -(-width // stride), filters)
    if type_name == "float32":
        x = graph.argument_of(1, height, width, 1)
        inputs = [x, graph.constant(floats(1, *window, filters)), graph.constant(floats(filters))]
        return graph.done(graph.of("DEPTHWISE_CONV_2D", inputs, out, choice, version=3))
    x = graph.argument_of(1, height, width, 1, type_name="int8", quantization=Quantization.per_tensor(0.05, -3))
    scales = tuple(np.float32(0.002 + 0.001 * RANDOM.random()) for _ in range(filters))
    weights = RANDOM.integers(-127, 128, (1, *window, filters), np.int8)
    bias = Quantization(tuple(np.float32(0.05) * s for s in scales), (0,) * filters)
    inputs = [
        x,
        graph.constant(weights, Quantization(scales, (0,) * filters, 3)),
        graph.constant(RANDOM.integers(-2000, 2000, filters, np.int32), bias),
    ]
    out_quantization = Quantization.per_tensor(0.08, -128)
    return graph.done(
        graph.of("DEPTHWISE_CONV_2D", inputs, out, choice, type_name="int8", quantization=out_quantization, version=3)
    )


@model
def one_channel():
    for type_name in ("float32", "int8"):
        yield f"depthwise_49x40_8_{type_name}", depthwise((49, 40), 8, (10, 8), 2, type_name)
        yield f"depthwise_49x40_64_{type_name}", depthwise((49, 40), 64, (10, 4), 2, type_name)
        yield f"depthwise_96_32_{type_name}", depthwise((96, 96), 32, (3, 3), 1, type_name)
        yield f"depthwise_96_4_{type_name}", depthwise((96, 96), 4, (3, 3), 1, type_name)
        yield f"depthwise_96_2_{type_name}", depthwise((96, 96), 2, (3, 3), 1, type_name)
        yield f"depthwise_96_1_{type_name}", depthwise((96, 96), 1, (3, 3), 1, type_name)


def suppression(version, count, most, overlap, score, sigma=0.5):
    graph = Graph()
    boxes = graph.argument_of(count, 4)
    scores = graph.argument_of(count)
    limits = [graph.constant(np.array(most, np.int32))]
    limits += [graph.constant(np.array(v, np.float32)) for v in (overlap, score)]
    indices, number = graph.tensor("int32", (most,)), graph.tensor("int32")
    outputs = [indices, number]
    if version == 5:
        limits.append(graph.constant(np.array(sigma, np.float32)))
        outputs = [indices, graph.tensor("float32", (most,)), number]
    graph.add(
        f"NON_MAX_SUPPRESSION_V{version}", [boxes, scores, *limits], outputs,
        options(f"NonMaxSuppressionV{version}"),
    )
    return graph.done(*outputs)


@model
def boxes():
    yield "nms4_1000", suppression(4, 1000, 100, 0.5, 0.1)
    yield "nms4_8400", suppression(4, 8400, 300, 0.5, 0.1)
    yield "nms4_8400_all", suppression(4, 8400, 8400, 0.9, 0.1)
    yield "nms5_1000", suppression(5, 1000, 100, 0.5, 0.1)
    yield "nms5_2000", suppression(5, 2000, 300, 0.9, 0.3)


def softmax(rows, depth, type_name):
    graph = Graph()
    choice = options("Softmax", beta=1.0)
    if type_name == "float32":
        x = graph.argument_of(rows, depth)
        return graph.done(graph.of("SOFTMAX", [x], (rows, depth), choice))
    x = graph.argument_of(rows, depth, type_name=type_name, quantization=Quantization.per_tensor(0.06, 3))
    result = Quantization.per_tensor(1 / 256, -128 if type_name == "int8" else 0)
    return graph.done(graph.of("SOFTMAX", [x], (rows, depth), choice, type_name=type_name, quantization=result))


@model
def wide():
    for type_name in ("float32", "int8", "uint8"):
        wide = ((1, 32000), (8, 250000 if type_name == "float32" else 32000))
        for rows, depth in ((1, 10), (1, 1001), *wide, (256, 128), (1536, 128), (1917, 91), (3136, 49)):
            yield f"softmax_{rows}x{depth}_{type_name}", softmax(rows, depth, type_name)


def fully_connected(depth, units, type_name):
    graph = Graph()
    choice = options("FullyConnected")
    if type_name == "float32":
        x = graph.argument_of(1, depth)
        inputs = [x, graph.constant(floats(units, depth)), graph.constant(floats(units))]
        return graph.done(graph.of("FULLY_CONNECTED", inputs, (1, units), choice))
    x = graph.argument_of(1, depth, type_name="int8", quantization=Quantization.per_tensor(0.05, 4))
    weights = graph.constant(RANDOM.integers(-127, 128, (units, depth), np.int8), Quantization.per_tensor(0.002, 0))
    bias = graph.constant(RANDOM.integers(-9000, 9000, units, np.int32), Quantization.per_tensor(0.0001, 0))
    result = Quantization.per_tensor(0.1, -2)
    return graph.done(
        graph.of("FULLY_CONNECTED", [x, weights, bias], (1, units), choice, "int8", quantization=result, version=4)
    )


@model
def rows():
    for type_name in ("float32", "int8"):
        yield f"fc_1280x1001_{type_name}", fully_connected(1280, 1001, type_name)
        yield f"fc_2048x2048_{type_name}", fully_connected(2048, 2048, type_name)
        yield f"fc_4096x4096_{type_name}", fully_connected(4096, 4096, type_name)


def products(batch, rows, depth, columns, transposed):
    graph = Graph()
    lhs = graph.argument_of(batch, rows, depth)
    rhs = graph.argument_of(batch, columns, depth) if transposed else graph.argument_of(batch, depth, columns)
    choice = options("BatchMatMul", adjX=False, adjY=transposed)
    return graph.done(graph.of("BATCH_MATMUL", [lhs, rhs], (batch, rows, columns), choice))


@model
def thin():
    yield "bmm_12_1x64x512_t", products(12, 1, 64, 512, True)
    yield "bmm_12_1x512x64", products(12, 1, 512, 64, False)
    yield "bmm_4_4x64x512_t", products(4, 4, 64, 512, True)
    yield "bmm_4_4x512x64", products(4, 4, 512, 64, False)
    yield "bmm_1_512x4x512", products(1, 512, 4, 512, False)
    yield "bmm_8_196x16x196_t", products(8, 196, 16, 196, True)
    yield "bmm_8_196x196x16", products(8, 196, 196, 16, False)
    yield "bmm_1_1024x1024x1", products(1, 1024, 1024, 1, False)
    yield "bmm_1_1x1024x1024", products(1, 1, 1024, 1024, False)


def layer_norm(shape):
    """As converters write it; then a product, so that models are not of elementwise operators alone."""
    graph = Graph()
    x = graph.argument_of(*shape)
    narrow = (*shape[:-1], 1)
    axis = graph.constant(np.array([len(shape) - 1], np.int32))
    mean = graph.of("MEAN", [x, axis], narrow, options("Reducer", keepDims=True))
    distance = graph.of("SQUARED_DIFFERENCE", [x, mean], shape, options("SquaredDifference"))
    variance = graph.of("MEAN", [distance, axis], narrow, options("Reducer", keepDims=True))
    small = graph.constant(np.array(1e-6, np.float32))
    inverse = graph.of("RSQRT", [graph.of("ADD", [variance, small], narrow, options("Add"))], narrow)
    scale = graph.of("MUL", [inverse, graph.constant(floats(shape[-1], spread=1))], shape, options("Mul"))
    scaled = graph.of("MUL", [x, scale], shape, options("Mul"))
    shift = graph.of("MUL", [mean, scale], shape, options("Mul"))
    rest = graph.of("SUB", [graph.constant(floats(shape[-1])), shift], shape, options("Sub"))
    return graph.done(graph.of("ADD", [scaled, rest], shape, options("Add")))


def instance_norm(height, width, channels):
    graph = Graph()
    shape, narrow = (1, height, width, channels), (1, 1, 1, channels)
    x = graph.argument_of(*shape)
    axes = graph.constant(np.array([1, 2], np.int32))
    mean = graph.of("MEAN", [x, axes], narrow, options("Reducer", keepDims=True))
    distance = graph.of("SQUARED_DIFFERENCE", [x, mean], shape, options("SquaredDifference"))
    variance = graph.of("MEAN", [distance, axes], narrow, options("Reducer", keepDims=True))
    small = graph.constant(np.array(1e-3, np.float32))
    inverse = graph.of("RSQRT", [graph.of("ADD", [variance, small], narrow, options("Add"))], narrow)
    centered = graph.of("SUB", [x, mean], shape, options("Sub"))
    scaled = graph.of("MUL", [centered, inverse], shape, options("Mul"))
    gamma = graph.of("MUL", [scaled, graph.constant(floats(channels, spread=1))], shape, options("Mul"))
    return graph.done(graph.of("ADD", [gamma, graph.constant(floats(channels))], shape, options("Add")))


@model
def norms():
    yield "layer_norm_128x768", layer_norm((1, 128, 768))
    yield "layer_norm_1024x512", layer_norm((1, 1024, 512))
    yield "instance_norm_128_32", instance_norm(128, 128, 32)


def island(height, width, channels):
    """PRELU of floats between bytes: converters leave it so where they do not quantize PRELU."""
    graph = Graph()
    shape = (1, height, width, channels)
    scale = Quantization.per_tensor(0.05, -10)
    x = graph.argument_of(*shape, type_name="int8", quantization=scale)
    real = graph.of("DEQUANTIZE", [x], shape, version=2)
    bent = graph.of("PRELU", [real, graph.constant(floats(1, 1, channels, spread=0.5))], shape)
    return graph.done(graph.of("QUANTIZE", [bent], shape, type_name="int8", quantization=scale))


@model
def islands():
    yield "island_112_32", island(112, 112, 32)


def quantized(type_name, scale=0.0517, zero=-10):
    """None for floats."""
    return None if type_name == "float32" else Quantization.per_tensor(scale, zero if type_name == "int8" else zero + 128)


def gate(height, width, channels, gate_shape, type_name):
    """Bytes times a sigmoid of bytes, plus themselves: attention by channels, by places, or of each element."""
    graph = Graph()
    shape = (1, height, width, channels)
    x = graph.argument_of(*shape, type_name=type_name, quantization=quantized(type_name))
    y = graph.argument_of(*gate_shape, type_name=type_name, quantization=quantized(type_name))
    sigmoid = quantized(type_name, 1 / 256, -128)
    open_ = graph.of("LOGISTIC", [y], gate_shape, type_name=type_name, quantization=sigmoid, version=2)
    choice = options("Mul", fusedActivationFunction=0)
    passed = graph.of("MUL", [x, open_], shape, choice, type_name, quantized(type_name, 0.0431), version=2)
    choice = options("Add", fusedActivationFunction=0)
    return graph.done(graph.of("ADD", [x, passed], shape, choice, type_name, quantized(type_name, 0.0829), version=2))


@model
def gates():
    for type_name in ("int8", "uint8"):
        yield f"gate_channels_{type_name}", gate(28, 28, 96, (1, 1, 1, 96), type_name)
        yield f"gate_places_{type_name}", gate(28, 28, 96, (1, 28, 28, 1), type_name)
        yield f"gate_elements_{type_name}", gate(28, 28, 96, (1, 28, 28, 96), type_name)
        yield f"gate_plane_{type_name}", gate(48, 48, 1, (1, 48, 48, 1), type_name)


def pool(name, side, channels, window, stride, type_name, padding=0):
    graph = Graph()
    choice = options(
        "Pool2D", strideW=stride, strideH=stride, filterWidth=window, filterHeight=window, padding=padding,
        fusedActivationFunction=0,
    )
    out = -(-side // stride) if padding == 0 else (side - window) // stride + 1
    quantization = None if type_name == "float32" else Quantization.per_tensor(0.05, 3)
    x = graph.argument_of(1, side, side, channels, type_name=type_name, quantization=quantization)
    shape = (1, out, out, channels)
    return graph.done(graph.of(name, [x], shape, choice, type_name, quantization, version=2))


@model
def pools():
    """Padding as if there were none is 1, and 0 is that of equal sizes."""
    for name, label in (("MAX_POOL_2D", "maximum"), ("AVERAGE_POOL_2D", "average")):
        for type_name in ("float32", "int8", "uint8"):
            for side, channels, window, stride, padding in (
                (112, 3, 2, 2, 1), (112, 8, 3, 2, 0), (112, 16, 2, 2, 1), (56, 24, 3, 1, 0), (112, 32, 3, 2, 0),
                (56, 48, 2, 2, 1), (56, 64, 3, 2, 0), (28, 192, 3, 1, 0), (14, 512, 2, 2, 1), (7, 1024, 7, 1, 1),
            ):
                key = f"pool_{label}_{side}x{channels}_{window}s{stride}_{type_name}"
                yield key, pool(name, side, channels, window, stride, type_name, padding)


def function(name, choice, type_name="float32"):
    """A function of each of so many numbers as a picture of 112 × 112 × 16 has."""
    graph = Graph()
    shape = (1, 112, 112, 16)
    x = graph.argument_of(*shape)
    return graph.done(graph.of(name, [x], shape, choice, type_name))


@model
def functions():
    for name in ("ABS", "CEIL", "COS", "EXP", "FLOOR", "LOG", "NEG", "ROUND", "RSQRT", "SIGN", "SIN", "SQRT", "SQUARE"):
        yield f"function_{name.lower()}", function(name, None)
    for name in ("ELU", "GELU", "HARD_SWISH", "LOGISTIC", "LOG_SOFTMAX", "TANH"):
        yield f"function_{name.lower()}", function(name, options("Gelu", approximate=False) if name == "GELU" else None)
    for type_name in ("int32", "int8", "uint8", "int64"):
        casting = options("Cast", inDataType=0, outDataType={"int32": 2, "int8": 9, "uint8": 3, "int64": 4}[type_name])
        yield f"cast_float32_{type_name}", function("CAST", casting, type_name)


def multiplied(side, channels, multiplier, window, stride, type_name):
    graph = Graph()
    outputs = channels * multiplier
    choice = options(
        "DepthwiseConv2D", strideW=stride, strideH=stride, depthMultiplier=multiplier, dilationWFactor=1,
        dilationHFactor=1, padding=0, fusedActivationFunction=1,
    )
    shape = (1, -(-side // stride), -(-side // stride), outputs)
    if type_name == "float32":
        x = graph.argument_of(1, side, side, channels)
        inputs = [x, graph.constant(floats(1, window, window, outputs)), graph.constant(floats(outputs))]
        return graph.done(graph.of("DEPTHWISE_CONV_2D", inputs, shape, choice, version=3))
    x = graph.argument_of(1, side, side, channels, type_name="int8", quantization=Quantization.per_tensor(0.05, -3))
    scales = tuple(np.float32(0.002 + 0.001 * RANDOM.random()) for _ in range(outputs))
    weights = RANDOM.integers(-127, 128, (1, window, window, outputs), np.int8)
    bias = Quantization(tuple(np.float32(0.05) * s for s in scales), (0,) * outputs)
    inputs = [
        x,
        graph.constant(weights, Quantization(scales, (0,) * outputs, 3)),
        graph.constant(RANDOM.integers(-2000, 2000, outputs, np.int32), bias),
    ]
    result = Quantization.per_tensor(0.08, -128)
    return graph.done(
        graph.of("DEPTHWISE_CONV_2D", inputs, shape, choice, type_name="int8", quantization=result, version=3)
    )


@model
def multipliers():
    for type_name in ("float32", "int8"):
        for channels, multiplier in ((3, 8), (16, 2), (8, 4), (32, 2), (4, 16)):
            for stride in (1, 2):
                key = f"multiplied_{channels}x{multiplier}_s{stride}_{type_name}"
                yield key, multiplied(56, channels, multiplier, 3, stride, type_name)


def mapped(name, shape, result, choice, type_name, *constants, version=2):
    """An operator of one tensor and of constants: sizes, axes, orders."""
    graph = Graph()
    x = graph.argument_of(*shape, type_name=type_name, quantization=quantized(type_name))
    inputs = [x] + [graph.constant(np.array(constant, np.int32)) for constant in constants]
    return graph.done(graph.of(name, inputs, result, choice, type_name, quantized(type_name), version=version))


TYPES = ("float32", "int8", "uint8")


@model
def broadcasts():
    """Sums and the like with one number for each channel, for each place, and for each row and column."""
    picture, matrix = (1, 56, 56, 64), (1, 128, 256)
    shapes = {
        "elements": (picture, picture), "channels": (picture, (64,)), "places": (picture, (1, 56, 56, 1)),
        "rows": (matrix, (1, 128, 1)), "outer": ((1, 128, 1), (1, 1, 256)),
    }
    for type_name in TYPES:
        for name in ("Add", "Sub", "Mul"):
            for label, (left, right) in shapes.items():
                graph = Graph()
                x = graph.argument_of(*left, type_name=type_name, quantization=quantized(type_name))
                y = graph.argument_of(*right, type_name=type_name, quantization=quantized(type_name, 0.0431, 5))
                result = np.broadcast_shapes(left, right)
                choice = options(name, fusedActivationFunction=0)
                sum_ = graph.of(
                    name.upper(), [x, y], result, choice, type_name, quantized(type_name, 0.0829, 3), version=2
                )
                yield f"{name.lower()}_{label}_{type_name}", graph.done(sum_)


@model
def movements():
    """Axes in another order, and pixels that become channels and back."""
    orders = {
        "to_planes": ((1, 56, 56, 64), (0, 3, 1, 2)), "to_pixels": ((1, 64, 56, 56), (0, 2, 3, 1)),
        "matrix": ((1, 196, 384), (0, 2, 1)), "heads": ((1, 128, 12, 64), (0, 2, 1, 3)),
        "shuffle": ((1, 28, 28, 2, 58), (0, 1, 2, 4, 3)),
    }
    for type_name in TYPES:
        for label, (shape, order) in orders.items():
            result = tuple(shape[axis] for axis in order)
            graph = mapped("TRANSPOSE", shape, result, options("Transpose"), type_name, order)
            yield f"transpose_{label}_{type_name}", graph
        for half in (False, True):
            choice = options("ResizeBilinear", alignCorners=not half, halfPixelCenters=half)
            graph = mapped(
                "RESIZE_BILINEAR", (1, 28, 28, 64), (1, 56, 56, 64), choice, type_name, (56, 56), version=3
            )
            yield f"bilinear_{'half' if half else 'aligned'}_{type_name}", graph
        choice = options("DepthToSpace", blockSize=2)
        graph = mapped("DEPTH_TO_SPACE", (1, 56, 56, 64), (1, 112, 112, 16), choice, type_name)
        yield f"depth_to_space_{type_name}", graph


@model
def reductions():
    """Of channels and of places; and where the greatest channel is."""
    picture = (1, 56, 56, 64)
    for type_name in TYPES:
        for name in ("MEAN", "REDUCE_MAX", "REDUCE_MIN"):
            for label, axes, result in (("channels", (3,), (1, 56, 56, 1)), ("places", (1, 2), (1, 1, 1, 64))):
                graph = mapped(name, picture, result, options("Reducer", keepDims=True), type_name, axes)
                yield f"{name.lower()}_{label}_{type_name}", graph
        graph = Graph()
        x = graph.argument_of(1, 65, 65, 21, type_name=type_name, quantization=quantized(type_name))
        axis = graph.constant(np.array(3, np.int32))
        place = graph.of("ARG_MAX", [x, axis], (1, 65, 65), options("ArgMax", outputType=2), "int32", version=2)
        yield f"arg_max_{type_name}", graph.done(place)


@model
def conversions():
    shape = (1, 56, 56, 64)
    for label, source, target, first, second in (
        ("quantize", "float32", "int8", None, (0.05, -3)), ("dequantize", "int8", "float32", (0.05, -3), None),
        ("rescale", "int8", "int8", (0.05, -3), (0.061, 7)), ("sign", "uint8", "int8", (0.05, 125), (0.05, -3)),
    ):
        graph = Graph()
        x = graph.argument_of(*shape, type_name=source, quantization=first and Quantization.per_tensor(*first))
        name = "DEQUANTIZE" if target == "float32" else "QUANTIZE"
        result = graph.of(name, [x], shape, None, target, second and Quantization.per_tensor(*second), version=2)
        yield f"convert_{label}", graph.done(result)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, graph in MODELS.items():
        (folder / f"{name}.tflite").write_bytes(graph.bytes())


if __name__ == "__main__":
    main()
