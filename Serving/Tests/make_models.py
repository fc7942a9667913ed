# SPDX-License-Identifier: Apache-2.0
"""Makes the small models that the server's tests need: `make_models.py FOLDER`."""

import sys
from pathlib import Path

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Tools" / "goldens"))
from graph_builder import GraphBuilder  # noqa: E402
from model_builder import Quantization  # noqa: E402


class Graph(GraphBuilder):
    """A graph whose tensors have chosen names, open dimensions and a signature."""

    def __init__(self):
        super().__init__()
        self.signature = None

    def open(self, index, shape):
        """Gives a tensor a shape; −1 is an open dimension."""
        tensor = self._tensors[index]
        tensor.shape = np.array([max(1, size) for size in shape], np.int32)
        if -1 in shape:
            tensor.shapeSignature = np.array(shape, np.int32)
        return index

    def named_input(self, name, type_name, shape):
        index = self.argument(type_name, [max(1, size) for size in shape])
        self._tensors[index].name = name
        return self.open(index, shape)

    def named_output(self, name, type_name, shape):
        index = self.tensor(type_name)
        self._tensors[index].name = name
        self.result(index)
        return self.open(index, shape)

    def hidden(self, type_name, shape):
        return self.open(self.tensor(type_name), shape)

    def bytes(self):
        model = schema.ModelT()
        model.version = 3
        model.operatorCodes = self._codes
        model.subgraphs = [self._graph(), *(child._graph() for child in self._children)]
        model.buffers = self._buffers
        if self.signature:
            inputs, outputs = self.signature
            definition = schema.SignatureDefT()
            definition.signatureKey = "serving_default"
            definition.subgraphIndex = 0
            definition.inputs = [_argument(*pair) for pair in zip(inputs, self._input_indices)]
            definition.outputs = [_argument(*pair) for pair in zip(outputs, self._output_indices)]
            model.signatureDefs = [definition]
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def _argument(name, tensor):
    argument = schema.TensorMapT()
    argument.name, argument.tensorIndex = name, tensor
    return argument


def add_sub(type_name, rows):
    """OUTPUT0 = INPUT0 + INPUT1, OUTPUT1 = INPUT0 − INPUT1."""
    graph = Graph()
    shape = [rows, 16]
    inputs = [graph.named_input(f"serving_default_{name}:0", type_name, shape) for name in ("a", "b")]
    for position, name in enumerate(("ADD", "SUB")):
        output = graph.named_output(f"StatefulPartitionedCall:{position}", type_name, shape)
        options = schema.AddOptionsT() if name == "ADD" else schema.SubOptionsT()
        graph.add(name, inputs, [output], options)
    graph.signature = (["INPUT0", "INPUT1"], ["OUTPUT0", "OUTPUT1"])
    return graph


def types():
    """Every element type, through RESHAPE: output K is input K."""
    graph = Graph()
    for name in ("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16",
                 "bfloat16", "float32", "float64"):
        source = graph.named_input(f"in_{name}", name, [1, 4])
        shape = graph.constant(np.array([1, 4], np.int32))
        graph.add("RESHAPE", [source, shape], [graph.named_output(f"out_{name}", name, [1, 4])],
                  schema.ReshapeOptionsT())
    return graph


def dense():
    """A float layer of 64 to 32 with an open batch."""
    random = np.random.default_rng(24)
    graph = Graph()
    source = graph.named_input("x", "float32", [-1, 64])
    weights = graph.constant(random.standard_normal((32, 64)).astype(np.float32))
    bias = graph.constant(random.standard_normal(32).astype(np.float32))
    options = schema.FullyConnectedOptionsT()
    hidden = graph.hidden("float32", [-1, 32])
    graph.add("FULLY_CONNECTED", [source, weights, bias], [hidden], options)
    graph.add("SOFTMAX", [hidden], [graph.named_output("y", "float32", [-1, 32])], _softmax())
    return graph


def dense_int8():
    """A layer of bytes, 64 to 32, with an open batch."""
    random = np.random.default_rng(25)
    graph = Graph()
    source = graph.named_input("x", "int8", [-1, 64])
    graph._tensors[source].quantization = Quantization.per_tensor(0.05, 3).table()
    weights = graph.constant(random.integers(-127, 128, (32, 64)).astype(np.int8), Quantization.per_tensor(0.02, 0))
    bias = graph.constant(random.integers(-500, 500, 32).astype(np.int32), Quantization.per_tensor(0.001, 0))
    output = graph.named_output("y", "int8", [-1, 32])
    graph._tensors[output].quantization = Quantization.per_tensor(0.4, -7).table()
    graph.add("FULLY_CONNECTED", [source, weights, bias], [output], schema.FullyConnectedOptionsT(), version=4)
    return graph


def _softmax():
    options = schema.SoftmaxOptionsT()
    options.beta = 1.0
    return options


def mixing():
    """Sums over the batch: items of different requests must never run together."""
    graph = Graph()
    source = graph.named_input("x", "float32", [-1, 4])
    axis = graph.constant(np.array([0], np.int32))
    total = graph.hidden("float32", [1, 4])
    options = schema.ReducerOptionsT()
    options.keepDims = True
    graph.add("SUM", [source, axis], [total], options)
    graph.add("ADD", [source, total], [graph.named_output("y", "float32", [-1, 4])], schema.AddOptionsT())
    return graph


def slow():
    """Products of a matrix with itself: some tenths of a second."""
    graph = Graph()
    size = 768
    value = graph.named_input("x", "float32", [1, size, size])
    source = value
    for step in range(12):
        shape = [1, size, size]
        output = graph.named_output("y", "float32", shape) if step == 11 else graph.hidden("float32", shape)
        graph.add("BATCH_MATMUL", [value, source], [output], schema.BatchMatMulOptionsT())
        value = output
    return graph


