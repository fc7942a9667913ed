# SPDX-License-Identifier: Apache-2.0
"""Small models of every task: those of the task's tests, networks of random weights, and models that answer whatever is drawn,
numbers that no trained model gives among them."""

import functools

import cases
import models
import networks
import numpy as np
import task_cases
from ai_edge_litert import schema_py_generated as schema
from graph_builder import GraphBuilder
from model_builder import Quantization
from networks import Picture, Result

from random_commands import bundles
from random_commands.hostile import FORGED, SPECIAL, odd_name

UNIT8, SIGNED8 = Quantization.per_tensor(1 / 255, 0), Quantization.per_tensor(1 / 255, -128)
SCORES8, SCORES_SIGNED8 = Quantization.per_tensor(1 / 256, 0), Quantization.per_tensor(1 / 256, -128)
TASKS = ("classify", "detect", "embed", "segment", "transform", "keypoints", "faces", "hear", "run", *bundles.TASKS, "part")


class Model:
    """A file with what is known about it."""

    def __init__(self, task, name, data, is_valid=False, options=(), classes=0, names=None, softmax=False, best=None,
                 is_refused=False):
        self.task, self.name, self.data = task, name, data
        # Whether the task, with these options, has an answer for each valid picture.
        self.is_valid, self.options = is_valid, list(options)
        # The number of classes; the names inside the file; whether the scores' sum is 1; the class that wins.
        self.classes, self.names, self.softmax, self.best = classes, names, softmax, best
        # Whether some scores are no numbers, so that there is no answer to give.
        self.is_refused = is_refused
        # The same model but for rows that decide nothing.
        self.path, self.twin = None, None
        # Of a bundle: its models by the options that take their files.
        self.parts = {}

    @property
    def ending(self):
        return ".task" if self.task in bundles.TASKS else ".tflite"

    def at(self, path):
        self.path = path
        return self


def draw(random, count):
    """So many models of each task, and some files that are none."""
    result = []
    makers = {"classify": classifier, "detect": detector, "embed": embedder, "segment": segmenter, "transform": transformer,
              "keypoints": keypoints, "faces": faces, "hear": sound, "run": graph}
    for task in makers:
        for number in range(count * 3 if task == "detect" else count):
            result.append(makers[task](random, number))
            if result[-1].twin:
                result.append(result[-1].twin)
    result += bundles.draw(random, 4, Model)
    for number in range(count):
        result.append(damaged(random, result[random.integers(len(result))], number))
    return result


@functools.cache
def known():
    """The models of the tests of tasks."""
    result = {"detect": [Model("detect", case.name, case.model, case.objects is not None and case.refusal is None, case.options)
                         for case in cases.cases() if "picture, N" not in case.name]}
    tasks = {"classifier": "classify", "embedder": "embed", "faces": "faces", "segmenter": "segment", "keypoints": "keypoints"}
    for case in task_cases.cases():
        options = ["--keypoints", f"{case.shape[0]}x{case.shape[1]}"] if case.shape else []
        valid = "error" not in case.answer and not case.labels
        result.setdefault(tasks[case.task], []).append(Model(tasks[case.task], case.name, case.model, valid, options))
    return result


def known_one(random, task):
    model = known()[task][random.integers(len(known()[task]))]
    return Model(model.task, model.name, model.data, model.is_valid, model.options)


# MARK: Values


def spoiled(random, values, share=0.15):
    """The values with some that no trained model gives."""
    values = np.array(values, np.float32)
    flat = values.reshape(-1)
    if random.random() < 0.1:
        flat[:] = random.choice(SPECIAL)
        return values
    for _ in range(1 + int(random.integers(0, max(2, int(flat.size * share) + 1)))):
        flat[random.integers(flat.size)] = random.choice(SPECIAL)
    return values


def is_nan(values):
    return bool(np.isnan(values).any())


def picture_form(random, least=8):
    side = int(random.choice([8, 16, 32, 48]))
    size = (max(side, least), max(int(random.choice([side, side, 8, 24])), least))
    kind = random.integers(6)
    if kind == 3:
        return Picture(size, "uint8", UNIT8)
    if kind == 4:
        return Picture(size, "int8", SIGNED8)
    return Picture(size, planar=kind == 1, channels=1 if kind == 2 else 3)


