# SPDX-License-Identifier: Apache-2.0
"""Shapes at which an operator works longest without a reason to ask for the time: huge windows, one tile, one row, long lines."""

from dataclasses import dataclass

import numpy as np

from limit_model import LimitModel
from random_graphs.model import Quantization, Subgraph, Tensor, options

SHAPES = []
FLOAT, BYTES, WORDS = "float32", "int8", "int16"


@dataclass
class LimitCase:
    name: str
    model: bytes
    inputs: list
    # Integers that the probe draws are below it.
    bound: int = 1
    # Whether a limit of memory below what it takes is tried, too.
    tightens: bool = True


def shape(name, *variants):
    """Registers a function of a model and a variant; it returns the outputs, and perhaps a bound of integers."""

    def register(function):
        for variant in variants:
            SHAPES.append((f"{name} {' '.join(map(str, variant))}", function, variant))
        return function

    return register


def made(entry):
    name, function, variant = entry
    model = LimitModel()
    outputs = function(model, *variant)
    bound = 1
    if isinstance(outputs, tuple):
        outputs, bound = outputs
    return LimitCase(name, model.bytes(outputs), model.inputs, bound)


def weights(m, type_name, shape, is_hybrid=False):
    """A filter, its quantization for each channel where that is usual."""
    if type_name == FLOAT and not is_hybrid:
        return m.constant(np.full(shape, 0.01, np.float32))
    axis = 3 if is_hybrid == "depthwise" else 0
    count = shape[axis]
    scales = Quantization((0.01,) * count, (0,) * count, axis)
    return m.constant(np.resize(np.arange(-127, 128, dtype=np.int8), shape), "int8", scales if count <= 4096 else Quantization.per_tensor(0.01, 0))


def bias(m, type_name, count):
    if type_name == FLOAT:
        return m.constant(np.zeros(count, np.float32))
    kind = np.int64 if type_name == WORDS else np.int32
    return m.constant(np.zeros(count, kind), np.dtype(kind).name, Quantization.per_tensor(0.0005, 0))


CONVOLUTIONS = [
    ("window", (1, 640, 640, 1), (2, 320, 320, 1)),
    ("columns", (1, 512, 512, 32), (512, 1, 1, 32)),
    ("one pixel", (1, 1, 1, 1 << 22), (8, 1, 1, 1 << 22)),
    ("line", (1, 1, 1 << 20, 4), (8, 1, 127, 4)),
    ("batch", (1 << 14, 4, 4, 16), (64, 3, 3, 16)),
    ("picture", (1, 1024, 1024, 8), (32, 3, 3, 8)),
]


@shape("CONV_2D", *[(t, *c, d) for t in (FLOAT, BYTES, WORDS, "hybrid") for c in CONVOLUTIONS for d in (1,)],
       (FLOAT, *CONVOLUTIONS[5], 7), (BYTES, *CONVOLUTIONS[5], 7))
def convolution(m, type_name, kind, image, filter_shape, dilation):
    t = FLOAT if type_name == "hybrid" else type_name
    x = m.input(t, image)
    opts = options("Conv2D", padding=0, strideH=1, strideW=1, dilationHFactor=dilation, dilationWFactor=dilation)
    return m.add("CONV_2D", [x, weights(m, type_name if type_name == "hybrid" else t, filter_shape, type_name == "hybrid"),
                             bias(m, t, filter_shape[0])], t, opts, 5 if type_name == "hybrid" else 3)


@shape("CONV_2D", *[(t, image, f) for t in (FLOAT, BYTES) for image, f in (((1, 512, 512, 16), (128, 3, 3, 16)), ((1, 1, 1, 1 << 22), (8, 1, 1, 1 << 22)))])
def convolution_of_an_input(m, t, image, filter_shape):
    """A filter that is an input, which each run packs."""
    x, f = m.input(t, image), m.input(t, filter_shape)
    return m.add("CONV_2D", [x, f, bias(m, t, filter_shape[0])], t, options("Conv2D", padding=0, strideH=1, strideW=1,
                                                                          dilationHFactor=1, dilationWFactor=1), 3)


