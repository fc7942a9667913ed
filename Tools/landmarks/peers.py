#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what one of MediaPipe's interfaces finds in pictures, or in the frames of a video, as JSON; `agreement.py` runs it.

    python peers.py PEER BUNDLES LIST RESULT [--fps 30]

`LIST` is a JSON list of files. For each of them the result has a list of subjects; their points are in pixels.
"""

import argparse
import json
import pathlib
import time

import mediapipe as mp
import numpy as np
from PIL import Image

MANY = 4


def image(path):
    return np.array(Image.open(path).convert("RGB"))


def pixels(landmarks, width, height):
    return [[p.x * width, p.y * height, p.z * width] for p in landmarks]


def watched(make, *streams):
    """An older interface that also gives other streams of its graph."""
    from mediapipe.python.solution_base import SolutionBase

    former = SolutionBase.__init__

    def init(self, *, outputs, **rest):
        former(self, outputs=[*outputs, *streams], **rest)

    SolutionBase.__init__ = init
    try:
        return make()
    finally:
        SolutionBase.__init__ = former


class Places:
    """The regions in which an older interface looked: those that the last frame's points gave, or else what it detected."""

    def __init__(self, detected, following, video):
        self.detected, self.following, self.video, self.expected = detected, following, video, []

    def of(self, answer, width, height):
        listed = lambda value: value if isinstance(value, list) else [] if value is None else [value]
        found = [*self.expected, *listed(getattr(answer, self.detected))]
        if self.video:
            self.expected = listed(getattr(answer, self.following))
        return [[r.x_center * width, r.y_center * height, r.width * width, r.height * height, r.rotation] for r in found]


def solution_hands(folder, video):
    places = Places("hand_rects_from_palm_detections", "hand_rects_from_landmarks", video)
    task = watched(lambda: mp.solutions.hands.Hands(static_image_mode=not video, max_num_hands=MANY),
                   places.detected, places.following)
    # The older interface takes pictures for mirrored ones.
    sides = {"Left": "Right", "Right": "Left"}

    def find(pixel, _):
        height, width = pixel.shape[:2]
        answer, found = task.process(pixel), []
        regions = places.of(answer, width, height)
        for hand, world, side in zip(answer.multi_hand_landmarks or [], answer.multi_hand_world_landmarks or [],
                                     answer.multi_handedness or []):
            points = pixels(hand.landmark, width, height)
            found.append({"points": points, "world": pixels(world.landmark, 1, 1),
                          "label": sides[side.classification[0].label], "regions": regions})
        return found
    return find


def solution_faces(attention):
    def make(folder, video):
        places = Places("face_rects_from_detections", "face_rects_from_landmarks", video)
        task = watched(lambda: mp.solutions.face_mesh.FaceMesh(
            static_image_mode=not video, max_num_faces=MANY, refine_landmarks=attention), places.detected, places.following)

        def find(pixel, _):
            height, width = pixel.shape[:2]
            answer, found = task.process(pixel), []
            regions = places.of(answer, width, height)
            for face in answer.multi_face_landmarks or []:
                points = pixels(face.landmark, width, height)
                found.append({"points": points, "regions": regions})
            return found
        return find
    return make


def solution_poses(smooth=False):
    def make(folder, video):
        places = Places("pose_rect_from_detection", "pose_rect_from_landmarks", video)
        task = watched(lambda: mp.solutions.pose.Pose(
            static_image_mode=not video, smooth_landmarks=smooth), places.detected, places.following)

        def find(pixel, _):
            height, width = pixel.shape[:2]
            answer = task.process(pixel)
            regions = places.of(answer, width, height)
            if answer.pose_landmarks is None:
                return []
            body = answer.pose_landmarks.landmark
            points = pixels(body, width, height)
            return [{"points": points, "world": pixels(answer.pose_world_landmarks.landmark, 1, 1),
                     **confidences(body), "regions": regions[:1]}]
        return find
    return make


def confidences(body):
    found = {"visibility": [p.visibility for p in body], "presence": [p.presence for p in body]}
    # The older interfaces do not say the presence.
    return found if any(found["presence"]) else {"visibility": found["visibility"]}


def parts(answer, width, height, listed):
    found = {}
    for part in ("pose", "left_hand", "right_hand", "face"):
        points, world = (getattr(answer, f"{part}_{kind}landmarks", None) for kind in ("", "world_"))
        if not points:
            found[part] = []
            continue
        if not listed:
            points, world = points.landmark, world and world.landmark
        found[part] = [{"points": pixels(points, width, height)}]
        if world:
            # Those of hands begin at the pose's wrist.
            space = np.array(pixels(world, 1, 1))
            found[part][0]["world"] = (space if part == "pose" else space - space[0]).tolist()
        if part == "pose":
            found[part][0] |= confidences(points)
    if listed and found["face"] and answer.face_blendshapes:
        found["face"][0]["blendshapes"] = {shape.category_name: float(shape.score) for shape in answer.face_blendshapes}
    return found


