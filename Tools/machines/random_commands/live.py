# SPDX-License-Identifier: Apache-2.0
"""What must hold of points of hands, faces and bodies, of watched videos, of cameras and of tracks."""

import math

from random_commands.checking import Broken


def number(value, what, low=-math.inf, high=math.inf):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise Broken(f"{what} is not {low} to {high}", value)
    return value


def whole(value, what, low=0):
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise Broken(f"{what} is no whole number from {low}", value)
    return value


# MARK: Landmarks


def subject(entry, counts, what):
    """A hand, a face or a body."""
    number(entry["score"], f"the score of {what}", 0, 1)
    if len(entry["landmarks"]) not in counts:
        raise Broken(f"{what} has another count of points", len(entry["landmarks"]))
    for point in entry["landmarks"]:
        for key in ("x", "y", "z"):
            number(point[key], f"a coordinate of {what}")
        for key in ("visibility", "presence"):
            if point.get(key) is not None:
                number(point[key], f"the {key} of a point", 0, 1)


def several(key, counts):
    def check(line, document, world, err):
        found = document.get(key)
        if not isinstance(found, list):
            raise Broken("an answer lacks a field", key)
        for entry in found:
            subject(entry, counts, key)
        limit = line.value("max-results")
        if limit and limit.isascii() and limit.isdigit() and len(found) > int(limit):
            raise Broken(f"more {key} than --max-results", len(found))
        threshold = line.value("score-threshold")
        if threshold is not None and any(entry["score"] < float(threshold) - 1e-6 for entry in found):
            raise Broken(f"{key} below the threshold", threshold)
    return check


def holistic(line, document, world, err):
    for key, counts in (("pose", (33,)), ("left_hand", (21,)), ("right_hand", (21,)), ("face", (468, 478))):
        if key not in document:
            raise Broken("an answer lacks a field", key)
        if document[key] is not None:
            subject(document[key], counts, key)
    if document["pose"] is None and any(document[key] is not None for key in ("left_hand", "right_hand", "face")):
        raise Broken("parts of nobody", sorted(document))


# MARK: Videos


def watch(line, documents, ending, world):
    """Frames in order, events of tracks that were there, and a summary at the end that agrees with both."""
    if ending.status == 0 and not (documents and "summary" in documents[-1]):
        raise Broken("status 0 without a summary", documents[-1:])
    # What is no object has its answer's own fields.
    if line.value("task") in ("classify", "segment", "keypoints", "hands", "face-mesh", "pose", "holistic"):
        for document in documents:
            if "event" in document and line.value("task") not in ("classify", "segment") or "summary" in document:
                continue
            if not {"frame", "time", "milliseconds"} <= set(document):
                raise Broken("a line is neither a frame nor the summary", sorted(document))
        return
    frames = [document for document in documents if "detections" in document]
    events = [document for document in documents if "event" in document]
    # A source that fails in its middle has a summary, too.
    summaries = sum("summary" in document for document in documents[-1:])
    if len(frames) + len(events) + summaries != len(documents):
        raise Broken("a line is neither a frame, an event nor the summary", [sorted(document) for document in documents][:3])
    numbers, times = [whole(frame["frame"], "a frame") for frame in frames], [number(frame["time"], "a time", 0) for frame in frames]
    if any(second <= first for first, second in zip(numbers, numbers[1:])) or any(second < first for first, second in zip(times, times[1:])):
        raise Broken("frames are not in order", numbers)
    every, most = line.value("every"), line.value("frames")
    if every and every.isascii() and every.isdigit() and any(value % int(every) for value in numbers):
        raise Broken("--every is not obeyed", numbers)
    if most and most.isascii() and most.isdigit() and len(frames) > int(most):
        raise Broken("more frames than --frames", len(frames))
    if line.has("seconds") and any(time >= float(line.value("seconds")) for time in times):
        raise Broken("--seconds is not obeyed", times)
    tracks = set()
    for frame in frames:
        here = [found["track"] for found in frame["detections"] if found.get("track") is not None]
        if len(set(here)) != len(here):
            raise Broken("two objects of a frame have one track", here)
        tracks |= {whole(track, "a track", 1) for track in here}
        for found in frame["detections"]:
            if line.value("scores") != "raw" and "score" in found:
                number(found["score"], "a score", 0, 1)
    if tracks and not any(line.has(option) for option in ("track", "line", "zone")):
        raise Broken("tracks that nobody asked for", sorted(tracks)[:5])
    for event in events:
        if event["track"] not in tracks:
            raise Broken("an event of a track that no frame has", event)
    if ending.status != 0:
        return
    summary = documents[-1]["summary"]
    if summary["answered"] != len(frames):
        raise Broken("the summary counts other frames than there are lines", f"{summary['answered']}, {len(frames)}")
    if summary["frames"] < summary["answered"] + summary["dropped"]:
        raise Broken("more frames answered and dropped than arrived", summary)
    film = world.by_path.get(line.positionals[0]) if line.positionals else None
    stops = any(line.has(option) for option in ("frames", "seconds", "every", "fps", "live", "real-time"))
    if film is not None and film.is_valid and not stops and len(frames) != film.facts["frames"]:
        raise Broken("frames of the video are missing", f"{len(frames)} of {film.facts['frames']}")
    for name, counts in summary["lines"].items():
        for direction in ("in", "out"):
            seen = sum(event.get("line") == name and event.get("direction") == direction for event in events)
            if seen != counts[direction]:
                raise Broken("a line counts other crossings than there are events", f"{counts}, {seen} {direction}")
    for name, counts in summary["zones"].items():
        entries = sum(event.get("zone") == name and event["event"] == "entered" for event in events)
        if entries != counts["entries"] or counts["entries"] != counts["exits"] + counts["occupancy"]:
            raise Broken("a zone counts other entries than there are events", f"{counts}, {entries}")


