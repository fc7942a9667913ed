# SPDX-License-Identifier: Apache-2.0
"""Models for the other tasks with what the rules of `task_rules.py` answer: `cases()` yields them one by one."""

import numpy as np

import models
import task_rules as rules
from models import Quantization

SIZE = (32, 32)


class Case:
    """A model, a task, a picture's size and the answer to expect, in the form of the command line's JSON."""

    def __init__(self, name, task, model, answer, picture=SIZE, labels=None, shape=None):
        self.name, self.task, self.model, self.answer = name, task, model, answer
        self.picture, self.labels = picture, labels
        # The keypoints of an object and the numbers of each, where the file does not say it.
        self.shape = shape


def cases():
    yield from classifier_cases()
    yield from embedder_cases()
    yield from face_cases()
    yield from segmenter_cases()
    yield from class_number_cases()
    yield from truth_cases()
    yield from keypoint_cases()
    yield from refused_cases()


def classes(scores, labels=None, offset=0):
    return [{"index": index, "score": score,
             "label": labels[index + offset] if labels and 0 <= index + offset < len(labels) else None}
            for index, score in rules.classify(scores)]


def classifier_cases():
    random = np.random.default_rng(40)
    names = ["ant", "bee", "cat", "dog", "emu", "fox", "gnu"]
    scores = random.permutation(np.array([0.4, 0.2, 0.15, 0.1, 0.08, 0.05, 0.02], np.float32))
    yield Case("one head", "classifier", models.constant_model([scores[None]], SIZE), {"classes": classes(scores)})
    yield Case("labels in the model", "classifier", models.with_files(
        models.constant_model([scores.reshape(1, 1, 1, 7)], SIZE), {"labels.txt": "\n".join(names)}),
        {"classes": classes(scores, names)})
    yield Case("labels with the background", "classifier", models.constant_model([scores[None]], SIZE),
               {"classes": classes(scores, ["background", *names[1:]])}, labels=["background", *names[1:]])
    yield Case("labels without the background", "classifier", models.constant_model([scores[None]], SIZE),
               {"classes": classes(scores, names[:6], offset=-1)}, labels=names[:6])
    for dtype, scale in (("uint8", Quantization.per_tensor(1 / 256, 0)), ("int8", Quantization.per_tensor(1 / 256, -128))):
        steps = models.quantized(scores, scale, models.TYPES[dtype])
        yield Case(f"scores of {dtype}", "classifier", models.constant_model(
            [(steps[None], scale)], SIZE, input_type=dtype, input_quantization=Quantization.per_tensor(1 / 255, 0)),
            {"classes": classes(models.real(steps, scale))})
    equal = np.array([0.25, 0.5, 0.25, 0.5], np.float32)
    yield Case("equal scores", "classifier", models.constant_model([equal[None]], SIZE, planar=True),
               {"classes": classes(equal)})
    other = random.uniform(0, 1, 3).astype(np.float32)
    yield Case("two heads", "classifier", models.constant_model([scores[None], other[None]], SIZE),
               {"heads": [{"name": "tensor_2", "classes": classes(scores)},
                          {"name": "tensor_5", "classes": classes(other)}]})


def embedder_cases():
    random = np.random.default_rng(41)
    one, other = random.normal(0, 3, 16).astype(np.float32), random.normal(0, 1, 5).astype(np.float32)
    yield Case("one embedding", "embedder", models.constant_model([one[None]], SIZE),
               {"embeddings": [rules.normalized(one).tolist()]})
    yield Case("two embeddings", "embedder", models.constant_model([one.reshape(1, 1, 1, 16), other[None]], SIZE),
               {"embeddings": [rules.normalized(one).tolist(), rules.normalized(other).tolist()]})
    yield Case("the origin", "embedder", models.constant_model([np.zeros((1, 4), np.float32)], SIZE),
               {"embeddings": [[0.0] * 4]})
    scale = Quantization.per_tensor(0.05, 3)
    steps = models.quantized(one, scale, np.int8)
    yield Case("an embedding of int8", "embedder", models.constant_model([(steps[None], scale)], SIZE),
               {"embeddings": [rules.normalized(models.real(steps, scale)).tolist()]})


