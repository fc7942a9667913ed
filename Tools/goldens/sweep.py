#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Apus with the reference on fresh random one-operator models."""

import argparse
import collections
import pathlib
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import operators  # noqa: F401  (fills the catalogue)
from apus import Apus, Failed
from archive import materialize, npy_bytes
from catalogue import OPERATORS
from comparison import difference, limits
from reference import ReferencePair, Rejected


class Sweep:
    """Runs cases of one operator and type after another, and keeps those that fail."""

    def __init__(self, apus, seed, limit, folder):
        self._apus = apus
        self._options = {"seed": seed, "limit": limit}
        self._folder = folder
        # To start the reference takes longer than a hundred cases: each thread keeps its own.
        self._thread = threading.local()

    def run(self, operator, type_name, count):
        """Tries `count` cases; returns how many passed, failed and were rejected by the reference."""
        tally = collections.Counter()
        references = self._references()
        for index in range(count):
            try:
                golden = materialize(operator, type_name, index, references, **self._options)
            except Rejected as rejection:
                tally["rejected"] += 1
                tally[f"rejected: {str(rejection).strip().splitlines()[0]}"] += 1
                continue
            problem = self._problem(operator, golden)
            tally["failed" if problem else "passed"] += 1
            if problem:
                print(f"FAILED {operator.name} {golden.name}: {problem}", flush=True)
        return tally

    def _references(self):
        if not hasattr(self._thread, "references"):
            self._thread.references = ReferencePair()
        return self._thread.references

    def _problem(self, operator, golden):
        folder = self._folder / operator.name / golden.name
        try:
            outputs = self._apus.run(golden.model, golden.inputs)
        except Failed as failure:
            golden.save(folder)
            return str(failure)
        problem = _first_difference(golden.outputs, outputs)
        if problem and operator.keeps_state:
            reference = self._references().first
            allowed = limits(lambda moved: reference.run(golden.model, moved), golden.inputs, golden.outputs)
            problem = _first_difference(golden.outputs, outputs, allowed)
        if problem:
            golden.save(folder)
            for index, output in enumerate(outputs):
                (folder / f"apus_output_{index}.npy").write_bytes(npy_bytes(output))
        return problem


def _first_difference(expected, actual, allowed=None):
    if len(expected) != len(actual):
        return f"{len(actual)} outputs instead of {len(expected)}"
    for index, pair in enumerate(zip(expected, actual)):
        problem = difference(*pair, *([allowed[index]] if allowed else []))
        if problem:
            return f"output {index}: {problem}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--apus", type=pathlib.Path, required=True, help="the executable")
    parser.add_argument("--count", type=int, default=20, help="cases for each operator and type")
    parser.add_argument("--seed", type=int, default=1, help="0 gives the cases of the goldens")
    parser.add_argument("--operators", default="", help="a list with commas; all by default")
    parser.add_argument("--types", default="", help="a list with commas; all by default")
    parser.add_argument("--limit", type=int, default=300, help="the elements of a typical tensor, at most")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--kernels")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--failures", type=pathlib.Path, default=pathlib.Path(".build/sweep-failures"))
    arguments = parser.parse_args()

    names = [name for name in arguments.operators.split(",") if name] or sorted(OPERATORS)
    types = {name for name in arguments.types.split(",") if name}
    unknown = [name for name in names if name not in OPERATORS]
    if unknown:
        parser.error(f"no random cases for {', '.join(unknown)}")
    if not arguments.apus.is_file():
        parser.error(f"no executable {arguments.apus}")
    work = [(OPERATORS[n], t) for n in names for t in OPERATORS[n].types if not types or t in types]

    apus = Apus(arguments.apus, arguments.threads, arguments.kernels)
    sweep = Sweep(apus, arguments.seed, arguments.limit, arguments.failures)
    total = collections.Counter()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        tallies = pool.map(lambda item: sweep.run(*item, arguments.count), work)
        for (operator, type_name), tally in zip(work, tallies):
            total += tally
            print(
                f"{operator.name} {type_name}: {tally['passed']} passed, {tally['failed']} failed, "
                f"{tally['rejected']} rejected by the reference",
                flush=True,
            )
    for reason, count in total.items():
        if reason.startswith("rejected: "):
            print(f"{count} x {reason}")
    print(f"{total['passed']} passed, {total['failed']} failed")
    sys.exit(1 if total["failed"] or not total["passed"] else 0)


if __name__ == "__main__":
    main()
