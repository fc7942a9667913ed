#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the time of a frame while one subject is tracked with MediaPipe's, both on one processor.

    python speed.py .build/release/apus --peer PYTHON --modules mediapipe/modules --face-bundle face_landmarker.task \\
      --hands hands.mp4 --faces faces.mp4 --people people.mp4

The frames of each video are 640 × 480, and decoded before the time is taken. The runs of both sides take turns; each number is the median of
all frames but the first ten. The time of `apus` is that of its three stages; that of MediaPipe the time of one call in Python.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import agreement
import bundles
import numpy as np

WARM = 10
TASKS = {
    "hands": ("hands", ["task-one-hand"]),
    "face mesh": ("faces", ["task-one-face"]),
    "pose": ("people", ["task-one-pose", "solution-smooth-poses"]),
    "holistic": ("people", ["task-holistic", "solution-holistic"]),
}


def frames_of(video, folder, count):
    folder.mkdir()
    subprocess.run(["ffmpeg", "-v", "error", "-stream_loop", "-1", "-i", video, "-frames:v", str(count), "-vf",
                    "scale=640:480:force_original_aspect_ratio=decrease,pad=640:480:-1:-1", folder / "%04d.png"], check=True)
    return sorted(folder.iterdir())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("apus")
    parser.add_argument("--peer", action="append", required=True, help="the Python of an environment with MediaPipe")
    parser.add_argument("--modules", type=pathlib.Path, required=True)
    parser.add_argument("--face-bundle", type=pathlib.Path, required=True)
    for kind in ("hands", "faces", "people"):
        parser.add_argument(f"--{kind}", type=pathlib.Path, help="a video with one of them in every frame")
    parser.add_argument("--frames", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--processor", default="0", help="the number of the processor that both sides share")
    arguments = parser.parse_args()
    alone = ["taskset", "-c", arguments.processor]
    print("| Task | MediaPipe | Its time (ms) | Apus (ms) | Ratio |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        bundles.make(arguments.modules, folder, arguments.face_bundle)
        listed, result = folder / "list.json", folder / "result.json"
        commands = agreement.commands(arguments.modules, folder)
        sets = {}
        for task, (kind, peers) in TASKS.items():
            video = getattr(arguments, kind)
            if video is None:
                continue
            if kind not in sets:
                sets[kind] = frames_of(video, folder / kind, arguments.frames)
            listed.write_text(json.dumps(list(map(str, sets[kind]))))
            for python in arguments.peer:
                for peer in peers:
                    command, framed = commands[peer]
                    options = ["--fps", 30, *framed]
                    ours, theirs, version = [], [], None
                    for _ in range(arguments.rounds):
                        process = subprocess.run(
                            [*alone, python, agreement.HERE / "peers.py", peer, folder, listed, result, "--fps", "30"], capture_output=True)
                        if process.returncode:
                            break
                        answer = json.loads(result.read_text())
                        version = answer["version"]
                        theirs += answer["milliseconds"][WARM:]
                        times = agreement.answers([*alone, arguments.apus], command, sets[kind], *options)
                        ours += [sum(line["milliseconds"].values()) for line in times][WARM:]
                    if version:
                        one, other = np.median(ours), np.median(theirs)
                        print(f"| {task} | {version} {peer} | {other:.2f} | {one:.2f} | {one / other:.2f} |", flush=True)


if __name__ == "__main__":
    main()
