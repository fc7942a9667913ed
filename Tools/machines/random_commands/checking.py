# SPDX-License-Identifier: Apache-2.0
"""What must hold of every command's ending: its status, its lines, and that nothing but the named outputs is written."""

import json
import re

STATUSES = (0, 1, 2, 64)
# Lines of standard error, besides errors and warnings: what folders have that is not read.
LEFT_OUT = re.compile(r"^.* left out( .*)?$")
# What only programmers read.
INTERNALS = re.compile(r"Optional\(|Fatal error|ArgumentParser|NSCocoa|Error Domain|Swift\.|ApusError|Foundation|0x[0-9a-f]{8,}|"
                       r"operation could not be completed", re.IGNORECASE)
# Characters that command terminals, end lines, or change the direction of what follows.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
MOST_MESSAGE = 2000
# Commands that read scores.
ANSWERING = {"classify", "detect", "embed", "segment", "transform", "keypoints", "faces", "hear"}
# What stands for an option in messages.
WORDS = {"kernels": "kernel set", "region": "the region"}
# Numbers that are none, and mean something nonetheless.
INFINITE = ("inf", "-inf", "1e999")
MEANT = {"distance": ("inf", "1e999"), "score-threshold": INFINITE}
# What a process needs beside a limit of time, on a busy machine.
START_UP = 1.5
# What a process needs beside the memory of its model: itself, its threads, a picture.
BASE_MEMORY = 400 << 20


class Broken(Exception):
    """A property does not hold: what it is about, and what was found."""

    def __init__(self, kind, detail=""):
        super().__init__(f"{kind}: {detail}")
        self.kind, self.detail = kind, str(detail)[:600]


def strict(text):
    """One JSON document without what JSON does not have."""
    def constant(name):
        raise Broken("JSON has a number that is none", name)

    def pairs(entries):
        keys = [key for key, _ in entries]
        if len(set(keys)) != len(keys):
            raise Broken("JSON has a key twice", keys)
        return dict(entries)

    try:
        return json.loads(text, parse_constant=constant, object_pairs_hook=pairs)
    except ValueError as error:
        raise Broken("JSON is not valid", f"{error}: {text[:200]}") from None


