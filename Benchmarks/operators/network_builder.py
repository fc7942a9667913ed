# SPDX-License-Identifier: Apache-2.0
"""Builds networks of random weights for `networks.py`.

Activations are the schema's numbers: 0 is none, 1 RELU, 3 RELU6. Padding of equal sizes is 0, and none is 1.
"""

import numpy as np

from models import RANDOM, Graph, Quantization, floats, options

NETWORKS = []


def network(*types):
    """Adds a network of these types; its function takes a builder, and returns a tensor or several."""

    def add(function):
        NETWORKS.extend((function, type_name) for type_name in types + ("hybrid",) * ("float32" in types))
        return function

    return add


class Network:
    """Builds a network of one type, layer by layer: a layer takes tensors and returns one. Scales are as they may be, not fitted."""

    def __init__(self, type_name):
        """Of tensors of a type, or "hybrid": those are floats, and weights int8."""
        self.graph = Graph()
        self.is_hybrid = type_name == "hybrid"
        self.type_name = "float32" if self.is_hybrid else type_name
        self.shapes = {}
        self.quantizations = {}
        self.count = 0

    def quantization(self, zero=None, scale=None):
        """A new one, relative to int8; None for floats. Those of int8 are alike: the reference joins no others."""
        if self.type_name == "float32":
            return None
        self.count += 1
        step = 0 if self.type_name == "int8" else self.count
        scale = scale or 0.04 + 0.001 * (step % 7)
        zero = -7 + step % 5 if zero is None else zero
        return Quantization.per_tensor(scale, zero + (128 if self.type_name == "uint8" else 0))

    def known(self, tensor, shape, quantization):
        self.shapes[tensor] = tuple(shape)
        self.quantizations[tensor] = quantization
        return tensor

    def constant(self, *shape):
        """Small random numbers."""
        return self.held(floats(*shape, spread=1))

    def number(self, value):
        return self.held(np.array(value, np.float32))

    def held(self, values):
        """A constant of the network's type; of bytes, the greatest magnitude is 127 steps."""
        if self.type_name == "float32":
            return self.known(self.graph.constant(values), values.shape, None)
        quantization = self.quantization(0, np.float32(np.abs(values).max() / 127))
        bytes_ = np.clip(np.round(values / quantization.scale) + quantization.zero_point, *((0, 255) if self.type_name == "uint8" else (-128, 127)))
        return self.known(
            self.graph.constant(bytes_.astype(self.type_name), quantization), values.shape, quantization
        )

    def input(self, *shape):
        quantization = self.quantization()
        return self.known(
            self.graph.argument_of(*shape, type_name=self.type_name, quantization=quantization), shape, quantization
        )

    def operator(self, name, ins, shape, choice=None, quantization="new", version=2):
        if quantization == "new":
            quantization = self.quantization()
        return self.known(
            self.graph.of(name, ins, shape, choice, self.type_name, quantization, version=version),
            tuple(shape),
            quantization,
        )

    def weights(self, shape, axis, x, outputs):
        """Weights and biases of so many outputs, which lie along an axis."""
        graph = self.graph
        terms = int(np.prod(shape[:3])) if axis == 3 else int(np.prod(shape)) // outputs
        spread = 1.7 / np.sqrt(terms)
        if self.is_hybrid:
            # Matrices have one scale for all, as converters write them.
            count = 1 if len(shape) == 2 else outputs
            scales = tuple(np.float32(spread / 127 * (0.6 + 0.8 * RANDOM.random())) for _ in range(count))
            values = RANDOM.integers(-127, 128, shape, np.int8)
            return [graph.constant(values, Quantization(scales, (0,) * count, axis)), graph.constant(floats(outputs))]
        if self.type_name == "float32":
            return [graph.constant(floats(*shape, spread=spread)), graph.constant(floats(outputs))]
        scale = np.float32(self.quantizations[x].scale)
        biases = RANDOM.integers(-1000, 1000, outputs, np.int32)
        if self.type_name == "int8":
            scales = tuple(np.float32(spread / 127 * (0.6 + 0.8 * RANDOM.random())) for _ in range(outputs))
            zeros = (0,) * outputs
            values = RANDOM.integers(-127, 128, shape, np.int8)
            return [
                graph.constant(values, Quantization(scales, zeros, axis)),
                graph.constant(biases, Quantization(tuple(scale * own for own in scales), zeros)),
            ]
        values = np.clip(RANDOM.normal(127, 40, shape), 0, 255).astype(np.uint8)
        return [
            graph.constant(values, Quantization.per_tensor(spread / 80, 127)),
            graph.constant(biases, Quantization.per_tensor(scale * spread / 80, 0)),
        ]

    def convolution(self, x, outs, k=1, stride=1, activation=1, pad=0, dilation=1, groups=1):
        b, h, w, c = self.shapes[x]
        kk = k if isinstance(k, tuple) else (k, k)
        o = (
            (b, -(-h // stride), -(-w // stride), outs)
            if pad == 0
            else (b, (h - kk[0]) // stride + 1, (w - kk[1]) // stride + 1, outs)
        )
        return self.operator(
            "CONV_2D",
            [x] + self.weights((outs, *kk, c // groups), 0, x, outs),
            o,
            options(
                "Conv2D",
                strideW=stride,
                strideH=stride,
                dilationWFactor=dilation,
                dilationHFactor=dilation,
                padding=pad,
                fusedActivationFunction=activation,
            ),
            version=3,
        )

    def depthwise(self, x, k=3, stride=1, activation=1, dilation=1):
        b, h, w, c = self.shapes[x]
        kk = k if isinstance(k, tuple) else (k, k)
        return self.operator(
            "DEPTHWISE_CONV_2D",
            [x] + self.weights((1, *kk, c), 3, x, c),
            (b, -(-h // stride), -(-w // stride), c),
            options(
                "DepthwiseConv2D",
                strideW=stride,
                strideH=stride,
                depthMultiplier=1,
                dilationWFactor=dilation,
                dilationHFactor=dilation,
                padding=0,
                fusedActivationFunction=activation,
            ),
            version=3,
        )

    def transposed(self, x, outs, k, stride):
        b, h, w, c = self.shapes[x]
        o = (b, h * stride, w * stride, outs)
        ws = self.weights((outs, k, k, c), 0, x, outs)
        return self.operator(
            "TRANSPOSE_CONV",
            [self.graph.constant(np.array(o, np.int32)), ws[0], x] + ws[1:],
            o,
            options("TransposeConv", strideW=stride, strideH=stride, padding=0, fusedActivationFunction=0),
            version=3,
        )

    def dense(self, x, outs, activation=0, keep=False):
        sh = self.shapes[x]
        o = (*sh[:-1], outs) if keep else (int(np.prod(sh[:-1])), outs)
        return self.operator(
            "FULLY_CONNECTED",
            [x] + self.weights((outs, sh[-1]), 0, x, outs),
            o,
            options(
                "FullyConnected",
                fusedActivationFunction=activation,
                keepNumDims=keep,
                asymmetricQuantizeInputs=self.is_hybrid,
            ),
            version=9 if self.is_hybrid else 5,
        )

    def binary(self, name, a, b, activation=0):
        o = np.broadcast_shapes(self.shapes[a], self.shapes[b])
        return self.operator(name.upper(), [a, b], o, options(name, fusedActivationFunction=activation))

    def add(self, a, b, activation=0):
        return self.binary("Add", a, b, activation)

    def mul(self, a, b):
        return self.binary("Mul", a, b)

    def unary(self, name, x, choice=None, quantization="new", version=2):
        return self.operator(name, [x], self.shapes[x], choice, quantization, version)

    def sigmoid(self, x):
        return self.unary("LOGISTIC", x, quantization=self.quantization(-128, 1 / 256))

    def silu(self, x):
        return self.mul(x, self.sigmoid(x))

    def leaky(self, x):
        return self.unary("LEAKY_RELU", x, options("LeakyRelu", alpha=0.1))

    def hard_swish(self, x):
        return self.unary("HARD_SWISH", x, options("HardSwish"), version=1)

    def joined(self, xs, axis=3):
        sh = list(self.shapes[xs[0]])
        sh[axis] = sum((self.shapes[x][axis] for x in xs))
        return self.operator(
            "CONCATENATION", xs, tuple(sh), options("Concatenation", axis=axis, fusedActivationFunction=0)
        )

    def pool(self, x, k, stride, name="MAX_POOL_2D", pad=0):
        b, h, w, c = self.shapes[x]
        o = (
            (b, -(-h // stride), -(-w // stride), c)
            if pad == 0
            else (b, (h - k) // stride + 1, (w - k) // stride + 1, c)
        )
        return self.operator(
            name,
            [x],
            o,
            options(
                "Pool2D",
                strideW=stride,
                strideH=stride,
                filterWidth=k,
                filterHeight=k,
                padding=pad,
                fusedActivationFunction=0,
            ),
            quantization=self.quantizations[x],
        )

    def integers(self, v):
        return self.graph.constant(np.array(v, np.int32))

    def mean(self, x, axes=(1, 2), keep=True):
        sh = self.shapes[x]
        o = (
            tuple(1 if i in axes else v for i, v in enumerate(sh))
            if keep
            else tuple(v for i, v in enumerate(sh) if i not in axes)
        )
        return self.operator("MEAN", [x, self.integers(axes)], o, options("Reducer", keepDims=keep))

    def extreme(self, x, axes):
        """The greatest along some axes, which are kept."""
        shape = tuple(1 if axis in axes else count for axis, count in enumerate(self.shapes[x]))
        return self.operator(
            "REDUCE_MAX", [x, self.integers(axes)], shape, options("Reducer", keepDims=True),
            quantization=self.quantizations[x],
        )

    def tanh(self, x):
        return self.unary("TANH", x, quantization=self.quantization(0, 1 / 128))

    def prelu(self, x):
        """PRELU with a factor for each channel."""
        return self.operator("PRELU", [x, self.constant(1, 1, self.shapes[x][-1])], self.shapes[x], version=1)

    def cut(self, x, width):
        """The first columns."""
        shape = list(self.shapes[x])
        shape[2] = width
        return self.operator(
            "SLICE", [x, self.integers([0, 0, 0, 0]), self.integers(shape)], tuple(shape), options("Slice"),
            quantization=self.quantizations[x],
        )

    def normalized(self, x):
        """A norm over the last axis, as converters write it."""
        shape = self.shapes[x]
        narrow = (*shape[:-1], 1)
        axis = self.integers([len(shape) - 1])
        choice = options("Reducer", keepDims=True)
        mean = self.operator("MEAN", [x, axis], narrow, choice)
        distance = self.binary("Sub", x, mean)
        square = self.mul(distance, distance)
        variance = self.operator("MEAN", [square, axis], narrow, choice)
        epsilon = self.number(1e-6)
        factor = self.unary("RSQRT", self.add(variance, epsilon))
        y = self.mul(distance, factor)
        gamma = self.constant(shape[-1])
        beta = self.constant(shape[-1])
        return self.add(self.mul(y, gamma), beta)

    def resized(self, x, f=2, name="RESIZE_NEAREST_NEIGHBOR", half=True, aligned=False):
        half = half and not aligned
        b, h, w, c = self.shapes[x]
        ch = (
            options("ResizeNearestNeighbor", alignCorners=aligned, halfPixelCenters=half)
            if "NEAR" in name
            else options("ResizeBilinear", alignCorners=aligned, halfPixelCenters=half)
        )
        return self.operator(
            name,
            [x, self.integers([h * f, w * f])],
            (b, h * f, w * f, c),
            ch,
            quantization=self.quantizations[x],
            version=3,
        )

    def reshape(self, x, *sh):
        return self.operator(
            "RESHAPE",
            [x, self.integers(sh)],
            sh,
            options("Reshape", newShape=list(sh)),
            quantization=self.quantizations[x],
            version=1,
        )

    def transpose(self, x, *order):
        return self.operator(
            "TRANSPOSE",
            [x, self.integers(order)],
            tuple(self.shapes[x][i] for i in order),
            options("Transpose"),
            quantization=self.quantizations[x],
        )

    def softmax(self, x):
        return self.unary("SOFTMAX", x, options("Softmax", beta=1.0), quantization=self.quantization(-128, 1 / 256))

    def split(self, x, n, axis=3):
        sh = list(self.shapes[x])
        sh[axis] //= n
        outs = [
            self.known(
                self.graph.tensor(self.type_name, tuple(sh), self.quantizations[x]), tuple(sh), self.quantizations[x]
            )
            for _ in range(n)
        ]
        self.graph.add(
            "SPLIT",
            [self.graph.constant(np.array(axis, np.int32)), x],
            outs,
            options("Split", numSplits=n),
            version=2,
        )
        return outs

    def pad(self, x, p):
        o = tuple((v + a + b for v, (a, b) in zip(self.shapes[x], p)))
        return self.operator("PAD", [x, self.integers(p)], o, options("Pad"), quantization=self.quantizations[x])

    def product(self, a, b, adjy=False):
        columns = self.shapes[b][-2 if adjy else -1]
        return self.operator(
            "BATCH_MATMUL", [a, b], (*self.shapes[a][:-1], columns), options("BatchMatMul", adjX=False, adjY=adjy)
        )
