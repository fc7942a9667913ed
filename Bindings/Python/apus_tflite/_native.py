# SPDX-License-Identifier: Apache-2.0
"""An interpreter of the C library, and its tensors as numpy arrays."""

import ctypes

import numpy as np

from apus_tflite._library import (
    DTYPES,
    LIBRARY,
    AffineQuantization,
    DimensionMetadata,
    Reporter,
    Sparsity,
    Tensor,
    integers,
    message,
)


class Messages:
    """Collects what the library reports."""

    def __init__(self):
        self._messages = []
        self.function = Reporter(
            lambda _, text, arguments: self._messages.append(message(text, arguments))
        )

    def take(self):
        """The messages since the last call, as one text."""
        text = " ".join(self._messages)
        self._messages.clear()
        return text


class View:
    """Memory that a numpy array shows; `owner` lives as long as the array."""

    def __init__(self, address, shape, dtype, owner=None):
        self.owner = owner
        dtype = np.dtype(dtype)
        # Types of other packages have no name here: an array of their bits is asked for.
        self.__array_interface__ = {
            "data": (address, False),
            "shape": tuple(shape),
            "typestr": np.dtype(np.uint16).str if dtype.name == "bfloat16" else dtype.str,
            "version": 3,
        }


class BorrowedView(View):
    """Memory of an interpreter that a program looks at. The interpreter does not run meanwhile."""

    def __init__(self, address, shape, dtype, owner):
        super().__init__(address, shape, dtype, owner)
        owner.arrays.add(id(self))

    def __del__(self):
        self.owner.arrays.discard(id(self))


class NativeTensor:
    """A TfLiteTensor."""

    # Several elements of these types share a byte: their bits, and whether they have a sign.
    _PACKED = {18: (4, True), 20: (2, True), 21: (4, False)}

    def __init__(self, address):
        self._tensor = Tensor.from_address(address)
        # The fields before the name: what they were when the view was made.
        self._fields = (ctypes.c_char * Tensor.name.offset).from_address(address)
        self._shown = None
        self._view = None
        self._packed = self._PACKED.get(self._tensor.type)

    @property
    def dtype(self):
        return DTYPES.get(self._tensor.type, (None, "?"))[0]

    @property
    def type_name(self):
        return DTYPES.get(self._tensor.type, (None, "type %d" % self._tensor.type))[1]

    @property
    def name(self):
        return (self._tensor.name or b"").decode("utf-8", "replace")

    @property
    def shape(self):
        return integers(self._tensor.dims)

    @property
    def is_packed(self):
        """Whether several elements share a byte."""
        return self._packed is not None

    @property
    def is_variable(self):
        return self._tensor.is_variable

    def view(self, owner=None):
        """An array that shows the elements themselves."""
        shown = self._fields.raw
        if owner is None and shown == self._shown:
            return self._view
        data = self._tensor.data
        if self.dtype in (None, np.bytes_, np.object_):
            raise ValueError("%s is %s, which is not supported" % (self.name, self.type_name))
        if not data and self._tensor.bytes:
            raise ValueError("Tensor data is null. Run allocate_tensors() first")
        shape, dtype = self.shape, self.dtype
        if self._packed:
            shape = [self._tensor.bytes]
        if not self._tensor.bytes:
            return np.empty(shape, dtype)
        if owner is not None:
            return np.asarray(BorrowedView(data, shape, dtype, owner)).view(dtype)
        self._shown, self._view = shown, np.asarray(View(data, shape, dtype)).view(dtype)
        return self._view

    def get(self):
        """A copy of the elements."""
        view = self._view if self._fields.raw == self._shown else self.view()
        packed = self._packed
        if packed is None:
            return view.copy()
        width, is_signed = packed
        shape = self.shape
        count = int(np.prod(shape, dtype=np.int64))
        shifts = np.arange(0, 8, width, dtype=np.uint8)
        bits = (view.view(np.uint8)[:, None] >> shifts) & ((1 << width) - 1)
        values = bits.reshape(-1)[:count].astype(np.int8)
        if is_signed:
            values = np.where(values >= 1 << (width - 1), values - (1 << width), values)
        return values.astype(self.dtype).reshape(shape)

    def set(self, value, place):
        """Copies an array into the elements; its type and shape must be the tensor's."""
        if type(value) is not np.ndarray:
            value = np.asarray(value)
        view = self._view if self._fields.raw == self._shown else self.view()
        packed = self._packed
        if packed is None and value.dtype == view.dtype and value.shape == view.shape:
            view[...] = value
            return
        if self.type_name == "BFLOAT16" and value.dtype.name in ("bfloat16", "uint16"):
            # Both are the bits of the numbers, with ml_dtypes and without.
            value = value.view(view.dtype)
        shape = view.shape if packed is None else tuple(self.shape)
        if value.dtype != view.dtype:
            raise ValueError(
                "Cannot set tensor: Got value of type %s but expected type %s for input %s, name: %s"
                % (value.dtype.name.upper(), self.type_name, place, self.name)
            )
        if value.shape != shape:
            if value.ndim != len(shape):
                raise ValueError(
                    "Cannot set tensor: Dimension mismatch. Got %d but expected %d for input %s."
                    % (value.ndim, len(shape), place)
                )
            axis = next(i for i in range(len(shape)) if value.shape[i] != shape[i])
            raise ValueError(
                "Cannot set tensor: Dimension mismatch. Got %d but expected %d for dimension %d of input %s."
                % (value.shape[axis], shape[axis], axis, place)
            )
        if packed is None:
            view[...] = value
            return
        width = packed[0]
        each = 8 // width
        bits = value.reshape(-1).view(np.uint8) & ((1 << width) - 1)
        bits = np.concatenate([bits, np.zeros(-bits.size % each, np.uint8)]).reshape(-1, each)
        shifts = np.arange(0, 8, width, dtype=np.uint8)
        view.view(np.uint8)[...] = np.bitwise_or.reduce(bits << shifts, axis=1).astype(np.uint8)

    def details(self, index):
        """What TensorFlow Lite's get_tensor_details returns for a tensor."""
        if self.dtype is None:
            raise ValueError("Could not get tensor details")
        scales, zero_points, axis = np.array([], np.float32), np.array([], np.int32), 0
        if self._tensor.quantization:
            affine = AffineQuantization.from_address(self._tensor.quantization)
            scales = integers(affine.scale, np.float32)
            zero_points = integers(affine.zero_point)
            axis = affine.quantized_dimension
        signature = integers(self._tensor.dims_signature)
        shape = self.shape
        return {
            "name": self.name,
            "index": index,
            "shape": shape,
            "shape_signature": signature if signature.size else shape,
            "dtype": self.dtype,
            "quantization": (float(self._tensor.scale), int(self._tensor.zero_point)),
            "quantization_parameters": {
                "scales": scales,
                "zero_points": zero_points,
                "quantized_dimension": axis,
                "block_size": 0,
            },
            "sparsity_parameters": self._sparsity_parameters(),
        }

    def _sparsity_parameters(self):
        if not self._tensor.sparsity:
            return {}
        sparsity = Sparsity.from_address(self._tensor.sparsity)
        result = {"traversal_order": integers(sparsity.traversal_order)}
        if sparsity.block_map:
            result["block_map"] = integers(sparsity.block_map)
        levels = (DimensionMetadata * sparsity.dim_metadata_size).from_address(sparsity.dim_metadata)
        result["dim_metadata"] = [
            {
                "format": level.format,
                "array_segments": integers(level.array_segments),
                "array_indices": integers(level.array_indices),
            }
            if level.format
            else {"format": level.format, "dense_size": level.dense_size}
            for level in levels
        ]
        return result