DEPTHWISE = [
    ("window", (1, 1024, 1024, 1), (255, 255), 1), ("window of channels", (1, 256, 256, 32), (127, 127), 1),
    ("line", (1, 1, 1 << 22, 1), (1, 511), 1), ("column", (1, 1 << 22, 1, 1), (511, 1), 1),
    ("channels", (1, 3, 3, 1 << 20), (3, 3), 1), ("multiplied", (1, 256, 256, 1), (31, 31), 128), ("picture", (1, 1024, 1024, 32), (3, 3), 1),
]


@shape("DEPTHWISE_CONV_2D", *[(t, *c) for t in (FLOAT, BYTES, WORDS, "hybrid") for c in DEPTHWISE])
def depthwise(m, type_name, kind, image, taps, multiplier):
    t = FLOAT if type_name == "hybrid" else type_name
    x = m.input(t, image)
    count = image[3] * multiplier
    opts = options("DepthwiseConv2D", padding=0, strideH=1, strideW=1, depthMultiplier=multiplier, dilationHFactor=1, dilationWFactor=1)
    return m.add("DEPTHWISE_CONV_2D", [x, weights(m, "hybrid" if type_name == "hybrid" else t, (1, *taps, count), "depthwise" if t != FLOAT or
                                                  type_name == "hybrid" else False), bias(m, t, count)], t, opts, 6 if type_name == "hybrid" else 3)


@shape("TRANSPOSE_CONV", *[(t, *c) for t in (FLOAT, BYTES, WORDS) for c in (
    ((1, 128, 128, 4), (4, 128, 128, 4), 1), ((1, 512, 512, 8), (16, 5, 5, 8), 2), ((1, 1, 1, 1 << 13), (64, 7, 7, 1 << 13), 1))])
def transposed(m, t, image, filter_shape, stride):
    x = m.input(t, image)
    sizes = [image[1] * stride, image[2] * stride]
    opts = options("TransposeConv", padding=0, strideH=stride, strideW=stride)
    return m.add("TRANSPOSE_CONV", [m.integers(image[0], *sizes, filter_shape[0]), weights(m, t, filter_shape), x, bias(m, t, filter_shape[0])], t,
                 opts, 3)


@shape("CONV_3D", ((1, 64, 64, 64, 8), (5, 5, 5, 8, 16)), ((1, 96, 96, 96, 1), (48, 48, 48, 1, 1)))
def volume(m, image, filter_shape):
    x = m.input(FLOAT, image)
    return m.add("CONV_3D", [x, weights(m, FLOAT, filter_shape), bias(m, FLOAT, filter_shape[4])], FLOAT, options(
        "Conv3D", padding=0, strideD=1, strideH=1, strideW=1, dilationDFactor=1, dilationHFactor=1, dilationWFactor=1), 1)


@shape("FULLY_CONNECTED", *[(t, *c) for t in (FLOAT, BYTES, WORDS, "hybrid", "input") for c in (
    (1, 8, 1 << 23), (4096, 4096, 1024), (1 << 20, 64, 32), (1, 1 << 20, 64), (64, 1 << 16, 256))])
def layer(m, type_name, rows, units, depth):
    t = FLOAT if type_name in ("hybrid", "input") else type_name
    x = m.input(t, (rows, depth))
    f = m.input(t, (units, depth)) if type_name == "input" else m.constant(
        np.ones((units, depth), np.int8), "int8", Quantization.per_tensor(0.01, 0)) if type_name != FLOAT else weights(m, t, (units, depth))
    return m.add("FULLY_CONNECTED", [x, f, bias(m, t, units)], t, options("FullyConnected", asymmetricQuantizeInputs=type_name == "hybrid"),
                 9 if type_name == "hybrid" else 5 if t != FLOAT else 1)


@shape("BATCH_MATMUL", *[(t, *c) for t in (FLOAT, BYTES, WORDS) for c in (
    ((1, 2048, 2048), (1, 2048, 2048)), ((1 << 16, 8, 8), (1 << 16, 8, 64)), ((1, 8, 1 << 22), (1, 1 << 22, 2)), ((1, 1 << 20, 4), (1, 4, 32)))])
def product(m, t, first, second):
    return m.add("BATCH_MATMUL", [m.input(t, first), m.input(t, second)], t, options("BatchMatMul"), 4 if t != FLOAT else 1)


POOLS = [
    ((1, 1024, 1024, 1), (512, 512)), ((1, 256, 256, 64), (128, 128)), ((1, 1, 1 << 22, 1), (1, 1 << 20)), ((1, 1 << 22, 1, 1), (1 << 20, 1)),
    ((1, 4, 4, 1 << 20), (4, 4)), ((64, 128, 128, 16), (3, 3)),
]


