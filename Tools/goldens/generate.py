#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes `Tests/Goldens/<OPERATOR>.zip` for the given operators, or for all."""

import argparse
import collections
import pathlib
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import operators  # noqa: F401  (fills the catalogue)
from archive import materialize, write_archive
from catalogue import OPERATORS
from comparison import TOLERANCE, limits
from reference import ReferencePair, Rejected

_thread = threading.local()
GOLDENS = pathlib.Path(__file__).resolve().parents[2] / "Tests" / "Goldens"


def goldens(operator, type_name, references, reasons):
    """The first cases that the reference answers, among at most three times as many."""
    found = []
    wanted = operator.goldens(type_name)
    for index in range(3 * wanted):
        try:
            golden = materialize(operator, type_name, index, references)
            if operator.keeps_state:
                _check_movement(golden, references.first)
            found.append(golden)
        except Rejected as rejection:
            reasons[(type_name, str(rejection).strip().splitlines()[0])] += 1
        if len(found) == wanted:
            break
    return found


def _check_movement(golden, reference):
    """Rejects a case whose answer the reference itself does not know to the tolerance that goldens are held to."""
    most = max(limits(lambda moved: reference.run(golden.model, moved), golden.inputs, golden.outputs))
    if most > TOLERANCE:
        raise Rejected("the answer moves by more than half of the tolerance when inputs move by a millionth")


def _references():
    """Those of this thread: to start them takes longer than an operator's cases."""
    if not hasattr(_thread, "references"):
        _thread.references = ReferencePair()
    return _thread.references


def generate(operator, folder):
    """Writes one archive; returns lines that tell what is in it and what was rejected."""
    references = _references()
    reasons = collections.Counter()
    counts = {}
    found = []
    for type_name in operator.types:
        cases = goldens(operator, type_name, references, reasons)
        counts[type_name] = len(cases)
        found += cases
    path = folder / f"{operator.name}.zip"
    write_archive(path, found)
    by_type = ", ".join(f"{count} {name}" for name, count in counts.items())
    lines = [f"{operator.name}: {by_type}; {path.stat().st_size:,} bytes; {reasons.total()} rejected"]
    lines += [f"  {count} x {name}: {reason}" for (name, reason), count in reasons.most_common()]
    short = [name for name, count in counts.items() if count < operator.goldens(name)]
    return lines, [f"{operator.name} {name}" for name in short]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("operator", nargs="*", help="as in the schema; all by default")
    parser.add_argument("--output", type=pathlib.Path, default=GOLDENS)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    unknown = [name for name in arguments.operator if name not in OPERATORS]
    if unknown:
        parser.error(f"no random cases for {', '.join(unknown)}")
    chosen = [OPERATORS[name] for name in arguments.operator or sorted(OPERATORS)]
    arguments.output.mkdir(parents=True, exist_ok=True)
    incomplete = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for lines, short in pool.map(lambda operator: generate(operator, arguments.output), chosen):
            print("\n".join(lines), flush=True)
            incomplete += short
    if incomplete:
        sys.exit("too few cases: " + ", ".join(incomplete))


if __name__ == "__main__":
    main()