class NativeInterpreter:
    """A TfLiteInterpreter, deleted with this object."""

    def __init__(self, model_path, model_content, thread_count, preserves_all_tensors):
        self.messages = Messages()
        # The arrays of the interpreter's memory that the program has, by their identity.
        self.arrays = set()
        self._handle = None
        report = self.messages.function
        if model_path is not None:
            model = LIBRARY.TfLiteModelCreateFromFileWithErrorReporter(model_path, report, None)
        else:
            model = LIBRARY.TfLiteModelCreateWithErrorReporter(
                model_content, len(model_content), report, None
            )
        if not model:
            raise ValueError(self.messages.take())
        options = LIBRARY.TfLiteInterpreterOptionsCreate()
        LIBRARY.TfLiteInterpreterOptionsSetErrorReporter(options, report, None)
        LIBRARY.TfLiteInterpreterOptionsSetNumThreads(options, thread_count)
        LIBRARY.ApusInterpreterOptionsSetPreserveAllTensors(options, preserves_all_tensors)
        self._handle = LIBRARY.TfLiteInterpreterCreate(model, options)
        LIBRARY.TfLiteInterpreterOptionsDelete(options)
        LIBRARY.TfLiteModelDelete(model)
        if not self._handle:
            raise ValueError(self.messages.take())
        self.inputs = LIBRARY.TfLiteInterpreterInputTensorIndices(self._handle)[
            : LIBRARY.TfLiteInterpreterGetInputTensorCount(self._handle)
        ]
        self.outputs = LIBRARY.TfLiteInterpreterOutputTensorIndices(self._handle)[
            : LIBRARY.TfLiteInterpreterGetOutputTensorCount(self._handle)
        ]
        # Inputs and outputs stay what they are; for any other tensor the library is asked each time.
        tensor = LIBRARY.TfLiteInterpreterGetTensor
        self.ends = {
            index: NativeTensor(tensor(self._handle, index)) for index in self.inputs + self.outputs
        }
        # Without types of arguments, and with one that is made once, a call is faster.
        self._invoke = ctypes.CDLL(LIBRARY._name).TfLiteInterpreterInvoke
        self._argument = ctypes.c_void_p(self._handle)

    @property
    def handle(self):
        """The TfLiteInterpreter."""
        return self._handle

    def __del__(self):
        if self._handle:
            LIBRARY.TfLiteInterpreterDelete(self._handle)
            self._handle = None

    def check(self, status, error=RuntimeError):
        """Raises an error with the library's message unless a call succeeded."""
        if status:
            raise error(self.messages.take() or "status %d" % status)

    def tensor(self, index, subgraph=0):
        """A tensor by its index in a subgraph."""
        end = None if subgraph else self.ends.get(index)
        if end is not None:
            return end
        # The call refreshes the tensor's values.
        address = LIBRARY.ApusInterpreterGetSubgraphTensor(self._handle, subgraph, index)
        if not address:
            # What TensorFlow Lite calls the maximum is the number of tensors.
            count = self.tensor_count(subgraph)
            raise ValueError("Invalid tensor index %d exceeds max tensor index %d" % (index, count))
        return NativeTensor(address)

    def tensor_count(self, subgraph=0):
        count = 0
        while LIBRARY.ApusInterpreterGetSubgraphTensor(self._handle, subgraph, count):
            count += 1
        return count

    def subgraph_count(self):
        return LIBRARY.ApusInterpreterGetSubgraphCount(self._handle)

    def operator_count(self):
        return LIBRARY.ApusInterpreterGetOperatorCount(self._handle)

    def operator(self, index):
        """An operator of the main subgraph: its name, and the indices of the tensors that it reads and writes."""
        inputs, outputs = ctypes.c_void_p(), ctypes.c_void_p()
        name = LIBRARY.ApusInterpreterGetOperator(self._handle, index, inputs, outputs)
        if name is None:
            raise ValueError("Invalid node index %d: the model has %d nodes" % (index, self.operator_count()))
        return name.decode("utf-8", "replace"), integers(inputs.value), integers(outputs.value)

    def allocate(self):
        self.check(LIBRARY.TfLiteInterpreterAllocateTensors(self._handle))

    def invoke(self):
        self.check(self._invoke(self._argument))

    def resize(self, index, shape, is_strict):
        if index not in self.inputs:
            raise ValueError("Tensor %d is not an input" % index)
        dims = (ctypes.c_int32 * len(shape))(*[int(size) for size in shape])
        function = (
            LIBRARY.TfLiteInterpreterResizeInputTensorStrict
            if is_strict
            else LIBRARY.TfLiteInterpreterResizeInputTensor
        )
        self.check(function(self._handle, self.inputs.index(index), dims, len(shape)), ValueError)

    def reset_variables(self):
        self.check(LIBRARY.TfLiteInterpreterResetVariableTensors(self._handle))

    def signature_keys(self):
        count = LIBRARY.TfLiteInterpreterGetSignatureCount(self._handle)
        return [LIBRARY.TfLiteInterpreterGetSignatureKey(self._handle, i).decode() for i in range(count)]

    def runner(self, key):
        return NativeRunner(self, LIBRARY.TfLiteInterpreterGetSignatureRunner(self._handle, key.encode()))