def shown(text):
    """A text as messages have it."""
    text = " ".join(part for part in text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").splitlines())
    return CONTROL.sub(" ", text)


def plain(text):
    """A text as messages have it, without bytes that no character has."""
    return shown(text).replace("\ufffd", " ")


def decoded(data, stream):
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Broken(f"{stream} is not UTF-8", error) from None
    found = CONTROL.search(text.replace("\n", ""))
    if found:
        raise Broken(f"{stream} has a control character", repr(found[0]))
    lines = text.split("\n")
    for line in lines:
        if line.startswith(("forged", "error: forged")):
            raise Broken(f"a name makes a line of its own on {stream}", line)
    if text and not text.endswith("\n"):
        raise Broken(f"{stream} ends without a line feed", text[-80:])
    return lines[:-1]


def ended(line, ending):
    """Checks how the command ended; returns the lines of both streams."""
    if ending.is_late:
        raise Broken("it does not end", f"{ending.seconds:.1f} s")
    if ending.signal is not None:
        raise Broken(f"signal {ending.signal}", ending.err[-300:].decode("utf-8", "replace"))
    if ending.status not in STATUSES:
        raise Broken(f"status {ending.status}", ending.err[-300:].decode("utf-8", "replace"))
    out, err = decoded(ending.out, "standard output"), decoded(ending.err, "standard error")
    errors = [entry for entry in err if entry.startswith("error: ")]
    for entry in err:
        if not entry.startswith(("error: ", "warning: ")) and not LEFT_OUT.match(entry):
            raise Broken("a line on standard error is neither an error nor a warning", entry)
        if INTERNALS.search(entry):
            raise Broken("a message has words of the program's inside", entry)
        if len(entry) > MOST_MESSAGE + 2 * sum(len(word) for word in line.words if len(word) > 200) if line else 0:
            raise Broken("a message is very long", f"{len(entry)}: {entry[:200]}")
        if entry in ("error: failed", "error: ") or re.search(r"\(null\)|\bnil\b", entry):
            raise Broken("a message names nothing", entry)
    if ending.status == 0 and errors:
        raise Broken("status 0 with an error", errors[0])
    # Pictures may fail before what ends the work.
    pictures = [f"error: {plain(path)}: " for path in [*line.positionals, *line.stdin.decode("utf-8", "replace").splitlines()]] + [
        f"error: {path}/" for path in line.world.folders] if line else []
    others = [entry for entry in errors if not plain(entry).startswith(tuple(pictures))]
    if ending.status in (1, 64) and len(others) != 1 and not (len(errors) == 1 and not others):
        raise Broken(f"status {ending.status} with {len(others)} errors", others[:3])
    if ending.status == 64 and out:
        raise Broken("status 64 with output", out[0])
    if ending.status == 2 and not errors and not any(LEFT_OUT.match(entry) for entry in err):
        raise Broken("status 2 without an error", err[:2])
    for entry in out:
        if entry.startswith(("error:", "warning:")) and not (line and line.command.name == "inspect"):
            raise Broken("a diagnostic on standard output", entry)
    return out, err


def limited(line, ending):
    """Checks the limits that the command was given."""
    limit = line.value("time-limit")
    if limit is not None and ending.status is not None:
        try:
            seconds = float(limit)
        except ValueError:
            return
        # The limit is that of preparing the model, and of each picture.
        if 0 < seconds < 30 and ending.seconds > seconds * 1.2 * (1 + count(line)) + START_UP:
            raise Broken("--time-limit is not obeyed", f"{ending.seconds:.2f} s with {limit}")
    limit = line.value("memory-limit")
    if limit is not None and limit.isascii() and limit.isdigit() and 0 < int(limit) < 1 << 14:
        if ending.peak > (int(limit) << 20) + BASE_MEMORY:
            raise Broken("--memory-limit is not obeyed", f"{ending.peak >> 20} MiB with {limit}")


def count(line):
    return max(len(line.positionals), 1) * 4


def blamed(line, ending, err):
    """Checks that an error about an option's value names the option."""
    bad = [option for option in line.options if option.is_bad]
    if len(bad) != 1 or not line.is_valid or any(not option.is_plain for option in line.options if option is not bad[0]):
        return
    option = bad[0]
    if ending.status == 0:
        if option.is_plain and option.value not in MEANT.get(option.name, ()):
            raise Broken(f"--{option.name} takes {option.value!r}", " ".join(err)[:200])
        return
    text = " ".join(err)
    if "Missing expected argument" in text:
        return
    # A file may be named by its path alone, a label by itself.
    value = shown(option.value.strip())
    named = f"--{option.name}" in text or len(value) > 1 and value[:30] in text.replace("\ufffd", " ")
    named = named or WORDS.get(option.name, f"--{option.name}") in text
    if not named and option.name not in ("model", "labels", "faces", "gallery", "input", "annotate", "annotate-dir", "output", "output-dir",
                                         "align-dir", "tensors", "truth", "resume"):
        raise Broken(f"an error does not name --{option.name}", text[:300])


def written(line, ending, world):
    """Checks that only named outputs were written, and that they were where the command succeeded."""
    changes = world.changes()
    if changes and changes != ["apus-detections.png"]:
        raise Broken("a file that is no output changed", changes)
    outputs = world.outputs()
    if ending.status in (64,) and outputs:
        raise Broken("wrong usage wrote a file", outputs)
    named = ["out/", "apus-detections.png"]
    for path in outputs:
        if not path.startswith(tuple(named)):
            raise Broken("a file is written that nobody named", path)
        if re.search(r"\.(tmp|part)|~$|\.sb-|XXXX", path):
            raise Broken("a temporary file is left", path)
    if ending.status == 0:
        for name in ("output", "annotate"):
            value = line.value(name)
            if isinstance(value, str) and value.startswith("out/") and value not in outputs and b"is not written" not in ending.err:
                raise Broken(f"--{name} wrote nothing", outputs)
    return outputs


def refused(line, ending, err):
    """Checks that what a user means is not refused."""
    if line.model and line.has("model") and line.model.is_refused and ending.status == 0 and line.command.name in ANSWERING:
        raise Broken("an answer where scores are no numbers", ending.out[:200].decode("utf-8", "replace"))
    # What a model answers is not for the user to choose: embeddings without a direction, regions that a second model cannot look at.
    if re.search("so it has no direction|the region of what a model looks at", " ".join(err)):
        return
    if line.is_plain and ending.status != 0:
        # What the message says without numbers and names.
        message = re.sub(r"'[^']*'|[0-9.×-]+", "", next((entry for entry in err if entry.startswith("error: ")), ""))
        message = re.sub(r"^error: \S+: ", "", message)
        raise Broken(f"a valid command fails ({message[:70]})", f"{ending.status}: {' '.join(err)[:300]}")
