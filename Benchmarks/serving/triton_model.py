# SPDX-License-Identifier: Apache-2.0
"""Triton's Python backend: a .tflite model by LiteRT on one thread, or the input as it came."""

import json

import numpy as np
import triton_python_backend_utils as triton


class TritonPythonModel:
    def initialize(self, arguments):
        config = json.loads(arguments["model_config"])
        path = config["parameters"]["path"]["string_value"]
        self.outputs = [output["name"] for output in config["output"]]
        self.interpreter = None
        if path != "identity":
            from ai_edge_litert.interpreter import Interpreter

            self.interpreter = Interpreter(path, num_threads=1)
            self.interpreter.allocate_tensors()
            self.input = self.interpreter.get_input_details()[0]["index"]
            self.results = [found["index"] for found in self.interpreter.get_output_details()]

    def execute(self, requests):
        answers = []
        for request in requests:
            values = triton.get_input_tensor_by_name(request, "INPUT0").as_numpy()
            if self.interpreter is None:
                found = [values]
            else:
                self.interpreter.set_tensor(self.input, values)
                self.interpreter.invoke()
                found = [self.interpreter.get_tensor(index) for index in self.results]
            tensors = [triton.Tensor(name, np.ascontiguousarray(array)) for name, array in zip(self.outputs, found)]
            answers.append(triton.InferenceResponse(tensors))
        return answers