def logarithm():
    """Logarithms: of 0 and below there is no finite one."""
    graph = Graph()
    source = graph.named_input("x", "float32", [1, 4])
    graph.add("LOG", [source], [graph.named_output("y", "float32", [1, 4])])
    return graph


def nameless():
    """Inputs and outputs without names, or with the same one."""
    graph = Graph()
    inputs = [graph.named_input(name, "int32", [1, 2]) for name in ("", "same", "same")]
    total = graph.hidden("int32", [1, 2])
    graph.add("ADD", inputs[:2], [total], schema.AddOptionsT())
    graph.add("ADD", [total, inputs[2]], [graph.named_output("", "int32", [1, 2])], schema.AddOptionsT())
    return graph


def called_as_others():
    """Names that the server gives to tensors without one, on other tensors: every name must still be found."""
    graph = Graph()
    inputs = [graph.named_input(name, "int32", [1, 2]) for name in ("input_1", "", "", "input_3", "input_1")]
    total = inputs[0]
    for position, other in enumerate(inputs[1:]):
        # Each input has its own weight in the sum.
        product, total_so_far = graph.hidden("int32", [1, 2]), graph.hidden("int32", [1, 2])
        factor = graph.constant(np.array(10 ** (position + 1), np.int32))
        graph.add("MUL", [other, factor], [product], schema.MulOptionsT())
        graph.add("ADD", [total, product], [total_so_far], schema.AddOptionsT())
        total = total_so_far
    shape = graph.constant(np.array([1, 2], np.int32))
    for name in ("output_1", ""):
        graph.add("RESHAPE", [total, shape], [graph.named_output(name, "int32", [1, 2])], schema.ReshapeOptionsT())
    return graph


def open_length():
    """An open second dimension."""
    graph = Graph()
    source = graph.named_input("x", "float32", [1, -1])
    graph.add("NEG", [source], [graph.named_output("y", "float32", [1, -1])])
    return graph


def countdown():
    """Counts down to zero, one step at a time: what a run takes is in its data."""
    graph = Graph()
    condition, body = graph.subgraph(), graph.subgraph()
    more = condition.tensor("bool", [1])
    condition.add("GREATER", [condition.argument("int32", [1]), condition.constant(np.array([0], np.int32))], [more],
                  schema.GreaterOptionsT())
    condition.result(more)
    less = body.tensor("int32", [1])
    body.add("SUB", [body.argument("int32", [1]), body.constant(np.array([1], np.int32))], [less], schema.SubOptionsT())
    body.result(less)
    options = schema.WhileOptionsT()
    options.condSubgraphIndex, options.bodySubgraphIndex = condition.index, body.index
    graph.add("WHILE", [graph.named_input("x", "int32", [1])], [graph.named_output("y", "int32", [1])], options)
    return graph


def bytes_16():
    """16 bytes, as they come: what a server costs without a model."""
    graph = Graph()
    source = graph.named_input("INPUT0", "uint8", [1, 16])
    shape = graph.constant(np.array([1, 16], np.int32))
    graph.add("RESHAPE", [source, shape], [graph.named_output("OUTPUT0", "uint8", [1, 16])],
              schema.ReshapeOptionsT())
    return graph


def mixing_beyond():
    """Mixes its batch only where a number is beyond 2, which no trial on small numbers shows."""
    graph = Graph()
    source = graph.named_input("x", "float32", [-1, 4])
    axes = graph.constant(np.array([0, 1], np.int32))
    largest, less, beyond = (graph.hidden("float32", []) for _ in range(3))
    graph.add("REDUCE_MAX", [source, axes], [largest], schema.ReducerOptionsT())
    graph.add("ADD", [largest, graph.constant(np.array(-2, np.float32))], [less], schema.AddOptionsT())
    graph.add("RELU", [less], [beyond])
    graph.add("ADD", [source, beyond], [graph.named_output("y", "float32", [-1, 4])], schema.AddOptionsT())
    return graph


def rectified():
    """Elements of an open batch: items of different requests may run together."""
    graph = Graph()
    graph.add("RELU", [graph.named_input("x", "float32", [-1, 4])], [graph.named_output("y", "float32", [-1, 4])])
    return graph


MODELS = {
    "simple": lambda: add_sub("int32", 1),
    "simple_batch": lambda: add_sub("int32", -1),
    "types": types,
    "dense": dense,
    "dense_int8": dense_int8,
    "mixing": mixing,
    "mixing_beyond": mixing_beyond,
    "rectified": rectified,
    "slow": slow,
    "logarithm": logarithm,
    "nameless": nameless,
    "called_as_others": called_as_others,
    "open_length": open_length,
    "countdown": countdown,
    "identity": bytes_16,
}

# How many models and versions the repository holds: `labelled` has one version, `versioned` two.
LISTED = len(MODELS) + 1 + 2


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in MODELS.items():
        (folder / f"{name}.tflite").write_bytes(make().bytes())
    # The other layouts of a repository, with labels beside the model.
    labelled = folder / "labelled" / "3"
    labelled.mkdir(parents=True, exist_ok=True)
    (labelled / "model.tflite").write_bytes(dense().bytes())
    (labelled / "labels.txt").write_text("".join(f"class {index}\n" for index in range(32)))
    versioned = folder / "versioned"
    for version in ("1", "2"):
        (versioned / version).mkdir(parents=True, exist_ok=True)
        (versioned / version / "model.tflite").write_bytes(add_sub("int32" if version == "1" else "float32", 1).bytes())


if __name__ == "__main__":
    main()
