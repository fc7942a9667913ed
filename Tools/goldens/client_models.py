# SPDX-License-Identifier: Apache-2.0
"""Makes the models of Tests/TensorFlowLiteTests, in Tests/Goldens/clients, and those of Examples, and checks with LiteRT
that they compute what tests and examples say.

They are small: the tests are about the calls of an API, not about arithmetic.
"""

from pathlib import Path

import flatbuffers
from flatbuffers import flexbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

from graph_builder import GraphBuilder
from model_builder import Quantization

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "Tests/Goldens/clients"
EXAMPLES = ROOT / "Examples/Models"


class Graph(GraphBuilder):
    """A graph whose tensors have names of our choice."""

    def named(self, index, name, signature=None):
        self._tensors[index].name = name
        if signature is not None:
            self._tensors[index].shapeSignature = np.array(signature, np.int32)
        return index

    def subgraph(self):
        child = super().subgraph()
        child.__class__ = Graph
        return child


def with_signatures(data, signatures):
    """Adds signatures, each a key, a subgraph, and names of inputs and outputs with their tensors, in this order."""
    model = schema.ModelT.InitFromPackedBuf(data, 0)
    model.signatureDefs = []
    for key, subgraph, inputs, outputs in signatures:
        definition = schema.SignatureDefT()
        definition.signatureKey, definition.subgraphIndex = key, subgraph
        definition.inputs, definition.outputs = [[_map(*pair) for pair in pairs] for pairs in (inputs, outputs)]
        model.signatureDefs.append(definition)
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def _map(name, tensor):
    entry = schema.TensorMapT()
    entry.name, entry.tensorIndex = name, tensor
    return entry


def tripled(type_name="float32", shape=(1, 8, 8, 3), quantization=None):
    """output = (input + input) + input. As in the model that this follows, the file calls the first sum float32 always."""
    graph = Graph()
    source = graph.named(graph.argument(type_name, shape, quantization), "input")
    double = graph.tensor("float32", shape, quantization)
    output = graph.named(graph.tensor(type_name, shape, quantization), "output")
    graph.add("ADD", [source, source], [double], schema.AddOptionsT())
    graph.add("ADD", [double, source], [output], schema.AddOptionsT())
    graph.result(output)
    return graph.bytes()


def signatures():
    """`add` and `sub`: a subgraph each, for `x + 2` and `x - 2`."""
    add = Graph()
    sub = add.subgraph()
    for graph, key, name, options in [(add, "add", "ADD", schema.AddOptionsT()), (sub, "sub", "SUB", schema.SubOptionsT())]:
        x = graph.named(graph.argument("float32", (1,)), f"{key}_x:0", [-1])
        two = graph.constant(np.array([2], np.float32))
        output = graph.named(graph.tensor("float32", (1,)), "StatefulPartitionedCall:0", [-1])
        graph.add(name, [x, two], [output], options)
        graph.result(output)
    return with_signatures(
        add.bytes(), [("add", 0, [("x", 0)], [("output_0", 2)]), ("sub", 1, [("x", 0)], [("output_0", 2)])])


def difference():
    """first − second, and their sum; the signature names them in an order that is neither the file's nor sorted."""
    graph = Graph()
    first = graph.named(graph.argument("float32", (2,)), "first")
    second = graph.named(graph.argument("float32", (2,)), "second")
    minus = graph.named(graph.tensor("float32", (2,)), "minus")
    plus = graph.named(graph.tensor("float32", (2,)), "plus")
    graph.add("SUB", [first, second], [minus], schema.SubOptionsT())
    graph.add("ADD", [first, second], [plus], schema.AddOptionsT())
    graph.result(minus)
    graph.result(plus)
    return with_signatures(
        graph.bytes(),
        [("serving_default", 0, [("b", second), ("é", first)], [("plus", plus), ("minus", minus)])])


def counting():
    """RANGE from 0 to a limit: the size of the output is data."""
    graph = Graph()
    zero, one = graph.constant(np.int32(0)), graph.constant(np.int32(1))
    limit = graph.named(graph.argument("int32", ()), "limit")
    output = graph.named(graph.tensor("int32", (1,)), "output", [-1])
    graph.add("RANGE", [zero, limit, one], [output], schema.RangeOptionsT())
    graph.result(output)
    return with_signatures(graph.bytes(), [("count", 0, [("limit", limit)], [("output", output)])])


def lookup():
    """GATHER from three floats: an index beyond them can only be found by a run."""
    graph = Graph()
    values = graph.constant(np.array([1, 2, 3], np.float32))
    index = graph.named(graph.argument("int32", (1,)), "index")
    output = graph.named(graph.tensor("float32", (1,)), "output")
    graph.add("GATHER", [values, index], [output], schema.GatherOptionsT())
    graph.result(output)
    return with_signatures(graph.bytes(), [("look_up", 0, [("index", index)], [("output", output)])])


def weighted():
    """FULLY_CONNECTED of four int8 values."""
    graph = Graph()
    scale = Quantization.per_tensor(0.5, 0)
    source = graph.named(graph.argument("int8", (1, 4), Quantization.per_tensor(0.5, -1)), "input")
    weights = graph.constant(np.array([[2, 2, 2, 2]], np.int8), scale)
    output = graph.named(graph.tensor("int8", (1, 1), Quantization.per_tensor(1, 3)), "output")
    options = schema.FullyConnectedOptionsT()
    graph.add("FULLY_CONNECTED", [source, weights, -1], [output], options, version=4)
    graph.result(output)
    return with_signatures(graph.bytes(), [("weigh", 0, [("input", source)], [("output", output)])])


