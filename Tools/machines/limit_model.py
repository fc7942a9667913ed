# SPDX-License-Identifier: Apache-2.0
"""Models for the machine of limits: few operators, large tensors, no shapes of results."""

import numpy as np

from random_graphs.model import Graph, Operator, Quantization, Subgraph, Tensor
from random_graphs.weaver import version_of
from random_graphs.writer import write

SCALE = Quantization.per_tensor(0.05, 0)


class Blank:
    """An input whose numbers do not matter: the probe draws them."""

    def __init__(self, shape):
        self.shape = tuple(int(size) for size in shape)
        self.ndim = len(self.shape)

    def tobytes(self):
        return b""


class LimitModel:
    """Grows one subgraph; types other than floats and int32 have one scale."""

    def __init__(self):
        self.subgraph = Subgraph()
        self.inputs = []

    def input(self, type_name, shape, values=None, quantization=None):
        tensor = Tensor(type_name, shape, quantization or _usual(type_name))
        self.subgraph.inputs.append(tensor)
        self.inputs.append(Blank(shape) if values is None else np.asarray(values))
        return tensor

    def constant(self, values, type_name=None, quantization=None):
        values = np.asarray(values)
        type_name = type_name or values.dtype.name
        return Tensor(type_name, values.shape, quantization or _usual(type_name), data=values)

    def integers(self, *values):
        return self.constant(np.array(values, np.int32))

    def add(self, name, inputs, type_name, opts=None, version=None, quantization=None, subgraphs=()):
        return self.add_all(name, inputs, [type_name], opts, version, quantization, subgraphs)[0]

    def add_all(self, name, inputs, type_names, opts=None, version=None, quantization=None, subgraphs=()):
        outputs = [Tensor(type_name, (), quantization or _usual(type_name)) for type_name in type_names]
        if version is None:
            version = version_of(name, type_names[0])
        self.subgraph.operators.append(Operator(name, inputs, outputs, opts, version, subgraphs=subgraphs))
        return outputs

    def bytes(self, *outputs):
        graph = Graph()
        graph.main = self.subgraph
        graph.main.outputs = list(outputs)
        return write(graph)[0]


def _usual(type_name):
    return SCALE if type_name in ("int8", "uint8", "int16") else None
