# SPDX-License-Identifier: Apache-2.0
"""The C library, its functions and its structures."""

import ctypes
import os
import platform

import numpy as np

_POINTER = ctypes.c_void_p


class IntArray(ctypes.Structure):
    """A TfLiteIntArray: a count, then the elements."""

    _fields_ = [("size", ctypes.c_int32)]


class Tensor(ctypes.Structure):
    """A TfLiteTensor."""

    _fields_ = [
        ("type", ctypes.c_int32),
        ("data", _POINTER),
        ("dims", _POINTER),
        ("scale", ctypes.c_float),
        ("zero_point", ctypes.c_int32),
        ("allocation_type", ctypes.c_int32),
        ("bytes", ctypes.c_size_t),
        ("allocation", _POINTER),
        ("name", ctypes.c_char_p),
        ("delegate", _POINTER),
        ("buffer_handle", ctypes.c_int32),
        ("data_is_stale", ctypes.c_bool),
        ("is_variable", ctypes.c_bool),
        ("quantization_type", ctypes.c_int32),
        ("quantization", _POINTER),
        ("sparsity", _POINTER),
        ("dims_signature", _POINTER),
    ]


class AffineQuantization(ctypes.Structure):
    """A TfLiteAffineQuantization."""

    _fields_ = [
        ("scale", _POINTER),
        ("zero_point", _POINTER),
        ("quantized_dimension", ctypes.c_int32),
    ]


class Sparsity(ctypes.Structure):
    """A TfLiteSparsity."""

    _fields_ = [
        ("traversal_order", _POINTER),
        ("block_map", _POINTER),
        ("dim_metadata", _POINTER),
        ("dim_metadata_size", ctypes.c_int32),
    ]


class DimensionMetadata(ctypes.Structure):
    """A TfLiteDimensionMetadata."""

    _fields_ = [
        ("format", ctypes.c_int32),
        ("dense_size", ctypes.c_int32),
        ("array_segments", _POINTER),
        ("array_indices", _POINTER),
    ]


try:
    # What LiteRT's interpreter takes and returns for bfloat16, a type that numpy does not have.
    from ml_dtypes import bfloat16 as BFLOAT16
except ImportError:
    BFLOAT16 = np.uint16

# The types of elements by their TfLiteType, and their names in messages.
DTYPES = {
    1: (np.float32, "FLOAT32"),
    2: (np.int32, "INT32"),
    3: (np.uint8, "UINT8"),
    4: (np.int64, "INT64"),
    5: (np.bytes_, "STRING"),
    6: (np.bool_, "BOOL"),
    7: (np.int16, "INT16"),
    8: (np.complex64, "COMPLEX64"),
    9: (np.int8, "INT8"),
    10: (np.float16, "FLOAT16"),
    11: (np.float64, "FLOAT64"),
    12: (np.complex128, "COMPLEX128"),
    13: (np.uint64, "UINT64"),
    14: (np.object_, "RESOURCE"),
    15: (np.object_, "VARIANT"),
    16: (np.uint32, "UINT32"),
    17: (np.uint16, "UINT16"),
    18: (np.int8, "INT4"),
    19: (BFLOAT16, "BFLOAT16"),
    20: (np.int8, "INT2"),
    21: (np.uint8, "UINT4"),
}

Reporter = ctypes.CFUNCTYPE(None, _POINTER, ctypes.c_char_p, _POINTER)


def message(text, arguments):
    """The message of a call of the error reporter: the format, or the first argument of a va_list if the format is %s."""
    if text != b"%s":
        return text.decode("utf-8", "replace")
    # x86-64 keeps the address of the arguments after two offsets, arm64 keeps it first.
    place = arguments + 8 if platform.machine() in ("x86_64", "AMD64") else arguments
    text = ctypes.c_char_p.from_address(_POINTER.from_address(place).value)
    return (text.value or b"").decode("utf-8", "replace")


def integers(address, dtype=np.int32):
    """The elements of a TfLiteIntArray or TfLiteFloatArray."""
    if not address:
        return np.array([], dtype)
    count = IntArray.from_address(address).size
    elements = (ctypes.c_char * (4 * count)).from_address(address + 4)
    return np.frombuffer(elements, dtype, count).copy()


