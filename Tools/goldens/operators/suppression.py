# SPDX-License-Identifier: Apache-2.0
"""NON_MAX_SUPPRESSION_V4 and NON_MAX_SUPPRESSION_V5."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from model_builder import ModelBuilder


def suppression(name, is_soft):
    def case(draw):
        count = draw.choice([0, 1, 2, 5, 12, max(draw.limit // 6, 60)])
        corners = draw.values((count, 2, 2), magnitude=4.0)
        extents = np.abs(draw.values((count, 2, 2), magnitude=2.0))
        boxes = np.concatenate([corners[:, 0], corners[:, 0] + extents[:, 0]], 1)
        kind = draw.pick("boxes", ["apart", "similar", "flipped", "flat"])
        if kind == "similar":
            boxes = boxes[:1] + 0.1 * np.round(corners.reshape(count, 4))
        if kind == "flipped":
            boxes = corners.reshape(count, 4)
        if kind == "flat" and count:
            boxes[draw.integer(0, count - 1), 2:] = boxes[draw.integer(0, count - 1), :2]
            boxes[0, 2] = boxes[0, 0]
        scores = draw.pick("scores", ["distinct", "ties", "distinct", "nan"])
        values = np.array(draw.sample(range(1, 4 * count + 1), count), np.float32) / max(4 * count, 1)
        if scores == "ties":
            values = np.round(values * 4) / 4
        if scores == "nan" and count:
            values[draw.integer(0, count - 1)] = np.nan
        most = draw.choice([0, 1, 3, 10, 30])
        dynamic = draw.flag("dynamic_count", 4)
        draw.tag(kind, scores, f"{count}_boxes", f"at_most_{most}")
        model = ModelBuilder()
        floats = [draw.choice([0.1, 0.5, 0.9]), draw.choice([0.0, 0.2, 0.5, -1.0])]
        if is_soft:
            sigma = draw.pick("sigma", [0.5, 0.1, 0.0, 2.0])
            draw.tag(f"sigma{sigma}")
            floats.append(sigma)
        operands = [
            model.input(boxes.astype(np.float32)),
            model.input(values.astype(np.float32)),
            model.index_operand(np.array(most, np.int32), dynamic),
        ]
        for value in floats:
            value = np.array(value, np.float32)
            operands.append(model.input(value) if draw.chance(0.3) else model.constant(value))
        outputs = [model.output("int32")]
        if is_soft:
            outputs.append(model.output("float32"))
        outputs.append(model.output("int32"))
        options = getattr(schema, f"NonMaxSuppression{name[-2:]}OptionsT")()
        return model.operator(name, operands, outputs, options)

    return operator(name, ("float32",), cases=32)(case)


suppression("NON_MAX_SUPPRESSION_V4", False)
suppression("NON_MAX_SUPPRESSION_V5", True)
