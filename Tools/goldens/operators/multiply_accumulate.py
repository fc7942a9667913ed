# SPDX-License-Identifier: Apache-2.0
"""What convolutions and FULLY_CONNECTED share: weights, bias and the scale of their output."""

import numpy as np

from draw import RANGES
from model_builder import Quantization


# The bits of weights whose type is not that of the activations.
WEIGHT_BITS = {"int8": 8, "uint8": 8, "int16": 16, "int4": 4, "int2": 2}


def draw_products(draw, shape, channel_axis, terms, mixes=(), **options):
    """The products of a plain type, or of a mix of types, each in `mixes`.

    A mix is named by `draw.type`: "int16" and "int4" are of integers, "hybrid" has float activations. `mixes`
    maps it to the kinds of weights, such as "int8" or "int8 per_channel".
    """
    if draw.type in mixes:
        return MixedProducts(draw, shape, channel_axis, terms, mixes[draw.type])
    return Products(draw, shape, channel_axis, terms, **options)


class Products:
    """The weights and bias of an operator that sums `terms` products for each output value.

    Sums of more than 1,024 terms often have the largest operands, which leave no bits to spare.
    """

    def __init__(self, draw, shape, channel_axis, terms, has_weight_zero_points=False):
        self.draw = draw
        self.weight_type = None
        self.output_type = draw.type
        self.bias_options = {}
        self._has_weight_zero_points = has_weight_zero_points
        long = terms > 1024 and draw.type != "float32"
        self._extreme = long and draw.chance(0.6)
        draw.tag("extreme" if self._extreme else "")
        self.terms = terms
        self.channels = shape[channel_axis]
        self.input_quantization = draw.quantization("input", draw.power(-6, -3))
        self.weight_quantization = self._weight_quantization(channel_axis)
        self.weights = self._weights(shape)
        self.output_quantization = self._output_quantization()

    def inputs(self, shape):
        return self.draw.extremes(shape) if self._extreme else self.draw.values(shape)

    def bias(self):
        """The values of the bias, and how they are quantized."""
        if self.draw.type == "float32":
            return self.draw.values([self.channels]), None
        scales = [self.input_quantization.scale * scale for scale in self.weight_quantization.scales]
        quantization = Quantization(tuple(scales), (0,) * len(scales))
        return self.draw.values([self.channels], "int32", max(int(self._magnitude()), 1)), quantization

    def _weight_quantization(self, channel_axis):
        draw = self.draw
        scale = draw.power(-9, -5)
        if draw.type == "uint8":
            return Quantization.per_tensor(scale, draw.zero_point("weight"))
        if draw.type == "int8":
            if not draw.flag("per_channel", 2):
                shifted = self._has_weight_zero_points and draw.flag("weight_zero_point", 4)
                return Quantization.per_tensor(scale, draw.integer(-128, 127) if shifted else 0)
            scales = [float(np.float32(scale * draw.power(-2, 2))) for _ in range(self.channels)]
            return Quantization(tuple(scales), (0,) * self.channels, channel_axis)
        return None

    def _weights(self, shape):
        if self._extreme:
            return self.draw.extremes(shape)
        values = self.draw.values(shape, magnitude=127 if self.draw.type == "int8" else None)
        # Many weights take few different values, so that goldens stay small.
        return values // 16 * 16 if values.size > 1000 else values

    def _output_quantization(self):
        draw = self.draw
        if draw.type == "float32":
            return None
        unit = self.input_quantization.scale * self.weight_quantization.scale
        fitting = unit * self._magnitude() / 100
        kind = draw.pick("output scale", ["fit"] * 6 + ["saturated", "coarse", "gain", "vanishing"])
        draw.tag(kind if kind != "fit" else "")
        scale = {
            "fit": fitting * draw.real(0.5, 2),
            "saturated": fitting / draw.real(50, 100),
            "coarse": fitting * draw.real(20, 100),
            "gain": unit / draw.power(0, 3),
            "vanishing": unit * draw.power(31, 40),
        }[kind]
        return draw.quantization("output", scale)

    def _magnitude(self):
        """The size of a usual accumulator, estimated from uniform values."""
        low, high = RANGES[self.draw.type]
        if self._extreme:
            low = high
        middle = (low + high) / 2
        mean_input = middle - self.input_quantization.zero_point
        mean_weight = middle - self.weight_quantization.zero_point
        deviation = np.hypot(74, mean_input) * np.hypot(74, mean_weight) * np.sqrt(self.terms)
        return deviation + abs(mean_input * mean_weight) * self.terms


