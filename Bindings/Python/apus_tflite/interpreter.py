# SPDX-License-Identifier: Apache-2.0
"""The class Interpreter of tflite_runtime.interpreter and ai_edge_litert.interpreter, on Apus."""

import ctypes
import enum
import os

import numpy as np

from apus_tflite import _methods
from apus_tflite._native import NativeInterpreter, checked_index, integer

_REFERENCES = (
    "There is at least 1 reference to internal data in the interpreter in the form of a numpy array or slice. "
    "Be sure to only hold the function returned from tensor() if you are using raw data access."
)


def _bytes(content):
    """A model's bytes, from an object that has bytes."""
    return content if isinstance(content, bytes) else bytes(memoryview(content))


@enum.unique
class OpResolverType(enum.Enum):
    """Sets of kernels of TensorFlow Lite. Apus has one, whose results are those of BUILTIN_REF."""

    AUTO = 0
    BUILTIN = 1
    BUILTIN_REF = 2
    BUILTIN_WITHOUT_DEFAULT_DELEGATES = 3


class Delegate:
    """Another engine for parts of a model. Apus runs models by itself: making one always fails."""

    def __init__(self, library, options=None):
        raise ValueError("Apus runs models by itself and takes no delegates: leave out %s" % library)


def load_delegate(library, options=None):
    """Raises a ValueError, as TensorFlow Lite does where a delegate cannot be loaded."""
    try:
        return Delegate(library, options)
    except ValueError as error:
        raise ValueError("Failed to load delegate from %s\n%s" % (library, error)) from error


class SignatureRunner:
    """Runs one signature of a model: call it with an array for each input, by name."""

    def __init__(self, interpreter=None, signature_key=None):
        if not interpreter:
            raise ValueError("None interpreter provided.")
        if not signature_key:
            raise ValueError("None signature_key provided.")
        native = interpreter._interpreter
        with native.turns:
            if signature_key not in native.signature_keys():
                raise ValueError('Invalid signature_key provided: "%s".' % signature_key)
            self._runner = native.runner(signature_key)
        self._native = native
        self._signature_key = signature_key

    def __call__(self, **kwargs):
        names = self._runner.inputs
        if len(kwargs) != len(names):
            raise ValueError(
                "Invalid number of inputs provided for running a SignatureDef, expected %s vs provided %s"
                % (len(names), len(kwargs))
            )
        for name in kwargs:
            if name not in names:
                raise ValueError("Invalid Input name (%s) for SignatureDef" % name)
        values = {name: np.asarray(value) for name, value in kwargs.items()}
        with self._native.turns:
            if self._native.arrays and self._runner.is_main:
                raise RuntimeError(_REFERENCES)
            return self._runner.run(values)

    def get_input_details(self):
        """What each input is, by name."""
        with self._native.turns:
            return {name: self._runner.input(name).details() for name in self._runner.inputs}

    def get_output_details(self):
        """What each output is, by name."""
        with self._native.turns:
            return {name: self._runner.output(name).details() for name in self._runner.outputs}


