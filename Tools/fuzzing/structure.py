# SPDX-License-Identifier: Apache-2.0
"""Changes what a model means while it stays a valid FlatBuffer: indices, sizes, types, scales, options, calls."""

import copy
import struct

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

SIZES = [0, 1, 2, 3, 7, 8, 31, 64, 255, 256, 1000, 1024, 4096, 16384, 32768, 65535, 65536, 100_003, 1 << 20, 1 << 24,
         1 << 28, (1 << 30) - 1, 1 << 30, (1 << 31) - 1]
NUMBERS = SIZES + [-1, -2, -128, -(1 << 15), -(1 << 31)]
FLOATS = [0.0, -0.0, 1.0, -1.0, 1e-38, 1e-45, 1e38, float("nan"), float("inf"), -float("inf"), 0.5, 65536.0, 1e9]
TYPES = sorted(value for name, value in vars(schema.TensorType).items() if isinstance(value, int))
CODES = sorted(value for name, value in vars(schema.BuiltinOperator).items() if isinstance(value, int))
WIDTHS = {schema.TensorType.FLOAT32: "<f4", schema.TensorType.INT32: "<i4", schema.TensorType.INT64: "<i8"}


class Structure:
    """A parsed model of which mutants are made."""

    def __init__(self, contents):
        self._model = schema.ModelT.InitFromPackedBuf(contents, 0)

    def mutant(self, random, count):
        """The bytes of a model with `count` changes, and their names."""
        model = copy.copy(self._model)
        # Weights are shared: who changes a buffer replaces it.
        model.buffers = list(model.buffers or [])
        model.subgraphs = copy.deepcopy(model.subgraphs)
        model.operatorCodes = copy.deepcopy(model.operatorCodes)
        model.signatureDefs = copy.deepcopy(model.signatureDefs)
        model.metadata = copy.deepcopy(model.metadata)
        names = []
        for _ in range(count):
            change = random.choices(CHANGES, WEIGHTS)[0]
            try:
                change(model, random)
                names.append(change.__name__)
            except (IndexError, TypeError, AttributeError, ValueError, OverflowError, KeyError):
                continue
        return pack(model), names


def pack(model):
    builder = flatbuffers.Builder(1 << 16)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def _graph(model, random):
    return random.choice(model.subgraphs) if random.random() < 0.3 else model.subgraphs[0]


def _tensor(model, random):
    return random.choice(_graph(model, random).tensors)


def _operator(model, random):
    return random.choice(_graph(model, random).operators)


def _edit_list(values, random, draw):
    values = [] if values is None else [int(value) for value in values]
    kind = random.randrange(6)
    if kind == 0 and values:
        values[random.randrange(len(values))] = draw()
    elif kind == 1 and values:
        del values[random.randrange(len(values))]
    elif kind == 2:
        values.insert(random.randrange(len(values) + 1), draw())
    elif kind == 3 and len(values) > 1:
        a, b = random.sample(range(len(values)), 2)
        values[a], values[b] = values[b], values[a]
    elif kind == 4 and values:
        values[random.randrange(len(values))] = random.choice(values)
    elif values:
        place = random.randrange(len(values))
        values[place] += random.choice([-1, 1])
    return np.array(values, np.int32)


def tensor_indices(model, random):
    graph = _graph(model, random)
    draw = lambda: random.choice([-1, len(graph.tensors), random.randrange(len(graph.tensors))])
    operator = random.choice(graph.operators)
    name = random.choice(["inputs", "inputs", "outputs", "intermediates"])
    setattr(operator, name, _edit_list(getattr(operator, name), random, draw))


def graph_indices(model, random):
    graph = _graph(model, random)
    name = random.choice(["inputs", "outputs"])
    draw = lambda: random.randrange(len(graph.tensors))
    setattr(graph, name, _edit_list(getattr(graph, name), random, draw))


def shape(model, random):
    tensor = _tensor(model, random)
    name = random.choice(["shape", "shape", "shapeSignature"])
    setattr(tensor, name, _edit_list(getattr(tensor, name), random, lambda: random.choice(SIZES + [-1])))


