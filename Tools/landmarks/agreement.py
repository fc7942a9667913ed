#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the landmarks of `apus` with MediaPipe's on pictures, and on the frames of a video.

    .venv/bin/python Tools/landmarks/agreement.py .build/debug/apus PICTURE… [--video PICTURE] [--only hands]

The models are those inside the wheel of MediaPipe 0.10.21; `--face-bundle` adds the newer face model with expressions. Every picture is given to both sides as PNG, so that
JPEG decoders do not matter. Distances are in the picture's larger side. Where both find a subject, the landmarks are within 2e-3 at
the median and 1e-2 at most on pictures. MediaPipe runs XNNPACK's kernels, in other orders of sums than ours: weak scores fall on either
side of a threshold, and in frames, where each region comes from the landmarks before, small differences grow.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import mediapipe as mp
import numpy as np
from PIL import Image

MODULES = pathlib.Path(mp.__file__).parent / "modules"
MEDIAN, MOST = 2e-3, 1e-2


def apus(program, command, pictures, *options):
    process = subprocess.run(
        [program, command, *map(str, pictures), "--json", "--quiet", "--time-limit", "0", *map(str, options)],
        capture_output=True, text=True)
    if process.returncode:
        sys.exit(process.stderr)
    return [json.loads(line) for line in process.stdout.splitlines()]


def points(subject, key="landmarks"):
    return np.array([[p["x"], p["y"], p["z"]] for p in subject[key]])


def pixels(landmarks, width, height):
    return np.array([[p.x * width, p.y * height, p.z * width] for p in landmarks])


def matched(ours, theirs):
    """Pairs of subjects, nearest first by the mean distance of their points; the rest of both."""
    pairs, free_ours, free_theirs = [], set(range(len(ours))), set(range(len(theirs)))
    distances = sorted((np.abs(a[:, :2] - b[:, :2]).mean(), i, j)
                       for i, a in enumerate(ours) for j, b in enumerate(theirs))
    for distance, i, j in distances:
        size = np.ptp(theirs[j][:, :2], axis=0).max()
        if i in free_ours and j in free_theirs and distance < 0.5 * size:
            pairs.append((i, j))
            free_ours.remove(i)
            free_theirs.remove(j)
    return pairs, len(free_ours), len(free_theirs)


class Comparison:
    def __init__(self, name):
        self.name, self.away, self.depth, self.world, self.differences, self.pictures = name, [], [], [], [], 0
        self.subjects, self.other = 0, []

    def add(self, picture, size, ours, theirs, our_world=None, their_world=None, labels=None):
        self.pictures += 1
        pairs, only_ours, only_theirs = matched(ours, theirs)
        if only_ours or only_theirs:
            self.differences.append(f"{picture}: {len(ours)} found, MediaPipe finds {len(theirs)}")
        for i, j in pairs:
            self.subjects += 1
            away = np.linalg.norm(ours[i][:, :2] - theirs[j][:, :2], axis=1) / max(size)
            self.away.append(away)
            self.depth.append(np.abs(ours[i][:, 2] - theirs[j][:, 2]) / max(size))
            if away.max() > MOST:
                self.differences.append(f"{picture}: a subject is {away.max():.4f} away (median {np.median(away):.4f})")
            if our_world is not None:
                self.world.append(np.abs(our_world[i] - their_world[j]).max())
            if labels and labels[0][i] != labels[1][j]:
                self.other.append(f"{picture}: {labels[0][i]}, not {labels[1][j]}")

    def report(self):
        print(f"{self.name}: {self.pictures} pictures, {self.subjects} subjects on both sides")
        if self.away:
            away, depth = np.concatenate(self.away), np.concatenate(self.depth)
            print(f"  landmarks: median {np.median(away):.5f}, 99 % {np.quantile(away, 0.99):.5f}, most {away.max():.5f} of the larger side")
            print(f"  depths: median {np.median(depth):.5f}, most {depth.max():.5f}")
            if self.world:
                print(f"  in space: median {np.median(self.world):.5f}, most {np.max(self.world):.5f} m")
        for line in self.differences + self.other:
            print("  differs:", line)
        return bool(self.away) and np.median(np.concatenate(self.away)) <= MEDIAN


