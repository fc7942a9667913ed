# SPDX-License-Identifier: Apache-2.0
"""Coral's PosenetDecoderOp, which LiteRT lacks: its answers are computed here, as Coral's sources say."""

import numpy as np

from catalogue import operator
from model_builder import ModelBuilder, Quantization
from operators.mediapipe_landmarks import packed

POINTS, EDGES, MASK = 17, 16, 33
TREE = [
    (0, 1), (1, 3), (0, 2), (2, 4), (0, 5), (5, 7), (7, 9), (5, 11), (11, 13), (13, 15), (0, 6), (6, 8), (8, 10),
    (6, 12), (12, 14), (14, 16),
]


def read(image, place):
    """All channels at a point, interpolated; beyond the edges by the weights of the point itself."""
    sizes = np.array(image.shape[:2])
    inner = np.clip(place, 0, sizes - 1)
    low, high = np.floor(inner).astype(int), np.ceil(inner).astype(int)
    down, along = place - low
    first = (1 - along) * image[low[0], low[1]] + along * image[low[0], high[1]]
    second = (1 - along) * image[high[0], low[1]] + along * image[high[0], high[1]]
    return (1 - down) * first + down * second


def moved(image, place, channels):
    return np.clip(place + read(image, place)[list(channels)], 0, np.array(image.shape[:2]) - 1)


def edges_of(point):
    """The neighbors of a point, and the channels that lead to them.

    Channels are rows and columns of edges outward, then of edges back. The first edge back is read after the last
    outward, as the published decoder does.
    """
    for index, (start, end) in enumerate(TREE):
        if start == point:
            yield end, (index, index + EDGES)
        if end == point:
            first = EDGES + index if index == 0 else 2 * EDGES + index
            yield start, (first, first + EDGES)


def pose_from(scores, short, middle, root, kind):
    """Places and logits of all points: the skeleton is a tree, so that there is one way to each."""
    places, logits = np.zeros((POINTS, 2)), np.zeros(POINTS)
    pending = [(kind, root)]
    known = set()
    while pending:
        point, place = pending.pop()
        known.add(point)
        places[point], logits[point] = place, read(scores, place)[point]
        for other, channels in edges_of(point):
            if other in known:
                continue
            goal = moved(middle, place, channels)
            for _ in range(5):
                goal = moved(short, goal, (other, other + POINTS))
            pending.append((other, goal))
    return places, logits


def decoded(scores, short, middle, most, threshold, radius):
    """Poses by their final scores: places, scores of points, scores."""
    least = -np.log(1 / (threshold + 1e-6) - 1)
    height, width = scores.shape[:2]
    roots = []
    for row, column, kind in np.argwhere(scores >= least):
        around = scores[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2, kind]
        if around.max() <= scores[row, column, kind]:
            offset = short[row, column, [kind, kind + POINTS]]
            place = np.clip(np.array([row, column]) + offset, 0, [height - 1, width - 1])
            roots.append((scores[row, column, kind], kind, place))
    poses = []
    for _, kind, place in sorted(roots, key=lambda root: -root[0]):
        if len(poses) == most:
            break
        if any(((place - other[kind]) ** 2).sum() <= radius**2 for other, _, _ in poses):
            continue
        places, logits = pose_from(scores, short, middle, place, kind)
        chances = 1 / (1 + np.exp(-logits))
        if chances.mean() >= threshold:
            poses.append((places, chances, chances.mean()))
    poses.sort(key=lambda pose: -pose[2])
    final = []
    for index, (places, chances, _) in enumerate(poses):
        hidden = np.zeros(POINTS, bool)
        for better, _, _ in poses[:index]:
            hidden |= ((places - better) ** 2).sum(1) <= radius**2
        final.append((places, chances, np.where(hidden, 0, chances).sum() / POINTS))
    final.sort(key=lambda pose: -pose[2])
    return [pose for pose in final if pose[2] >= threshold]


