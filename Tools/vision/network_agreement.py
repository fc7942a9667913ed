# SPDX-License-Identifier: Apache-2.0
"""Runs `apus` on the networks of `networks.py`, and compares with a pipeline of its own: NumPy prepares the picture,
LiteRT's reference kernels run the model, the rules of `task_rules.py` make the answer."""

import json

import numpy as np
from PIL import Image

import models
import networks
import rules
import task_rules
from models import Quantization
from networks import Picture, Result
from task_agreement import Model

UNIT8, SIGNED8 = Quantization.per_tensor(1 / 255, 0), Quantization.per_tensor(1 / 255, -128)
MIDDLE8, ODD8 = Quantization.per_tensor(1 / 127.5, -1), Quantization.per_tensor(0.0187, 114)
IMAGENET = ((123.675, 116.28, 103.53), (58.395, 57.12, 57.375))
SCORES8, SCORES_SIGNED8 = Quantization.per_tensor(1 / 256, 0), Quantization.per_tensor(1 / 256, -128)
COARSE8 = Quantization.per_tensor(0.05, 3)


def pictures(width, height):
    """Inputs of every form."""
    size = (width, height)
    yield Picture(size)
    yield Picture(size, planar=True)
    yield Picture(size, channels=1)
    yield Picture(size, normalization=((0.0,), (255.0,)))
    yield Picture(size, normalization=IMAGENET)
    yield Picture(size, normalization=IMAGENET, planar=True)
    yield Picture(size, "uint8", UNIT8)
    yield Picture(size, "uint8", Quantization.per_tensor(1 / 128, 128))
    yield Picture(size, "uint8", ODD8, planar=True, normalization=IMAGENET)
    yield Picture(size, "int8", SIGNED8)
    yield Picture(size, "int8", MIDDLE8, planar=True)
    yield Picture(size, "int8", SIGNED8, channels=1)


# MARK: The other pipeline


def resized(pixels, width, height):
    """Bilinear between centers of pixels; the mean of what a pixel covers along a side that shrinks to less than half."""
    values = pixels.astype(np.float64)
    for axis, size in ((0, height), (1, width)):
        count = values.shape[axis]
        weights = np.zeros((size, count))
        for target in range(size):
            if size * 2 < count:
                low, high = target * count / size, (target + 1) * count / size
                for source in range(int(low), min(int(np.ceil(high)), count)):
                    weights[target, source] = (min(high, source + 1) - max(low, source)) * size / count
            else:
                place = np.clip((target + 0.5) * count / size - 0.5, 0, count - 1)
                first = int(place)
                weights[target, first] += 1 - (place - first)
                weights[target, min(first + 1, count - 1)] += place - first
        values = np.moveaxis(np.tensordot(weights, values, (1, axis)), 0, axis)
    return np.floor(values + 0.5).astype(np.uint8)


def prepared(picture, pixels, letterboxed, default):
    """The input's values."""
    width, height = picture.size
    if letterboxed:
        left, top, inner_width, inner_height = rules.letterbox(pixels.shape[1], pixels.shape[0], width, height)
        filled = np.zeros((height, width, 3), np.uint8)
        filled[top:top + inner_height, left:left + inner_width] = resized(pixels, inner_width, inner_height)
    else:
        filled = resized(pixels, width, height)
    values = filled[..., :picture.channels].astype(np.float32)
    if picture.dtype == "float32":
        # A value for each channel or for all.
        mean, deviation = picture.normalization if picture.normalization and default != "v" else \
            {"signed": ((127.5,), (127.5,)), "v": ((0.0,), (1.0,))}[default]
        values = (values - np.array(mean, np.float32)) / np.array(deviation, np.float32)
    elif picture.dtype == "int8":
        values -= 128
    return (values.transpose(2, 0, 1) if picture.planar else values)[None].astype(picture.dtype)


class Reference:
    """A model in LiteRT."""

    def __init__(self, path):
        self.model = Model(path)

    def __call__(self, values):
        self.model.interpreter.set_tensor(self.model.input["index"], values)
        self.model.interpreter.invoke()
        return [self.model.real(output) for output in self.model.interpreter.get_output_details()]


