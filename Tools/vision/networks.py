# SPDX-License-Identifier: Apache-2.0
"""Small networks of random weights for every task but detection: their answers depend on each pixel.

Inputs and outputs come in all the forms that real models have; between them, everything is computed in floats.
"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "goldens"))
from ai_edge_litert import schema_py_generated as schema  # noqa: E402
from example_models import RELU, Network  # noqa: E402
from model_builder import Quantization  # noqa: E402


class Picture:
    """A model's input: size, type, order of dimensions, what becomes of a pixel."""

    def __init__(self, size, dtype="float32", scale=None, planar=False, channels=3, normalization=None):
        self.size, self.dtype, self.scale, self.planar = size, dtype, scale, planar
        # Means and deviations for the metadata.
        self.channels, self.normalization = channels, normalization

    @property
    def shape(self):
        width, height = self.size
        return (1, self.channels, height, width) if self.planar else (1, height, width, self.channels)

    def __str__(self):
        order = "NCHW" if self.planar else "NHWC"
        scale = f" of {self.scale.scale:.4f}" if self.scale else ""
        own = ", metadata" if self.normalization else ""
        return f"{self.size[0]}x{self.size[1]}x{self.channels} {order} {self.dtype}{scale}{own}"


class Result:
    """A model's output: its type, and whether dimensions of one follow."""

    def __init__(self, dtype="float32", scale=None, shape=None):
        self.dtype, self.scale, self.shape = dtype, scale, shape

    def __str__(self):
        return self.dtype + (f" of {self.scale.scale:.4f}" if self.scale else "")


