# SPDX-License-Identifier: Apache-2.0
"""Operators of the goldens, put into a graph: whatever has one-operator cases takes part here, too."""

import io
import pathlib
import zipfile
from functools import lru_cache

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from random_graphs.model import QUANTIZED, Blob, Operator, Quantization, Tensor, TENSOR_TYPES, dequantized
from random_graphs.moves import move
from random_graphs.moves.elementwise import unary
from random_graphs.weaver import MIXED, Abandoned

FOLDER = pathlib.Path(__file__).resolve().parents[4] / "Tests/Goldens"

# Without the reference's answer; with outputs of which some is memory that nobody wrote; with a reference that writes
# beyond the end of its state, over other tensors; or with a wrong type declared for the result, which is right in a model of
# one operator alone: what comes behind it in a graph would be made for the wrong type. NumericVerify fails where other values are
# not close to each other.
EXCLUDED = (
    "BIDIRECTIONAL_SEQUENCE_LSTM",
    "Convolution2DTransposeBias", "Landmarks2TransformMatrix", "MaxPoolingWithArgmax2D", "MaxUnpooling2D",
    "PosenetDecoderOp", "TransformLandmarks", "TransformTensor", "TransformTensorBilinear",
    "TFLite_Detection_PostProcess", "NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", "GRAPHS",
    "MISDECLARED", "UNUSUAL", "NumericVerify",
)
# Those that call subgraphs, or whose state has a move of its own.
CALLING = (
    "IF", "WHILE", "CALL_ONCE", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "STABLEHLO_COMPOSITE",
)
STATEFUL = (
    "LSTM", "RNN", "SVDF", "UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN",
    "BIDIRECTIONAL_SEQUENCE_RNN", "RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "MULTINOMIAL", "STABLEHLO_RNG_BIT_GENERATOR",
)
RANDOM = ("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "MULTINOMIAL", "STABLEHLO_RNG_BIT_GENERATOR")
LOOSE = ("WHERE", "UNIQUE", "RANGE")
# Floats have to be above zero.
POSITIVE = ("LOG", "SQRT", "RSQRT", "POW")
# Those whose floats are not free: boxes, places, sorted bounds.
BOUND = (*RANDOM, "BUCKETIZE", "RANGE", "LSH_PROJECTION", "HASHTABLE_LOOKUP")

_NAMES = {value: name for name, value in TENSOR_TYPES.items()}


class Sources:
    """The goldens by operator; each is read when it is wanted."""

    def __init__(self, folder=FOLDER):
        self._archives = {}
        self.names = []
        for path in sorted(folder.glob("*.zip")):
            if path.stem in (*EXCLUDED, *CALLING):
                continue
            self.names.append(path.stem)
            self._archives[path.stem] = path
        self._open = {}
        self._load = lru_cache(maxsize=1500)(self._load)

    def cases(self, name):
        if name not in self._open:
            archive = zipfile.ZipFile(self._archives[name])
            self._open[name] = archive, sorted({entry.split("/")[0] for entry in archive.namelist()})
        return self._open[name][1]

    def load(self, name, case):
        return self._load(name, case)

    def _load(self, name, case):
        archive = self._open[name][0]
        contents = archive.read(f"{case}/model.tflite")
        model = schema.ModelT.InitFromPackedBuf(contents, 0)
        names = set(archive.namelist())
        def arrays(kind):
            found = []
            while f"{case}/{kind}_{len(found)}.npy" in names:
                found.append(np.load(io.BytesIO(archive.read(f"{case}/{kind}_{len(found)}.npy"))))
            return found
        return model, arrays("input"), arrays("output")


def quantization_of(table):
    if table is None or table.scale is None or len(table.scale) != 1:
        return None
    zero = int(table.zeroPoint[0]) if table.zeroPoint is not None and len(table.zeroPoint) else 0
    return Quantization((float(table.scale[0]),), (zero,), int(table.quantizedDimension))


def replaced(w, name, type_name, quantization, values):
    """Something that was computed in the place of an input with these values; None where nothing fits."""
    if type_name == "float32":
        x = w.find(lambda t: t.size > 0, ("float32",))
        if name in POSITIVE:
            x = unary(w, x, "ABS")
            x = w.emit("ADD", [x, w.constant(np.float32(0.25))], x.value + 0.25, opts=None)
        y = w.fitted(x, values.shape)
        wanted = float(np.abs(values).max()) if values.size else 0
        found = float(np.abs(y.value).max())
        if found and wanted and not 1 / 8 < wanted / found < 8:
            factor = np.float32(2.0 ** round(np.log2(wanted / found)))
            y = w.emit("MUL", [y, w.constant(factor)], y.value * factor, opts=None)
        return y
    if type_name in QUANTIZED and quantization:
        x = w.find(lambda t: t.size > 0 and t.is_quantized and len(t.quantization.scales) == 1, (type_name,))
        return w.rescaled(w.fitted(x, values.shape), quantization)
    if type_name in ("bool", "int64", "int32") and name in ("ADD", "SUB", "LOGICAL_AND", "LOGICAL_OR", "EQUAL"):
        x = w.find(lambda t: t.size > 0 and not t.is_quantized, (type_name,))
        return w.fitted(x, values.shape)
    return None


@move(grafts=10, mixed=2, vectors=0.5, images=0.3, odd=1, state=1)
def graft(w):
    if w.sources is None or w.is_flexible or w.parent is not None or w.graph.may_mix:
        raise Abandoned
    name = w.choice(w.sources.names)
    if name in MIXED:
        raise Abandoned
    case = w.choice(w.sources.cases(name))
    if "blockwise" in case or "special" in case:
        raise Abandoned
    insert(w, name, *w.sources.load(name, case))


def insert(w, name, model, inputs, outputs):
    subgraph = model.subgraphs[0]
    if len(model.subgraphs) > 1:
        raise Abandoned
    if name in RANDOM:
        if w.graph.has_random:
            raise Abandoned
        w.graph.has_random = True
    if any(array.dtype.kind == "f" and not np.isfinite(array).all() for array in (*inputs, *outputs)):
        raise Abandoned
    if sum(array.size for array in (*inputs, *outputs)) > 4 * w.limit:
        raise Abandoned
    if any(t.quantization is not None and t.quantization.details is not None for t in subgraph.tensors):
        # Scales that are tensors of their own.
        raise Abandoned
    if name == "LSTM" and subgraph.operators[0].builtinOptions.kernelType == 1:
        # The reference changes its input.
        raise Abandoned
    tensors = {}
    for position, index in enumerate(subgraph.inputs):
        table = subgraph.tensors[index]
        type_name = _NAMES[table.type]
        quantization = quantization_of(table.quantization)
        values = inputs[position]
        x = None
        if values.size and name not in BOUND and w.chance(0.75):
            try:
                x = replaced(w, name, type_name, quantization, values)
            except Abandoned:
                x = None
        if x is None:
            if values.dtype.kind == "V":
                raise Abandoned
            x = w.input([values, values], type_name, quantization)
            x.blob = Blob(table.quantization) if table.quantization else None
        tensors[index] = x
    results = []
    for index, table in enumerate(subgraph.tensors):
        if index in tensors:
            continue
        type_name = _NAMES[table.type]
        shape = [] if table.shape is None else table.shape
        tensor = Tensor(type_name, shape, quantization_of(table.quantization), is_variable=bool(table.isVariable))
        tensor.blob = Blob(table.quantization) if table.quantization else None
        tensor.sparsity = Blob(table.sparsity) if table.sparsity else None
        data = model.buffers[table.buffer].data if table.buffer else None
        if data is not None and len(data):
            tensor.data = bytes(bytearray(data))
        # Such as memory that an operator uses, which the schema calls an output: nobody reads it.
        tensor.is_hidden = True
        tensors[index] = tensor
    for position, index in enumerate(subgraph.outputs):
        tensor, values = tensors[index], outputs[position]
        if index in subgraph.inputs or tensor.data is not None:
            raise Abandoned
        tensor.shape = tuple(values.shape)
        tensor.value = dequantized(values, tensor.quantization) if tensor.is_quantized else values
        tensor.loose = name in LOOSE
        tensor.is_hidden = False
        if values.dtype.kind != "V":
            results.append(tensor)
    is_stateful = name in STATEFUL or any(tensor.is_variable for tensor in tensors.values())
    for operator in subgraph.operators or ():
        code = model.operatorCodes[operator.opcodeIndex]
        builtin = max(code.builtinCode, code.deprecatedBuiltinCode)
        is_custom = builtin == schema.BuiltinOperator.CUSTOM
        operator_name = code.customCode.decode() if is_custom else _CODES[builtin]
        opts = None
        if operator.builtinOptions is not None:
            opts = Blob(operator.builtinOptions)
        elif operator.builtinOptions2 is not None:
            opts = Blob(operator.builtinOptions2, 2)
        names = [None if index < 0 else tensors[index] for index in _list(operator.inputs)]
        made = Operator(operator_name, names, [tensors[index] for index in _list(operator.outputs)], opts, code.version,
                        state=is_stateful)
        if is_custom:
            made.custom = bytes(bytearray(operator.customOptions)) if operator.customOptions is not None else b""
        if operator.intermediates is not None and len(operator.intermediates):
            made.intermediates = [tensors[index] for index in operator.intermediates]
        w.subgraph.operators.append(made)
    if is_stateful:
        w.graph.has_state = True
    for tensor in results:
        w.pool.append(tensor)
        if tensor.value.dtype == np.float32:
            w.calmed(tensor)


def _list(array):
    return [] if array is None else list(array)


_CODES = {value: name for name, value in vars(schema.BuiltinOperator).items() if not name.startswith("_")}