def one_dimension(model, random):
    tensor = _tensor(model, random)
    shape = [int(size) for size in tensor.shape]
    place = random.randrange(len(shape))
    shape[place] = random.choice(SIZES + [shape[place] * 2, shape[place] * 1000])
    tensor.shape = np.array(shape, np.int64).clip(-(1 << 31), (1 << 31) - 1).astype(np.int32)
    tensor.shapeSignature = None


def input_dimension(model, random):
    """A large or empty input, so that everything behind it is, too."""
    graph = model.subgraphs[0]
    tensor = graph.tensors[random.choice([int(index) for index in graph.inputs])]
    shape = [int(size) for size in tensor.shape]
    shape[random.randrange(len(shape))] = random.choice(SIZES)
    tensor.shape = np.array(shape, np.int32)
    tensor.shapeSignature = None


def same_dimensions(model, random):
    """Every dimension of one size becomes another, weights included, whose values repeat."""
    graph = model.subgraphs[0]
    sizes = [int(size) for tensor in graph.tensors for size in (tensor.shape if tensor.shape is not None else [])]
    old = random.choice([size for size in sizes if size > 1])
    new = random.choice([0, 1, old + 1, old * 2, old * 16, old * 64, 1024, 4096, 65536])
    for tensor in graph.tensors:
        if tensor.shape is None or old not in tensor.shape:
            continue
        before = int(np.prod(tensor.shape, dtype=np.int64))
        tensor.shape = np.array([new if size == old else int(size) for size in tensor.shape], np.int32)
        tensor.shapeSignature = None
        after = int(np.prod(tensor.shape, dtype=np.int64))
        buffer = model.buffers[tensor.buffer]
        if buffer.data is None or len(buffer.data) == 0 or before == 0:
            continue
        wanted = len(buffer.data) * after // before
        if wanted > 16 << 20:
            raise ValueError
        grown = schema.BufferT()
        grown.data = np.resize(np.asarray(buffer.data, np.uint8), wanted)
        model.buffers.append(grown)
        tensor.buffer = len(model.buffers) - 1


def element_type(model, random):
    _tensor(model, random).type = random.choice(TYPES)


def is_variable(model, random):
    tensor = _tensor(model, random)
    tensor.isVariable = not tensor.isVariable
    if random.random() < 0.7:
        tensor.buffer = 0


def buffer_index(model, random):
    _tensor(model, random).buffer = random.choice([0, len(model.buffers), random.randrange(len(model.buffers))])


def buffer_bytes(model, random):
    tensor = _tensor(model, random)
    data = np.array(model.buffers[tensor.buffer].data, np.uint8)
    kind = random.randrange(3)
    if kind == 0:
        data = np.resize(data, max(0, len(data) + random.choice([-1, 1, 4, -4, len(data)])))
    elif kind == 1 and tensor.type in WIDTHS:
        values = np.frombuffer(data.tobytes(), WIDTHS[tensor.type]).copy()
        place = random.randrange(len(values))
        values[place] = random.choice(FLOATS) if tensor.type == schema.TensorType.FLOAT32 else random.choice(NUMBERS)
        data = np.frombuffer(values.tobytes(), np.uint8)
    else:
        data = data.copy()
        data[random.randrange(len(data))] = random.randrange(256)
    changed = schema.BufferT()
    changed.data = data
    model.buffers.append(changed)
    tensor.buffer = len(model.buffers) - 1


def small_integers(model, random):
    """Shapes, axes and paddings: constants of few integers."""
    graph = _graph(model, random)
    found = []
    for tensor in graph.tensors:
        data = model.buffers[tensor.buffer].data
        if tensor.type in (schema.TensorType.INT32, schema.TensorType.INT64) and data is not None and 0 < len(data) <= 64:
            found.append(tensor)
    tensor = random.choice(found)
    values = np.frombuffer(np.array(model.buffers[tensor.buffer].data, np.uint8).tobytes(), WIDTHS[tensor.type]).copy()
    values[random.randrange(len(values))] = random.choice(NUMBERS)
    changed = schema.BufferT()
    changed.data = np.frombuffer(values.tobytes(), np.uint8)
    model.buffers.append(changed)
    tensor.buffer = len(model.buffers) - 1


