# SPDX-License-Identifier: Apache-2.0
"""An interpreter of the C library, and its tensors as numpy arrays."""

import ctypes
import operator
import threading

import numpy as np

from apus_tflite._library import (
    DTYPES,
    LIBRARY,
    AffineQuantization,
    DimensionMetadata,
    IntArray,
    Reporter,
    Sparsity,
    Tensor,
    integers,
    message,
)
from apus_tflite._turns import Turns


def integer(value):
    """A number that a program passes as an integer: what LiteRT takes as one, such as numpy's numbers but no float of Python's."""
    if isinstance(value, float) or hasattr(type(value), "__index__") or not hasattr(type(value), "__int__"):
        return operator.index(value)
    return int(value)


def checked_index(value):
    """An index of a tensor, a subgraph or an operator: an integer of 32 bits."""
    index = integer(value)
    if not -(1 << 31) <= index < 1 << 31:
        raise TypeError("%d is no index: it has more than 32 bits" % index)
    return index


# Why a tensor of an interpreter that is allocated has no data.
_NOT_KEPT = (
    "It is neither an input nor an output, and its values are kept after a run only by "
    "Interpreter(..., experimental_preserve_all_tensors=True)"
)


class Messages:
    """Collects what the library reports."""

    def __init__(self):
        # The messages by the thread that reports them: several may call at a time.
        self._messages = {}
        self.function = Reporter(lambda _, text, arguments: self._note(message(text, arguments)))

    def _note(self, text):
        self._messages.setdefault(threading.get_ident(), []).append(text)

    def take(self, is_own=False):
        """This thread's messages since its last call as one text; if it has none, those of a thread that the library started, unless only its
        own ones are asked for."""
        texts = self._messages.pop(threading.get_ident(), None)
        if texts is None and not is_own:
            texts = self._messages.pop(next(iter(list(self._messages)), None), None)
        return " ".join(texts or [])


class View:
    """Memory that a numpy array shows; `owner` lives as long as the array."""

    def __init__(self, address, shape, dtype, owner=None, is_read_only=False):
        self.owner = owner
        dtype = np.dtype(dtype)
        # Types of other packages have no name here: an array of their bits is asked for.
        self.__array_interface__ = {
            "data": (address, is_read_only),
            "shape": tuple(shape),
            "typestr": np.dtype(np.uint16).str if dtype.name == "bfloat16" else dtype.str,
            "version": 3,
        }


class BorrowedView(View):
    """Memory of an interpreter that a program looks at. The interpreter does not run meanwhile."""

    def __init__(self, address, shape, dtype, owner, is_read_only):
        super().__init__(address, shape, dtype, owner, is_read_only)
        owner.arrays.add(id(self))

    def __del__(self):
        self.owner.arrays.discard(id(self))


