# SPDX-License-Identifier: Apache-2.0
"""Builds one-operator `.tflite` models from NumPy arrays."""

from dataclasses import dataclass, field
from typing import Callable

import flatbuffers
import ml_dtypes  # noqa: F401  (teaches NumPy bfloat16)
import numpy as np
from ai_edge_litert import schema_py_generated as schema

TENSOR_TYPES = {
    "float32": schema.TensorType.FLOAT32,
    "float16": schema.TensorType.FLOAT16,
    "bfloat16": schema.TensorType.BFLOAT16,
    "float64": schema.TensorType.FLOAT64,
    "int8": schema.TensorType.INT8,
    "int16": schema.TensorType.INT16,
    "int32": schema.TensorType.INT32,
    "int64": schema.TensorType.INT64,
    "uint8": schema.TensorType.UINT8,
    "uint16": schema.TensorType.UINT16,
    "uint32": schema.TensorType.UINT32,
    "uint64": schema.TensorType.UINT64,
    "bool": schema.TensorType.BOOL,
    "complex64": schema.TensorType.COMPLEX64,
    "complex128": schema.TensorType.COMPLEX128,
    "int4": schema.TensorType.INT4,
    "int2": schema.TensorType.INT2,
    "uint4": schema.TensorType.UINT4,
}
# The bits of types that share bytes, lowest first.
PACKED_BITS = {"int4": 4, "int2": 2, "uint4": 4}
# Those whose values LiteRT's Python interface cannot pass: they come of floats, by CAST, and become floats again.
PASSED_AS_FLOATS = ("int2", "uint4")

# The index by which an operator says that it has no such (optional) operand.
ABSENT = -1


@dataclass(frozen=True)
class Quantization:
    """`real = (q - zero_point) * scale`, per tensor or along `axis`."""

    scales: tuple
    zero_points: tuple
    axis: int = 0

    @staticmethod
    def per_tensor(scale, zero_point):
        return Quantization((float(np.float32(scale)),), (int(zero_point),))

    @property
    def scale(self):
        return self.scales[0]

    @property
    def zero_point(self):
        return self.zero_points[0]

    def table(self):
        table = schema.QuantizationParametersT()
        table.scale = np.array(self.scales, np.float32)
        table.zeroPoint = np.array(self.zero_points, np.int64)
        table.quantizedDimension = self.axis
        return table


