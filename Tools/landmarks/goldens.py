#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes `Tests/Goldens/landmarks.json`: what the rules of `rules.py` say of generated pictures, anchors and hands.

    python3 Tools/landmarks/goldens.py
    python3 Tools/landmarks/goldens.py --check FOLDER

`--check` holds the rules against MediaPipe's own goldens instead: FOLDER has `input.jpg` and the other pictures of
`mediapipe/calculators/tensor/testdata/image_to_tensor`, and `anchor_golden_file_{0,1,2}.txt` of `mediapipe/calculators/tflite/testdata`, which are
not part of this project. MediaPipe's tests allow differences of 5 of 255 for pictures, and 1e-5 for anchors.
"""

import argparse
import json
import pathlib
import sys

import numpy as np

import rules

OUTPUT = pathlib.Path(__file__).resolve().parents[2] / "Tests/Goldens/landmarks.json"

# name, golden, region in fractions, size of the tensor, whether proportions are kept, border
CROPS = [
    ("medium_sub_rect_keep_aspect", (0.65, 0.4, 0.5, 0.5, 0), (256, 256), True),
    ("medium_sub_rect_keep_aspect_with_rotation", (0.65, 0.4, 0.5, 0.5, np.pi / 2), (256, 256), True),
    ("medium_sub_rect_with_rotation", (0.65, 0.4, 0.5, 0.5, -np.pi / 4), (256, 256), False),
    ("large_sub_rect", (0.5, 0.5, 1.5, 1.1, 0), (128, 128), False),
    ("large_sub_rect_keep_aspect", (0.5, 0.5, 1.5, 1.1, 0), (128, 128), True),
    ("large_sub_rect_keep_aspect_with_rotation", (0.5, 0.5, 1.5, 1.1, -np.pi / 12), (128, 128), True),
    ("noop_except_range", (0.5, 0.5, 1, 1, 0), (64, 128), True),
]
ANCHORS = [
    ("anchor_golden_file_0.txt", lambda: rules.anchors(256, 256, [8, 16, 32, 32, 32], 0.1171875, 0.75, fixed=True)),
    ("anchor_golden_file_1.txt", lambda: rules.anchors(
        300, 300, [16, 32, 64, 128, 256, 512], 0.2, 0.95, (1, 2, 0.5, 3, 0.3333), reduced=True)),
    ("anchor_golden_file_2.txt", lambda: rules.pyramid(640, 640, [6, 7], 3.0, 3)),
]


def check(folder):
    from PIL import Image

    picture = np.array(Image.open(folder / "input.jpg").convert("RGB"))
    height, width = picture.shape[:2]
    bad = 0
    for name, (x, y, w, h, angle), (columns, rows), keeps in CROPS:
        region = (x * width, y * height, w * width, h * height, angle)
        if keeps:
            region = rules.padded(region, columns, rows)
        for suffix, border in (("", "replicate"), ("_border_zero", "zero")):
            path = folder / f"{name}{suffix}.png"
            if not path.exists():
                continue
            golden = np.array(Image.open(path).convert("RGB")).astype(int)
            away = np.abs(rules.crop(picture, region, columns, rows, border).astype(int) - golden)
            bad += away.max() > 5
            print(f"{path.name}: most {away.max()} of 255, mean {away.mean():.4f}, equal {np.mean(away == 0):.2%}")
    for name, make in ANCHORS:
        golden = np.loadtxt(folder / name, usecols=range(4))
        ours = make()
        away = np.abs(ours - golden).max() if ours.shape == golden.shape else np.inf
        bad += away > 1e-5
        print(f"{name}: {len(ours)} anchors, most {away:.1e}")
    sys.exit(bool(bad))


def picture(width, height):
    """The picture that the tests make, too: a byte for each place and channel."""
    place = np.arange(width * height * 3)
    return ((place * 7 + place // 11) % 256).astype(np.uint8).reshape(height, width, 3)


def crops():
    cases = []
    for width, height, region, size in [
        (23, 17, (11.5, 8.5, 23, 17, 0), (23, 17)), (23, 17, (10, 9, 12.5, 12.5, 0.4), (9, 9)),
        (40, 31, (35, 3, 30, 22, -2.6), (16, 12)), (40, 31, (20, 15.5, 90, 90, np.pi / 2), (14, 14)),
        (5, 4, (2.25, 1.75, 1.3, 0.7, 0.03), (11, 7)), (40, 31, (-300, 200, 50, 50, 1), (4, 4)),
        # Many positions lie right between two steps of 1/32 pixel.
        (53, 30, (26.5, 15, 53, 53, 0), (64, 8)),
    ]:
        region = tuple(np.float32(v).item() for v in region)
        for border in ("zero", "replicate"):
            cases.append({"kind": "crop", "picture": [width, height], "region": region, "size": size, "border": border,
                          "bytes": rules.crop(picture(width, height), region, *size, border).ravel().tolist()})
    return cases


def anchor_sets():
    return [{"kind": "anchors", "name": name, "count": len(anchors), "every": 97,
             "anchors": np.round(anchors[::97], 7).ravel().tolist()}
            for name, anchors in (
                ("palms", rules.anchors(192, 192, [8, 16, 16, 16], fixed=True)),
                ("people", rules.anchors(224, 224, [8, 16, 32, 32, 32], fixed=True)),
                ("six layers", rules.anchors(
                    300, 300, [16, 32, 64, 128, 256, 512], 0.2, 0.95, (1, 2, 0.5, 3, 0.3333), reduced=True)),
                ("pyramid", rules.pyramid(640, 640, [6, 7], 3.0, 3)))]


def hands():
    """Two palms at the anchors of a few rows, and the points that a hand model sees in their regions."""
    cases = []
    for seed, size in enumerate([(64, 48), (33, 70), (50, 50)]):
        random, case, boxes = found(seed, size, [8, 16, 16, 16], 192, 18)
        points = random.uniform(20, 200, 63).astype(np.float32)
        world = random.uniform(-0.1, 0.1, 63).astype(np.float32)
        subjects = []
        for row in boxes:
            region = rules.hand_region_of_palm(row)
            marks = rules.landmarks(points, region, 224, 224, 0.4)
            subjects.append({"region": region, "landmarks": marks.ravel().tolist(),
                             "world": rules.world_landmarks(world, region[4]).ravel().tolist(),
                             "next": rules.hand_region_of_landmarks(marks[:, :2])})
        cases.append({"kind": "hands", **case, "points": points.tolist(), "worldPoints": world.tolist(), "subjects": subjects})
    return cases


def faces():
    """Two faces, and the points of a mesh that a model sees in their regions."""
    random, case, boxes = found(3, (61, 47), [8, 16, 16, 16], 128, 16)
    points = np.round(random.uniform(10, 180, 1404), 2).astype(np.float32)
    subjects = []
    for row in boxes:
        region = rules.face_region_of_box(row)
        marks = rules.landmarks(points, region, 192, 192, 1)
        # The first points of all are enough, and where the next frame's region is depends on each.
        subjects.append({"region": region, "landmarks": marks[:40].ravel().tolist(), "world": [],
                         "next": rules.face_region_of_landmarks(marks[:, :2])})
    return [{"kind": "faces", **case, "points": points.tolist(), "worldPoints": [], "subjects": subjects}]


def heat_map(size):
    """Heat maps that the tests make, too."""
    return ((np.arange(size * size * 39) * 37 % 101) / 10 - 7).reshape(size, size, 39)


def bodies():
    """Two people, and the points that a pose model sees in their regions, with heat maps of 9 × 9 cells."""
    random, case, boxes = found(4, (58, 64), [8, 16, 32, 32, 32], 224, 12)
    points = random.uniform(-20, 270, (39, 5)).astype(np.float32)
    points[:, 3:] = random.uniform(-4, 4, (39, 2))
    world = random.uniform(-1, 1, 117).astype(np.float32)
    subjects = []
    for row in boxes:
        region = rules.body_region(row[4:6], row[6:8])
        moved = rules.refined(points[:, :3] / [256, 256, 1], heat_map(9)) * [256, 256, 1]
        marks = rules.landmarks(moved, region, 256, 256, 1)
        subjects.append({"region": region, "landmarks": marks[:33].ravel().tolist(),
                         "world": rules.world_landmarks(world, region[4])[:33].ravel().tolist(),
                         "next": rules.body_region(marks[33, :2], marks[34, :2]),
                         # As the older interfaces of MediaPipe have it.
                         "wide": rules.landmarks(
                             rules.refined(points[:, :3] / [256, 256, 1], heat_map(9), kernel=9) * [256, 256, 1],
                             region, 256, 256, 1)[:33].ravel().tolist()})
    return [{"kind": "bodies", **case, "points": points.ravel().tolist(), "worldPoints": world.tolist(), "subjects": subjects}]


def videos():
    """One person in frames, whose points a model with cold heat maps sees at the same places of every region."""
    cases = []
    for with_regions in (False, True):
        random, case, boxes = found(6, (58, 64), [8, 16, 32, 32, 32], 224, 12)
        points = random.uniform(60, 200, (39, 5)).astype(np.float32)
        # The person moves and turns, and stays about as large.
        points[33], points[34] = [130, 134, 0, 0, 0], [140, 32, 0, 0, 0]
        world = random.uniform(-1, 1, 117).astype(np.float32)
        times, subjects = [0, 0.04, 0.08, 0.2, 0.21, 0.25], []
        smoothing, region = rules.BodySmoothing(with_regions), rules.body_region(boxes[0][4:6], boxes[0][6:8])
        for time in times:
            marks = rules.landmarks(points[:, :3], region, 256, 256, 1)
            unit = rules.body_region(marks[33, :2], marks[34, :2])[2]
            smooth, _, space, guides = smoothing(
                marks[:33], points[:33, 3], rules.world_landmarks(world, region[4])[:33], marks[33:35, :2], time, unit)
            following = rules.body_region(*guides)
            subjects.append({"region": region, "landmarks": smooth.ravel().tolist(), "world": space.ravel().tolist(), "next": following})
            region = following
        cases.append({"kind": "videos", **case, "points": points.ravel().tolist(), "worldPoints": world.tolist(), "times": times,
                      "withRegions": with_regions, "subjects": subjects})
    return cases


def walks():
    """Points of a subject that wander, in the picture with visibilities, in space, and those of its next region; in one frame it is not found."""
    cases = []
    for with_regions in (False, True):
        random, smoothing = np.random.default_rng(10), rules.BodySmoothing(with_regions)
        points, visibility, world, guides = random.uniform(0, 200, (4, 3)), np.zeros(4), np.zeros((3, 3)), np.array([[50, 60.0], [55, 20.0]])
        times, raw, smooth = [], [], []
        for number in range(12):
            times.append(number / 25 + 0.01 * (number % 3))
            if number == 8:
                raw.append([])
                smooth.append([])
                smoothing = rules.BodySmoothing(with_regions)
                continue
            points, guides = points + random.normal(0, 3, (4, 3)), guides + random.normal(0, 2, (2, 2))
            visibility, world = random.uniform(0, 1, 4), world + random.normal(0, 0.05, (3, 3))
            found = [np.float32(part).astype(float) for part in (points, visibility, world, guides)]
            unit = np.ptp(found[0][:, :2], axis=0).mean()
            raw.append(np.concatenate([part.ravel() for part in found]).tolist())
            smooth.append(np.concatenate([part.ravel() for part in smoothing(*found, times[-1], unit)]).tolist())
        cases.append({"kind": "walks", "times": times, "withRegions": with_regions, "raw": raw, "smooth": smooth})
    return cases


def persons():
    """The regions of a person's hands and face, from the points of the body; all models but the detectors see the same everywhere."""
    random, case, boxes = found(5, (80, 60), [8, 16, 32, 32, 32], 224, 12)
    points = random.uniform(40, 200, (39, 5)).astype(np.float32)
    points[:, 3:] = 3
    crop = random.uniform(60, 200, 4).astype(np.float32)
    row = random.uniform(-20, 20, 16).astype(np.float32)
    row[2:4] = 40
    centers = rules.anchors(128, 128, [8, 16, 16, 16], fixed=True)[:, :2]
    # The points of hands and faces all lie in one place, where no next region is: frames have those that the smooth body hints at.
    times, frames = [0, 0.05, 0.1], []
    smoothing, region = rules.BodySmoothing(True), rules.body_region(boxes[0][4:6], boxes[0][6:8])
    for time in times:
        marks = rules.landmarks(points[:, :3], region, 256, 256, 1)
        body, _, _, guides = smoothing(marks[:33], points[:33, 3], np.zeros((33, 3)), marks[33:35, :2], time, None)
        body, regions = body[:, :2], [region]
        for wrist, pinky, index in ((15, 17, 19), (16, 18, 20)):
            hint = rules.hand_hint(body[wrist], body[pinky], body[index])
            regions.append(rules.hand_region_of_points(rules.projected(hint, crop.reshape(2, 2) / 256)))
        keypoints = rules.projected(rules.face_hint(body[:11]), row[4:].reshape(-1, 2) / 128 + centers[300])
        regions.append(rules.face_region_of_keypoints(keypoints))
        frames.append(np.array(regions, float).ravel().tolist())
        region = rules.body_region(*guides)
    return [{"kind": "persons", **case, "points": points.ravel().tolist(), "worldPoints": crop.tolist(), "region": row.tolist(),
             "anchors": frames[0], "times": times, "smooth": frames}]