def face_cases():
    for kind, size, count in (("short", 64, 8 * 8 * 2 + 4 * 4 * 6), ("full", 48, 12 * 12),
                              ("back", 128, 8 * 8 * 2 + 4 * 4 * 6)):
        random = np.random.default_rng(42)
        anchors = rules.face_anchors(kind, size)
        assert len(anchors) == count
        predictions = random.normal(0, 2, (count, 16)).astype(np.float32)
        predictions[:, 2:4] = random.uniform(8, 20, (count, 2))
        logits = random.normal(-3, 2, (count, 1)).astype(np.float32)
        found = rules.faces(predictions.astype(np.float64), logits.astype(np.float64), anchors.astype(np.float64), size)
        for picture in ((size, size), (90, 50)):
            answer = []
            for score, row in found:
                placed = rules.black_letterbox(row, picture, (size, size))
                answer.append({"score": score, "edges": placed[:4].tolist(),
                               "keypoints": placed[4:].reshape(-1, 2).tolist()})
            outputs = [predictions[None], logits[None]]
            for order in (outputs, outputs[::-1]):
                yield Case(f"{kind} {'camera' if kind == 'back' else 'range'}, {picture[0]}x{picture[1]}{', scores first' if order[0] is outputs[1] else ''}",
                           "faces", models.constant_model(order, (size, size)), {"faces": answer}, picture)


def segmenter_cases():
    random = np.random.default_rng(43)
    grid = random.normal(0, 1, (8, 8, 5)).astype(np.float32)
    one = random.uniform(0, 1, (8, 8, 1)).astype(np.float32)
    whole = random.integers(0, 21, (8, 8))
    for picture in (SIZE, (8, 8), (50, 21)):
        suffix = f", {picture[0]}x{picture[1]}"
        for name, planar, output in (("scores", False, grid[None]), ("scores, channels first", True,
                                                                      grid.transpose(2, 0, 1)[None])):
            yield mask_case(name + suffix, models.constant_model([output], SIZE, planar), rules.segment(grid, picture),
                            picture)
        yield mask_case("one probability" + suffix, models.constant_model([one[None]], SIZE), rules.segment(one, picture),
                        picture)
        yield mask_case("classes" + suffix, models.constant_model([whole[None].astype(np.int64)], SIZE),
                        rules.nearest(whole, picture), picture)
    scale = Quantization.per_tensor(0.02, -5)
    steps = models.quantized(grid, scale, np.int8)
    yield mask_case("scores of int8", models.constant_model([(steps[None], scale)], SIZE),
                    rules.segment(models.real(steps, scale), (20, 30)), (20, 30))


def class_number_cases():
    """Numbers of classes in floats: ARG_MAX, and what converters put behind it."""
    random = np.random.default_rng(46)
    grid = random.normal(0, 1, (1, 8, 8, 21)).astype(np.float32)
    two = grid[..., :2]
    whole = grid.argmax(-1)[0]
    cast = ("CAST", "float32")
    table = random.permutation(40)[:21]
    for name, steps, classes in (
            ("CAST of ARG_MAX", [cast], whole),
            ("CAST of ARG_MAX, with a channel", [cast, ("RESHAPE", (1, 8, 8, 1))], whole),
            ("CAST of ARG_MAX, with a channel first", [cast, ("RESHAPE", (1, 1, 8, 8))], whole),
            ("MUL and ADD of ARG_MAX", [cast, ("MUL", 1), ("ADD", 0)], whole),
            ("ADD of ARG_MAX", [("ADD", 1), cast], whole + 1),
            ("MUL by 2 and by a half of ARG_MAX", [cast, ("MUL", 2), ("MUL", 0.5)], whole),
            ("ARG_MAX in a table", [("GATHER", table), cast], table[whole]),
            ("enlarged ARG_MAX", [cast, ("RESHAPE", (1, 8, 8, 1)), ("RESIZE_NEAREST_NEIGHBOR", (16, 16))],
             whole.repeat(2, 0).repeat(2, 1)),
            ("quantized ARG_MAX", [cast, ("QUANTIZE", Quantization.per_tensor(20 / 255, 0))], whole)):
        for picture in (SIZE, (50, 21)):
            yield mask_case(f"{name}, {picture[0]}x{picture[1]}", models.class_model(grid, steps, SIZE),
                            rules.nearest(classes, picture), picture)
    yield mask_case("CAST of ARG_MAX of two", models.class_model(two, [cast], SIZE),
                    rules.nearest(two.argmax(-1)[0], SIZE), SIZE)
    for name, steps in (("CAST of ARG_MAX", [cast]), ("quantized ARG_MAX", [cast, ("QUANTIZE", Quantization.per_tensor(1, 0))])):
        yield Case(f"{name}, as classifier", "classifier", models.class_model(grid[:, 0, 0], steps, SIZE), {"error": "ARG_MAX"})
    channel = ("RESHAPE", (1, 8, 8, 1))
    for name, steps, error in (
            ("ARG_MAX times 0.05", [cast, ("MUL", 0.05)], "times 0.05"),
            ("ARG_MAX times 12", [("MUL", 12), cast], "times 12"),
            ("ARG_MAX less 1", [cast, ("SUB", 1)], "less 1"),
            ("ARG_MAX enlarged bilinearly", [cast, channel, ("RESIZE_BILINEAR", (16, 16))], "RESIZE_BILINEAR"),
            ("ARG_MAX in coarse steps", [cast, ("QUANTIZE", Quantization.per_tensor(2, 0))], "multiples of 2")):
        yield Case(name, "segmenter", models.class_model(grid, steps, SIZE), {"error": error})


