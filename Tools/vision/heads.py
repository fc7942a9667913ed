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


def best_of(boxes, values, threshold=0.25, iou=0.45, limit=300, numbers=None, multi_label=False, denied=None):
    """Corners and a score for each class: the best class of each row above the threshold, suppressed within a class. A row whose
    best class is denied has no other."""
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
    for index in np.unique(found[found != denied]):
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


DARKNET = {
    # Strides, reach beyond the cell, and anchors, as the .cfg files have them; v5 and v7 are at the end.
    "yolo2": ((32,), (1,), [(18.32736, 21.67632), (59.98272, 66.00096), (106.82976, 175.17888), (252.25024, 112.88896),
                            (312.65664, 293.38496)]),
    "yolo3": ((8, 16, 32), (1, 1, 1), [
        (10, 13), (16, 30), (33, 23), (30, 61), (62, 45), (59, 119), (116, 90), (156, 198), (373, 326)]),
    "yolo3-tiny": ((16, 32), (1, 1), [(10, 14), (23, 27), (37, 58), (81, 82), (135, 169), (344, 319)]),
    "yolo4": ((8, 16, 32), (1.2, 1.1, 1.05), [
        (12, 16), (19, 36), (40, 28), (36, 75), (76, 55), (72, 146), (142, 110), (192, 243), (459, 401)]),
    "yolo4-tiny": ((16, 32), (1.05, 1.05), [(23, 27), (37, 58), (81, 82), (81, 82), (135, 169), (344, 319)]),
    "yolo5-raw": ((8, 16, 32), None, [
        (10, 13), (16, 30), (33, 23), (30, 61), (62, 45), (59, 119), (116, 90), (156, 198), (373, 326)]),
    "yolo7-raw": ((8, 16, 32), None, [
        (12, 16), (19, 36), (40, 28), (36, 75), (76, 55), (72, 146), (142, 110), (192, 243), (459, 401)]),
}


def sigmoid(values):
    return 1 / (1 + np.exp(-values.astype(np.float32)))


def anchored(grids, kind, anchors=None):
    """Rows of box in pixels, objectness and classes of raw heads: grids of `rows × columns × anchors × (5 + classes)`, the finest
    first. Darknet's `yolo` layer; v5 and v7 double the sigmoid instead, and square it for sizes."""
    strides, reaches, published = DARKNET[kind]
    sizes = np.array(anchors or published, np.float32).reshape(len(strides), -1, 2)
    result = []
    for level, (grid, stride) in enumerate(zip(grids, strides)):
        height, width, count, columns = grid.shape
        y, x, anchor = np.mgrid[:height, :width, :count]
        cell = np.stack([x, y], -1).astype(np.float32)
        values = sigmoid(grid)
        if reaches:
            center = (values[..., :2] * reaches[level] - (reaches[level] - 1) / 2 + cell) * stride
            size = np.exp(grid[..., 2:4]) * sizes[level][anchor]
        else:
            center = (values[..., :2] * 2 - 0.5 + cell) * stride
            size = (values[..., 2:4] * 2) ** 2 * sizes[level][anchor]
        if kind == "yolo2":
            raised = np.exp(grid[..., 5:] - grid[..., 5:].max(-1, keepdims=True))
            values = np.concatenate([values[..., :5], raised / raised.sum(-1, keepdims=True)], -1)
        result.append(np.concatenate([center, size, values[..., 4:]], -1).reshape(-1, columns))
    return np.concatenate(result).astype(np.float32)


def boxes_and_scores(boxes, scores, corners, **options):
    """Decoded boxes in pixels and scores of each class, suppressed within a class."""
    return best_of(boxes if corners else rules.corners(boxes), scores, **options)


