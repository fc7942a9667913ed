#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes Tests/Goldens/evaluation.json: what pycocotools and scikit-learn say of generated truths and findings.

    .build/evaluation-python/bin/python Tools/evaluation/goldens.py

Made with the versions in requirements.txt.
"""
import base64
import contextlib
import io
import json
import pathlib

import numpy as np
from PIL import Image
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from sklearn.metrics import accuracy_score, jaccard_score, roc_auc_score

ROOT = pathlib.Path(__file__).resolve().parents[2]


def coco_stats(images, categories, truths, findings):
    """The twelve numbers, and the average precision of each category at all overlaps and at half; -1 for none."""
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {
            "images": [{"id": image} for image in images], "categories": [{"id": entry, "name": str(entry)} for entry in categories],
            "annotations": [{"image_id": row[0], "id": row[1], "category_id": row[2], "bbox": row[3:7], "area": row[7], "iscrowd": row[8]}
                            for row in truths]}
        truth.createIndex()
        results = COCO()
        results.dataset = {"images": truth.dataset["images"], "categories": truth.dataset["categories"], "annotations": [
            {"id": place + 1, "image_id": row[0], "category_id": row[1], "bbox": row[2:6], "area": row[4] * row[5], "score": row[6],
             "iscrowd": 0} for place, row in enumerate(findings)]}
        results.createIndex()
        evaluation = COCOeval(truth, results, "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    precision = evaluation.eval["precision"]
    mean = lambda values: float(values[values > -1].mean()) if (values > -1).any() else -1.0  # noqa: E731
    each = [[mean(precision[:, :, place, 0, 2]), mean(precision[0, :, place, 0, 2])] for place in range(len(categories))]
    return [float(value) for value in evaluation.stats], each


def scene(seed, images, categories, objects, extra, noise, levels=1000, crowds=0.05, first=1, sizes=(4, 300)):
    """Objects, and findings near them, some of other categories, some where nothing is."""
    random = np.random.default_rng(seed)
    truths, findings, number = [], [], first
    box = lambda: [round(float(value), 2) for value in (*random.uniform(0, 500, 2), *np.exp(random.uniform(*np.log(sizes), 2)))]  # noqa: E731
    for image in images:
        for _ in range(random.integers(objects + 1)):
            area = random.integers(3)
            place = box()
            # The area is the box's, the outline's, or exactly at a limit.
            truths.append([image, number, int(random.choice(categories)), *place,
                           [round(place[2] * place[3], 4), round(place[2] * place[3] * 0.6, 2), float(random.choice([1024, 9216]))][area],
                           int(random.random() < crowds)])
            number += 1
            for _ in range(random.integers(3)):
                near = [round(float(value), 2) for value in np.array(place) + random.normal(0, noise * max(place[2:]), 4)]
                category = truths[-1][2] if random.random() < 0.85 else int(random.choice(categories))
                findings.append([image, category, *near[:2], max(near[2], 0), max(near[3], 0), float(random.integers(levels + 1)) / levels])
        for _ in range(random.integers(extra + 1)):
            findings.append([image, int(random.choice(categories)), *box(), float(random.integers(levels + 1)) / levels])
    order = random.permutation(len(findings))
    return truths, [findings[place] for place in order]


def detections():
    perfect, _ = scene(8, range(3), [1, 2], 5, 0, 0, crowds=0)
    cases = [
        ("usual", range(1, 13), [1, 2, 3, 7], scene(1, range(1, 13), [1, 2, 3, 7], 6, 5, 0.05)),
        ("equal scores", [9, 4, 7, 1], [5, 2], scene(2, [9, 4, 7, 1], [5, 2], 8, 8, 0.08, levels=3)),
        ("crowds", range(6), [1, 2], scene(3, range(6), [1, 2], 6, 4, 0.1, crowds=0.5)),
        ("one category", range(4), [90], scene(4, range(4), [90], 3, 2, 0.02)),
        ("a category without objects", range(4), [1, 2, 3], scene(5, range(4), [1, 2], 4, 4, 0.05)),
        ("more than a hundred", [1, 2], [1], scene(6, [1, 2], [1], 40, 250, 0.1, levels=50)),
        ("an object of number 0", range(5), [1, 2], scene(7, range(5), [1, 2], 4, 2, 0.02, first=0)),
        ("all found exactly", range(3), [1, 2], (perfect, [[*row[:1], *row[2:7], 0.5] for row in perfect])),
        ("nothing found", range(3), [1], (scene(9, range(3), [1], 4, 0, 0)[0], [])),
        ("no objects", range(3), [1], ([], scene(10, range(3), [1], 2, 4, 0)[1])),
        ("only crowds", [1], [1], ([[1, 1, 1, 10, 10, 50, 50, 2500, 1]], [[1, 1, 12, 12, 20, 20, 0.9], [1, 1, 200, 200, 20, 20, 0.8]])),
        ("sizes of zero", [1], [1], ([[1, 1, 1, 10, 10, 0, 50, 0, 0], [1, 2, 1, 10, 10, 30, 30, 900, 0]],
                                     [[1, 1, 10, 10, 0, 50, 0.9], [1, 1, 10, 10, 30, 30, 0.8], [1, 1, 10, 10, 30, 0, 0.7]])),
        ("small objects", range(8), [1, 2], scene(11, range(8), [1, 2], 8, 3, 0.04, sizes=(2, 60))),
    ]
    for name, images, categories, (truths, findings) in cases:
        stats, each = coco_stats(list(images), categories, truths, findings)
        yield {"kind": "detection", "name": name, "images": list(images), "categories": categories, "objects": truths, "findings": findings,
               "stats": stats, "each": each}


def anomalies():
    random = np.random.default_rng(20)
    for name, scores, truths in [
            ("distinct", random.normal(size=60), random.integers(2, size=60)),
            ("ties", random.integers(5, size=80).astype(float), random.integers(2, size=80)),
            ("all equal", np.full(10, 0.25), [0, 1] * 5), ("perfect", np.arange(8.0), [0] * 4 + [1] * 4),
            ("reversed", np.arange(8.0), [1] * 3 + [0] * 5), ("huge and negative", [-1e300, 1e300, 0, -0.0, 5e-324], [0, 1, 0, 1, 0])]:
        yield {"kind": "anomaly", "name": name, "scores": [float(score) for score in scores], "labels": [int(truth) for truth in truths],
               "area": float(roc_auc_score(truths, scores))}


def masks():
    random = np.random.default_rng(30)
    for name, classes, count, ignored in [("five classes", 5, 400, 0.1), ("absent classes", 20, 60, 0.0), ("nothing ignored", 3, 100, 0.0),
                                          ("two classes", 2, 50, 0.3)]:
        truth = random.integers(classes if name != "absent classes" else 4, size=count)
        found = np.where(random.random(count) < 0.6, truth, random.integers(classes, size=count))
        truth = np.where(random.random(count) < ignored, 255, truth)
        kept = truth != 255
        present = sorted(set(truth[kept]) | set(found[kept]))
        each = jaccard_score(truth[kept], found[kept], labels=present, average=None)
        yield {"kind": "mask", "name": name, "classes": classes, "truth": truth.tolist(), "found": found.tolist(),
               "present": [int(index) for index in present], "overlaps": each.tolist(),
               "mean": float(jaccard_score(truth[kept], found[kept], labels=present, average="macro")),
               "accuracy": float(accuracy_score(truth[kept], found[kept]))}


def classes():
    random = np.random.default_rng(40)
    for name, count, levels in [("distinct", 10, 10**6), ("equal scores", 10, 4), ("few classes", 3, 5)]:
        scores = (random.integers(levels, size=(50, count)) / levels).astype(np.float32)
        truths = random.integers(count, size=50)
        # Of equal scores, the first class is the better one, as in argmax.
        order = np.argsort(-scores, axis=1, kind="stable")
        yield {"kind": "classes", "name": name, "rows": scores.tolist(), "labels": truths.tolist(),
               "top1": float(accuracy_score(truths, scores.argmax(axis=1))),
               "top5": float(np.mean([truth in row[:5] for truth, row in zip(truths, order)]))}


def pngs():
    """Masks as Pillow writes them, with the indices that it reads."""
    random = np.random.default_rng(50)
    for name, bits, width, height in [("palette, 1 bit", 1, 13, 5), ("palette, 2 bits", 2, 7, 3), ("palette, 4 bits", 4, 9, 6),
                                      ("palette, 8 bits", 8, 10, 4), ("gray, 8 bits", 8, 3, 11), ("gray, 16 bits", 16, 6, 5)]:
        pixels = random.integers(1 << bits, size=(height, width)).astype(np.uint16 if bits == 16 else np.uint8)
        file = io.BytesIO()
        if name.startswith("palette"):
            picture = Image.fromarray(pixels).convert("P")
            picture.putdata(pixels.ravel().tolist())
            picture.putpalette([int(value) for value in random.integers(256, size=3 << bits)])
            picture.save(file, "png", bits=bits, optimize=False)
        else:
            Image.fromarray(pixels).save(file, "png")
        read = np.array(Image.open(io.BytesIO(file.getvalue())))
        yield {"kind": "png", "name": name, "file": base64.b64encode(file.getvalue()).decode(), "size": [width, height],
               "truth": read.astype(int).ravel().tolist()}


def main():
    cases = [*detections(), *anomalies(), *masks(), *classes(), *pngs()]
    text = "[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]\n"
    (ROOT / "Tests/Goldens/evaluation.json").write_text(text)
    print(f"{len(cases)} cases, {len(text)} bytes")


if __name__ == "__main__":
    main()
