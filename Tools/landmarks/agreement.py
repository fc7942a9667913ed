#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what `apus` finds of hands, faces and people with what MediaPipe finds, on pictures and on videos.

    python agreement.py .build/release/apus photos/*.jpg --video wave.mp4 --peer PYTHON [--peer PYTHON] --modules mediapipe/modules

Each `--peer` is the Python of an environment with a version of MediaPipe; `--modules` is the folder of models inside the wheel of 0.10.21,
the last one that has them. Every picture is given to both sides as PNG, so that JPEG decoders do not matter.

Distances are in the picture's larger side. The bounds: 2e-3 at the median and 1e-2 at most where both look at the same region (within
1e-3), expressions within 0.01, the same number of hands, faces and people. What is beyond is listed.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import bundles
import numpy as np
from PIL import Image

MEDIAN, MOST, SAME_REGION, EXPRESSION = 2e-3, 1e-2, 1e-3, 0.01
HERE = pathlib.Path(__file__).parent


def commands(modules, folder):
    """For each peer: the command of `apus` that should find the same, and the options that only frames have; None if it is for pictures."""
    body = ["--detector", modules / "pose_detection/pose_detection.tflite",
            "--landmarks", modules / "pose_landmark/pose_landmark_full.tflite"]
    # The older interfaces of bodies move points to the mean of 9 × 9 cells of heat maps, the newer ones to that of 7 × 7.
    wide = ["--refinement-cells", 9]
    # The older interfaces merge boxes from an overlap of 0.3, the newer ones of faces and bodies from 0.5.
    older = ["--iou-threshold", 0.3]
    face = ["--max-results", 4, "--detector", modules / "face_detection/face_detection_short_range.tflite", "--landmarks"]
    hands = ["hands", "--max-results", 4, "--model", folder / "hands.task"]
    newer_faces = ["face-mesh", "--model", folder / "faces.task", "--max-results"]
    person = ["holistic", *body, *wide, "--hand", modules / "hand_landmark/hand_landmark_full.tflite",
              "--hand-region", modules / "holistic_landmark/hand_recrop.tflite",
              "--face-detector", face[3], "--face", modules / "face_landmark/face_landmark.tflite"]
    rough, smooth = ["--no-smoothing"], []
    return {
        "solution-hands": (hands, rough),
        # HandLandmarker states 90 in a field for radians.
        "task-hands": ([*hands, "--palm-angle", np.degrees(90.0)], rough),
        "task-one-hand": (["hands", "--model", folder / "hands.task", "--palm-angle", np.degrees(90.0), "--max-results", 1], rough),
        "solution-faces": (["face-mesh", *older, *face, modules / "face_landmark/face_landmark.tflite"], rough),
        "solution-attention": (["face-mesh", *older, *face, modules / "face_landmark/face_landmark_with_attention.tflite"], rough),
        "task-faces": ([*newer_faces, 4], rough),
        "task-one-face": ([*newer_faces, 1], smooth),
        # Of frames, it smooths where it looks next even without smooth_landmarks.
        "solution-poses": (["pose", *older, *body, *wide], None),
        "solution-smooth-poses": (["pose", *older, *body, *wide], ["--smooth-regions"]),
        "task-poses": (["pose", *body, "--max-results", 4], rough),
        "task-one-pose": (["pose", *body], smooth),
        "solution-holistic": (person, smooth),
        "task-holistic": (["holistic", "--model", folder / "holistic.task"], smooth),
    }


def answers(program, command, frames, *options):
    """The objects that `apus --json` prints, one for each picture."""
    process = subprocess.run(
        [*(program if isinstance(program, list) else [program]), *map(str, command), *map(str, frames),
         "--json", "--quiet", "--time-limit", "0", *map(str, options)],
        capture_output=True, text=True)
    if process.returncode:
        sys.exit(process.stderr)
    return [json.loads(line) for line in process.stdout.splitlines()]


def apus(program, command, frames, *options):
    """What the command finds, in the form of `peers.py`."""
    found = []
    for answer in answers(program, command, frames, *options):
        if "pose" in answer:
            subjects = {part: [answer[part]] if answer[part] else [] for part in ("pose", "left_hand", "right_hand", "face")}
        else:
            subjects = next(answer[key] for key in ("hands", "faces", "poses") if key in answer)
        found.append(subjects)
    return found


def matched(ours, theirs):
    """Pairs of subjects, nearest first by the mean distance of their points."""
    pairs, free_ours, free_theirs = [], set(range(len(ours))), set(range(len(theirs)))
    for distance, i, j in sorted((np.abs(a[:, :2] - b[:, :2]).mean(), i, j)
                                 for i, a in enumerate(ours) for j, b in enumerate(theirs)):
        if i in free_ours and j in free_theirs and distance < 0.5 * np.ptp(theirs[j][:, :2], axis=0).max():
            pairs.append((i, j))
            free_ours.remove(i)
            free_theirs.remove(j)
    return pairs


class Comparison:
    """One row of the table."""

    def __init__(self, name):
        self.name, self.pictures, self.subjects, self.exceptions = name, 0, 0, []
        self.away, self.bounded, self.depth, self.world, self.shapes, self.other_regions = [], [], [], [], [], 0
        self.visible, self.present, self.turns = [], [], []

    def add(self, picture, size, ours, theirs):
        self.pictures += 1
        larger = max(size)
        mine = [np.array([[p["x"], p["y"], p["z"]] for p in subject["landmarks"]]) for subject in ours]
        its = [np.array(subject["points"]) for subject in theirs]
        pairs = matched(mine, its)
        if len(ours) != len(theirs):
            self.exceptions.append(f"{picture}: {len(ours)} found, MediaPipe finds {len(theirs)}")
        elif len(pairs) < len(ours):
            self.exceptions.append(f"{picture}: {len(ours) - len(pairs)} of {len(ours)} are others")
        for i, j in pairs:
            self.subjects += 1
            away = np.linalg.norm(mine[i][:, :2] - its[j][:, :2], axis=1) / larger
            places = theirs[j].get("regions", []) if ours[i]["region"] else []
            region = min((self.region_difference(ours[i]["region"], place, larger) for place in places), default=0)
            self.away.append(away)
            self.depth.append(np.abs(mine[i][:, 2] - its[j][:, 2]) / larger)
            if region <= SAME_REGION:
                self.bounded.append(away)
                if away.max() > MOST:
                    self.exceptions.append(f"{picture}: {away.max():.4f} away (median {np.median(away):.4f})")
            else:
                self.other_regions += 1
                if away.max() > MOST:
                    self.exceptions.append(f"{picture}: the regions differ by {region:.4f}, the points by {away.max():.4f}")
            if "world" in theirs[j] and "world" in ours[i]:
                world = np.array([[p["x"], p["y"], p["z"]] for p in ours[i]["world"]])
                # Some of MediaPipe's hands begin at the wrist.
                origin = world[0] if not np.any(theirs[j]["world"][0]) else 0
                self.world.append(np.abs(world - origin - theirs[j]["world"]).max())
            if theirs[j].get("label", ours[i].get("handedness")) != ours[i].get("handedness"):
                self.exceptions.append(f"{picture}: {ours[i]['handedness']} ({ours[i]['handedness_score']:.3f}), not {theirs[j]['label']}")
            for key, differences in (("visibility", self.visible), ("presence", self.present)):
                if key in theirs[j]:
                    differences.append(max(abs(a[key] - b) for a, b in zip(ours[i]["landmarks"], theirs[j][key])))
            if "blendshapes" in theirs[j]:
                other = max(abs(shape["score"] - theirs[j]["blendshapes"][shape["name"]]) for shape in ours[i]["blendshapes"])
                self.shapes.append(other)
                if other > EXPRESSION:
                    self.exceptions.append(f"{picture}: an expression differs by {other:.4f}")
            if "matrix" in theirs[j]:
                turn = np.reshape(ours[i]["matrix"], (4, 4)) - np.array(theirs[j]["matrix"])
                self.turns.append(np.abs(turn[:3, :3]).max())

    @staticmethod
    def region_difference(ours, theirs, larger):
        """The largest difference of places and sides, in the picture's larger side, and of angles, in radians."""
        x, y, width, height, rotation = theirs
        lengths = [ours["x"] - x, ours["y"] - y, ours["width"] - width, ours["height"] - height]
        turn = (ours["rotation"] - rotation + np.pi) % (2 * np.pi) - np.pi
        return max(np.abs(lengths).max() / larger, abs(turn))

    def row(self):
        if not self.away:
            return f"| {self.name} | {self.pictures} | 0 | – | – | – | – | – | {len(self.exceptions)} |"
        away = np.concatenate(self.away)
        bounded = np.concatenate(self.bounded) if self.bounded else np.zeros(1)
        extra = [f"depth {np.median(np.concatenate(self.depth)):.5f}/{np.concatenate(self.depth).max():.3f}"]
        if self.world:
            extra.append(f"world {np.median(self.world):.5f}/{max(self.world):.4f} m")
        if self.visible:
            extra.append(f"visibility {np.median(self.visible):.4f}/{max(self.visible):.3f}")
        if self.present:
            extra.append(f"presence {np.median(self.present):.4f}/{max(self.present):.3f}")
        if self.shapes:
            extra.append(f"expressions {np.median(self.shapes):.4f}/{max(self.shapes):.4f}")
        if self.turns:
            extra.append(f"rotations {max(self.turns):.4f}")
        return (f"| {self.name} | {self.pictures} | {self.subjects} | {np.median(away):.5f} | {np.quantile(away, 0.99):.5f} | "
                f"{bounded.max():.5f} | {self.other_regions} | {', '.join(extra)} | {len(self.exceptions)} |")

    def holds(self):
        return not self.exceptions and (not self.away or np.median(np.concatenate(self.away)) <= MEDIAN)


def compare(name, frames, ours, theirs):
    """The rows for one peer on pictures or on one video: one, or one for each part of a person."""
    rows = {}
    for path, mine, its in zip(frames, ours, theirs):
        size = Image.open(path).size
        for part, its_part in its.items() if isinstance(its, dict) else [(None, its)]:
            row = rows.setdefault(part, Comparison(name + (f", {part.replace('_', ' ')}" if part else "")))
            row.add(path.stem, size, mine[part] if part else mine, its_part)
    return list(rows.values())


def in_our_form(theirs):
    """What one version of MediaPipe finds, as if `apus` had printed it: to compare versions with each other."""
    def subject(found):
        ours = {"landmarks": [dict(zip("xyz", point)) for point in found["points"]], "region": None}
        for key in ("visibility", "presence"):
            for point, value in zip(ours["landmarks"], found.get(key, [])):
                point[key] = value
        if "world" in found:
            ours["world"] = [dict(zip("xyz", point)) for point in found["world"]]
        if "blendshapes" in found:
            ours["blendshapes"] = [{"name": name, "score": score} for name, score in found["blendshapes"].items()]
        return ours | {"handedness": found.get("label"), "handedness_score": 0, "matrix": found.get("matrix")}

    return [{part: list(map(subject, subjects)) for part, subjects in found.items()} if isinstance(found, dict)
            else list(map(subject, found)) for found in theirs]


def frames_of(video, folder, count, height):
    """The frames of a video as PNG, and their rate."""
    folder.mkdir()
    answer = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=r_frame_rate", "-of", "csv=p=0",
                             video], capture_output=True, text=True, check=True)
    over, _, under = answer.stdout.strip().partition("/")
    subprocess.run(["ffmpeg", "-v", "error", "-i", video, "-frames:v", str(count), "-vf", f"scale=-2:'min({height},ih)'",
                    folder / f"{video.stem}-%04d.png"], check=True)
    return sorted(folder.iterdir()), float(over) / float(under or 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("apus")
    parser.add_argument("pictures", nargs="*", type=pathlib.Path)
    parser.add_argument("--peer", action="append", default=[], help="the Python of an environment with MediaPipe; by default this one")
    parser.add_argument("--modules", type=pathlib.Path, help="the folder mediapipe/modules of 0.10.21; by default this environment's")
    parser.add_argument("--face-bundle", type=pathlib.Path, help="face_landmarker.task, which is in no wheel")
    parser.add_argument("--video", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--frames", type=int, default=200, help="the number of frames of each video")
    parser.add_argument("--height", type=int, default=640, help="the maximum height of frames")
    parser.add_argument("--only", action="append", help="a part of the names of peers, such as hands")
    arguments = parser.parse_args()
    if arguments.modules is None:
        import mediapipe

        arguments.modules = pathlib.Path(mediapipe.__file__).parent / "modules"
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        bundles.make(arguments.modules, folder, arguments.face_bundle)
        sets = []
        if arguments.pictures:
            pictures = []
            for number, path in enumerate(arguments.pictures):
                pictures.append(folder / f"{path.stem}-{number}.png")
                Image.open(path).convert("RGB").save(pictures[-1])
            sets.append((None, pictures, None))
        for number, video in enumerate(arguments.video):
            sets.append((video.name, *frames_of(video, folder / f"video{number}", arguments.frames, arguments.height)))
        known, others = {}, {}
        for python in arguments.peer or [sys.executable]:
            has_solutions = subprocess.run(
                [python, "-c", "import mediapipe, sys; sys.exit(not hasattr(mediapipe, 'solutions'))"], capture_output=True).returncode == 0
            for peer, (command, framed) in commands(arguments.modules, folder).items():
                if arguments.only and not any(part in peer for part in arguments.only):
                    continue
                if peer.startswith("solution") and not has_solutions:
                    continue
                if not arguments.face_bundle and any(str(folder / file) in map(str, command) for file in ("faces.task", "holistic.task")):
                    continue
                for video, frames, frame_rate in sets:
                    if framed is None if video else "smooth" in peer or "-one-" in peer:
                        continue
                    # The older interfaces take each frame for one of 30 in a second, and tasks know times in milliseconds.
                    rate = frame_rate and (30 if peer.startswith("solution") else 1000 / round(1000 / frame_rate))
                    listed, result = folder / "list.json", folder / "result.json"
                    listed.write_text(json.dumps(list(map(str, frames))))
                    process = subprocess.run(
                        [python, HERE / "peers.py", peer, folder, listed, result, *(["--fps", str(rate)] if rate else [])],
                        capture_output=True, text=True)
                    if process.returncode:
                        print(f"{peer}: {process.stderr.strip().splitlines()[-1]}", file=sys.stderr)
                        continue
                    theirs = json.loads(result.read_text())
                    options = [] if rate is None else ["--fps", rate, *framed]
                    key = (video, *map(str, command), *map(str, options))
                    if key not in known:
                        known[key] = apus(arguments.apus, command, frames, *options)
                    rows += compare(f"{theirs['version']} {peer}" + (f", {video}" if video else ""), frames, known[key], theirs["found"])
                    other, found = others.setdefault((peer, video), (theirs["version"], theirs["found"]))
                    if video and other != theirs["version"]:
                        rows += compare(f"{theirs['version']} {peer} beside {other}, {video}", frames, in_our_form(found), theirs["found"])
                    print(rows[-1].row(), file=sys.stderr, flush=True)
    print("| MediaPipe | Pictures | Found by both | Median | 99 % | Most, same region | Other regions | Others: median/most | Exceptions |\n"
          "|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        print(row.row())
    for row in rows:
        if row.exceptions:
            print(f"\n{row.name}:")
            print("\n".join(f"- {line}" for line in row.exceptions))
    sys.exit(not all(row.holds() for row in rows if " beside " not in row.name))


if __name__ == "__main__":
    main()