def quantization(model, random):
    tensor = _tensor(model, random)
    table = tensor.quantization
    if table is None:
        table = tensor.quantization = schema.QuantizationParametersT()
    kind = random.randrange(5)
    if kind == 0:
        table.scale = None
    elif kind == 1:
        scales = list(table.scale) if table.scale is not None and len(table.scale) else [1.0]
        scales[random.randrange(len(scales))] = random.choice(FLOATS)
        table.scale = np.array(scales, np.float32)
        if table.zeroPoint is None:
            table.zeroPoint = np.zeros(len(scales), np.int64)
    elif kind == 2:
        points = list(table.zeroPoint) if table.zeroPoint is not None and len(table.zeroPoint) else [0]
        points[random.randrange(len(points))] = random.choice(NUMBERS + [1 << 40])
        table.zeroPoint = np.array(points, np.int64)
    elif kind == 3:
        table.quantizedDimension = random.choice(NUMBERS)
    else:
        count = random.choice([0, 1, 2, 3, 8])
        table.scale = np.full(count, 0.5, np.float32)
        table.zeroPoint = np.zeros(random.choice([0, count, count + 1]), np.int64)


def operator_code(model, random):
    entry = random.choice(model.operatorCodes)
    code = random.choice(CODES)
    entry.builtinCode = code
    entry.deprecatedBuiltinCode = min(code, 127)
    entry.version = random.choice([1, 1, 2, 3, entry.version])


def version(model, random):
    random.choice(model.operatorCodes).version = random.choice([0, 1, 2, 3, 5, 9, 99, -1])


def options(model, random):
    operator = _operator(model, random)
    table = operator.builtinOptions if random.random() < 0.9 else operator.builtinOptions2
    names = [name for name, value in vars(table).items() if isinstance(value, (int, float, bool))]
    name = random.choice(names)
    old = getattr(table, name)
    value = random.choice(FLOATS) if isinstance(old, float) else random.choice(NUMBERS + [old + 1, old - 1])
    setattr(table, name, value)
    try:
        pack(model)
    except (struct.error, OverflowError, TypeError, ValueError):
        setattr(table, name, type(old)(random.randrange(0, 4)))


def no_options(model, random):
    _operator(model, random).builtinOptions = None


def custom_options(model, random):
    found = [operator for graph in model.subgraphs for operator in graph.operators if operator.customOptions is not None]
    operator = random.choice(found)
    data = np.array(operator.customOptions, np.uint8)
    for _ in range(random.randrange(1, 4)):
        data[random.randrange(len(data))] = random.choice([0, 1, 127, 128, 255, random.randrange(256)])
    operator.customOptions = data if random.random() < 0.9 else data[: random.randrange(len(data))]


def operators(model, random):
    graph = _graph(model, random)
    kind = random.randrange(3)
    place = random.randrange(len(graph.operators))
    if kind == 0:
        del graph.operators[place]
    elif kind == 1:
        graph.operators.insert(random.randrange(len(graph.operators) + 1), copy.deepcopy(graph.operators[place]))
    else:
        random.shuffle(graph.operators)


def output_is_input(model, random):
    operator = _operator(model, random)
    operator.outputs = np.array([int(operator.inputs[0])] + [int(x) for x in operator.outputs[1:]], np.int32)


