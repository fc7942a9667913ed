#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `apus` with other pipelines: rules in NumPy, LiteRT with NumPy, MediaPipe Tasks.

    .venv/bin/python Tools/vision/agreement.py .build/release/apus "$APUS_TEST_DATA"

1. The models of `cases.py`, whose answers `rules.py` computes.
2. The networks of `networks.py`, whose answers depend on each pixel: LiteRT runs them, NumPy does the rest, resizing too.
3. Real detectors on pictures of the model's own size, so that nothing is resized: LiteRT runs the model, NumPy does the
   rest. Boxes agree within 1e-3 of the picture's sides, scores within 1e-4.
4. MediaPipe Tasks, where it is installed and accepts the model. Two things differ. It warps the picture to the model's
   input at positions half a step from ours, which moves boxes and scores (a cat of 0.70 has 0.61); so Apus gets the
   picture warped in the same way. And it runs XNNPACK's kernels, where Apus computes as LiteRT's reference: every eighth
   byte differs by some steps. So objects that score 0.55 on one side are found on the other with the same label, an
   intersection over union of 0.7, and a score that is at most 0.06 (15 steps of 1/256) away.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

import cases
import network_agreement
import rules
import task_agreement

failures = 0


def report(name, problems):
    global failures
    failures += bool(problems)
    print(f"{'FAILED' if problems else 'ok':6} {name}{': ' if problems else ''}{'; '.join(problems[:4])}", flush=True)