@shape("pool", *[(name, t, *c) for name in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D") for t in (FLOAT, BYTES, WORDS) for c in POOLS
                 if t == FLOAT or name != "L2_POOL_2D"])
def pool(m, name, t, image, window):
    x = m.input(t, image)
    opts = options("Pool2D", padding=0, strideH=1, strideW=1, filterHeight=window[0], filterWidth=window[1])
    return m.add(name, [x], t, opts)


@shape("LOCAL_RESPONSE_NORMALIZATION", (1, 1 << 20, 1 << 10), (1 << 10, 1 << 12, 1 << 11))
def responses(m, rows, channels, radius):
    x = m.input(FLOAT, (1, 1, rows, channels))
    return m.add("LOCAL_RESPONSE_NORMALIZATION", [x], FLOAT, options("LocalResponseNormalization", radius=radius, bias=1.0, alpha=1.0, beta=0.5), 1)


@shape("rows", *[(name, t, rows, columns) for name in ("SOFTMAX", "LOG_SOFTMAX", "L2_NORMALIZATION") for t in (FLOAT, BYTES)
                 for rows, columns in ((1, 1 << 26), (1 << 13, 1 << 13), (1 << 25, 2))])
def rows(m, name, t, rows, columns):
    x = m.input(t, (rows, columns))
    opts = {"SOFTMAX": options("Softmax", beta=1.0), "L2_NORMALIZATION": options("L2Norm")}.get(name)
    special = {"SOFTMAX": Quantization.per_tensor(1 / 256, -128), "LOG_SOFTMAX": Quantization.per_tensor(16 / 256, 127),
               "L2_NORMALIZATION": Quantization.per_tensor(1 / 128, 0)}[name]
    return m.add(name, [x], t, opts, quantization=special if t != FLOAT else None)


REDUCTIONS = (((1 << 26,), (0,)), ((1 << 13, 1 << 13), (0,)), ((1 << 13, 1 << 13), (1,)), ((2, 1 << 12, 2, 1 << 12), (0, 2)), ((1 << 25, 2), (0,)))


@shape("reduction", *[(name, t, *c) for name in ("SUM", "MEAN", "REDUCE_MAX", "REDUCE_PROD", "REDUCE_ALL") for t in (FLOAT, BYTES, "int64")
                      for c in REDUCTIONS if (name == "REDUCE_ALL") == (t == "int64") or name in ("SUM",)])
def reduction(m, name, t, image, axes):
    t = "bool" if name == "REDUCE_ALL" else t
    x = m.input(t, image)
    return m.add(name, [x, m.integers(*axes)], t, options("Reducer"))


@shape("order", *[(name, t, *c) for name in ("CUMSUM", "ARG_MAX", "REVERSE_V2", "UNIQUE", "WHERE") for t in (FLOAT, "int32")
                  for c in (((1 << 26,), 0), ((1 << 13, 1 << 13), 0), ((1 << 13, 1 << 13), 1), ((1 << 25, 2), 0))])
def order(m, name, t, image, axis):
    x = m.input(t, image if name != "UNIQUE" else (int(np.prod(image)),))
    if name == "UNIQUE":
        return m.add_all(name, [x], [t, "int32"], options("Unique", idxOutType=2))[0], 1 << 30
    if name == "WHERE":
        return m.add(name, [x], "int64", options("Where"), 1), 2
    if name == "ARG_MAX":
        return m.add(name, [x, m.integers(axis)], "int32", options("ArgMax", outputType=2))
    opts = options("Cumsum") if name == "CUMSUM" else options("ReverseV2")
    return m.add(name, [x, m.constant(np.int32(axis)) if name == "CUMSUM" else m.integers(axis)], t, opts)


@shape("TOPK_V2", *[(t, *c) for t in (FLOAT, BYTES, "int32") for c in ((1, 1 << 25, 1 << 24), (1, 1 << 25, 4), (1 << 12, 1 << 12, 1 << 11), (1 << 24, 2, 1))])
def best(m, t, rows, columns, count):
    x = m.input(t, (rows, columns))
    return m.add_all("TOPK_V2", [x, m.constant(np.int32(count))], [t, "int32"], options("TopKV2"))[0], 1 << 30