def _load():
    path = os.environ.get("APUS_TFLITE_LIBRARY") or os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "libtensorflowlite_c.so"
    )
    library = ctypes.CDLL(path)
    functions = {
        "TfLiteVersion": (ctypes.c_char_p, []),
        "TfLiteModelCreateWithErrorReporter": (_POINTER, [ctypes.c_char_p, ctypes.c_size_t, Reporter, _POINTER]),
        "TfLiteModelCreateFromFileWithErrorReporter": (_POINTER, [ctypes.c_char_p, Reporter, _POINTER]),
        "TfLiteModelDelete": (None, [_POINTER]),
        "TfLiteInterpreterOptionsCreate": (_POINTER, []),
        "TfLiteInterpreterOptionsDelete": (None, [_POINTER]),
        "TfLiteInterpreterOptionsSetNumThreads": (None, [_POINTER, ctypes.c_int32]),
        "TfLiteInterpreterOptionsSetErrorReporter": (None, [_POINTER, Reporter, _POINTER]),
        "ApusInterpreterOptionsSetPreserveAllTensors": (None, [_POINTER, ctypes.c_bool]),
        "ApusInterpreterGetSubgraphCount": (ctypes.c_int32, [_POINTER]),
        "ApusInterpreterGetSubgraphTensor": (_POINTER, [_POINTER, ctypes.c_int32, ctypes.c_int32]),
        "ApusInterpreterGetOperatorCount": (ctypes.c_int32, [_POINTER]),
        "ApusInterpreterGetOperator": (
            ctypes.c_char_p, [_POINTER, ctypes.c_int32, ctypes.POINTER(_POINTER), ctypes.POINTER(_POINTER)]),
        "TfLiteInterpreterCreate": (_POINTER, [_POINTER, _POINTER]),
        "TfLiteInterpreterDelete": (None, [_POINTER]),
        "TfLiteInterpreterGetInputTensorCount": (ctypes.c_int32, [_POINTER]),
        "TfLiteInterpreterGetOutputTensorCount": (ctypes.c_int32, [_POINTER]),
        "TfLiteInterpreterInputTensorIndices": (ctypes.POINTER(ctypes.c_int32), [_POINTER]),
        "TfLiteInterpreterOutputTensorIndices": (ctypes.POINTER(ctypes.c_int32), [_POINTER]),
        "TfLiteInterpreterGetTensor": (_POINTER, [_POINTER, ctypes.c_int32]),
        "TfLiteInterpreterResizeInputTensor": (
            ctypes.c_int32, [_POINTER, ctypes.c_int32, _POINTER, ctypes.c_int32]),
        "TfLiteInterpreterResizeInputTensorStrict": (
            ctypes.c_int32, [_POINTER, ctypes.c_int32, _POINTER, ctypes.c_int32]),
        "TfLiteInterpreterAllocateTensors": (ctypes.c_int32, [_POINTER]),
        "TfLiteInterpreterInvoke": (ctypes.c_int32, [_POINTER]),
        "TfLiteInterpreterResetVariableTensors": (ctypes.c_int32, [_POINTER]),
        "TfLiteInterpreterGetSignatureCount": (ctypes.c_int32, [_POINTER]),
        "TfLiteInterpreterGetSignatureKey": (ctypes.c_char_p, [_POINTER, ctypes.c_int32]),
        "TfLiteInterpreterGetSignatureRunner": (_POINTER, [_POINTER, ctypes.c_char_p]),
        "TfLiteSignatureRunnerDelete": (None, [_POINTER]),
        "TfLiteSignatureRunnerGetInputCount": (ctypes.c_size_t, [_POINTER]),
        "TfLiteSignatureRunnerGetOutputCount": (ctypes.c_size_t, [_POINTER]),
        "TfLiteSignatureRunnerGetInputName": (ctypes.c_char_p, [_POINTER, ctypes.c_int32]),
        "TfLiteSignatureRunnerGetOutputName": (ctypes.c_char_p, [_POINTER, ctypes.c_int32]),
        "ApusSignatureRunnerResizeInputTensor": (
            ctypes.c_int32, [_POINTER, ctypes.c_char_p, _POINTER, ctypes.c_int32]),
        "ApusTensorGetIndex": (ctypes.c_int32, [_POINTER]),
        "TfLiteSignatureRunnerAllocateTensors": (ctypes.c_int32, [_POINTER]),
        "TfLiteSignatureRunnerGetInputTensor": (_POINTER, [_POINTER, ctypes.c_char_p]),
        "TfLiteSignatureRunnerGetOutputTensor": (_POINTER, [_POINTER, ctypes.c_char_p]),
        "TfLiteSignatureRunnerInvoke": (ctypes.c_int32, [_POINTER]),
    }
    for name, (result, arguments) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


LIBRARY = _load()
