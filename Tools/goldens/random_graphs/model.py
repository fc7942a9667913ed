# SPDX-License-Identifier: Apache-2.0
"""A model as a graph of Python objects: what the generator grows, the writer writes and the shrinker cuts."""

from functools import lru_cache

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

from model_builder import PACKED_BITS, Quantization, TENSOR_TYPES

QUANTIZED = ("int8", "uint8", "int16")


class Tensor:
    """A tensor of a graph.

    `value` is about what it holds with the first set of inputs: real numbers for floats and quantized types, the
    elements themselves for others. It gives ranges to quantize by, so it need not be exact.
    """

    __slots__ = (
        "type", "shape", "quantization", "data", "is_variable", "value", "loose", "sets", "blob", "open", "name",
        "sparsity", "is_hidden",
    )

    def __init__(self, type_name, shape, quantization=None, data=None, value=None, is_variable=False):
        self.type = type_name
        self.shape = tuple(int(size) for size in shape)
        self.quantization = quantization
        # What a constant holds, as the file stores it (but a byte for each element of packed types).
        self.data = data
        self.value = value
        self.is_variable = is_variable
        # Whether the shape depends on data.
        self.loose = False
        # For inputs: the values of each set of data.
        self.sets = None
        # Quantization and sparsity as a FlatBuffer of their own, where `quantization` cannot say it.
        self.blob = None
        self.sparsity = None
        # Whether the file leaves the shape open: a signature, all sizes (True), or even how many there are ("unranked").
        self.open = False
        self.name = None
        # Whether it is memory that an operator uses, and nothing to read.
        self.is_hidden = False

    @property
    def size(self):
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def rank(self):
        return len(self.shape)

    @property
    def is_constant(self):
        return self.data is not None

    @property
    def is_quantized(self):
        return self.quantization is not None and self.type in QUANTIZED

    def raw(self, real):
        """Real numbers as this tensor stores them."""
        if not self.is_quantized:
            return np.asarray(real).astype(self.type)
        return quantized(real, self.type, self.quantization)


class Operator:
    """An operator of a graph; `subgraphs` are those it calls."""

    __slots__ = ("name", "version", "inputs", "outputs", "options", "custom", "intermediates", "subgraphs", "state")

    def __init__(self, name, inputs, outputs, options=None, version=1, custom=None, intermediates=None,
                 subgraphs=(), state=False):
        self.name = name
        self.version = version
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        # A `Blob`, or a function from the indices of `subgraphs` to one.
        self.options = options
        self.custom = custom
        self.intermediates = intermediates
        self.subgraphs = list(subgraphs)
        # Whether it reads or changes what lives between runs, so that its place counts.
        self.state = state


class Subgraph:
    __slots__ = ("inputs", "outputs", "operators")

    def __init__(self):
        self.inputs = []
        self.outputs = []
        self.operators = []

    def tensors(self):
        """Every tensor once, in the order of first use."""
        seen = {}
        for tensor in self.inputs:
            seen[id(tensor)] = tensor
        for operator in self.operators:
            for tensor in (*operator.inputs, *operator.outputs, *(operator.intermediates or ())):
                if tensor is not None:
                    seen[id(tensor)] = tensor
        for tensor in self.outputs:
            seen[id(tensor)] = tensor
        return list(seen.values())


class Graph:
    """A model: its main subgraph leads to the others. `sets` counts the sets of data that its inputs hold."""

    def __init__(self, kind=""):
        self.kind = kind
        self.main = Subgraph()
        # Whether what it computes depends on the runs before.
        self.has_state = False
        # Whether one of its operators draws random numbers.
        self.has_random = False
        # Whether LiteRT has one of its operators among the optimized kernels alone.
        self.is_mixed = False
        # Whether it may have such.
        self.may_mix = False
        # Whether its inputs have infinities, NaN and numbers that are almost these.
        self.is_special = False
        # Shapes of the inputs in the last set, if that has other shapes.
        self.resized = False
        # Whether it is a program: sets of data have shapes of their own and run in an order.
        self.is_program = False
        # For programs: which signature runs which of its sets, one after the other.
        self.order = []
        # Entries by key, the main subgraph first; empty if that is the only one.
        self.signatures = []

    def subgraphs(self):
        """The main subgraph and other entries, then all that these lead to, each once."""
        found = [self.main, *(subgraph for _, subgraph in self.signatures[1:])]
        for subgraph in found:
            for operator in subgraph.operators:
                for child in operator.subgraphs:
                    if not any(child is known for known in found):
                        found.append(child)
        return found

    def runs(self):
        """For programs: the key of the signature (or None) and the arrays of each run."""
        entries = self.signatures or [(None, self.main)]
        return [(entries[number][0], [tensor.sets[place] for tensor in entries[number][1].inputs]) for number, place in self.order]

    def operator_count(self):
        return sum(len(subgraph.operators) for subgraph in self.subgraphs())

    def sets(self):
        """For each set of data the arrays of the inputs."""
        inputs = self.main.inputs
        count = max((len(tensor.sets) for tensor in inputs), default=2)
        return [[tensor.sets[min(number, len(tensor.sets) - 1)] for tensor in inputs] for number in range(count)]


class Blob:
    """A finished FlatBuffer whose root is a table: it can be put whole into another."""

    __slots__ = ("type", "union", "contents", "root", "_fields")

    def __init__(self, table, union=1):
        name = type(table).__name__[:-1]
        unions = schema.BuiltinOptions if union == 1 else schema.BuiltinOptions2
        self.type = getattr(unions, name, 0)
        self.union = union
        builder = flatbuffers.Builder(128)
        builder.Finish(table.Pack(builder))
        contents = bytes(builder.Output())
        self.root = int.from_bytes(contents[:4], "little")
        self.contents = contents
        self._fields = vars(table)

    @property
    def text(self):
        """The fields that are not zero, for people."""
        return " ".join(
            f"{key}={value}" for key, value in self._fields.items()
            if value is not None and not (np.isscalar(value) and not value))


@lru_cache(maxsize=20000)
def _options(name, fields, union):
    return Blob(getattr(schema, name + "OptionsT")(**dict(fields)), union)


def options(name, union=1, **fields):
    """An operator's options by the name of their table without "Options"."""
    return _options(name, tuple(sorted(fields.items())), union)


def quantized(real, type_name, quantization):
    """Real numbers as integers, with the scales of a channel each where there are several."""
    real = np.asarray(real)
    low, high = {"int4": (-8, 7)}.get(type_name) or (np.iinfo(type_name).min, np.iinfo(type_name).max)
    scale, zero = quantization.scale, quantization.zero_point
    if len(quantization.scales) > 1:
        shape = [1] * real.ndim
        shape[quantization.axis] = -1
        scale = np.reshape(np.array(quantization.scales), shape)
        zero = np.reshape(np.array(quantization.zero_points), shape)
    values = np.clip(np.rint(real / scale) + zero, low, high)
    return values.astype("int8" if type_name == "int4" else type_name)


def dequantized(values, quantization):
    scale, zero = quantization.scale, quantization.zero_point
    if len(quantization.scales) > 1:
        shape = [1] * values.ndim
        shape[quantization.axis] = -1
        scale = np.reshape(np.array(quantization.scales), shape)
        zero = np.reshape(np.array(quantization.zero_points), shape)
    return ((values.astype(np.float64) - zero) * scale).astype(np.float32)


__all__ = [
    "Blob", "Graph", "Operator", "PACKED_BITS", "QUANTIZED", "Quantization", "Subgraph", "TENSOR_TYPES", "Tensor",
    "dequantized", "options", "quantized",
]
