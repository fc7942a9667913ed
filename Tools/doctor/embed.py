#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the cases by which `apus doctor` proves kernel sets into `Sources/ApusDoctor/DoctorGoldens.swift`.

    .build/python/bin/python Tools/doctor/embed.py                                  # cases.txt and the larger cases
    .build/python/bin/python Tools/doctor/embed.py --choose .build/release/apus     # chooses cases.txt anew

Expected numbers are LiteRT's (`BUILTIN_REF`, one thread). Small cases are chosen among `Tests/Goldens`, so that each kind of
kernel of each set of the machine that chooses runs in one of them; `cases.txt` names them. They are too small for several
threads, and some kernels take longer tensors; the larger cases are drawn here.
"""

import argparse
import base64
import collections
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
sys.path.insert(0, str(ROOT / "Tools" / "goldens"))

from ai_edge_litert import schema_py_generated as schema  # noqa: E402
from archive import npy_bytes  # noqa: E402
from graph_builder import GraphBuilder  # noqa: E402
from model_builder import ModelBuilder, Quantization  # noqa: E402
from reference import ReferencePair  # noqa: E402

GOLDENS = ROOT / "Tests" / "Goldens"
TARGET = ROOT / "Sources" / "ApusDoctor" / "DoctorGoldens.swift"
LIST = FOLDER / "cases.txt"
SETS = ("x86-avx512vnni", "x86-avx2")
# Archives whose cases have states or other conditions.
LEFT_OUT = {"GRAPHS", "MISDECLARED", "UNUSUAL"}
# Operators for which kernels differ most.
PRODUCTS = {"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV", "BATCH_MATMUL"}
# A larger case is not worth its bytes.
MOST_BYTES = 9000


# MARK: Choosing


def small_cases():
    """Each case that is small enough: archive, case, compressed bytes."""
    for path in sorted(GOLDENS.glob("*.zip")):
        if path.stem in LEFT_OUT:
            continue
        sizes = collections.Counter()
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                sizes[entry.filename.split("/")[0]] += entry.compress_size
        yield from ((path.stem, case, size) for case, size in sizes.items() if size < MOST_BYTES and "empty" not in case)


def kernels(apus, item):
    """What a case runs by generated code, without the sizes: (set, operator, type, words)."""
    archive, case, _ = item
    kinds = set()
    with tempfile.NamedTemporaryFile(suffix=".tflite") as file:
        with zipfile.ZipFile(GOLDENS / f"{archive}.zip") as contents:
            file.write(contents.read(f"{case}/model.tflite"))
        file.flush()
        for name in SETS:
            report = subprocess.run(
                [apus, "inspect", file.name, "--plan", "--json"], capture_output=True,
                env={**os.environ, "APUS_KERNELS": name})
            if report.returncode:
                continue
            for step in json.loads(report.stdout)["plan"]["steps"]:
                if step["kernels"] == name:
                    # What comes after the second comma are details of layout.
                    words = ",".join(re.sub(r"\d+", "", step["implementation"]).split(",")[:2])
                    kinds.add((name, step["name"], case.split("_")[0], words))
    return kinds


def choose(apus):
    """Greedily, the cases that show the most kinds of kernels for their bytes."""
    items = list(small_cases())
    with ThreadPoolExecutor(2) as pool:
        shown = list(pool.map(lambda item: kernels(apus, item), items))
    # Each kind of kernel comes with each type, and each operator, too.
    features = [
        {(kind, words) for _, _, kind, words in kinds} | {(name, operator) for name, operator, _, _ in kinds}
        | {(operator, kind) for _, operator, kind, _ in kinds if operator in PRODUCTS} for kinds in shown]
    missing = set().union(*features)
    chosen = []
    while missing:
        best = max(range(len(items)), key=lambda index: len(features[index] & missing) / (items[index][2] + 400))
        if not features[best] & missing:
            break
        missing -= features[best]
        chosen.append(items[best][:2])
    LIST.write_text("".join(f"{archive} {case}\n" for archive, case in sorted(chosen)))
    print(f"{len(chosen)} of {len(items)} cases")


# MARK: Larger cases


def repeating(shape, values):
    """Values that repeat every 5 rows and 7 columns of a picture."""
    height, width, channels = shape[1:]
    tile = np.random.default_rng(3).choice(values, (5, 7, channels))
    return np.tile(tile, (1, -(-height // 5), -(-width // 7), 1))[:, :height, :width]


def convolution(kind, size, channels, filter_size, stride=1, few=False):
    """A CONV_2D, or with no `channels` a DEPTHWISE_CONV_2D of 16 channels. With `few`, weights have few values."""
    model = ModelBuilder()
    random = np.random.default_rng(size)
    depthwise = channels is None
    channels = channels or 16
    shape = (1, size, size, channels)
    weights_shape = (
        (1, filter_size, filter_size, channels) if depthwise else (channels, filter_size, filter_size, channels))
    terms = filter_size * filter_size * (1 if depthwise else channels)
    output = None
    if kind == "float32":
        # Sums of such values are exact in any order.
        picture = repeating(shape, np.arange(-8, 9, dtype=np.float32) / 8)
        weights = (random.choice([-5, -2, 3, 8], weights_shape) if few else random.integers(-8, 9, weights_shape)) / 8
        weights = weights.astype(np.float32)
        operands = [model.input(picture), model.constant(weights),
                    model.constant((np.arange(channels) / 4).astype(np.float32))]
        output = model.output("float32")
    else:
        low, high = (0, 255) if kind == "uint8" else (-128, 127)
        dtype = np.dtype(kind)
        picture = repeating(shape, np.arange(low, high + 1)).astype(dtype)
        weights = random.integers(low + 1, high + 1, weights_shape)
        if few:
            weights = random.choice([-101, -38, 53, 127], weights_shape)
        weights = weights.astype(dtype)
        if kind == "uint8":
            of_weights = Quantization.per_tensor(0.02, 121)
            scales = 0.05 * 0.02
        else:
            steps = 0.01 + 0.001 * np.arange(channels)
            of_weights = Quantization(
                tuple(float(np.float32(step)) for step in steps), (0,) * channels, 3 if depthwise else 0)
            scales = 0.05 * steps
        bias = Quantization(tuple(np.atleast_1d(scales).astype(np.float32).tolist()), (0,) * np.size(scales))
        operands = [
            model.input(picture, Quantization.per_tensor(0.05, low + 127)), model.constant(weights, of_weights),
            model.constant((37 * np.arange(channels)).astype(np.int32), bias)]
        output = model.output(kind, Quantization.per_tensor(0.06 * terms ** 0.5, low + 120))
    options = dict(padding=schema.Padding.SAME, strideH=stride, strideW=stride, dilationHFactor=1, dilationWFactor=1,
                   fusedActivationFunction=0)
    if depthwise:
        return model.operator(
            "DEPTHWISE_CONV_2D", operands, [output], schema.DepthwiseConv2DOptionsT(depthMultiplier=1, **options))
    return model.operator("CONV_2D", operands, [output], schema.Conv2DOptionsT(**options))


def sum_of_floats():
    model = ModelBuilder()
    picture = repeating((1, 120, 120, 8), np.arange(-8, 9, dtype=np.float32) / 8)
    operands = [model.input(picture), model.input(picture[:, ::-1])]
    return model.operator(
        "ADD", operands, [model.output("float32")], schema.AddOptionsT(fusedActivationFunction=0))


def elements(operator, kind, shape, scales=(0.05, 0.05), second=None, options=None, extra=(), result=None):
    """An operator on a tensor that is long enough for generated code, and maybe on another of the shape `second`.

    `extra` are constants, `result` is the type of the output if it is another one.
    """
    model = ModelBuilder()
    random = np.random.default_rng(len(operator) + sum(shape))
    result = result or kind

    def drawn(shape):
        if kind == "float32":
            return (random.integers(-128, 129, shape) / 32).astype(np.float32)
        info = np.iinfo(kind)
        return random.integers(info.min, info.max + 1, shape).astype(kind)

    def quantization(kind, scale):
        return None if kind in ("float32", "int32") else Quantization.per_tensor(scale, {"int8": -4, "uint8": 124}[kind])

    fixed = {"SOFTMAX": 1 / 256, "LOGISTIC": 1 / 256, "TANH": 1 / 128}.get(operator)
    operands = [model.input(drawn(shape), quantization(kind, scales[0]))]
    if second:
        operands.append(model.input(drawn(second), quantization(kind, scales[0])))
    operands += [model.constant(values) for values in extra]
    of_result = quantization(result, scales[1])
    if fixed and of_result:
        zero = {"TANH": {"int8": 0, "uint8": 128}}.get(operator, {"int8": -128, "uint8": 0})[result]
        of_result = Quantization.per_tensor(fixed, zero)
    return model.operator(operator, operands, [model.output(result, of_result)], options)


def pooling():
    return schema.Pool2DOptionsT(
        padding=schema.Padding.VALID, strideH=2, strideW=2, filterHeight=3, filterWidth=3, fusedActivationFunction=0)


def matrices():
    """A product of few rows with a matrix that is another input. Sums are exact in any order."""
    model = ModelBuilder()
    random = np.random.default_rng(5)
    operands = [
        model.input((random.integers(-64, 65, shape) / 16).astype(np.float32)) for shape in ((2, 5, 37), (2, 37, 48))]
    return model.operator(
        "BATCH_MATMUL", operands, [model.output("float32")], schema.BatchMatMulOptionsT(adjX=False, adjY=False))


def chain(steps, *inputs):
    """Operators on floats, one after the other. Each of `steps` is its name, the numbers of what it reads (inputs, then
    constants, then results), its options, and the constants that it adds."""
    model = GraphBuilder()
    known = [model.input(values) for values in inputs]
    for name, operands, options, *constants in steps:
        own = [model.constant(values) for values in constants]
        result = model.tensor("float32")
        model.add(name, [*(known[operand] for operand in operands), *own], [result], options)
        known.append(result)
    model.result(known[-1])
    return model


def drawn(*shape):
    return (np.random.default_rng(sum(shape)).integers(-128, 129, shape) / 32).astype(np.float32)


def normalization():
    """Rows, minus their means and divided by their deviations."""
    axis = np.array([-1], np.int32)
    mean = schema.ReducerOptionsT(keepDims=True)
    sum_, product, difference = (
        make(fusedActivationFunction=0) for make in (schema.AddOptionsT, schema.MulOptionsT, schema.SubOptionsT))
    return chain([
        ("MEAN", [0], mean, axis), ("SQUARED_DIFFERENCE", [0, 1], schema.SquaredDifferenceOptionsT()),
        ("MEAN", [2], mean, axis), ("ADD", [3], sum_, np.float32([0.01])), ("RSQRT", [4], None),
        ("SUB", [0, 1], difference), ("MUL", [6, 5], product), ("MUL", [7], product, drawn(96)),
        ("ADD", [8], sum_, drawn(96)[::-1].copy())], drawn(9, 96))


def functions():
    """Functions and operations of floats that one loop can compute."""
    sum_, product = (make(fusedActivationFunction=0) for make in (schema.AddOptionsT, schema.MulOptionsT))
    return chain([
        ("LOGISTIC", [0], None), ("MUL", [0, 2], product), ("TANH", [3], None), ("ADD", [4, 1], sum_),
        ("HARD_SWISH", [5], schema.HardSwishOptionsT()), ("ELU", [6], None)], drawn(13, 96), drawn(96))


def residual():
    """A convolution, the sum of its results and another tensor, and PRELU."""
    options = schema.Conv2DOptionsT(
        padding=schema.Padding.SAME, strideH=1, strideW=1, dilationHFactor=1, dilationWFactor=1,
        fusedActivationFunction=0)
    return chain([
        ("CONV_2D", [0], options, drawn(19, 1, 1, 16), np.zeros(19, np.float32)),
        ("ADD", [2, 1], schema.AddOptionsT(fusedActivationFunction=0)),
        ("PRELU", [3], None, (np.arange(19, dtype=np.float32) / 16 - 0.5).reshape(1, 1, 19))],
        drawn(1, 9, 11, 16), drawn(1, 9, 11, 19))


def sizes(*numbers):
    return (np.array(numbers, np.int32),)


ELEMENTS = {
    "LOGISTIC": lambda kind: (2, elements("LOGISTIC", kind, (1040,))),
    "TANH": lambda kind: (2, elements("TANH", kind, (1040,))),
    "SOFTMAX": lambda kind: (2, elements("SOFTMAX", kind, (5, 130), options=schema.SoftmaxOptionsT(beta=1.0))),
    "LOG_SOFTMAX": lambda kind: (1, elements("LOG_SOFTMAX", kind, (5, 130), options=schema.LogSoftmaxOptionsT())),
    "AVERAGE_POOL_2D": lambda kind: (2, elements("AVERAGE_POOL_2D", kind, (1, 9, 9, 24), options=pooling())),
    "MAX_POOL_2D": lambda kind: (2, elements("MAX_POOL_2D", kind, (1, 9, 9, 24), options=pooling())),
    "TRANSPOSE": lambda kind: (
        2, elements("TRANSPOSE", kind, (41, 37) if kind == "float32" else (71, 63), options=schema.TransposeOptionsT(), extra=sizes(1, 0))),
    "RESIZE_BILINEAR": lambda kind: (
        3, elements("RESIZE_BILINEAR", kind, (1, 5, 6, 17), extra=sizes(8, 11),
                    options=schema.ResizeBilinearOptionsT(alignCorners=False, halfPixelCenters=True))),
    "MUL": lambda kind: (
        2, elements("MUL", kind, (13, 80), (0.05, 0.2), (13, 80), schema.MulOptionsT(fusedActivationFunction=0))),
    "SUB": lambda kind: (
        2, elements("SUB", kind, (13, 80), (0.05, 0.1), (13, 80), schema.SubOptionsT(fusedActivationFunction=0))),
    "EXP": lambda kind: (1, elements("EXP", kind, (1040,), options=schema.ExpOptionsT())),
    "GELU": lambda kind: (1, elements("GELU", kind, (1040,), options=schema.GeluOptionsT(approximate=False))),
    "QUANTIZE": lambda kind: (
        1, elements("QUANTIZE", kind, (1040,), options=schema.QuantizeOptionsT(), result="int8")),
    "DEQUANTIZE": lambda kind: (
        2, elements("DEQUANTIZE", kind, (1040,), options=schema.DequantizeOptionsT(), result="float32")),
    "CAST": lambda kind: (1, elements("CAST", kind, (1040,), options=schema.CastOptionsT(), result="int32")),
}
TYPES = {"RESIZE_BILINEAR": ("int8", "uint8"), "LOG_SOFTMAX": ("float32",), "EXP": ("float32",), "GELU": ("float32",), "QUANTIZE": ("float32",),
         "DEQUANTIZE": ("int8", "uint8"), "CAST": ("float32",)}

LARGE = {
    "CONV_2D uint8_threads": lambda: (3, convolution("uint8", 80, 16, 3)),
    "CONV_2D int8_threads": lambda: (3, convolution("int8", 96, 32, 1)),
    "CONV_2D float32_threads": lambda: (1, convolution("float32", 48, 16, 3)),
    "CONV_2D float32_threads_strided": lambda: (1, convolution("float32", 80, 16, 5, 2)),
    "DEPTHWISE_CONV_2D uint8_threads": lambda: (3, convolution("uint8", 128, None, 3)),
    "DEPTHWISE_CONV_2D int8_threads": lambda: (3, convolution("int8", 128, None, 3)),
    "DEPTHWISE_CONV_2D float32_threads": lambda: (1, convolution("float32", 96, None, 3)),
    "CONV_2D int8_threads_deep": lambda: (3, convolution("int8", 24, 64, 3, few=True)),
    "CONV_2D float32_threads_deep": lambda: (1, convolution("float32", 24, 32, 3, few=True)),
    "ADD float32_threads": lambda: (1, sum_of_floats()),
    "BATCH_MATMUL float32_long": lambda: (1, matrices()),
    "MEAN float32_rows_normalized": lambda: (1, normalization()),
    "ELU float32_after_others": lambda: (1, functions()),
    "PRELU float32_after_a_sum": lambda: (1, residual()),
    **{f"{operator} {kind}_long": (lambda make=make, kind=kind: make(kind))
       for operator, make in ELEMENTS.items() for kind in TYPES.get(operator, ("float32", "int8", "uint8"))},
}


def large_cases():
    references = ReferencePair()
    for name, make in LARGE.items():
        version, model = make()
        model.set_version(version)
        first = references.first.run(model.bytes(), model.inputs)
        model.set_output_shapes([output.shape for output in first])
        outputs = references.second.run(model.bytes(), model.inputs)
        assert all((a == b).all() for a, b in zip(first, outputs)), name
        yield name, {
            "model.tflite": model.bytes(),
            **{f"input_{index}.npy": npy_bytes(array) for index, array in enumerate(model.inputs)},
            **{f"output_{index}.npy": npy_bytes(array) for index, array in enumerate(outputs)}}


# MARK: Embedding


def cases():
    """The folder of each case, `OPERATOR case`, and its files."""
    for line in LIST.read_text().splitlines():
        archive, case = line.split()
        with zipfile.ZipFile(GOLDENS / f"{archive}.zip") as contents:
            yield line, {
                entry.split("/")[1]: contents.read(entry)
                for entry in contents.namelist() if entry.startswith(f"{case}/")}
    yield from large_cases()


def zipped(files, method):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, contents in files:
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.create_system = method, 3
            archive.writestr(entry, contents, compresslevel=9)
    return stream.getvalue()


def embed():
    files, count = [], 0
    for name, contents in cases():
        files += [(f"{name}/{file}", data) for file, data in contents.items()]
        count += 1
    # One stream of all files: they have much in common.
    data = zipped([("goldens.zip", zipped(files, zipfile.ZIP_STORED))], zipfile.ZIP_DEFLATED)
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(
        "// SPDX-License-Identifier: Apache-2.0\n\n// swift-format-ignore-file\n"
        "/// Models, inputs and LiteRT's outputs, as a zip archive in base64.\n///\n"
        "/// Generated by Tools/doctor/embed.py; do not edit.\n"
        f'enum DoctorGoldens {{\n  static let base64 = "{base64.b64encode(data).decode()}"\n}}\n')
    print(f"{count} cases, {len(data):,} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--choose", metavar="APUS", help="the program that says which kernels a case runs")
    arguments = parser.parse_args()
    if arguments.choose:
        choose(arguments.choose)
    embed()


if __name__ == "__main__":
    main()
