# SPDX-License-Identifier: Apache-2.0
"""What the comparison must know of a `.tflite` file."""

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import flexbuffers

COMPARABLE = (
    *("FLOAT32", "FLOAT16", "FLOAT64", "COMPLEX64", "BOOL"),
    *("INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"),
)
COMPARABLE = {getattr(schema.TensorType, name) for name in COMPARABLE}


class ModelFile:
    def __init__(self, contents):
        self._model = schema.ModelT.InitFromPackedBuf(contents)
        self._graph = self._model.subgraphs[0]

    def output_names(self):
        tensors = self._graph.tensors
        names = [tensors[index].name for index in self._graph.outputs]
        return [name.decode() if isinstance(name, bytes) else f"{name}" for name in names]

    def with_every_tensor_as_output(self):
        """The model's bytes, changed so that the result of every operator is an output, in order.

        So a difference shows at the operator that makes it, and no engine can hide a tensor by fusion.
        """
        results = []
        for operator in self._graph.operators:
            results += [index for index in operator.outputs if self._is_comparable(index)]
        self._graph.outputs = np.array(list(dict.fromkeys(results)), np.int32)
        # Signatures name outputs by their old places; engines check them.
        self._model.signatureDefs = None
        builder = flatbuffers.Builder(1 << 20)
        builder.Finish(self._model.Pack(builder), b"TFL3")
        return bytes(builder.Output())

    def without_unused_detections(self, outputs):
        """Zero in the slots of detections beyond their count, where LiteRT leaves old memory."""
        outputs = list(outputs)
        places = {int(tensor): place for place, tensor in enumerate(self._graph.outputs)}
        for operator in self._graph.operators:
            code = self._model.operatorCodes[operator.opcodeIndex]
            if code.customCode != b"TFLite_Detection_PostProcess":
                continue
            options = flexbuffers.Loads(bytes(operator.customOptions))
            rows = 1 if options.get("use_regular_nms") else options["max_classes_per_detection"]
            tensors = [int(tensor) for tensor in operator.outputs]
            if tensors[3] not in places:
                continue
            used = int(outputs[places[tensors[3]]].reshape(-1)[0]) * rows
            for tensor in tensors[:3]:
                if tensor in places:
                    outputs[places[tensor]][:, used:] = 0
        return outputs

    def _is_comparable(self, index):
        if index < 0:
            return False
        tensor = self._graph.tensors[index]
        return tensor.type in COMPARABLE and not tensor.isVariable