def with_names(random, data, classes, odd=0.2):
    """The model with names inside, and the names."""
    if random.random() < 0.4:
        return data, None
    names = [f"thing {number}" for number in range(classes)]
    if random.random() < odd:
        # A line feed would make another name, and spaces around a name are none of it.
        names = [odd_name(random, name).replace("\n", "_") for name in names]
        return models.with_files(data, {"labels.txt": "\n".join(names).encode("utf-8", "surrogateescape")}), None
    return models.with_files(data, {"labels.txt": "\n".join(names)}, compressed=bool(random.integers(2))), names


# MARK: Tasks


def classifier(random, number):
    count = int(random.choice([2, 3, 5, 10, 300]))
    kind = random.integers(12) % 10
    if kind == 0:
        return known_one(random, "classify")
    if kind == 1:
        # Those of a network depend on each pixel.
        form = picture_form(random)
        heads = [(count, "softmax")] if random.random() < 0.6 else [(count, "softmax"), (3, "logistic")]
        data = networks.classifier(form, heads, [Result()] * len(heads), seed=int(random.integers(1000)))
        if len(heads) > 1:
            return Model("classify", f"network-{number}", data, True)
        data, names = with_names(random, data, count)
        return Model("classify", f"network-{number}", data, True, classes=count, names=names, softmax=True)
    scores = random.dirichlet(np.full(count, 0.6)).astype(np.float32)
    best = int(np.argmax(scores))
    shape = [(1, count), (1, 1, 1, count), (count,), (1, count, 1, 1)][random.integers(4)]
    if kind == 2:
        data, names = with_names(random, models.softmax_model(np.maximum(scores, 1e-6)[None], (16, 16)), count)
        return Model("classify", f"softmax-{number}", data, True, classes=count, names=names, softmax=True, best=best)
    if kind == 3:
        dtype, scale = (("uint8", SCORES8), ("int8", SCORES_SIGNED8))[random.integers(2)]
        steps = models.quantized(scores, scale, models.TYPES[dtype])
        data = models.constant_model([(steps.reshape(shape), scale)], (16, 16), input_type=dtype, input_quantization=UNIT8)
        best = int(np.argmax(steps))
    elif kind == 4:
        # Numbers beyond 0 to 1.
        data = models.constant_model([(scores * 20 - 5).reshape(shape)], (16, 16))
        return Model("classify", f"logits-{number}", data, classes=count)
    elif kind == 5:
        scores = spoiled(random, scores)
        return Model("classify", f"spoiled-{number}", models.constant_model([scores.reshape(shape)], (16, 16)), classes=count,
                     is_refused=is_nan(scores))
    elif kind == 6:
        # The picture's own numbers are the scores: some pictures have some beyond 1.
        return Model("classify", f"pixels-{number}", models.picture_model((1, 12), (2, 2)), classes=12)
    elif kind == 7:
        net = networks.TaskNetwork(Picture((8, 8)), int(random.integers(1000)))
        scores = net.reshape(net.dense(net.whole(net.features(4, 2)), count), (1, 1, 1, count))
        net.result(net.largest(scores, "int64" if random.integers(2) else "int32"))
        return Model("classify", f"largest-{number}", net.bytes())
    elif kind == 8:
        # A class fewer or more than one.
        other = np.array([[random.random()]], np.float32)
        return Model("classify", f"one-{number}", models.constant_model([other], (8, 8)), classes=1)
    else:
        data = models.constant_model([scores.reshape(shape)], (16, 16))
    data, names = with_names(random, data, count)
    return Model("classify", f"scores-{number}", data, True, classes=count, names=names, best=best)


