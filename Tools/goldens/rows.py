#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries to refute the proof that rows of a batch are independent, on random graphs and numbers of all magnitudes.

Where the engine says that rows of different callers can share a run, each row must have the bytes that it has alone. Prints each
refutation, and of how many graphs there is a proof. The first dimension of all inputs is taken for a batch.
"""

import argparse
import collections
import pathlib
import re
import sys

from random_graphs.engine import Died, Engine, Refused
from random_graphs.generator import KINDS, Generator
from random_graphs.writer import write


def models(arguments):
    """Files, or random graphs, with names and inputs."""
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter

    for path in arguments.models:
        contents = path.read_bytes()
        inputs = Interpreter(model_content=contents).get_input_details()
        yield "files", path.name, contents, [[np.zeros(entry["shape"], np.uint8) for entry in inputs]]
    if arguments.models:
        return
    generator = Generator()
    kinds = [kind for kind in arguments.kinds.split(",") if kind] or None
    for index in range(arguments.first, arguments.first + arguments.count):
        try:
            graph = generator.draw(arguments.seed, index, kinds)
        except Exception:
            continue
        yield graph.kind, f"seed {arguments.seed} graph {index} ({graph.kind})", write(graph)[0], graph.sets()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", type=pathlib.Path, help="model files instead of random graphs")
    parser.add_argument("--apus-probe", type=pathlib.Path, required=True, help="the executable GraphProbe")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kinds", default="", help=f"a list with commas of {', '.join(KINDS)}; all by default")
    parser.add_argument("--kernels", default="", help="kernel sets; all by default")
    parser.add_argument("--reasons", type=int, default=8, help="how many of the most frequent reasons to print")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for models that refute the proof")
    arguments = parser.parse_args()
    engine = Engine(arguments.apus_probe.resolve(), timeout=300)
    kernels = [name for name in arguments.kernels.split(",") if name] or engine.kernel_sets()
    counts, reasons, bad = collections.Counter(), collections.Counter(), 0
    for kind, name, model, sets in models(arguments):
        try:
            results = engine.rows(model, sets, kernels)
        except Refused as error:
            results = {"": f"cannot be prepared: {error}"}
        except Died as error:
            results = {"": f"refuted: {error}"}
        for kernel, text in results.items():
            word = text.split(":")[0] if text.startswith(("refuted", "cannot be prepared")) else "proved" if text == "proved" else "not"
            counts[kind, word] += 1
            if word == "not":
                reasons[re.sub(r"#\d+", "#", text.split(", ")[1] if ", " in text else text)] += 1
            if word == "refuted":
                bad += 1
                print(f"REFUTED {name} with {kernel}: {text}", flush=True)
                if arguments.keep:
                    arguments.keep.mkdir(parents=True, exist_ok=True)
                    (arguments.keep / f"{arguments.seed}_{bad}.tflite").write_bytes(model)
            if arguments.models:
                print(f"{name} with {kernel}: {text}", flush=True)
    engine.close()
    for kind in sorted({kind for kind, _ in counts}):
        words = ("proved", "not", "cannot be prepared", "refuted")
        print(f"{kind}: " + ", ".join(f"{counts[kind, word]} {word}" for word in words))
    for reason, count in reasons.most_common(arguments.reasons):
        print(f"{count} x {reason}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