# MARK: Cases


def cases():
    """The task, its name, the picture, the model, what its answer is compared with, and how pictures are fitted."""
    names = [f"class {number}" for number in range(7)]
    softmax = [(7, "softmax")]
    for picture in pictures(48, 32):
        yield "classify", "softmax", picture, networks.classifier(picture, softmax, [Result()])
        yield "embed", "normalized", picture, networks.embedder(picture, [24], [Result()])
        yield "segment", "scores", picture, networks.segmenter(picture, 5)
    for picture in (Picture((40, 56)), Picture((33, 21), "uint8", UNIT8), Picture((64, 64), "int8", SIGNED8, planar=True)):
        for name, heads, results in (
                ("logits", [(7, "logits")], [Result()]),
                ("1×1×1×N", softmax, [Result(shape=(1, 1, 1, 7))]),
                ("1×N×1×1", softmax, [Result(shape=(1, 7, 1, 1))]),
                ("N", softmax, [Result(shape=(7,))]),
                ("uint8", softmax, [Result("uint8", SCORES8)]),
                ("int8", softmax, [Result("int8", SCORES_SIGNED8)]),
                ("logits of int8", [(7, "logits")], [Result("int8", COARSE8)]),
                ("two heads", [(7, "softmax"), (3, "logistic")], [Result(), Result("uint8", SCORES8)]),
                ("three heads", [(1, "logistic"), (2, "softmax"), (7, "logits")], [Result()] * 3)):
            yield "classify", name, picture, networks.classifier(picture, heads, results, seed=11)
        for name, dimensions, results in (
                ("1×1×1×N", [16], [Result(shape=(1, 1, 1, 16))]), ("1×N×1×1", [16], [Result(shape=(1, 16, 1, 1))]),
                ("uint8", [16], [Result("uint8", Quantization.per_tensor(0.05, 120))]),
                ("int8", [16], [Result("int8", COARSE8)]), ("two", [16, 5], [Result(), Result()])):
            yield "embed", name, picture, networks.embedder(picture, dimensions, results, seed=12)
        yield "embed --raw", "raw", picture, networks.embedder(picture, [20], [Result()], seed=13)
    for picture in (Picture((48, 32)), Picture((48, 32), planar=True), Picture((32, 48), "int8", SIGNED8)):
        for name, arguments in (
                ("channels first", {"planar": True}), ("fine cells", {"side": 2}),
                ("uint8", {"result": Result("uint8", Quantization.per_tensor(0.1, 128))}),
                ("int8", {"result": Result("int8", Quantization.per_tensor(0.1, 0))}),
                ("classes of int32", {"classes": "int32"}), ("classes of int64", {"classes": "int64"})):
            yield "segment", name, picture, networks.segmenter(picture, 5, seed=14, **arguments)
        for side in (2, 4):
            yield "segment", "one probability", picture, networks.segmenter(picture, 1, side=side, seed=15)
    for kind, sides in (("short", (64, 96)), ("full", (48, 64))):
        for side in sides:
            for picture in (Picture((side, side)), Picture((side, side), planar=True),
                            Picture((side, side), "int8", MIDDLE8), Picture((side, side), "uint8", ODD8)):
                for first in (False, True):
                    results = (Result(), Result()) if picture.dtype == "float32" else (
                        # Not a simple fraction, which would make overlaps of exactly the threshold.
                        Result("int8", Quantization.per_tensor(0.2537, 0)), Result("int8", Quantization.per_tensor(0.1, 0)))
                    yield "faces", kind + (", scores first" if first else ""), picture, networks.faces(
                        picture, kind, results, first, seed=16 + side)
    for picture in (Picture((48, 48)), Picture((64, 48)), Picture((48, 48), planar=True),
                    Picture((64, 64), "uint8", UNIT8), Picture((64, 64), "int8", SIGNED8)):
        for name, people, result in (("MoveNet", None, Result()), ("MoveNet of uint8", None, Result("uint8", SCORES8)),
                                     ("MoveNet for six", 6, Result())):
            yield "keypoints", name, picture, networks.movenet(picture, people, result)
    eighth = Quantization.per_tensor(1 / 8, 128)
    for picture in (Picture((129, 97)), Picture((97, 129), "uint8", Quantization.per_tensor(1 / 128, 128)),
                    Picture((81, 81), planar=True)):
        bytes_of = tuple(Result("uint8", scale) for scale in (Quantization.per_tensor(1 / 16, 128), eighth, eighth))
        for name, order, results, halves in (
                ("PoseNet", (0, 1, 2), (Result(),) * 3, False), ("PoseNet in another order", (2, 0, 1), (Result(),) * 3, False),
                ("PoseNet in four outputs", (0, 1, 2, 3), (Result(),) * 3, True), ("PoseNet of uint8", (0, 1, 2), bytes_of, False)):
            yield "keypoints", name, picture, networks.posenet(picture, order, results, halves)
    picture = Picture((48, 32))
    yield "classify", "labels", picture, models.with_files(
        networks.classifier(picture, softmax, [Result()]), {"labels.txt": "\n".join(names)})


