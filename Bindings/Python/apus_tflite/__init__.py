# SPDX-License-Identifier: Apache-2.0
"""Runs .tflite models with Apus: `from apus_tflite.interpreter import Interpreter`."""

from apus_tflite.interpreter import Interpreter, OpResolverType, load_delegate

__all__ = ["Interpreter", "OpResolverType", "load_delegate"]