def run(apus, arguments):
    process = subprocess.run([apus, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return process.returncode, process.stdout, process.stderr


def edges(box):
    return [box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]]


def compare(found, expected, picture, box_share=1e-3, score=1e-4):
    """Objects in order; what differs, in words."""
    problems = []
    if len(found) != len(expected):
        problems.append(f"{len(found)} objects, not {len(expected)}")
    for number, (one, other) in enumerate(zip(found, expected)):
        if one["index"] != other["index"]:
            problems.append(f"object {number} is of class {one['index']}, not {other['index']}")
        if abs(one["score"] - other["score"]) > score:
            problems.append(f"object {number} scores {one['score']}, not {other['score']}")
        sides = [picture[0], picture[1]] * 2
        away = max(abs(a - b) / side for a, b, side in zip(edges(one["box"]), other["edges"], sides))
        if away > box_share:
            problems.append(f"object {number} is {away:.4f} of the picture away")
        if "label" in other and one["label"] != other["label"]:
            problems.append(f"object {number} is called {one['label']}, not {other['label']}")
        if "area" in other:
            area = sum(one["mask"]["counts"][1::2])
            if abs(area - other["area"]) > max(3, 0.01 * other["area"]):
                problems.append(f"object {number} has a mask of {area} pixels, not {other['area']}")
        for point, (x, y, sure) in zip(one.get("keypoints", []), other.get("keypoints", [])):
            if max(abs(point["x"] - x), abs(point["y"] - y)) > 0.05 or abs(point["score"] - sure) > score:
                problems.append(f"object {number} has a keypoint at {point}, not at {x}, {y}")
        if "corners" in other:
            away = max(abs(a - b) for mine, its in zip(one["corners"], other["corners"])
                       for a, b in zip((mine["x"], mine["y"]), its))
            if away > 0.01 or abs(one["angle"] - other["angle"]) > 1e-4:
                problems.append(f"object {number} has corners {away} away, turned by {one['angle']}, not {other['angle']}")
        if "center" in other:
            point = [one["center"]["x"], one["center"]["y"]]
            if max(abs(a - b) for a, b in zip(point, other["center"])) > 0.05:
                problems.append(f"object {number} is centered at {point}, not at {other['center']}")
        if len(one.get("keypoints", [])) != len(other.get("keypoints", [])):
            problems.append(f"object {number} has {len(one.get('keypoints', []))} keypoints")
    return problems


def check_cases(apus, folder):
    for case in cases.cases():
        model, picture = folder / "model.tflite", folder / "picture.png"
        model.write_bytes(case.model)
        Image.fromarray(cases.picture(*case.picture)).save(picture)
        status, output, errors = run(apus, ["detect", picture, "--model", model, "--json", *case.options])
        problems = []
        if case.error:
            if status != 1 or case.error not in errors or errors.count("\n") != 1:
                problems.append(f"status {status}, {errors.strip() or output[:80]}")
        elif case.refusal:
            if status != 2 or case.refusal not in errors:
                problems.append(f"status {status}, {errors.strip() or output[:80]}")
        elif status:
            problems.append(f"status {status}: {errors.strip()}")
        else:
            if case.warning and case.warning not in errors:
                problems.append(f"no warning: {errors.strip()}")
            if case.objects is not None:
                problems += compare(json.loads(output)["detections"], case.objects, case.picture)
        if case.kind and not problems:
            described = run(apus, ["inspect", model, "--as", "detector", "--json", *layout(case.options)])
            kind = json.loads(described[1])["kind"]
            if kind != case.kind:
                problems.append(f"taken for {kind}, not {case.kind}")
        report(f"case: {case.name}", problems)


def layout(options):
    """The options that decide what a model is taken for."""
    return [part for name in ("--layout", "--anchors") if name in options for part in options[options.index(name):][:2]]


# MARK: Real models


DETECTORS = {
    # The outputs with boxes, classes, scores and the count.
    "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29": (0, 1, 2, 3),
    "thermal_face_automl_edge_fast": (0, 1, 2, 3),
    "custom_ssd_mobilenet_v2_fpn_lite_320x320_flutter": (1, 3, 0, 2),
}


def check_litert(apus, data, folder):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType
    for name, order in DETECTORS.items():
        path = data / "models" / f"{name}.tflite"
        interpreter = Interpreter(str(path), experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
        interpreter.allocate_tensors()
        details = interpreter.get_input_details()[0]
        _, height, width, _ = details["shape"]
        for image in sorted((data / "images").iterdir()):
            picture = folder / "picture.png"
            pixels = Image.open(image).convert("RGB").resize((int(width), int(height)), Image.Resampling.BILINEAR)
            pixels.save(picture)
            interpreter.set_tensor(details["index"], np.array(pixels)[None])
            interpreter.invoke()
            answers = [interpreter.get_tensor(output["index"]) for output in interpreter.get_output_details()]
            boxes, classes, scores, count = (answers[place] for place in order)
            rows = [row for row in range(int(count[0])) if scores[0, row] >= 0.3]
            rows = sorted(rows, key=lambda row: -scores[0, row])[:10]
            expected = [{"index": int(classes[0, row]), "score": float(scores[0, row]),
                         "edges": [float(boxes[0, row, axis]) * side for axis, side in
                                   ((1, width), (0, height), (3, width), (2, height))]} for row in rows]
            status, output, errors = run(apus, ["detect", picture, "--model", path, "--json",
                                                "--score-threshold", "0.3"])
            problems = [errors] if status else compare(
                json.loads(output)["detections"], expected, (width, height))
            report(f"LiteRT: {name}, {image.name}, {len(expected)} objects", problems)


MEDIAPIPE = ["coco_ssd_mobilenet_v1_1.0_quant_2018_06_29_metadata", "coco_ssd_mobilenet_v1_quant_score_calibration"]


def sampled(pixels, size):
    """A picture of `size` × `size` as MediaPipe makes it: a perspective warp of the corners, which takes pixel i of D
    from i · S / D instead of (i + ½) · S / D − ½."""
    import cv2
    height, width = pixels.shape[:2]
    source = np.array([[0, height], [0, 0], [width, 0], [width, height]], np.float32)
    target = np.array([[0, size], [0, 0], [size, 0], [size, size]], np.float32)
    return cv2.warpPerspective(pixels, cv2.getPerspectiveTransform(source, target), (size, size),
                               flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)


def check_mediapipe(apus, data, folder):
    try:
        import cv2  # noqa: F401
        import mediapipe
        from mediapipe.tasks import python as tasks
        from mediapipe.tasks.python import vision
    except ImportError:
        print("MediaPipe is not installed")
        return
    task_agreement.check_mediapipe(run, report, apus, data, folder)
    size = 300
    for name in MEDIAPIPE:
        path = data / "models" / f"{name}.tflite"
        threshold = 0.3
        options = vision.ObjectDetectorOptions(
            base_options=tasks.BaseOptions(model_asset_path=str(path)), score_threshold=threshold, max_results=10)
        with vision.ObjectDetector.create_from_options(options) as detector:
            for image in sorted((data / "images").iterdir()):
                pixels = np.array(Image.open(image).convert("RGB"))
                answer = detector.detect(mediapipe.Image(image_format=mediapipe.ImageFormat.SRGB, data=pixels))
                height, width = pixels.shape[:2]
                expected = [(item.categories[0].category_name, item.categories[0].score, [
                    item.bounding_box.origin_x / width, item.bounding_box.origin_y / height,
                    (item.bounding_box.origin_x + item.bounding_box.width) / width,
                    (item.bounding_box.origin_y + item.bounding_box.height) / height])
                    for item in answer.detections]
                picture = folder / "picture.png"
                Image.fromarray(sampled(pixels, size)).save(picture)
                status, output, errors = run(apus, ["detect", picture, "--model", path, "--json", "--score-threshold",
                                                    str(threshold)])
                report(f"MediaPipe: {name}, {image.name}, {len(expected)} objects",
                       [errors] if status else near(json.loads(output), expected))


def overlap(one, other):
    low, high = np.maximum(one[:2], other[:2]), np.minimum(one[2:], other[2:])
    shared = np.prod(np.clip(high - low, 0, None))
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return shared / (areas - shared)


def near(answer, expected, score=0.06, iou=0.7, surely=0.55):
    """Each object of one side that is at least so sure has its like on the other."""
    sides = [answer["width"], answer["height"]] * 2
    found = [(item["label"], item["score"], [edge / side for edge, side in zip(edges(item["box"]), sides)])
             for item in answer["detections"]]

    def alike(one, other):
        # MediaPipe lets no box begin outside the picture.
        boxes = [np.clip(item[2], 0, 1) for item in (one, other)]
        return one[0] == other[0] and abs(one[1] - other[1]) <= score and overlap(*boxes) >= iou

    problems = []
    for mine, others, whose in ((found, expected, "apus"), (expected, found, "MediaPipe")):
        for item in mine:
            if item[1] >= surely and not any(alike(item, other) for other in others):
                problems.append(f"only {whose} finds {item[0]} {item[1]:.3f} at {[round(e, 3) for e in item[2]]}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("apus", help="the executable")
    parser.add_argument("data", type=pathlib.Path, nargs="?", help="a folder with models/ and images/")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        check_cases(arguments.apus, pathlib.Path(folder))
        network_agreement.check(run, report, arguments.apus, pathlib.Path(folder))
        if arguments.data:
            check_litert(arguments.apus, arguments.data, pathlib.Path(folder))
            task_agreement.check(run, report, arguments.apus, arguments.data, pathlib.Path(folder))
            check_mediapipe(arguments.apus, arguments.data, pathlib.Path(folder))
    print(f"{failures} failed")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
