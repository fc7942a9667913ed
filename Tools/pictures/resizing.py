#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes Tests/Goldens/resizing.json: what OpenCV, Pillow and Ultralytics' rule have for resized pictures.

Needs OpenCV, NumPy and Pillow. Run it from the root of the package: python3 Tools/pictures/resizing.py
"""

import base64
import io
import json

import cv2
import numpy as np
from PIL import Image

generator = np.random.default_rng(5)


def text(data):
    return base64.b64encode(data).decode()


def resized():
    """OpenCV's bilinear and area interpolation of noise, the hardest of pictures."""
    cases = []
    for width, height, new_width, new_height in [
        (37, 23, 20, 31), (64, 48, 30, 30), (20, 10, 41, 33), (90, 61, 7, 5), (50, 40, 25, 20), (31, 17, 31, 17),
    ]:
        picture = generator.integers(0, 256, (height, width, 3), dtype=np.uint8)
        cases.append({
            "width": width, "height": height, "newWidth": new_width, "newHeight": new_height,
            "pixels": text(picture.tobytes()),
            "bilinear": text(cv2.resize(picture, (new_width, new_height), interpolation=cv2.INTER_LINEAR).tobytes()),
            # Enlarging, OpenCV's area interpolation is another thing.
            "area": text(cv2.resize(picture, (new_width, new_height), interpolation=cv2.INTER_AREA).tobytes())
            if new_width <= width and new_height <= height else None,
        })
    return cases


def letterboxes():
    """How Ultralytics' LetterBox scales and pads: `round` is Python's, halves to even."""
    sizes = [tuple(int(v) for v in generator.integers(1, 4000, 2)) for _ in range(60)]
    # Sides that come out at halves, or nearly so.
    sizes += [(w, h) for w in (640, 1280, 320, 960) for h in (1, 3, 5, 7, 81, 243, 405, 719, 721)]
    sizes += [(h, w) for w, h in sizes[-36:]]
    # Where double precision decides otherwise than the exact quotient would.
    extra = []
    for w in range(1, 1500):
        for h in range(1, 60):
            r = min(320 / h, 320 / w)
            exact = divmod(2 * h * 320 + w, 2 * w)
            if w >= h and exact[1] == 0 and round(h * r) != exact[0] - (exact[0] % 2):
                extra.append((w, h))
    sizes += extra[:20]
    cases = []
    for width, height in sizes:
        for new_width, new_height in ((640, 640), (320, 320), (416, 256)):
            r = min(new_height / height, new_width / width)
            scaled = round(width * r), round(height * r)
            dw, dh = (new_width - scaled[0]) / 2, (new_height - scaled[1]) / 2
            if min(scaled) < 1:
                continue
            cases.append([width, height, new_width, new_height, *scaled, round(dw - 0.1), round(dh - 0.1)])
    return cases


def reduced():
    """JPEGs as libjpeg decodes them at a half, a quarter and an eighth."""
    columns, rows = np.meshgrid(np.arange(141), np.arange(101))
    picture = np.stack([columns * 255 // 140, rows * 255 // 100, (columns * 3 + rows * 2) % 256], axis=2)
    picture = np.clip(picture + generator.integers(-9, 10, picture.shape), 0, 255).astype(np.uint8)
    cases = []
    for name, options in [
        ("4:4:4", {"subsampling": 0}), ("4:2:0", {"subsampling": 2}), ("progressive", {"progressive": True}),
        ("gray", {}),
    ]:
        out = io.BytesIO()
        image = Image.fromarray(picture)
        image = image.convert("L") if name == "gray" else image
        image.save(out, "JPEG", quality=80, **options)
        for factor in (2, 4, 8):
            draft = Image.open(io.BytesIO(out.getvalue()))
            draft.draft(None, (141 // factor, 101 // factor))
            assert draft.size == (-(-141 // factor), -(-101 // factor)), draft.size
            cases.append({
                "name": f"{name} at 1/{factor}", "factor": factor, "width": draft.size[0], "height": draft.size[1],
                "file": text(out.getvalue()), "pixels": text(draft.convert("RGB").tobytes()),
            })
    return cases


with open("Tests/Goldens/resizing.json", "w") as out:
    json.dump([{"resized": resized(), "letterboxes": letterboxes(), "reduced": reduced()}], out)
    out.write("\n")
