# SPDX-License-Identifier: Apache-2.0
"""What MediaPipe's pipelines do around their models, in NumPy: crops, anchors, suppression, regions, landmarks.

The rules are public in google-ai-edge/mediapipe: `calculators/tensor/image_to_tensor_utils.cc` with OpenCV's `warpPerspective`,
`calculators/tflite/ssd_anchors_calculator.cc`, `calculators/util/{non_max_suppression,detections_to_rects,rect_transformation,
landmark_projection,landmarks_smoothing,visibility_smoothing}_calculator.cc`, `util/filtering/{one_euro,low_pass}_filter.cc`,
`modules/hand_landmark/calculators/hand_landmarks_to_rect_calculator.cc`, `modules/pose_landmark/pose_landmark_filtering.pbtxt`,
`tasks/cc/vision/pose_landmarker/pose_landmarks_detector_graph.cc`. A region is (center x, center
y, width, height, rotation) in pixels and radians, clockwise in the picture.
"""

import numpy as np


def corners(region):
    """Where the fractions (0, 0), (1, 0) and (0, 1) of a region are, as columns."""
    x, y, width, height, rotation = map(float, region)
    turn = np.array([[np.cos(rotation), -np.sin(rotation)], [np.sin(rotation), np.cos(rotation)]])
    points = np.array([[-0.5, 0.5, -0.5], [-0.5, -0.5, 0.5]]) * [[width], [height]]
    return turn @ points + [[x], [y]]


def projected(region, points):
    """Points in fractions of a region, as pixels of the picture."""
    origin, right, below = corners(region).T
    points = np.asarray(points, float)
    return origin + points[..., :1] * (right - origin) + points[..., 1:2] * (below - origin)


def padded(region, width, height):
    """The region enlarged to an input's proportions."""
    x, y, w, h, rotation = region
    if height / width > h / w:
        return x, y, w, w * height / width, rotation
    return x, y, h * width / height, h, rotation


def opencv_corners(region):
    """OpenCV's `boxPoints` of a region: bottom left, top left, top right, bottom right before the turn."""
    x, y, width, height, rotation, two = (np.float32(value) for value in (*region, 2))
    radians = np.float64(np.float32(np.float64(rotation * np.float32(180)) / np.pi)) * np.pi / 180
    cosine, sine = np.float32(np.cos(radians)) * np.float32(0.5), np.float32(np.sin(radians)) * np.float32(0.5)
    first = (x - sine * height - cosine * width, y + cosine * height - sine * width)
    second = (x + sine * height - cosine * width, y - cosine * height - sine * width)
    return [first, second, (two * x - first[0], two * y - first[1]), (two * x - second[0], two * y - second[1])]


def opencv_perspective(points, targets):
    """OpenCV's `getPerspectiveTransform`: eight equations solved by elimination, in its order of operations."""
    equations = []
    for axis in (0, 1):
        for (x, y), target in zip(points, np.float32(targets)):
            own, none = [float(x), float(y), 1.0], [0.0, 0.0, 0.0]
            equations.append([*(own + none if axis == 0 else none + own), float(-x * target[axis]), float(-y * target[axis]),
                              float(target[axis])])
    count = len(equations)
    for step in range(count):
        pivot = max(range(step, count), key=lambda row: abs(equations[row][step]))
        equations[step], equations[pivot] = equations[pivot], equations[step]
        scale = -1 / equations[step][step]
        for row in range(step + 1, count):
            factor = equations[row][step] * scale
            for column in range(step + 1, count + 1):
                equations[row][column] += factor * equations[step][column]
    solution = [row[count] for row in equations]
    for step in reversed(range(count)):
        for column in range(step + 1, count):
            solution[step] -= equations[step][column] * solution[column]
        solution[step] /= equations[step][step]
    return [*solution, 1.0]