def transformer(boxes, logits, size, kind="rt-detr", probabilities=False, threshold=0.5, denied=None):
    """Queries as boxes (center and size in fractions) with logits. RT-DETR: the best of the sigmoids of all classes of all
    queries, as many as there are queries. RF-DETR leaves out its last column. DETR: the best class of each query by a softmax, the
    last one is none."""
    scaled = rules.corners(boxes.astype(np.float32)) * np.array([*size, *size], np.float32)
    if kind == "rf-detr":
        kind, logits = "rt-detr", logits[:, :-1]
    if kind == "rt-detr":
        values = logits if probabilities else sigmoid(logits)
        order = np.argsort(-values.ravel(), kind="stable")[:len(boxes)]
        rows, found = np.divmod(order, values.shape[1])
        scores = values.ravel()[order]
    else:
        values = np.exp(logits - logits.max(1, keepdims=True))
        values = (values / values.sum(1, keepdims=True))[:, :-1]
        rows = np.argsort(-values.max(1), kind="stable")
        found, scores = values.argmax(1)[rows], values.max(1)[rows]
    keep = (scores >= threshold) & (found != denied)
    return scaled[rows[keep]], scores[keep], found[keep], rows[keep]


def rows7(rows, kind, threshold):
    """Rows of a model that suppresses by itself: v7 has batch, corners, class, score; EfficientDet has image, top, left, bottom,
    right, score and class from 1; YOLO-NAS has image, corners, score, class; PaddleDetection has class, score and corners, PINTO's
    model zoo and OpenVINO the same behind the image."""
    if kind == "class-first":
        boxes, scores, found = rows[:, -4:], rows[:, -5], rows[:, -6].astype(int)
        keep = np.where((scores >= threshold) & (rows[:, 0] >= 0))[0]
        order = keep[np.argsort(-scores[keep], kind="stable")]
        return boxes[order], scores[order], found[order], order
    if kind == "yolo-nas-end-to-end":
        boxes, scores, found = rows[:, 1:5], rows[:, 5], rows[:, 6].astype(int)
        keep = np.where(scores > threshold)[0]
    elif kind == "efficientdet":
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


def turned(boxes):
    """The corners of boxes of center, size and angle, clockwise from the top left one before the turn."""
    x, y, width, height, angle = boxes.astype(np.float64).T
    across = np.stack([np.cos(angle), np.sin(angle)], 1) * width[:, None] / 2
    down = np.stack([-np.sin(angle), np.cos(angle)], 1) * height[:, None] / 2
    center = np.stack([x, y], 1)
    return np.stack([center - across - down, center + across - down, center + across + down, center - across + down], 1)


def probabilistic_iou(one, others):
    """ProbIoU of "Gaussian Bounding Boxes and Probabilistic Intersection-over-Union for Object Detection" (2021)."""
    def gaussian(boxes):
        _, _, width, height, angle = boxes.astype(np.float64).T
        turn = np.stack([np.stack([np.cos(angle), -np.sin(angle)], -1), np.stack([np.sin(angle), np.cos(angle)], -1)], -2)
        sides = np.zeros((len(boxes), 2, 2))
        sides[:, 0, 0], sides[:, 1, 1] = width ** 2 / 12, height ** 2 / 12
        return turn @ sides @ turn.transpose(0, 2, 1)

    first, second = gaussian(one[None])[0], gaussian(others)
    mean = (first + second) / 2
    shift = (others[:, :2] - one[:2]).astype(np.float64)
    distance = (shift[:, None] @ np.linalg.inv(mean) @ shift[:, :, None])[:, 0, 0] / 8
    distance += np.log(np.linalg.det(mean) / np.sqrt(np.linalg.det(first) * np.linalg.det(second))) / 2
    return 1 - np.sqrt(np.clip(1 - np.exp(-distance), 0, None))


def oriented(rows, threshold=0.25, iou=0.45, limit=300, denied=None):
    """Rows of center and size in pixels, class scores, angle: turned boxes, scores, classes, rows. Fast suppression of "YOLACT:
    Real-time Instance Segmentation" (2019) within a class, as Ultralytics has it: by any better box, kept or not."""
    values = rows[:, 4:-1]
    boxes = np.concatenate([rows[:, :4], rows[:, -1:]], 1)
    found, scores = values.argmax(1), values.max(1)
    order = [row for row in np.argsort(-scores, kind="stable") if scores[row] > threshold and found[row] != denied]
    kept = []
    for place, row in enumerate(order):
        rivals = [other for other in order[:place] if found[other] == found[row]]
        if not rivals or (probabilistic_iou(boxes[row], boxes[rivals]) < iou).all():
            kept.append(row)
    kept = np.array(kept, int)[:limit]
    return boxes[kept], scores[kept], found[kept], kept
