# SPDX-License-Identifier: Apache-2.0
"""One worker of the driver: draws graphs, has them judged, and shrinks those that fail."""

import collections
import json
import traceback

import numpy as np

from archive import Golden
from random_graphs.answers import GraphReference
from random_graphs.engine import Engine
from random_graphs.generator import Generator
from random_graphs.judging import Judge
from random_graphs.listing import listing
from random_graphs.shrinking import Shrinker
from random_graphs.writer import write

# Of failures that are alike, this many are shrunk.
SHRUNK = 4


class Worker:
    def __init__(self, arguments):
        self._arguments = arguments
        self._generator = Generator()
        self._reference = GraphReference()
        self._engine = Engine(arguments.apus_probe.resolve())
        supported = self._engine.kernel_sets()
        kernels = [name for name in arguments.kernels.split(",") if name] or supported
        self._judge = Judge(self._reference, self._engine, kernels)
        self._kinds = [kind for kind in arguments.kinds.split(",") if kind] or None
        self._alike = collections.Counter()

    def judge(self, index):
        """The kind of a graph, what came of it, why, what such failures have in common, and a report for people."""
        try:
            graph = self._generator.draw(self._arguments.seed, index, self._kinds)
        except Exception:
            # A mistake of the generator's.
            return "", "undrawn", "", "", f"NOT DRAWN graph {index}: {traceback.format_exc()}"
        ways = self._judge.every_way() if self._arguments.every_way else self._judge.ways_of(index)
        verdict = self._judge.judge(graph, ways)
        if verdict.result != "failed":
            return graph.kind, verdict.result, verdict.reason, verdict.key, None
        report = f"FAILED seed {self._arguments.seed} graph {index} ({graph.kind}): {verdict.reason}"
        self._alike[verdict.key] += 1
        if not self._arguments.no_shrinking and self._alike[verdict.key] <= SHRUNK:
            report += "\n" + self._shrunk(graph, index, verdict, ways)
        return graph.kind, verdict.result, verdict.reason, verdict.key, report

    def _shrunk(self, graph, index, verdict, ways):
        def fails(smaller):
            # What threads do is not the same each time.
            for _ in range(3 if "same time" in verdict.key or "cancel" in verdict.key else 1):
                found = self._judge.judge(smaller, ways)
                if found.result == "failed" and found.key == verdict.key:
                    return True
            return False

        small = Shrinker(self._reference, fails).shrink(graph)
        last = self._judge.judge(small, ways)
        folder = self._arguments.failures / f"{self._arguments.seed}_{index}"
        text = f"{listing(small)}\n{last.reason or verdict.reason}\nwith {ways[0]}, {ways[1]}, threads {ways[2]}"
        golden = Golden(folder.name, write(small)[0], small.sets()[0], last.outputs[0] if last.outputs else [])
        golden.save(folder)
        for number, values in enumerate(small.sets()[1:], 1):
            for position, array in enumerate(values):
                np.save(folder / f"set_{number}_input_{position}.npy", array)
        (folder / "listing.txt").write_text(text + "\n")
        (folder / "facts.json").write_text(json.dumps({"is_mixed": small.is_mixed, "has_state": small.has_state}))
        (folder / "whole.tflite").write_bytes(write(graph)[0])
        return f"{text}\nkept in {folder}"

    def close(self):
        self._judge.close()
        self._reference.close()
        self._engine.close()


def show(arguments):
    """Prints graphs of a seed."""
    generator = Generator()
    kinds = [kind for kind in arguments.kinds.split(",") if kind] or None
    for index in range(arguments.first, arguments.first + arguments.count):
        graph = generator.draw(arguments.seed, index, kinds)
        print(f"graph {index} ({graph.kind}):\n{listing(graph)}\n")
