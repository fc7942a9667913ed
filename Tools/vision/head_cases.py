# SPDX-License-Identifier: Apache-2.0
"""Models of the heads in `heads.py`, with what the rules there find: `cases(Case)` yields them one by one."""

import numpy as np

import heads
import models
import rules
from models import Quantization

SIZE = (64, 64)
NAMES = ["ant", "bee", "cat"]
COCO = [f"thing {number}" for number in range(80)]


def cases(case):
    yield from yolox_cases(case)
    yield from short_list_cases(case)
    yield from row_cases(case)
    yield from fomo_cases(case)
    yield from anchor_cases(case)
    yield from box_score_cases(case)
    yield from transformer_cases(case)
    yield from oriented_cases(case)
    yield from corner_cases(case)
    yield from best_class_cases(case)
    yield from denied_cases(case)


def place(box, image=SIZE, size=SIZE, fit="letterbox", clips=True):
    """A box in pixels of the input, in pixels of the picture."""
    width, height = image
    if fit == "top-left":
        # What YOLOX leaves over lies at the right and at the bottom.
        ratio = min(size[0] / width, size[1] / height)
        across, down = width / int(width * ratio), height / int(height * ratio)
        left = top = 0
    elif fit == "letterbox":
        left, top, inner_width, inner_height = rules.letterbox(width, height, *size)
        across, down = width / inner_width, height / inner_height
    else:
        left = top = 0
        across, down = width / size[0], height / size[1]
    edges = [(float(box[0]) - left) * across, (float(box[1]) - top) * down, (float(box[2]) - left) * across,
             (float(box[3]) - top) * down]
    if clips:
        edges = [min(max(edge, 0), limit) for edge, limit in zip(edges, (width, height) * 2)]
    return edges


def objects(found, labels=None, **placing):
    return [{"index": int(index), "score": float(score), "edges": place(box, **placing),
             "label": labels[index] if labels else None}
            for box, score, index in zip(found[0], found[1], found[2])]


def decided(make, find, seed, least=3):
    """Rows for which no decision hangs on the last digits."""
    for attempt in range(500):
        rows = make(np.random.default_rng([seed, attempt]))
        found = find(rows, {})
        stable = all(
            np.array_equal(find(rows, change)[3], found[3])
            for change in ({"threshold": 0.2501}, {"threshold": 0.2499}, {"iou": 0.451}, {"iou": 0.449}))
        if stable and len(found[1]) >= least and len(set(found[1].tolist())) == len(found[1]):
            return rows, found
    raise RuntimeError("no seed decides")


# MARK: YOLOX and YOLO v6


def offsets(random, classes, size=SIZE):
    """Rows of YOLOX's network: offsets and logarithms around a few objects, objectness, classes."""
    grid = heads.cells(size)
    count = len(grid)
    rows = np.concatenate([random.normal(0.5, 0.4, (count, 2)), random.normal(0.6, 0.5, (count, 2)),
                           random.uniform(0, 0.15, (count, 1)), random.uniform(0, 0.3, (count, classes))], 1)
    for _ in range(8):
        x, y, width, height = random.uniform(0.2, 0.8, 4) * [*size, size[0] * 0.6, size[1] * 0.6]
        near = np.abs(x / grid[:, 2] - grid[:, 0] - 0.5) + np.abs(y / grid[:, 2] - grid[:, 1] - 0.5) < 1.5
        index = random.integers(0, classes)
        for row in np.where(near)[0]:
            stride = grid[row, 2]
            rows[row, :2] = [x / stride - grid[row, 0], y / stride - grid[row, 1]] + random.normal(0, 0.05, 2)
            rows[row, 2:4] = np.log([width / stride, height / stride]) + random.normal(0, 0.05, 2)
            rows[row, 4] = random.uniform(0.5, 1)
            rows[row, 5 + index] = random.uniform(0.5, 1)
    return rows.astype(np.float32)


def decoded(rows, size=SIZE):
    grid = heads.cells(size)
    rows = rows.copy()
    rows[:, :2] = (rows[:, :2] + grid[:, :2]) * grid[:, 2:]
    rows[:, 2:4] = np.exp(rows[:, 2:4]) * grid[:, 2:]
    return rows