def answers(task, name, picture, outputs, size):
    """What the rules make of a model's outputs."""
    if task == "classify":
        return [output.reshape(-1) for output in outputs]
    if task.startswith("embed"):
        rows = [output.reshape(-1) for output in outputs]
        return rows if task.endswith("raw") else [task_rules.normalized(row) for row in rows]
    if task == "segment":
        grid = outputs[0][0]
        if grid.ndim == 2:
            return task_rules.nearest(grid.astype(int), size)
        if name == "channels first":
            grid = grid.transpose(1, 2, 0)
        return task_rules.enlarged(grid.astype(np.float64), size)
    if task == "faces":
        predictions, logits = sorted((output[0] for output in outputs), key=lambda output: -output.shape[1])
        side = picture.size[0]
        anchors = task_rules.face_anchors(name.split(",")[0], side)
        found = task_rules.faces(*(part.astype(np.float64) for part in (predictions, logits, anchors)), side)
        return [(score, task_rules.black_letterbox(row, size, picture.size)) for score, row in found]
    return poses(name, picture, outputs, size)


def poses(name, picture, outputs, size):
    """Scores, places and scores of points."""
    if name.startswith("PoseNet"):
        from operators import posenet
        outputs = [output[0].astype(np.float64) for output in outputs]
        scores, short, *middle = sorted(outputs, key=lambda output: [17, 34, 64, 32].index(output.shape[2]))
        found = posenet.decoded(scores, short / 16, np.concatenate(middle, 2) / 16, 64, 0.3, 20 / 16)
        rows = [(score, (places * 16)[:, ::-1] / picture.size, chances) for places, chances, score in found]
    elif name == "MoveNet for six":
        rows = [(row[55], row[:51].reshape(17, 3)[:, 1::-1], row[2:51:3]) for row in outputs[0][0] if row[55] >= 0.3]
        rows.sort(key=lambda row: -row[0])
    else:
        points = outputs[0].reshape(17, 3)
        rows = [(points[:, 2].mean(), points[:, 1::-1], points[:, 2])]
    return [(float(score), task_rules.black_letterbox(places.reshape(-1), size, picture.size), chances)
            for score, places, chances in rows]


# MARK: Comparing


