# SPDX-License-Identifier: Apache-2.0
"""MLServer's custom runtime: a .tflite model by LiteRT on one thread, or the input as it came."""

from ai_edge_litert.interpreter import Interpreter
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceRequest, InferenceResponse


class LiteRTModel(MLModel):
    async def load(self) -> bool:
        path = self.settings.parameters.uri
        self.interpreter = None
        if not path.endswith("identity"):
            self.interpreter = Interpreter(path, num_threads=1)
            self.interpreter.allocate_tensors()
            self.input = self.interpreter.get_input_details()[0]["index"]
            self.results = [found["index"] for found in self.interpreter.get_output_details()]
        return True

    async def predict(self, request: InferenceRequest) -> InferenceResponse:
        values = NumpyCodec.decode_input(request.inputs[0])
        if self.interpreter is None:
            found = [values]
        else:
            self.interpreter.set_tensor(self.input, values)
            self.interpreter.invoke()
            found = [self.interpreter.get_tensor(index) for index in self.results]
        outputs = [NumpyCodec.encode_output(f"OUTPUT{index}", array) for index, array in enumerate(found)]
        return InferenceResponse(model_name=self.name, outputs=outputs)