def yolox_cases(case):
    def raw(seed, classes=3, **options):
        return decided(lambda random: offsets(random, classes),
                       lambda rows, change: heads.yolox(rows, SIZE, raw=True, **{**options, **change}), seed)

    names = models.metadata_json(NAMES)
    rows, found = raw(40)
    for image in (SIZE, (100, 40), (33, 64), (50, 87)):
        yield case(f"YOLOX for a picture of {image[0]}x{image[1]}", models.with_files(
            models.constant_model([decoded(rows)[None]]), names), image,
            objects=objects(found, NAMES, image=image, fit="top-left"), kind="yolox")
    yield case("raw YOLOX", models.with_files(models.constant_model([rows[None]]), names),
               objects=objects(found, NAMES, fit="top-left"), kind="yolox-raw")
    yield case("raw YOLOX, transposed, channels first", models.with_files(
        models.constant_model([rows.T[None]], planar=True), names),
        objects=objects(found, NAMES, fit="top-left"), kind="yolox-raw")
    yield case("YOLOX by hand", models.constant_model([decoded(rows)[None]]), options=["--layout", "yolox"],
               objects=objects(found, fit="top-left"), kind="yolox")
    yield case("raw YOLOX by hand", models.constant_model([rows[None]]), options=["--layout", "yolox-raw"],
               objects=objects(found, fit="top-left"), kind="yolox-raw")
    yield case("YOLOX, or YOLO v8 with a class more", models.constant_model([decoded(rows)[None]]), error="yolox")
    yield case("YOLO v8 with a class more, or YOLOX", models.constant_model([decoded(rows)[None]]), error="yolo8")
    rows, found = raw(41, classes=80)
    yield case("YOLOX of COCO", models.constant_model([decoded(rows)[None]]),
               objects=objects(found, fit="top-left"), kind="yolox")
    yield case("raw YOLOX of COCO, with names", models.with_files(
        models.constant_model([rows[None]]), models.metadata_json(COCO)),
        objects=objects(found, COCO, fit="top-left"), kind="yolox-raw")
    rows, found = raw(42, multi_label=True)
    yield case("YOLOX with several classes a box", models.with_files(models.constant_model([rows[None]]), names),
               options=["--multi-label"], objects=objects(found, NAMES, fit="top-left"), kind="yolox-raw")
    rows, _ = raw(43)
    rows = decoded(rows)
    rows[:, 4] = 1
    found = heads.yolox(rows, SIZE)
    yield case("YOLO v6", models.constant_model([rows[None]]), (90, 70), objects=objects(found, image=(90, 70)),
               kind="yolo6")
    yield case("YOLO v6 by hand", models.constant_model([rows[None]]), options=["--layout", "yolo6"],
               objects=objects(found), kind="yolo6")
    steps = Quantization.per_tensor(0.3, -128)
    byte_rows = models.quantized(rows, steps, np.int8)
    yield case("YOLO v6 with one scale for boxes and scores", models.constant_model([(byte_rows[None], steps)]),
               options=["--layout", "yolo6"], kind="yolo6", warning="collapsed")


def short_list_cases(case):
    """As many rows as cells and six columns: three kinds with objectness or without, or a list."""
    rows = offsets(np.random.default_rng(44), 1)
    for kind in ("yolo8", "yolox", "yolo6", "yolo-end-to-end"):
        yield case(f"six columns may be {kind}", models.constant_model([rows[None]]), error=kind)


# MARK: Rows of seven numbers


def row_cases(case):
    random = np.random.default_rng(50)

    def rows(count, kind):
        low = random.uniform(0, 40, (count, 2))
        high = low + random.uniform(4, 20, (count, 2))
        scores = np.sort(random.uniform(0, 1, count) ** 2)[::-1]
        classes = random.integers(0, 3, count)
        if kind == "efficientdet":
            return np.stack([np.zeros(count), low[:, 1], low[:, 0], high[:, 1], high[:, 0], scores, classes + 1],
                            1).astype(np.float32)
        return np.stack([np.zeros(count), low[:, 0], low[:, 1], high[:, 0], high[:, 1], classes, scores],
                        1).astype(np.float32)

    values = rows(100, "yolo7-end-to-end")
    found = heads.rows7(values, "yolo7-end-to-end", 0.25)
    for image in (SIZE, (100, 40)):
        yield case(f"v7 end to end of {image[0]}x{image[1]}", models.constant_model([values[None]]), image,
                   objects=objects(found, image=image), kind="yolo7-end-to-end")
    yield case("v7 end to end without a batch, by hand", models.constant_model([values]),
               options=["--layout", "yolo7-end-to-end"], objects=objects(found), kind="yolo7-end-to-end")
    values = rows(100, "efficientdet")
    found = [part[:10] for part in heads.rows7(values, "efficientdet", 0.5)]
    for image in (SIZE, (100, 40)):
        yield case(f"EfficientDet of {image[0]}x{image[1]}", models.constant_model([values[None]]), image,
                   objects=objects(found, image=image, fit="top-left", clips=False), kind="efficientdet")
    flat = values[:, [0, 2, 1, 4, 3, 5, 6]] - np.float32([0, 0, 0, 0, 0, 0, 1])
    yield case("YOLO-NAS in its flat format", models.constant_model([flat]),
               objects=objects(heads.rows7(flat, "yolo-nas-end-to-end", 0.25)), kind="yolo-nas-end-to-end")
    first = flat[:, [0, 6, 5, 1, 2, 3, 4]]
    first[-7:, 0] = -1
    found7 = heads.rows7(first, "class-first", 0.5)
    found6 = heads.rows7(first[:40, 1:], "class-first", 0.5)
    named = [{"name": "batchno_classid_score_x1y1x2y2"}]
    for image in (SIZE, (100, 40)):
        yield case(f"rows of image, class, score and corners of {image[0]}x{image[1]}", models.with_metadata(
            models.constant_model([first]), named), image, objects=objects(found7, image=image, fit="stretch", clips=False),
            kind="class-first")
    yield case("rows of class, score and corners, with a count, by hand", models.constant_model(
        [np.float32([40]), first[:, 1:]]), options=["--layout", "class-first"],
        objects=objects(found6, fit="stretch", clips=False), kind="class-first")
    labelled = models.with_files(models.constant_model([values[None]]), {"labels.txt": "\n".join(NAMES)})
    yield case("EfficientDet with names", labelled, options=["--layout", "efficientdet"],
               objects=objects(found, NAMES, fit="top-left", clips=False), kind="efficientdet")
    nothing = np.zeros((1, 100, 7), np.float32)
    yield case("rows of zeros are EfficientDet's or v7's", models.constant_model([nothing]), error="efficientdet")
    yield case("rows of zeros are v7's or EfficientDet's", models.constant_model([nothing]), error="yolo7-end-to-end")
    yield case("rows of zeros by hand", models.constant_model([nothing]), options=["--layout", "yolo7-end-to-end"],
               objects=[], kind="yolo7-end-to-end")


