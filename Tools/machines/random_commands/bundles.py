# SPDX-License-Identifier: Apache-2.0
"""Small models that find regions and points of hands, faces, bodies and persons, as bundles and as files of their own; and bundles
that lack a part, have another one in its place, or answer numbers that no trained model gives."""

import io
import zipfile

import numpy as np

import models
from random_commands.hostile import SPECIAL

TASKS = ("hands", "face-mesh", "pose", "holistic")
# A detector's input, its rows and their numbers.
DETECTORS = {"palm": (192, 2016, 18), "face": (128, 896, 16), "person": (224, 2254, 12)}
# Which parts a task has: the option, the entry of a bundle, and the kind of model.
PARTS = {
    "hands": [("detector", "hand_detector", "palm"), ("landmarks", "hand_landmarks_detector", "hand")],
    "face-mesh": [("detector", "face_detector", "face"), ("landmarks", "face_landmarks_detector", "mesh")],
    "pose": [("detector", "pose_detector", "person"), ("landmarks", "pose_landmarks_detector", "body")],
    "holistic": [("detector", "pose_detector", "person"), ("landmarks", "pose_landmarks_detector", "body"),
                 ("hand", "hand_landmarks_detector", "hand"), ("hand-region", "hand_roi_refinement", "region"),
                 ("face-detector", "face_detector", "face"), ("face", "face_landmarks_detector", "mesh")],
}


def outputs(random, kind):
    """The side of a model's input, and what the model answers."""
    def one(value):
        return np.array([[value]], np.float32)

    def points(count, low, high):
        return random.uniform(low, high, (1, count)).astype(np.float32)

    if kind in DETECTORS:
        side, rows, columns = DETECTORS[kind]
        boxes, logits = np.zeros((1, rows, columns), np.float32), np.full((1, rows, 1), -9, np.float32)
        for row in random.choice(rows // 2, int(random.integers(0, 4)), replace=False):
            boxes[0, row] = random.uniform(-30, 30, columns)
            boxes[0, row, 2:4] = random.uniform(20, 60, 2)
            logits[0, row] = random.uniform(0.5, 4)
        return side, [boxes, logits]
    presence = float(random.uniform(0.6, 1))
    if kind == "hand":
        return 224, [points(63, 0, 224), one(presence), one(random.uniform(0, 1)), points(63, -0.1, 0.1)]
    if kind == "mesh":
        # Logits.
        return 192, [points(1404, 0, 192).reshape(1, 1, 1, 1404), one(presence * 4).reshape(1, 1, 1, 1)]
    if kind == "region":
        return 256, [points(4, 40, 220)]
    body = random.uniform(0, 256, (1, 195)).astype(np.float32)
    body[0, 3::5], body[0, 4::5] = random.uniform(-4, 4, 39), random.uniform(-4, 4, 39)
    side = int(random.choice([2, 9]))
    return 256, [body, one(presence), random.normal(0, 4, (1, 16, 16, 1)).astype(np.float32),
                 random.normal(-3, 3, (1, side, side, 39)).astype(np.float32), points(117, -1, 1)]


def model(random, kind, mood):
    """The bytes of a part, and whether it is as it should be."""
    side, answers = outputs(random, kind)
    if mood == "numbers":
        place = int(random.integers(len(answers)))
        flat = answers[place].reshape(-1)
        for _ in range(int(random.integers(1, 5))):
            flat[random.integers(flat.size)] = random.choice(SPECIAL)
    elif mood == "shapes":
        place = int(random.integers(len(answers)))
        kind = random.integers(4)
        if kind == 0:
            del answers[place]
        elif kind == 1:
            answers.append(answers[place])
        elif kind == 2:
            answers[place] = answers[place].reshape(1, -1)[:, :-1]
        else:
            side = int(random.choice([1, 64, 100]))
        answers = answers or [np.zeros((1, 1), np.float32)]
    return models.constant_model([np.ascontiguousarray(answer) for answer in answers], (side, side))


def bundle(random, entries):
    """An archive of models, stored as MediaPipe has them, or compressed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if random.random() < 0.2 else zipfile.ZIP_STORED) as archive:
        for name, data in entries:
            archive.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


def draw(random, count, make):
    """Bundles of each task with their parts; `make(task, name, data, is_valid)` makes a model of the machine."""
    result = []
    for task in TASKS:
        for number in range(count):
            mood = "good" if number < (count + 1) // 2 else str(random.choice(["numbers", "numbers", "shapes", "archive"]))
            odd = int(random.integers(len(PARTS[task])))
            entries, parts = [], {}
            for place, (option, entry, kind) in enumerate(PARTS[task]):
                data = model(random, kind, mood if place == odd else "good")
                entries.append((f"{entry}.tflite", data))
                parts[option] = make("part", f"{task}-{option}-{number}", data, mood == "good")
            if task == "face-mesh" and random.random() < 0.2:
                entries.append(("face_blendshapes.tflite", entries[1][1]))
            if mood == "archive":
                entries = spoiled(random, entries, odd)
            data = bundle(random, entries)
            is_nested = task == "hands" and mood == "good" and random.random() < 0.2
            if is_nested:
                data = bundle(random, [("hand_landmarker.task", data)])
            if mood == "archive" and random.integers(2):
                data = data[:random.integers(len(data))]
            whole = make(task, f"{mood}-{number}", data, mood == "good" and len(entries) == len(PARTS[task]))
            whole.parts = parts
            result += [whole, *parts.values()]
    return result


def spoiled(random, entries, odd):
    """The entries without one, with one under another name, with one twice, or with something else instead."""
    kind, entries = random.integers(5), list(entries)
    name, data = entries[odd]
    if kind == 0:
        del entries[odd]
    elif kind == 1:
        entries[odd] = (f"models/{name}", data)
    elif kind == 2:
        entries[odd] = (name, b"hello\n")
    elif kind == 3:
        entries[odd] = (name, data[:random.integers(len(data))])
    else:
        other = int(random.integers(len(entries)))
        entries[odd], entries[other] = (name, entries[other][1]), (entries[other][0], data)
    return entries