def geometries():
    """Matrices of heads: made-up faces, turned and moved in front of the camera, with noise."""
    cases = []
    for seed, (width, height), angle in ((7, (640, 480), 0.4), (8, (300, 700), -0.9), (9, (512, 512), 2.0)):
        random = np.random.default_rng(seed)
        face = random.uniform(-8, 8, (12, 3)).astype(np.float32)
        indices = [0, 2, 3, 5, 8, 9, 11]
        weights = random.uniform(0.01, 0.2, len(indices)).astype(np.float32)
        turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
        space = face @ turn.T + [3, -2, -60]
        unit = 2 * np.tan(np.radians(31.5)) / height
        x, y = space[:, 0] / -space[:, 2] / unit + width / 2, height / 2 - space[:, 1] / -space[:, 2] / unit
        points = np.stack([x, y, -space[:, 2] / 60 / unit], 1) + random.uniform(-1, 1, (12, 3))
        points = points.astype(np.float32)
        matrix = rules.face_matrix(points.astype(float), width, height, face.astype(float), indices, weights.astype(float))
        cases.append({"kind": "geometry", "picture": [width, height], "points": points.ravel().tolist(), "rows": indices,
                      "worldPoints": face.ravel().tolist(), "logits": weights.tolist(), "matrix": matrix.ravel().tolist()})
    return cases