# MARK: FOMO


def fomo_objects(grid, labels=None, image=SIZE, threshold=0.5):
    height, width, _ = grid.shape
    result = []
    for (left, top, right, bottom), score, index in heads.fomo(grid, threshold):
        edges = [left * image[0] / width, top * image[1] / height, right * image[0] / width, bottom * image[1] / height]
        result.append({"index": index, "score": float(score), "edges": edges, "label": labels[index] if labels else None,
                       "center": [(edges[0] + edges[2]) / 2, (edges[1] + edges[3]) / 2]})
    return result


def fomo_cases(case):
    random = np.random.default_rng(60)
    grid = random.uniform(0, 0.3, (8, 8, 4)).astype(np.float32)
    for y, x, index, value in ((1, 1, 1, 0.9), (1, 2, 1, 0.7), (2, 3, 1, 0.75), (5, 1, 2, 0.6), (5, 2, 3, 0.8),
                               (6, 6, 2, 0.97), (7, 6, 2, 0.55), (0, 7, 3, 0.51)):
        grid[y, x, 1:] *= 0.02
        grid[y, x, index] = value
    grid[..., 0] = 1 - grid[..., 1:].sum(-1)
    for image in (SIZE, (120, 50)):
        expected = fomo_objects(grid, image=image)
        yield case(f"FOMO of {image[0]}x{image[1]}", models.softmax_model(grid[None]), image, objects=expected,
                   kind="fomo")
    yield case("FOMO by hand", models.constant_model([grid[None]]), options=["--layout", "fomo"],
               objects=fomo_objects(grid), kind="fomo")
    yield case("FOMO, channels first", models.constant_model([grid.transpose(2, 0, 1)[None]], planar=True),
               options=["--layout", "fomo"], objects=fomo_objects(grid), kind="fomo")
    labels = "\n".join(["background", *NAMES])
    yield case("FOMO with names", models.with_files(models.softmax_model(grid[None]), {"labels.txt": labels}),
               objects=fomo_objects(grid, NAMES), kind="fomo")
    yield case("FOMO with names but the background's", models.with_files(
        models.softmax_model(grid[None]), {"labels.txt": "\n".join(NAMES)}), objects=fomo_objects(grid, NAMES), kind="fomo")
    steps = Quantization.per_tensor(1 / 256, -128)
    byte_grid = models.quantized(grid, steps, np.int8)
    yield case("FOMO, int8", models.constant_model([(byte_grid[None], steps)]),
               options=["--layout", "fomo", "--score-threshold", "0.2"],
               objects=fomo_objects(models.real(byte_grid, steps), threshold=0.2), kind="fomo")
    yield case("FOMO by the sums of its cells", models.constant_model([grid[None]]), objects=fomo_objects(grid), kind="fomo")
    yield case("a grid of no probabilities is not FOMO", models.constant_model([grid[None] * np.float32(0.9)]), error="fomo")


# MARK: Anchors


