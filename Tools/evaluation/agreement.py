#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares whole runs of `apus evaluate` with LiteRT's reference kernels, pycocotools and scikit-learn on sets made of a few pictures.

    Tools/evaluation/agreement.py APUS DATA

DATA has models/, images/ and labels/, as APUS_TEST_DATA does. Pictures have the sizes of the models' inputs, so that no resizing is compared.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image
from sklearn.metrics import accuracy_score, confusion_matrix, jaccard_score, roc_auc_score

from goldens import coco_stats
from peers import Peer

TOLERANCE = 1e-6
failures = 0


def check(what, found, expected, tolerance=TOLERANCE):
    """Counts and says what differs."""
    global failures
    found, expected = (np.array([-1 if value is None else value for value in np.ravel(values)], float) for values in (found, expected))
    largest = np.abs(found - expected).max() if found.shape == expected.shape else np.inf
    failures += int(not largest <= tolerance)
    print(f"{'ok' if largest <= tolerance else 'FAILED'}  {what}: {len(found)} numbers, largest difference {largest:.3g}"
          + ("" if largest <= tolerance else f": {found[:12]} for {expected[:12]}"), flush=True)


def evaluate(apus, *arguments):
    """The JSON of an evaluation."""
    run = subprocess.run([apus, "evaluate", *map(str, arguments), "--quiet", "--json", "--time-limit", "0"], capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"{' '.join(map(str, arguments))}: status {run.returncode}: {run.stderr}")
    return json.loads(run.stdout)


def pictures(data, size, count, random):
    """Parts of the pictures, some mirrored, in one size."""
    originals = [Image.open(path).convert("RGB") for path in sorted((data / "images").iterdir())]
    for number in range(count):
        picture = originals[number % len(originals)]
        side = int(min(picture.size) * random.uniform(0.5, 1))
        left, top = (int(random.integers(extent - side + 1)) for extent in picture.size)
        part = picture.crop((left, top, left + side, top + side)).resize(size, Image.BILINEAR)
        yield part.transpose(Image.FLIP_LEFT_RIGHT) if number % 2 else part


def classification(apus, data, folder, random):
    """Folders of classes, a list of numbers, and another list with the folder."""
    for model, size in (("mobilenet_v2_1.0_224_quant", 224), ("mobilenet_v1_0.25_128_quant", 128), ("tf2_mobilenet_v2_1.0_224_ptq", 224)):
        file = data / f"models/{model}.tflite"
        peer, root = Peer(file), folder / model
        root.mkdir()
        lines, truths, best, five = [], [], [], []
        for number, picture in enumerate(pictures(data, (size, size), 24, random)):
            picture.save(root / f"{number}.png")
            scores = peer.run(np.array(picture, np.uint8))[0].ravel()
            order = np.argsort(-scores.astype(int), kind="stable")
            truth = int(order[int(random.choice([0, 0, 1, 3, 4, 5, 40]))])
            truths.append(truth)
            best.append(int(scores.argmax()))
            five.append(truth in order[:5])
            lines.append(f"{number}.png,{truth}\n")
        (root / "list.csv").write_text("".join(lines))
        found = evaluate(apus, root / "list.csv", "--model", file, "--task", "classify", "--jobs", "3")
        check(f"{model}: top-1, top-5", [found["top1"], found["top5"]], [accuracy_score(truths, best), np.mean(five)])
        matrix = confusion_matrix(truths, best, labels=range(scores.size))
        listed = {(entry["truth"]["index"], entry["found"]["index"]): entry["count"] for entry in found["confusions"]}
        wrong = {(row, column): int(matrix[row, column]) for row, column in np.argwhere(matrix) if row != column}
        check(f"{model}: confusions", [listed == wrong], [1])
        # Numbers from 1 on, and the class as a folder's name.
        classes = folder / f"{model}-folders"
        for number, truth in enumerate(truths):
            (classes / str(truth + 1)).mkdir(parents=True, exist_ok=True)
            (root / f"{number}.png").rename(classes / str(truth + 1) / f"{number}.png")
        found = evaluate(apus, classes, "--model", file, "--task", "classify", "--class-offset", "-1")
        check(f"{model}: folders", [found["top1"], found["top5"]], [accuracy_score(truths, best), np.mean(five)])