def found(seed, size, strides, side, columns):
    """What a detector finds that has predictions in three rows, of which two are about one thing: boxes with points in pixels."""
    (width, height), random = size, np.random.default_rng(seed)
    centers = rules.anchors(side, side, strides, fixed=True)[:, :2]
    first = (side // 8) ** 2 * 2
    rows = [int(v) for v in random.choice(first, 2, replace=False)]
    rows += [rows[0] + 2 if rows[0] < first - 52 else rows[0] - 2]
    predictions, logits = np.zeros((len(centers), columns), np.float32), np.full(len(centers), -9, np.float32)
    values = random.uniform(-30, 30, (3, columns)).astype(np.float32)
    values[:, 2:4] = random.uniform(30, 50, (3, 2))
    values[2] = values[0] + random.uniform(-2, 2, columns)
    predictions[rows], logits[rows] = values, [3, 1, 2]
    whole = rules.padded((width / 2, height / 2, width, height, 0), side, side)
    boxes = [rules.projected(whole, row.reshape(-1, 2)).ravel()
             for row, _ in rules.detections(predictions, logits, centers, side, side, 0.5, 0.3)]
    return random, {"picture": [width, height], "rows": rows, "predictions": values.ravel().tolist(), "logits": [3, 1, 2]}, boxes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", type=pathlib.Path, metavar="FOLDER")
    arguments = parser.parse_args()
    if arguments.check:
        check(arguments.check)
    lines = [json.dumps(case, default=float) for case in crops() + anchor_sets() + hands() + faces() + bodies() + videos() + walks()
             + persons() + geometries()]
    OUTPUT.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{len(lines)} cases, {OUTPUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
