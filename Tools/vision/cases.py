# SPDX-License-Identifier: Apache-2.0
"""Detection models of every layout with what the rules of `rules.py` find: `cases()` yields them one by one."""

import numpy as np

import head_cases
import models
import rules
from models import Quantization

NAMES = ["ant", "bee", "cat"]
SIZE = (64, 64)
CELLS = 84
UNIT = Quantization.per_tensor(1 / 256, -128)
PICTURE_INT8 = Quantization.per_tensor(1 / 255, -128)
PICTURE_UINT8 = Quantization.per_tensor(1 / 255, 0)


class Case:
    """A model, a picture, options of the command line, and the objects or the error to expect: one of the model, or the refusal of
    an answer that the model's reading cannot have."""

    def __init__(self, name, model, picture=SIZE, options=(), objects=None, error=None, warning=None, kind=None,
                 refusal=None):
        self.name, self.model, self.picture, self.options = name, model, picture, list(options)
        self.objects = objects and [found for found in objects if is_visible(found["edges"], picture)]
        self.error, self.warning, self.kind = error, warning, kind
        self.refusal = refusal


def is_visible(edges, size):
    """Whether a part of a box lies in the picture; what lies in the bars of a letterbox alone is no object of it."""
    return edges[2] > 0 and edges[3] > 0 and edges[0] < size[0] and edges[1] < size[1]


def picture(width, height):
    """Pixels that everybody can compute: no two channels alike."""
    y, x = np.mgrid[:height, :width]
    return np.stack([(7 * x + 3 * y) % 256, (5 * x + 11 * y + 40) % 256, (13 * x + y + 90) % 256], -1).astype(np.uint8)


def candidates(random, rows, classes, size=SIZE, objectness=False):
    """Rows of xywh in fractions and scores: clusters around a few objects, so that many overlap."""
    objects = random.uniform(0.2, 0.8, (6, 4)) * [1, 1, 0.5, 0.5]
    chosen = random.integers(0, 6, rows)
    boxes = np.clip(objects[chosen] + random.normal(0, 0.02, (rows, 4)), 0.02, 1)
    scores = random.uniform(0, 0.2, (rows, classes))
    strong = random.random(rows) < 0.4
    scores[strong, random.integers(0, classes, strong.sum())] = random.uniform(0.2, 1, strong.sum())
    columns = [boxes]
    if objectness:
        columns.append(np.where(strong, random.uniform(0.2, 1, rows), 0.1)[:, None])
        scores = np.clip(scores * 1.5, 0, 1)
    return np.concatenate([*columns, scores], 1).astype(np.float32)


def objects(found, image=SIZE, size=SIZE, labels=None, extra=None):
    """Detections of `rules.yolo` in pixels of the picture."""
    boxes, scores, classes, numbers = found
    placed = rules.undo_letterbox(boxes, *image, *size)
    result = []
    for box, score, index in zip(placed, scores, classes):
        result.append({"index": int(index), "score": float(score), "edges": [float(edge) for edge in box],
                       "label": labels[index] if labels else None})
    return result


def decided(make, seed):
    """A seed for which no decision hangs on the last digits: scores near the threshold, equal scores, overlaps."""
    for attempt in range(200):
        random = np.random.default_rng([seed, attempt])
        rows, kind, options = make(random)
        reference = rules.yolo(rows, kind, SIZE, **options)
        stable = True
        threshold, iou = options.get("threshold", 0.25), options.get("iou", 0.45)
        for sign in (-1, 1):
            other = rules.yolo(rows, kind, SIZE, **{
                **options, "threshold": threshold + 1e-4 * sign, "iou": iou + 1e-3 * sign})
            stable &= len(other[1]) == len(reference[1]) and np.array_equal(other[3], reference[3])
        if stable and len(reference[1]) >= 3 and len(set(reference[1].tolist())) == len(reference[1]):
            return rows, reference
    raise RuntimeError("no seed decides")


def yolo8(seed, classes=3, **options):
    return decided(lambda random: (candidates(random, CELLS, classes), "yolo8", options), seed)