class Interpreter:
    """Runs a model.

    >>> interpreter = Interpreter(model_path="model.tflite", num_threads=2)
    >>> interpreter.allocate_tensors()
    >>> interpreter.set_tensor(interpreter.get_input_details()[0]["index"], pixels)
    >>> interpreter.invoke()
    >>> scores = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])

    Calls of several threads take turns. Options that choose among TensorFlow Lite's kernels or tune its delegates are taken and change nothing.
    """

    def __init__(
        self,
        model_path=None,
        model_content=None,
        experimental_delegates=None,
        num_threads=None,
        experimental_op_resolver_type=OpResolverType.AUTO,
        experimental_preserve_all_tensors=False,
        experimental_disable_delegate_clustering=False,
        experimental_default_delegate_latest_features=False,
        experimental_compress_quantization_zero_points=False,
        experimental_disable_delegate_node_fusion=False,
        experimental_force_delegate_node_profiling=False,
    ):
        # TensorFlow's own enumeration has the same names.
        if getattr(experimental_op_resolver_type, "name", None) not in OpResolverType.__members__:
            raise ValueError(
                "Unrecognized passed in op resolver type: {}".format(experimental_op_resolver_type)
            )
        if num_threads is not None:
            if not isinstance(num_threads, int):
                raise ValueError("type of num_threads should be int")
            if num_threads < 1:
                raise ValueError("num_threads should >= 1")
        if not model_path and not model_content:
            raise ValueError("`model_path` or `model_content` must be specified.")
        if model_path and model_content:
            raise ValueError("Can't both provide `model_path` and `model_content`")
        if experimental_delegates:
            raise ValueError("Apus runs models by itself and takes no delegates")
        self._interpreter = NativeInterpreter(
            os.fsencode(model_path) if model_path else None,
            None if model_path else _bytes(model_content),
            num_threads or 1,
            bool(experimental_preserve_all_tensors),
        )
        self._compresses_zero_points = experimental_compress_quantization_zero_points
        self._inputs = frozenset(self._interpreter.inputs)
        self._state = _methods.state(self._interpreter)

    def _safe_to_run(self):
        """Whether the program has no array of the interpreter's memory."""
        return not self._interpreter.arrays

    def _ensure_safe(self):
        if not self._safe_to_run():
            raise RuntimeError(_REFERENCES)

    def allocate_tensors(self):
        """Gives the tensors memory. Needed once, and after resize_tensor_input."""
        with self._interpreter.turns:
            self._ensure_safe()
            self._interpreter.allocate()

    def invoke(self):
        """Computes the outputs. Other threads of Python run meanwhile."""
        with self._interpreter.turns:
            self._ensure_safe()
            self._interpreter.invoke()

    def _fail(self):
        """Raises the error of a run that failed."""
        self._interpreter.check(1)

    def resize_tensor_input(self, input_index, tensor_size, strict=False):
        """Sets the shape of an input, by its tensor's index. Call allocate_tensors next."""
        input_index = checked_index(input_index)
        tensor_size = np.array(tensor_size, np.int32)
        with self._interpreter.turns:
            self._ensure_safe()
            if tensor_size.ndim != 1:
                raise ValueError("Shape should be 1D instead of %d." % tensor_size.ndim)
            self._interpreter.resize(input_index, tensor_size, strict)

    def set_tensor(self, tensor_index, value):
        """Copies an array into an input."""
        tensor_index = checked_index(tensor_index)
        if tensor_index not in self._inputs:
            raise ValueError("Tensor %s is not an input: only inputs can be set" % tensor_index)
        if type(value) is not np.ndarray:
            value = np.asarray(value)
        with self._interpreter.turns:
            self._interpreter.ends[tensor_index].set(value, tensor_index)

    def get_tensor(self, tensor_index, subgraph_index=0):
        """A copy of a tensor's elements."""
        tensor_index, subgraph_index = checked_index(tensor_index), checked_index(subgraph_index)
        with self._interpreter.turns:
            if subgraph_index:
                self._check_subgraph(subgraph_index)
            return self._interpreter.tensor(tensor_index, subgraph_index).get()

    def tensor(self, tensor_index):
        """A function that returns an array of the tensor's own memory. Keep the function, not the array.

        The elements of a tensor that is neither an input nor an output are a copy of this moment, which cannot be written.
        """
        return lambda: self._view(checked_index(tensor_index))

    def _view(self, tensor_index):
        with self._interpreter.turns:
            return self._interpreter.view(tensor_index)

    def reset_all_variables(self):
        """Resets what the model keeps between runs."""
        with self._interpreter.turns:
            self._interpreter.reset_variables()

    @property
    def experimental_compress_quantization_zero_points(self):
        """The option of this name, which changes nothing."""
        return self._compresses_zero_points

    def get_input_details(self):
        """What each input is: name, index, shape, shape_signature, dtype, quantization."""
        with self._interpreter.turns:
            return [self._interpreter.ends[index].details() for index in self._interpreter.inputs]

    def get_output_details(self):
        """What each output is: name, index, shape, shape_signature, dtype, quantization."""
        with self._interpreter.turns:
            return [self._interpreter.ends[index].details() for index in self._interpreter.outputs]

    def get_tensor_details(self, subgraph_index=0):
        """What each tensor of a subgraph is."""
        subgraph_index = integer(subgraph_index)
        details = []
        with self._interpreter.turns:
            self._check_subgraph(subgraph_index)
            for index in range(self._interpreter.tensor_count(subgraph_index)):
                try:
                    details.append(self._interpreter.tensor(index, subgraph_index).details())
                except ValueError:
                    pass
        return details

    def _get_tensor_details(self, tensor_index, subgraph_index):
        tensor_index, subgraph_index = checked_index(int(tensor_index)), integer(subgraph_index)
        with self._interpreter.turns:
            self._check_subgraph(subgraph_index)
            return self._interpreter.tensor(tensor_index, subgraph_index).details()

    def num_subgraphs(self):
        """How many subgraphs the model has."""
        with self._interpreter.turns:
            return self._interpreter.subgraph_count()

    def _check_subgraph(self, index):
        count = self.num_subgraphs()
        if not 0 <= index < count:
            raise ValueError(
                "subgraph_index is out of range: %d for the model, which has %d subgraphs." % (index, count)
            )

    def _get_ops_details(self):
        """What each operator of the main subgraph is: index, op_name, inputs, outputs, operand_types, result_types."""
        with self._interpreter.turns:
            return [self._get_op_details(index) for index in range(self._interpreter.operator_count())]

    def _get_op_details(self, op_index):
        op_index = checked_index(op_index)
        with self._interpreter.turns:
            name, inputs, outputs = self._interpreter.operator(op_index)
            return {
                "index": op_index,
                "op_name": name,
                "inputs": inputs,
                "outputs": outputs,
                "operand_types": self._types(inputs),
                "result_types": self._types(outputs),
            }

    def _types(self, indices):
        return [self._get_tensor_details(index, 0)["dtype"] for index in indices if index != -1]

    def get_signature_list(self):
        """The names of each signature's inputs and outputs, by the signature's name."""
        return {
            key: {"inputs": list(names["inputs"]), "outputs": list(names["outputs"])}
            for key, names in self._get_full_signature_list().items()
        }

    def _get_full_signature_list(self):
        """The indices of each signature's inputs and outputs by their names, by the signature's name."""
        with self._interpreter.turns:
            runners = {key: self._interpreter.runner(key) for key in self._interpreter.signature_keys()}
            return {
                key: {
                    "inputs": {name: runner.input(name).index for name in runner.inputs},
                    "outputs": {name: runner.output(name).index for name in runner.outputs},
                }
                for key, runner in runners.items()
            }

    def get_signature_runner(self, signature_key=None):
        """A function that runs a signature; without a name, the model's only one."""
        if signature_key is None:
            with self._interpreter.turns:
                keys = self._interpreter.signature_keys()
            if len(keys) != 1:
                raise ValueError(
                    "SignatureDef signature_key is None and model has {0} Signatures. "
                    "None is only allowed when the model has 1 SignatureDef".format(len(keys))
                )
            signature_key = keys[0]
        return SignatureRunner(interpreter=self, signature_key=signature_key)


class InterpreterWithCustomOps(Interpreter):
    """An interpreter whose custom operators C++ functions register. Without such functions, it is an Interpreter.

    The functions call methods of TensorFlow Lite's C++ classes, which are not here: with one, a ValueError says so. Operators of the C
    API run, from C.
    """

    def __init__(self, custom_op_registerers=None, **kwargs):
        for registerer in custom_op_registerers or []:
            raise ValueError(_registerer_refusal(registerer))
        self._custom_op_registerers = []
        super().__init__(**kwargs)


def _registerer_refusal(registerer):
    """Why a function, named alone or behind its library and a dot, cannot register operators."""
    if isinstance(registerer, str):
        library, _, name = registerer.rpartition(".")
        file = library + ".so" if library else None
        try:
            functions = ctypes.CDLL(file)
        except OSError as error:
            return "Loading library '%s' failed with error '%s'." % (file, error)
        try:
            functions[name]
        except AttributeError as error:
            return "Looking up symbol '%s' failed with error '%s'." % (registerer, error)
    return (
        "%s registers operators in a C++ class of TensorFlow Lite, which Apus does not have: register them through "
        "the C API (TfLiteInterpreterOptionsAddOperator)" % registerer
    )


_methods.replace(Interpreter, Interpreter._fail)