@shape("suppression", *[(name, *c) for name in ("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5") for c in ((1 << 16, 1 << 16, 1.0), (1 << 20, 1 << 18, 0.99), (1 << 22, 10, 0.5))])
def suppression(m, name, boxes, most, overlap):
    inputs = [m.input(FLOAT, (boxes, 4)), m.input(FLOAT, (boxes,)), m.constant(np.int32(most)), m.constant(np.float32(overlap)),
              m.constant(np.float32(-9))]
    if name.endswith("V5"):
        return m.add_all(name, [*inputs, m.constant(np.float32(0.1))], ["int32", FLOAT, "int32"], options("NonMaxSuppressionV5"), 1)[0]
    return m.add_all(name, inputs, ["int32", "int32"], options("NonMaxSuppressionV4"), 1)[0]


@shape("movement", *[(t, *c) for t in (FLOAT, BYTES, "int64") for c in (
    ((1 << 13, 1 << 13), (1, 0)), ((1 << 25, 2), (1, 0)), ((2, 1 << 25), (1, 0)), ((2,) * 6 + (1 << 20,), None)[:2] if False else ((8, 8, 8, 8, 8, 1 << 11), (5, 4, 3, 2, 1, 0)),
    ((1 << 8, 1 << 8, 1 << 10), (2, 1, 0)))])
def transposition(m, t, image, axes):
    if t == "int64":
        image = (*image[:-1], image[-1] >> 1)
    return m.add("TRANSPOSE", [m.input(t, image), m.integers(*axes)], t, options("Transpose"))


@shape("gathers", *[(name, t, *c) for name in ("GATHER", "GATHER_ND", "EMBEDDING_LOOKUP", "SCATTER_ND", "ONE_HOT") for t in (FLOAT,)
                    for c in ((1 << 20, 32, 1 << 20), (1 << 25, 1, 1 << 25), (1 << 10, 1, 1 << 26))])
