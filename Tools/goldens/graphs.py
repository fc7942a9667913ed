#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Apus with the reference, and with itself in other ways of running, on random graphs.

Prints each graph that fails, shrunk to the smallest one that fails in the same way, and keeps it under
`.build/graph-failures/`. Can be stopped at any time: with the same seed and `--resume` it goes on where the ledger ends.
"""

import argparse
import collections
import json
import multiprocessing
import pathlib
import queue
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEDGER = pathlib.Path(__file__).resolve().parent / "graphs-ledger.jsonl"
# How many graphs a worker takes at a time.
PORTION = 25


def work(arguments, portions, results):
    """Judges the graphs of portion after portion; what fails is shrunk here, too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from random_graphs.worker import Worker

    worker = Worker(arguments)
    while (portion := portions.get()) is not None:
        for index in range(*portion):
            results.put((index, *worker.judge(index)))
        results.put(("done", portion))
    worker.close()
    results.put(("ended", None))


class Tally:
    """Counts results, and writes them down by stretches of the seed's graphs."""

    def __init__(self, arguments, commit):
        self.counts = collections.Counter()
        self.by_kind = collections.Counter()
        self.rejections = collections.Counter()
        self.failures = collections.Counter()
        self._arguments = arguments
        self._commit = commit
        self._pending = collections.Counter()
        self._first = self._next = arguments.first
        self._finished = set()
        self._by_portion = {}

    def add(self, index, kind, result, reason, key):
        self.counts[result] += 1
        self.by_kind[kind, result] += 1
        if result == "rejected":
            self.rejections[reason] += 1
        if result == "failed":
            self.failures[key] += 1
        portion = (index - self._arguments.first) // PORTION
        self._by_portion.setdefault(portion, collections.Counter())[result] += 1

    def finish(self, portion):
        """Notes that a portion is done; those that follow each other without a gap can be written down."""
        self._finished.add(portion[0])
        while self._next in self._finished:
            self._finished.remove(self._next)
            number = (self._next - self._arguments.first) // PORTION
            self._pending += self._by_portion.pop(number, collections.Counter())
            self._next = min(self._next + PORTION, self._arguments.first + self._arguments.count)
        if self._next - self._first >= 10_000:
            self.write()

    def write(self):
        if self._arguments.ledger is None or self._next == self._first:
            return
        from random_graphs.generator import VERSION

        entry = {
            "generator": VERSION, "seed": self._arguments.seed, "graphs": [self._first, self._next],
            "kinds": self._arguments.kinds or "all", "commit": self._commit,
            **{result: self._pending[result] for result in ("passed", "sensitive", "failed", "rejected", "undrawn")},
        }
        with open(self._arguments.ledger, "a") as file:
            file.write(json.dumps(entry) + "\n")
        self._first, self._pending = self._next, collections.Counter()


def resumed(arguments):
    """The first graph of the seed that the ledger does not have yet."""
    from random_graphs.generator import VERSION

    end = arguments.first
    if arguments.ledger and arguments.ledger.is_file():
        for line in arguments.ledger.read_text().splitlines():
            entry = json.loads(line)
            same = (entry["generator"], entry["seed"], entry["kinds"]) == (VERSION, arguments.seed, arguments.kinds or "all")
            if same and entry["graphs"][0] <= end:
                end = max(end, entry["graphs"][1])
    return end


