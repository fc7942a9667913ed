#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws command lines from the commands' own description, runs them on small files of all kinds, and checks what they answer.

Prints each command that breaks a property, made as short as it can be, and keeps it with its files under `.build/command-failures/`:
`APUS=… sh command.sh` runs it again.
"""

import argparse
import collections
import multiprocessing
import pathlib
import queue
import signal
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in ("goldens", "vision"):
    sys.path.insert(0, str(ROOT / "Tools" / folder))


def work(arguments, portions, results):
    """Judges the commands of portion after portion."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    import resource

    from random_commands.running import ADDRESS_SPACE
    from random_commands.worker import Worker

    # Commands inherit it: memory that a file asks for must not be the machine's.
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    worker = Worker(arguments)
    try:
        while (portion := portions.get()) is not None:
            before = worker.runs
            for index in range(*portion):
                results.put((index, *worker.judge(index)))
            results.put(("runs", worker.runs - before))
    finally:
        worker.close()
        results.put(("ended", None))


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--apus", type=pathlib.Path, required=True, help="the executable")
    parser.add_argument("--count", type=int, default=1000, help="how many commands")
    parser.add_argument("--seed", type=int, help="which commands; a new one by default, which is printed")
    parser.add_argument("--first", type=int, default=0, help="the number of the first command of the seed")
    parser.add_argument("--commands", default="", help="a list with commas, such as detect,gallery find; all by default")
    parser.add_argument("--minutes", type=float, help="stop after so many")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--failures", type=pathlib.Path, default=ROOT / ".build/command-failures")
    arguments = parser.parse_args()
    if not arguments.apus.is_file():
        parser.error(f"no executable {arguments.apus}")
    arguments.apus = str(arguments.apus.resolve())
    if arguments.seed is None:
        arguments.seed = time.time_ns() // 1000 % 10**9
    return arguments


def portions_of(arguments):
    """Ranges of commands that share a world."""
    from random_commands.worker import PORTION

    first, end = arguments.first, arguments.first + arguments.count
    while first < end:
        last = min((first // PORTION + 1) * PORTION, end)
        yield first, last
        first = last


def main():
    arguments = parsed()
    from random_commands.worker import help_findings

    print(f"seed {arguments.seed}, commands {arguments.first} to {arguments.first + arguments.count - 1}", flush=True)
    findings, names, statuses, runs = collections.Counter(), collections.Counter(), collections.Counter(), 0
    for key, report in help_findings(arguments.apus):
        findings[key] += 1
        print(report, flush=True)
    context = multiprocessing.get_context("spawn")
    portions, results = context.Queue(), context.Queue()
    for portion in portions_of(arguments):
        portions.put(portion)
    for _ in range(arguments.jobs):
        portions.put(None)
    workers = [context.Process(target=work, args=(arguments, portions, results)) for _ in range(arguments.jobs)]
    for worker in workers:
        worker.start()
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
                    findings["the workers have died"] += 1
                    break
                continue
            if index == "ended":
                running -= 1
            elif index == "runs":
                runs += rest[0]
            else:
                name, status, key, report = rest
                names[name] += 1
                statuses[status] += 1
                if key:
                    findings[key] += 1
                if report:
                    print(report, flush=True)
            now = time.monotonic()
            if now - last > 30:
                last = now
                print(f"{sum(names.values())} commands, {sum(names.values()) / (now - start):.0f} a second, "
                      f"{sum(findings.values())} failed", flush=True)
            if arguments.minutes and now - start > 60 * arguments.minutes:
                break
    except KeyboardInterrupt:
        print("stopped")
    seconds = time.monotonic() - start
    for worker in workers:
        worker.terminate()
    portions.cancel_join_thread()
    for key, count in findings.most_common():
        print(f"{count} x FAILED {key}")
    print("  ".join(f"{name} {count}" for name, count in sorted(names.items())))
    print("  ".join(f"status {status}: {count}" for status, count in sorted(statuses.items(), key=lambda entry: str(entry[0]))))
    count = sum(names.values())
    print(f"{count} commands in {seconds:.0f} seconds, {count / max(seconds, 1e-9):.0f} a second; {runs} runs with those for comparison")
    print(f"{count - sum(findings.values())} passed, {sum(findings.values())} failed")
    sys.exit(1 if findings or not count else 0)


if __name__ == "__main__":
    main()