class MixedProducts:
    """As `Products`, where activations and weights are of different types."""

    def __init__(self, draw, shape, channel_axis, terms, kinds):
        self.draw = draw
        self.terms = terms
        self.channels = shape[channel_axis]
        words = draw.pick("weights", kinds).split()
        kind, options = words[0], words[1:]
        draw.tag(kind, *options)
        self.weight_type = kind if kind in ("int4", "int2") else None
        self.is_float = draw.type == "hybrid"
        self.input_type = {"hybrid": "float32", "int16": "int16"}.get(draw.type, "int8")
        self.output_type = "float32" if self.is_float else ("int16" if "wide" in options else self.input_type)
        if "unsigned" in options:
            self.input_type = "uint8"
        self._is_narrow = "narrow" in options
        self.bias_options = {"quantizedBiasType": 2} if self._is_narrow else {}
        if kind == "int16" and not self._is_narrow:
            self.bias_options = {"quantizedBiasType": 4}
        self.input_quantization = self._input_quantization()
        self.weight_quantization = self._weight_quantization(kind, channel_axis, "per_channel" in options)
        self.weights = self._weights(kind, shape)
        self.output_quantization = self._output_quantization()

    def inputs(self, shape):
        if not self.is_float:
            return self.draw.values(shape, self.input_type)
        values = self.draw.values(shape, "float32")
        kind = self.draw.pick("inputs", ["normal"] * 4 + ["positive", "shifted", "zeros", "negative"])
        self.draw.tag(kind if kind != "normal" else "")
        changed = {
            "normal": values,
            "positive": np.abs(values),
            "negative": -np.abs(values),
            "shifted": values + np.float32(self.draw.real(-20, 20)),
            "zeros": values * np.float32(0),
        }[kind]
        return changed.astype(np.float32)

    def bias(self):
        if self.is_float:
            return self.draw.values([self.channels], "float32"), None
        scales = [self.input_quantization.scale * scale for scale in self.weight_quantization.scales]
        quantization = Quantization(tuple(scales), (0,) * len(scales))
        wide = self.input_type == "int16" and not self._is_narrow
        magnitude = max(int(self._deviation()), 1)
        return self.draw.values([self.channels], "int64" if wide else "int32", magnitude), quantization

    def _input_quantization(self):
        if self.is_float:
            return None
        if self.input_type == "int16":
            return Quantization.per_tensor(self.draw.power(-14, -10), 0)
        return Quantization.per_tensor(self.draw.power(-6, -3), self.draw.zero_point("input", self.input_type))

    def _weight_quantization(self, kind, axis, per_channel):
        draw = self.draw
        scale = draw.power(-9, -5)
        if not per_channel:
            shifted = kind == "uint8" and not self.is_float
            return Quantization((float(np.float32(scale)),), (draw.integer(0, 255) if shifted else 0,), 0)
        scales = [float(np.float32(scale * draw.power(-2, 2))) for _ in range(self.channels)]
        return Quantization(tuple(scales), (0,) * self.channels, axis)

    def _weights(self, kind, shape):
        bits = WEIGHT_BITS[kind]
        type_name = kind if kind in RANGES else "int8"
        if kind == "uint8":
            values = self.draw.values(shape, "uint8")
            if self.is_float:
                # The reference takes these bytes for signed ones, and its SSE code gets products of -128 wrong.
                values = np.where(values == 128, np.uint8(129), values)
        else:
            values = self.draw.values(shape, type_name, magnitude=(1 << (bits - 1)) - 1)
            if bits < 8 and self.draw.chance(0.5) and values.size:
                values.flat[0] = -(1 << (bits - 1))
        return values // 16 * 16 + 1 if values.size > 1000 and bits >= 8 else values

    def _output_quantization(self):
        if self.is_float:
            return None
        unit = self.input_quantization.scale * self.weight_quantization.scale
        kind = self.draw.pick("output scale", ["fit"] * 6 + ["saturated", "coarse"])
        self.draw.tag(kind if kind != "fit" else "")
        steps = 10_000 if self.output_type == "int16" else 100
        fitting = unit * self._deviation() / steps
        scale = fitting * {
            "fit": self.draw.real(0.5, 2),
            "saturated": 1 / self.draw.real(20, 60),
            "coarse": self.draw.real(20, 100),
        }[kind]
        zero_point = 0 if self.output_type == "int16" else self.draw.zero_point("output", self.output_type)
        return Quantization.per_tensor(scale, zero_point)

    def _deviation(self):
        """The size of a usual accumulator."""
        low, high = RANGES[self.input_type]
        weights = np.abs(self.weights.astype(np.float64)).mean() if self.weights.size else 1.0
        return max((high - low) / 4 * weights * np.sqrt(max(self.terms, 1)), 1.0)
