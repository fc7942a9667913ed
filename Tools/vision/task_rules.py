# SPDX-License-Identifier: Apache-2.0
"""The public rules of the other tasks, in NumPy: classes, embeddings, faces, masks, poses."""

import numpy as np

import rules


def classify(scores, top=None):
    """Indices and scores, best first, equal ones by index."""
    order = np.argsort(-scores, kind="stable")[:top]
    return [(int(index), float(scores[index])) for index in order]


def normalized(values):
    norm = np.sqrt((values.astype(np.float64) ** 2).sum())
    return values / norm if norm else values


# MARK: Faces


def face_anchors(kind, size):
    """Centers of BlazeFace's anchors: x, y in fractions of the input."""
    centers = []
    for stride, count in {"short": [(8, 2), (16, 6)], "full": [(4, 1)], "back": [(16, 2), (32, 6)]}[kind]:
        cells = size // stride
        for y in range(cells):
            for x in range(cells):
                centers += [((x + 0.5) / cells, (y + 0.5) / cells)] * count
    return np.array(centers, np.float32)


def faces(predictions, logits, anchors, size, threshold=0.5, iou=0.3):
    """MediaPipe's decoding and weighted suppression: scores and rows of corners and points, in fractions of the input."""
    scores = 1 / (1 + np.exp(-np.clip(logits.reshape(-1), -100, 100)))
    moved = predictions / size
    boxes = np.concatenate([moved[:, :2] + anchors - moved[:, 2:4] / 2, moved[:, :2] + anchors + moved[:, 2:4] / 2], 1)
    points = moved[:, 4:] + np.tile(anchors, (predictions.shape[1] - 4) // 2)
    rows = np.concatenate([boxes, points], 1)
    rest = [row for row in np.argsort(-scores, kind="stable") if scores[row] >= threshold]
    found = []
    while rest:
        best = rows[rest[0]]

        def overlap(row):
            low, high = np.maximum(row[:2], best[:2]), np.minimum(row[2:4], best[2:4])
            shared = np.prod(np.clip(high - low, 0, None))
            return shared / (np.prod(row[2:4] - row[:2]) + np.prod(best[2:4] - best[:2]) - shared)

        # A box without an area is not even like itself.
        alike = [row for row in rest if row == rest[0] or overlap(rows[row]) > iou]
        weights = scores[alike]
        found.append((float(scores[rest[0]]), (rows[alike] * weights[:, None]).sum(0) / weights.sum()))
        rest = [row for row in rest if row not in alike]
    return found


def black_letterbox(coordinates, picture, size):
    """Pairs of fractions of the input in pixels of the picture."""
    left, top, width, height = rules.letterbox(*picture, *size)
    result = coordinates.astype(np.float64).copy()
    result[0::2] = (coordinates[0::2] * size[0] - left) * picture[0] / width
    result[1::2] = (coordinates[1::2] * size[1] - top) * picture[1] / height
    return result


# MARK: Masks


def enlarged(grid, picture):
    """A grid of height×width×channels at the size of a picture that was stretched into it, between centers of cells."""
    width, height = picture
    rows, columns = grid.shape[:2]
    y = np.clip((np.arange(height) + 0.5) * rows / height - 0.5, 0, rows - 1)
    x = np.clip((np.arange(width) + 0.5) * columns / width - 0.5, 0, columns - 1)
    y0, x0 = np.floor(y).astype(int), np.floor(x).astype(int)
    y1, x1 = np.minimum(y0 + 1, rows - 1), np.minimum(x0 + 1, columns - 1)
    wy, wx = (y - y0)[:, None, None], (x - x0)[None, :, None]
    upper = grid[y0][:, x0] * (1 - wx) + grid[y0][:, x1] * wx
    lower = grid[y1][:, x0] * (1 - wx) + grid[y1][:, x1] * wx
    return upper * (1 - wy) + lower * wy


def segment(grid, picture):
    """The class of each pixel."""
    fine = enlarged(grid.astype(np.float64), picture)
    return (fine[..., 0] > 0.5).astype(np.uint8) if fine.shape[2] == 1 else fine.argmax(2).astype(np.uint8)


def nearest(classes, picture):
    width, height = picture
    rows, columns = classes.shape
    y = np.floor((np.arange(height) + 0.5) * rows / height).astype(int)
    x = np.floor((np.arange(width) + 0.5) * columns / width).astype(int)
    return classes[y][:, x].astype(np.uint8)
