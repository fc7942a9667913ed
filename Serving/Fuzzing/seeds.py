# SPDX-License-Identifier: Apache-2.0
"""Writes what the fuzzers begin with: `seeds.py FOLDER`. Requests for each of the small models, as clients send them."""

import gzip
import io
import json
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
from PIL import Image
from tritonclient.grpc import service_pb2

# As Fuzzing/run.sh sorts them; the embedded model is the last.
MODELS = ["dense", "dense_int8", "logarithm", "mixing", "nameless", "open_length", "simple", "simple_batch", "types", "shapes"]
TYPES = ["BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "BF16", "FP32", "FP64"]
SIZES = dict(zip(TYPES, [1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8]))
NUMPY = {"INT8": np.int8, "INT32": np.int32, "FP32": np.float32}


def requests():
    """Names, types and shapes of the inputs of each model."""
    yield "dense", [("x", "FP32", [2, 64])]
    yield "dense_int8", [("x", "INT8", [3, 64])]
    yield "logarithm", [("x", "FP32", [1, 4])]
    yield "mixing", [("x", "FP32", [2, 4])]
    yield "nameless", [("input_0", "INT32", [1, 2]), ("same", "INT32", [1, 2]), ("input_2", "INT32", [1, 2])]
    yield "open_length", [("x", "FP32", [1, 5])]
    yield "simple", [("INPUT0", "INT32", [1, 16]), ("INPUT1", "INT32", [1, 16])]
    yield "simple_batch", [("INPUT0", "INT32", [2, 16]), ("INPUT1", "INT32", [2, 16])]


def pictures():
    random = np.random.default_rng(1)
    for width, height, mode in [(8, 8, "RGB"), (33, 17, "L"), (40, 24, "RGB"), (16, 16, "RGBA")]:
        channels = len(mode)
        pixels = random.integers(0, 256, (height, width, channels), np.uint8).squeeze()
        image = Image.fromarray(pixels, mode)
        for kind, options in (("png", {}), ("bmp", {}), ("ppm", {}), ("jpeg", {}), ("jpeg", {"progressive": True})):
            if mode == "RGBA" and kind in ("jpeg", "ppm"):
                continue
            file = io.BytesIO()
            image.save(file, kind, **options)
            yield file.getvalue()


def main():
    root = Path(sys.argv[1])
    written = {}

    def write(fuzzer, data):
        folder = root / fuzzer
        folder.mkdir(parents=True, exist_ok=True)
        written[fuzzer] = written.get(fuzzer, 0) + 1
        (folder / f"{written[fuzzer]:03}").write_bytes(data)

    for model, inputs in requests():
        number = MODELS.index(model)
        plain, binary, tail = [], [], b""
        message = service_pb2.ModelInferRequest(model_name=model, id="7")
        for name, kind, shape in inputs:
            values = np.arange(np.prod(shape)).astype(NUMPY[kind]) % 100
            plain.append({"name": name, "datatype": kind, "shape": shape, "data": values.reshape(shape).tolist()})
            binary.append({"name": name, "datatype": kind, "shape": shape, "parameters": {"binary_data_size": values.nbytes}})
            tail += values.tobytes()
            message.inputs.add(name=name, datatype=kind, shape=shape)
            message.raw_input_contents.append(values.tobytes())
        write("FuzzMessage", bytes([number]) + message.SerializeToString())
        del message.raw_input_contents[:]
        for found, (_, kind, shape) in zip(message.inputs, inputs):
            field = found.contents.fp32_contents if kind == "FP32" else found.contents.int_contents
            field.extend(range(int(np.prod(shape))))
        message.parameters["priority"].int64_param = 1
        message.outputs.add(name="y").parameters["classification"].int64_param = 2
        write("FuzzMessage", bytes([number]) + message.SerializeToString())

        text = json.dumps({"id": "7", "inputs": plain, "parameters": {"priority": 1, "timeout": 1000000}}).encode()
        write("FuzzBody", bytes([number, 0, 0, 0]) + text)
        write("FuzzBody", bytes([number, 0x10, 0, 0]) + gzip.compress(text))
        write("FuzzBody", bytes([number, 0x20, 0, 0]) + zlib.compress(text))
        text = json.dumps({"inputs": binary, "parameters": {"binary_data_output": True}}).encode()
        write("FuzzBody", bytes([number, 1]) + struct.pack("<H", len(text)) + text + tail)
        write("FuzzBody", bytes([number, 1, 0, 0]) + tail)
        text = json.dumps({"inputs": plain, "outputs": [{"name": "y", "parameters": {"classification": 2}}]}).encode()
        write("FuzzBody", bytes([number, 0, 0, 0]) + text)

    tensors = [{"name": f"in_{kind.lower()}", "datatype": kind, "shape": [1, 4],
                "parameters": {"binary_data_size": 4 * size}} for kind, size in SIZES.items()]
    names = {"BOOL": "bool", "FP16": "float16", "BF16": "bfloat16", "FP32": "float32", "FP64": "float64"}
    for tensor in tensors:
        tensor["name"] = f"in_{names.get(tensor['datatype'], tensor['datatype'].lower())}"
    text = json.dumps({"inputs": tensors, "parameters": {"binary_data_output": True}}).encode()
    write("FuzzBody", bytes([MODELS.index("types"), 1]) + struct.pack("<H", len(text)) + text
          + bytes(4 * sum(SIZES.values())))
    for picture in pictures():
        write("FuzzPicture", b"\x10" + picture)
        write("FuzzPicture", b"\x01" + picture)
        write("FuzzBody", bytes([MODELS.index("shapes"), 1, 0, 0]) + picture)


if __name__ == "__main__":
    main()