@dataclass
class ModelBuilder:
    """A model with one operator, and the values of its inputs.

    Shapes of outputs are not asked for: the reference tells them (see `archive.materialize`).
    """

    inputs: list = field(default_factory=list)
    # Turns the reference's outputs into those that are right; differs where it leaves memory unwritten.
    defined: Callable = field(default=lambda outputs: outputs)
    # Whether the answer is that of LiteRT's optimized kernels, where the reference's are plainly wrong.
    optimized: bool = False
    # The outputs, where the reference lacks the operator.
    answer: list = None
    # The operator's version, where cases of one type differ in it.
    version: int = None
    _tensors: list = field(default_factory=list)
    _buffers: list = field(default_factory=lambda: [schema.BufferT()])
    _input_indices: list = field(default_factory=list)
    _output_indices: list = field(default_factory=list)
    _operator_code: schema.OperatorCodeT = None
    _operator: schema.OperatorT = None
    _has_dynamic_output: bool = False
    # The tensors of each CAST before and after the operator.
    _casts_before: list = field(default_factory=list)
    _casts_after: list = field(default_factory=list)

    def input(self, values, quantization=None):
        """Adds a model input that has these values when the reference runs."""
        values = np.asarray(values)
        if values.dtype.name in PASSED_AS_FLOATS:
            packed = self._add(f"packed_{len(self._tensors)}", values.dtype.name, values.shape, quantization)
            self._casts_before.append((self.input(values.astype(np.float32)), packed))
            return packed
        # LiteRT's inputs and outputs have a byte for each element of such types.
        self.inputs.append(values.astype(np.int8) if values.dtype.name in PACKED_BITS else values)
        index = self._add(f"input_{len(self._input_indices)}", values.dtype, values.shape, quantization)
        self._input_indices.append(index)
        return index

    def constant(self, values, quantization=None, type_name=None, sparsity=None):
        """Adds a tensor whose values are part of the model.

        `type_name` differs from the array's type where several values share a byte; the values of a tensor
        with `sparsity` are those that it stores, as `sparse.py` makes them.
        """
        values = np.asarray(values)
        if values.dtype.name in PACKED_BITS:
            type_name = values.dtype.name
        stored = _packed(values, type_name) if type_name in PACKED_BITS else values
        shape = values.shape
        if sparsity is not None:
            sparsity, stored = sparsity
        buffer = schema.BufferT()
        # A buffer without bytes means "no constant" in the format, so an empty tensor has none.
        buffer.data = np.frombuffer(stored.tobytes(), np.uint8)
        self._buffers.append(buffer)
        name = f"constant_{len(self._buffers) - 1}"
        index = self._add(name, type_name or values.dtype, shape, quantization)
        self._tensors[index].buffer = len(self._buffers) - 1
        self._tensors[index].sparsity = sparsity
        return index

    def set_blocks(self, index, scales, size):
        """Gives a constant a scale for each block of `size` elements of a row; `scales` is another constant."""
        details = schema.BlockwiseQuantizationT()
        details.scales, details.zeroPoints, details.blockSize = scales, scales, size
        table = schema.QuantizationParametersT()
        table.detailsType, table.details = schema.QuantizationDetails.BlockwiseQuantization, details
        self._tensors[index].quantization = table

    def index_operand(self, values, dynamic):
        """Adds a shape, axis or index operand: a constant, or a model input where `dynamic`."""
        return self._make_dynamic(values) if dynamic else self.constant(values)

    def output(self, type_name, quantization=None):
        if type_name in PASSED_AS_FLOATS:
            packed = self._add(f"packed_{len(self._tensors)}", type_name, (), quantization)
            self._casts_after.append((packed, self.output("float32")))
            return packed
        index = self._add(f"output_{len(self._output_indices)}", type_name, (), quantization)
        self._output_indices.append(index)
        return index

    def operator(self, name, inputs, outputs, options=None, custom_options=None, options2=None):
        """Sets the operator: `name` as in the schema, or a custom operator's name with its options.

        `options2` are those of the schema's newer union.
        """
        self._operator_code = code = _code(name)
        self._operator = operator = schema.OperatorT()
        operator.inputs = np.array(inputs, np.int32)
        operator.outputs = np.array(outputs, np.int32)
        if code.builtinCode == schema.BuiltinOperator.CUSTOM:
            code.customCode = name
            operator.customOptions = np.frombuffer(custom_options, np.uint8)
        if options is not None:
            operator.builtinOptions = options
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, type(options).__name__[:-1])
        if options2 is not None:
            operator.builtinOptions2 = options2
            operator.builtinOptions2Type = getattr(schema.BuiltinOptions2, type(options2).__name__[:-1])
        return self

    def set_version(self, version):
        self._operator_code.version = self.version or version

    def set_output_shapes(self, shapes):
        """Declares what the reference answered, as a converter would."""
        for index, shape in zip(self._output_indices, shapes):
            tensor = self._tensors[index]
            if self._has_dynamic_output:
                tensor.shapeSignature = np.full(len(shape), -1, np.int32)
                shape = [1] * len(shape)
            tensor.shape = np.array(shape, np.int32)
        for packed, output in self._casts_after:
            self._tensors[packed].shape = self._tensors[output].shape
            self._tensors[packed].shapeSignature = self._tensors[output].shapeSignature

    def bytes(self):
        subgraph = schema.SubGraphT()
        subgraph.tensors = self._tensors
        subgraph.inputs = np.array(self._input_indices, np.int32)
        subgraph.outputs = np.array(self._output_indices, np.int32)
        casts = [[_cast(*pair) for pair in pairs] for pairs in (self._casts_before, self._casts_after)]
        subgraph.operators = [*casts[0], self._operator, *casts[1]]
        model = schema.ModelT()
        model.version = 3
        model.operatorCodes = [self._operator_code]
        if any(casts):
            model.operatorCodes.append(_code("CAST"))
        model.subgraphs = [subgraph]
        model.buffers = self._buffers
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())

    def _make_dynamic(self, values):
        self._has_dynamic_output = True
        return self.input(values)

    def _add(self, name, dtype, shape, quantization):
        tensor = schema.TensorT()
        tensor.name = name
        tensor.type = TENSOR_TYPES[dtype if dtype in PACKED_BITS else np.dtype(dtype).name]
        tensor.shape = np.array(shape, np.int32)
        tensor.hasRank = True
        tensor.quantization = quantization.table() if quantization else None
        self._tensors.append(tensor)
        return len(self._tensors) - 1


def _code(name):
    builtin = getattr(schema.BuiltinOperator, name, schema.BuiltinOperator.CUSTOM)
    code = schema.OperatorCodeT()
    code.builtinCode = builtin
    code.deprecatedBuiltinCode = min(builtin, schema.BuiltinOperator.PLACEHOLDER_FOR_GREATER_OP_CODES)
    return code


def _cast(source, target):
    """CAST, whose code is the model's second."""
    operator = schema.OperatorT()
    operator.opcodeIndex = 1
    operator.inputs = np.array([source], np.int32)
    operator.outputs = np.array([target], np.int32)
    return operator


def _packed(values, type_name):
    """Two or four values to a byte, the first in the lowest bits."""
    bits = PACKED_BITS[type_name]
    count = 8 // bits
    flat = np.zeros(-(-values.size // count) * count, np.uint8)
    flat[: values.size] = values.reshape(-1).astype(np.int8).view(np.uint8) & ((1 << bits) - 1)
    shifts = np.arange(count, dtype=np.uint8) * bits
    return np.bitwise_or.reduce(flat.reshape(-1, count) << shifts, axis=1).astype(np.uint8)