def detector(random, number):
    kind = random.integers(10)
    if kind < 5:
        return known_one(random, "detect")
    classes = int(random.choice([1, 2, 3, 80]))
    facts, names = {}, max(1, classes + int(random.integers(-1, 2)))
    if random.random() < 0.5:
        facts = models.metadata_json([odd_name(random, f"n{index}") if random.random() < 0.2 else f"n{index}"
                                      for index in range(names)], task="detect")
    if kind < 8:
        columns = {5: 4 + classes, 6: 5 + classes, 7: 6}[int(kind)]
        rows = cases.candidates(random, {5: 84, 6: 252, 7: 100}[int(kind)], columns - 4)
        if kind == 7:
            rows[:, 2:4] += rows[:, :2]
            rows[:, 5] = random.integers(0, classes, 100)
        is_whole = random.random() < 0.4
        if is_whole and kind < 7:
            # Rows of score 0, of which a twin has other boxes.
            weak = random.choice(len(rows), 3, replace=False)
            rows[weak, 4:] = 0
        if not is_whole:
            rows = spoiled(random, rows, 0.01)
        layout = {5: "yolo8", 6: "yolo5", 7: "yolo-end-to-end"}[int(kind)]
        # A square says nothing about its side; exports have a candidate in each column.
        turned = kind != 7 and (bool(random.integers(2)) or rows.shape[0] == rows.shape[1])

        def data(rows):
            output = np.ascontiguousarray(rows.T[None] if turned else rows[None])
            return models.with_files(models.constant_model([output]), facts) if facts else models.constant_model([output])

        options = ["--layout", layout] if random.random() < 0.5 else []
        is_known = bool(is_whole and options and (not facts or names >= classes))
        # All rows of a square count for how it is read.
        is_square = kind != 7 and rows.shape[0] == rows.shape[1]
        if is_square:
            options = [*options, "--candidates", "columns"]
        model = Model("detect", f"{layout}-{number}", data(rows), is_known, options,
                      is_refused=is_nan(rows[:, 4] if kind == 7 else rows[:, 4:]))
        if is_whole and kind < 7 and not is_square:
            other = rows.copy()
            other[weak, :4] = random.choice(np.array([2.1, 1.2, -0.5, 3.5, 0], np.float32), (3, 4))
            model.twin = Model("detect", f"{layout}-twin-{number}", data(other), options=options)
        return model
    # Detection post-processing.
    count = int(random.choice([1, 5, 10]))
    boxes = np.sort(random.uniform(0, 1, (1, count, 2, 2)), 2).reshape(1, count, 4).astype(np.float32)
    found = random.integers(0, classes, (1, count)).astype(np.float32)
    scores = np.sort(random.uniform(0, 1, (1, count)))[:, ::-1].astype(np.float32)
    numbers = np.array([count], np.float32)
    if kind == 9:
        place = random.integers(4)
        boxes, found, scores, numbers = [spoiled(random, values) if place == index else values
                                         for index, values in enumerate((boxes, found, scores, numbers))]
    data = models.constant_model([boxes, found, np.ascontiguousarray(scores), numbers])
    return Model("detect", f"ssd-{number}", models.with_files(data, facts) if facts else data,
                 kind == 8 and (not facts or names >= classes), is_refused=is_nan(scores) or is_nan(numbers))


def embedder(random, number):
    kind = random.integers(6)
    if kind == 0:
        return known_one(random, "embed")
    if kind == 1:
        return Model("embed", f"network-{number}", networks.embedder(
            picture_form(random), [24], [Result()], seed=int(random.integers(1000))), True)
    values = random.normal(0, 1, int(random.choice([1, 2, 16, 128]))).astype(np.float32)
    if kind == 2:
        return Model("embed", f"constant-{number}", models.constant_model([values[None]], (16, 16)), True)
    if kind == 3:
        # The squares of such numbers leave float32.
        scale = np.float32(random.choice([1e-42, 1e-30, 1e-20, 1e19, 1e25, 3e38]))
        return Model("embed", f"magnitude-{number}", models.constant_model([np.clip(values, -1, 1)[None] * scale], (16, 16)))
    values = spoiled(random, values)
    return Model("embed", f"spoiled-{number}", models.constant_model([values[None]], (16, 16)), is_refused=is_nan(values))


