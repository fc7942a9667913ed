# SPDX-License-Identifier: Apache-2.0
"""The public rules of detectors, in NumPy: what Ultralytics, the TensorFlow Object Detection API and MediaPipe do with
a model's outputs. Written from their documentation and behavior, independently of this package's Swift."""

import numpy as np

COCO_KEYPOINTS = 17


def letterbox(width, height, input_width, input_height):
    """Where a picture lies in the input: left, top, width, height; and the way back for x and y."""
    ratio = min(input_width / width, input_height / height)
    inner_width, inner_height = round(width * ratio), round(height * ratio)
    left = round((input_width - inner_width) / 2 - 0.1)
    top = round((input_height - inner_height) / 2 - 0.1)
    return left, top, inner_width, inner_height


def undo_letterbox(boxes, width, height, input_width, input_height):
    """Boxes of the input, as corners in its pixels, in pixels of the picture, which they do not leave."""
    left, top, inner_width, inner_height = letterbox(width, height, input_width, input_height)
    boxes = boxes.astype(np.float64)
    boxes[:, [0, 2]] = np.clip((boxes[:, [0, 2]] - left) * width / inner_width, 0, width)
    boxes[:, [1, 3]] = np.clip((boxes[:, [1, 3]] - top) * height / inner_height, 0, height)
    return boxes


def corners(boxes):
    result = boxes.copy()
    result[:, :2] = boxes[:, :2] - boxes[:, 2:4] / 2
    result[:, 2:4] = boxes[:, :2] + boxes[:, 2:4] / 2
    return result


