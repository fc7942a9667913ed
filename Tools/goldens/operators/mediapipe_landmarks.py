# SPDX-License-Identifier: Apache-2.0
"""MediaPipe's operators on landmarks, which LiteRT lacks: their answers are computed here, as MediaPipe's sources say."""

import numpy as np
from flatbuffers import flexbuffers

from catalogue import operator
from model_builder import ModelBuilder


def matrix_near_identity(draw, size):
    """A map that leads mostly into an image of `size`, by rotation, scaling and a shift."""
    angle, scale = draw.real(-0.7, 0.7), draw.real(0.3, 1.2)
    matrix = np.eye(4)
    matrix[:2, :2] = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    matrix[:2, 3] = draw.real(-1, size[1] / 2), draw.real(-1, size[0] / 2)
    return matrix.astype(np.float32)


def sampled(image, matrix, size, from_centers):
    """Each pixel as the map leads to it, interpolated; zero where it leads outside."""
    matrix = matrix.astype(np.float64)
    rows, columns = np.mgrid[: size[0], : size[1]]
    places = np.stack([columns, rows, np.zeros(size), np.ones(size)])
    if from_centers:
        places[:2] += 0.5
    x, y = np.einsum("ij,jyx->iyx", matrix[:2], places) - (0.5 if from_centers else 0)
    height, width = image.shape[1:3]
    inside = (x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1)
    x, y = np.where(inside, x, 0), np.where(inside, y, 0)
    padded = np.pad(image[0].astype(np.float64), ((0, 1), (0, 1), (0, 0)))
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    right, lower = (x - left)[..., None], (y - top)[..., None]
    first = (1 - right) * padded[top, left] + right * padded[top, left + 1]
    second = (1 - right) * padded[top + 1, left] + right * padded[top + 1, left + 1]
    return (np.where(inside[..., None], (1 - lower) * first + lower * second, 0)[None]).astype(np.float32)


def transform_tensor(name, versions):
    @operator(name, ("float32",), cases=14)
    def case(draw):
        version = draw.pick("version", versions)
        size = [draw.choice([1, 2, 5, 7, 9]) for _ in range(2)]
        target = [draw.choice([1, 2, 4, 6, 8]) for _ in range(2)]
        image = draw.values((1, *size, draw.choice([1, 3, 4])))
        kind = draw.pick("map", ["near", "near", "identity", "far"])
        draw.tag(f"v{version}", kind)
        matrix = matrix_near_identity(draw, size)
        if kind == "identity":
            matrix = np.eye(4, dtype=np.float32)
        if kind == "far":
            matrix[:2, 3] = 100
        # Exact in single precision: last places would decide at the edges.
        matrix = np.round(matrix * 64) / 64
        model = ModelBuilder(version=version)
        shape = draw.pick("matrix", [(1, 4, 4), (1, 1, 4, 4)])
        operands = [model.input(image), model.input(matrix.reshape(shape))]
        options = {"mode": "bilinear", "output_size": target}
        if version == 2:
            options = {"output_height": target[0], "output_width": target[1]}
        model.answer = [sampled(image, matrix, target, version == 2)]
        return model.operator(name, operands, [model.output("float32")], custom_options=packed(options))

    return case


transform_tensor("TransformTensor", [1])
transform_tensor("TransformTensorBilinear", [2, 1])


def packed(options):
    """A FlexBuffer map, with typed vectors, as converters write it."""
    builder = flexbuffers.Builder()
    with builder.Map():
        for key, value in options.items():
            builder.Key(key)
            if isinstance(value, list):
                builder.TypedVectorFromElements(value)
            else:
                builder.Add(value)
    return bytes(builder.Finish())


def mapped(points, matrix, scale):
    """Points of a plane, and what else they have, under a map whose shift is scaled."""
    result = points.astype(np.float64)
    matrix = matrix.astype(np.float64)
    result[..., :2] = points[..., :2] @ matrix[:2, :2].T + matrix[:2, 3] * scale
    return result.astype(np.float32)


@operator("TransformLandmarks", ("float32",), cases=14)
def transform_landmarks(draw):
    version = draw.pick("version", [2, 1])
    depth = draw.pick("depth", [3, 2])
    draw.tag(f"v{version}", f"of_{depth}")
    count, scale = draw.choice([1, 2, 5, 40]), 1
    points = draw.values((1, count, depth))
    matrix = matrix_near_identity(draw, (8, 8))
    matrix[0, 2] = draw.choice([0, 5])
    options = {}
    if version == 1:
        scale = draw.choice([1.0, 4.0, 0.5])
        options = {"dimensions": depth, "scale": scale}
        if depth == 3 and scale == 1 and draw.chance(0.5):
            options = {}
    answer = mapped(points, matrix, scale)
    if version == 1:
        points, answer = (values.reshape(1, 1, 1, count * depth) for values in (points, answer))
    model = ModelBuilder(version=version)
    operands = [model.input(points), model.input(matrix[None])]
    model.answer = [answer]
    return model.operator(
        "TransformLandmarks", operands, [model.output("float32")], custom_options=packed(options))


