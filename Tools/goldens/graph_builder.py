# SPDX-License-Identifier: Apache-2.0
"""Builds models of several operators and subgraphs: what control flow and state need."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

import flatbuffers
from model_builder import ModelBuilder


class GraphBuilder(ModelBuilder):
    """A model with several operators in its main subgraph; `subgraph` adds more of them."""

    def __init__(self):
        super().__init__()
        self._operators = []
        self._codes = []
        self._children = []
        self._main = None

    def subgraph(self):
        """Another subgraph, to be filled; its `index` is what options name."""
        child = GraphBuilder()
        child._buffers = self._buffers
        child._codes = self._codes
        self._children.append(child)
        child.index = len(self._children)
        return child

    def argument(self, type_name, shape, quantization=None):
        """An input of a subgraph that operators call."""
        index = self._add(f"argument_{len(self._input_indices)}", type_name, shape, quantization)
        self._input_indices.append(index)
        return index

    def result(self, index):
        """Makes any tensor an output."""
        self._output_indices.append(index)

    def tensor(self, type_name, shape=(), quantization=None):
        """A tensor between two operators."""
        return self._add(f"tensor_{len(self._tensors)}", type_name, shape, quantization)

    def handle(self):
        """A tensor that names a resource variable."""
        index = self._add(f"handle_{len(self._tensors)}", "int32", (), None)
        self._tensors[index].type = schema.TensorType.RESOURCE
        return index

    def variable(self, type_name, shape, quantization=None):
        """A tensor that keeps its values between runs."""
        index = self._add(f"variable_{len(self._tensors)}", type_name, shape, quantization)
        self._tensors[index].isVariable = True
        return index

    def add(self, name, inputs, outputs, options=None, options2=None, intermediates=None, version=1, main=False):
        """Appends an operator; `main` says that the case is about it."""
        code = schema.OperatorCodeT()
        code.builtinCode = getattr(schema.BuiltinOperator, name)
        code.deprecatedBuiltinCode = min(code.builtinCode, schema.BuiltinOperator.PLACEHOLDER_FOR_GREATER_OP_CODES)
        code.version = version
        if main:
            self._main = code
        self._codes.append(code)
        operator = schema.OperatorT()
        operator.opcodeIndex = len(self._codes) - 1
        operator.inputs = np.array(inputs, np.int32)
        operator.outputs = np.array(outputs, np.int32)
        if intermediates is not None:
            operator.intermediates = np.array(intermediates, np.int32)
        if options is not None:
            operator.builtinOptions = options
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, type(options).__name__[:-1])
        if options2 is not None:
            operator.builtinOptions2 = options2
            operator.builtinOptions2Type = getattr(schema.BuiltinOptions2, type(options2).__name__[:-1])
        self._operators.append(operator)
        return self

    def set_version(self, version):
        if self._main is not None:
            self._main.version = version

    def bytes(self):
        model = schema.ModelT()
        model.version = 3
        model.operatorCodes = self._codes
        model.subgraphs = [self._graph(), *(child._graph() for child in self._children)]
        model.buffers = self._buffers
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())

    def _graph(self):
        graph = schema.SubGraphT()
        graph.tensors = self._tensors
        graph.inputs = np.array(self._input_indices, np.int32)
        graph.outputs = np.array(self._output_indices, np.int32)
        graph.operators = self._operators
        return graph


