#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes Tests/Goldens/detectors.json, tasks.json, inputs.json and sounds.json: small models of every layout, and what the public rules and LiteRT answer.

Needs what Tools/goldens/requirements.txt lists. From the root of the package:

    .venv/bin/python Tools/vision/goldens.py
"""

import base64
import json
import pathlib

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


def main():
    records = []
    for case in cases.cases():
        record = {"name": case.name, "model": base64.b64encode(case.model).decode(), "picture": list(case.picture), "options": case.options}
        for key in ("objects", "error", "refusal", "warning", "kind"):
            if getattr(case, key) is not None:
                record[key] = rounded(getattr(case, key))
        records.append(record)
    write("detectors", records)
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