class NativeTensor:
    """A TfLiteTensor."""

    # Several elements of these types share a byte: their bits, and whether they have a sign.
    _PACKED = {18: (4, True), 20: (2, True), 21: (4, False)}

    def __init__(self, address, missing="Run allocate_tensors() first"):
        self._missing = missing
        self._tensor = Tensor.from_address(address)
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
    def address(self):
        """The address of the structure."""
        return ctypes.addressof(self._tensor)

    @property
    def index(self):
        """The index in the subgraph."""
        return LIBRARY.ApusTensorGetIndex(self.address)

    @property
    def _state(self):
        """What a view depends on: the fields before the name, and the sizes of the shape, whose address may return with others."""
        dims = self._tensor.dims
        return self._fields.raw, ctypes.string_at(dims, 4 + 4 * IntArray.from_address(dims).size)

    @property
    def has_data(self):
        """Whether the elements have memory."""
        return bool(self._tensor.data)

    @property
    def is_packed(self):
        """Whether several elements share a byte."""
        return self._packed is not None

    @property
    def is_variable(self):
        return self._tensor.is_variable

    def view(self, owner=None, is_read_only=False):
        """An array that shows the elements themselves."""
        shown = self._state
        if owner is None and shown == self._shown:
            return self._view
        data = self._tensor.data
        if self.dtype in (None, np.bytes_, np.object_):
            raise ValueError("%s is %s, which is not supported" % (self.name, self.type_name))
        if not data and self._tensor.bytes:
            raise ValueError("Tensor data is null. " + self._missing)
        shape, dtype = self.shape, self.dtype
        if self._packed:
            shape = [self._tensor.bytes]
        if not self._tensor.bytes:
            return np.empty(shape, dtype)
        if owner is not None:
            return np.asarray(BorrowedView(data, shape, dtype, owner, is_read_only)).view(dtype)
        self._shown, self._view = shown, np.asarray(View(data, shape, dtype)).view(dtype)
        return self._view

    def get(self):
        """A copy of the elements."""
        view = self.view()
        packed = self._packed
        if packed is None:
            # A tensor without dimensions is a number, as in LiteRT.
            return view.copy() if view.ndim else view[()]
        width, is_signed = packed
        shape = self.shape
        count = int(np.prod(shape, dtype=np.int64))
        shifts = np.arange(0, 8, width, dtype=np.uint8)
        bits = (view.view(np.uint8)[:, None] >> shifts) & ((1 << width) - 1)
        values = bits.reshape(-1)[:count].astype(np.int8)
        if is_signed:
            values = np.where(values >= 1 << (width - 1), values - (1 << width), values)
        values = values.astype(self.dtype).reshape(shape)
        return values if values.ndim else values[()]

    def set(self, value, place):
        """Copies an array of numpy's into the elements; its type and shape must be the tensor's."""
        view = self.view()
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
                % (self._type_name(value.dtype), self.type_name, place, self.name)
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
        width, is_signed = packed
        least = -(1 << (width - 1)) if is_signed else 0
        greatest = least + (1 << width) - 1
        if value.size and not least <= value.min() <= value.max() <= greatest:
            raise ValueError(
                "Cannot set tensor: Values for %s input must be between %d and %d."
                % (self.type_name, least, greatest)
            )
        each = 8 // width
        bits = value.reshape(-1).view(np.uint8) & ((1 << width) - 1)
        bits = np.concatenate([bits, np.zeros(-bits.size % each, np.uint8)]).reshape(-1, each)
        shifts = np.arange(0, 8, width, dtype=np.uint8)
        view.view(np.uint8)[...] = np.bitwise_or.reduce(bits << shifts, axis=1).astype(np.uint8)

    @staticmethod
    def _type_name(dtype):
        """How messages name a type of numpy's."""
        if dtype.kind in "OSU":
            return "STRING"
        return dtype.name.upper() + ("" if dtype.isnative else " with swapped bytes")

    def details(self):
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
            "index": self.index,
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
        self.turns = Turns()
        # The numbers of the model's parts, from when they are first asked for.
        self._counts = {}
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

    def __reduce__(self):
        raise TypeError("cannot pickle 'Interpreter' object")

    def check(self, status, error=RuntimeError):
        """Raises an error with the library's message unless a call succeeded."""
        if status:
            raise error(self.messages.take() or "status %d" % status)

    def _ask(self, function, *arguments):
        """The result of a function that returns 0 or NULL where there is nothing; an error if it does so because it failed."""
        self.messages.take(is_own=True)
        result = function(self._handle, *arguments)
        text = None if result else self.messages.take(is_own=True)
        if text:
            raise RuntimeError(text)
        return result

    def _count(self, function):
        """A number of the model's parts, which stays what it is."""
        count = self._counts.get(function.__name__)
        if count is None:
            count = self._counts[function.__name__] = self._ask(function)
        return count

    def tensor(self, index, subgraph=0):
        """A tensor by its index in a subgraph."""
        end = None if subgraph else self.ends.get(index)
        if end is not None:
            return end
        # The call refreshes the tensor's values.
        address = self._ask(LIBRARY.ApusInterpreterGetSubgraphTensor, subgraph, index)
        if not address:
            # What TensorFlow Lite calls the maximum is the number of tensors.
            count = self.tensor_count(subgraph)
            raise ValueError("Invalid tensor index %d exceeds max tensor index %d" % (index, count))
        if any(end.has_data for end in self.ends.values()):
            return NativeTensor(address, _NOT_KEPT)
        return NativeTensor(address)

    def tensor_count(self, subgraph=0):
        """How many tensors a subgraph has."""
        count = self._counts.get(subgraph)
        if count is None:
            count = 0
            while self._ask(LIBRARY.ApusInterpreterGetSubgraphTensor, subgraph, count):
                count += 1
            self._counts[subgraph] = count
        return count

    def subgraph_count(self):
        return self._count(LIBRARY.ApusInterpreterGetSubgraphCount)

    def operator_count(self):
        return self._count(LIBRARY.ApusInterpreterGetOperatorCount)

    def operator(self, index):
        """An operator of the main subgraph: its name, and the indices of the tensors that it reads and writes."""
        inputs, outputs = ctypes.c_void_p(), ctypes.c_void_p()
        name = self._ask(LIBRARY.ApusInterpreterGetOperator, index, inputs, outputs)
        if name is None:
            raise ValueError("Invalid node index %d: the model has %d nodes" % (index, self.operator_count()))
        return name.decode("utf-8", "replace"), integers(inputs.value), integers(outputs.value)

    def view(self, index):
        """An array that shows the elements of a tensor."""
        return self.tensor(index).view(owner=self, is_read_only=index not in self.ends)

    def allocate(self):
        self.check(LIBRARY.TfLiteInterpreterAllocateTensors(self._handle))

    def invoke(self):
        """Runs the model while other threads of Python run."""
        self.check(self._invoke(self._argument))

    def resize(self, index, shape, is_strict):
        if index not in self.inputs:
            raise RuntimeError("Tensor %d is not an input: only inputs can be resized" % index)
        dims = (ctypes.c_int32 * len(shape))(*[int(size) for size in shape])
        function = (
            LIBRARY.TfLiteInterpreterResizeInputTensorStrict
            if is_strict
            else LIBRARY.TfLiteInterpreterResizeInputTensor
        )
        self.check(function(self._handle, self.inputs.index(index), dims, len(shape)))

    def reset_variables(self):
        self.check(LIBRARY.TfLiteInterpreterResetVariableTensors(self._handle))

    def signature_keys(self):
        count = self._count(LIBRARY.TfLiteInterpreterGetSignatureCount)
        return [self._ask(LIBRARY.TfLiteInterpreterGetSignatureKey, i).decode() for i in range(count)]

    def runner(self, key):
        return NativeRunner(self, self._ask(LIBRARY.TfLiteInterpreterGetSignatureRunner, key.encode()))