def difference(task, found, expected, mask, close):
    """What differs, in words. `close` multiplies the tolerances."""
    if task == "classify":
        heads = [head["classes"] for head in found["heads"]] if "heads" in found else [found["classes"]]
        if [len(head) for head in heads] != [len(scores) for scores in expected]:
            return f"{[len(head) for head in heads]} classes"
        away = max(abs(entry["score"] - scores[entry["index"]]) / max(1, np.abs(scores).max())
                   for head, scores in zip(heads, expected) for entry in head)
        if any(head != sorted(head, key=lambda entry: (-entry["score"], entry["index"])) for head in heads):
            return "classes are not sorted"
        return f"scores are {away} away" if away > 1e-4 * close else None
    if task.startswith("embed"):
        rows = found["embeddings"]
        if [len(row) for row in rows] != [len(row) for row in expected]:
            return f"{[len(row) for row in rows]} coordinates"
        away = max(np.abs(np.array(one) - other).max() / max(1, np.abs(other).max()) for one, other in zip(rows, expected))
        return f"coordinates are {away} away" if away > 1e-4 * close else None
    if task == "segment":
        if expected.ndim == 2:
            different = mask != expected
        elif expected.shape[2] == 1:
            different = (mask == 1) != (expected[..., 0] > 0.5)
            different &= np.abs(expected[..., 0] - 0.5) > 1e-4 * close
        else:
            best = np.sort(expected, 2)
            different = (mask != expected.argmax(2)) & (best[..., -1] - best[..., -2] > 1e-4 * close)
        return f"{different.sum()} of {different.size} pixels differ" if different.mean() > 0.005 * (close > 1) else None
    if task == "faces":
        mine = [(face["score"], [face["box"]["x"], face["box"]["y"], face["box"]["x"] + face["box"]["width"],
                                 face["box"]["y"] + face["box"]["height"],
                                 *(side for point in face["keypoints"] for side in (point["x"], point["y"]))], [])
                for face in found["faces"]]
        expected = [(score, places, []) for score, places in expected]
    else:
        mine = [(pose["score"], [side for point in pose["keypoints"] for side in (point["x"], point["y"])],
                 [point["score"] for point in pose["keypoints"]]) for pose in found["poses"]]
    if len(mine) != len(expected):
        return f"{len(mine)} found, not {len(expected)}"
    for one, other in zip(mine, expected):
        if abs(one[0] - other[0]) > 1e-4 * close or np.abs(np.array(one[2]) - other[2]).max(initial=0) > 1e-4 * close:
            return f"a score is {one[0]}, not {other[0]}"
        if np.abs(np.array(one[1]) - other[1]).max() > 0.05 * close:
            return f"a point is {np.abs(np.array(one[1]) - other[1]).max()} pixels away"
    return None


def check(run, report, apus, folder):
    random = np.random.default_rng(50)
    for task, name, picture, data in cases():
        path, file = folder / "model.tflite", folder / "picture.png"
        if picture.normalization:
            data = models.with_metadata(data, [{"name": "output"}], normalization=picture.normalization)
        path.write_bytes(data)
        reference = Reference(path)
        width, height = picture.size
        # Its own size, where no pixel is computed; twice as large, which bilinear makes means of two; a part of another shape.
        # A maximum of PoseNet's may jump for a byte that is rounded otherwise, which the first two factors rule out.
        factors = ((1, 1), (2, 2), (3, 4))
        for factor_x, factor_y in factors[:2] if name.startswith("PoseNet") else factors:
            size = (width * factor_x, height * factor_y)
            coarse = random.integers(0, 256, (6, 8, 3), np.uint8)
            pixels = np.array(Image.fromarray(coarse).resize(size, Image.Resampling.BICUBIC))
            if picture.channels == 1:
                pixels = np.repeat(pixels[..., :1], 3, 2)
            Image.fromarray(pixels).save(file)
            letterboxed = task in ("faces", "keypoints")
            default = "v" if name.startswith("MoveNet") else "signed"
            expected = answers(task, name, picture, reference(prepared(picture, pixels, letterboxed, default)), size)
            arguments = [*task.split(), file, "--model", path, "--json"]
            if task == "classify":
                arguments += ["--top", "100"]
            if task == "segment":
                arguments += ["--output", folder / "mask.npy"]
            status, output, errors = run(apus, arguments)
            if status:
                problem = errors.strip()
            else:
                mask = np.load(folder / "mask.npy") if task == "segment" else None
                # Where a resized byte is about halfway between two, either is right.
                problem = difference(task, json.loads(output), expected, mask, 1 if factor_x == 1 else 50)
            report(f"network: {task}, {name}, {picture}, picture {size[0]}x{size[1]}", [problem] if problem else [])