def suppress(boxes, scores, threshold):
    """Greedy suppression, in float32: indices of what stays, best first."""
    order = np.argsort(-scores, kind="stable")
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    kept = []
    while order.size:
        best, rest = order[0], order[1:]
        kept.append(best)
        low = np.maximum(boxes[best, :2], boxes[rest, :2])
        high = np.minimum(boxes[best, 2:4], boxes[rest, 2:4])
        shared = np.prod(np.clip(high - low, 0, None), axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            overlap = shared / (areas[best] + areas[rest] - shared)
        order = rest[~(overlap > threshold)]
    return np.array(kept, int)


def yolo(output, kind, size, classes=None, scale_boxes=True, threshold=0.25, iou=0.45, agnostic=False,
         multi_label=False, limit=300, wanted=None):
    """Detections of a YOLO output whose rows are candidates.

    `size` is the input's width and height; with `scale_boxes`, boxes are fractions of it. The answer has left, top,
    right, bottom (pixels of the input), score, class and the row that it is from.
    """
    rows = output.astype(np.float32).copy()
    if scale_boxes:
        rows[:, [0, 2]] *= np.float32(size[0])
        rows[:, [1, 3]] *= np.float32(size[1])
    numbers = np.arange(len(rows))
    if kind == "yolo-end-to-end":
        boxes, scores, found = rows[:, :4], rows[:, 4], np.trunc(rows[:, 5] + np.float32(0.5)).astype(int)
        keep = scores > threshold
    else:
        first = 5 if kind == "yolo5" else 4
        classes = classes or rows.shape[1] - first
        values = rows[:, first:first + classes]
        boxes = rows[:, :4] if kind == "yolo10-raw" else corners(rows)[:, :4]
        keep = np.ones(len(rows), bool)
        if kind == "yolo5":
            keep = rows[:, 4] > threshold
            values = values * rows[:, 4:5]
        if multi_label and classes > 1:
            numbers, found = np.where((values > threshold) & keep[:, None])
            boxes, scores, keep = boxes[numbers], values[numbers, found], np.ones(len(numbers), bool)
        else:
            found, scores = values.argmax(1), values.max(1)
            keep &= scores > threshold
    if wanted is not None:
        keep &= np.isin(found, wanted)
    boxes, scores, found, numbers = boxes[keep], scores[keep], found[keep], numbers[keep]
    if kind in ("yolo5", "yolo8"):
        order = np.argsort(-scores, kind="stable")[:30000]
        boxes, scores, found, numbers = boxes[order], scores[order], found[order], numbers[order]
        apart = boxes if agnostic else boxes + found[:, None].astype(np.float32) * np.float32(7680)
        order = suppress(apart, scores, iou)
    else:
        order = np.argsort(-scores, kind="stable")
    order = order[:limit]
    return boxes[order], scores[order], found[order], numbers[order]


def masks(coefficients, prototypes, boxes, picture, size, fit="letterbox"):
    """A mask of the picture's size for each box (both in pixels of the picture); `prototypes` is height×width×count.

    Sums of prototypes are enlarged bilinearly between the centers of pixels, cut to the box, and taken where above 0.
    """
    width, height = picture
    left, top, inner_width, inner_height = (0, 0, *size) if fit == "stretch" else letterbox(width, height, *size)
    grid_height, grid_width, _ = prototypes.shape
    x = ((np.arange(width) + 0.5) * inner_width / width + left) / size[0] * grid_width - 0.5
    y = ((np.arange(height) + 0.5) * inner_height / height + top) / size[1] * grid_height - 0.5
    x, y = np.clip(x, 0, grid_width - 1), np.clip(y, 0, grid_height - 1)
    x0, y0 = np.floor(x).astype(int), np.floor(y).astype(int)
    x1, y1 = np.minimum(x0 + 1, grid_width - 1), np.minimum(y0 + 1, grid_height - 1)
    wx, wy = (x - x0)[None, :], (y - y0)[:, None]
    result = []
    for row, box in zip(coefficients, boxes):
        coarse = prototypes @ row
        upper = coarse[y0][:, x0] * (1 - wx) + coarse[y0][:, x1] * wx
        lower = coarse[y1][:, x0] * (1 - wx) + coarse[y1][:, x1] * wx
        fine = upper * (1 - wy) + lower * wy > 0
        columns, lines = np.arange(width), np.arange(height)
        inside = ((columns >= box[0]) & (columns < box[2]))[None, :] & ((lines >= box[1]) & (lines < box[3]))[:, None]
        result.append(fine & inside)
    return result


def ssd_anchors(width, height):
    """Anchors of SSD with MobileNet, as center x, center y, width, height."""
    scales = [0.2 + 0.75 * layer / 5 for layer in range(6)] + [1.0]
    anchors = []
    for layer in range(6):
        if layer == 0:
            shapes = [(0.1, 1.0), (scales[0], 2.0), (scales[0], 0.5)]
        else:
            shapes = [(scales[layer], ratio) for ratio in (1.0, 2.0, 0.5, 3.0, 0.3333)]
            shapes.append((np.sqrt(scales[layer] * scales[layer + 1]), 1.0))
        rows, columns = -(-height // (16 << layer)), -(-width // (16 << layer))
        for row in range(rows):
            for column in range(columns):
                for scale, ratio in shapes:
                    anchors.append(((column + 0.5) / columns, (row + 0.5) / rows, scale * np.sqrt(ratio),
                                    scale / np.sqrt(ratio)))
    return np.array(anchors, np.float32)


def ssd(boxes, scores, anchors, scales=(10, 10, 5, 5), logits=False, exponential=True, background=False,
        threshold=0.5, iou=0.45, limit=10):
    """Detections of raw heads: boxes in fractions of the input, scores, classes. `boxes` are y, x, height, width."""
    y = boxes[:, 0] / scales[1] * anchors[:, 3] + anchors[:, 1]
    x = boxes[:, 1] / scales[0] * anchors[:, 2] + anchors[:, 0]
    height, width = boxes[:, 2] / scales[3], boxes[:, 3] / scales[2]
    if exponential:
        height, width = np.exp(height), np.exp(width)
    height, width = height * anchors[:, 3], width * anchors[:, 2]
    decoded = np.stack([x - width / 2, y - height / 2, x + width / 2, y + height / 2], 1)
    if logits:
        scores = 1 / (1 + np.exp(-scores))
    if background:
        scores = scores[:, 1:]
    classes, best = scores.argmax(1), scores.max(1)
    keep = best >= threshold
    decoded, best, classes = decoded[keep], best[keep], classes[keep]
    chosen = []
    for index in np.unique(classes):
        members = np.where(classes == index)[0]
        chosen += list(members[suppress(decoded[members], best[members], iou)])
    chosen = np.array(sorted(chosen, key=lambda place: (-best[place], place)), int)[:limit]
    return decoded[chosen], best[chosen], classes[chosen]


def calibrated(scores, classes, lines, transformation="identity", default=0.0):
    """Scores through the sigmoid of each class: `scale, slope, offset` and perhaps a least score."""
    result = []
    for score, index in zip(scores, classes):
        line = lines[index] if index < len(lines) else None
        if line is None or len(line) > 3 and score < line[3]:
            result.append(default)
            continue
        value = {"identity": lambda v: v, "log": np.log, "inverse-logistic": lambda v: np.log(v / (1 - v))}[
            transformation](score)
        result.append(line[0] / (1 + np.exp(-(line[1] * value + line[2]))))
    return np.array(result)
