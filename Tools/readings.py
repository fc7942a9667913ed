#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints Docs/Readings.md: for each kind of model, what is known, what is guessed, and what must be given.

    Tools/readings.py APUS

Asks `apus inspect --as` about the models of detectors and tasks in Tests/Goldens. Models of one kind whose readings have
the same sources share a row, which names the first of them.
"""

import base64
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUBJECTS = ["layout", "box units", "scores", "pixels", "channels", "fit", "labels"]
WORDS = {"model": "known", "exporter": "exporter", "guess": "*guess*"}
TITLES = {"detector": "Detectors", "classifier": "Classifiers", "embedder": "Embedders", "segmenter": "Segmenters",
          "keypoints": "Poses", "faces": "Faces"}

HEAD = """# Readings

What Apus knows about a model, by kind. Made by `Scripts/readings.sh` from what `apus inspect --as` says about the models of the tests.

| Word | Meaning | Also called |
|---|---|---|
| known | the file says so: metadata, types, quantization, operators, names | *the model* |
| exporter | the exporter's metadata says so: `task`, `names`, `imgsz`, `args` | *its exporter* |
| *guess* | usual for such models; nothing in the file says so. Check it, or give it with the option | *a guess: check it* |
| none | the file has no names: give them | |
| – | does not apply | |

Every option overrides what is known, the exporter and the guess. *Why is my answer wrong?*, a guide of `ApusVision`, tells how to find the reading behind a
wrong answer.
"""


def cases():
    """The task, kind, name, options and model of each case, and the error that refuses it."""
    for name in ("yolo-2-to-7", "yolo-later", "yolo-square", "detectors", "tasks"):
        for case in json.loads((ROOT / "Tests/Goldens" / f"{name}.json").read_text()):
            yield case.get("task", "detector"), case


def inspected(apus, task, case, folder):
    """The assumptions about a case's model; the error if it is refused."""
    model = folder / "model.tflite"
    model.write_bytes(base64.b64decode(case["model"]))
    command = [apus, "inspect", str(model), "--as", task, "--json"]
    options = case.get("options") or []
    if "--layout" in options:
        command += ["--layout", options[options.index("--layout") + 1]]
    if case.get("labels"):
        labels = folder / "labels.txt"
        labels.write_text("".join(f"{label}\n" for label in case["labels"]))
        command += ["--labels", str(labels)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(result.stdout) if result.returncode == 0 else result.stderr


def word(reading):
    """The word for a reading's source."""
    if not reading:
        return "–"
    return "none" if reading["value"] == "none" else WORDS[reading["source"]]


def choices(error):
    """The output and the layouts that an error leaves to the caller, each with what it would read; None for other errors."""
    found = re.search(r"the output (\S+) can be that of (.*): (?:nothing in the model decides|the layout must be chosen)", error)
    if not found:
        return None
    readings = re.findall(r"([a-z][a-z0-9-]*) \(([^()]*(?:\([^()]*\)[^()]*)*)\)", found[2])
    return found[1], tuple(readings)


def main(apus):
    tables = {task: {} for task in TITLES}
    options = {task: {} for task in TITLES}
    refused = {}
    with tempfile.TemporaryDirectory() as folder:
        for task, case in cases():
            found = inspected(apus, task, case, Path(folder))
            if isinstance(found, str):
                # Outputs of another task are no kind of this one.
                open_choice = choices(found) if task == "detector" else None
                if open_choice:
                    refused.setdefault(tuple(layout for layout, _ in open_choice[1]), open_choice)
                continue
            readings = {reading["subject"]: reading for reading in found["readings"]}
            if any(reading["source"] == "given" for reading in readings.values()):
                continue
            for subject, reading in readings.items():
                options[task][subject] = reading.get("option") or options[task].get(subject)
            sources = tuple(word(readings.get(subject)) for subject in SUBJECTS)
            tables[task].setdefault((found["kind"], sources), case["name"])
    print(HEAD)
    for task, title in TITLES.items():
        columns = [s + (f" `{options[task][s]}`" if options[task].get(s) else "") for s in SUBJECTS]
        used = [i for i in range(len(SUBJECTS)) if any(sources[i] != "–" for _, sources in tables[task])]
        print(f"## {title}\n\n| Kind | For example | {' | '.join(columns[i] for i in used)} |")
        print("|---|---|" + "---|" * len(used))
        for (kind, sources), name in sorted(tables[task].items(), key=lambda row: row[0][0]):
            print(f"| {kind} | {name} | {' | '.join(sources[i] for i in used)} |")
        print()
    print("## To be given\n\nOutputs that several layouts have. They are refused until `--layout`, names or metadata decide.\n")
    print("| Output, for example | `--layout` can be |\n|---|---|")
    for output, readings in sorted(refused.values()):
        print(f"| {output} | " + "; ".join(f"`{layout}`: {text}" for layout, text in readings) + " |")


if __name__ == "__main__":
    main(sys.argv[1])
