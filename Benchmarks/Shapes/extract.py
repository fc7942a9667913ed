#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the products of real models as lines for `apus-benchmark kernels`: Benchmarks/Shapes/shapes.txt.

Equal layers become one line, which counts them. Layers whose activations and weights have other types than
uint8, int8 or float32, or differ, are left out. *Rectified* is 1 where no quantized output is below its zero point, by
its activation or its type; such outputs take fewer instructions. Needs ai-edge-litert for its schema.
"""

import argparse
import collections
import pathlib

from ai_edge_litert import schema_py_generated as schema

HEADER = """\
# The CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED layers of real models, written by extract.py.
# kind type batches height width channels output-channels filter-height filter-width output-height output-width
# stride-height stride-width dilation-height dilation-width padding-top padding-left groups rectified count
"""
TYPES = {
    schema.TensorType.UINT8: "uint8",
    schema.TensorType.INT8: "int8",
    schema.TensorType.FLOAT32: "float32",
}
LEAST = {"uint8": 0, "int8": -128}
RECTIFIERS = (schema.ActivationFunctionType.RELU, schema.ActivationFunctionType.RELU6)
KINDS = {
    schema.BuiltinOperator.CONV_2D: "conv",
    schema.BuiltinOperator.DEPTHWISE_CONV_2D: "depthwise",
    schema.BuiltinOperator.FULLY_CONNECTED: "fc",
}


def layers(path):
    """The lines of one model, without their counts."""
    model = schema.ModelT.InitFromPackedBuf(path.read_bytes())
    for graph in model.subgraphs:
        for operator in graph.operators:
            code = model.operatorCodes[operator.opcodeIndex]
            kind = KINDS.get(max(code.builtinCode, code.deprecatedBuiltinCode))
            if not kind:
                continue
            tensors = [graph.tensors[operator.inputs[0]], graph.tensors[operator.inputs[1]]]
            tensors.append(graph.tensors[operator.outputs[0]])
            # A filter of float16 comes through DEQUANTIZE, as float32.
            types = {TYPES.get(tensor.type) for tensor in tensors[:2]}
            if len(types) != 1 or None in types:
                continue
            source, weights, result = ([abs(int(size)) for size in tensor.shape] for tensor in tensors)
            numbers = line(kind, source, weights, result, operator.builtinOptions)
            if numbers:
                scheme = types.pop()
                rectified = is_rectified(scheme, tensors[2], operator.builtinOptions)
                yield " ".join([kind, scheme, *map(str, numbers), str(int(rectified))])


def is_rectified(scheme, result, options):
    if scheme == "float32":
        return False
    zero_points = result.quantization.zeroPoint
    return options.fusedActivationFunction in RECTIFIERS or list(zero_points) == [LEAST[scheme]]


def line(kind, source, weights, result, options):
    if kind == "fc":
        columns, depth = weights
        rows = 1
        for size in source:
            rows *= size
        rows //= depth
        return [rows, 1, 1, depth, columns, *([1] * 8), 0, 0, 1] if rows else None
    if len(source) != 4 or len(result) != 4 or not all(source + weights + result):
        return None
    filter_sizes = weights[1:3]
    strides = [options.strideH, options.strideW]
    dilations = [options.dilationHFactor, options.dilationWFactor]
    padding = [0, 0]
    if options.padding == schema.Padding.SAME:
        for axis in (0, 1):
            reach = (filter_sizes[axis] - 1) * dilations[axis] + 1
            needed = (result[1 + axis] - 1) * strides[axis] + reach - source[1 + axis]
            padding[axis] = max(0, needed) // 2
    groups = 1 if kind == "depthwise" else source[3] // weights[3]
    return [*source, result[3], *filter_sizes, *result[1:3], *strides, *dilations, *padding, groups]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=pathlib.Path, help="a folder of models")
    default = pathlib.Path(__file__).with_name("shapes.txt")
    parser.add_argument("--output", type=pathlib.Path, default=default)
    arguments = parser.parse_args()
    counts = collections.Counter()
    for path in sorted(arguments.models.glob("*.tflite")):
        counts.update(layers(path))
    lines = [f"{text} {count}" for text, count in counts.items()]
    lines.sort(key=lambda text: [int(word) if word.isdigit() else word for word in text.split()])
    arguments.output.write_text(HEADER + "\n".join(lines) + "\n")
    print(f"{len(lines)} different layers of {sum(counts.values())} in {arguments.output}")


if __name__ == "__main__":
    main()