def add_call(model, random):
    """A WHILE, IF or CALL_ONCE over copies of the model's own graph."""
    graph = model.subgraphs[0]
    if len(model.subgraphs) < 6:
        model.subgraphs.append(copy.deepcopy(random.choice(model.subgraphs)))
    kind = random.choice(["WHILE", "IF", "CALL_ONCE", "STABLEHLO_COMPOSITE"])
    code = schema.OperatorCodeT()
    code.builtinCode = getattr(schema.BuiltinOperator, kind)
    code.deprecatedBuiltinCode = min(code.builtinCode, 127)
    code.version = 1
    model.operatorCodes.append(code)
    operator = schema.OperatorT()
    operator.opcodeIndex = len(model.operatorCodes) - 1
    operator.inputs, operator.outputs = graph.inputs, graph.outputs
    draw = lambda: random.randrange(len(model.subgraphs))
    if kind == "WHILE":
        operator.builtinOptions = schema.WhileOptionsT()
        operator.builtinOptions.condSubgraphIndex, operator.builtinOptions.bodySubgraphIndex = draw(), draw()
        operator.builtinOptionsType = schema.BuiltinOptions.WhileOptions
        operator.outputs = graph.inputs
    elif kind == "IF":
        operator.builtinOptions = schema.IfOptionsT()
        operator.builtinOptions.thenSubgraphIndex, operator.builtinOptions.elseSubgraphIndex = draw(), draw()
        operator.builtinOptionsType = schema.BuiltinOptions.IfOptions
    elif kind == "CALL_ONCE":
        operator.builtinOptions = schema.CallOnceOptionsT()
        operator.builtinOptions.initSubgraphIndex = draw()
        operator.builtinOptionsType = schema.BuiltinOptions.CallOnceOptions
    random.choice(model.subgraphs).operators.insert(0, operator)


def called_subgraph(model, random):
    for graph in model.subgraphs:
        for operator in graph.operators:
            names = [name for name in vars(operator.builtinOptions or object()) if "SubgraphIndex" in name] \
                if operator.builtinOptions is not None else []
            if names and random.random() < 0.7:
                setattr(operator.builtinOptions, random.choice(names), random.choice([-1, 0, 1, 2, len(model.subgraphs)]))
                return
    raise ValueError


def condition_is_true(model, random):
    """A loop whose condition is a constant."""
    graph = random.choice(model.subgraphs)
    buffer = schema.BufferT()
    buffer.data = np.array([1], np.uint8)
    model.buffers.append(buffer)
    tensor = schema.TensorT()
    tensor.name, tensor.type, tensor.shape = "true", schema.TensorType.BOOL, np.array([1], np.int32)
    tensor.buffer = len(model.buffers) - 1
    graph.tensors.append(tensor)
    graph.outputs = np.array([len(graph.tensors) - 1], np.int32)


def signatures(model, random):
    definition = random.choice(model.signatureDefs)
    definition.subgraphIndex = random.choice([0, 1, len(model.subgraphs)])
    for entry in definition.inputs + definition.outputs:
        if random.random() < 0.5:
            entry.tensorIndex = random.randrange(len(model.subgraphs[0].tensors) + 1)


def metadata(model, random):
    """The metadata's own tables, and where the file says that they are."""
    entry = random.choice(model.metadata)
    if random.random() < 0.2:
        entry.buffer = random.choice([0, len(model.buffers), random.randrange(len(model.buffers))])
        return
    data = np.array(model.buffers[entry.buffer].data, np.uint8).copy()
    for _ in range(random.choice([1, 1, 2, 4])):
        place = random.randrange(len(data))
        if random.random() < 0.5:
            data[place] = random.choice([0, 1, 4, 127, 128, 255, random.randrange(256)])
        else:
            word = random.choice([0, 1, 4, 255, 65536, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, len(data)])
            data[place & ~3:(place & ~3) + 4] = np.frombuffer(struct.pack("<I", word), np.uint8)[: len(data) - (place & ~3)]
    changed = schema.BufferT()
    changed.data = data if random.random() < 0.9 else data[: random.randrange(len(data))]
    model.buffers.append(changed)
    entry.buffer = len(model.buffers) - 1


def rank(model, random):
    """More or fewer dimensions of the same number of elements."""
    tensor = _tensor(model, random)
    sizes = [int(size) for size in tensor.shape]
    kind = random.randrange(4)
    if kind == 0:
        sizes = [1] * random.randrange(1, 9 - min(len(sizes), 8)) + sizes
    elif kind == 1:
        sizes = [int(np.prod(sizes, dtype=np.int64))]
    elif kind == 2:
        sizes = [size for size in sizes if size != 1]
    else:
        random.shuffle(sizes)
    tensor.shape = np.array(sizes, np.int64).clip(-1, (1 << 31) - 1).astype(np.int32)
    tensor.shapeSignature = None


