# SPDX-License-Identifier: Apache-2.0
"""From picture files to boxes: Apus beside OpenCV and LiteRT, in turn, stage by stage."""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

import cv2
import numpy as np
from ai_edge_litert.interpreter import Interpreter

SIZES = {"1080p": (1920, 1080), "4K": (3840, 2160)}
STAGES = ("read", "decode", "prepare", "inference", "postprocess", "total", "cpu")
QUALITY = 90


class Peer:
    """OpenCV reads and resizes, LiteRT runs: what a careful Python program does with one detector."""

    def __init__(self, model, threads):
        cv2.setNumThreads(threads)
        self.interpreter = Interpreter(model_path=str(model), num_threads=threads)
        self.interpreter.allocate_tensors()
        (self.input,) = self.interpreter.get_input_details()
        self.outputs = self.interpreter.get_output_details()
        _, self.height, self.width, channels = self.input["shape"]
        if channels != 3 or self.input["dtype"] != np.uint8 or len(self.outputs) != 4:
            raise SystemExit("the model is not a uint8 detector with its post-processing inside")

    def run(self, path, interpolation, reduces):
        """The milliseconds of each stage, and the number of objects."""
        processor = time.process_time()
        times = [time.perf_counter()]
        data = np.frombuffer(path.read_bytes(), np.uint8)
        times.append(time.perf_counter())
        picture = cv2.imdecode(data, self.flag(path) if reduces else cv2.IMREAD_COLOR)
        times.append(time.perf_counter())
        # Resized first: changing the order of a small picture's channels costs next to nothing.
        small = cv2.resize(picture, (self.width, self.height), interpolation=interpolation)
        self.interpreter.set_tensor(self.input["index"], cv2.cvtColor(small, cv2.COLOR_BGR2RGB)[None])
        times.append(time.perf_counter())
        self.interpreter.invoke()
        times.append(time.perf_counter())
        boxes, classes, scores, count = (self.interpreter.get_tensor(o["index"])[0] for o in self.outputs)
        keep = [k for k in range(int(count)) if scores[k] >= 0.3]
        height, width = self.size
        found = [(int(classes[k]), float(scores[k]), boxes[k] * (height, width, height, width)) for k in keep]
        times.append(time.perf_counter())
        spans = [1e3 * (b - a) for a, b in zip(times, times[1:])] + [1e3 * (times[-1] - times[0])]
        # What processors spent on it: other work on the machine makes no difference.
        spans.append(1e3 * (time.process_time() - processor))
        return dict(zip(STAGES, spans)), len(found)

    def flag(self, path):
        """The smallest scale of OpenCV's above the model's input."""
        height, width = self.size
        flags = {8: cv2.IMREAD_REDUCED_COLOR_8, 4: cv2.IMREAD_REDUCED_COLOR_4, 2: cv2.IMREAD_REDUCED_COLOR_2}
        for factor, flag in flags.items():
            if -(-height // factor) >= self.height and -(-width // factor) >= self.width:
                return flag
        return cv2.IMREAD_COLOR


def apus(program, model, path, runs, threads, *options):
    """The runs of a process of its own: milliseconds of each stage, and the number of objects."""
    command = [program, "pictures", path, "--model", model, "--runs", runs, "--threads", threads, "--json", *options]
    output = subprocess.run([str(part) for part in command], check=True, capture_output=True).stdout
    (report,) = json.loads(output)
    samples = [
        {stage: report[f"{stage}_ms"][run] for stage in STAGES} for run in range(len(report["total_ms"]))
    ]
    return samples, len(report["detections"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("pictures", type=pathlib.Path, nargs="+")
    parser.add_argument("--apus", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--runs", type=int, default=5, help="runs of each pipeline in a round, after two to warm up")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    processors = sorted(os.sched_getaffinity(0))[: arguments.threads]
    # Before OpenCV and LiteRT start threads; Apus's processes inherit it.
    os.sched_setaffinity(0, processors)
    peer = Peer(arguments.model, arguments.threads)

    def opencv(path, interpolation, reduces=False):
        for _ in range(2):
            peer.run(path, interpolation, reduces)
        results = [peer.run(path, interpolation, reduces) for _ in range(arguments.runs)]
        return [times for times, _ in results], results[0][1]

    def ours(path, *options):
        return apus(arguments.apus, arguments.model, path, arguments.runs, arguments.threads, *options)

    pipelines = {
        "Apus": lambda path: ours(path),
        "Apus, bilinear": lambda path: ours(path, "--resampling", "bilinear"),
        "Apus, scaled decoding": lambda path: ours(path, "--reduced"),
        "OpenCV area + LiteRT": lambda path: opencv(path, cv2.INTER_AREA),
        "OpenCV bilinear + LiteRT": lambda path: opencv(path, cv2.INTER_LINEAR),
        "OpenCV scaled decoding, area + LiteRT": lambda path: opencv(path, cv2.INTER_AREA, True),
    }
    print_resizing(arguments)
    with tempfile.TemporaryDirectory() as folder:
        for name, size in SIZES.items():
            peer.size = size[::-1]
            samples = {pipeline: [] for pipeline in pipelines}
            objects = {pipeline: 0 for pipeline in pipelines}
            byte_counts = []
            for picture in arguments.pictures:
                path = pathlib.Path(folder) / f"{picture.stem}-{name}.jpg"
                enlarged = cv2.resize(cv2.imread(str(picture)), size, interpolation=cv2.INTER_CUBIC)
                cv2.imwrite(str(path), enlarged, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
                byte_counts.append(path.stat().st_size)
                for round in range(arguments.rounds):
                    for pipeline, run in pipelines.items():
                        times, count = run(path)
                        samples[pipeline] += times
                        if round == 0:
                            objects[pipeline] += count
            print_table(name, size, byte_counts, samples, objects)


def print_resizing(arguments):
    """Pictures in memory to the sizes of inputs, in turn: OpenCV's interpolations of the same names beside ours."""
    modes = {"area": cv2.INTER_AREA, "bilinear": cv2.INTER_LINEAR, "nearest": cv2.INTER_NEAREST}
    print("| Resizing, ms | input | " + " | ".join(f"{mode}: Apus | OpenCV" for mode in modes) + " |")
    print("|---" * (2 + 2 * len(modes)) + "|")
    for name, (width, height) in SIZES.items():
        picture = np.random.default_rng(1).integers(0, 256, (height, width, 3), dtype=np.uint8)
        for side in (300, 640):
            ours, theirs = {mode: [] for mode in modes}, {mode: [] for mode in modes}
            for _ in range(arguments.rounds):
                command = [
                    arguments.apus, "resize", "--size", f"{width}x{height}", "--input", f"{side}x{side}",
                    "--threads", arguments.threads, "--runs", 20, "--json",
                ]
                output = subprocess.run([str(part) for part in command], check=True, capture_output=True).stdout
                for report in json.loads(output):
                    if report["type"] == "uint8":
                        ours[report["resampling"]].append(report["median_ms"])
                for mode, flag in modes.items():
                    times = []
                    for run in range(25):
                        start = time.perf_counter()
                        cv2.resize(picture, (side, side), interpolation=flag)
                        times.append(1e3 * (time.perf_counter() - start))
                    theirs[mode].append(float(np.median(times[5:])))
            cells = " | ".join(
                f"{np.median(ours[mode]):.2f} | {np.median(theirs[mode]):.2f}" for mode in modes)
            print(f"| {name} | {side} × {side} | {cells} |")


def print_table(name, size, byte_counts, samples, objects):
    medians = {
        pipeline: {stage: float(np.median([t[stage] for t in times])) for stage in STAGES}
        for pipeline, times in samples.items()
    }
    print(f"\n**{name}** ({size[0]} × {size[1]}, {len(byte_counts)} JPEGs of {np.mean(byte_counts) / 1e3:.0f} kB on average)\n")
    print("| Pipeline | " + " | ".join(STAGES) + " | Apus ÷ it: total | cpu | boxes |")
    print("|---" * (len(STAGES) + 4) + "|")
    for pipeline, times in medians.items():
        row = " | ".join(f"{times[stage]:.2f}" for stage in STAGES)
        ratios = " | ".join(f"{medians['Apus'][stage] / times[stage]:.2f}" for stage in ("total", "cpu"))
        print(f"| {pipeline} | {row} | {ratios} | {objects[pipeline]} |")


main()
