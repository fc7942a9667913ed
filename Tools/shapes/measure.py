# SPDX-License-Identifier: Apache-2.0
"""Non-maximum suppression and average precision, in numpy."""

import numpy as np


def box_overlaps(box, boxes):
    """Intersection over union of one box (y0, x0, y1, x1) with many."""
    size = np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2])
    both = np.clip(size[:, 0], 0, None) * np.clip(size[:, 1], 0, None)
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return both / np.maximum((box[2] - box[0]) * (box[3] - box[1]) + areas - both, 1e-9)


def suppressed(boxes, scores, most_overlap, limit, least=0.02):
    """The best class of each box, then the boxes that no better one covers: boxes, kinds and scores, best first."""
    kinds, best = scores.argmax(1), scores.max(1)
    order = np.argsort(-best, kind="stable")
    order = order[best[order] >= least][:300]
    kept = []
    while len(order) and len(kept) < limit:
        first, order = order[0], order[1:]
        kept.append(first)
        order = order[box_overlaps(boxes[first], boxes[order]) <= most_overlap]
    return boxes[kept], kinds[kept], best[kept]


def average_precisions(found, truth, classes, least_overlap=0.5):
    """Average precision of each class, interpolated at all points (PASCAL VOC 2010 and later).

    `found` holds (boxes, kinds, scores) for each picture, `truth` (boxes, kinds). Every detection counts for the shape
    it overlaps most; a second one on the same shape is false.
    """
    result = []
    for kind in range(classes):
        rows, shapes = [], 0
        for (boxes, kinds, scores), (true_boxes, true_kinds) in zip(found, truth):
            true_boxes = true_boxes[true_kinds == kind]
            shapes += len(true_boxes)
            taken = np.zeros(len(true_boxes), bool)
            mine = np.nonzero(kinds == kind)[0]
            for index in mine[np.argsort(-scores[mine], kind="stable")]:
                hit = False
                if len(true_boxes):
                    overlap = box_overlaps(boxes[index], true_boxes)
                    best = overlap.argmax()
                    if overlap[best] >= least_overlap and not taken[best]:
                        taken[best] = hit = True
                rows.append((scores[index], hit))
        rows.sort(key=lambda row: -row[0])
        hits = np.cumsum([row[1] for row in rows]) if rows else np.zeros(0)
        precision = hits / np.arange(1, len(rows) + 1)
        precision = np.maximum.accumulate(precision[::-1])[::-1]
        recall = np.concatenate([[0], hits / max(shapes, 1)])
        result.append(float(np.sum(np.diff(recall) * precision)))
    return result
