# SPDX-License-Identifier: Apache-2.0
"""Small models whose files say what their inputs and outputs are: in TensorFlow Lite's metadata, or in an exporter's."""

import io
import json
import zipfile

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from make_models import Graph


def classifier(*counts, size=(8, 8)):
    """Means of colors times weights: an output of scores for each number of classes."""
    graph = Graph()
    source = graph.named_input("image", "float32", [1, *size, 3])
    axes = graph.constant(np.array([1, 2], np.int32))
    means = graph.hidden("float32", [1, 3])
    graph.add("MEAN", [source, axes], [means], schema.ReducerOptionsT())
    for number, count in enumerate(counts):
        random = np.random.default_rng(number)
        weights = graph.constant(random.standard_normal((count, 3)).astype(np.float32))
        bias = graph.constant(random.standard_normal(count).astype(np.float32))
        sums = graph.hidden("float32", [1, count])
        graph.add("FULLY_CONNECTED", [means, weights, bias], [sums], schema.FullyConnectedOptionsT())
        graph.add("LOGISTIC", [sums], [graph.named_output(f"scores{number}", "float32", [1, count])])
    return graph


def echo(batch=1, factor=None, inputs=1):
    """The elements of a picture of 6 × 4 pixels in a row, perhaps multiplied; with two inputs, their sum."""
    graph = Graph()
    shape = [batch, 4, 6, 3]
    sources = [graph.named_input(f"image{number}", "float32", shape) for number in range(inputs)]
    value = sources[0]
    if factor is not None:
        product = graph.hidden("float32", shape)
        graph.add("MUL", [value, graph.constant(np.array(factor, np.float32))], [product], schema.MulOptionsT())
        value = product
    for other in sources[1:]:
        total = graph.hidden("float32", shape)
        graph.add("ADD", [value, other], [total], schema.AddOptionsT())
        value = total
    row = graph.constant(np.array([-1, 72], np.int32))
    graph.add("RESHAPE", [value, row], [graph.named_output("row", "float32", [batch, 72])], schema.ReshapeOptionsT())
    return graph


def exported(graph, task, names):
    """A model with the metadata that Ultralytics appends."""
    size = [4, 6]
    return with_files(graph.bytes(), {"metadata.json": json.dumps({"task": task, "names": names, "imgsz": size, "stride": 32})})


def with_files(model, files):
    """A model with files appended to it."""
    file = io.BytesIO(model)
    with zipfile.ZipFile(file, "a") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return file.getvalue()


def described(graph, labels):
    """A model whose metadata names a file of labels for each output."""
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(graph.bytes(), 0))
    buffer = schema.BufferT()
    buffer.data = np.frombuffer(_metadata([f"labels{number}.txt" for number in range(len(labels))]), np.uint8)
    model.buffers.append(buffer)
    entry = schema.MetadataT()
    entry.name, entry.buffer = b"TFLITE_METADATA", len(model.buffers) - 1
    model.metadata = [entry]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return with_files(
        bytes(builder.Output()), {f"labels{number}.txt": "\n".join(names) for number, names in enumerate(labels)})


def _metadata(files):
    """The table `ModelMetadata` of TensorFlow Lite's schema, with the outputs' files; numbers are those of fields."""
    builder = flatbuffers.Builder(1024)

    def vector(*tables):
        builder.StartVector(4, len(tables), 4)
        for table in reversed(tables):
            builder.PrependUOffsetTRelative(table)
        return builder.EndVector()

    def table(count, fields, kind=None):
        builder.StartObject(count)
        for field, offset in fields.items():
            builder.PrependUOffsetTRelativeSlot(field, offset, 0)
        if kind is not None:
            builder.PrependInt8Slot(2, kind, 0)
        return builder.EndObject()

    def tensor(name, file):
        fields = {0: builder.CreateString(name)}
        if file:
            # TENSOR_AXIS_LABELS
            fields[6] = vector(table(5, {0: builder.CreateString(file)}, kind=2))
        return table(7, fields)

    inputs = vector(tensor("image", None))
    outputs = vector(*[tensor(f"head{number}", file) for number, file in enumerate(files)])
    graphs = vector(table(8, {2: inputs, 3: outputs}))
    builder.Finish(table(8, {0: builder.CreateString("model"), 3: graphs}), b"M001")
    return bytes(builder.Output())