def unknown():
    """A custom operator that nobody has."""
    graph = Graph()
    source = graph.argument("float32", (1,))
    output = graph.tensor("float32", (1,))
    graph.add("CUSTOM", [source], [output])
    graph._codes[0].customCode = "NobodyHasThis"
    graph.result(output)
    return graph.bytes()


def scaled():
    """The custom operator `Scale`, with a factor: an example has it."""
    builder = flexbuffers.Builder()
    with builder.Map():
        builder.Key("factor")
        builder.Float(2.5)
    graph = Graph()
    source = graph.named(graph.argument("float32", (3,)), "input")
    output = graph.named(graph.tensor("float32", (3,)), "output")
    graph.add("CUSTOM", [source], [output])
    graph._codes[0].customCode = "Scale"
    graph._operators[0].customOptions = np.frombuffer(bytes(builder.Finish()), np.uint8)
    graph.result(output)
    return graph.bytes()


def counter():
    """A resource variable that starts at 10: `add` adds to it, `read` reads it."""
    def handle(graph):
        index = graph.handle()
        options = schema.VarHandleOptionsT()
        options.container, options.sharedName = "", "count"
        graph.add("VAR_HANDLE", [], [index], options)
        return index

    def start(graph):
        options = schema.CallOnceOptionsT()
        options.initSubgraphIndex = initialize.index
        graph.add("CALL_ONCE", [], [], options)
        return handle(graph)

    add = Graph()
    read, initialize = add.subgraph(), add.subgraph()
    initialize.add(
        "ASSIGN_VARIABLE", [handle(initialize), initialize.constant(np.float32([10]))], [], schema.AssignVariableOptionsT())
    variable = start(add)
    old, total = add.tensor("float32", (1,)), add.named(add.tensor("float32", (1,)), "total")
    amount = add.named(add.argument("float32", (1,)), "amount")
    add.add("READ_VARIABLE", [variable], [old], schema.ReadVariableOptionsT())
    add.add("ADD", [old, amount], [total], schema.AddOptionsT())
    add.add("ASSIGN_VARIABLE", [variable, total], [], schema.AssignVariableOptionsT())
    add.result(total)
    count = read.named(read.tensor("float32", (1,)), "count")
    read.add("READ_VARIABLE", [start(read)], [count], schema.ReadVariableOptionsT())
    read.result(count)
    return with_signatures(
        add.bytes(), [("add", 0, [("amount", amount)], [("total", total)]), ("read", 1, [], [("count", count)])])


def check_counter(data):
    """LiteRT's runners of one interpreter share the variable, which is set up once."""
    interpreter = Interpreter(model_content=data, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    add, read = (interpreter.get_signature_runner(key) for key in ("add", "read"))
    answers = [add(amount=np.float32([5]))["total"], read()["count"], add(amount=np.float32([1]))["total"], read()["count"]]
    assert [float(a[0]) for a in answers] == [15, 15, 16, 16], answers


def constant():
    """No input at all: the negation of a constant."""
    graph = Graph()
    values = graph.constant(np.array([1, -2], np.float32))
    output = graph.named(graph.tensor("float32", (2,)), "output")
    graph.add("NEG", [values], [output], schema.NegOptionsT())
    graph.result(output)
    return graph.bytes()


def run(data, *inputs):
    interpreter = Interpreter(model_content=data, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    details = interpreter.get_input_details()
    for detail, values in zip(details, inputs):
        interpreter.resize_tensor_input(detail["index"], values.shape)
    interpreter.allocate_tensors()
    for detail, values in zip(details, inputs):
        interpreter.set_tensor(detail["index"], values)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]).tolist() for detail in interpreter.get_output_details()]


def main():
    FOLDER.mkdir(exist_ok=True)
    models = {
        "add": (tripled(), [np.float32([1, 3])], [[3, 9]]),
        "add_quantized": (
            tripled("uint8", quantization=Quantization.per_tensor(0.003922, 0)), [np.uint8([1, 3])], [[3, 9]]),
        "multi_signatures": (signatures(), [np.float32([2, 4])], [[4, 6]]),
        "difference": (difference(), [np.float32([5, 7]), np.float32([1, 2])], [[4, 5], [6, 9]]),
        "counting": (counting(), [np.int32(4)], [[0, 1, 2, 3]]),
        "lookup": (lookup(), [np.int32([2])], [[3]]),
        "weighted": (weighted(), [np.int8([[1, 3, 5, 7]])], [[[13]]]),
        "constant": (constant(), [], [[-1, 2]]),
        "unknown": (unknown(), None, None),
        "counter": (counter(), None, None),
    }
    check_counter(models["counter"][0])
    for name, (data, inputs, expected) in models.items():
        if expected is not None:
            answer = run(data, *inputs)
            assert answer == expected, f"{name}: LiteRT computes {answer}, not {expected}"
        (FOLDER / f"{name}.tflite").write_bytes(data)
        print(f"{name}.tflite: {len(data)} bytes")
    EXAMPLES.mkdir(exist_ok=True)
    for name in ("add", "difference", "multi_signatures", "weighted"):
        (EXAMPLES / f"{name}.tflite").write_bytes(models[name][0])
    (EXAMPLES / "scale.tflite").write_bytes(scaled())


if __name__ == "__main__":
    main()