def segmenter(random, number):
    kind = random.integers(9)
    if kind == 0:
        return known_one(random, "segment")
    channels = int(random.choice([1, 2, 5, 21]))
    if kind == 1:
        return Model("segment", f"network-{number}", networks.segmenter(
            picture_form(random, 16), channels, seed=int(random.integers(1000))), True, classes=max(channels, 2))
    grid = random.normal(0, 1, (1, 8, 8, channels)).astype(np.float32)
    if kind == 2:
        return Model("segment", f"scores-{number}", models.constant_model([random.normal(0, 2, (1, 8, 8, 5)).astype(np.float32)]),
                     True, classes=5)
    if kind == 3:
        grid = spoiled(random, grid)
        return Model("segment", f"spoiled-{number}", models.constant_model([grid]),
                     is_refused=bool(np.isnan(grid).all()))
    if kind == 4:
        classes = random.integers(0, int(random.choice([2, 300, 65_536, 70_000])), (1, 8, 8))
        if random.random() < 0.2:
            classes[0, 0, 0] = -1
        return Model("segment", f"classes-{number}", models.constant_model(
            [classes.astype(np.int64 if random.integers(2) else np.int32)]))
    if kind == 5 and random.integers(2):
        # One class wins everywhere.
        classes = int(random.choice([2, 21, 256, 257, 300, 1000]))
        best = int(random.integers(classes))
        grid = random.normal(0, 1, (1, 4, 4, classes)).astype(np.float32)
        grid[..., best] = 9
        return Model("segment", f"sole-{number}", models.constant_model([grid], (16, 16)), True, classes=classes, best=best)
    if kind == 5:
        return Model("segment", f"many-{number}", models.constant_model(
            [random.normal(0, 1, (1, 4, 4, 300)).astype(np.float32)], (16, 16)), True, classes=300)
    if kind == 6:
        return Model("segment", f"bytes-{number}", models.constant_model([random.integers(0, 256, (1, 8, 8, 1)).astype(np.uint8)]))
    return Model("segment", f"mask-{number}", models.constant_model(
        [(random.uniform(0, 1, (1, 8, 8, 1)) * random.choice([1, 255, 1.5])).astype(np.float32)]))


def transformer(random, number):
    kind = random.integers(8)
    channels = int(random.choice([1, 3]))
    values = random.uniform(0, 1, (1, 12, 10, channels)).astype(np.float32)
    if kind in (0, 6, 7):
        return Model("transform", f"echo-{number}", models.picture_model((1, 16, 24, 3), (24, 16)), True)
    if kind == 1:
        values = spoiled(random, values)
    elif kind == 2:
        values = values * 2 - 1
    elif kind == 3:
        values = values * np.float32(random.choice([255, 1e4, 1e-40, 1e38]))
    elif kind == 4:
        values[:] = random.choice([0, 1, 0.5, 7])
    return Model("transform", f"values-{number}", models.constant_model([values], (16, 16)), is_refused=is_nan(values))


def keypoints(random, number):
    kind = random.integers(6)
    if kind == 0:
        return known_one(random, "keypoints")
    points = random.uniform(0, 1, (17, 3)).astype(np.float32)
    if kind == 1:
        return Model("keypoints", f"movenet-{number}", models.constant_model([points[None, None]], (32, 32)), True)
    if kind == 2:
        points = spoiled(random, points, 0.05)
        return Model("keypoints", f"movenet-{number}", models.constant_model([points[None, None]], (32, 32)),
                     is_refused=is_nan(points[:, 2]))
    if kind == 3:
        people = random.uniform(0, 1, (1, 6, 56)).astype(np.float32)
        return Model("keypoints", f"people-{number}", models.constant_model([people], (32, 32)), True)
    if kind == 4:
        people = spoiled(random, random.uniform(0, 1, (1, 6, 56)), 0.02)
        return Model("keypoints", f"people-{number}", models.constant_model([people], (32, 32)), is_refused=is_nan(people[..., 55]))
    return Model("keypoints", f"network-{number}", networks.movenet(picture_form(random), seed=int(random.integers(1000))), True)


