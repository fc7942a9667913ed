#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small models of every layout, and what the public rules and LiteRT answer, to Tests/Goldens: yolo-2-to-7.json,
yolo-later.json, yolo-square.json, detectors.json, tasks.json, inputs.json and sounds.json.

Needs what Tools/goldens/requirements.txt lists. From the root of the package:

    .venv/bin/python Tools/vision/goldens.py
"""

import base64
import json
import pathlib
import re

import cases
import input_cases
import task_cases

DIGITS = 7


def rounded(value):
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, list):
        return [rounded(item) for item in value]
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return value


def file_of(record):
    """Which file has a case of a detector: by its layout and shape, as one file would be large."""
    if record["name"].startswith("square"):
        return "yolo-square"
    kind = record.get("kind", "")
    if re.match("yolo[2-7]", kind):
        return "yolo-2-to-7"
    return "yolo-later" if kind.startswith("yolo") else "detectors"


def main():
    records = []
    for case in cases.cases():
        record = {"name": case.name, "model": base64.b64encode(case.model).decode(), "picture": list(case.picture), "options": case.options}
        for key in ("objects", "error", "refusal", "warning", "kind"):
            if getattr(case, key) is not None:
                record[key] = rounded(getattr(case, key))
        records.append(record)
    for name in ("yolo-2-to-7", "yolo-later", "yolo-square", "detectors"):
        write(name, [record for record in records if file_of(record) == name])
    write("tasks", [rounded({
        "name": case.name, "task": case.task, "model": base64.b64encode(case.model).decode(),
        "picture": list(case.picture), "labels": case.labels, "shape": case.shape, **case.answer}) for case in task_cases.cases()])
    write("inputs", list(input_cases.cases()))
    write("sounds", list(input_cases.sounds()))


def write(name, records):
    path = pathlib.Path(__file__).resolve().parents[2] / f"Tests/Goldens/{name}.json"
    path.write_text("[\n" + ",\n".join(map(json.dumps, records)) + "\n]\n")
    print(f"{name}: {len(records)} cases, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
