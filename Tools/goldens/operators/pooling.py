# SPDX-License-Identifier: Apache-2.0
"""AVERAGE_POOL_2D and MAX_POOL_2D."""

from dataclasses import replace

from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from model_builder import ModelBuilder
from operators.windows import draw_window

TYPES = ("uint8", "int8", "float32", "int16")
VERSIONS = {"int8": 2, "int16": 3}


def pool(name):
    def case(draw):
        window = draw_window(draw, dilates=False)
        batch = draw.batch()
        if draw.flag("too_large", 12):
            window = replace(window, padding=1, filter=(window.image[0] + 3, window.filter[1]))
        pixels = window.image[0] * window.image[1] * max(batch, 1)
        channels = draw.channels(draw.limit * 4 // pixels)
        options = schema.Pool2DOptionsT(
            padding=window.padding,
            strideH=window.strides[0],
            strideW=window.strides[1],
            filterHeight=window.filter[0],
            filterWidth=window.filter[1],
            fusedActivationFunction=draw.activation(),
        )
        quantization = draw.quantization("both")
        model = ModelBuilder()
        image = model.input(draw.values((batch, *window.image, channels)), quantization)
        return model.operator(name, [image], [model.output(draw.type, quantization)], options)

    return operator(name, TYPES, cases=12, versions=VERSIONS)(case)


pool("AVERAGE_POOL_2D")
pool("MAX_POOL_2D")