def truth_cases():
    """Masks that are true or false, which count as 1 and 0."""
    random = np.random.default_rng(47)
    truth = random.random((8, 8, 1)) < 0.4
    for picture in (SIZE, (8, 8), (50, 21)):
        for name, output in (("truths", truth[None]), ("truths without a channel", truth[None, ..., 0])):
            yield mask_case(f"{name}, {picture[0]}x{picture[1]}", models.constant_model([output], SIZE),
                            rules.segment(truth.astype(np.float32), picture), picture)
    yield Case("truths of three classes", "segmenter", models.constant_model([random.random((1, 8, 8, 3)) < 0.4], SIZE),
               {"error": "true or false for each of 3 classes"})
    row = np.array([[True, False, False, True]])
    yield Case("a row of truths", "classifier", models.constant_model([row], SIZE), {"classes": classes(row[0].astype(np.float32))})


def mask_case(name, model, mask, picture):
    return Case(name, "segmenter", model, {"mask": mask.reshape(-1).tolist()}, picture)


def keypoint_cases():
    random = np.random.default_rng(44)
    points = random.uniform(0, 1, (17, 3)).astype(np.float32)
    for picture in (SIZE, (60, 25)):
        pose = pose_of(points, float(points[:, 2].mean()), picture)
        yield Case(f"MoveNet, {picture[0]}x{picture[1]}", "keypoints", models.constant_model([points[None, None]], SIZE),
                   {"poses": [pose]}, picture)
    weak = points * [1, 1, 0.1]
    yield Case("MoveNet that is not sure", "keypoints", models.constant_model(
        [weak.astype(np.float32)[None, None]], SIZE), {"poses": [pose_of(weak, float(weak[:, 2].mean()), SIZE)]})
    people = random.uniform(0, 1, (6, 56)).astype(np.float32)
    people[:, 55] = [0.9, 0.1, 0.5, 0.29, 0.31, 0.0]
    poses = [pose_of(row[:51].reshape(17, 3), float(row[55]), SIZE) for row in people[[0, 2, 4]]]
    yield Case("MoveNet for several people", "keypoints", models.constant_model([people[None]], SIZE), {"poses": poses})
    yield from posenet_cases()
    yield from yolo_pose_cases()


