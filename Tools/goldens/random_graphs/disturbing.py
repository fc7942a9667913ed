# SPDX-License-Identifier: Apache-2.0
"""Graphs whose floats move a little where inputs cannot move them."""

import numpy as np

from random_graphs.model import Operator, Tensor, options
from random_graphs.shrinking import copied

# By how much of itself a random number is moved: as inputs are.
STEP = 1e-6
# Where a state of floats is quantized in each step, the last bit of one can move a value to the next integer, and steps
# after it carry that on: the same tolerance as in the tests of one-operator goldens.
STATE_TOLERANCE = 5e-3


def disturbed(graph, numbers):
    """The graph with a MUL behind each operator that draws random floats or quantizes its state; None if there is none."""
    graph = copied(graph)
    found = False
    for subgraph in graph.subgraphs():
        operators = []
        for operator in subgraph.operators:
            operators.append(operator)
            step = STATE_TOLERANCE if quantizes_state(operator) else STEP if operator.name.startswith("RANDOM_") else 0
            if not step:
                continue
            for place, tensor in enumerate(operator.outputs):
                if tensor.type != "float32" or tensor.is_variable:
                    continue
                before = Tensor("float32", tensor.shape)
                before.loose, before.open = tensor.loose, tensor.open
                operator.outputs[place] = before
                shape = () if tensor.loose or tensor.open else tensor.shape
                factor = Tensor("float32", shape, data=np.float32(1 + numbers.uniform(-step, step, shape)))
                operators.append(Operator("MUL", [before, factor], [tensor], options("Mul")))
                found = True
        subgraph.operators = operators
    return graph if found else None


def quantizes_state(operator):
    """Whether it is a recurrent operator with a state of floats and weights of bytes."""
    return (
        any(word in operator.name for word in ("RNN", "LSTM", "SVDF")) and operator.inputs[0].type == "float32"
        and any(t is not None and t.is_constant and t.type in ("int8", "uint8") for t in operator.inputs))