def mask_of(displacements, poses, stride):
    """For each pixel, the number of the pose to whose points its displacements lead best."""
    result = np.zeros((MASK, MASK), int)
    for row, column in np.ndindex(MASK, MASK):
        goals = np.zeros((POINTS, 2))
        for point in range(POINTS):
            place = np.array([row, column], float)
            for _ in range(3):
                place = moved(displacements, place, (point, point + POINTS))
            goals[point] = place * stride
        result[row, column] = np.argmin([((goals - places * stride) ** 2).sum() for places, _, _ in poses])
    return result


@operator("PosenetDecoderOp", ("float32", "uint8"), cases=12)
def posenet_decoder(draw):
    height, width = draw.choice([1, 3, 5, 6]), draw.choice([2, 4, 5, 7])
    stride = draw.choice([16, 8])
    has_masks = draw.flag("masks", 6)
    if has_masks:
        height = width = 4
    # Masks of many poses that are not there would compress suspiciously well.
    most = draw.choice([1, 2]) if has_masks else draw.pick("most", [5, 20, 1, 0])
    draw.tag(f"at_most_{most}")
    is_float = draw.type == "float32"

    def displacements(rows, columns, channels, coarse=1):
        shape = (1, -(-rows // coarse), -(-columns // coarse), channels)
        values = np.array([draw.integer(-6, 6) for _ in range(int(np.prod(shape)))]).reshape(shape)
        values = values.repeat(coarse, 1).repeat(coarse, 2)[:, :rows, :columns]
        if is_float:
            return (values * stride / 8 + 0.0625).astype(np.float32), None
        return (values + 9).astype(np.uint8), Quantization.per_tensor(stride / 8, 10)

    # Few points stand out, each by another score; the rest is far below.
    flat = np.zeros(height * width * POINTS)
    levels = draw.sample(range(40, 120), min(flat.size, draw.choice([0, 5, 30])))
    for place, level in zip(draw.sample(range(flat.size), len(levels)), levels):
        flat[place] = level
    scores = flat.reshape(1, height, width, POINTS)
    if is_float:
        heat = (scores / 16 - 3).astype(np.float32), None
    else:
        heat = scores.astype(np.uint8), Quantization.per_tensor(1 / 16, 48)
    maps = [heat, displacements(height, width, 2 * POINTS), displacements(height, width, 4 * EDGES)]
    if has_masks:
        maps.append(displacements(MASK, MASK, 2 * POINTS, coarse=11))
    reals = [
        values[0].astype(np.float64) if scale is None else (values[0].astype(float) - scale.zero_point) * scale.scale
        for values, scale in maps
    ]
    threshold, radius = draw.choice([0.1, 0.2, 0.3]), draw.choice([10.0, 20.0])
    options = {"max_detections": most, "score_threshold": threshold, "stride": stride, "nms_radius": radius}
    poses = decoded(reals[0], reals[1] / stride, reals[2] / stride, most, threshold, radius / stride)
    draw.tag(f"{len(poses)}_poses")
    answer = [
        np.zeros((1, most, POINTS, 2), np.float32), np.zeros((1, most, POINTS), np.float32),
        np.zeros((1, most), np.float32), np.array([len(poses)], np.float32),
    ]
    for index, (places, chances, score) in enumerate(poses):
        answer[0][0, index], answer[1][0, index], answer[2][0, index] = places * stride, chances, score
    if has_masks:
        answer.append(np.zeros((1, most, MASK, MASK), np.float32))
        if poses:
            mask = mask_of(reals[3] / stride, poses, stride)
            for index in range(len(poses)):
                answer[4][0, index] = mask == index
    model = ModelBuilder()
    model.answer = answer
    operands = [model.input(values, scale) for values, scale in maps]
    outputs = [model.output("float32") for _ in answer]
    return model.operator("PosenetDecoderOp", operands, outputs, custom_options=packed(options))
