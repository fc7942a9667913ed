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
    yield from row_cases(case)
    yield from fomo_cases(case)


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
    yield case("a grid of no probabilities is not FOMO", models.constant_model([grid[None]]), error="fomo")
