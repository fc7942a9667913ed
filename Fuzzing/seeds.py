#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fills folders with inputs to begin with: small models and arrays of the goldens, archives, labels, pictures.

Needs nothing but Python itself. What is there stays.
"""

import io
import json
import pathlib
import random
import struct
import sys
import zipfile
import zlib

ROOT = pathlib.Path(__file__).parents[1]
MOST = 12 << 10


def put(folder, target, name, contents):
    path = folder / target / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents)


def models(folder):
    for archive in sorted((ROOT / "Tests/Goldens").glob("*.zip")):
        with zipfile.ZipFile(archive) as contents:
            names = contents.namelist()
            for name in [n for n in names if n.endswith(".tflite") and contents.getinfo(n).file_size <= MOST][:4]:
                model = contents.read(name)
                label = f"{archive.stem}-{name.split('/')[0]}"
                put(folder, "model", label, model)
                put(folder, "run", label, model)
                put(folder, "differential", label, b"m" + model)
                calls = random.Random(label).randbytes(400)
                put(folder, "calls", label, struct.pack("<H", len(calls)) + calls + model)
            for name in [n for n in names if n.endswith(".npy") and contents.getinfo(n).file_size <= 1024][:1]:
                put(folder, "numpy", archive.stem, contents.read(name))
    with zipfile.ZipFile(ROOT / "Tests/Corpus/corpus.zip") as contents:
        for name in contents.namelist():
            if name.split("/")[0] in ("calls", "format", "sparsity", "size", "detection"):
                put(folder, "model", name.replace("/", "-"), contents.read(name))
                put(folder, "run", name.replace("/", "-"), contents.read(name))


def operators(folder):
    for code in range(210):
        for number in range(2):
            bytes_ = bytes([code]) + random.Random(code * 2 + number).randbytes(120)
            put(folder, "operator", f"{code}-{number}", bytes_)
            put(folder, "differential", f"operator-{code}-{number}", bytes_)


def formats(folder):
    with zipfile.ZipFile(ROOT / "Tests/Goldens/TFLite_Detection_PostProcess.zip") as contents:
        name = next(n for n in contents.namelist() if n.endswith(".tflite"))
        model = contents.read(name)
    # The options are a FlexBuffer, whose keys stand in front of it.
    start = model.find(b"\0max_detections")
    for cut in (0, 4, 8, 16):
        put(folder, "flexbuffer", f"cut-{cut}", model[max(0, start - 64):start + 400 - cut])
        put(folder, "detection", f"cut-{cut}", model[max(0, start - 64):start + 400 - cut])
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", method) as archive:
            archive.writestr("labels.txt", "cat\ndog\n" * 40)
            archive.writestr("metadata.json", "{}")
        put(folder, "archive", f"zip-{method}", target.getvalue())
    put(folder, "archive", "deflate", zlib.compress(b"abc" * 400)[2:-4])
    export = {"task": "detect", "imgsz": [320, 320], "names": {"0": "cat", "1": "dog"}, "kpt_shape": [17, 3], "args": {"nms": True}}
    put(folder, "export", "json", json.dumps(export).encode())
    put(folder, "export", "literal", repr({**export, "names": {0: "cat"}, "end2end": False, "stride": None}).encode())
    for number, text in enumerate(("cat\ndog\n", "0 cat\n1 dog\n", "0:cat\n1:dog\n", "id,name\n0,cat\n", "names:\n  0: cat\n  1: dog\n",
                                   'item {\n  id: 1\n  name: "cat"\n  display_name: "Cat"\n}\n', "???\nperson\n",
                                   '["cat", "dog"]', '{"names": {"0": "cat", "1": ["n2", "dog"]}}', "nc: 2\nnames: [cat, 'dog']\n",
                                   "- id: 0\n  name: cat\n", "index,mid,name\n0,/m/1,\"cat\"\n", "cat,0\ndog,1\n", "5 cats\n9 dogs\n")):
        put(folder, "labels", f"{number}", text.encode())
    for kind, bits in ((1, 8), (1, 16), (1, 24), (3, 32), (3, 64), (0xFFFE, 16)):
        form = struct.pack("<HHIIHH", kind, 2, 16000, 4000 * bits, bits // 4, bits)
        if kind == 0xFFFE:
            form += struct.pack("<HHIH", 22, bits, 3, 1) + bytes.fromhex("000000001000800000aa00389b71")
        body = b"fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", 8 * bits) + bytes(8 * bits)
        put(folder, "wav", f"{kind}-{bits}", b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WAVE" + body)
    edge = {"inferenceType": "QUANTIZED_UINT8", "inputShape": [1, 224, 224, 3], "inputTensor": "normalized_input_image_tensor",
            "maxDetections": 20, "outputTensorRepresentation": ["bounding_boxes", "class_labels", "class_confidences", "num_of_boxes"],
            "outputTensors": ["TFLite_Detection_PostProcess"]}
    put(folder, "edge", "json", json.dumps(edge).encode())
    put(folder, "edge", "comments", b"// made\n" + json.dumps(edge, indent=1).encode())
    entries = b"".join(struct.pack("<I", len(n)) + n + struct.pack("<3f", 1, 2, 3) for n in (b"a", b"bc"))
    data = b"ApusGallery1\n" + struct.pack("<II", 3, 2) + entries
    put(folder, "gallery", "two", data + struct.pack("<I", zlib.crc32(data)))


def pictures(folder):
    head = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    for colors, depth, interlace in ((0, 8, 0), (2, 8, 0), (3, 4, 0), (6, 16, 1), (0, 1, 1), (4, 8, 0)):
        parts = head(b"IHDR", struct.pack(">IIBBBBB", 8, 6, depth, colors, 0, 0, interlace))
        if colors == 3:
            parts += head(b"PLTE", bytes(range(48)))
        parts += head(b"IDAT", zlib.compress(bytes(1 << 10))) + head(b"IEND", b"")
        put(folder, "png", f"{colors}-{depth}-{interlace}", b"\x89PNG\r\n\x1a\n" + parts)
    for bits, compression in ((24, 0), (32, 3), (8, 0), (8, 1), (4, 2), (16, 0), (1, 0)):
        palette = bytes(4 << min(bits, 8)) if bits <= 8 else bytes(16)
        body = bytes(4 * 8 * 6)
        info = struct.pack("<IiiHHIIiiII", 40, 8, 6, 1, bits, compression, len(body), 0, 0, 0, 0)
        put(folder, "bmp", f"{bits}-{compression}",
            b"BM" + struct.pack("<IHHI", 54 + len(palette) + len(body), 0, 0, 54 + len(palette)) + info + palette + body)
    for kind in range(1, 7):
        maximum = b"" if kind in (1, 4) else b"255\n"
        put(folder, "pnm", str(kind), f"P{kind}\n4 3\n".encode() + maximum + (b"0 1 1 0 " * 9 if kind < 4 else bytes(36)))
    # A gray JPEG of 8 × 8 pixels, with tables of its own.
    jpeg = bytes.fromhex(
        "ffd8ffdb004300" + "01" * 64 + "ffc0000b080008000801011100" + "ffc4001f00" + "00010501010101010100000000000000"
        + "000102030405060708090a0b" + "ffc400141001000000000000000000000000000000" + "00" + "ffda0008010100003f00" + "00ffd9")
    put(folder, "jpeg", "gray", jpeg)


def main():
    folder = pathlib.Path(sys.argv[1])
    for make in (models, operators, formats, pictures):
        make(folder)


if __name__ == "__main__":
    main()