class NativeRunner:
    """A TfLiteSignatureRunner, deleted with this object."""

    def __init__(self, interpreter, handle):
        self._interpreter = interpreter
        self._handle = handle
        if not handle:
            raise ValueError(interpreter.messages.take())
        self.inputs = [
            LIBRARY.TfLiteSignatureRunnerGetInputName(handle, i).decode()
            for i in range(LIBRARY.TfLiteSignatureRunnerGetInputCount(handle))
        ]
        self.outputs = [
            LIBRARY.TfLiteSignatureRunnerGetOutputName(handle, i).decode()
            for i in range(LIBRARY.TfLiteSignatureRunnerGetOutputCount(handle))
        ]

    def __del__(self):
        if self._handle:
            LIBRARY.TfLiteSignatureRunnerDelete(self._handle)
            self._handle = None

    def input(self, name):
        return NativeTensor(LIBRARY.TfLiteSignatureRunnerGetInputTensor(self._handle, name.encode()))

    def output(self, name):
        return NativeTensor(LIBRARY.TfLiteSignatureRunnerGetOutputTensor(self._handle, name.encode()))

    def run(self, values):
        check = self._interpreter.check
        for name, value in values.items():
            dims = (ctypes.c_int32 * value.ndim)(*value.shape)
            check(
                LIBRARY.TfLiteSignatureRunnerResizeInputTensor(self._handle, name.encode(), dims, value.ndim),
                ValueError,
            )
        check(LIBRARY.TfLiteSignatureRunnerAllocateTensors(self._handle))
        for name, value in values.items():
            self.input(name).set(value, name)
        check(LIBRARY.TfLiteSignatureRunnerInvoke(self._handle))
        return {name: self.output(name).get() for name in self.outputs}
