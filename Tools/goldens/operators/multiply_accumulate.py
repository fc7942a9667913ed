"""What convolutions and FULLY_CONNECTED share: weights, bias and the scale of their output."""

import numpy as np

from draw import RANGES
from model_builder import Quantization


class Products:
    """The weights and bias of an operator that sums `terms` products for each output value.

    Sums of more than 1,024 terms often have the largest operands, which leave no bits to spare.
    """

    def __init__(self, draw, shape, channel_axis, terms, has_weight_zero_points=False):
        self.draw = draw
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
