# SPDX-License-Identifier: Apache-2.0
"""Methods that the library makes for a class: they do what is usual without ctypes and without Python's code."""

import ctypes
import os
import sys

import numpy as np

from apus_tflite._library import LIBRARY
from apus_tflite._native import NativeTensor


def _show(address):
    """An array that shows the elements of the tensor at an address."""
    tensor = NativeTensor(address)
    if tensor.is_packed:
        raise ValueError("%s has elements that share bytes" % tensor.name)
    return tensor.view()


def _create_methods():
    """The library's function that makes methods, or None where it does not have one for this Python."""
    if sys.implementation.name != "cpython" or os.environ.get("APUS_TFLITE_METHODS") == "python":
        return None, None, None
    # These functions work on objects of Python's, so they keep its lock.
    library = ctypes.PyDLL(LIBRARY._name)
    try:
        methods, state = library.ApusPythonMethodsCreate, library.ApusPythonInterpreterCreate
        user = library.ApusPythonInterpreterGetUser
    except AttributeError:
        return None, None, None
    methods.restype = state.restype = ctypes.py_object
    methods.argtypes = [ctypes.py_object] * 3 + [ctypes.POINTER(ctypes.c_ssize_t), ctypes.c_ssize_t]
    state.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    user.restype, user.argtypes = ctypes.c_int32, [ctypes.c_void_p]
    return methods, state, user


_METHODS, _STATE, _USER = _create_methods()


def replace(cls, fail):
    """Puts the library's methods in place of a class's `set_tensor`, `get_tensor` and `invoke`, which remain for what is not usual.

    `fail` raises the error of a run that failed. Where the library cannot make methods, the class stays as it is.
    """
    if _METHODS is None:
        return
    functions = (cls.set_tensor, cls.get_tensor, cls.invoke, fail, _show, None)
    # The library reads arrays as numpy's extension modules do, if it finds there what Python says of this one.
    array = np.zeros((3, 5, 7), np.int16)
    values = [id(type(array)), array.ctypes.data, id(array.dtype), 1, *array.shape]
    fields = (ctypes.c_ssize_t * len(values))(*values)
    try:
        methods = _METHODS(cls, functions, array, fields, len(values))
    except ValueError:
        return
    cls.set_tensor, cls.get_tensor, cls.invoke = methods


def state(native):
    """What the methods need of an interpreter; None if there are no such methods."""
    if _STATE is None:
        return None
    try:
        result = _STATE(native.handle, native.arrays, native.turns.callers)
    except ValueError:
        return None
    handle = ctypes.c_void_p(native.handle)
    native.turns.watch(lambda: _USER(handle))
    return result
