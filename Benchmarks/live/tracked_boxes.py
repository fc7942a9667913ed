#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processor time for each frame from a film to tracked boxes, on one core: Apus beside OpenCV, LiteRT and `trackers`.

    taskset -c 1 PYTHON Benchmarks/live/tracked_boxes.py APUS MODEL [FILM] [--rounds 3]

PYTHON has the packages opencv-python-headless, ai-edge-litert and trackers. Without FILM, a test pattern of 1920 × 1080 pixels and ten
seconds is encoded first. Both sides decode with ffmpeg's libraries, shrink by area, run the model with one thread and track by ByteTrack; they take
turns. Time is that of the user and the system, of all processes of a side; of the peer, starting Python and loading its packages and the model
does not count.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

# Those of `trackers`; by itself, `apus watch` follows every object that it finds.
THRESHOLDS = ["--activation-score", "0.7", "--high-score", "0.6"]


def apus(command, film, model):
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    output = subprocess.run(
        [command, "watch", film, "--model", model, "--track", "bytetrack", *THRESHOLDS, "--threads", "1", "--json"], check=True,
        stdout=subprocess.PIPE, text=True).stdout.splitlines()
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - begin
    frames = [json.loads(line) for line in output if '"frame":' in line]
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    stages = {key: statistics.median(frame["milliseconds"][key] for frame in frames) for key in ("preprocess", "inference")}
    return len(frames), cpu, wall, sum(len(frame["detections"]) for frame in frames), stages


def peer(film, model, has_tracker):
    """The other side, in a process of its own."""
    import cv2
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter

    cv2.setNumThreads(1)
    interpreter = Interpreter(model_path=model, num_threads=1)
    interpreter.allocate_tensors()
    given = interpreter.get_input_details()[0]
    outputs = [entry["index"] for entry in interpreter.get_output_details()]
    height, width = given["shape"][1:3]
    tracker = None
    if has_tracker:
        import supervision as sv
        from trackers import ByteTrackTracker

        tracker = ByteTrackTracker()
    video = cv2.VideoCapture(film, cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, 1])
    frames = boxes = 0
    begin, start = time.process_time(), time.monotonic()
    while True:
        ok, picture = video.read()
        if not ok:
            break
        small = cv2.cvtColor(cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA), cv2.COLOR_BGR2RGB)
        interpreter.set_tensor(given["index"], small[None])
        interpreter.invoke()
        places, classes, scores, _ = (interpreter.get_tensor(index)[0] for index in outputs)
        kept = scores >= 0.5
        boxes += int(kept.sum())
        if tracker:
            corners = places[kept][:, [1, 0, 3, 2]] * np.array([picture.shape[1], picture.shape[0]] * 2)
            tracker.update(sv.Detections(xyxy=corners.reshape(-1, 4), confidence=scores[kept], class_id=classes[kept].astype(int)))
        frames += 1
    print(json.dumps([frames, boxes, time.process_time() - begin, time.monotonic() - start]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("apus")
    parser.add_argument("model")
    parser.add_argument("film", nargs="?")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer", choices=["tracker", "none"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        return peer(arguments.film, arguments.model, arguments.peer == "tracker")
    with tempfile.TemporaryDirectory() as folder:
        film = arguments.film or os.path.join(folder, "film.mp4")
        if not arguments.film:
            subprocess.run(
                ["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc2=size=1920x1080:rate=30:duration=10", "-pix_fmt", "yuv420p",
                 film], check=True)
        results = {}
        for _ in range(arguments.rounds):
            frames, cpu, wall, boxes, stages = apus(arguments.apus, film, arguments.model)
            results.setdefault("Apus", []).append((frames, cpu, wall, boxes))
            for name, kind in [("OpenCV + LiteRT + trackers", "tracker"), ("OpenCV + LiteRT, no tracker", "none")]:
                output = subprocess.run(
                    [sys.executable, __file__, "", arguments.model, film, "--peer", kind], check=True, stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL, text=True).stdout
                frames, boxes, cpu, wall = json.loads(output)
                results.setdefault(name, []).append((frames, cpu, wall, boxes))
        first = None
        for name, runs in results.items():
            per_frame = statistics.median(1000 * cpu / frames for frames, cpu, _, _ in runs)
            wall = statistics.median(1000 * wall / frames for frames, _, wall, _ in runs)
            first = first or per_frame
            print(f"{name}: {per_frame:.2f} ms of processor time a frame, {wall:.2f} ms in all, {runs[0][3]} boxes in {runs[0][0]} frames; "
                  f"Apus ÷ it {first / per_frame:.2f}")
        print(f"Apus: preprocess {stages['preprocess']:.2f} ms, inference {stages['inference']:.2f} ms")


sys.exit(main())
