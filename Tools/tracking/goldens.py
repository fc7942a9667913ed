#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes Tests/Goldens/tracking.json: what `trackers`, `supervision`, `scipy` and the authors' 1 € filter say of generated scenes.

    .build/tracking-python/bin/python Tools/tracking/goldens.py
"""
import json
import pathlib

import numpy as np
import supervision as sv
from OneEuroFilter import OneEuroFilter
from scipy.optimize import linear_sum_assignment

import peers
from scenes import SplitMix64, scene, walk

WALKS = 10_000


def tracks():
    cases = []
    for seed, objects, frames, options, hasTimes in [
        (1, 6, 200, {}, False), (2, 20, 150, {}, False), (3, 50, 60, {}, False),
        (4, 12, 150, {"minimum_consecutive_frames": 1}, False),
        (5, 12, 150, {"lost_track_buffer": 5, "frame_rate": 25.0, "minimum_iou_threshold": 0.2}, False),
        (6, 12, 150, {"track_activation_threshold": 0.5}, True), (7, 30, 80, {"lost_track_buffer": 0}, False)]:
        times = None
        if hasTimes:
            # Mostly 1/32 s, some frames late, some missing.
            below, now, times = SplitMix64(seed + 1000).below, 0, []
            for _ in range(frames):
                now += [32, 32, 32, 33, 64, 128][below(6)]
                times.append(now / 1024)
            options = dict(options, frame_rate=32.0)
        for method in ["sort", "bytetrack"]:
            answer = peers.follow(peers.tracker(method, **options), scene(seed, objects, frames), times)
            cases.append({
                "method": method, "seed": seed, "objects": objects, "frames": frames, "options": options,
                "has_times": hasTimes, "ids": [" ".join(map(str, ids)) for ids, _ in answer],
                "last_boxes": {str(number): [round(value, 6) for value in box] for number, box in answer[-1][1].items()}})
    return cases


def assignments():
    cases = []
    for seed, (rows, columns) in enumerate([(1, 1), (1, 5), (5, 1), (2, 2), (7, 7), (16, 9), (9, 16), (40, 40), (64, 50)]):
        for levels in [4, 1000]:
            below = SplitMix64(seed * 10 + levels).below
            costs = np.array([[(below(2 * levels + 1) - levels) / 8 for _ in range(columns)] for _ in range(rows)])
            row, column = linear_sum_assignment(costs)
            cases.append({"seed": seed * 10 + levels, "rows": rows, "columns": columns, "levels": levels,
                          "total": float(costs[row, column].sum())})
    return cases


def lines():
    anchors = {"bottomCenter": [sv.Position.BOTTOM_CENTER],
               "corners": [sv.Position.TOP_LEFT, sv.Position.TOP_RIGHT, sv.Position.BOTTOM_LEFT, sv.Position.BOTTOM_RIGHT]}
    result = {}
    for name, positions in anchors.items():
        counts = [peers.crossings(*walk(seed), positions) for seed in range(WALKS)]
        print(name, "crossings:", sum(map(sum, counts)), "walks with more than one:", sum(sum(count) > 1 for count in counts))
        assert all(count <= 35 for pair in counts for count in pair)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"
        result[name] = "".join(digits[a] + digits[b] for a, b in counts)
    return result


def zones():
    """Points of a grid that are inside a star and an L; those close to a side are left out, as supervision's zones are of pixels."""
    cases = []
    for corners in [[(10, 10), (90, 20), (60, 50), (95, 90), (40, 70), (5, 95), (25, 45)],
                    [(20, 20), (80, 20), (80, 40), (40, 40), (40, 90), (20, 90)]]:
        zone = sv.PolygonZone(np.array(corners), triggering_anchors=[sv.Position.CENTER])
        rows = []
        for y in range(0, 110, 3):
            row = ""
            for x in range(0, 110, 3):
                distance = min(_distance((x, y), corners[i - 1], corners[i]) for i in range(len(corners)))
                box = np.array([[x - 1.0, y - 1.0, x + 1.0, y + 1.0]])
                row += "?" if distance < 1.5 else str(int(zone.trigger(sv.Detections(xyxy=box))[0]))
            rows.append(row)
        cases.append({"corners": corners, "step": 3, "rows": rows})
    return cases


def _distance(point, start, end):
    point, start, end = map(np.array, (point, start, end))
    along = np.clip((point - start) @ (end - start) / ((end - start) @ (end - start)), 0, 1)
    return np.linalg.norm(point - start - along * (end - start))


def smoothing():
    cases = []
    for seed, (cutoff, beta, derivative) in enumerate([(1.0, 0.0, 1.0), (0.5, 0.05, 1.0), (2.0, 4.0, 0.5)]):
        below = SplitMix64(seed).below
        peer = OneEuroFilter(30, cutoff, beta, derivative)
        now, value, values = 1024, 0, []
        for _ in range(100):
            value += below(2001) - 1000 + (8000 if below(10) == 0 else 0)
            values.append(peer(value / 1024, now / 1024))
            now += 20 + below(40)
        cases.append({"minimum_cutoff": cutoff, "beta": beta, "derivative_cutoff": derivative, "seed": seed, "values": values})
    return cases


if __name__ == "__main__":
    golden = {"tracks": tracks(), "assignments": assignments(), "lines": lines(), "zones": zones(), "smoothing": smoothing()}
    path = pathlib.Path(__file__).resolve().parents[2] / "Tests/Goldens/tracking.json"
    path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
    print(path, path.stat().st_size, "bytes")
