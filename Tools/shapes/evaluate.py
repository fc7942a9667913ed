# SPDX-License-Identifier: Apache-2.0
"""Measures mAP@0.5 of the finished `.tflite` on fresh pictures, run by LiteRT's reference kernels.

    python evaluate.py --model work/shapes.tflite --seed 2026 --count 2000
"""

import argparse
import pathlib
import time

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

from measure import average_precisions, box_overlaps
from pictures import LABELS, example

KINDS = {"reference": OpResolverType.BUILTIN_REF, "optimized": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES}


class Detector:
    """A detector in a `.tflite` file: uint8 RGB of the network's size in, (boxes, kinds, scores) out."""

    def __init__(self, model, kernels="reference"):
        self.interpreter = Interpreter(
            model_content=bytes(model), num_threads=1, experimental_op_resolver_type=KINDS[kernels])
        self.interpreter.allocate_tensors()
        self.input = self.interpreter.get_input_details()[0]["index"]
        self.outputs = [detail["index"] for detail in self.interpreter.get_output_details()]

    def __call__(self, picture):
        self.interpreter.set_tensor(self.input, picture[None])
        self.interpreter.invoke()
        boxes, kinds, scores, count = (self.interpreter.get_tensor(i)[0] for i in self.outputs)
        count = int(count)
        return boxes[:count], kinds[:count].astype(int), scores[:count]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--kernels", choices=list(KINDS), default="reference")
    arguments = parser.parse_args()
    detect = Detector(arguments.model.read_bytes(), arguments.kernels)
    found, truth, seconds = [], [], 0.0
    for index in range(arguments.count):
        picture, boxes, kinds = example(arguments.seed, index)
        start = time.perf_counter()
        found.append(detect(picture))
        seconds += time.perf_counter() - start
        truth.append((boxes, kinds))
    result = average_precisions(found, truth, len(LABELS))
    for kind, (name, value) in enumerate(zip(LABELS, result)):
        print(f"{name:10} AP@0.5 {value:.4f}  ({sum(int((t[1] == kind).sum()) for t in truth)} shapes)")
    print(f"{'all':10} mAP@0.5 {np.mean(result):.4f}  ({arguments.count} pictures of seed {arguments.seed})")

    # What a caller who keeps scores of at least 0.5 sees.
    hits = kept = shapes = 0
    for (boxes, kinds, scores), (true_boxes, true_kinds) in zip(found, truth):
        taken = np.zeros(len(true_boxes), bool)
        shapes += len(true_boxes)
        for box, kind in zip(boxes[scores >= 0.5], kinds[scores >= 0.5]):
            kept += 1
            overlap = np.where((true_kinds == kind) & ~taken, box_overlaps(box, true_boxes), 0)
            if len(overlap) and overlap.max() >= 0.5:
                taken[overlap.argmax()] = True
                hits += 1
    print(f"at score 0.5: precision {hits / max(kept, 1):.4f}, recall {hits / max(shapes, 1):.4f}")
    print(f"{1000 * seconds / arguments.count:.2f} ms a picture ({arguments.kernels} kernels, one thread)")


if __name__ == "__main__":
    main()