def anchor_cases(case):
    size = (128, 64)

    def grids(random, kind, classes=3, count=None):
        count = count or (5 if kind == "yolo2" else 3)
        strides, reaches, published = heads.DARKNET[kind]
        sizes = np.array(published, np.float32).reshape(len(strides), -1, 2)
        result = []
        for level, stride in enumerate(strides):
            shape = (-(-size[1] // stride), -(-size[0] // stride), count)
            grid = random.normal(0, 1, (*shape, 5 + classes)).astype(np.float32)
            # Objects of about twenty pixels, whatever the anchors.
            ratio = (random.uniform(12, 30, (*shape, 2)) / sizes[level][np.arange(count) % len(sizes[level])]).astype(np.float32)
            if reaches:
                grid[..., 2:4] = np.log(ratio)
            else:
                half = np.sqrt(np.clip(ratio, 0.01, 3.9)) / 2
                grid[..., 2:4] = np.log(half / (1 - half))
            grid[..., 4] = random.normal(-2, 2, shape)
            grid[..., 5:] = random.normal(-1, 2, (*shape, classes))
            result.append(grid)
        return result

    def find(kind, **own):
        return lambda values, change: heads.best_of(*(lambda rows: (rules.corners(rows)[:, :4], rows[:, 5:] * rows[:, 4:5]))(
            heads.anchored(values, kind, **own)), **change)

    fits = {"yolo2": "stretch", "yolo4": "stretch", "yolo4-tiny": "stretch"}
    for number, kind in enumerate(heads.DARKNET):
        values, found = decided(lambda random: grids(random, kind), find(kind), 70 + number)
        for image in (size, (70, 70)):
            expected = objects(found, image=image, size=size, fit=fits.get(kind, "letterbox"))
            flat = [grid.reshape(1, *grid.shape[:2], -1) for grid in values]
            yield case(f"{kind} of {image[0]}x{image[1]}", models.constant_model(flat[::-1], size=size), image,
                       options=["--layout", kind], objects=expected, kind=kind)
    values, found = decided(lambda random: grids(random, "yolo3"), find("yolo3"), 80)
    expected = objects(found, image=size, size=size)
    for name, forms in (
            ("with anchors apart", [grid[None] for grid in values]),
            ("channels first", [grid.reshape(*grid.shape[:2], -1).transpose(2, 0, 1)[None] for grid in values]),
            ("anchors first", [grid.transpose(2, 0, 1, 3)[None] for grid in values]),
            ("anchors and channels first", [grid.transpose(2, 3, 0, 1)[None] for grid in values])):
        yield case(f"yolo3, {name}", models.constant_model(forms, size=size), size, options=["--layout", "yolo3"],
                   objects=expected, kind="yolo3")
    flat = [grid.reshape(1, *grid.shape[:2], -1) for grid in values]
    for name in ("yolo3", "yolo4", "yolo5-raw", "yolo7-raw"):
        yield case(f"three grids may be {name}", models.constant_model(flat, size=size), size, error=name)
    for name in ("yolo3-tiny", "yolo4-tiny"):
        yield case(f"two grids may be {name}", models.constant_model(flat[1:], size=size), size, error=name)
    named = models.with_metadata(models.constant_model(flat, size=size), [{"name": name} for name in "abc"],
                                 title="YOLOv3 of flowers")
    yield case("yolo3 by its name", named, size, objects=expected, kind="yolo3")
    yield case("a map that may be YOLO v2's", models.constant_model(flat[:1], size=size), size, error="yolo2")
    yield case("a map that may be FOMO's", models.constant_model(flat[:1], size=size), size, error="fomo")
    own = [(9, 9), (20, 11), (30, 30), (17, 40)]
    values, found = decided(lambda random: [grid[:, :, :2] for grid in grids(random, "yolo4-tiny")],
                            find("yolo4-tiny", anchors=own), 81)
    flat = [grid.reshape(1, *grid.shape[:2], -1) for grid in values]
    numbers = ",".join(str(number) for pair in own for number in pair)
    yield case("yolo4-tiny with two anchors of its own", models.constant_model(flat, size=size), size,
               options=["--layout", "yolo4-tiny", "--anchors", numbers],
               objects=objects(found, image=size, size=size, fit="stretch"), kind="yolo4-tiny")
    yield case("anchors that are no pairs", models.constant_model(flat, size=size), size,
               options=["--layout", "yolo4-tiny", "--anchors", "1,2,3"], error="anchors")


# MARK: Boxes and scores


def box_score_cases(case):
    grid = heads.cells(SIZE)

    def rows(random, perCell=1, classes=3):
        cells = np.repeat(grid, perCell, 0)
        centers = (cells[:, :2] + 0.5) * cells[:, 2:] + random.normal(0, 2, (len(cells), 2))
        boxes = np.concatenate([centers, random.uniform(6, 30, (len(cells), 2))], 1)
        scores = random.uniform(0, 0.2, (len(cells), classes))
        strong = random.random(len(cells)) < 0.2
        scores[strong, random.integers(0, classes, strong.sum())] = random.uniform(0.2, 0.99, strong.sum())
        return np.concatenate([boxes, scores], 1).astype(np.float32)

    def find(rows, change):
        return heads.boxes_and_scores(rows[:, :4], rows[:, 4:], False, **change)

    values, found = decided(rows, find, 90)
    corners, scores = rules.corners(values[:, :4]), values[:, 4:]
    for image in (SIZE, (100, 40)):
        yield case(f"YOLO-NAS of {image[0]}x{image[1]}", models.constant_model([corners[None], scores[None]]), image,
                   objects=objects(found, image=image), kind="yolo-nas")
    yield case("YOLO-NAS, scores first", models.constant_model([scores[None], corners[None]]),
               objects=objects(found), kind="yolo-nas")
    yield case("YOLO-NAS, transposed", models.constant_model([corners.T[None], scores.T[None]]),
               objects=objects(found), kind="yolo-nas")
    yield case("YOLO-NAS by hand", models.constant_model([corners[None], scores[None]]),
               options=["--layout", "yolo-nas"], objects=objects(found), kind="yolo-nas")
    logits = np.log(scores / (1 - scores)).astype(np.float32)
    yield case("YOLO-NAS with logits", models.constant_model([corners[None], logits[None]]),
               objects=objects(found), kind="yolo-nas")
    yield case("centers and scores of all cells", models.constant_model([values[None, :, :4], scores[None]]),
               objects=objects(found), kind="yolo-nas")
    values, found = decided(lambda random: rows(random, 3), find, 91)
    corners, scores = rules.corners(values[:, :4]), values[:, 4:]
    for image in (SIZE, (100, 40)):
        yield case(f"YOLO v4 with decoded boxes of {image[0]}x{image[1]}", models.constant_model(
            [values[None, :, :4], scores[None]]), image, objects=objects(found, image=image, fit="stretch"),
            kind="yolo4-boxes")
    yield case("YOLO v4 with corners in fractions", models.constant_model(
        [(corners / 64)[None, :, None], scores[None]]), objects=objects(found, fit="stretch"), kind="yolo4-boxes")


def transformer_cases(case):
    random = np.random.default_rng(100)

    def queries(count, classes):
        boxes = np.concatenate([random.uniform(0.2, 0.8, (count, 2)), random.uniform(0.05, 0.4, (count, 2))], 1)
        logits = random.normal(-5, 1.5, (count, classes))
        for row in random.choice(count, 8, replace=False):
            logits[row, random.integers(0, classes - 1, 2)] = random.uniform(0.5, 4, 2)
        return boxes.astype(np.float32), logits.astype(np.float32)

    boxes, logits = queries(300, 5)
    found = heads.transformer(boxes, logits, SIZE)
    for image in (SIZE, (100, 40)):
        yield case(f"RT-DETR of {image[0]}x{image[1]}", models.constant_model([logits[None], boxes[None]]), image,
                   objects=objects(found, image=image, fit="stretch"), kind="rt-detr")
    scores = heads.sigmoid(logits)
    yield case("RT-DETR with probabilities", models.constant_model([boxes[None], scores[None]]),
               objects=objects(found, fit="stretch"), kind="rt-detr")
    yield case("RT-DETR in one output", models.constant_model([np.concatenate([boxes, scores], 1)[None]]),
               objects=objects(found, fit="stretch"), kind="rt-detr")
    named = models.with_files(models.constant_model([np.concatenate([boxes[:, :4], scores[:, :3]], 1)[None]]),
                              models.metadata_json(NAMES, task="detect"))
    yield case("RT-DETR in one output, with names", named, objects=objects(
        heads.transformer(boxes, scores[:, :3], SIZE, probabilities=True), NAMES, fit="stretch"), kind="rt-detr")
    boxes, logits = queries(100, 6)
    yield case("100 queries may be RT-DETR's", models.constant_model([boxes[None], logits[None]]), error="rt-detr")
    yield case("100 queries may be DETR's", models.constant_model([boxes[None], logits[None]]), error="detr (")
    logits[:, -1] = random.normal(3, 1, 100)
    logits[:8, 2] = random.uniform(4, 7, 8)
    found = heads.transformer(boxes, logits, SIZE, "detr")
    yield case("DETR by hand", models.constant_model([boxes[None], logits[None]]), options=["--layout", "detr"],
               objects=objects(found, fit="stretch"), kind="detr")
    boxes, logits = queries(100, 92)
    logits[:, -1] = 1
    found = heads.transformer(boxes, logits, SIZE, "detr")
    yield case("DETR for COCO", models.constant_model([boxes[None], logits[None]]),
               objects=objects(found, fit="stretch"), kind="detr")
    boxes, logits = queries(300, 4)
    logits[:4, 3] = 5
    found = heads.transformer(boxes, logits, SIZE, "rf-detr")
    for order in ((boxes, logits), (logits, boxes)):
        name = "boxes first" if order[0] is boxes else "scores first"
        for title in ("RF-DETR", None):
            outputs = [{"name": "dets" if part is boxes else "labels"} for part in order] if title else None
            model = models.constant_model([part[None] for part in order])
            expected = found if title else heads.transformer(boxes, logits, SIZE)
            yield case(f"{title or 'a transformer without a name'} of three classes, {name}",
                       models.with_metadata(model, outputs, title=title) if title else model,
                       objects=objects(expected, fit="stretch"), kind="rt-detr")
    boxes, logits = queries(300, 91)
    logits[3, 90] = 4.5
    found = heads.transformer(boxes, logits, SIZE)
    yield case("a transformer with the numbers of COCO", models.constant_model([boxes[None], logits[None]]),
               objects=objects(found, fit="stretch"), kind="rt-detr")
    boxes, logits = queries(300, 5)
    model = models.with_metadata(models.constant_model([logits[None], boxes[None]]), [{"name": "labels"}, {"name": "dets"}])
    yield case("RF-DETR by the names of its outputs", model,
               objects=objects(heads.transformer(boxes, logits, SIZE, "rf-detr"), fit="stretch"), kind="rt-detr")
    yield case("RF-DETR with a name for each column", models.with_files(model, {"labels.txt": "\n".join("abcde")}),
               objects=objects(heads.transformer(boxes, logits, SIZE), list("abcde"), fit="stretch"), kind="rt-detr")
    boxes, logits = queries(24, 5)
    grids = random.normal(0, 1, (24, 16, 16)).astype(np.float32)
    found = heads.transformer(boxes, logits, SIZE, "rf-detr")
    for image, order in ((SIZE, (0, 1, 2)), ((90, 60), (2, 1, 0)), ((90, 60), (1, 0, 3))):
        expected = objects(found, image=image, fit="stretch")
        own = np.eye(24, dtype=np.float32)[found[3]]
        placed = [item["edges"] for item in expected]
        for item, mask in zip(expected, rules.masks(own, grids.transpose(1, 2, 0), placed, image, SIZE, "stretch")):
            item["area"] = int(mask.sum())
        outputs = [boxes[None], logits[None], grids[None], grids.transpose(1, 2, 0)[None]]
        model = models.constant_model([outputs[place] for place in order])
        named = models.with_metadata(model, [{"name": ["dets", "labels", "masks", "masks"][place]} for place in order])
        yield case(f"RF-DETR with masks of {image[0]}x{image[1]}" + (", channels last" if 3 in order else ""),
                   named, image, objects=expected, kind="rt-detr")
    yield case("queries with masks may be DETR's", model, error="detr (")


# MARK: Oriented boxes


def oriented_objects(found, labels=None, image=SIZE):
    result = []
    for corners, score, index in zip(heads.turned(found[0]), found[1], found[2]):
        placed = [place([*corner, *corner], image, clips=False)[:2] for corner in corners]
        low, high = np.min(placed, 0), np.max(placed, 0)
        edges = [min(max(float(edge), 0), limit) for edge, limit in zip([*low, *high], image * 2)]
        side = np.array(placed[1]) - placed[0]
        result.append({"index": int(index), "score": float(score), "edges": edges, "corners": placed,
                       "angle": float(np.arctan2(side[1], side[0])), "label": labels[index] if labels else None})
    return result


def oriented_cases(case):
    grid = heads.cells(SIZE)

    def rows(random, classes=3):
        chosen = random.integers(0, 6, len(grid))
        boxes = random.uniform([16, 16, 12, 6], [48, 48, 40, 20], (6, 4))[chosen] + random.normal(0, 1, (len(grid), 4))
        angles = random.uniform(-0.7, 2.3, 6)[chosen] + random.normal(0, 0.03, len(grid))
        scores = random.uniform(0, 0.2, (len(grid), classes))
        strong = random.random(len(grid)) < 0.4
        scores[strong, random.integers(0, classes, strong.sum())] = random.uniform(0.2, 0.99, strong.sum())
        return np.concatenate([boxes, scores, angles[:, None]], 1).astype(np.float32)

    def find(rows, change):
        return heads.oriented(rows, **change)

    values, found = decided(rows, find, 110)
    fractions = values.copy()
    fractions[:, :4] /= 64
    named = models.metadata_json(NAMES, task="obb", imgsz=[64, 64])
    for image in (SIZE, (100, 40)):
        yield case(f"oriented boxes of {image[0]}x{image[1]}", models.with_files(
            models.constant_model([fractions.T[None]]), named), image,
            objects=oriented_objects(found, NAMES, image), kind="yolo-obb")
    yield case("oriented boxes in pixels by hand", models.constant_model([values.T[None]]),
               options=["--layout", "yolo-obb"], objects=oriented_objects(found), kind="yolo-obb")
    yield case("oriented boxes by hand, a row each", models.constant_model([fractions[None]]),
               options=["--layout", "yolo-obb"], objects=oriented_objects(found), kind="yolo-obb")
    labelled = models.with_files(models.constant_model([fractions.T[None]]), {"labels.txt": "\n".join(NAMES)})
    yield case("oriented boxes by the number of names and angles", labelled, objects=oriented_objects(found, NAMES),
               kind="yolo-obb")
    # Each box overlaps its neighbor enough, so that the last one goes though the first one alone would leave it.
    chain = np.zeros((len(grid), 8), np.float32)
    chain[:, :4], chain[:, 7] = [32, 32, 32, 16], 0.2
    for row, (x, score) in enumerate(((20, 0.9), (28.8, 0.8), (37.6, 0.7))):
        chain[row, [0, 4]] = x, score
    found = heads.oriented(chain)
    assert len(found[1]) == 1
    yield case("a row of oriented boxes", models.constant_model([chain.T[None]]), options=["--layout", "yolo-obb"],
               objects=oriented_objects(found), kind="yolo-obb")
    random = np.random.default_rng(111)
    count = 300
    scores = np.sort(random.uniform(0, 1, count))[::-1] ** 4
    lists = np.concatenate([random.uniform(10, 54, (count, 2)), random.uniform(4, 30, (count, 2)), scores[:, None],
                            random.integers(0, 3, (count, 1)), random.uniform(-0.7, 2.3, (count, 1))], 1).astype(np.float32)
    keep = lists[:, 4] > 0.25
    found = lists[keep][:, [0, 1, 2, 3, 6]], lists[keep, 4], lists[keep, 5].astype(int)
    yield case("a list of oriented boxes, channels first", models.with_files(
        models.constant_model([lists[None]], planar=True), models.metadata_json(NAMES, task="obb", end2end=True)),
        objects=oriented_objects(found, NAMES), kind="yolo-obb-end-to-end")
    fractions = lists.copy()
    fractions[:, :4] /= 64
    yield case("a list of oriented boxes in fractions", models.with_files(
        models.constant_model([fractions[None]]), models.metadata_json(NAMES, task="obb", end2end=True)),
        objects=oriented_objects(found, NAMES), kind="yolo-obb-end-to-end")
    yield case("a list of oriented boxes by its values", models.constant_model([lists[None]]),
               objects=oriented_objects(found), kind="yolo-obb-end-to-end")


def corner_cases(case):
    """A raw head of YOLO v10, which has corners, beside YOLO v8's."""
    grid = heads.cells(SIZE)
    random = np.random.default_rng(120)
    centers = (grid[:, :2] + 0.5) * grid[:, 2:]
    sizes = random.uniform(4, 24, (len(grid), 2))
    scores = random.uniform(0, 0.2, (len(grid), 3))
    scores[random.choice(len(grid), 12, replace=False), random.integers(0, 3, 12)] = random.uniform(0.3, 0.99, 12)
    rows = (np.concatenate([centers - sizes / 2, centers + sizes / 2, scores * 64], 1) / 64).astype(np.float32)
    found = rules.yolo(rows, "yolo10-raw", SIZE)
    plain = models.constant_model([rows.T[None]])
    facts = {"task": "detect", "description": "Ultralytics YOLOv10n model"}
    yield case("v10's raw head by its description", models.with_files(plain, models.metadata_json(NAMES, **facts)),
               objects=objects((found[0], found[1], found[2]), NAMES), kind="yolo10-raw")
    yield case("v10's raw head, int8, by its description", models.with_files(
        *int8_rows(rows), models.metadata_json(NAMES, **facts)),
        objects=objects(rules.yolo(models.real(*int8_steps(rows)), "yolo10-raw", SIZE), NAMES), kind="yolo10-raw")
    yield case("corners of a head without a name", plain, refusal="yolo10-raw")


def best_class_cases(case):
    """The best class of each candidate and its score, as Qualcomm AI Hub's YOLO models give them, and short lists of such rows."""
    size = (128, 128)

    def rows(random, per_cell=1, classes=3):
        grid = np.repeat(heads.cells(size), per_cell, 0)
        centers = (grid[:, :2] + 0.5) * grid[:, 2:] + random.normal(0, 2, (len(grid), 2))
        sizes = random.uniform(8, 50, (len(grid), 2))
        scores = random.uniform(0, 0.2, (len(grid), classes))
        strong = random.random(len(grid)) < 0.1
        scores[strong, random.integers(0, classes, strong.sum())] = random.uniform(0.2, 0.99, strong.sum())
        return np.concatenate([centers - sizes / 2, centers + sizes / 2, scores], 1).astype(np.float32)

    def find(rows, change):
        return heads.boxes_and_scores(rows[:, :4], rows[:, 4:], True, **change)

    for per_cell, seed in ((1, 130), (3, 131)):
        values, found = decided(lambda random: rows(random, per_cell), find, seed)
        parts = {"boxes": values[None, :, :4], "scores": values[None, :, 4:].max(-1),
                 "class_idx": values[None, :, 4:].argmax(-1).astype(np.float32)}
        for names in (list(parts), ["class_idx", "boxes", "scores"]):
            model = models.constant_model([parts[name] for name in names], size=size)
            expected = objects(found, image=(200, 90), size=size)
            named = models.with_metadata(model, [{"name": name} for name in names], title="detector")
            yield case(f"the best of classes, {per_cell} a cell, {names[0]} first", named, (200, 90), objects=expected,
                       kind="yolo-best-class")
            yield case(f"the best of classes, {per_cell} a cell, {names[0]} first, without names", model, (200, 90),
                       objects=expected, kind="yolo-best-class")
    # After a suppression, in pixels: left, top, right, bottom.
    values, found = values[found[3][:20]], [part[:10] for part in found]
    model = models.constant_model([values[None, :, :4], found_classes(values), values[None, :, 4:].max(-1)], size=size)
    keep = values[:, 4:].max(-1) >= 0.5
    order = np.argsort(-values[keep, 4:].max(-1), kind="stable")[:10]
    chosen = values[keep][order]
    yield case("boxes, classes and scores in pixels", model, size, kind="post-processed", objects=objects(
        (chosen[:, :4], chosen[:, 4:].max(-1), chosen[:, 4:].argmax(-1)), image=size, size=size, fit="stretch", clips=False))


def found_classes(values):
    return values[None, :, 4:].argmax(-1).astype(np.float32)


def denied_cases(case):
    """Objects whose best class is denied, which are none of the next best class."""
    labels = {"labels.txt": "\n".join(NAMES)}
    denial = ["--deny", "bee"]

    def second(rows, first=4):
        """Gives rows of the second class a third one that would be enough."""
        strong = rows[:, first + 1] > 0.4
        rows[strong, first + 2] = rows[strong, first + 1] * 0.9
        return rows

    def denied_offsets(random):
        rows = offsets(random, 3)
        # A cell away from all others, whose best class is the denied one.
        rows[0] = [0.5, 0.5, np.log(0.5), np.log(0.5), 0.9, 0, 0.9, 0]
        return second(rows, 5)

    rows, found = decided(denied_offsets, lambda rows, change: heads.yolox(rows, SIZE, raw=True, denied=1, **change), 140)
    assert 0 not in found[3]
    yield case("raw YOLOX without a class", models.with_files(models.constant_model([rows[None]]), models.metadata_json(NAMES)),
               options=denial, objects=objects(found, NAMES, fit="top-left"), kind="yolox-raw")

    grid = heads.cells(SIZE)

    def scored(random):
        centers = (grid[:, :2] + 0.5) * grid[:, 2:] + random.normal(0, 2, (len(grid), 2))
        scores = random.uniform(0, 0.2, (len(grid), 3))
        strong = random.random(len(grid)) < 0.2
        scores[strong, random.integers(0, 3, strong.sum())] = random.uniform(0.2, 0.99, strong.sum())
        return second(np.concatenate([centers, random.uniform(6, 30, (len(grid), 2)), scores], 1).astype(np.float32))

    rows, found = decided(scored, lambda rows, change: heads.boxes_and_scores(
        rows[:, :4], rows[:, 4:], False, denied=1, **change), 141)
    model = models.constant_model([rules.corners(rows[:, :4])[None], rows[None, :, 4:]])
    yield case("YOLO-NAS without a class", models.with_files(model, labels), options=denial, objects=objects(found, NAMES),
               kind="yolo-nas")

    def turned(random):
        rows = np.concatenate([scored(random), random.uniform(-0.7, 2.3, (len(grid), 1))], 1)
        return rows.astype(np.float32)

    rows, found = decided(turned, lambda rows, change: heads.oriented(rows, denied=1, **change), 142)
    yield case("oriented boxes without a class", models.with_files(models.constant_model([rows.T[None]]), labels),
               options=["--layout", "yolo-obb", *denial], objects=oriented_objects(found, NAMES), kind="yolo-obb")

    random = np.random.default_rng(143)
    maps = [random.normal(-6, 1, (SIZE[1] // stride, SIZE[0] // stride, 3, 8)).astype(np.float32) for stride in (8, 16, 32)]
    for grid_of, row, column, anchor, values in ((0, 2, 3, 0, (4, 3, 2)), (1, 1, 2, 1, (1, 4, 2)), (1, 3, 0, 2, (-3, -2, 3))):
        maps[grid_of][row, column, anchor] = [0, 0, 0, 0, 4, *values]
    decoded_rows = heads.anchored(maps, "yolo5-raw")
    found = heads.best_of(rules.corners(decoded_rows)[:, :4], decoded_rows[:, 5:] * decoded_rows[:, 4:5], denied=1)
    flat = [grid.reshape(1, *grid.shape[:2], -1) for grid in maps]
    yield case("raw v5 without a class", models.with_files(models.constant_model(flat), labels),
               options=["--layout", "yolo5-raw", *denial], objects=objects(found, NAMES), kind="yolo5-raw")

    boxes = np.concatenate([random.uniform(0.2, 0.8, (100, 2)), random.uniform(0.05, 0.4, (100, 2))], 1).astype(np.float32)
    logits = random.normal(-2, 0.3, (100, 4)).astype(np.float32)
    logits[:, 3] = 3
    logits[5], logits[6], logits[7] = [7, 1, 0, 0], [4.5, 5, 0, 0], [0, 1, 8, 2]
    found = heads.transformer(boxes, logits, SIZE, "detr", threshold=0.3, denied=1)
    yield case("DETR without a class", models.with_files(models.constant_model([boxes[None], logits[None]]), labels),
               options=["--layout", "detr", "--score-threshold", "0.3", *denial], objects=objects(found, NAMES, fit="stretch"), kind="detr")


def int8_steps(rows):
    scale = Quantization.per_tensor(1 / 256, -128)
    return models.quantized(rows, scale, np.int8), scale


def int8_rows(rows):
    steps, scale = int8_steps(rows)
    return [models.constant_model([(steps.T[None], scale)], input_type="int8",
                                  input_quantization=Quantization.per_tensor(1 / 255, -128))]
