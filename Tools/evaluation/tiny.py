#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the models of MLPerf Tiny with LiteRT, beside what Scripts/accuracy.sh measures with Apus.

    Tools/evaluation/tiny.py SETS MODELS

SETS has ic01, vww01, kws01 and ad01 as Scripts/accuracy.sh describes them, MODELS the .tflite files. Prints a line for each model:
LiteRT's default kernels, then its reference kernels.
"""
import argparse
import csv
import pathlib

import numpy as np
from sklearn.metrics import roc_auc_score

from peers import Peer

TASKS = [("ic01", "pretrainedResnet_quant", np.uint8), ("ic01", "pretrainedResnet_large_int8", np.uint8),
         ("vww01", "vww_96_int8", np.uint8), ("kws01", "kws_ref_model", np.int8), ("ad01", "ad01_int8", np.float32)]


def files(folder):
    with open(folder / "y_labels.csv", newline="") as lines:
        for row in csv.reader(lines):
            yield folder / row[0], [int(value) for value in row[1:]]


def top1(peer, folder, dtype):
    right = total = 0
    for path, (_, truth, *_) in files(folder):
        values = np.fromfile(path, dtype)
        if dtype == np.uint8:
            values = (values.astype(np.int16) - 128).astype(np.int8)
        right += int(peer.run(values)[0].ravel().argmax() == truth)
        total += 1
    return f"{right}/{total} = {100 * right / total:.1f} %"


def area(peer, folder):
    scores, truths = [], []
    for path, (_, truth, width, stride) in files(folder):
        values = np.fromfile(path, np.float32)
        errors = []
        for start in range(0, len(values) - width // 4 + 1, stride // 4):
            window = values[start:start + width // 4]
            errors.append(np.mean(np.square(window.astype(np.float64) - peer.reals(0, peer.run(window)[0]).ravel())))
        scores.append(np.mean(errors))
        truths.append(truth)
    return f"{roc_auc_score(truths, scores):.6f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=pathlib.Path)
    parser.add_argument("models", type=pathlib.Path)
    arguments = parser.parse_args()
    for name, model, dtype in TASKS:
        found = [path for path in (arguments.models / f"{model}.tflite", arguments.models / f"mlperftiny_{model}.tflite") if path.exists()]
        folder = arguments.sets / name
        if not found or not (folder / "y_labels.csv").exists():
            print(f"{name} {model}: missing")
            continue
        answers = [area(peer, folder) if name == "ad01" else top1(peer, folder, dtype)
                   for peer in (Peer(found[0], reference=False), Peer(found[0]))]
        print(f"{name} {model}: default {answers[0]}, reference {answers[1]}", flush=True)


if __name__ == "__main__":
    main()