def crop(picture, region, width, height, border):
    """OpenCV's bilinear `warpPerspective`, byte for byte: no half pixels, positions in 1/32 pixel, weights in 1/1024."""
    a, b, c, d, e, f, g, h, i = opencv_perspective(opencv_corners(region), [(0, height), (0, 0), (width, 0), (width, height)])
    scale = 1 / (a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g))
    rows = np.array([[e * i - f * h, c * h - b * i, b * f - c * e], [f * g - d * i, a * i - c * g, c * d - a * f],
                     [d * h - e * g, b * g - a * h, a * e - b * d]]) * scale
    column, line = np.arange(width)[None], np.arange(height, dtype=float)[:, None]
    first, rest = (column // 64 * 64).astype(float), (column % 64).astype(float)
    x, y, divisor = ((row[0] * first + row[1] * line + row[2]) + row[0] * rest for row in rows)
    steps = np.rint(np.stack([x, y], -1) * (32 / divisor)[..., None]).astype(np.int64)
    whole, part = steps >> 5, steps & 31
    picture = np.asarray(picture, np.int64)

    def color(dx, dy):
        x, y = whole[..., 0] + dx, whole[..., 1] + dy
        inside = (x >= 0) & (x < picture.shape[1]) & (y >= 0) & (y < picture.shape[0])
        values = picture[np.clip(y, 0, picture.shape[0] - 1), np.clip(x, 0, picture.shape[1] - 1)]
        return values if border == "replicate" else values * inside[..., None]

    right, lower = part[..., :1], part[..., 1:]
    total = sum((32 - right if dx == 0 else right) * (32 - lower if dy == 0 else lower) * color(dx, dy)
                for dx in (0, 1) for dy in (0, 1))
    return ((total + 512) >> 10).astype(np.uint8)


def anchors(width, height, strides, minimum=0.0, maximum=1.0, ratios=(1.0,), between=1.0, reduced=False, fixed=False):
    """Anchors of a single-shot detector: x, y, width, height."""
    def scale(layer):
        return minimum + (maximum - minimum) * layer / (len(strides) - 1) if len(strides) > 1 else (minimum + maximum) / 2

    result, layer = [], 0
    while layer < len(strides):
        stride, sizes = strides[layer], []
        while layer < len(strides) and strides[layer] == stride:
            if layer == 0 and reduced:
                pairs = [(0.1, 1.0), (scale(0), 2.0), (scale(0), 0.5)]
            else:
                pairs = [(scale(layer), ratio) for ratio in ratios]
                if between:
                    after = 1.0 if layer == len(strides) - 1 else scale(layer + 1)
                    pairs.append((np.sqrt(scale(layer) * after), between))
            sizes += [(1.0, 1.0) if fixed else (s * np.sqrt(r), s / np.sqrt(r)) for s, r in pairs]
            layer += 1
        columns, rows = -(-width // stride), -(-height // stride)
        result += [((x + 0.5) / columns, (y + 0.5) / rows, *size)
                   for y in range(rows) for x in range(columns) for size in sizes]
    return np.array(result)


def pyramid(width, height, levels, scale, octave, ratios=(1.0, 2.0, 0.5)):
    """Anchors of a detector with a feature pyramid: x, y, width, height."""
    result = []
    for level in levels:
        stride = 2**level
        offset = [stride / 2 if side % stride == 0 else 0 for side in (width, height)]
        for y in range(-(-height // stride)):
            for x in range(-(-width // stride)):
                for ratio in ratios:
                    for step in range(octave):
                        base = stride * scale * 2 ** (step / octave)
                        result.append(((x * stride + offset[0]) / width, (y * stride + offset[1]) / height,
                                       base * np.sqrt(ratio) / width, base / np.sqrt(ratio) / height))
    return np.array(result)


def overlap(a, b):
    shared = max(min(a[2], b[2]) - max(a[0], b[0]), 0) * max(min(a[3], b[3]) - max(a[1], b[1]), 0)
    joint = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared
    return shared / joint if joint > 0 else 0


def weighted_suppression(boxes, scores, threshold):
    """Boxes are rows of left, top, right, bottom and points; returns rows and scores, best first."""
    order, result = list(np.argsort(-np.asarray(scores), kind="stable")), []
    while order:
        best = order[0]
        alike = [i for i in order if overlap(boxes[i], boxes[best]) > threshold]
        weights = np.array([scores[i] for i in alike])
        result.append((weights @ boxes[alike] / weights.sum(), scores[best]))
        order = [i for i in order if i not in alike]
    return result


def detections(predictions, logits, centers, width, height, threshold, suppression):
    """Boxes with points in fractions of the input, best first."""
    scores = 1 / (1 + np.exp(-np.clip(logits, -100, 100)))
    chosen = scores >= threshold
    rows, at = predictions[chosen] / np.tile([width, height], predictions.shape[1] // 2), centers[chosen]
    middle = rows[:, :2] + at
    boxes = np.concatenate([middle - rows[:, 2:4] / 2, middle + rows[:, 2:4] / 2]
                           + [rows[:, i:i + 2] + at for i in range(4, rows.shape[1], 2)], axis=1)
    return weighted_suppression(boxes, scores[chosen], suppression)


def rotation(start, end, target=np.pi / 2):
    angle = target - np.arctan2(-(end[1] - start[1]), end[0] - start[0])
    return angle - 2 * np.pi * np.floor((angle + np.pi) / (2 * np.pi))


def squared(region, shift, scale):
    """The region moved down by `shift` of its height, made square and enlarged."""
    x, y, width, height, angle = region
    side = max(width, height) * scale
    return x - height * shift * np.sin(angle), y + height * shift * np.cos(angle), side, side, angle


def fitting(points, angle):
    """The smallest region at an angle around points."""
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    points = np.asarray(points)[:, :2]
    middle = (points.max(0) + points.min(0)) / 2
    turned = (points - middle) @ turn
    low, high = turned.min(0), turned.max(0)
    center = turn @ ((low + high) / 2) + middle
    return *center, *(high - low), angle


def hand_region_of_palm(row):
    """The region of a hand, from a palm in pixels."""
    left, top, right, bottom = row[:4]
    points = row[4:].reshape(-1, 2)
    return squared(((left + right) / 2, (top + bottom) / 2, right - left, bottom - top, rotation(points[0], points[2])), -0.5, 2.6)


def hand_region_of_landmarks(points):
    steady = [0, 1, 2, 3, 5, 6, 9, 10, 13, 14, 17, 18]
    end = ((points[5] + points[13]) / 2 + points[9]) / 2
    return squared(fitting(points[steady], rotation(points[0], end)), -0.1, 2.0)


def face_region_of_box(row):
    """The region of a face, from a box with eyes in pixels."""
    left, top, right, bottom = row[:4]
    points = row[4:].reshape(-1, 2)
    angle = rotation(points[0], points[1], 0)
    return squared(((left + right) / 2, (top + bottom) / 2, right - left, bottom - top, angle), 0, 1.5)


def face_region_of_landmarks(points):
    x, y, width, height, _ = fitting(points, 0)
    return squared((x, y, width, height, rotation(points[33], points[263], 0)), 0, 1.5)


def body_region(center, rim):
    """The region of a body, from the middle of the hips and a point at the rim of the circle around it."""
    side = 2 * np.hypot(rim[0] - center[0], rim[1] - center[1])
    return squared((*center, side, side, rotation(center, rim)), 0, 1.25)


def hand_hint(wrist, pinky, index):
    """The region of a hand, from the three points that a pose has of it."""
    middle = (2 * index + pinky) / 3
    side = 2 * np.hypot(*(middle - wrist))
    return squared((*middle, side, side, rotation(wrist, middle)), -0.1, 2.7)


def hand_region_of_points(points):
    """The region of a hand, from the two points that the model of hand regions has."""
    side = 2 * np.hypot(*(points[1] - points[0]))
    return squared((*points[0], side, side, rotation(points[0], points[1], -np.pi / 2)), -0.1, 1.0)


def face_hint(points):
    """The region around the eleven points that a pose has of a face."""
    x, y, width, height, _ = fitting(points, 0)
    return squared((x, y, width, height, rotation(points[5], points[2], 0)), 0, 3.0)


def face_region_of_keypoints(points):
    """The region of a face, from the points of a detected one."""
    x, y, width, height, _ = fitting(points, 0)
    return squared((x, y, width, height, rotation(points[0], points[1], 0)), -0.1, 2.0)


def refined(points, heat, kernel=7, least=0.5):
    """Points in fractions of the input, moved to the means of their heat maps (rows, columns, points) around them."""
    points, (rows, columns, _) = points.copy(), heat.shape
    confidences = 1 / (1 + np.exp(-heat))
    reach = (kernel - 1) // 2
    for index, (x, y) in enumerate(points[:, :2] * [columns, rows]):
        column, row = int(x), int(y)
        if not (0 <= column < columns and 0 <= row < rows):
            continue
        ys, xs = np.mgrid[max(row - reach, 0):min(row + reach + 1, rows), max(column - reach, 0):min(column + reach + 1, columns)]
        around = confidences[ys, xs, index]
        if around.max() >= least:
            points[index, :2] = (xs * around).sum() / around.sum() / columns, (ys * around).sum() / around.sum() / rows
    return points


def landmarks(values, region, width, height, depth):
    """Points of an input that shows a region, as pixels of the picture with depths in the same unit."""
    values = np.asarray(values, float).reshape(-1, 3)
    return np.concatenate([projected(region, values[:, :2] / [width, height]), values[:, 2:] / width / depth * region[2]], 1)


def world_landmarks(values, angle):
    values = np.asarray(values, float).reshape(-1, 3)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return np.concatenate([values[:, :2] @ turn.T, values[:, 2:]], 1)


class OneEuro:
    """A 1 € filter for each of several numbers; speeds are differences of raw values, in units a second."""

    def __init__(self, cutoff, beta, derivative=1.0):
        self.cutoff, self.beta, self.derivative, self.last = cutoff, beta, derivative, None

    def __call__(self, values, time, unit=1.0):
        values = np.array(values, float)
        if self.last is None:
            self.last = time, values, np.zeros_like(values), values
            return values
        before, raw, speed, smooth = self.last
        rate = 1 / (time - before)

        def weight(cutoff):
            return 1 / (1 + rate / (2 * np.pi * cutoff))

        speed = speed + weight(self.derivative) * ((values - raw) / unit * rate - speed)
        new = weight(self.cutoff + self.beta * np.abs(speed))
        smooth = new * values + (1 - new) * smooth
        self.last = time, values, speed, smooth
        return smooth


class BodySmoothing:
    """What is smoothed of one person: `PoseLandmarker` leaves out the two points of the next region, which the others smooth."""

    def __init__(self, with_regions):
        self.with_regions, self.visibility = with_regions, None
        self.points, self.world, self.guides = OneEuro(0.05, 80), OneEuro(0.1, 40), OneEuro(0.01, 10)

    def __call__(self, points, visibility, world, guides, time, unit):
        """The smooth ones of points, their visibility, points in space and the two points of the next region."""
        if self.with_regions:
            unit = 2 * np.hypot(*(guides[1] - guides[0]))
        self.visibility = visibility if self.visibility is None else 0.1 * visibility + 0.9 * self.visibility
        return (self.points(points, time, unit), self.visibility, self.world(world, time),
                self.guides(guides, time, unit) if self.with_regions else guides)


def aligned(sources, targets, weights):
    """Rotation, scale and translation that bring points nearest to others (weighted orthogonal Procrustes, by singular values)."""
    total = weights.sum()
    start, end = (sources * weights[:, None]).sum(0) / total, (targets * weights[:, None]).sum(0) / total
    moved = sources - start
    left, _, right = np.linalg.svd(((targets - end) * weights[:, None]).T @ moved)
    if np.linalg.det(left) * np.linalg.det(right) < 0:
        left[:, 2] *= -1
    turn = left @ right
    scale = ((moved @ turn.T) * (targets - end) * weights[:, None]).sum() / (moved * moved * weights[:, None]).sum()
    return turn, scale, end - scale * turn @ start


def face_matrix(points, width, height, face, indices, weights, field=63.0):
    """Where a head is: the matrix from a usual face in centimeters to in front of a camera that looks along -z."""
    unit = 2 * np.tan(np.radians(field / 2)) / height
    depth = points[:len(face), 2].mean() * unit
    seen, usual = points[indices] * unit, face[indices]
    seen = np.stack([seen[:, 0] - width / 2 * unit, height / 2 * unit - seen[:, 1], seen[:, 2]], 1)

    def placed(scale):
        distance = (seen[:, 2] - depth + 1) / scale
        return np.stack([seen[:, 0] * distance, seen[:, 1] * distance, -distance], 1)

    first = aligned(usual, seen * [1, 1, -1], weights)[1]
    second = aligned(usual, placed(first), weights)[1]
    turn, scale, shift = aligned(usual, placed(first * second), weights)
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = scale * turn, shift
    return matrix
