# SPDX-License-Identifier: Apache-2.0
"""The detector's layers and anchors, apart from how a layer is computed.

`network` names the layers once; training in floats, quantisation-aware training and conversion each pass their own
`layer` function.
"""

import numpy as np

from pictures import INPUT_SIZE, LABELS

# One column for the background, as in the SSD models of the TensorFlow object detection library.
COLUMNS = len(LABELS) + 1
ANCHORS_PER_CELL = 4

# Stride, then (height, width) of the anchors in input pixels. Whole pixels, so that a uint8 tensor of scale 1 / 160
# holds every anchor exactly.
LEVELS = [
    (8, [(22, 22), (32, 32), (19, 38), (38, 19)]),
    (16, [(46, 46), (64, 64), (38, 76), (76, 38)]),
    (32, [(88, 88), (114, 114), (70, 140), (140, 70)]),
]

# What box encodings are multiplied by: y, x, h, w.
BOX_SCALES = np.array([10.0, 10.0, 5.0, 5.0], np.float32)


def anchor_pixels():
    """All anchors in input pixels, as (y center, x center, height, width), in the order of the outputs."""
    rows = []
    for stride, sizes in LEVELS:
        cells = INPUT_SIZE // stride
        for y in range(cells):
            for x in range(cells):
                for height, width in sizes:
                    rows.append((y * stride + stride // 2, x * stride + stride // 2, height, width))
    return np.array(rows, np.int32)


ANCHORS = anchor_pixels().astype(np.float32) / INPUT_SIZE


def network(layer, picture):
    """Builds the network; returns its box encodings and class logits, one tensor per level.

    `layer(kind, name, x, kernel, stride, channels, activation)` computes one layer; `kind` is "conv" or "depthwise".
    """

    def separable(name, x, stride, channels):
        x = layer("depthwise", name + "_depthwise", x, 3, stride, x.shape[-1], True)
        return layer("conv", name + "_pointwise", x, 1, 1, channels, True)

    x = layer("conv", "stem", picture, 3, 2, 16, True)  # 80 × 80
    x = layer("conv", "corner", x, 3, 2, 32, True)  # 40 × 40
    x = separable("block1", x, 1, 48)
    x = separable("block2", x, 2, 96)  # 20 × 20
    x = separable("block3", x, 1, 96)
    x = separable("block4", x, 1, 96)
    fine = separable("block5", x, 1, 96)
    x = separable("block6", fine, 2, 128)  # 10 × 10
    x = separable("block7", x, 1, 128)
    middle = separable("block8", x, 1, 128)
    x = separable("block9", middle, 2, 128)  # 5 × 5
    coarse = separable("block10", x, 1, 128)

    boxes, scores = [], []
    for index, x in enumerate([fine, middle, coarse]):
        x = separable(f"head{index}", x, 1, 96)
        boxes.append(layer("conv", f"boxes{index}", x, 1, 1, ANCHORS_PER_CELL * 4, False))
        scores.append(layer("conv", f"scores{index}", x, 1, 1, ANCHORS_PER_CELL * COLUMNS, False))
    return boxes, scores


def overlaps(anchors, boxes):
    """Intersection over union of every box (…, 4: y0, x0, y1, x1) with every anchor (N, 4: centers and sizes)."""
    low, high = anchors[:, :2] - anchors[:, 2:] / 2, anchors[:, :2] + anchors[:, 2:] / 2
    boxes = boxes[..., None, :]
    size = np.minimum(high, boxes[..., 2:]) - np.maximum(low, boxes[..., :2])
    both = np.clip(size[..., 0], 0, None) * np.clip(size[..., 1], 0, None)
    area = (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])
    return both / np.maximum(anchors[:, 2] * anchors[:, 3] + area - both, 1e-9)


def assign(boxes, kinds):
    """What each anchor should answer: encodings (B, N, 4) and classes (B, N): 0 background, 1… labels, −1 ignored.

    `boxes` is (B, M, 4) and `kinds` (B, M), −1 where there is no shape.
    """
    table = overlaps(ANCHORS, boxes)  # B, M, N
    table[kinds < 0] = 0
    owner = table.argmax(1)
    best = table.max(1)
    classes = np.where(best >= 0.45, np.take_along_axis(kinds, owner, 1) + 1, np.where(best >= 0.35, -1, 0))
    # The three nearest anchors of a shape are its own, even where none is near.
    nearest = np.argpartition(-table, 3, axis=2)[..., :3]
    for b, m in zip(*np.nonzero(kinds >= 0)):
        for n in nearest[b, m]:
            if table[b, m, n] >= 0.25 and table[b, m, n] >= best[b, n] - 0.1 and classes[b, n] <= 0:
                owner[b, n], classes[b, n] = m, kinds[b, m] + 1
    chosen = np.take_along_axis(boxes, owner[..., None], 1)
    centers, sizes = (chosen[..., :2] + chosen[..., 2:]) / 2, np.maximum(chosen[..., 2:] - chosen[..., :2], 1e-3)
    codes = np.concatenate([(centers - ANCHORS[:, :2]) / ANCHORS[:, 2:], np.log(sizes / ANCHORS[:, 2:])], 2)
    codes = np.where((classes > 0)[..., None], codes * BOX_SCALES, 0)
    return codes.astype(np.float32), classes.astype(np.int32)