def commit_of():
    """The commit that is checked out, with a plus sign where the sources differ from it."""
    def git(*words):
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True).stdout.strip()

    return git("rev-parse", "--short=9", "HEAD") + ("+" if git("status", "--porcelain", "--", "Sources") else "")


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--apus-probe", type=pathlib.Path, help="the executable GraphProbe")
    parser.add_argument("--count", type=int, default=1000, help="how many graphs")
    parser.add_argument("--seed", type=int, help="which graphs; a new one by default, which is printed")
    parser.add_argument("--first", type=int, default=0, help="the number of the first graph of the seed")
    parser.add_argument("--resume", action="store_true", help="begin after what the ledger has of the seed")
    parser.add_argument("--kinds", default="", help="a list with commas; all by default")
    parser.add_argument("--kernels", default="", help="kernel sets, the one to begin with first; all by default")
    parser.add_argument("--every-way", action="store_true", help="run each graph in each way, with each kernel set")
    parser.add_argument("--minutes", type=float, help="stop after so many")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-shrinking", action="store_true", help="only say which graphs fail")
    parser.add_argument("--list", action="store_true", help="print the graphs instead of running them")
    parser.add_argument("--ledger", type=pathlib.Path, help=f"where to write down what was run, such as {LEDGER.name}")
    parser.add_argument("--failures", type=pathlib.Path, default=ROOT / ".build/graph-failures")
    parser.add_argument(
        "--keep", nargs=2, metavar=("FOLDER", "NAME"), help="add a graph that failed to the goldens, and do nothing else")
    arguments = parser.parse_args()
    if arguments.keep:
        return arguments
    if arguments.apus_probe is None:
        parser.error("--apus-probe is missing")
    if not arguments.apus_probe.is_file():
        parser.error(f"no executable {arguments.apus_probe}")
    from random_graphs.generator import KINDS

    unknown = [kind for kind in arguments.kinds.split(",") if kind and kind not in KINDS]
    if unknown:
        parser.error(f"no kind {', '.join(unknown)}, only {', '.join(KINDS)}")
    if arguments.seed is None:
        arguments.seed = time.time_ns() // 1000 % 10**9
    return arguments


def main():
    arguments = parsed()
    if arguments.keep:
        from random_graphs.keeping import keep

        return keep(pathlib.Path(arguments.keep[0]), arguments.keep[1])
    if arguments.resume:
        first = resumed(arguments)
        arguments.count -= first - arguments.first
        arguments.first = first
    if arguments.list:
        from random_graphs.worker import show

        return show(arguments)
    print(f"seed {arguments.seed}, graphs {arguments.first} to {arguments.first + arguments.count - 1}", flush=True)
    context = multiprocessing.get_context("spawn")
    portions, results = context.Queue(), context.Queue()
    end = arguments.first + arguments.count
    for first in range(arguments.first, end, PORTION):
        portions.put((first, min(first + PORTION, end)))
    for _ in range(arguments.jobs):
        portions.put(None)
    workers = [context.Process(target=work, args=(arguments, portions, results)) for _ in range(arguments.jobs)]
    for worker in workers:
        worker.start()
    tally = Tally(arguments, commit_of())
    start = last = time.monotonic()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    running = len(workers)
    try:
        while running:
            try:
                index, *rest = results.get(timeout=5)
            except queue.Empty:
                if not any(worker.is_alive() for worker in workers):
                    print("the workers have died")
                    break
                continue
            if index == "ended":
                running -= 1
            elif index == "done":
                tally.finish(rest[0])
            else:
                kind, result, reason, key, report = rest
                tally.add(index, kind, result, reason, key)
                if report:
                    print(report, flush=True)
            now = time.monotonic()
            if now - last > 15:
                last = now
                progress(tally, now - start)
            if arguments.minutes and now - start > 60 * arguments.minutes:
                break
    except KeyboardInterrupt:
        print("stopped")
    seconds = time.monotonic() - start
    for worker in workers:
        worker.terminate()
    tally.write()
    summary(tally, seconds)
    # What is left in the queues is of no use.
    portions.cancel_join_thread()
    sys.exit(1 if tally.counts["failed"] or tally.counts["undrawn"] or not tally.counts["passed"] else 0)


def progress(tally, seconds):
    count = sum(tally.counts.values())
    print(f"{count} graphs, {count / seconds:.0f} a second, {tally.counts['failed']} failed", flush=True)


def summary(tally, seconds):
    for reason, count in tally.rejections.most_common(12):
        print(f"{count} x rejected by the reference: {reason[:160]}")
    for key, count in tally.failures.most_common():
        print(f"{count} x FAILED {key}")
    kinds = sorted({kind for kind, _ in tally.by_kind})
    print("  ".join(f"{kind} {sum(c for (k, _), c in tally.by_kind.items() if k == kind)}" for kind in kinds))
    count = sum(tally.counts.values())
    print(
        f"{count} graphs in {seconds:.0f} seconds, {count / max(seconds, 1e-9):.0f} a second; of those that passed, "
        f"{tally.counts['sensitive']} where a millionth more moves the reference as much; {tally.counts['rejected']} rejected")
    if tally.counts["undrawn"]:
        print(f"{tally.counts['undrawn']} not drawn: a mistake of the generator's")
    print(f"{tally.counts['passed'] + tally.counts['sensitive']} passed, {tally.counts['failed']} failed")


if __name__ == "__main__":
    main()
