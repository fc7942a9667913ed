# SPDX-License-Identifier: Apache-2.0
"""The published rules of detector heads besides those of `rules.py`, in NumPy: YOLOX and YOLO v6, rows of seven numbers, FOMO.

YOLOX: "YOLOX: Exceeding YOLO Series in 2021" and its `demo_postprocess`. FOMO: Edge Impulse's joining of cells."""

import numpy as np

import rules


def cells(size, strides=(8, 16, 32)):
    """Column, row and stride of each cell, the finest grid first."""
    grids = []
    for stride in strides:
        columns, rows = -(-size[0] // stride), -(-size[1] // stride)
        x, y = np.meshgrid(np.arange(columns), np.arange(rows))
        grids.append(np.stack([x.ravel(), y.ravel(), np.full(columns * rows, stride)], 1))
    return np.concatenate(grids).astype(np.float32)


def best_of(boxes, values, threshold=0.25, iou=0.45, limit=300, numbers=None, multi_label=False):
    """Corners and a score for each class: the best class of each row above the threshold, suppressed within a class."""
    if multi_label:
        numbers, found = np.where(values > threshold)
        scores = values[numbers, found]
        boxes = boxes[numbers]
    else:
        numbers = np.arange(len(boxes))
        found, scores = values.argmax(1), values.max(1)
        keep = scores > threshold
        boxes, scores, found, numbers = boxes[keep], scores[keep], found[keep], numbers[keep]
    kept = []
    for index in np.unique(found):
        members = np.where(found == index)[0]
        kept += list(members[rules.suppress(boxes[members], scores[members], iou)])
    kept = np.array(sorted(kept, key=lambda place: (-scores[place], place)), int)[:limit]
    return boxes[kept], scores[kept], found[kept], numbers[kept]


def yolox(rows, size, raw=False, **options):
    """Rows of box, objectness and classes, one for each cell, in pixels or, raw, in strides and logarithms."""
    rows = rows.astype(np.float32).copy()
    if raw:
        grid = cells(size)
        rows[:, :2] = (rows[:, :2] + grid[:, :2]) * grid[:, 2:]
        rows[:, 2:4] = np.exp(rows[:, 2:4]) * grid[:, 2:]
    return best_of(rules.corners(rows)[:, :4], rows[:, 5:] * rows[:, 4:5], **options)


def rows7(rows, kind, threshold):
    """Rows of a model that suppresses by itself: v7 has batch, corners, class, score; EfficientDet has image, top, left, bottom,
    right, score and class from 1."""
    if kind == "efficientdet":
        boxes, scores, found = rows[:, [2, 1, 4, 3]], rows[:, 5], rows[:, 6].astype(int) - 1
        keep = np.where(scores >= threshold)[0]
    else:
        boxes, scores, found = rows[:, 1:5], rows[:, 6], rows[:, 5].astype(int)
        keep = np.where(scores > threshold)[0]
    order = keep[np.argsort(-scores[keep], kind="stable")]
    return boxes[order], scores[order], found[order], order


def fomo(grid, threshold=0.5):
    """`rows × columns × (1 + classes)`: joined boxes as left, top, right, bottom in cells, scores, classes; best first."""
    height, width, channels = grid.shape
    boxes = []
    for y in range(height):
        for x in range(width):
            for index in range(1, channels):
                value = grid[y, x, index]
                if value < threshold:
                    continue
                for box in boxes:
                    left, top, right, bottom = box[0]
                    # Boxes that share an edge or a corner touch.
                    if box[2] == index - 1 and left <= x + 1 and x <= right and top <= y + 1 and y <= bottom:
                        box[0] = (min(left, x), min(top, y), max(right, x + 1), max(bottom, y + 1))
                        box[1] = max(box[1], value)
                        break
                else:
                    boxes.append([(x, y, x + 1, y + 1), value, index - 1])
    # Equal scores stay in the order of classes, then of cells.
    boxes.sort(key=lambda box: box[2])
    boxes.sort(key=lambda box: -box[1])
    return boxes