def tensors(apus, data, folder, random):
    """Raw tensors as .bin and .npy, of the input's type, of bytes without a sign, and of floats."""
    for model, kinds in (("mlperftiny_kws_ref_model", ("int8", "float32")), ("mlperftiny_pretrainedResnet_large_int8", ("uint8", "int8")),
                         ("mattn_iris", ("float32",))):
        file = data / f"models/{model}.tflite"
        peer = Peer(file)
        for kind in kinds:
            for ending in ("bin", "npy"):
                root = folder / f"{model}-{kind}-{ending}"
                root.mkdir()
                lines, truths, best = [], [], []
                for number in range(20):
                    if kind == "float32":
                        scale, zero = peer.input["quantization"]
                        values = (random.normal(0, 40 * (scale or 0.05), peer.shape)).astype(np.float32)
                        fed = values
                    else:
                        values = random.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, peer.shape).astype(kind)
                        fed = (values.astype(np.int16) - 128).astype(np.int8) if kind == "uint8" else values
                    name = f"{number}.{ending}"
                    np.save(root / name, values) if ending == "npy" else values.tofile(root / name)
                    scores = peer.run(fed)[0].ravel()
                    truths.append(int(random.choice([scores.argmax(), random.integers(scores.size)])))
                    best.append(int(scores.argmax()))
                    lines.append(f"{name}\t{truths[-1]}\n")
                (root / "list.tsv").write_text("".join(lines))
                found = evaluate(apus, root / "list.tsv", "--model", file, "--task", "classify", "--type", kind)
                check(f"{model}: {kind} in .{ending}", [found["top1"]], [accuracy_score(truths, best)])


def anomalies(apus, data, folder, random):
    """Windows of autoencoders of floats and of bytes."""
    for model in ("mlperftiny_ad01_int8", "mlperftiny_model_ToyCar_quant"):
        file = data / f"models/{model}.tflite"
        peer, root = Peer(file), folder / model
        scores, truths = [], []
        for number in range(16):
            truth = int(random.integers(2)) if number > 1 else number
            name = root / ["normal", "anomaly"][truth]
            name.mkdir(parents=True, exist_ok=True)
            values = random.normal(-20, 8 + 3 * truth * random.random(), 640 + 128 * int(random.integers(4)) + int(random.integers(100)))
            values = values.astype(np.float32)
            np.save(name / f"{number}.npy", values)
            errors = [np.mean(np.square(values[start:start + 640].astype(float) - peer.reals(0, peer.run(values[start:start + 640])[0]).ravel()))
                      for start in range(0, len(values) - 639, 128)]
            scores.append(np.mean(errors))
            truths.append(truth)
        found = evaluate(apus, root, "--model", file, "--task", "anomaly", "--step", "128")
        check(f"{model}: AUC", [found["auc"]], [roc_auc_score(truths, scores)])


