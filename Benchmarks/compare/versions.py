#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two builds of apus-benchmark on the same models, in turn, each measurement in a process of its own.

    Benchmarks/compare/versions.py BEFORE AFTER MODELS_DIR [--rounds 7] [--threads 1] [--runs 30] [--best]

BEFORE and AFTER are executables named apus-benchmark. Each line is a model with AFTER's figures and, after the ÷, their
ratio to BEFORE's: below 1 is faster or smaller. The last line has the geometric means of the ratios. Figures are medians of the rounds, or
with --best the lowest, which a machine with other work disturbs less.
"""

import argparse
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

FIGURES = {
    "load": lambda measured: measured["load_ms"],
    "load to first": lambda measured: measured["load_ms"] + measured["first_ms"],
    "inference": lambda measured: measured["median_ms"],
    "memory": lambda measured: measured["growth_mb"],
}


def measured(program, model, arguments):
    """What a build says of a model; None if it cannot run it."""
    command = [program, "models", model, "--json", "--threads", str(arguments.threads), "--runs", str(arguments.runs)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        return None
    found = json.loads(result.stdout)
    found = found[0] if isinstance(found, list) else found
    return None if "error" in found else found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--best", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # The system maps a copy in larger pieces than a file that a linker wrote, which changes load times by a third.
        arguments.before = shutil.copy(arguments.before, f"{folder}/before")
        arguments.after = shutil.copy(arguments.after, f"{folder}/after")
        compare(arguments)


def compare(arguments):
    ratios = {name: [] for name in FIGURES}
    summary = min if arguments.best else statistics.median
    print(f"{'model':56}" + "".join(f"{name:>24}" for name in FIGURES))
    for model in sorted(arguments.models.glob("*.tflite")):
        rounds = []
        for turn in range(arguments.rounds):
            order = [arguments.before, arguments.after] if turn % 2 else [arguments.after, arguments.before]
            pair = {program: measured(program, str(model), arguments) for program in order}
            if None in pair.values():
                break
            rounds.append((pair[arguments.before], pair[arguments.after]))
        if not rounds:
            print(f"{model.name:56}  cannot be run by both")
            continue
        line = f"{model.name[:55]:56}"
        for name, figure in FIGURES.items():
            before, after = (summary(figure(pair[side]) for pair in rounds) for side in (0, 1))
            line += f"{after:15.3f} ÷ {after / before:.3f} " if before > 0 else f"{after:15.3f}         "
            if before > 0 and after > 0:
                ratios[name].append(after / before)
        print(line, flush=True)
    if not ratios["load"]:
        sys.exit("no model was measured")
    means = {name: math.exp(statistics.mean(map(math.log, found))) for name, found in ratios.items() if found}
    print(f"{'geometric means':56}" + "".join(f"{means.get(name, math.nan):23.3f} " for name in FIGURES))


if __name__ == "__main__":
    main()
