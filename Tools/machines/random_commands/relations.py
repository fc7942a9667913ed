# SPDX-License-Identifier: Apache-2.0
"""What must hold between commands: the same twice, with any number of threads and jobs, in any order of pictures, as text and
as JSON, with and without a drawing, for the same pixels in another file; fewer results are the first ones."""

import json
import re

import numpy as np
from PIL import Image

from random_commands.answers import PICTURES
from random_commands.checking import Broken, strict
from random_commands.drawing import Option

TIMES = [re.compile(rb'"milliseconds":\{[^}]*\}'), re.compile(rb'"milliseconds":[-+.0-9eE]+'), re.compile(rb'"[a-z_]*per_second[a-z_]*":[-+.0-9eE]+'),
         re.compile(rb"[0-9.]+ ms\b"),
         re.compile(rb'"fps":[-+.0-9eE]+'), re.compile(rb"[0-9.]+ a second\b")]
# Commands that measure, or print what differs from run to run.
MEASURES = {"kernels"}


def timeless(data):
    for pattern in TIMES:
        data = pattern.sub(b"TIME", data)
    return data


class Relations:
    """Runs a command that has an answer in another way, and compares."""

    def __init__(self, runner):
        self._runner = runner

    def draw(self, line, random):
        """The name of a relation that goes with the command; None for none."""
        name = line.command.name
        # These write what they read, or change with the machine.
        if name in MEASURES or name.startswith("gallery") and name != "gallery find" or line.has("profile"):
            return None
        # What a live source drops depends on the moment.
        if line.has("live"):
            return None
        choice = ["again"]
        if "threads" in line.command.options:
            choice.append("threads")
        if name in PICTURES:
            if len(line.positionals) > 1 or any(path in line.world.folders for path in line.positionals):
                choice += ["jobs"]
            if len(line.positionals) > 1 and line.has("json") and not any(map(line.has, ("video", "fps", "frames"))) and name != "embed":
                choice += ["order", "alone", "order", "alone"]
            if name in ("classify", "detect", "faces", "keypoints", "segment") and line.has("json"):
                if len(line.positionals) == 1 and line.positionals[0] in line.world.by_path and not any(
                        line.has(option) for option in ("annotate", "annotate-dir", "reduced")):
                    choice.append("drawn")
            if name in ("classify", "detect") and line.has("json"):
                choice += ["text", "fewer", "threshold"]
                if line.has("labels"):
                    choice += ["unnamed", "unnamed"]
        if name in PICTURES and line.has("json"):
            picture = line.world.by_path.get(line.positionals[0]) if len(line.positionals) == 1 else None
            if picture is not None and picture.is_valid:
                choice += ["place"] + ["twin"] * (4 * (picture.twin is not None))
                if not line.has("region") and not line.has("reduced"):
                    choice.append("whole")
            choice.append("kernels")
        if name == "filter" and getattr(line.world.by_path.get(line.positionals[0]), "twin", None) is not None:
            choice += ["filtered"] * 4
        if name == "hear" and line.has("json") and len(line.positionals) == 1:
            sound = line.world.by_path.get(line.positionals[0])
            choice += ["twin"] * 2 * (sound is not None and sound.twin is not None)
        if name == "track":
            choice += ["shuffled"] * 2
        # A logit of 0 is no low score.
        if name == "detect" and line.model is not None and line.model.twin is not None and line.has("model") \
                and "logit" not in line.values("scores"):
            choice += ["rows"] * 4
        if name == "compare" and line.has("json"):
            choice += ["swapped", "kernels"]
        if name == "embed" and line.has("json") and line.has("output"):
            choice += ["file", "file"]
        return str(random.choice(choice))

    def check(self, relation, line, ending, digest):
        """Runs the command again in this way; raises if the answers do not agree."""
        if relation in ("again", "threads", "jobs"):
            return self._same(relation, line, ending, digest)
        return getattr(self, f"_{relation}")(line, ending)

    def _run(self, line):
        line.world.clear()
        return self._runner.run(line.words, line.world.folder, line.stdin)

    def _same(self, relation, line, ending, digest):
        other = line
        if relation != "again":
            count = "2" if line.value(relation) in (None, "1") else "1"
            other = line.changed(without=(relation,), added=[Option(relation, count)])
        second = self._run(other)
        if second.status != ending.status:
            raise Broken(f"another status {relation}", f"{ending.status}, then {second.status}")
        first_out, second_out = timeless(ending.out), timeless(second.out)
        if relation == "threads":
            first_out, second_out = (re.sub(rb'"threads":\d+|threads \d+', b"", out) for out in (first_out, second_out))
            # What threads keep is part of the plan.
            if line.command.name == "inspect":
                return
        if first_out != second_out:
            raise Broken(f"another answer {relation}", difference(first_out, second_out))
        if sorted(ending.err.splitlines()) != sorted(second.err.splitlines()):
            raise Broken(f"other messages {relation}", difference(ending.err, second.err))
        if digest != line.world.digest():
            raise Broken(f"other files {relation}", sorted(digest))

    def _documents(self, ending):
        result = {}
        for text in timeless(ending.out).decode().splitlines():
            document = strict(text.replace('TIME', '"t":0'))
            # Files are named where there are several pictures, and numbered in the order of pictures whose names meet.
            for name in ("annotated", "output"):
                document.pop(name, None)
            result.setdefault(document["image"], document)
        return result

    def _compared(self, what, first, second):
        # The first answer decides how a model is read where its file leaves that open. A later one that contradicts it is refused.
        def is_refused(document):
            return "which the reading of the model cannot have" in document.get("error", "")
        for name in first:
            if name in second and first[name] != second[name] and not is_refused(first[name]) and not is_refused(second[name]):
                raise Broken(what, difference(json.dumps(first[name]).encode(), json.dumps(second[name]).encode()))

    def _order(self, line, ending):
        second = self._run(line.changed(positionals=line.positionals[::-1]))
        if second.status != ending.status:
            raise Broken("another status for pictures in another order", f"{ending.status}, {second.status}")
        self._compared("another answer for pictures in another order", self._documents(ending), self._documents(second))

    def _alone(self, line, ending):
        if "-" in line.positionals:
            return
        second = self._run(line.changed(positionals=line.positionals[-1:], without=("annotate", "output")))
        self._compared("another answer for a picture alone", self._documents(second), self._documents(ending))

    def _drawn(self, line, ending):
        second = self._run(line.changed(added=[Option("annotate", "out/drawn.png")]))
        if second.status != ending.status:
            raise Broken("another status with --annotate", f"{ending.status}, {second.status}: {second.err[:200]}")
        self._compared("another answer with --annotate", self._documents(ending), self._documents(second))

    def _fewer(self, line, ending):
        """Fewer results are the first ones."""
        option, key = ("top", "classes") if line.command.name == "classify" else ("max-results", "detections")
        second = self._run(line.changed(without=(option,), added=[Option(option, "2")]))
        for name, document in self._documents(second).items():
            before = self._documents(ending).get(name, {})
            if key in before and key in document and line.value(option) not in ("0", "1"):
                # Detections in the bars of a letterbox count among the two, but are left out.
                first = before[key][:len(document[key]) if key == "detections" else 2]
                if document[key] != first or len(first) > 2:
                    raise Broken(f"--{option} 2 gives others than the first two", difference(*map(text_of, (first, document[key]))))

    def _threshold(self, line, ending):
        """A higher threshold leaves the results that reach it."""
        key = "classes" if line.command.name == "classify" else "detections"
        given = line.value("score-threshold")
        if given is not None and not 0 <= float(given) < 0.6:
            return
        second = self._run(line.changed(without=("score-threshold",), added=[Option("score-threshold", "0.6")]))
        for name, document in self._documents(second).items():
            before = self._documents(ending).get(name, {})
            # FOMO joins the cells that reach the threshold.
            if key in before and key in document and not any("center" in entry for entry in before[key]):
                kept = [entry for entry in before[key] if entry["score"] >= 0.6]
                if any(entry not in document[key] for entry in kept if entry["score"] > 0.6) or len(document[key]) < len(kept) - 1:
                    raise Broken("a threshold changes more than what is below it", difference(*map(text_of, (kept, document[key]))))

    def _unnamed(self, line, ending):
        """Names change nothing but names."""
        if line.has("allow") or line.has("deny"):
            return
        second = self._run(line.changed(without=("labels", "label-offset")))
        if second.status != ending.status:
            # Labels may say how a model is read.
            return
        without = lambda document: text_of({**document, "classes": [  # noqa: E731
            (entry["index"], entry["score"]) for entry in document.get("classes", [])], "detections": [
            (entry["index"], entry["score"], entry["box"]) for entry in document.get("detections", [])], "decision": None})
        first, second = self._documents(ending), self._documents(second)
        for name in first:
            # How many labels there are may decide what a column is, and so whether numbers can be scores.
            if name in second and ("error" in first[name]) != ("error" in second[name]):
                continue
            if name in second and "heads" not in first[name] and without(first[name]) != without(second[name]):
                raise Broken("labels change more than names", difference(without(first[name]), without(second[name])))

    def _place(self, line, ending):
        """The same file by another path."""
        second = self._run(line.changed(positionals=["./" + line.positionals[0]]))
        self._alike("another answer for the same file by another path", ending, second, 0)

    def _twin(self, line, ending):
        """The same pixels in another file."""
        twin = line.world.by_path[line.positionals[0]].twin
        second = self._run(line.changed(positionals=[twin.path]))
        self._alike("another answer for the same pixels in another file", ending, second, 0.02 if "is_turned" in twin.facts else 0)

    def _filtered(self, line, ending):
        """The same pixels in another file, after filters."""
        twin = line.world.by_path[line.positionals[0]].twin
        if line.positionals[1].endswith(".jpg") or not line.positionals[1].startswith("out/result"):
            return
        pixels = []
        for path in (line.positionals[0], twin.path):
            self._run(line.changed(positionals=[path, line.positionals[1]]))
            with Image.open(line.world.folder / line.positionals[1]) as image:
                pixels.append(np.asarray(image.convert("RGB")))
        if not np.array_equal(*pixels):
            raise Broken("other pixels of the same pixels in another file", twin.path)

    def _rows(self, line, ending):
        """What rows of score 0 have besides changes nothing."""
        second = self._run(line.changed(without=("model",), added=[Option("model", line.model.twin.path)]))
        if second.status != ending.status or line.has("json") and self._documents(ending) != self._documents(second):
            raise Broken("rows of score 0 change the answer", f"{line.model.twin.path}: status {second.status}, " + difference(
                timeless(ending.out), timeless(second.out)))

    def _whole(self, line, ending):
        """The whole picture as a region."""
        width, height = line.world.by_path[line.positionals[0]].size
        second = self._run(line.changed(added=[Option("region", f"0,0,{width},{height}")]))
        self._alike("another answer for the whole picture as a region", ending, second, 0)

    def _kernels(self, line, ending):
        second = self._run(line.changed(without=("kernels",), added=[Option("kernels", "portable")]))
        self._alike("another answer with portable kernels", ending, second, 0.005)

    def _swapped(self, line, ending):
        second = self._run(line.changed(positionals=line.positionals[::-1]))
        self._alike("another distance the other way", ending, second, 1e-6)

    def _shuffled(self, line, ending):
        """The same boxes with the frames' lines in another order, and with other ids."""
        found = line.world.by_path.get(line.positionals[0])
        if found is None or not found.is_valid or found.data.startswith(b"frame"):
            return
        frames = {}
        for entry in found.data.decode().splitlines():
            fields = re.split(r"[,; \t]+", entry)
            if len(fields) > 6:
                frames.setdefault(fields[0], []).append(",".join([fields[0], "7", *fields[2:7]]))
        lines = [entry for frame in sorted(frames, reverse=True) for entry in frames[frame]]
        other = line.changed(positionals=["-"])
        other.stdin = "\n".join(lines).encode()
        second = self._run(other)
        if (ending.status, ending.out) != (second.status, second.out):
            raise Broken("other tracks of the same boxes in another order", difference(ending.out, second.out))

    def _file(self, line, ending):
        """The rows of a file are the embeddings of the answer."""
        line.world.clear()
        second = self._runner.run(line.words, line.world.folder, line.stdin)
        path = line.world.folder / line.value("output")
        if second.status != 0 or not path.is_file():
            return
        rows = np.load(path)
        answers = [json.loads(text)["embeddings"][0] for text in second.out.decode().splitlines()]
        if rows.shape != (len(answers), len(answers[0])) or np.abs(rows - np.array(answers)).max() > 1e-6:
            raise Broken("the file has other embeddings than the answer", rows.shape)

    def _alike(self, what, ending, second, tolerance):
        """Compares answers without names of pictures; numbers may differ by a share of the largest."""
        if second.status != ending.status:
            raise Broken(what, f"status {ending.status}, then {second.status}: {second.err[:200]}")
        first, second = ([strict(text.replace("TIME", '"t":0')) for text in timeless(found.out).decode().splitlines()]
                         for found in (ending, second))
        for one, other in zip(first, second):
            for document in (one, other):
                document.pop("image", None)
                document.pop("sound", None)
            if "error" not in one and not close(one, other, tolerance):
                raise Broken(what, difference(text_of(one), text_of(other)))

    def _text(self, line, ending):
        second = self._run(line.changed(without=("json",)))
        if second.status != ending.status:
            raise Broken("another status without --json", f"{ending.status}, {second.status}")
        text = second.out.decode()
        for document in self._documents(ending).values():
            for head in [document, *document.get("heads", [])]:
                found = (head.get("classes") or head.get("detections") or [None])[0]
                if found is None:
                    continue
                name = found["label"] if found["label"] is not None else f"{found['index']}"
                score = f"{found['score']:.3f}"[:-1]
                if name.isascii() and name.isprintable() and name.strip() == name and (
                        name not in text or found["score"] < 100 and score not in text and f"{found['score']:.4f}" not in text
                        and f"{found['score']:.3f}" not in text):
                    raise Broken("the text does not have the best of --json", f"{found}: {text[:300]}")


def text_of(value):
    return json.dumps(value, sort_keys=True).encode()


def close(one, other, tolerance):
    """Whether two documents agree but for last digits."""
    if isinstance(one, dict):
        return isinstance(other, dict) and set(one) == set(other) and all(close(one[key], other[key], tolerance) for key in one)
    if isinstance(one, list):
        # Where numbers differ, what is near a threshold may be missing.
        return isinstance(other, list) and (tolerance > 0 and len(one) != len(other) or len(one) == len(other) and all(
            close(*pair, tolerance) for pair in zip(one, other)))
    if isinstance(one, float) or isinstance(other, float):
        return abs(one - other) <= tolerance * max(abs(one), abs(other), 1)
    return one == other


def difference(first, second):
    """Where two texts begin to differ."""
    place = next((index for index, (one, other) in enumerate(zip(first, second)) if one != other), min(len(first), len(second)))
    start = max(place - 60, 0)
    return f"{first[start:place + 60]!r}, then {second[start:place + 60]!r}"
