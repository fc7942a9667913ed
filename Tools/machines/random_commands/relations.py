# SPDX-License-Identifier: Apache-2.0
"""What must hold between commands: the same twice, with any number of threads and jobs, in any order of pictures, as text and
as JSON, with and without a drawing."""

import json
import re

from random_commands.answers import PICTURES
from random_commands.checking import Broken, strict
from random_commands.drawing import Option

TIMES = [re.compile(rb'"milliseconds":\{[^}]*\}'), re.compile(rb'"milliseconds":[-+.0-9eE]+'), re.compile(rb'"[a-z_]*per_second[a-z_]*":[-+.0-9eE]+'),
         re.compile(rb"[0-9.]+ ms\b")]
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
        choice = ["again"]
        if "threads" in line.command.options:
            choice.append("threads")
        if name in PICTURES:
            if len(line.positionals) > 1 or any(path in line.world.folders for path in line.positionals):
                choice += ["jobs"]
            if len(line.positionals) > 1 and line.has("json") and not line.has("video") and name != "embed":
                choice += ["order", "alone", "order", "alone"]
            if name in ("classify", "detect", "faces", "keypoints", "segment") and line.has("json"):
                if len(line.positionals) == 1 and line.positionals[0] in line.world.by_path and not any(
                        line.has(option) for option in ("annotate", "annotate-dir", "reduced")):
                    choice.append("drawn")
            if name in ("classify", "detect") and line.has("json"):
                choice.append("text")
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
            result.setdefault(document["image"], document)
        return result

    def _compared(self, what, first, second):
        for name in first:
            if name in second and first[name] != second[name]:
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


def difference(first, second):
    """Where two texts begin to differ."""
    place = next((index for index, (one, other) in enumerate(zip(first, second)) if one != other), min(len(first), len(second)))
    start = max(place - 60, 0)
    return f"{first[start:place + 60]!r}, then {second[start:place + 60]!r}"