def yolo5(seed, classes=3, **options):
    return decided(lambda random: (candidates(random, 3 * CELLS, classes, objectness=True), "yolo5", options), seed)


def end_to_end(seed, rows=300):
    """Corners in fractions, score, class; weak rows at the end, as the model sorts."""
    def make(random):
        boxes = rules.corners(candidates(random, rows, 1)[:, :4])
        scores = np.sort(random.uniform(0, 1, rows))[::-1] ** 4
        return np.concatenate([boxes, scores[:, None], random.integers(0, 3, (rows, 1))], 1).astype(np.float32), \
            "yolo-end-to-end", {}
    return decided(make, seed)


def pixels(rows, columns=4):
    rows = rows.copy()
    rows[:, 0:columns:2] *= SIZE[0]
    rows[:, 1:columns:2] *= SIZE[1]
    return rows


def cases():
    yield from grid_cases()
    yield from square_cases()
    yield from quantized_cases()
    yield from option_cases()
    yield from end_to_end_cases()
    yield from metadata_cases()
    yield from extra_cases()
    yield from picture_cases()
    yield from ssd_cases()
    yield from refused_cases()
    yield from head_cases.cases(Case)


def grid_cases():
    rows, found = yolo8(1)
    yield Case("yolo8", models.constant_model([rows.T[None]]), objects=objects(found), kind="yolo8")
    yield Case("yolo8 in pixels", models.constant_model([pixels(rows).T[None]]), objects=objects(found), kind="yolo8")
    named = models.with_files(models.constant_model([rows[None]]), models.metadata_json(NAMES))
    yield Case("yolo8 transposed", named, objects=objects(found, labels=NAMES), kind="yolo8")
    yield Case("yolo8 transposed, by hand", models.constant_model([rows[None]]), options=["--layout", "yolo8"],
               objects=objects(found), kind="yolo8")
    yield Case("yolo8 with channels first", models.constant_model([rows.T[None]], planar=True),
               objects=objects(found), kind="yolo8")
    yield Case("yolo8 without a batch", models.constant_model([rows.T]), objects=objects(found), kind="yolo8")
    for image in ((100, 40), (33, 64), (50, 87), (200, 129)):
        yield Case(f"yolo8 in a letterbox of {image[0]}x{image[1]}", models.constant_model([rows.T[None]]), image,
                   objects=objects(found, image), kind="yolo8")
    rows, found = yolo8(2, classes=1)
    yield Case("yolo8 with one class", models.constant_model([rows.T[None]]), objects=objects(found), kind="yolo8")
    rows, found = yolo5(3)
    yield Case("yolo5", models.constant_model([rows[None]]), objects=objects(found), kind="yolo5")
    yield Case("yolo5 in pixels", models.constant_model([pixels(rows)[None]]), objects=objects(found), kind="yolo5")
    yield Case("yolo5 transposed", models.constant_model([rows.T[None]]), objects=objects(found), kind="yolo5")
    size = (96, 64)
    random = np.random.default_rng(4)
    cells = sum((96 // s) * (64 // s) for s in (8, 16, 32))
    wide = candidates(random, cells, 3)
    yield Case("yolo8 of another shape", models.constant_model([wide.T[None]], size=size), size,
               objects=objects(rules.yolo(wide, "yolo8", size), size, size), kind="yolo8")


def square_cases():
    """As many candidates as numbers of each, 84: only the graph, the values or the caller say which are which."""
    rows, found = yolo8(16, classes=CELLS - 4)
    answer = {"objects": objects(found), "kind": "yolo8"}
    for name, output in (("columns", rows.T[None]), ("rows", rows[None])):
        yield Case(f"square yolo8 with candidates in {name}", models.constant_model([output]), error="--candidates")
        yield Case(f"square yolo8 with candidates in {name}, by hand", models.constant_model([output]),
                   options=["--candidates", name], **answer)
    yield Case("square yolo8 by layout with candidates in rows, by hand", models.constant_model([rows[None]]),
               options=["--layout", "yolo8", "--candidates", "rows"], **answer)
    yield Case("square yolo8 by layout", models.constant_model([rows.T[None]]), options=["--layout", "yolo8"],
               error="--candidates")
    box, scores = rows[None, :, :4], rows[None, :, 4:]
    grids = [rows[None, :64], rows[None, 64:80], rows[None, 80:]]
    yield Case("square yolo8 of joined rows", models.joined_model([box, scores], 2), **answer)
    yield Case("square yolo8 of joined columns", models.joined_model(
        [box.transpose(0, 2, 1), scores.transpose(0, 2, 1)], 1), **answer)
    yield Case("square yolo8 of joined rows, transposed", models.joined_model([box, scores], 2, (0, 2, 1)), **answer)
    yield Case("square yolo8 of joined columns, transposed", models.joined_model(
        [box.transpose(0, 2, 1), scores.transpose(0, 2, 1)], 1, (0, 2, 1)), **answer)
    yield Case("square yolo8 of joined grids", models.joined_model(grids, 1), **answer)
    yield Case("square yolo8 of joined grids, transposed", models.joined_model(grids, 1, (0, 2, 1)), **answer)
    yield Case("square yolo8 in pixels", models.constant_model([pixels(rows).T[None]]), **answer)
    yield Case("square yolo8 in rows, in pixels", models.constant_model([pixels(rows)[None]]), **answer)


def quantized_cases():
    for name, dtype, scale in (("int8", "int8", UNIT), ("uint8", "uint8", Quantization.per_tensor(0.00613, 3)),
                               ("int8 of another scale", "int8", Quantization.per_tensor(0.0079, -127))):
        for kind, make in (("yolo8", yolo8), ("yolo5", yolo5)):
            # Steps make scores equal; the rules decide those by the order of the candidates.
            rows, _ = make(5)
            steps = models.quantized(rows, scale, models.TYPES[dtype])
            found = rules.yolo(models.real(steps, scale), kind, SIZE)
            output = steps.T[None] if kind == "yolo8" else steps[None]
            inputs = PICTURE_INT8 if dtype == "int8" else PICTURE_UINT8
            yield Case(f"{kind}, {name}", models.constant_model([(output, scale)], input_type=dtype,
                                                                input_quantization=inputs),
                       objects=objects(found), kind=kind)
    collapsed = Quantization.per_tensor(2.5, -128)
    rows, _ = yolo8(6)
    steps = models.quantized(pixels(rows), collapsed, np.int8)
    yield Case("collapsed scores", models.constant_model([(steps.T[None], collapsed)]), warning="collapsed",
               kind="yolo8")


def option_cases():
    for name, arguments, options in (
            ("class-agnostic", ["--class-agnostic"], {"agnostic": True}),
            ("several classes a box", ["--multi-label"], {"multi_label": True}),
            ("another overlap", ["--iou-threshold", "0.2"], {"iou": 0.2}),
            ("another threshold", ["--score-threshold", "0.5"], {"threshold": 0.5}),
            ("few results", ["--max-results", "3"], {"limit": 3})):
        rows, found = yolo8(8, **options)
        yield Case(name, models.constant_model([rows.T[None]]), options=arguments, objects=objects(found), kind="yolo8")
    rows, found = yolo5(9, multi_label=True)
    yield Case("several classes a box of yolo5", models.constant_model([rows[None]]), options=["--multi-label"],
               objects=objects(found), kind="yolo5")


def end_to_end_cases():
    rows, found = end_to_end(10)
    yield Case("end to end in fractions", models.constant_model([rows[None]]), objects=objects(found),
               kind="yolo-end-to-end")
    yield Case("end to end in pixels, channels first", models.constant_model([pixels(rows)[None]], planar=True),
               objects=objects(found), kind="yolo-end-to-end")
    rows, found = end_to_end(11, rows=100)
    yield Case("end to end with 100 rows", models.constant_model([rows[None]]), objects=objects(found),
               kind="yolo-end-to-end")
    def raw(random):
        rows = candidates(random, CELLS, 3)
        rows[:, :4] = rules.corners(rows)[:, :4]
        return rows, "yolo10-raw", {}
    rows, found = decided(raw, 12)
    yield Case("raw one-to-one by hand", models.constant_model([rows.T[None]]), options=["--layout", "yolo10-raw"],
               objects=objects(found), kind="yolo10-raw")
    model = models.with_files(models.constant_model([rows.T[None]]), models.metadata_json(NAMES, end2end=True))
    yield Case("raw one-to-one by metadata", model, objects=objects(found, labels=NAMES), kind="yolo10-raw")


def metadata_cases():
    rows, found = yolo8(13)
    plain = models.constant_model([rows.T[None]])
    odd = ["it's", 'a "b"', "caf\u00e9"]
    for name, files, labels in (
            ("metadata.json", models.metadata_json(NAMES, task="detect", imgsz=[64, 64], end2end=False), NAMES),
            ("temp_meta.txt", models.metadata_literal(NAMES, task="detect", imgsz=[64, 64], batch=1, date=None), NAMES),
            ("odd names as JSON", models.metadata_json(odd), odd),
            ("odd names as a literal", models.metadata_literal(odd), odd)):
        for compressed in (False, True):
            yield Case(f"{name}{', compressed' if compressed else ''}", models.with_files(plain, files, compressed),
                       objects=objects(found, labels=labels), kind="yolo8")
    yield Case("labels.txt", models.with_files(plain, {"labels.txt": "\n".join(NAMES)}),
               objects=objects(found, labels=NAMES), kind="yolo8")
    rows, found = end_to_end(14, rows=84)
    yield Case("suppression inside, by metadata", models.with_files(
        models.constant_model([rows[None]]), models.metadata_literal(NAMES, args={"nms": True})),
        objects=objects(found, labels=NAMES), kind="yolo-end-to-end")
    # No grid has so many cells, but the names say how many columns are scores.
    random = np.random.default_rng(15)
    rows = candidates(random, 50, 3)
    yield Case("by the number of names", models.with_files(
        models.constant_model([rows.T[None]]), models.metadata_json(NAMES)),
        objects=objects(rules.yolo(rows, "yolo8", SIZE), labels=NAMES), kind="yolo8")


def extra_cases():
    count, grid = 8, 16
    random = np.random.default_rng(16)
    prototypes = random.normal(0, 1, (grid, grid, count)).astype(np.float32)
    rows, found = yolo8(17)
    coefficients = random.normal(0, 1, (CELLS, count)).astype(np.float32)
    both = np.concatenate([rows, coefficients], 1)
    for image in (SIZE, (90, 60)):
        expected = objects(found, image)
        placed = rules.undo_letterbox(found[0], *image, *SIZE)
        areas = [int(mask.sum()) for mask in rules.masks(coefficients[found[3]], prototypes, placed, image, SIZE)]
        for item, area in zip(expected, areas):
            item["area"] = area
        suffix = f" of {image[0]}x{image[1]}"
        yield Case("masks" + suffix, models.constant_model([both.T[None], prototypes[None]]), image, objects=expected,
                   kind="yolo8")
        yield Case("masks, channels first, in the other order" + suffix, models.constant_model(
            [prototypes.transpose(2, 0, 1)[None], both.T[None]], planar=True), image, objects=expected, kind="yolo8")
    rows, found = end_to_end(18)
    coefficients = random.normal(0, 1, (300, count)).astype(np.float32)
    expected = objects(found)
    for item, mask in zip(expected, rules.masks(coefficients[found[3]], prototypes,
                                                rules.undo_letterbox(found[0], *SIZE, *SIZE), SIZE, SIZE)):
        item["area"] = int(mask.sum())
    yield Case("masks end to end", models.constant_model([np.concatenate([rows, coefficients], 1)[None],
                                                          prototypes[None]]), objects=expected, kind="yolo-end-to-end")
    rows, found = yolo8(19, classes=1)
    points = random.uniform(0, 1, (CELLS, 17, 3)).astype(np.float32)
    facts = {"task": "pose", "kpt_shape": [17, 3]}
    for image in (SIZE, (40, 90)):
        expected = objects(found, image, labels=["person"])
        for item, row in zip(expected, found[3]):
            left, top, width, height = rules.letterbox(*image, *SIZE)
            item["keypoints"] = [[(x * 64 - left) * image[0] / width, (y * 64 - top) * image[1] / height, float(score)]
                                 for x, y, score in points[row].astype(float)]
        model = models.constant_model([np.concatenate([rows, points.reshape(CELLS, -1)], 1).T[None]])
        yield Case(f"keypoints of {image[0]}x{image[1]}", models.with_files(
            model, models.metadata_json(["person"], **facts)), image, objects=expected, kind="yolo8")
    # Ultralytics' exports to TensorFlow Lite before YOLO11 divide boxes by the input's size, and leave the points in pixels.
    rows, found = yolo8(42, classes=1)
    places = np.random.default_rng(42).uniform(-0.4, 0.4, (CELLS, 3, 2))
    points = ((rows[:, None, :2] + places * rows[:, None, 2:4]) * np.array(SIZE)).astype(np.float32)
    seen = np.full((CELLS, 3, 1), 0.75, np.float32)
    expected = objects(found, labels=["person"])
    for item, row in zip(expected, found[3]):
        item["keypoints"] = [[float(x), float(y), 0.75] for x, y in points[row]]
    columns = np.concatenate([rows, np.concatenate([points, seen], 2).reshape(CELLS, -1)], 1).astype(np.float32)
    yield Case("keypoints in pixels beside boxes as fractions", models.with_files(
        models.constant_model([columns.T[None]]), models.metadata_json(["person"], task="pose", kpt_shape=[3, 3])), objects=expected, kind="yolo8")


def picture_cases():
    """The picture's pixels become the boxes: order, normalization and quantization of the input show."""
    size = (30, 20)
    pixels = picture(*size)
    for planar in (False, True):
        for dtype, scale in (("float32", None), ("int8", PICTURE_INT8), ("int8", Quantization.per_tensor(0.0187, -14)),
                             ("uint8", PICTURE_UINT8), ("uint8", Quantization.per_tensor(0.005, 20))):
            values = pixels.astype(np.float32) / np.float32(255)
            if scale:
                values = models.real(models.quantized(values, scale, models.TYPES[dtype]), scale)
            order = values.transpose(2, 0, 1) if planar else values
            rows = order.reshape(300, 6)
            # Sizes are never negative, whatever the pixels; corners could be.
            found = rules.yolo(rows, "yolo8", size, threshold=0.5, limit=40, iou=1)
            name = f"the picture, {'NCHW' if planar else 'NHWC'}, {dtype}" + (f" of {scale.scale:.4f}" if scale else "")
            yield Case(name, models.picture_model((1, 300, 6), size, planar, dtype, scale), size,
                       ["--layout", "yolo8", "--iou-threshold", "1", "--score-threshold", "0.5", "--max-results", "40"],
                       objects(found, size, size), kind="yolo8")


def ssd_objects(boxes, scores, classes, image=SIZE, labels=None):
    return [{"index": int(index), "score": float(score), "label": labels[index] if labels else None,
             "edges": [float(edge) * image[axis % 2] for axis, edge in enumerate(box)]}
            for box, score, index in zip(boxes, scores, classes)]


def ssd_cases():
    random = np.random.default_rng(20)
    anchors = rules.ssd_anchors(*SIZE)
    boxes = random.normal(0, 0.5, (len(anchors), 4)).astype(np.float32)
    scores = random.uniform(0, 0.95, (len(anchors), 3)).astype(np.float32)
    expected = rules.ssd(boxes, scores, anchors)
    yield Case("SSD with generated anchors", models.constant_model([boxes[None], scores[None]]),
               objects=ssd_objects(*expected), kind="ssd")
    yield Case("SSD, scores first", models.constant_model([scores[None], boxes[None]]), (80, 30),
               objects=ssd_objects(*expected, image=(80, 30)), kind="ssd")
    logits = np.log(scores / (1 - scores)).astype(np.float32)
    yield Case("SSD with logits", models.constant_model([boxes[None], logits[None]]),
               objects=ssd_objects(*rules.ssd(boxes, logits, anchors, logits=True)), kind="ssd")
    own = np.concatenate([random.uniform(0.2, 0.8, (40, 2)), random.uniform(0.1, 0.4, (40, 2))], 1).astype(np.float32)
    boxes, logits = boxes[:40], logits[:40]
    model = models.with_metadata(
        models.constant_model([boxes[None], logits[None]]),
        [{"name": "location"}, {"name": "score", "labels": "labels.txt"}],
        models.detector_options(own, 3, scales=(8, 9, 4, 6)))
    expected = rules.ssd(boxes, logits, own, scales=(8, 9, 4, 6), logits=True)
    yield Case("SSD with anchors of the metadata", models.with_files(model, {"labels.txt": "\n".join(NAMES)}),
               objects=ssd_objects(*expected, labels=NAMES), kind="ssd")
    background = np.concatenate([np.full((40, 1), 0.9, np.float32), scores[:40]], 1)
    model = models.with_metadata(
        models.constant_model([boxes[None], background[None]]),
        [{"name": "location"}, {"name": "score", "labels": "labels.txt"}],
        models.detector_options(own, 4, logits=False))
    expected = rules.ssd(boxes, background, own, background=True)
    yield Case("SSD with a background", models.with_files(
        model, {"labels.txt": "\n".join(["background", *NAMES])}),
        objects=ssd_objects(*expected, labels=NAMES), kind="ssd")
    yield from calibrated_cases(random)


def calibrated_cases(random):
    boxes = np.sort(random.uniform(0, 1, (5, 2, 2)), 1).reshape(5, 4).astype(np.float32)
    classes = np.array([0, 1, 2, 0, 1], np.float32)
    scores = np.array([0.9, 0.8, 0.7, 0.6, 0.3], np.float32)
    lines = [(0.9, 1.5, -0.5), None, (1.0, 0.7, 0.2, 0.5)]
    text = "\n".join(",".join(map(str, line)) if line else "" for line in lines)
    for number, transformation in enumerate(("identity", "log", "inverse-logistic")):
        model = models.with_metadata(
            models.constant_model([boxes[None], classes[None], scores[None], np.array([5], np.float32)]),
            [{"name": "location"}, {"name": "category", "labels": "labels.txt"},
             {"name": "score", "calibration": "calibration.txt", "transformation": number, "default": 0.11},
             {"name": "number of detections"}])
        model = models.with_files(model, {"labels.txt": "\n".join(NAMES), "calibration.txt": text})
        better = rules.calibrated(scores, classes.astype(int), lines, transformation, 0.11)
        order = np.argsort(-better, kind="stable")
        edges = boxes[order][:, [1, 0, 3, 2]]
        yield Case(f"calibrated scores, {transformation}", model, options=["--score-threshold", "0.05"],
                   objects=ssd_objects(edges, better[order], classes[order].astype(int), labels=NAMES),
                   kind="post-processed")


def refused_cases():
    random = np.random.default_rng(30)
    rows = candidates(random, 3 * CELLS, 1)
    both = np.concatenate([rows[:, :4], rows[:, 4:5], rows[:, 4:5]], 1)
    yield Case("yolo5 of one class, or end to end", models.constant_model([both[None]]), error="yolo5")
    yield Case("yolo8 of two classes, or end to end", models.constant_model([both[None, :CELLS]]), error="yolo8")
    yield Case("no grid", models.constant_model([rows.T[None, :, :50]]), error="yolo-end-to-end")
    rows, found = yolo5(31, classes=1)
    yield Case("yolo5 of one class by hand", models.constant_model([rows[None]]), options=["--layout", "yolo5"],
               objects=objects(found), kind="yolo5")
    rows, _ = yolo8(32)
    yield Case("another task", models.with_files(models.constant_model([rows.T[None]]),
                                                 models.metadata_json(NAMES, task="classify")), error="classify")
