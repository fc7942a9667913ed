# SPDX-License-Identifier: Apache-2.0
"""The custom operator TFLite_Detection_PostProcess."""

import numpy as np
from flatbuffers import flexbuffers

from catalogue import operator
from model_builder import ModelBuilder, Quantization

NAME = "TFLite_Detection_PostProcess"


@operator(NAME, ("float32", "uint8"), cases=20)
def detection_postprocess(draw):
    regular = draw.pick("mode", ["fast", "regular"]) == "regular"
    draw.tag("regular" if regular else "fast")
    classes = draw.pick("classes", [1, 2, 3, 5, 8])
    background = draw.flag("background", 2)
    boxes = draw.choice([1, 3, 7, 12, max(draw.limit // 8, 12)])
    scores_kind = draw.pick("scores", ["distinct", "ties", "distinct", "nan", "none", "distinct"])
    classes_per_box = 1
    if not regular and scores_kind in ("distinct", "none") and classes > 1:
        classes_per_box = draw.integer(1, min(classes, 3))
        draw.tag(f"{classes_per_box}_classes_each" if classes_per_box > 1 else "")
    if draw.type != "float32" and scores_kind == "nan":
        scores_kind = "ties"
    draw.tag(scores_kind if scores_kind != "distinct" else "")

    options = {
        "max_detections": draw.choice([1, 3, 5, 10, 25]),
        "max_classes_per_detection": classes_per_box,
        "num_classes": classes,
        "nms_score_threshold": draw.choice([0.0, 0.1, 0.3, 1e-8]) if scores_kind != "none" else 1.5,
        "nms_iou_threshold": draw.choice([0.05, 0.3, 0.6, 1.0]),
        "y_scale": draw.choice([10.0, 1.0]),
        "x_scale": draw.choice([10.0, 2.0]),
        "h_scale": 5.0,
        "w_scale": draw.choice([5.0, 3.0]),
    }
    if regular or draw.chance(0.5):
        options["use_regular_nms"] = regular
    if draw.pick("detections per class", [True, False]):
        options["detections_per_class"] = draw.choice([1, 2, 5, 100])
    coordinates = draw.pick("box size", [4, 4, 4, 6])

    model = ModelBuilder()
    operands = [
        model.input(*_encodings(draw, boxes, coordinates)),
        model.input(*_scores(draw, scores_kind, boxes, classes + background)),
        model.constant(*_anchors(draw, boxes)),
    ]
    outputs = [model.output("float32") for _ in range(4)]
    model.defined = lambda answers: _without_unused_slots(answers, classes_per_box)
    return model.operator(NAME, operands, outputs, custom_options=_packed(draw, options))


def _encodings(draw, boxes, coordinates):
    shape = (1, boxes, coordinates)
    if draw.type == "float32":
        return draw.values(shape, magnitude=2.0), None
    return draw.values(shape), Quantization.per_tensor(draw.power(-6, -5), draw.integer(100, 150))


def _anchors(draw, boxes):
    centers = np.array([[draw.real(0.1, 0.9), draw.real(0.1, 0.9)] for _ in range(boxes)])
    # Few places and large boxes, so that many overlap.
    centers = np.round(centers * 3) / 3
    sizes = np.array([[draw.real(0.1, 0.6), draw.real(0.1, 0.6)] for _ in range(boxes)])
    anchors = np.concatenate([centers, sizes], axis=1).astype(np.float16).astype(np.float32)
    if draw.type == "float32":
        return anchors, None
    quantization = Quantization.per_tensor(1 / 200, draw.integer(0, 20))
    quantized = np.round(anchors / quantization.scale) + quantization.zero_point
    return np.clip(quantized, 0, 255).astype(np.uint8), quantization


def _scores(draw, kind, boxes, columns):
    """Scores that are distinct within each box, unless `kind` asks for ties."""
    levels = 256 if draw.type == "uint8" else 4096
    if kind == "ties":
        values = draw.sample([level * levels // 4 for level in range(4)] * boxes * columns, boxes * columns)
    else:
        values = [draw.sample(range(1, levels), columns) for _ in range(boxes)]
    values = np.array(values).reshape(1, boxes, columns)
    if draw.type == "uint8":
        return values.astype(np.uint8), Quantization.per_tensor(1 / 256, draw.choice([0, 0, 3]))
    scores = (values / levels).astype(np.float32)
    if kind == "nan":
        for _ in range(draw.integer(1, 4)):
            scores.flat[draw.integer(0, scores.size - 1)] = np.nan
    return scores, None


def _without_unused_slots(answers, classes_per_box):
    """Zero in all slots beyond the count: the reference leaves there what its memory held."""
    used = int(answers[3][0]) * classes_per_box
    answers = [np.array(answer) for answer in answers]
    for answer in answers[:3]:
        answer[:, used:] = 0
    return answers


def _packed(draw, options):
    """The options as a FlexBuffer map, with numbers of several widths (0: as narrow as they fit)."""
    width = draw.pick("option width", [0, 4, 8])
    builder = flexbuffers.Builder()
    with builder.Map():
        for key, value in options.items():
            builder.Key(key)
            if isinstance(value, bool):
                builder.Bool(value)
            elif isinstance(value, int):
                builder.Int(value, width)
            elif draw.chance(0.2):
                builder.IndirectFloat(value, width)
            else:
                builder.Float(value, width)
    return bytes(builder.Finish())
