# SPDX-License-Identifier: Apache-2.0
"""LiteRT on arrays: an independent way from files to numbers."""

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType


class Peer:
    """A model in LiteRT: with its reference kernels, or as it runs by default."""

    def __init__(self, model, reference=True):
        kind = OpResolverType.BUILTIN_REF if reference else OpResolverType.AUTO
        self._interpreter = Interpreter(str(model), num_threads=1, experimental_op_resolver_type=kind)
        self._interpreter.allocate_tensors()
        self.input = self._interpreter.get_input_details()[0]
        self.outputs = self._interpreter.get_output_details()

    @property
    def shape(self):
        return self.input["shape"]

    def run(self, values):
        """The outputs for an input of the model's own type, or of floats, which are quantized."""
        dtype = self.input["dtype"]
        values = np.asarray(values).reshape(self.shape)
        if values.dtype != dtype:
            scale, zero = self.input["quantization"]
            limits = np.iinfo(dtype)
            # Halves away from zero, as the operator QUANTIZE rounds.
            scaled = values.astype(np.float32) / np.float32(scale)
            values = np.clip(np.trunc(scaled + np.copysign(np.float32(0.5), scaled)) + zero, limits.min, limits.max).astype(dtype)
        self._interpreter.set_tensor(self.input["index"], values)
        self._interpreter.invoke()
        return [self._interpreter.get_tensor(output["index"]) for output in self.outputs]

    def reals(self, place, values):
        """An output as real numbers."""
        scale, zero = self.outputs[place]["quantization"]
        return (values.astype(np.float32) - np.float32(zero)) * np.float32(scale) if scale else values.astype(np.float32)
