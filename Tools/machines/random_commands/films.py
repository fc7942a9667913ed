# SPDX-License-Identifier: Apache-2.0
"""Small videos and lists of detections, whole and odd."""

import functools
import os
import shutil
import subprocess
import tempfile

import numpy as np

from random_commands.files import File
from random_commands.hostile import FORGED, odd_name

# A name, its options of ffmpeg, and what is known: the size and the frames.
FILMS = [
    ("film.mp4", ["-f", "lavfi", "-i", "testsrc=size=64x48:rate=10", "-frames:v", "6"], (64, 48), 6),
    ("film.avi", ["-f", "lavfi", "-i", "testsrc2=size=32x32:rate=25", "-frames:v", "4"], (32, 32), 4),
    ("film.mkv", ["-f", "lavfi", "-i", "mandelbrot=size=33x47:rate=5", "-frames:v", "3", "-c:v", "ffv1"], (33, 47), 3),
    ("film.gif", ["-f", "lavfi", "-i", "testsrc=size=40x30:rate=10", "-frames:v", "3"], (40, 30), 3),
    ("one.mov", ["-f", "lavfi", "-i", "color=red:size=16x16", "-frames:v", "1"], (16, 16), 1),
]


@functools.cache
def whole():
    """Videos that ffmpeg writes; none without it."""
    if shutil.which("ffmpeg") is None:
        return []
    result = []
    with tempfile.TemporaryDirectory() as folder:
        for name, options, size, frames in FILMS:
            path = os.path.join(folder, name)
            subprocess.run(["ffmpeg", "-loglevel", "error", "-nostdin", "-threads", "1", *options, path], check=True)
            with open(path, "rb") as file:
                result.append((name, file.read(), size, frames))
    return result


def films(random):
    """Videos, and files that are none."""
    result = [File(name, data, size=size, frames=frames) for name, data, size, frames in whole()]
    for number, film in enumerate(list(result)[:3]):
        data = bytearray(film.data)
        if random.integers(2):
            data = data[:random.integers(len(data))]
        else:
            for _ in range(random.integers(1, 9)):
                data[random.integers(len(data))] = random.integers(256)
        result.append(File(f"broken-{number}-{film.name}", bytes(data), is_valid=None))
    if result:
        first = result[0]
        name = odd_name(random, "odd").replace("/", "") + ".mp4"
        result.append(File(name, first.data, size=first.size, frames=first.facts["frames"]))
        result.append(File(f"line{FORGED}.mp4", first.data, size=first.size, frames=first.facts["frames"]))
    for name, data in (("empty.mp4", b""), ("text.mp4", b"hello\n"), ("list.m3u8", b"#EXTM3U\n/etc/passwd\n"),
                       ("concat.ffconcat", b"ffconcat version 1.0\nfile /etc/passwd\n")):
        result.append(File(name, data, is_valid=None))
    return result


def lists(random, count):
    """Detections of objects that move, in the forms of the MOTChallenge, and files that are none."""
    result = []
    for number in range(count):
        objects = int(random.integers(0, 6))
        place, speed = random.uniform(0, 500, (objects, 2)), random.uniform(-9, 9, (objects, 2))
        size, rows = random.uniform(10, 90, (objects, 2)), []
        frame = int(random.integers(0, 3))
        for _ in range(random.integers(1, 30)):
            frame += 1 if random.random() < 0.9 else int(random.integers(1, 50))
            place += speed
            for index in range(objects):
                if random.random() < 0.85:
                    score = random.uniform(0.05, 1)
                    rows.append([frame, -1, *np.round(place[index] + random.normal(0, 1, 2), 2), *np.round(size[index], 2), round(score, 3)])
        kind = int(random.integers(7))
        separator = [",", ", ", ";", "\t", " "][random.integers(5)]
        end = ["\n", "\r\n"][random.integers(2)]
        if kind == 1:
            # The order of frames does not matter.
            random.shuffle(rows)
        lines = [separator.join(str(value) for value in row) + (separator + separator.join(["-1"] * 3) if kind == 2 else "") for row in rows]
        is_valid = kind < 4
        if kind == 4:
            odd = ["nan", "1e999", "-5", "x", "", "1e300", "99999999999999999999", "1.5", "１", "\x1b[2J", "0"]
            for _ in range(3):
                row = list(rows[random.integers(len(rows))]) if rows else [1, -1, 1, 1, 5, 5, 1]
                row[random.integers(7)] = odd[random.integers(len(odd))]
                lines.insert(int(random.integers(len(lines) + 1)), ",".join(map(str, row)))
            is_valid = None
        text = end.join(lines) + (end if lines and random.integers(2) else "")
        data = text.encode("utf-8")
        if kind == 5:
            data, is_valid = [b"", b"\n\n", b"\xef\xbb\xbf" + data, b"frame,id,left,top,width,height,score\n" + data, b"\xff\xfe\x00\xd8",
                              b"1,2,3\n", bytes(100)][random.integers(7)], None
        name = f"list-{number}.txt" if kind != 6 else odd_name(random, f"list-{number}").replace("/", "") + ".txt"
        # A box of score 0 or a frame twice is none of the reader's business.
        facts = {"detections": len(rows), "frames": max((row[0] for row in rows), default=0) - min((row[0] for row in rows), default=0) + bool(rows)}
        result.append(File(name, data, is_valid=is_valid, **facts))
    return result
