#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every elementwise operator of floats on numbers of all exponents, with each kernel set, and counts units in the last place.

A result is right within a few units of what NumPy computes with 64 bits, or of LiteRT's reference kernel. Units are those of the result,
down to the last subnormal number; infinities and NaN have to be the same. Prints a line for each operator and kernel set with wrong
results; the exit status is 1 if there is one.
"""

import argparse
import math
import pathlib
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "goldens")]

from function_cases import CASES  # noqa: E402
from random_graphs.answers import GraphReference  # noqa: E402
from random_graphs.engine import Died, Engine, Refused  # noqa: E402
from reference import Rejected  # noqa: E402

LEAST, GREATEST = 2.0**-149, 2.0**128


def units(expected):
    """The distance between floats around each number; of what rounds to infinity, that below it."""
    size = np.clip(np.abs(expected), 2.0**-126, 2.0**127)
    return 2.0 ** (np.floor(np.log2(size)) - 23)


def errors(expected, found, slack):
    """By how many units floats differ from numbers of 64 bits, beyond a slack; infinite where only one of them is NaN."""
    expected, found = np.asarray(expected, np.float64), np.asarray(found, np.float64)
    bounded = np.clip(expected, -GREATEST, GREATEST)
    # What rounds to infinity may be the greatest float.
    with np.errstate(invalid="ignore"):
        error = np.maximum(np.abs(np.clip(found, -GREATEST, GREATEST) - bounded) - np.where(np.isfinite(slack), slack, 0), 0) / units(bounded)
    # What is infinite, or the greatest float because it is clamped, is nothing else.
    strict = np.isinf(expected) | (np.abs(expected) == np.finfo(np.float32).max)
    error = np.where(strict & (np.isinf(expected) != np.isinf(found)), np.inf, error)
    nothing = np.isnan(expected)
    return np.where(nothing | np.isnan(found), np.where(nothing & np.isnan(found), 0.0, np.inf), error)


def numbers(seed, mantissas):
    """Numbers of every exponent and either sign, what lies around eighths and around multiples of a quarter turn, and what is no number."""
    chooser = np.random.default_rng(seed)
    bits = [np.array([0, 1, 0x400000, 0x7FFFFF], np.uint32) | np.uint32(exponent << 23) for exponent in range(255)]
    bits += [chooser.integers(0, 1 << 23, mantissas).astype(np.uint32) | np.uint32(exponent << 23) for exponent in range(255)]
    bits += [np.array([1 << shift for shift in range(23)], np.uint32)]
    positive = np.concatenate(bits).view(np.float32)
    eighths = np.arange(0, 1024, dtype=np.float32) / np.float32(8)
    turns = (np.arange(1, 512) * (math.pi / 2)).astype(np.float32)
    positive = np.concatenate([positive, eighths, np.nextafter(eighths, np.float32(np.inf)), np.nextafter(eighths, np.float32(-1)), turns])
    return np.concatenate([positive, -positive, np.array([np.inf, -np.inf, np.nan], np.float32)])


class Sweep:
    def __init__(self, arguments):
        self._engine = Engine(arguments.apus_probe.resolve(), timeout=120)
        self.kernels = [name for name in arguments.kernels.split(",") if name] or self._engine.kernel_sets()
        self._reference = GraphReference()
        self._chooser = np.random.default_rng(arguments.seed)
        self._values = numbers(arguments.seed, arguments.mantissas)
        self.wrong = 0
        self.count = 0

    def run(self, case):
        inputs = case.inputs(self._values, self._chooser)
        model = case.model([array.shape for array in inputs])
        with np.errstate(all="ignore"):
            exact = np.asarray(case.exact(*(array.astype(np.float64) for array in inputs)))
        try:
            answers = self._reference.run(model, [inputs], case.is_mixed)[0][0]
        except Rejected as rejection:
            print(f"{case.name}: no reference, {rejection}")
            answers = exact
        try:
            found = self._engine.run(model, [inputs], False, self.kernels, [], [])[0]
        except (Died, Refused) as failure:
            self.wrong += 1
            return print(f"WRONG {case.name}: {failure}", flush=True)
        for name in self.kernels:
            outcome = next(outcome for kernels, _, outcome in found if kernels == name)
            if isinstance(outcome, str):
                self.wrong += 1
                print(f"WRONG {case.name}, {name}: {outcome}", flush=True)
            else:
                self._judge(case, name, inputs, exact, answers, outcome[0])

    def _judge(self, case, kernels, inputs, exact, answers, found):
        with np.errstate(all="ignore"):
            slack = 0 if case.slack is None else case.slack(*(array.astype(np.float64) for array in inputs))
            tolerance = case.tolerance(exact) if callable(case.tolerance) else case.tolerance
            error = errors(exact, found, slack)
            if case.takes_reference:
                error = np.minimum(error, errors(answers, found, slack))
        self.count += found.size
        wrong = np.flatnonzero((error > tolerance).reshape(-1))
        if not wrong.size:
            return
        self.wrong += 1
        worst = wrong[np.argmax(error.reshape(-1)[wrong])]
        text = []
        for place in dict.fromkeys((int(wrong[0]), int(worst), int(wrong[-1]))):
            operands = [float(np.broadcast_to(array, found.shape).reshape(-1)[place]) if array.size != 1 else float(array) for array in inputs]
            text.append(f"at {', '.join(f'{value:.9g}' for value in operands)} is {found.reshape(-1)[place]:.9g}, "
                        f"not {float(exact.reshape(-1)[place]):.9g} ({answers.reshape(-1)[place]:.9g})")
        print(f"WRONG {case.name}, {kernels}: {wrong.size} of {found.size} by up to {error.reshape(-1)[worst]:.3g} units; {'; '.join(text)}",
              flush=True)

    def close(self):
        self._engine.close()
        self._reference.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--apus-probe", type=pathlib.Path, required=True, help="the executable GraphProbe")
    parser.add_argument("--kernels", default="", help="a list with commas; all by default")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--seed", type=int, default=1, help="which mantissas and pairs, besides those at the ends of each exponent")
    parser.add_argument("--mantissas", type=int, default=12, help="random mantissas of each exponent and sign")
    arguments = parser.parse_args()
    sweep = Sweep(arguments)
    start = time.monotonic()
    cases = [case for case in CASES if arguments.only in case.name]
    for case in cases:
        sweep.run(case)
    sweep.close()
    print(f"{len(cases)} cases, {', '.join(sweep.kernels)}: {sweep.count} results in {time.monotonic() - start:.0f} seconds, "
          f"{sweep.wrong} wrong lines")
    sys.exit(1 if sweep.wrong or not sweep.count else 0)


if __name__ == "__main__":
    main()
