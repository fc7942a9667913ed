# SPDX-License-Identifier: Apache-2.0
"""What the comparison must know of a model file: its inputs, its outputs and how it is quantized."""

import collections

import numpy as np
from ai_edge_litert import schema_py_generated as schema

DTYPES = {
    schema.TensorType.FLOAT32: "float32",
    schema.TensorType.UINT8: "uint8",
    schema.TensorType.INT8: "int8",
    schema.TensorType.INT16: "int16",
    schema.TensorType.INT32: "int32",
    schema.TensorType.INT64: "int64",
    schema.TensorType.BOOL: "bool",
}
BYTES = (schema.TensorType.INT8, schema.TensorType.UINT8)
WEIGHTED = (
    schema.BuiltinOperator.CONV_2D,
    schema.BuiltinOperator.DEPTHWISE_CONV_2D,
    schema.BuiltinOperator.FULLY_CONNECTED,
    schema.BuiltinOperator.TRANSPOSE_CONV,
    schema.BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM,
)
SCHEMES = ("uint8", "int8", "float", "hybrid", "other")


class ModelFacts:
    def __init__(self, path):
        self._model = schema.ModelT.InitFromPackedBuf(path.read_bytes())
        self._graph = self._model.subgraphs[0]
        self.scheme = self._scheme()
        self.outputs = [self._name(index) for index in self._graph.outputs]

    def write_inputs(self, folder, seed):
        """Writes repeatable inputs as raw files; describes them in the graph's order."""
        described = []
        for place, index in enumerate(self._graph.inputs):
            tensor = self._graph.tensors[index]
            shape = [max(1, abs(int(size))) for size in ([] if tensor.shape is None else tensor.shape)]
            dtype = DTYPES.get(tensor.type)
            if dtype is None:
                raise ValueError(f"input {place} has type {tensor.type}")
            path = f"{folder}/input_{place}.bin"
            random = np.random.default_rng([seed, place])
            _values(random, shape, dtype).tofile(path)
            described.append({"name": self._name(index), "path": path, "dtype": dtype, "shape": shape})
        return described

    def real_output(self, place, values):
        """Quantized values as real numbers."""
        tensor = self._graph.tensors[self._graph.outputs[place]]
        quantization = tensor.quantization
        scales = None if quantization is None else quantization.scale
        values = values.astype(np.float64)
        if scales is None or len(scales) != 1:
            return values
        return (values - quantization.zeroPoint[0]) * scales[0]

    def has_detections(self):
        """Whether the outputs are boxes in the order of their scores."""
        return any(code.customCode == b"TFLite_Detection_PostProcess" for code in self._model.operatorCodes)

    def _name(self, index):
        name = self._graph.tensors[index].name
        return name.decode() if isinstance(name, bytes) else f"{name}"

    def _scheme(self):
        counts = collections.Counter()
        for operator in self._graph.operators:
            code = self._model.operatorCodes[operator.opcodeIndex]
            if max(code.builtinCode, code.deprecatedBuiltinCode) not in WEIGHTED:
                continue
            source, weights = (self._graph.tensors[operator.inputs[place]].type for place in (0, 1))
            if source == schema.TensorType.FLOAT32:
                counts["hybrid" if weights in BYTES else "float"] += 1
            elif source == schema.TensorType.UINT8:
                counts["uint8"] += 1
            elif source == schema.TensorType.INT8:
                counts["int8"] += 1
        if counts["hybrid"]:
            return "hybrid"
        return counts.most_common(1)[0][0] if counts else "other"


def _values(random, shape, dtype):
    """Something like a picture where the shape is one, else noise."""
    if len(shape) == 4 and shape[1] > 8 and shape[2] > 8 and dtype in ("uint8", "int8", "float32"):
        values = _picture(random, shape)
    elif dtype == "float32":
        values = np.clip(random.normal(0, 0.3, shape), -1, 1)
    elif dtype in ("uint8", "int8", "int16"):
        values = random.uniform(-1, 1, shape)
    else:
        return random.integers(0, 2, shape).astype(dtype)
    if dtype == "float32":
        return values.astype(np.float32)
    limits = np.iinfo(dtype)
    middle, half = (limits.min + limits.max + 1) / 2, (limits.max - limits.min) / 2
    return np.clip(np.round(middle + half * values), limits.min, limits.max).astype(dtype)


def _picture(random, shape):
    """Smooth colors, some edges and a little noise, from -1 to 1."""
    batches, height, width, channels = shape
    y = np.linspace(0, 1, height)[:, None, None]
    x = np.linspace(0, 1, width)[None, :, None]
    values = np.zeros([batches, height, width, channels])
    for _ in range(12):
        frequency = random.uniform(-9, 9, [2, 1, 1, channels])
        wave = np.sin(2 * np.pi * (frequency[0] * x + frequency[1] * y + random.uniform(0, 1, channels)))
        values += wave / 8
    for _ in range(6):
        top, left = random.uniform(0, 0.7, 2)
        inside = (y >= top) & (y < top + 0.3) & (x >= left) & (x < left + 0.3)
        values += inside * random.uniform(-0.8, 0.8, channels)
    return np.clip(values + random.normal(0, 0.05, values.shape), -1, 1)
