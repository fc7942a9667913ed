#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `apus track` with `trackers` on the published detections of MOT15, and scores it with `motmetrics`.

    .build/tracking-python/bin/python Tools/tracking/agreement.py APUS FOLDER

FOLDER has SEQUENCE/det/det.txt for each sequence. Ids must be equal in each frame, boxes within a hundredth of a pixel.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import peers

# What the author of SORT reports for these detections: MOTA, IDF1.
AUTHOR = {"TUD-Campus": (0.627, 0.606), "TUD-Stadtmitte": (0.717, 0.735)}

# Options of apus, and of `trackers`.
VARIANTS = {
    "sort": [([], {}), (["--minimum-hits", "2", "--lost-time", "0.1"], {"minimum_consecutive_frames": 2, "lost_track_buffer": 3})],
    "bytetrack": [
        ([], {}), (["--minimum-hits", "1", "--activation-score", "0.5"], {"minimum_consecutive_frames": 1, "track_activation_threshold": 0.5}),
        (["--minimum-overlap", "0.3", "--high-score", "0.8", "--frame-rate", "14"],
         {"minimum_iou_threshold": 0.3, "high_conf_det_threshold": 0.8, "frame_rate": 14.0})],
}


def main(apus, folder):
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for file in sorted(pathlib.Path(folder).glob("*/det/det.txt")):
            sequence = file.parts[-3]
            lines = np.loadtxt(file, delimiter=",")
            frames = [lines[lines[:, 0] == number][:, 2:7].tolist() for number in range(1, int(lines[:, 0].max()) + 1)]
            for method, variants in VARIANTS.items():
                for arguments, options in variants:
                    output = pathlib.Path(scratch, "tracks.txt")
                    subprocess.run([apus, "track", file, "--method", method, "--output", output, *arguments], check=True, stdout=subprocess.DEVNULL)
                    found = {}
                    for line in output.read_text().splitlines():
                        frame, number, x, y, width, height = map(float, line.split(",")[:6])
                        found.setdefault(int(frame), {})[int(number)] = (x, y, x + width, y + height)
                    expected = peers.follow(peers.tracker(method, **options), frames)
                    first, worst, boxes = None, 0.0, 0
                    for index, (_, tracked) in enumerate(expected):
                        mine = found.get(index + 1, {})
                        boxes += len(tracked)
                        if mine.keys() != tracked.keys():
                            first = index + 1
                            break
                        for number, box in tracked.items():
                            worst = max(worst, max(abs(a - b) for a, b in zip(box, mine[number])))
                    ok = first is None and worst < 0.01
                    text = f"{sequence:15} {method:9} {' '.join(arguments):50} {boxes:6} boxes, {len(frames)} frames, difference {worst:.1e}"
                    if first is not None:
                        text += f"; ids differ from frame {first} on"
                    if sequence in AUTHOR and not arguments:
                        mota, idf1, switches = peers.score(output, sequence)
                        text += f"; MOTA {mota:.3f}, IDF1 {idf1:.3f}, {switches} switches"
                        if method == "sort":
                            text += f" (author: {AUTHOR[sequence][0]}, {AUTHOR[sequence][1]})"
                            ok = ok and mota >= AUTHOR[sequence][0] and idf1 >= AUTHOR[sequence][1]
                    print(text if ok else text + "; WRONG", flush=True)
                    failed += not ok
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