def faces(random, number):
    kind = random.integers(4)
    if kind == 0:
        return known_one(random, "faces")
    if kind == 1:
        return Model("faces", f"network-{number}", networks.faces(Picture((64, 64)), "short", seed=int(random.integers(1000))), True)
    predictions = random.normal(0, 2, (1, 224, 16)).astype(np.float32)
    predictions[..., 2:4] = random.uniform(8, 20, (1, 224, 2))
    logits = random.normal(-3, 2, (1, 224, 1)).astype(np.float32)
    valid = kind == 2
    if not valid and random.integers(2):
        predictions = spoiled(random, predictions, 0.01)
    elif not valid:
        logits = spoiled(random, logits, 0.05)
    return Model("faces", f"constant-{number}", models.constant_model([predictions, logits]), valid, is_refused=is_nan(logits))


def sound(random, number):
    """Scores of a wave: constants, or of a small layer."""
    count, samples = int(random.choice([2, 5])), int(random.choice([100, 400, 1600]))
    net = networks.Network()
    net._shapes = {}
    shape = (1, samples) if random.integers(2) else (samples,)
    source = net._sized(net.argument("float32", shape), shape)
    scores = random.dirichlet(np.ones(count)).astype(np.float32)
    kind = random.integers(4)
    if kind < 2:
        if kind == 1:
            scores = spoiled(random, scores)
        # A reshape, as models do not answer with constants themselves.
        constant = net._sized(net.constant(scores), (count,))
        net.result(net.reshape(constant, (1, count)))
        data, names = with_names(random, net.bytes(), count)
        return Model("hear", f"constant-{number}", data, kind == 0, classes=count, names=names, is_refused=is_nan(scores),
                     best=int(np.argmax(scores)) if kind == 0 else None)
    row = net.reshape(source, (1, samples))
    weights = random.normal(0, 1, (count, samples)).astype(np.float32)
    output = net._new((1, count))
    net.add("FULLY_CONNECTED", [row, net.constant(weights), net.constant(np.zeros(count, np.float32))], [output],
            schema.FullyConnectedOptionsT())
    if kind == 2:
        options = schema.SoftmaxOptionsT()
        options.beta = 1.0
        scores = net._new((1, count))
        net.add("SOFTMAX", [output], [scores], options)
        output = scores
    net.result(output)
    return Model("hear", f"layer-{number}", net.bytes(), kind == 2, classes=count, softmax=kind == 2)


def graph(random, number):
    """A few operators on tensors, some with odd names, some of open shape."""
    net = GraphBuilder()
    shape = tuple(int(side) for side in random.integers(0 if random.random() < 0.1 else 1, 6, random.integers(0, 5)))
    dtype = str(random.choice(["float32", "float32", "int32", "int64", "int8", "uint8", "float16", "bool", "float64"]))
    source = net.input(np.zeros(shape, dtype), UNIT8 if dtype == "uint8" else SIGNED8 if dtype == "int8" else None)
    if random.random() < 0.3 and shape:
        net._tensors[source].shapeSignature = np.array([-1, *shape[1:]], np.int32)
    name, result = ("ABS", dtype) if dtype == "float32" else ("RESHAPE", dtype)
    output = net.tensor(result, shape, net._tensors[source] and (UNIT8 if dtype == "uint8" else SIGNED8 if dtype == "int8" else None))
    net._tensors[output].shape = np.array(shape, np.int32)
    if name == "ABS":
        net.add("ABS", [source], [output])
    else:
        net.add("RESHAPE", [source, net.constant(np.array(shape, np.int32))], [output], schema.ReshapeOptionsT())
    if random.random() < 0.4:
        net._tensors[output].name = odd_name(random, f"out{FORGED}")
        net._tensors[source].name = odd_name(random, "in")
    net.result(output)
    model = Model("run", f"graph-{number}", net.bytes(), True)
    model.shape, model.dtype = shape, dtype
    return model


# MARK: Files that are no models


def damaged(random, model, number):
    data = bytearray(model.data)
    # A file that is empty already can only become another one.
    kind = random.integers(6) if data else 1
    if kind == 0:
        data = data[:random.integers(len(data))]
    elif kind == 1:
        data = bytearray([b"", b"hello\n", b"TFL3", b"\x89PNG\r\n\x1a\n", b"PK\x03\x04" + bytes(30), b"<html>"][random.integers(6)])
    else:
        for _ in range(random.integers(1, 6)):
            data[random.integers(min(len(data), 4000))] = random.integers(256)
    return Model(model.task, f"damaged-{number}", bytes(data))
