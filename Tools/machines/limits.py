#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every operator at large legal shapes under a limit of time and one of memory, and measures by how much either is exceeded.

Late is the processor time of a preparation or a run behind its deadline, which hardly depends on what else the machine does. More than
the memory limit is growth of resident memory beyond it. What exceeds an allowance is tried again, and reported if it does so again. With
`--deadlines`, each case also has limits that end its preparation and its run at several moments.
Prints a table; the exit status is 1 if there is a finding.
"""

import argparse
import pathlib
import random
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "goldens")]

from limit_cases import cases  # noqa: E402
from random_graphs.engine import Died, Engine, Refused  # noqa: E402

# What a phase may be late by: this part of the limit, and at least so many seconds.
LATE_PART, LATE_SECONDS = 0.2, 0.1
# What a process may take beyond the limit of memory: code, stacks, pieces of files, what the allocator keeps.
OVERHEAD = 48 << 20


class Measurement:
    """What a case took with a kernel set."""

    def __init__(self, phases):
        self.refusal = phases[0]["reason"] if len(phases) == 1 else ""
        self.wall = [phase["wall"] for phase in phases]
        self.late = max(phase["late"] for phase in phases)
        self.grown = max(phase["grown"] for phase in phases)
        self.reasons = [phase["reason"] for phase in phases if phase["reason"]]

    @property
    def is_timed(self):
        """Whether the time was up before the end."""
        return self.late > 0


class Trial:
    def __init__(self, arguments):
        self._probe = arguments.apus_probe.resolve()
        self.milliseconds = round(arguments.time_limit * 1000)
        self._threads = arguments.threads
        self.allowance = max(arguments.time_limit * LATE_PART, LATE_SECONDS)
        self._count = arguments.deadlines
        self._chooser = random.Random(arguments.seed)

    def measure(self, case, kernels, memory, milliseconds):
        """A case in a process of its own, so that its memory is its own."""
        engine = Engine(self._probe, timeout=90, graphs=1)
        try:
            return Measurement(engine.limits(
                case.model, case.inputs, kernels, (milliseconds, memory >> 10, self._threads, case.bound)))
        finally:
            engine.close()

    def findings(self, case, kernels, memory, milliseconds, measured):
        """What exceeds its allowance, each time that it is tried."""
        found = self._excesses(measured, memory)
        for _ in range(2):
            if found:
                found = [kind for kind in self._excesses(self.measure(case, kernels, memory, milliseconds), memory) if kind in found]
        return found

    def earlier(self, measured):
        """Limits of time that end the preparation, or the run that follows it, at moments all over it; in milliseconds."""
        prepared, ran = [*measured.wall, 0][:2]
        # What is left of a shorter one cannot be late.
        for first, last in ((0, prepared), (1.2 * prepared, ran)):
            if last - first > LATE_SECONDS:
                for part in range(self._count):
                    yield max(1, round(1000 * (first + (last - first) * (part + self._chooser.random()) / self._count)))

    def _excesses(self, measured, memory):
        return ["late"] * (measured.late > self.allowance) + ["memory"] * (measured.grown > memory + OVERHEAD)


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--apus-probe", type=pathlib.Path, required=True, help="the executable GraphProbe")
    parser.add_argument("--time-limit", type=float, default=0.25, help="seconds of each preparation and run")
    parser.add_argument("--deadlines", type=int, default=0, help="so many shorter limits within each preparation and each run as well")
    parser.add_argument("--memory-limit", type=int, default=1024, help="MiB")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--kernels", default="", help="a list with commas; all by default")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--grown", type=int, default=0, help="also so many cases of goldens with larger inputs, of each operator and type")
    parser.add_argument("--seed", type=int, default=1, help="which of those, and which deadlines")
    parser.add_argument("--part", default="", help="K/N: only each Nth case, beginning with the Kth (0 is the first)")
    parser.add_argument("--minutes", type=float, help="stop after so many")
    parser.add_argument("--all", action="store_true", help="print every line, not only findings and refusals")
    return parser.parse_args()


def main():
    arguments = parsed()
    trial = Trial(arguments)
    supported = Engine(arguments.apus_probe.resolve()).kernel_sets()
    sets = [name for name in arguments.kernels.split(",") if name] or supported
    first, step = map(int, arguments.part.split("/")) if arguments.part else (0, 1)
    counts = {"ended": 0, "stopped in time": 0, "refused": 0}
    findings = []
    start = time.monotonic()
    memory = arguments.memory_limit << 20
    print(f"{'':8} {'late':>6} {'prepare':>8} {'run':>8} {'memory':>9}  kernels         case")
    for case in cases(arguments)[first::step]:
        if arguments.minutes and time.monotonic() - start > 60 * arguments.minutes:
            print("stopped")
            break
        made = case()
        grown = 0
        for kernels in sets:
            measured = one(trial, made, kernels, memory, trial.milliseconds, counts, findings, arguments.all)
            if measured is None:
                continue
            grown = max(grown, measured.grown)
            for milliseconds in trial.earlier(measured):
                one(trial, made, kernels, memory, milliseconds, counts, findings, arguments.all)
        # A limit below what it takes: either nothing is taken, or what is counted is too little.
        if grown > 64 << 20 and made.tightens:
            one(trial, made, sets[0], grown * 6 // 10, trial.milliseconds, counts, findings, arguments.all)
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()), f"in {time.monotonic() - start:.0f} seconds")
    for finding in findings:
        print("FINDING", finding)
    sys.exit(1 if findings or not counts["stopped in time"] else 0)


def one(trial, case, kernels, memory, milliseconds, counts, findings, prints):
    """Tries a case with a kernel set and limits of memory and time; returns what it took, or None if the process died."""
    try:
        measured = trial.measure(case, kernels, memory, milliseconds)
        found = trial.findings(case, kernels, memory, milliseconds, measured)
    except (Died, Refused) as failure:
        findings.append(f"{failure}: {case.name}, {kernels}")
        print(f"{'DIED':8} {failure}  {kernels}  {case.name}", flush=True)
        return None
    state = "refused" if measured.refusal and not measured.is_timed else "stopped in time" if measured.is_timed else "ended"
    counts[state] += 1
    wall = [f"{seconds:8.3f}" for seconds in measured.wall] + ["        "]
    line = f"{measured.late:6.3f} {wall[0]} {wall[1]} {measured.grown >> 20:5} MiB  {kernels:15} {case.name}"
    if memory >> 20 != 1024:
        line += f", limit {memory >> 20} MiB"
    if milliseconds != trial.milliseconds:
        line += f", limit {milliseconds} ms"
    if found:
        findings.append(f"{' and '.join(found)}: {line}")
        print(f"{'FINDING':8} {line}", flush=True)
    elif state == "refused" and kernels:
        if prints:
            print(f"{'refused':8} {line}: {measured.refusal[:150]}", flush=True)
    elif prints:
        print(f"{'':8} {line}", flush=True)
    return measured


if __name__ == "__main__":
    main()
