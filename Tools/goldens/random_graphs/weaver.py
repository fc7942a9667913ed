# SPDX-License-Identifier: Apache-2.0
"""Grows one subgraph: keeps what has been computed, and adds operators to it."""

import numpy as np

import operators  # noqa: F401  (fills the catalogue)
from catalogue import OPERATORS
from random_graphs.model import QUANTIZED, Operator, Quantization, Subgraph, Tensor, dequantized, options, quantized


class Abandoned(Exception):
    """A move found that it cannot be made here; what it has added is taken back."""


# Operators of which LiteRT has an optimized kernel alone.
MIXED = ("CEIL", "ELU", "ROUND", "SEGMENT_SUM", "STABLEHLO_AND", "STABLEHLO_CASE", "STABLEHLO_SHIFT_LEFT")

_RANGES = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "int4": (-8, 7)}


def version_of(name, kind):
    """The operator's version for a type or a mix of types, as in its one-operator cases."""
    operator = OPERATORS.get(name)
    return operator.version(kind) if operator else 1


class Weaver:
    """`random` draws choices, `numbers` arrays; `limit` bounds the elements of a tensor."""

    def __init__(self, random, numbers, graph, subgraph=None, act="float32", parent=None):
        self.random = random
        self.numbers = numbers
        self.graph = graph
        self.subgraph = subgraph or Subgraph()
        self.act = act
        self.parent = parent
        self.limit = parent.limit if parent else 1200
        # Multiply-accumulates that may still be spent: the reference is slow.
        self.budget = parent.budget // 4 if parent else 250_000
        # Whether it is one of the few graphs with larger tensors, of which threads and tiles each get some.
        self.is_large = parent.is_large if parent else False
        self.pool = []
        self.constants = []
        self.filters = {}
        # Weights of floats: how often each kind of constant is drawn.
        self.weight_kinds = parent.weight_kinds if parent else {"plain": 6, "half": 2, "bytes": 1, "hybrid": 1, "made": 1}
        # Whether batches may change, so that no move may depend on them.
        self.is_flexible = parent.is_flexible if parent else False
        self.sources = parent.sources if parent else None
        # What is added once all else stands.
        self.later = []

    # Choices

    def chance(self, probability):
        return self.random.random() < probability

    def choice(self, values):
        if not len(values):
            raise Abandoned
        return self.random.choice(values)

    def integer(self, low, high):
        if low > high:
            raise Abandoned
        return self.random.randint(low, high)

    def weighted(self, table):
        return self.random.choices(list(table), list(table.values()))[0]

    def activation(self):
        return self.random.choices((0, 1, 2, 3), (6, 3, 1, 2))[0]

    def find(self, test=None, types=None, rank=None, recent=0.6, loose=False):
        """A tensor that has been computed, mostly one of the last; gives the move up where there is none."""
        found = [
            tensor for tensor in self.pool
            if (types is None or tensor.type in types) and (rank is None or tensor.rank in rank)
            and (loose or not tensor.loose) and (test is None or test(tensor))
        ]
        if not found:
            raise Abandoned
        if self.chance(recent):
            return found[-1]
        return self.choice(found)

    def image(self, types=("float32", "int8", "uint8", "int16"), test=None):
        return self.find(lambda t: t.size > 0 and (test is None or test(t)) and is_real(t), types, (4,))

    def allows(self, name):
        return name not in MIXED or self.graph.may_mix

    def attempt(self, move):
        """Makes a move, or leaves all as it was."""
        operators, pool, inputs = len(self.subgraph.operators), len(self.pool), len(self.subgraph.inputs)
        filters = {key: list(value) if isinstance(value, list) else value for key, value in self.filters.items()}
        graph, later, budget = self.graph, len(self.later), self.budget
        flags = graph.has_state, graph.is_mixed, graph.has_random
        try:
            move(self)
            return True
        except Abandoned:
            del self.subgraph.operators[operators:], self.pool[pool:], self.subgraph.inputs[inputs:], self.later[later:]
            self.filters = filters
            graph.has_state, graph.is_mixed, graph.has_random = flags
            self.budget = budget
            return False

    # Tensors

    def input(self, sets, type_name=None, quantization=None):
        """A model input with values for each set of data; an argument, where a subgraph is called."""
        type_name = type_name or sets[0].dtype.name
        value = dequantized(sets[0], quantization) if quantization else sets[0]
        tensor = Tensor(type_name, sets[0].shape, quantization, value=value)
        tensor.sets = list(sets)
        self.subgraph.inputs.append(tensor)
        self.pool.append(tensor)
        return tensor

    def constant(self, values, type_name=None, quantization=None, value=None):
        values = np.asarray(values)
        tensor = Tensor(type_name or values.dtype.name, values.shape, quantization, data=values)
        tensor.value = value if value is not None else (
            dequantized(values, quantization) if quantization else values)
        return tensor

    def indices(self, values):
        return self.constant(np.array(values, np.int32))

    def real_constant(self, real, like, quantization=None):
        """A constant of a tensor's type; with scales of its own, unless they are given."""
        real = np.asarray(real, np.float32)
        if like.type == "float32":
            if real.size and self.chance(0.15):
                return self.dequantized_constant(real)
            return self.constant(real)
        quantization = quantization or self.fit(real, like.type)
        return self.constant(quantized(real, like.type, quantization), like.type, quantization)

    def dequantized_constant(self, real):
        """A constant of halves or bytes that an operator makes floats of."""
        if self.chance(0.7):
            stored = self.constant(real.astype(np.float16))
            name = "float16"
        else:
            name = self.choice(["int8", "uint8"])
            quantization = self.fit(real, name)
            stored = self.constant(quantized(real, name, quantization), name, quantization)
        value = np.asarray(stored.value, np.float32)
        return self.emit("DEQUANTIZE", [stored], value, "float32", version=version_of("DEQUANTIZE", name), pooled=False)

    def fit(self, real, type_name):
        """Quantization after the spread of values; now and then a little too wide, or too narrow."""
        low, high = _RANGES[type_name]
        smallest = min(float(real.min()), 0.0) if real.size else -1.0
        largest = max(float(real.max()), 0.0) if real.size else 1.0
        spread = self.random.choices((1.0, 1.3, 2.0, 0.8), (6, 3, 1, 1))[0]
        smallest, largest = smallest * spread, largest * spread
        if not largest - smallest > 1e-3:
            smallest, largest = smallest - 0.5, largest + 0.5
        if type_name == "int16":
            return Quantization.per_tensor(max(largest, -smallest) / 32767, 0)
        scale = float(np.float32((largest - smallest) / (high - low)))
        return Quantization.per_tensor(scale, min(max(round(low - smallest / scale), low), high))

    # Operators

    def emit(self, name, inputs, value, type_name=None, quantization="fit", opts=None, version=None, pooled=True,
             loose=False, subgraphs=(), state=False):
        """Adds an operator of one output."""
        type_name = type_name or inputs[0].type
        if version is None:
            version = version_of(name, type_name)
        return self.emit_all(
            name, inputs, [(value, type_name, quantization)], opts, version, pooled, loose, subgraphs, state)[0]

    def emit_all(self, name, inputs, results, opts=None, version=1, pooled=True, loose=False, subgraphs=(), state=False):
        outputs = []
        for value, type_name, quantization in results:
            value = np.asarray(value)
            if type_name == "float32" and value.size:
                value = value.astype(np.float32, copy=False)
                magnitude = float(np.abs(value).max())
                if not magnitude < 1e4:
                    raise Abandoned
            elif value.dtype.kind == "i" and value.size and type_name not in QUANTIZED:
                if int(np.abs(value.astype(np.int64)).max()) > 10**6:
                    raise Abandoned
            if value.size > 4 * self.limit:
                raise Abandoned
            if type_name not in QUANTIZED:
                quantization = None
            elif quantization == "fit":
                quantization = self.fit(value, type_name)
            tensor = Tensor(type_name, value.shape, quantization, value=value)
            tensor.loose = loose or any(t is not None and t.loose for t in inputs)
            outputs.append(tensor)
        self.subgraph.operators.append(
            Operator(name, inputs, outputs, opts, version, subgraphs=subgraphs, state=state))
        if name in MIXED:
            self.graph.is_mixed = True
        if pooled:
            self.pool += outputs
        return outputs

    def spend(self, products):
        if products > self.budget:
            raise Abandoned
        self.budget -= products

    # Often needed

    def view(self, x, shape):
        """RESHAPE to a shape, if it is another."""
        if tuple(shape) == x.shape:
            return x
        return self.emit("RESHAPE", [x, self.indices(shape)], np.reshape(x.value, shape), x.type, x.quantization,
                         options("Reshape") if self.chance(0.5) else None, version=1)

    def rescaled(self, x, quantization):
        """A quantized tensor with other parameters, if they are others."""
        if x.quantization == quantization:
            return x
        return self.emit("QUANTIZE", [x], x.value, x.type, quantization, options("Quantize"),
                         version=version_of("QUANTIZE", f"{x.type}_to_{x.type}"))

    def calmed(self, x):
        """Brings large or small floats back to a usual size: a product with a constant."""
        if x.type != "float32" or not x.size:
            return x
        magnitude = float(np.abs(x.value).max())
        if 0.05 < magnitude < 30 or magnitude == 0:
            return x
        factor = np.float32(2.0 ** -round(np.log2(magnitude)))
        return self.emit("MUL", [x, self.constant(factor)], x.value * factor, opts=options("Mul"))

    def fitted(self, x, shape):
        """A tensor's elements in another shape: cut, repeated and reshaped as needed."""
        shape = tuple(int(size) for size in shape)
        count = int(np.prod(shape, dtype=np.int64))
        if x.shape == shape:
            return x
        if not x.size or not count:
            raise Abandoned
        if x.size == count:
            return self.view(x, shape)
        flat = self.view(x, (x.size,))
        if flat.size < count:
            times = -(-count // flat.size)
            if times > 16:
                raise Abandoned
            if times == 2 and self.chance(0.5):
                flat = self.emit("CONCATENATION", [flat, flat], np.concatenate([flat.value] * 2), flat.type,
                                 flat.quantization, options("Concatenation", axis=0))
            else:
                flat = self.emit("TILE", [flat, self.indices([times])], np.tile(flat.value, times), flat.type,
                                 flat.quantization, version=version_of("TILE", flat.type))
        if flat.size > count:
            begin = self.integer(0, flat.size - count)
            flat = self.emit("SLICE", [flat, self.indices([begin]), self.indices([count])],
                             flat.value[begin:begin + count], flat.type, flat.quantization)
        return self.view(flat, shape)


def is_real(tensor):
    """Whether a tensor stands for real numbers: floats, or integers with a scale for all."""
    return tensor.type == "float32" or tensor.is_quantized and len(tensor.quantization.scales) == 1