def open_dimensions(model, random):
    """Dimensions that the file leaves open, of inputs or of anything."""
    graph = _graph(model, random)
    tensor = graph.tensors[random.choice([int(index) for index in graph.inputs])] if random.random() < 0.7 else random.choice(graph.tensors)
    sizes = [int(size) for size in tensor.shape]
    tensor.shapeSignature = np.array([-1 if random.random() < 0.5 else size for size in sizes], np.int32)
    if random.random() < 0.5:
        tensor.shape = np.array([1 if mark < 0 else size for mark, size in zip(tensor.shapeSignature, sizes)], np.int32)


def constant_input(model, random):
    """A tensor that was computed becomes a constant of zeros, or a constant becomes an input."""
    graph = model.subgraphs[0]
    tensor = random.choice(graph.tensors)
    index = graph.tensors.index(tensor)
    if model.buffers[tensor.buffer].data is not None and random.random() < 0.5:
        tensor.buffer = 0
        graph.inputs = np.array([int(x) for x in graph.inputs] + [index], np.int32)
        return
    width = {schema.TensorType.FLOAT32: 4, schema.TensorType.INT32: 4, schema.TensorType.INT64: 8}.get(tensor.type, 1)
    count = int(np.prod([int(size) for size in tensor.shape], dtype=np.int64)) * width
    if not 0 <= count <= 1 << 22:
        raise ValueError
    changed = schema.BufferT()
    changed.data = np.full(count, random.choice([0, 0, 1, 63]), np.uint8)
    model.buffers.append(changed)
    tensor.buffer = len(model.buffers) - 1
    graph.inputs = np.array([int(x) for x in graph.inputs if int(x) != index], np.int32)


def every_input(model, random):
    """All graph inputs become large, together."""
    factor = random.choice([2, 16, 100, 1000])
    for place in model.subgraphs[0].inputs:
        tensor = model.subgraphs[0].tensors[int(place)]
        sizes = [int(size) for size in tensor.shape]
        axis = random.randrange(len(sizes))
        sizes[axis] = min(sizes[axis] * factor, (1 << 31) - 1)
        tensor.shape, tensor.shapeSignature = np.array(sizes, np.int32), None


def fitting_sizes(model, random):
    """Sizes of all inputs by chance, zeros and huge ones among them, that a reader accepts; mostly the same for alike inputs."""
    graph = model.subgraphs[0]
    last = None
    for place in graph.inputs:
        tensor = graph.tensors[int(place)]
        sizes = [int(size) for size in tensor.shape]
        if last is not None and len(last) == len(sizes) and random.random() < 0.6:
            sizes = [size if random.random() < 0.8 else random.choice([1, own]) for size, own in zip(last, sizes)]
        else:
            for _ in range(60):
                drawn = [random.choice(SIZES + [0, 1, 46340]) if random.random() < 0.6 else size for size in sizes]
                if np.prod([size for size in drawn if size > 0], dtype=np.float64) < (1 << 31):
                    sizes = drawn
                    break
        last = sizes
        tensor.shape, tensor.shapeSignature = np.array(sizes, np.int32), None


CHANGES = [fitting_sizes, metadata, rank, open_dimensions, constant_input, every_input, tensor_indices, graph_indices, shape, one_dimension, input_dimension, same_dimensions, element_type, is_variable,
           buffer_index, buffer_bytes, small_integers, quantization, operator_code, version, options, no_options,
           custom_options, operators, output_is_input, add_call, called_subgraph, condition_is_true, signatures]
WEIGHTS = [8, 5, 4, 5, 4, 4, 8, 3, 5, 8, 8, 10, 5, 2, 3, 8, 10, 6, 4, 1, 14, 2, 4, 3, 2, 2, 3, 2, 1]
