#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Apus and XNNPACK with double precision on networks of MediaPipe's pooling with places, such as its hair segmentation.

LiteRT has no kernels for `MaxPoolingWithArgmax2D`, `MaxUnpooling2D` and `Convolution2DTransposeBias`; XNNPACK runs them.
The networks are encoders and decoders of bottlenecks with random weights. Each layer is judged by itself, from the inputs
that the engine gave it, and the whole by its last output. Where the largest values of a window are nearly equal, engines
may find the maximum in different places: those are counted, as each moves a value by a pixel.
"""

import argparse
import pathlib
import struct
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "goldens"))

from ai_edge_litert import schema_py_generated as schema  # noqa: E402
from ai_edge_litert.interpreter import Interpreter  # noqa: E402
from apus import Apus  # noqa: E402
from graph_builder import GraphBuilder  # noqa: E402

SAME = 0


class Network(GraphBuilder):
    """A network that is written to a model and computed in double precision at once."""

    def __init__(self, image, random):
        super().__init__()
        self._random = random
        # What each tensor of activations comes of: a function of arrays in double precision, and its arguments.
        self.layers = []
        self.image = self.input(image)

    def _weights(self, shape, terms):
        return self._random.normal(0, (2 / terms) ** 0.5, shape).astype(np.float32)

    def _layer(self, name, code, inputs, constants, shape, function, options=None, custom_options=None, outputs=1):
        made = [self.tensor("float32", shape) for _ in range(outputs)]
        operands = [*inputs, *(self.constant(values) for values in constants)]
        if custom_options is None:
            self.add(code, operands, made, options)
        else:
            self.add("CUSTOM", operands, made)
            self._codes[-1].customCode = code
            self._operators[-1].customOptions = np.frombuffer(custom_options, np.uint8)
        self.layers.append((name, list(inputs), made, function))
        return made[0] if outputs == 1 else made

    def shape(self, index):
        return [int(size) for size in self._tensors[index].shape]

    def convolution(self, source, outputs, taps=1, stride=1):
        batch, height, width, channels = self.shape(source)
        weights = self._weights((outputs, taps, taps, channels), taps * taps * channels)
        bias = self._random.normal(0, 0.1, outputs).astype(np.float32)
        options = schema.Conv2DOptionsT(
            padding=SAME, strideW=stride, strideH=stride, dilationWFactor=1, dilationHFactor=1
        )
        shape = (batch, -(-height // stride), -(-width // stride), outputs)
        return self._layer(
            f"CONV_2D {taps}×{taps}", "CONV_2D", [source], [weights, bias], shape,
            lambda x: convolved(x, weights, bias, stride), options,
        )

    def prelu(self, source):
        alpha = self._random.uniform(0.1, 0.4, (1, 1, self.shape(source)[3])).astype(np.float32)
        return self._layer(
            "PRELU", "PRELU", [source], [alpha], self.shape(source),
            lambda x: np.where(x >= 0, x, x * alpha.astype(np.float64)),
        )

    def sum(self, first, second):
        return self._layer(
            "ADD", "ADD", [first, second], [], self.shape(first), lambda x, y: x + y, schema.AddOptionsT()
        )

    def pooling(self, source):
        """The maxima of 2×2 windows, and their places."""
        batch, height, width, channels = self.shape(source)
        return self._layer(
            "MaxPoolingWithArgmax2D", "MaxPoolingWithArgmax2D", [source], [],
            (batch, height // 2, width // 2, channels), pooled,
            custom_options=struct.pack("<6i", 2, 2, 2, 2, 2, 0) + bytes(16), outputs=2,
        )

    def unpooling(self, source, places):
        batch, height, width, channels = self.shape(source)
        return self._layer(
            "MaxUnpooling2D", "MaxUnpooling2D", [source, places], [], (batch, 2 * height, 2 * width, channels),
            unpooled, custom_options=struct.pack("<6i", 2, 2, 2, 2, 2, 0) + bytes(16),
        )

    def transposed(self, source, outputs, taps):
        batch, height, width, channels = self.shape(source)
        weights = self._weights((outputs, taps, taps, channels), taps * taps * channels / 4)
        bias = self._random.normal(0, 0.1, outputs).astype(np.float32)
        return self._layer(
            f"Convolution2DTransposeBias {taps}×{taps}", "Convolution2DTransposeBias", [source], [weights, bias],
            (batch, 2 * height, 2 * width, outputs), lambda x: transposed(x, weights, bias),
            custom_options=struct.pack("<3i", 1, 2, 2),
        )


def convolved(image, weights, bias, stride):
    _, height, width, _ = image.shape
    outputs, taps, _, _ = weights.shape
    sizes = [-(-size // stride) for size in (height, width)]
    removed = [max(0, (count - 1) * stride + taps - size) for count, size in zip(sizes, (height, width))]
    padded = np.pad(image, [(0, 0), *((cut // 2, cut - cut // 2) for cut in removed), (0, 0)])
    result = np.zeros((len(image), *sizes, outputs)) + bias.astype(np.float64)
    for y, x in np.ndindex(taps, taps):
        part = padded[:, y : y + (sizes[0] - 1) * stride + 1 : stride, x : x + (sizes[1] - 1) * stride + 1 : stride]
        result += part @ weights[:, y, x].T.astype(np.float64)
    return result


def transposed(image, weights, bias):
    """A stride of two, padded such that the output is twice as large."""
    batch, height, width, _ = image.shape
    outputs, taps, _, _ = weights.shape
    whole = np.zeros((batch, 2 * height + taps, 2 * width + taps, outputs))
    for y, x in np.ndindex(taps, taps):
        products = image @ weights[:, y, x].T.astype(np.float64)
        whole[:, y : y + 2 * height : 2, x : x + 2 * width : 2] += products
    first = max(0, taps - 2) // 2
    return whole[:, first : first + 2 * height, first : first + 2 * width] + bias.astype(np.float64)


def windows(image):
    batch, height, width, channels = image.shape
    split = image.reshape(batch, height // 2, 2, width // 2, 2, channels)
    return split.transpose(0, 1, 3, 5, 2, 4).reshape(batch, height // 2, width // 2, channels, 4)


def pooled(image):
    """Maxima and the first places of them, by rows: values closer than double precision can tell are equal."""
    values = windows(image)
    greatest = values.max(-1, keepdims=True)
    return greatest[..., 0], np.argmax(values >= greatest - 1e-12 * np.abs(greatest), -1).astype(np.float64)


def unpooled(image, places):
    batch, height, width, channels = image.shape
    split = (np.arange(4) == np.floor(places)[..., None]) * image[..., None]
    split = split.reshape(batch, height, width, channels, 2, 2).transpose(0, 1, 4, 2, 5, 3)
    return split.reshape(batch, 2 * height, 2 * width, channels)


def network(image, seed, width, depth):
    """An encoder and a decoder with `depth` halvings, each with bottlenecks beside it."""
    net = Network(image, np.random.default_rng(seed))

    def bottleneck(x):
        inner = net.prelu(net.convolution(x, net.shape(x)[3] // 2))
        inner = net.prelu(net.convolution(inner, net.shape(inner)[3], 3))
        return net.prelu(net.sum(x, net.convolution(inner, net.shape(x)[3])))

    x = net.prelu(net.convolution(net.image, width, 3, 2))
    places = []
    for _ in range(depth):
        maxima, place = net.pooling(x)
        places.append(place)
        inner = net.prelu(net.convolution(x, net.shape(x)[3], 2, 2))
        x = net.prelu(net.sum(maxima, net.convolution(inner, net.shape(x)[3])))
        for _ in range(2):
            x = bottleneck(x)
    for place in reversed(places):
        inner = net.prelu(net.convolution(x, net.shape(x)[3] // 2))
        inner = net.convolution(net.prelu(net.transposed(inner, net.shape(inner)[3], 3)), net.shape(x)[3])
        x = net.prelu(net.sum(net.unpooling(net.convolution(x, net.shape(x)[3]), place), inner))
        x = bottleneck(x)
    last = net.transposed(x, 2, 2)
    return net, last


def xnnpack(model, image):
    interpreter = Interpreter(model_content=model, num_threads=1)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], image)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]).copy() for detail in interpreter.get_output_details()]


def relative(found, wanted):
    return float(np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-30))


def judge(net, last, image, run):
    """For each kind of layer its greatest own error; how many places differ; the last output's error."""
    made = [outputs[0] for _, _, outputs, _ in net.layers]
    net._output_indices = made
    found = dict(zip(made, (values.astype(np.float64) for values in run(net.bytes(), image))))
    exact = {net.image: image.astype(np.float64)}
    own = dict(exact)
    errors, moved, count = {}, 0, 0
    for name, inputs, outputs, function in net.layers:
        results = function(*(exact[index] for index in inputs))
        exact.update(zip(outputs, results if len(outputs) > 1 else [results]))
        results = function(*(own[index] for index in inputs))
        # An engine's places may be in another order or form: those of its own values are the right ones for it.
        own.update(zip(outputs, results if len(outputs) > 1 else [results]))
        errors[name] = max(errors.get(name, 0), relative(found[outputs[0]], own[outputs[0]]))
        if len(outputs) > 1:
            moved += int((own[outputs[1]] != exact[outputs[1]]).sum())
            count += exact[outputs[1]].size
        own[outputs[0]] = found[outputs[0]]
    return errors, moved, count, relative(found[last], exact[last]), exact[last]


