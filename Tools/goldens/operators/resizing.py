# SPDX-License-Identifier: Apache-2.0
"""RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from model_builder import ModelBuilder


def resize(name, make_options, types):
    def case(draw):
        centers = draw.pick("centers", ["plain", "align_corners", "half_pixel_centers"])
        kind = draw.pick("kind", ["up", "down", "any", "one", "same"])
        draw.tag(centers if centers != "plain" else "", kind)
        dynamic = draw.flag("dynamic_size", 6)
        batch, channels = draw.batch(), draw.choice([1, 2, 3, 7, 8])
        image = [draw.choice([1, 2, 3, 4, 5, 7, 8]) for _ in range(2)]
        size = {
            "up": [draw.choice([length * 2, length * 3, length + 2]) for length in image],
            "down": [max(length // draw.choice([2, 3]), 1) for length in image],
            "any": [draw.choice([2, 3, 5, 7, 11]) for _ in range(2)],
            "one": draw.sample([1, draw.integer(1, 5)], 2),
            "same": image,
        }[kind]
        while np.prod(size) * channels * batch > draw.limit * 3:
            channels, batch = max(channels // 2, 1), min(batch, 1)
            size = [max(length - 1, 1) for length in size] if channels == 1 else size
        quantization = draw.quantization("both")
        model = ModelBuilder()
        operands = [
            model.input(draw.values((batch, *image, channels)), quantization),
            model.index_operand(np.array(size, np.int32), dynamic),
        ]
        options = make_options(
            alignCorners=centers == "align_corners", halfPixelCenters=centers == "half_pixel_centers"
        )
        return model.operator(name, operands, [model.output(draw.type, quantization)], options)

    return operator(name, types, cases=12, versions={"int8": 3, "int16": 4})(case)


TYPES = ("uint8", "int8", "float32", "int16")
resize("RESIZE_BILINEAR", schema.ResizeBilinearOptionsT, TYPES)
resize("RESIZE_NEAREST_NEIGHBOR", schema.ResizeNearestNeighborOptionsT, (*TYPES, "int32", "bool"))