class TaskNetwork(Network):
    """A network with a picture of any form in, and outputs of any form."""

    def __init__(self, picture, seed):
        super().__init__()
        self.random = np.random.default_rng(seed)
        self._shapes = {}
        shape = picture.shape
        source = self._sized(self.argument(picture.dtype, shape, picture.scale), shape)
        if picture.dtype != "float32":
            real = self._new(shape)
            self.add("DEQUANTIZE", [source], [real])
            source = real
        self.source = self.transposed(source, (0, 2, 3, 1)) if picture.planar else source

    def features(self, count, side, spread=1.0):
        """Rectified products of a 3×3 filter, averaged over squares."""
        weights = self.random.normal(0, spread, (count, 3, 3, self._shapes[self.source][3]))
        return self.mean(self.conv(self.source, weights, self.random.normal(0, 0.3, count), RELU), side)

    def sampled(self, count, stride):
        """Rectified products of every so many pixels, the first and the last ones included."""
        _, height, width, channels = self._shapes[self.source]
        options = schema.Conv2DOptionsT()
        options.strideW = options.strideH = stride
        options.dilationWFactor = options.dilationHFactor = 1
        options.padding, options.fusedActivationFunction = schema.Padding.VALID, RELU
        weights = self.random.normal(0, 1, (count, 1, 1, channels)).astype(np.float32)
        bias = self.random.normal(0, 0.3, count).astype(np.float32)
        output = self._new((1, (height - 1) // stride + 1, (width - 1) // stride + 1, count))
        self.add("CONV_2D", [self.source, self.constant(weights), self.constant(bias)], [output], options)
        return output

    def cells(self, source, channels, spread=1.0, bias=0.0):
        """One product for each cell and channel."""
        weights = self.random.normal(0, spread, (channels, 1, 1, self._shapes[source][3]))
        return self.conv(source, weights, self.random.normal(bias, 0.5, channels))

    def whole(self, source):
        """The mean of each channel over the picture, as a row."""
        _, height, width, channels = self._shapes[source]
        options = schema.Pool2DOptionsT()
        options.strideW = options.strideH = 1
        options.filterHeight, options.filterWidth = height, width
        options.padding = schema.Padding.VALID
        output = self._new((1, 1, 1, channels))
        self.add("AVERAGE_POOL_2D", [source], [output], options)
        return self.reshape(output, (1, channels))

    def dense(self, source, count, spread=1.0):
        weights = self.random.normal(0, spread, (count, self._shapes[source][1])).astype(np.float32)
        output = self._new((1, count))
        bias = self.random.normal(0, 0.3, count).astype(np.float32)
        self.add("FULLY_CONNECTED", [source, self.constant(weights), self.constant(bias)], [output],
                 schema.FullyConnectedOptionsT())
        return output

    def softmax(self, source):
        options = schema.SoftmaxOptionsT()
        options.beta = 1.0
        output = self._new(self._shapes[source])
        self.add("SOFTMAX", [source], [output], options)
        return output

    def largest(self, source, dtype):
        """The channel with the largest value."""
        options = schema.ArgMaxOptionsT()
        options.outputType = getattr(schema.TensorType, dtype.upper())
        output = self._sized(self.tensor(dtype, self._shapes[source][:3]), self._shapes[source][:3])
        self._tensors[output].shape = np.array(self._shapes[output], np.int32)
        self.add("ARG_MAX", [source, self.constant(np.array(3, np.int32))], [output], options)
        return output

    def output(self, source, result=Result()):
        if result.shape:
            source = self.reshape(source, result.shape)
        if result.dtype != "float32":
            steps = self._sized(self.tensor(result.dtype, self._shapes[source], result.scale), self._shapes[source])
            self._tensors[steps].shape = np.array(self._shapes[source], np.int32)
            self.add("QUANTIZE", [source], [steps])
            source = steps
        self.result(source)


# MARK: Tasks


def classifier(picture, heads, results, seed=1):
    """`heads` are pairs of a number of classes and what its scores are: softmax, logistic or logits."""
    net = TaskNetwork(picture, seed)
    row = net.whole(net.features(12, 2))
    for (count, kind), result in zip(heads, results):
        scores = net.dense(row, count)
        if kind != "logits":
            scores = {"softmax": net.softmax, "logistic": net.logistic}[kind](scores)
        net.output(scores, result)
    return net.bytes()


def embedder(picture, dimensions, results, seed=2):
    net = TaskNetwork(picture, seed)
    row = net.whole(net.features(16, 2))
    for count, result in zip(dimensions, results):
        net.output(net.dense(row, count), result)
    return net.bytes()


def segmenter(picture, channels, result=Result(), planar=False, side=4, classes=None, seed=3):
    """Scores of cells, one probability, or with `classes` (a type) the largest one's number."""
    net = TaskNetwork(picture, seed)
    scores = net.cells(net.features(8, side), channels, spread=2.0)
    if channels == 1:
        scores = net.logistic(scores)
    if classes:
        net.result(net.largest(scores, classes))
    else:
        net.output(net.transposed(scores, (0, 3, 1, 2)) if planar else scores, result)
    return net.bytes()


def faces(picture, kind, results=(Result(), Result()), scores_first=False, seed=4):
    net = TaskNetwork(picture, seed)
    predictions, logits = [], []
    for stride, count in {"short": [(8, 2), (16, 6)], "full": [(4, 1)]}[kind]:
        features = net.features(8, stride)
        _, rows, columns, _ = net._shapes[features]
        # Boxes of about a quarter of the picture.
        quarter = picture.size[0] / 4
        boxes = net.cells(features, 16 * count, spread=0.25, bias=np.tile([0, 0, quarter, quarter, *[0] * 12], count))
        predictions.append(net.reshape(boxes, (1, rows * columns * count, 16)))
        logits.append(net.reshape(net.cells(features, count, spread=0.4, bias=-1.0), (1, rows * columns * count, 1)))
    outputs = [net.joined(parts, 1) if len(parts) > 1 else parts[0] for parts in (predictions, logits)]
    for output, result in (list(zip(outputs, results))[::-1] if scores_first else zip(outputs, results)):
        net.output(output, result)
    return net.bytes()


def movenet(picture, people=None, result=Result(), seed=5):
    net = TaskNetwork(picture, seed)
    row = net.whole(net.features(16, 2))
    points = net.logistic(net.dense(row, 56 * people if people else 51))
    net.output(net.reshape(points, (1, people, 56) if people else (1, 1, 17, 3)), result)
    return net.bytes()


def posenet(picture, order=(0, 1, 2), results=(Result(),) * 3, halves=False, seed=6):
    """Maps whose cells are 16 pixels apart, corners included."""
    net = TaskNetwork(picture, seed)
    maps = net.sampled(10, 16)
    outputs = [net.cells(maps, 17, spread=1.5, bias=-3.0), net.cells(maps, 34, spread=4.0)]
    outputs += [net.cells(maps, count, spread=6.0) for count in ((32, 32) if halves else (64,))]
    for place in order:
        net.output(outputs[place], results[min(place, 2)])
    return net.bytes()