def yolo_pose_cases():
    """Poses of YOLO whose file says nothing: a box, one class and points for each of 21 cells, of which three are objects."""
    random = np.random.default_rng(45)
    for count, values in ((17, 3), (21, 3), (4, 2)):
        rows = np.full((21, 5 + count * values), 0.05, np.float32)
        rows[:, 5:] = random.uniform(0, 1, (21, count * values))
        for row, score, center in ((2, 0.9, 0.2), (9, 0.5, 0.5), (19, 0.7, 0.8)):
            rows[row, :5] = [center, center, 0.2, 0.2, score]
        for picture in (SIZE, (60, 25)):
            poses = []
            for row in (2, 19, 9):
                points = rows[row, 5:].reshape(count, values)
                placed = rules.black_letterbox(points[:, :2].astype(np.float64).reshape(-1), picture, SIZE).reshape(-1, 2)
                sure = points[:, 2].tolist() if values == 3 else [None] * count
                poses.append({"score": float(rows[row, 4]),
                              "keypoints": [[*place, *([score] if score is not None else [])]
                                            for place, score in zip(placed.tolist(), sure)]})
            yield Case(f"YOLO pose of {count}x{values}, {picture[0]}x{picture[1]}", "keypoints",
                       models.constant_model([rows.T[None]], SIZE), {"poses": poses}, picture,
                       shape=None if (count, values) == (17, 3) else [count, values])
    hands = np.full((68, 21), 0.05, np.float32)
    yield Case("YOLO pose of 21 points that nobody mentions", "keypoints", models.constant_model([hands[None]], SIZE),
               {"error": "--keypoints"})


def posenet_cases():
    """Maps as `posenet.py` draws them, and the poses that its decoder finds; cells are 16 pixels apart."""
    from operators import posenet
    random = np.random.default_rng(45)
    rows, columns, stride = 6, 9, 16
    size = ((columns - 1) * stride + 1, (rows - 1) * stride + 1)
    for name, dtype, halves, picture in (
            ("of floats", "float32", False, size), ("of bytes", "uint8", False, (60, 120)),
            ("in four outputs", "float32", True, (200, 70))):
        # Points that stand out, each by another score; the rest is too low to begin a pose with.
        flat = np.full(rows * columns * 17, 34.0)
        flat[random.choice(flat.size, 85, replace=False)] = random.permutation(np.arange(35, 120))
        maps = [(flat.reshape(1, rows, columns, 17), Quantization.per_tensor(1 / 16, 48)),
                *((random.integers(7, 14, (1, rows, columns, channels)), Quantization.per_tensor(stride / 8, 10))
                  for channels in (34, 64))]
        outputs = [(values.astype(np.uint8), scale) for values, scale in maps]
        reals = [models.real(*output)[0] for output in outputs]
        if dtype == "float32":
            outputs = [real[None] for real in reals]
        if halves:
            outputs = [*outputs[:2], outputs[2][..., :32], outputs[2][..., 32:]]
        found = posenet.decoded(*(real.astype(np.float64) / unit for real, unit in zip(reals, (1, stride, stride))),
                                64, 0.3, 20 / stride)
        assert len(found) > 1
        poses = []
        for points, chances, score in found:
            flat = (points * stride)[:, ::-1].reshape(-1) / np.tile(size, 17)
            placed = rules.black_letterbox(flat, picture, size).reshape(-1, 2)
            poses.append({"score": float(score),
                          "keypoints": [[*place, float(chance)] for place, chance in zip(placed.tolist(), chances)]})
        yield Case(f"PoseNet {name}, {picture[0]}x{picture[1]}", "keypoints",
                   models.constant_model(outputs, size, input_type=dtype,
                                         input_quantization=Quantization.per_tensor(1 / 128, 128) if dtype == "uint8" else None),
                   {"poses": poses}, picture)


def pose_of(points, score, picture):
    """`points` are y, x, score in fractions of the input."""
    flat = points[:, [1, 0]].astype(np.float64).reshape(-1)
    placed = rules.black_letterbox(flat, picture, SIZE).reshape(-1, 2)
    return {"score": score, "keypoints": [[*place, float(sure)] for place, sure in zip(placed.tolist(), points[:, 2])]}


def refused_cases():
    row = np.zeros((1, 7), np.float32)
    for task in ("faces", "segmenter", "keypoints"):
        yield Case(f"a row of scores, as {task}", task, models.constant_model([row], SIZE), {"error": "1×7"})
    for task in ("classifier", "embedder"):
        yield Case(f"a grid, as {task}", task, models.constant_model([np.zeros((1, 4, 4, 3), np.float32)], SIZE),
                   {"error": "1×4×4×3"})