class NativeRunner:
    """A TfLiteSignatureRunner, deleted with this object."""

    def __init__(self, interpreter, handle):
        self._interpreter = interpreter
        self._handle = handle
        self._is_main = None
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

    def __reduce__(self):
        raise TypeError("cannot pickle 'SignatureRunner' object")

    def _tensor(self, function, name):
        address = function(self._handle, name.encode())
        if not address:
            raise RuntimeError(self._interpreter.messages.take())
        return NativeTensor(address)

    def input(self, name):
        return self._tensor(LIBRARY.TfLiteSignatureRunnerGetInputTensor, name)

    def output(self, name):
        return self._tensor(LIBRARY.TfLiteSignatureRunnerGetOutputTensor, name)

    @property
    def is_main(self):
        """Whether it runs the main subgraph, whose tensors it shares with the interpreter."""
        if self._is_main is None:
            ends = {end.address for end in self._interpreter.ends.values()}
            tensors = [self.input(name) for name in self.inputs] + [self.output(name) for name in self.outputs]
            self._is_main = all(tensor.address in ends for tensor in tensors)
        return self._is_main

    def run(self, values):
        check = self._interpreter.check
        for name, value in values.items():
            dims = (ctypes.c_int32 * value.ndim)(*value.shape)
            check(LIBRARY.ApusSignatureRunnerResizeInputTensor(self._handle, name.encode(), dims, value.ndim))
        check(LIBRARY.TfLiteSignatureRunnerAllocateTensors(self._handle))
        for name, value in values.items():
            self.input(name).set(value, name)
        check(LIBRARY.TfLiteSignatureRunnerInvoke(self._handle))
        return {name: self.output(name).get() for name in self.outputs}