def cameras(line, documents, ending, world):
    for document in documents:
        if "path" not in document:
            raise Broken("a camera without a path", document)


# MARK: Tracks


def track(line, document, ending, world):
    """Counts that agree with the file, and with the tracks that were written."""
    found = world.by_path.get(line.positionals[0]) if line.positionals else None
    for key in ("frames", "detections", "tracks", "boxes", "most"):
        whole(document[key], key)
    if document["boxes"] > document["detections"] or document["most"] > document["tracks"] or document["tracks"] > document["boxes"]:
        raise Broken("more boxes than detections, or more tracks than boxes", document)
    if found is not None and found.is_valid and (document["detections"], document["frames"]) != (
            found.facts["detections"], found.facts["frames"]):
        raise Broken("other counts than the file's", f"{document} of {found.facts}")


def tracks(line, text, document):
    """The file of tracks: a box a line, positive numbers, no track twice in a frame."""
    seen, numbers, per_frame = set(), set(), {}
    for entry in text.splitlines():
        fields = entry.split(",")
        if len(fields) != 10 or fields[-3:] != ["-1", "-1", "-1"]:
            raise Broken("a line of tracks has another form", entry)
        frame, track = int(fields[0]), int(fields[1])
        left, top, width, height, score = (float(field) for field in fields[2:7])
        if track < 1 or not all(map(math.isfinite, (left, top, width, height, score))) or width < 0 or height < 0:
            raise Broken("a line of tracks has numbers out of range", entry)
        if (frame, track) in seen:
            raise Broken("a track is twice in a frame", entry)
        seen.add((frame, track))
        numbers.add(track)
        per_frame[frame] = per_frame.get(frame, 0) + 1
    counts = (len(seen), len(numbers), max(per_frame.values(), default=0))
    if document and counts != (document["boxes"], document["tracks"], document["most"]):
        raise Broken("the file has other tracks than the counts", f"{counts}, {document}")


CHECKS = {"hands": several("hands", (21,)), "face-mesh": several("faces", (468, 478)), "pose": several("poses", (33,)), "holistic": holistic}
LANDMARKS = set(CHECKS)