def hand_bundle(folder):
    path = pathlib.Path(folder) / "hand_landmarker.task"
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.write(MODULES / "palm_detection/palm_detection_full.tflite", "hand_detector.tflite")
        bundle.write(MODULES / "hand_landmark/hand_landmark_full.tflite", "hand_landmarks_detector.tflite")
    return path


def hands(program, pictures, folder, video):
    from mediapipe.tasks.python import BaseOptions, vision

    bundle = hand_bundle(folder)
    old, new = Comparison("hands, mp.solutions"), Comparison("hands, HandLandmarker")
    solution = mp.solutions.hands.Hands(static_image_mode=True, max_num_hands=4, model_complexity=1)
    task = vision.HandLandmarker.create_from_options(vision.HandLandmarkerOptions(
        base_options=BaseOptions(model_asset_path=str(bundle)), num_hands=4))
    common = ("--model", bundle, "--max-results", 4)
    upright = apus(program, "hands", pictures, *common)
    turned = apus(program, "hands", pictures, *common, "--palm-angle", np.degrees(90.0))
    for picture, one, other in zip(pictures, upright, turned):
        image = np.array(Image.open(picture).convert("RGB"))
        height, width = image.shape[:2]
        theirs = solution.process(image)
        swapped = {"Left": "Right", "Right": "Left"}
        old.add(picture.name, (width, height), [points(h) for h in one["hands"]],
                [pixels(h.landmark, width, height) for h in theirs.multi_hand_landmarks or []],
                [points(h, "world") for h in one["hands"]],
                [pixels(h.landmark, 1, 1) for h in theirs.multi_hand_world_landmarks or []],
                # The older interface takes pictures for mirrored ones.
                ([h["handedness"] for h in one["hands"]],
                 [swapped[h.classification[0].label] for h in theirs.multi_handedness or []]))
        theirs = task.detect(mp.Image(image_format=mp.ImageFormat.SRGB, data=image))
        new.add(picture.name, (width, height), [points(h) for h in other["hands"]],
                [pixels(h, width, height) for h in theirs.hand_landmarks],
                [points(h, "world") for h in other["hands"]],
                [pixels(h, 1, 1) for h in theirs.hand_world_landmarks],
                ([h["handedness"] for h in other["hands"]], [h[0].category_name for h in theirs.handedness]))
    good = [old.report(), new.report()]
    if video:
        tracked = Comparison("hands in frames, HandLandmarker")
        follower = vision.HandLandmarker.create_from_options(vision.HandLandmarkerOptions(
            base_options=BaseOptions(model_asset_path=str(bundle)), num_hands=4,
            running_mode=vision.RunningMode.VIDEO))
        ours = apus(program, "hands", video, *common, "--palm-angle", np.degrees(90.0), "--fps", 30, "--no-smoothing")
        for number, (picture, one) in enumerate(zip(video, ours)):
            image = np.array(Image.open(picture).convert("RGB"))
            height, width = image.shape[:2]
            theirs = follower.detect_for_video(
                mp.Image(image_format=mp.ImageFormat.SRGB, data=image), number * 1000 // 30)
            tracked.add(picture.name, (width, height), [points(h) for h in one["hands"]],
                        [pixels(h, width, height) for h in theirs.hand_landmarks])
        good.append(tracked.report())
    return all(good)


def faces(program, pictures, folder, bundle):
    from mediapipe.tasks.python import BaseOptions, vision

    detector = MODULES / "face_detection/face_detection_short_range.tflite"
    good = []
    for refined, name in ((False, "face_landmark"), (True, "face_landmark_with_attention")):
        comparison = Comparison(f"faces, mp.solutions, {name}")
        solution = mp.solutions.face_mesh.FaceMesh(static_image_mode=True, max_num_faces=4, refine_landmarks=refined)
        ours = apus(program, "face-mesh", pictures, "--detector", detector, "--landmarks",
                    MODULES / f"face_landmark/{name}.tflite", "--max-results", 4)
        for picture, one in zip(pictures, ours):
            image = np.array(Image.open(picture).convert("RGB"))
            height, width = image.shape[:2]
            theirs = solution.process(image)
            comparison.add(picture.name, (width, height), [points(f) for f in one["faces"]],
                           [pixels(f.landmark, width, height) for f in theirs.multi_face_landmarks or []])
        good.append(comparison.report())
    if bundle:
        comparison, shapes, turns, shifts = Comparison("faces, FaceLandmarker"), [], [], []
        task = vision.FaceLandmarker.create_from_options(vision.FaceLandmarkerOptions(
            base_options=BaseOptions(model_asset_path=str(bundle)), num_faces=4, output_face_blendshapes=True,
            output_facial_transformation_matrixes=True))
        ours = apus(program, "face-mesh", pictures, "--model", bundle, "--max-results", 4, "--iou-threshold", 0.5)
        for picture, one in zip(pictures, ours):
            image = np.array(Image.open(picture).convert("RGB"))
            height, width = image.shape[:2]
            theirs = task.detect(mp.Image(image_format=mp.ImageFormat.SRGB, data=image))
            mine = [points(f) for f in one["faces"]]
            its = [pixels(f, width, height) for f in theirs.face_landmarks]
            comparison.add(picture.name, (width, height), mine, its)
            for i, j in matched(mine, its)[0]:
                names = [b.category_name for b in theirs.face_blendshapes[j]]
                if names != [b["name"] for b in one["faces"][i]["blendshapes"]]:
                    comparison.other.append(f"{picture.name}: the expressions have other names")
                away = np.abs(np.reshape(one["faces"][i]["matrix"], (4, 4)) - theirs.facial_transformation_matrixes[j])
                turns.append(away[:3, :3].max())
                shifts.append(away[:3, 3].max() / np.abs(theirs.facial_transformation_matrixes[j][2, 3]))
                shapes.append(max(abs(b.score - a["score"]) for a, b in
                                  zip(one["faces"][i]["blendshapes"], theirs.face_blendshapes[j])))
        good.append(comparison.report() and max(shapes) <= 0.01)
        print(f"  matrices: rotations within {max(turns):.5f} (median {np.median(turns):.5f}), places within {max(shifts):.5f} of the distance "
              f"(median {np.median(shifts):.5f})")
        print(f"  expressions: median of the largest differences {np.median(shapes):.5f}, most {max(shapes):.5f}")
    return all(good)


def poses(program, pictures, folder):
    comparison, masks, sure = Comparison("poses, mp.solutions"), [], []
    visible = Comparison("poses, mp.solutions, visible points alone")
    solution = mp.solutions.pose.Pose(static_image_mode=True, model_complexity=1, enable_segmentation=True)
    mask_folder = pathlib.Path(folder) / "masks"
    ours = apus(program, "pose", pictures, "--detector", MODULES / "pose_detection/pose_detection.tflite",
                "--landmarks", MODULES / "pose_landmark/pose_landmark_full.tflite", "--mask-dir", mask_folder)
    for picture, one in zip(pictures, ours):
        image = np.array(Image.open(picture).convert("RGB"))
        height, width = image.shape[:2]
        theirs = solution.process(image)
        found = theirs.pose_landmarks is not None
        comparison.add(picture.name, (width, height), [points(p) for p in one["poses"]],
                       [pixels(theirs.pose_landmarks.landmark, width, height)] if found else [],
                       [points(p, "world") for p in one["poses"]],
                       [pixels(theirs.pose_world_landmarks.landmark, 1, 1)] if found else [])
        if found and one["poses"]:
            shown = np.array([p.visibility > 0.5 for p in theirs.pose_landmarks.landmark])
            if shown.any():
                visible.add(picture.name, (width, height), [points(one["poses"][0])[shown]],
                            [pixels(theirs.pose_landmarks.landmark, width, height)[shown]])
            sure.append(max(abs(a["visibility"] - b.visibility) for a, b in
                            zip(one["poses"][0]["landmarks"], theirs.pose_landmarks.landmark)))
            mask = np.array(Image.open(mask_folder / f"{picture.stem}-0.png")) / 255
            masks.append(np.abs(mask - theirs.segmentation_mask).mean())
    good = comparison.report()
    visible.report()
    if masks:
        print(f"  visibility: median of the largest differences {np.median(sure):.5f}, most {max(sure):.5f}")
        print(f"  masks: mean differences of confidences, median {np.median(masks):.5f}, most {max(masks):.5f}")
    return good


def holistic(program, pictures, folder, video):
    models = ("--detector", MODULES / "pose_detection/pose_detection.tflite",
              "--landmarks", MODULES / "pose_landmark/pose_landmark_full.tflite",
              "--hand", MODULES / "hand_landmark/hand_landmark_full.tflite",
              "--hand-region", MODULES / "holistic_landmark/hand_recrop.tflite",
              "--face-detector", MODULES / "face_detection/face_detection_short_range.tflite",
              "--face", MODULES / "face_landmark/face_landmark.tflite")
    good = []
    for frames, paths in ((False, pictures), (True, video)):
        if not paths:
            continue
        what = " in frames" if frames else ""
        parts = {"pose": Comparison(f"holistic: bodies{what}"), "left_hand": Comparison(f"holistic: left hands{what}"),
                 "right_hand": Comparison(f"holistic: right hands{what}"), "face": Comparison(f"holistic: faces{what}")}
        solution = mp.solutions.holistic.Holistic(static_image_mode=not frames, model_complexity=1, smooth_landmarks=False)
        ours = apus(program, "holistic", paths, *models, *(["--frames"] if frames else []))
        for picture, one in zip(paths, ours):
            image = np.array(Image.open(picture).convert("RGB"))
            height, width = image.shape[:2]
            theirs = solution.process(image)
            for part, found in (("pose", theirs.pose_landmarks), ("left_hand", theirs.left_hand_landmarks),
                                ("right_hand", theirs.right_hand_landmarks), ("face", theirs.face_landmarks)):
                parts[part].add(picture.name, (width, height), [points(one[part])] if one[part] else [],
                                [pixels(found.landmark, width, height)] if found else [])
        good += [part.report() for part in parts.values()]
    return all(good)


def frames(picture, folder, count=40):
    """A video made from a picture: a camera that moves, turns and zooms."""
    image = Image.open(picture).convert("RGB")
    paths = []
    for number in range(count):
        phase = 2 * np.pi * number / count
        zoom, angle = 1 + 0.08 * np.sin(phase), np.radians(12 * np.sin(2 * phase))
        width, height = image.size
        shift = np.array([0.06 * width * np.sin(phase), 0.05 * height * np.cos(phase)])
        linear = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) / zoom
        middle = np.array([width, height]) / 2
        offset = middle + shift - linear @ middle
        path = pathlib.Path(folder) / f"frame-{number:03}.png"
        image.transform(image.size, Image.Transform.AFFINE,
                        (*linear[0], offset[0], *linear[1], offset[1]), Image.Resampling.BILINEAR).save(path)
        paths.append(path)
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("apus")
    parser.add_argument("pictures", nargs="+", type=pathlib.Path)
    parser.add_argument("--only", choices=["hands", "faces", "poses", "holistic"], help="one task instead of all")
    parser.add_argument("--video", type=pathlib.Path, help="the picture that becomes a video of 40 frames")
    parser.add_argument("--face-bundle", type=pathlib.Path, help="face_landmarker.task, which is not in the wheel")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pictures = []
        for number, path in enumerate(arguments.pictures):
            target = pathlib.Path(folder) / f"{path.stem}-{number}.png"
            Image.open(path).convert("RGB").save(target)
            pictures.append(target)
        video = frames(arguments.video, folder) if arguments.video else []
        good = []
        if arguments.only in (None, "hands"):
            good.append(hands(arguments.apus, pictures, folder, video))
        if arguments.only in (None, "faces"):
            good.append(faces(arguments.apus, pictures, folder, arguments.face_bundle))
        if arguments.only in (None, "poses"):
            good.append(poses(arguments.apus, pictures, folder))
        if arguments.only in (None, "holistic"):
            good.append(holistic(arguments.apus, pictures, folder, video))
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
