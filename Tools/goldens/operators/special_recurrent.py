# SPDX-License-Identifier: Apache-2.0
"""Recurrent operators on floats with infinities and NaN: activations and clips end them as the reference's do."""

import numpy as np

import operators.recurrent  # noqa: F401  (registers the operators below)
from catalogue import OPERATORS, operator

LAYERS = [
    "RNN", "UNIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_RNN", "SVDF",
    "LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_LSTM",
]


class SpecialDraw:
    """Draws as another does, but a special number is in every other tensor of floats, and no weights are bytes."""

    def __init__(self, draw):
        self._draw = draw

    def __getattr__(self, name):
        return getattr(self._draw, name)

    def pick(self, topic, options):
        # The reference converts NaN to bytes, for which its language has no rule.
        return "float" if topic == "mode" else self._draw.pick(topic, options)

    def flag(self, topic, one_in):
        return topic != "long" and self._draw.flag(topic, one_in)

    def values(self, shape, type_name=None, *spread):
        values = self._draw.values(shape, type_name, *spread)
        if type_name == "float32" and values.size and self._draw.chance(0.5):
            values.flat[self._draw.integer(0, values.size - 1)] = self._draw.choice([np.inf, -np.inf, np.nan, np.nan])
        return values


@operator("SPECIAL_RECURRENT", ("float32",), cases=100)
def special_recurrent(draw):
    layer = draw.pick("layer", LAYERS)
    draw.tag(layer)
    return OPERATORS[layer].case(SpecialDraw(draw))