def detection(apus, data, folder, random):
    """Objects near those that LiteRT finds."""
    labels = (data / "labels/coco_labelmap_90_tflite-support.txt").read_text().splitlines()
    for model in ("coco_ssd_mobilenet_v1_1.0_quant_2018_06_29_metadata", "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29"):
        file = data / f"models/{model}.tflite"
        peer, root = Peer(file), folder / model
        (root / "pictures").mkdir(parents=True)
        rows, findings, images = [], [], []
        # The file's numbers of categories; classes of the model are one less.
        categories = [index + 1 for index, name in enumerate(labels) if name != "???"]
        for number, picture in enumerate(pictures(data, (300, 300), 18, random)):
            image = 1000 - 7 * number
            images.append({"id": image, "file_name": f"{number}.png", "width": 300, "height": 300})
            picture.save(root / f"pictures/{number}.png")
            boxes, classes, scores, _ = peer.run(np.array(picture, np.uint8))
            for box, index, score in zip(boxes[0], classes[0], scores[0]):
                if score < 0.001:
                    continue
                edges = box.astype(float) * 300
                place = [edges[1], edges[0], edges[3] - edges[1], edges[2] - edges[0]]
                findings.append([image, int(index) + 1, *place, float(score)])
                if random.random() < 0.6:
                    near = np.round(np.array(place) + random.normal(0, 4, 4), 2).clip(1)
                    category = int(index) + 1 if random.random() < 0.8 else int(random.choice(categories))
                    rows.append([image, len(rows) + 1, category, *near.tolist(), float(near[2] * near[3]), int(random.random() < 0.1)])
        truth = {"images": images, "categories": [{"id": entry, "name": labels[entry - 1]} for entry in categories], "annotations": [
            {"image_id": row[0], "id": row[1], "category_id": row[2], "bbox": row[3:7], "area": row[7], "iscrowd": row[8],
             "segmentation": [[1, 2, 3.5]]} for row in rows]}
        (root / "truth.json").write_text(json.dumps(truth))
        stats, each = coco_stats([image["id"] for image in images], categories, rows, findings)
        options = [] if model.endswith("metadata") else ["--labels", data / "labels/coco_labelmap_90_tflite-support.txt"]
        found = evaluate(apus, root / "pictures", "--model", file, "--task", "detect", "--truth", root / "truth.json", *options)
        keys = ["ap", "ap50", "ap75", "ap_small", "ap_medium", "ap_large", "ar1", "ar10", "ar100", "ar_small", "ar_medium", "ar_large"]
        check(f"{model}: twelve numbers", [found[key] for key in keys], stats)
        expected = {category: values for category, values in zip(categories, each) if values[0] != -1}
        check(f"{model}: categories", [[entry["ap"], entry["ap50"]] for entry in found["categories"]],
              [expected[entry["id"]] for entry in found["categories"]])


def segmentation(apus, data, folder, random):
    """Masks near those of LiteRT, as PNGs with a palette."""
    file = data / "models/deeplabv3_mnv2_dm05_pascal_quant.tflite"
    peer, root = Peer(file), folder / "segmentation"
    (root / "pictures").mkdir(parents=True)
    (root / "masks").mkdir()
    expected, found = [], []
    for number, picture in enumerate(pictures(data, (513, 513), 6, random)):
        picture.save(root / f"pictures/{number}.png")
        mask = peer.run(np.array(picture, np.uint8))[0].reshape(513, 513)
        truth = mask.copy()
        for value in (255, 3, int(mask.max()), 20):
            top, left = random.integers(400, size=2)
            truth[top:top + 90, left:left + 110] = value
        target = Image.new("P", (513, 513))
        target.putpalette([int(value) for value in random.integers(256, size=768)])
        target.putdata(truth.ravel().tolist())
        target.save(root / f"masks/{number}.png")
        expected.append(truth.ravel())
        found.append(mask.ravel())
    expected, found = np.concatenate(expected), np.concatenate(found)
    kept = expected != 255
    answer = evaluate(apus, root / "pictures", "--model", file, "--task", "segment", "--truth", root / "masks")
    present = sorted(set(expected[kept]) | set(found[kept]))
    check("segmentation: mIoU, pixels", [answer["miou"], answer["pixel_accuracy"]],
          [jaccard_score(expected[kept], found[kept], labels=present, average="macro"), accuracy_score(expected[kept], found[kept])])
    check("segmentation: classes", [entry["iou"] for entry in answer["classes"]],
          jaccard_score(expected[kept], found[kept], labels=present, average=None))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("apus")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    random = np.random.default_rng(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        for part in (classification, tensors, anomalies, detection, segmentation):
            part(arguments.apus, arguments.data, pathlib.Path(folder), random)
    print(f"{failures} failed")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
