# SPDX-License-Identifier: Apache-2.0
"""What other libraries make of detections: `trackers`, `supervision`, `motmetrics`."""
import os
import warnings

import numpy as np
import supervision as sv
from trackers import ByteTrackTracker, SORTTracker
from trackers.utils.state_representations import XCYCSRStateEstimator

# motmetrics 1.4.0 calls a function that NumPy 2 has no more.
np.asfarray = lambda values, dtype=float: np.asarray(values, dtype)
import motmetrics

warnings.filterwarnings("ignore")


def tracker(method, **options):
    """A tracker of `trackers` with the options that Apus has by default."""
    if method == "sort":
        return SORTTracker(state_estimator_class=XCYCSRStateEstimator, **options)
    return ByteTrackTracker(**options)


def follow(peer, frames, times=None):
    """For each frame: the id of each detection, from 1, or 0; and the boxes of the tracks that have a detection."""
    result = []
    for index, boxes in enumerate(frames):
        corners = np.array([[x, y, x + w, y + h] for x, y, w, h, _ in boxes]).reshape(-1, 4)
        scores = np.array([box[4] for box in boxes])
        detections = sv.Detections(xyxy=corners, confidence=scores, data={"position": np.arange(len(boxes))})
        answer = peer.update(detections, timestamp=None if times is None else times[index])
        ids = [0] * len(boxes)
        if len(answer):
            for position, number in zip(answer.data["position"], answer.tracker_id):
                ids[position] = int(number) + 1
        tracked = {
            track.tracker_id + 1: [float(value) for value in track.get_state_bbox()]
            for track in peer.tracks
            if track.tracker_id != -1 and track.time_since_update == 0
        }
        result.append((ids, tracked))
    return result


def crossings(line, minimum, frames, anchors):
    """The crossings of a walk, in and out."""
    zone = sv.LineZone(
        start=sv.Point(*line[:2]), end=sv.Point(*line[2:]), triggering_anchors=anchors, minimum_crossing_threshold=minimum)
    for box in frames:
        if box is None:
            zone.trigger(sv.Detections.empty())
        else:
            x, y, width, height = box
            zone.trigger(sv.Detections(xyxy=np.array([[x, y, x + width, y + height]]), tracker_id=np.array([1])))
    return zone.in_count, zone.out_count


def score(tracks_file, sequence):
    """MOTA, IDF1 and identity switches of a file of tracks, for TUD-Campus and TUD-Stadtmitte, whose truth motmetrics has."""
    truth = os.path.join(os.path.dirname(motmetrics.__file__), "data", sequence, "gt.txt")
    expected = motmetrics.io.loadtxt(truth, fmt="mot15-2D", min_confidence=1)
    found = motmetrics.io.loadtxt(tracks_file, fmt="mot15-2D")
    matches = motmetrics.utils.compare_to_groundtruth(expected, found, "iou", distth=0.5)
    row = motmetrics.metrics.create().compute(matches, metrics=["mota", "idf1", "num_switches"]).iloc[0]
    return float(row["mota"]), float(row["idf1"]), int(row["num_switches"])