def solution_holistic(folder, video):
    # Smoothing would not change pictures, which are no frames.
    task = mp.solutions.holistic.Holistic(static_image_mode=not video, smooth_landmarks=video)
    return lambda pixel, _: parts(task.process(pixel), pixel.shape[1], pixel.shape[0], listed=False)


def newer(name, bundle, **options):
    """A landmarker of MediaPipe Tasks, as a function of pixels and milliseconds."""
    from mediapipe.tasks.python import BaseOptions, vision

    def make(folder, video):
        mode = vision.RunningMode.VIDEO if video else vision.RunningMode.IMAGE
        task = getattr(vision, name).create_from_options(getattr(vision, name + "Options")(
            base_options=BaseOptions(model_asset_path=str(pathlib.Path(folder) / bundle)), running_mode=mode, **options))

        def ask(pixel, milliseconds):
            picture = mp.Image(image_format=mp.ImageFormat.SRGB, data=pixel)
            return task.detect_for_video(picture, milliseconds) if video else task.detect(picture)
        return ask
    return make


def task_hands(count=MANY):
    def make(folder, video):
        ask = newer("HandLandmarker", "hands.task", num_hands=count)(folder, video)

        def find(pixel, milliseconds):
            height, width = pixel.shape[:2]
            answer = ask(pixel, milliseconds)
            return [{"points": pixels(hand, width, height), "world": pixels(world, 1, 1), "label": side[0].category_name}
                    for hand, world, side in zip(answer.hand_landmarks, answer.hand_world_landmarks, answer.handedness)]
        return find
    return make


def task_faces(count=MANY):
    def make(folder, video):
        ask = newer("FaceLandmarker", "faces.task", num_faces=count, output_face_blendshapes=True,
                    output_facial_transformation_matrixes=True)(folder, video)

        def find(pixel, milliseconds):
            height, width = pixel.shape[:2]
            answer = ask(pixel, milliseconds)
            return [{"points": pixels(face, width, height), "matrix": np.asarray(matrix).tolist(),
                     "blendshapes": {shape.category_name: float(shape.score) for shape in shapes}}
                    for face, shapes, matrix in zip(answer.face_landmarks, answer.face_blendshapes,
                                                    answer.facial_transformation_matrixes)]
        return find
    return make


def task_poses(count=MANY):
    def make(folder, video):
        ask = newer("PoseLandmarker", "poses.task", num_poses=count)(folder, video)

        def find(pixel, milliseconds):
            height, width = pixel.shape[:2]
            answer = ask(pixel, milliseconds)
            return [{"points": pixels(body, width, height), "world": pixels(world, 1, 1), **confidences(body)}
                    for body, world in zip(answer.pose_landmarks, answer.pose_world_landmarks)]
        return find
    return make


def task_holistic(folder, video):
    def make():
        return newer("HolisticLandmarker", "holistic.task", output_face_blendshapes=True)(folder, video)

    kept = make() if video else None

    def find(pixel, milliseconds):
        # Even for pictures, the task smooths masks over time, and fails at a picture of another size.
        ask = kept or make()
        return parts(ask(pixel, milliseconds), pixel.shape[1], pixel.shape[0], listed=True)
    return find


PEERS = {
    "solution-hands": solution_hands, "task-hands": task_hands(), "task-one-hand": task_hands(1),
    "solution-faces": solution_faces(False), "solution-attention": solution_faces(True),
    "task-faces": task_faces(), "task-one-face": task_faces(1),
    "solution-poses": solution_poses(), "solution-smooth-poses": solution_poses(True),
    "task-poses": task_poses(), "task-one-pose": task_poses(1),
    "solution-holistic": solution_holistic, "task-holistic": task_holistic,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("bundles")
    parser.add_argument("list", type=pathlib.Path)
    parser.add_argument("result", type=pathlib.Path)
    parser.add_argument("--fps", type=float, help="the pictures are the frames of one video at this rate")
    arguments = parser.parse_args()
    find = PEERS[arguments.peer](arguments.bundles, arguments.fps is not None)
    found, times = [], []
    for number, path in enumerate(json.loads(arguments.list.read_text())):
        pixel = image(path)
        start = time.perf_counter()
        found.append(find(pixel, round((number + 1) * 1000 / arguments.fps) if arguments.fps else 0))
        times.append(1000 * (time.perf_counter() - start))
    arguments.result.write_text(json.dumps({"version": mp.__version__, "found": found, "milliseconds": times}))


if __name__ == "__main__":
    main()
