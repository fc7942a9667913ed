#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two builds of `apus` byte by byte on goldens: outputs, statuses and messages.

A few cases of each operator are drawn from a seed and run with each kernel set and number of threads.
"""

import argparse
import os
import pathlib
import random as randoms
import subprocess
import sys
import tempfile
import time
import zipfile

GOLDENS = pathlib.Path(__file__).parents[2] / "Tests/Goldens"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("builds", nargs=2, type=os.path.abspath, help="two executables")
    parser.add_argument("--cases", type=int, default=2, help="cases of each operator")
    parser.add_argument("--models", nargs="*", default=[], help="models to run besides, on seeded data")
    parser.add_argument("--kernels", default="portable", help="kernel sets, separated by commas; 'default' for the best one")
    parser.add_argument("--threads", default="1,3")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    ways = [(kernels, threads) for kernels in arguments.kernels.split(",") for threads in arguments.threads.split(",")]
    models, runs, answered, differences, began = 0, 0, 0, 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for name, command in cases(pathlib.Path(folder), arguments):
            models += 1
            for kernels, threads in ways:
                options = ["--threads", threads, *([] if kernels == "default" else ["--kernels", kernels])]
                one, other = (run(build, command + options) for build in arguments.builds)
                runs += 1
                answered += one[0] == 0
                if one != other:
                    differences += 1
                    print(f"{name}, kernels {kernels}, threads {threads}: {told(one)} and {told(other)}")
    print(f"{models} models, {runs} comparisons, {answered} answered, {differences} differences, {time.monotonic() - began:.0f} s")
    # Nothing compared is nothing shown.
    sys.exit(1 if differences or not answered else 0)


def cases(folder, arguments):
    """The names of models, and the commands that run them."""
    for archive in sorted(GOLDENS.glob("*.zip")):
        random = randoms.Random(f"{arguments.seed}/{archive.stem}")
        with zipfile.ZipFile(archive) as contents:
            names = sorted({name.split("/")[0] for name in contents.namelist() if name.endswith("/model.tflite")})
            for name in random.sample(names, min(arguments.cases, len(names))):
                members = sorted(member for member in contents.namelist() if member.startswith(f"{name}/"))
                contents.extractall(folder / archive.stem, members)
                files = folder / archive.stem
                inputs = [member for member in members if member.startswith(f"{name}/input_")]
                inputs.sort(key=lambda member: int("".join(c for c in member.rsplit("_")[-1] if c.isdigit()) or 0))
                yield f"{archive.stem}/{name}", ["run", str(files / name / "model.tflite"),
                                                *(word for member in inputs for word in ("--input", str(files / member)))]
    for model in arguments.models:
        yield model, ["run", model]


def run(build, command):
    """The status, the message and all output files of a command."""
    with tempfile.TemporaryDirectory() as folder:
        answer = subprocess.run([build, *command, "--output-dir", folder, "--time-limit", "0"], capture_output=True)
        files = sorted(pathlib.Path(folder).iterdir())
        return answer.returncode, answer.stderr, [(file.name, file.read_bytes()) for file in files]


def told(answer):
    status, message, files = answer
    return f"status {status} with {len(files)} files{': ' + message.decode(errors='replace').strip() if message else ''}"


if __name__ == "__main__":
    main()
