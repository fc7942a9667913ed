#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Apus with LiteRT's reference kernels on whole models, with seeded random inputs."""

import argparse
import functools
import pathlib
import sys
import zlib

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "goldens"))

from apus import Apus, Failed  # noqa: E402
from comparison import TOLERANCE, difference, limits, relative_error  # noqa: E402
from model_file import ModelFile  # noqa: E402
from reference import Reference, Rejected  # noqa: E402

UNKNOWN_DIMENSION = 64


def random_input(random, shape, type_name):
    """Values over the whole range of small types, small indices of wide ones, normal floats."""
    # An unknown first dimension is a batch; others are sizes of pictures or lengths of sequences.
    shape = [(UNKNOWN_DIMENSION if axis else 1) if size < 0 else size for axis, size in enumerate(shape)]
    dtype = np.dtype(type_name)
    if dtype == bool:
        return random.integers(0, 2, shape).astype(bool)
    if dtype.kind == "f":
        return np.asarray(random.normal(0, 0.7, shape)).astype(dtype)
    if dtype.kind == "c":
        return np.asarray(random.normal(size=shape) + 1j * random.normal(size=shape)).astype(dtype)
    if dtype.itemsize > 2:
        return np.asarray(random.integers(0, 2, shape)).astype(dtype)
    limits = np.iinfo(dtype)
    return np.asarray(random.integers(limits.min, limits.max, shape, endpoint=True)).astype(dtype)


class Comparison:
    """Runs models with the reference once, and with Apus in each of several ways."""

    def __init__(self, ways, seed, every_tensor):
        self._ways = ways
        self._seed = seed
        self._every_tensor = every_tensor
        self._reference = Reference(timeout=600)

    def run(self, path):
        """A verdict, `passed`, `failed`, `refused` or `skipped`, and what there is to say about it."""
        file = ModelFile(path.read_bytes())
        names = file.output_names()
        model = path
        if self._every_tensor:
            model = file.with_every_tensor_as_output()
            names = file.output_names()
        try:
            described = self._reference.describe_inputs(model)
            random = np.random.default_rng([self._seed, zlib.crc32(path.name.encode())])
            inputs = [random_input(random, shape, type_name) for shape, type_name, _ in described]
            expected = file.without_unused_detections(self._reference.run(model, inputs))
        except (Rejected, TypeError, ValueError) as reason:
            return "skipped", [f"the reference rejects it: {str(reason).strip().splitlines()[0]}"]

        @functools.cache
        def allowed():
            def run(moved):
                return file.without_unused_detections(self._reference.run(model, moved))

            return limits(run, inputs, expected)

        verdicts = []
        for name, apus in self._ways:
            try:
                verdict, lines = _verdict(names, expected, apus.run(model, inputs), allowed)
            except Failed as reason:
                verdict, lines = "refused", [str(reason)]
            if verdict != "passed":
                return verdict, [f"{name}: {lines[0]}", *lines[1:]]
            verdicts.append(lines)
        # The same for all ways, or else the one with the most to say.
        return "passed", max(verdicts, key=lambda lines: len(lines[0]))


def _verdict(names, expected, actual, allowed):
    """`allowed` tells how far each output may be off; it is asked if some output is off by more than the usual."""
    if len(expected) != len(actual):
        return "failed", [f"{len(actual)} outputs instead of {len(expected)}"]
    lines = []
    equal, worst, failed, moving = 0, 0.0, 0, 0
    for index, (name, wanted, found) in enumerate(zip(names, expected, actual)):
        problem = difference(wanted, found)
        if problem and wanted.dtype.kind in "fc" and wanted.shape == found.shape:
            problem = difference(wanted, found, allowed()[index])
            moving += problem is None
        if problem:
            failed += 1
            lines.append(f"output {index}, {name} ({wanted.dtype} {list(wanted.shape)}): {problem}")
        elif wanted.tobytes() == found.tobytes():
            equal += 1
        else:
            worst = max(worst, relative_error(wanted, found))
    summary = f"{equal} of {len(expected)} outputs have equal bytes"
    if worst:
        summary += f"; the largest relative error of the close ones is {worst:.3g}"
    if moving:
        summary += f"; {moving} are beyond {TOLERANCE:g}, within twice the reference's own movement of at most "
        summary += f"{max(allowed()) / 2:.3g}"
    return ("failed" if failed else "passed"), [summary, *lines[:5]]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=pathlib.Path, help="a folder of models, or one model")
    parser.add_argument("--apus", type=pathlib.Path, required=True, help="the executable")
    parser.add_argument("--only", default="", help="compare models whose name contains this")
    parser.add_argument("--threads", default="1", help="counts of threads, such as 1,2,8")
    parser.add_argument(
        "--allow-refusals", action="store_true", help="list models that apus refuses, but do not count them as failed"
    )
    parser.add_argument("--kernels", default="", help="kernel sets, such as x86-avx2,portable")
    parser.add_argument("--tensors", action="store_true", help="make every tensor of a model an output")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if not arguments.apus.is_file():
        parser.error(f"no executable {arguments.apus}")
    folder = arguments.models
    paths = sorted(folder.glob("*.tflite")) if folder.is_dir() else [folder]
    paths = [path for path in paths if arguments.only in path.name]

    ways = [
        (f"{kernels or 'the default kernels'}, threads {threads}", Apus(arguments.apus, int(threads), kernels or None))
        for kernels in arguments.kernels.split(",")
        for threads in arguments.threads.split(",")
    ]
    comparison = Comparison(ways, arguments.seed, arguments.tensors)
    verdicts = []
    for path in paths:
        verdict, lines = comparison.run(path)
        verdicts.append(verdict)
        print(f"{verdict:8}{path.name}: {lines[0]}", flush=True)
        for line in lines[1:]:
            print(f"        {line}")
    passed, refused, skipped = (verdicts.count(v) for v in ("passed", "refused", "skipped"))
    failed = verdicts.count("failed") + (0 if arguments.allow_refusals else refused)
    if refused or skipped:
        print(f"{refused} were refused by Apus; {skipped} were skipped")
    print(f"each in {len(ways)} ways: " + "; ".join(name for name, _ in ways))
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