def final(net, last, image, run):
    net._output_indices = [last]
    return run(net.bytes(), image)[0].astype(np.float64)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--apus", type=pathlib.Path, required=True, help="the executable")
    parser.add_argument("--size", type=int, default=128, help="pixels of the picture's sides")
    parser.add_argument("--width", type=int, default=32, help="channels")
    parser.add_argument("--depth", type=int, default=4, help="how often the size is halved")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--kernels", default="", help="kernel sets, such as x86-avx2,portable")
    parser.add_argument("--flat", action="store_true", help="a picture of flat squares, whose values are equal")
    arguments = parser.parse_args()
    engines = {"XNNPACK": xnnpack}
    for kernels in arguments.kernels.split(","):
        apus = Apus(arguments.apus, kernels=kernels or None)
        engines[f"Apus {kernels}".strip()] = lambda model, image, apus=apus: apus.run(model, [image])
    for seed in range(arguments.seeds):
        random = np.random.default_rng([seed, 1])
        image = random.uniform(0, 1, (1, arguments.size, arguments.size, 4)).astype(np.float32)
        if arguments.flat:
            image = np.kron(image[:, ::32, ::32], np.ones((1, 32, 32, 1), np.float32))
        net, last = network(image, seed, arguments.width, arguments.depth)
        results = {}
        for name, run in engines.items():
            errors, moved, count, end, exact = judge(net, last, image, run)
            results[name] = final(net, last, image, run)
            print(f"seed {seed}, {name}: {relative(results[name], exact):.2g} from double precision at the end; ", end="")
            print(f"{moved} of {count} places differ; layers by themselves: ", end="")
            print(", ".join(f"{layer} {error:.1g}" for layer, error in errors.items()))
        first, *others = results.values()
        for name, other in zip(list(results)[1:], others):
            print(f"seed {seed}: {name} and XNNPACK differ by {relative(other, first):.2g}")


if __name__ == "__main__":
    main()