def gathers(m, name, t, rows, width, count):
    places = m.input("int32", (count, 1) if name in ("GATHER_ND", "SCATTER_ND") else (count,))
    if name == "SCATTER_ND":
        return m.add(name, [places, m.input(t, (count, width)), m.integers(rows, width)], t, options("ScatterNd")), rows
    if name == "ONE_HOT":
        return m.add(name, [places, m.constant(np.int32(max((1 << 26) // count, 1))), m.constant(np.float32(1)), m.constant(np.float32(0))], t,
                     options("OneHot", axis=-1)), 8
    table = m.input(t, (rows, width))
    if name == "EMBEDDING_LOOKUP":
        return m.add(name, [places, table], t, None), rows
    return m.add(name, [table, places], t, options("Gather" if name == "GATHER" else "GatherNd")), rows


@shape("elementwise", *[(name, t, *c) for name in ("ADD", "MUL", "POW", "ATAN2", "DIV", "MAXIMUM", "LESS", "SELECT_V2", "FLOOR_MOD")
                        for t in (FLOAT, BYTES, "int32") for c in (((1 << 26,), (1 << 26,)), ((1 << 13, 1), (1, 1 << 13)), ((64, 1, 64, 1, 64), (1, 64, 1, 64, 1)[:5]))
                        if t != BYTES or name in ("ADD", "MUL", "MAXIMUM", "LESS")
                        if t == FLOAT or name not in ("ATAN2",)])
def elementwise(m, name, t, first, second):
    x, y = m.input(t, first), m.input(t, second)
    if name == "SELECT_V2":
        return m.add(name, [m.input("bool", first), x, y], t, options("SelectV2"))
    opts = {"ADD": options("Add"), "MUL": options("Mul"), "DIV": options("Div"), "POW": options("Pow")}.get(name)
    return m.add(name, [x, y], "bool" if name == "LESS" else t, opts), 5


@shape("functions", *[(name, t) for name in ("EXP", "LOG", "SIN", "COS", "TANH", "LOGISTIC", "GELU", "ELU", "RSQRT", "HARD_SWISH", "LEAKY_RELU", "ROUND", "SQRT")
                      for t in (FLOAT, BYTES, WORDS) if t == FLOAT or name in ("TANH", "LOGISTIC", "HARD_SWISH", "LEAKY_RELU", "GELU", "EXP")
                      if t != WORDS or name in ("TANH", "LOGISTIC", "EXP")])
def functions(m, name, t):
    opts = {"GELU": options("Gelu"), "LEAKY_RELU": options("LeakyRelu", alpha=0.1)}.get(name)
    return m.add(name, [m.input(t, (1 << 26,))], t, opts, quantization=Quantization.per_tensor(1 / 32768 if t == WORDS else 1 / 128, 0) if t != FLOAT else None)


@shape("converting", *[(name, a, b) for name, a, b in (
    ("CAST", FLOAT, "int32"), ("CAST", FLOAT, "float16"), ("CAST", "int64", FLOAT), ("QUANTIZE", FLOAT, BYTES), ("QUANTIZE", FLOAT, WORDS), ("QUANTIZE", BYTES, BYTES),
    ("DEQUANTIZE", BYTES, FLOAT), ("DEQUANTIZE", "float16", FLOAT))])
def converting(m, name, a, b):
    return m.add(name, [m.input(a, (1 << 26,))], b, None, quantization=Quantization.per_tensor(0.03, 1) if b in (BYTES,) else None)


@shape("making", *[(name, *c) for name, *c in (
    ("BROADCAST_TO", (1, 1), (1 << 13, 1 << 13)), ("BROADCAST_TO", (1 << 13, 1), (1 << 13, 1 << 13)), ("TILE", (1, 2), (1 << 25, 1)), ("TILE", (1 << 10, 1), (1, 1 << 16)),
    ("FILL", (), (1 << 27,)), ("RANGE", (), (1 << 27,)), ("RANDOM_UNIFORM", (), (1 << 27,)), ("RANDOM_STANDARD_NORMAL", (), (1 << 27,)))])
def making(m, name, image, sizes):
    shape_input = m.input("int32", (len(sizes),), np.array(sizes, np.int32))
    if name == "FILL":
        return m.add(name, [shape_input, m.constant(np.float32(1))], FLOAT)
    if name == "RANGE":
        last = m.input("int32", (), np.array(sizes[0], np.int32))
        m.subgraph.inputs.pop(0)
        m.inputs.pop(0)
        return m.add(name, [m.constant(np.int32(0)), last, m.constant(np.int32(1))], "int32")
    if name.startswith("RANDOM"):
        return m.add(name, [shape_input], FLOAT, options("Random", seed=1, seed2=2), 1)
    return m.add(name, [m.input(FLOAT, image), shape_input], FLOAT)


@shape("resizing", *[(name, t, *c) for name in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR") for t in (FLOAT, BYTES)
                     for c in (((1, 4, 4, 1), (8192, 8192)), ((1, 1024, 1024, 16), (2048, 2048)), ((1, 8192, 8192, 1), (8191, 8191)), ((1, 1, 1, 1 << 20), (8, 8)))])
def resizing(m, name, t, image, sizes):
    return m.add(name, [m.input(t, image), m.integers(*sizes)], t, options("ResizeBilinear" if "BI" in name else "ResizeNearestNeighbor", halfPixelCenters=True))


@shape("padding", *[(name, t, *c) for name in ("PAD", "MIRROR_PAD", "SPACE_TO_BATCH_ND", "DEPTH_TO_SPACE", "SPACE_TO_DEPTH", "STRIDED_SLICE", "CONCATENATION", "SPLIT") for t in (FLOAT, BYTES)
                    for c in (((1 << 13, 1 << 13),), ((1 << 25, 2),), ((4, 1 << 24),))])
def padding(m, name, t, image):
    x = m.input(t, image if name in ("PAD", "MIRROR_PAD", "STRIDED_SLICE", "CONCATENATION", "SPLIT") else (1, image[0], image[1], 4 if name == "DEPTH_TO_SPACE" else 1))
    if name in ("PAD", "MIRROR_PAD"):
        return m.add(name, [x, m.constant(np.array([[1, 1], [1, 1]], np.int32))], t, options("Pad") if name == "PAD" else options("MirrorPad", mode=1))
    if name == "SPACE_TO_BATCH_ND":
        return m.add(name, [x, m.integers(2, 2), m.constant(np.zeros((2, 2), np.int32))], t)
    if name in ("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"):
        return m.add(name, [x], t, options("DepthToSpace" if name[0] == "D" else "SpaceToDepth", blockSize=2))
    if name == "STRIDED_SLICE":
        return m.add(name, [x, m.integers(-1, -1), m.integers(0, 0), m.integers(-1, -1)], t, options("StridedSlice", endMask=3))
    if name == "CONCATENATION":
        return m.add(name, [x, x, x], t, options("Concatenation", axis=1))
    return m.add_all(name, [m.constant(np.int32(1)), x], [t, t], options("Split", numSplits=2))[0]


@shape("LSTM", *[(t, *c) for t in ("float", "hybrid") for c in ((1, 1 << 18, 8, 8), (1, 64, 2048, 2048), (4096, 16, 64, 64), (1 << 16, 4, 16, 16), (1, 4, 1 << 19, 32))])
def sequence(m, kind, batch, steps, depth, units):
    x = m.input(FLOAT, (batch, steps, depth))

    def matrix(rows, columns):
        if kind == "float":
            return m.constant(np.full((rows, columns), 0.01, np.float32))
        return m.constant(np.ones((rows, columns), np.int8), "int8", Quantization.per_tensor(0.01, 0))

    inputs = [x, *[matrix(units, depth) for _ in range(4)], *[matrix(units, units) for _ in range(4)], None, None, None,
              *[m.constant(np.zeros(units, np.float32)) for _ in range(4)], None, None,
              Tensor(FLOAT, (batch, units), is_variable=True), Tensor(FLOAT, (batch, units), is_variable=True)]
    return m.add("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, FLOAT, options("UnidirectionalSequenceLSTM", fusedActivationFunction=4), 1)


@shape("RNN", *[(t, *c) for t in ("float", "hybrid") for c in ((1, 1 << 20, 8, 8), (1, 64, 4096, 4096), (4096, 64, 64, 64))])
def simple(m, kind, batch, steps, depth, units):
    x = m.input(FLOAT, (batch, steps, depth))
    make = (lambda *s: m.constant(np.full(s, 0.01, np.float32))) if kind == "float" else (
        lambda *s: m.constant(np.ones(s, np.int8), "int8", Quantization.per_tensor(0.01, 0)))
    inputs = [x, make(units, depth), make(units, units), m.constant(np.zeros(units, np.float32)), Tensor(FLOAT, (batch, units), is_variable=True)]
    return m.add("UNIDIRECTIONAL_SEQUENCE_RNN", inputs, FLOAT, options("SequenceRNN", fusedActivationFunction=4), 1)


@shape("SVDF", *[(t, *c) for t in ("float", "hybrid") for c in ((1, 1 << 20, 64, 2), (1 << 12, 256, 256, 64), (1, 64, 1 << 14, 512))])
def svdf(m, kind, batch, depth, units, memory):
    x = m.input(FLOAT, (batch, depth))
    make = (lambda *s: m.constant(np.full(s, 0.01, np.float32))) if kind == "float" else (
        lambda *s: m.constant(np.ones(s, np.int8), "int8", Quantization.per_tensor(0.01, 0)))
    inputs = [x, make(units, depth), m.constant(np.full((units, memory), 0.1, np.float32)) if kind == "float" else make(units, memory), None,
              Tensor(FLOAT, (batch, units * memory), is_variable=True)]
    return m.add("SVDF", inputs, FLOAT, options("SVDF", rank=1), 1 if kind == "float" else 2)


@shape("WHILE", ("counter", 1 << 30, 1), ("adds", 1 << 30, 1 << 22), ("adds", 1 << 30, 1 << 25), ("grows", 1 << 30, 1 << 10))
def loop(m, kind, times, size):
    counter, x = m.input("int32", (), np.array(0, np.int32)), m.input(FLOAT, (size,))
    test, body = Subgraph(), Subgraph()
    for subgraph in (test, body):
        subgraph.inputs = [Tensor("int32", ()), Tensor(FLOAT, (size,))]
    inner = LimitModel()
    inner.subgraph = test
    test.outputs = [inner.add("LESS", [test.inputs[0], m.constant(np.int32(times))], "bool", None, 1)]
    inner.subgraph = body
    value = body.inputs[1]
    if kind == "adds":
        value = inner.add("EXP", [inner.add("ADD", [value, value], FLOAT, options("Add"), 1)], FLOAT, None, 1)
    elif kind == "grows":
        value = inner.add("CONCATENATION", [value, value], FLOAT, options("Concatenation", axis=0), 1)
    body.outputs = [inner.add("ADD", [body.inputs[0], m.constant(np.int32(1))], "int32", options("Add"), 1), value]
    return m.add_all("WHILE", [counter, x], ["int32", FLOAT],
                     lambda indices: options("While", condSubgraphIndex=indices[0], bodySubgraphIndex=indices[1]), 1,
                     subgraphs=[test, body])[1]


@shape("segments", *[(name, *c) for name in ("SEGMENT_SUM", "UNSORTED_SEGMENT_SUM", "UNSORTED_SEGMENT_MAX") for c in ((1 << 24, 1), (1 << 6, 1 << 18), (1 << 22, 8))])
def segments(m, name, rows, length):
    x = m.input(FLOAT, (rows, length))
    if name == "SEGMENT_SUM":
        return m.add(name, [x, m.constant(np.arange(rows, dtype=np.int32))], FLOAT, None, 1)
    return m.add(name, [x, m.input("int32", (rows,)), m.constant(np.int32(min(rows, (1 << 24) // length)))], FLOAT, None, 1), 2


@shape("filled", *[(name,) for name in ("MATRIX_DIAG", "MATRIX_SET_DIAG", "SPARSE_TO_DENSE", "DYNAMIC_UPDATE_SLICE")])
def filled(m, name):
    """What is filled or copied as a whole before a few elements are replaced."""
    if name == "MATRIX_DIAG":
        return m.add(name, [m.input(FLOAT, (8, 4096))], FLOAT, None, 1)
    if name == "MATRIX_SET_DIAG":
        return m.add(name, [m.input(FLOAT, (6, 4096, 4096)), m.input(FLOAT, (6, 4096))], FLOAT, None, 1)
    if name == "SPARSE_TO_DENSE":
        places = m.input("int32", (4, 1))
        return m.add(name, [places, m.integers(1 << 27), m.input(FLOAT, (4,)), m.constant(np.float32(0))], FLOAT, None, 1), 1
    return m.add(name, [m.input(FLOAT, (1 << 14, 1 << 12)), m.input(FLOAT, (1, 1)), m.input("int32", (2,))], FLOAT, None, 1)


@shape("RFFT2D", (1, 4096, 4096), (1 << 12, 1, 4096), (1 << 12, 4096, 1), (1, 1 << 22, 2))
def transform(m, batch, height, width):
    x = m.input(FLOAT, (batch, height, width))
    return m.add("RFFT2D", [x, m.integers(height, width)], "complex64", None)


@shape("folded", *[(name, size) for name in ("EXP", "POW", "CUMSUM", "SOFTMAX", "TRANSPOSE", "TILE", "CONV_2D", "BATCH_MATMUL") for size in (1 << 22, 1 << 24)])
def folded(m, name, size):
    """Of constants, so that preparation computes it."""
    side = 1 << (size.bit_length() // 2)
    x = m.constant(np.full((side, side), 0.5, np.float32))
    if name == "TILE":
        y = m.add(name, [x, m.integers(4, 2)], FLOAT)
    elif name == "TRANSPOSE":
        y = m.add(name, [x, m.integers(1, 0)], FLOAT, options("Transpose"))
    elif name == "CONV_2D":
        z = m.add("RESHAPE", [x, m.integers(1, side, side, 1)], FLOAT, None, 1)
        y = m.add(name, [z, weights(m, FLOAT, (4, 63, 63, 1)), bias(m, FLOAT, 4)], FLOAT, options("Conv2D", padding=0, strideH=1, strideW=1, dilationHFactor=1, dilationWFactor=1), 1)
    elif name == "BATCH_MATMUL":
        y = m.add(name, [x, x], FLOAT, options("BatchMatMul"), 1)
    elif name == "CUMSUM":
        y = m.add(name, [x, m.constant(np.int32(0))], FLOAT, options("Cumsum"))
    else:
        y = m.add(name, [x, x] if name == "POW" else [x], FLOAT, options("Softmax", beta=1.0) if name == "SOFTMAX" else options("Pow") if name == "POW" else None)
    z = m.input(FLOAT, (1,))
    return m.add("ADD", [m.add("SUM", [y, m.integers(0)], FLOAT, options("Reducer"), 1), z], FLOAT, options("Add"), 1)