def turned(points, angle):
    return points @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


def crop(points, subset, line, target, scale, size):
    """From the pixels of a crop to those of the picture: to the middle, to size, turned, and to its place."""
    points = points[:, :2].astype(np.float64)
    difference = points[line[1]] - points[line[0]]
    angle = target - np.arctan2(difference[1], difference[0])
    upright = turned(points[subset], angle)
    least, most = upright.min(0), upright.max(0)
    step = np.array(scale) * (most - least) / size
    matrix = np.eye(4)
    matrix[:2, :2] = np.array([[np.cos(-angle), -np.sin(-angle)], [np.sin(-angle), np.cos(-angle)]]) @ np.diag(step)
    matrix[:2, 3] = turned((least + most) / 2, -angle) - matrix[:2, :2] @ (np.array(size) / 2)
    return matrix.astype(np.float32)


def crop_v1(points, subset, line, reach, multiplier, size, picture):
    """As `crop`, by landmarks in units of `reach` across the picture, through squares from -1 to 1."""
    points = points[:, :2].astype(np.float64)
    difference = points[line[1]] - points[line[0]]
    angle = -np.arctan(difference[1] / difference[0])
    upright = turned(points[subset], angle)
    least, most = upright.min(0), upright.max(0)
    extent = (most - least) * multiplier / reach
    center = turned((least + most) / 2, -angle) / reach * 2 - 1
    cosine, sine = np.cos(-angle), np.sin(-angle)
    half = (np.array(picture) - 1) / 2
    relative = np.array([[2 / (size[0] - 1), 0, -1], [0, 2 / (size[1] - 1), -1], [0, 0, 1]])
    rotation = np.array([[cosine, -sine, center[0]], [sine, cosine, center[1]], [0, 0, 1]])
    absolute = np.array([[half[0], 0, half[0]], [0, half[1], half[1]], [0, 0, 1]])
    whole = absolute @ rotation @ np.diag([*extent, 1]) @ relative
    matrix = np.eye(4)
    matrix[:2, :2], matrix[:2, 3] = whole[:2, :2], whole[:2, 2]
    return matrix.astype(np.float32)


@operator("Landmarks2TransformMatrix", ("float32",), cases=16)
def landmarks_to_matrix(draw):
    version = draw.pick("version", [2, 1])
    count = draw.choice([2, 3, 10, 30])
    points = draw.values((1, count, 3), magnitude=50.0) + 100
    left, right = draw.sample(range(count), 2)
    points[0, right, 0] += 1 if points[0, right, 0] == points[0, left, 0] else 0
    subset = [draw.integer(0, count - 1) for _ in range(draw.choice([2, 3, 4, 7]))] + [left, right]
    draw.tag(f"v{version}", "odd" if len(subset) % 2 else "")
    size, picture = ([draw.choice([16, 64, 192]) for _ in range(2)] for _ in range(2))
    options = {"left_rotation_idx": left, "right_rotation_idx": right}
    if version == 1:
        options |= {
            "subset": subset,
            "dimensions": 3,
            "landmarks_range": 192,
            "bbox_size_multiplier": draw.real(0.5, 2),
            "input_hw": picture[::-1],
            "output_hw": size[::-1],
        }
        multiplier = options["bbox_size_multiplier"]
        answer = crop_v1(points[0], subset, (left, right), 192, multiplier, size, picture)
    else:
        options |= {
            "subset_idxs": subset,
            "target_rotation_radians": draw.real(-3, 3),
            "output_height": size[1],
            "output_width": size[0],
            "scale_x": draw.real(0.5, 2),
            "scale_y": draw.real(0.5, 2),
        }
        scale = options["scale_x"], options["scale_y"]
        answer = crop(points[0], subset, (left, right), options["target_rotation_radians"], scale, size)
    model = ModelBuilder(version=version)
    model.answer = [answer[None]]
    operands = [model.input(points.reshape(1, 1, 1, -1) if version == 1 else points)]
    return model.operator(
        "Landmarks2TransformMatrix", operands, [model.output("float32")], custom_options=packed(options))
