#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a file of `--trace`: Tools/check_trace.py FILE

It must be JSON of Chrome's trace event format with complete events alone, whose events nest in each thread. Prints how
many events there are of each category; the status is 1 at the first mistake.
"""

import collections
import json
import sys
from decimal import Decimal


def check(document):
    """The number of events of each category; raises ValueError for what readers do not take."""
    counts = collections.Counter()
    threads = collections.defaultdict(list)
    for position, event in enumerate(document["traceEvents"]):
        place = f"event {position}"
        if event["ph"] == "M":
            if event["name"] not in ("thread_name", "thread_sort_index") or "args" not in event:
                raise ValueError(f"{place}: metadata of an unknown kind")
            continue
        if event["ph"] != "X":
            raise ValueError(f"{place}: the phase is {event['ph']}, not X")
        for name in ("ts", "dur", "pid", "tid"):
            if not isinstance(event[name], (int, Decimal)):
                raise ValueError(f"{place}: {name} is no number")
        if event["dur"] < 0 or event["ts"] < 0 or not event["name"]:
            raise ValueError(f"{place}: {event}")
        counts[event["cat"]] += 1
        threads[event["pid"], event["tid"]].append((event["ts"], -event["dur"], position, event["name"]))
    for thread, events in threads.items():
        # Outer events come first: readers take the order of the file where times are equal.
        if [event[:2] for event in events] != sorted(event[:2] for event in events):
            raise ValueError(f"thread {thread}: events are out of order")
        open_ends = []
        for start, negative, position, name in events:
            end = start - negative
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            if open_ends and end > open_ends[-1]:
                raise ValueError(f"event {position}, {name}, ends after the one that it lies in")
            open_ends.append(end)
    return counts, len(threads), document["otherData"]["lost_events"]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file, parse_float=Decimal)
    try:
        counts, threads, lost = check(document)
    except (ValueError, KeyError) as error:
        sys.exit(f"error: {error!r}")
    print(f"{threads} threads, " + ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) + f", {lost} lost")


if __name__ == "__main__":
    main()
