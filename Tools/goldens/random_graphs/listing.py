# SPDX-License-Identifier: Apache-2.0
"""A graph as text, for people."""

import numpy as np


def listing(graph):
    """One line for each input, operator and constant of interest."""
    subgraphs = graph.subgraphs()
    lines = []
    for number, subgraph in enumerate(subgraphs):
        names = {id(tensor): f"t{index}" for index, tensor in enumerate(subgraph.tensors())}
        if number:
            lines.append(f"subgraph {number}:")
        for tensor in subgraph.inputs:
            lines.append(f"  {names[id(tensor)]}: input {describe(tensor)}")
        for index, operator in enumerate(subgraph.operators):
            operands = ", ".join(
                "none" if tensor is None else f"{names[id(tensor)]} (constant {describe(tensor)}{contents(tensor)})"
                if tensor.is_constant else f"{names[id(tensor)]} (variable {describe(tensor)})" if tensor.is_variable
                else names[id(tensor)] for tensor in operator.inputs)
            results = ", ".join(f"{names[id(tensor)]}: {describe(tensor)}" for tensor in operator.outputs)
            called = [next(i for i, s in enumerate(subgraphs) if s is child) for child in operator.subgraphs]
            blob = operator.options
            more = "" if blob is None else f" calls {called}" if callable(blob) else f" {blob.text}" if blob.text else ""
            lines.append(f"  #{index} {results} = {operator.name}({operands}){more}")
        lines.append("  outputs: " + ", ".join(
            names[id(tensor)] + (f" (constant {describe(tensor)})" if tensor.is_constant else "")
            for tensor in subgraph.outputs))
    for key, subgraph in graph.signatures:
        lines.append(f"signature {key}: subgraph {next(i for i, s in enumerate(subgraphs) if s is subgraph)}")
    if graph.is_program:
        lines.append("runs: " + "; ".join(
            f"{key or 'main'} {', '.join(str(list(array.shape)) for array in arrays)}" for key, arrays in graph.runs()))
    if graph.resized:
        lines.append("another shape: " + ", ".join(str(list(array.shape)) for array in graph.sets()[-1]))
    return "\n".join(lines)


def describe(tensor):
    text = f"{tensor.type} {list(tensor.shape)}"
    if tensor.quantization:
        scales = tensor.quantization.scales
        text += f" scale {scales[0]:.4g}" + (f" and {len(scales) - 1} more" if len(scales) > 1 else "")
        text += f" zero {tensor.quantization.zero_points[0]}"
    return text


def contents(tensor):
    if isinstance(tensor.data, bytes) or tensor.data.size > 8 or tensor.type in ("float16", "int4"):
        return ""
    return " = " + np.array2string(tensor.data, separator=", ", precision=5).replace("\n", "")
