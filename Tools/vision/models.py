# SPDX-License-Identifier: Apache-2.0
"""Small models of every layout that detectors have: constants that a reshape passes on, or the picture itself."""

import io
import json
import pathlib
import sys
import zipfile

import flatbuffers
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "goldens"))
from ai_edge_litert import schema_py_generated as schema  # noqa: E402
from graph_builder import GraphBuilder  # noqa: E402
from model_builder import Quantization  # noqa: E402

TYPES = {"float32": np.float32, "int8": np.int8, "uint8": np.uint8}


def quantized(values, quantization, dtype):
    """`values` in steps of a scale."""
    info = np.iinfo(dtype)
    steps = np.round(values / np.float32(quantization.scale)) + quantization.zero_point
    return np.clip(steps, info.min, info.max).astype(dtype)


def real(values, quantization):
    """What quantized values stand for, in float32."""
    if quantization is None:
        return values.astype(np.float32)
    return np.float32(quantization.scale) * (values.astype(np.int64) - quantization.zero_point).astype(np.float32)


def constant_model(outputs, size=(64, 64), planar=False, input_type="float32", input_quantization=None):
    """A model that answers `outputs` to every picture: arrays, or pairs of an array and its quantization."""
    graph = GraphBuilder()
    width, height = size
    shape = (1, 3, height, width) if planar else (1, height, width, 3)
    graph.input(np.zeros(shape, TYPES[input_type]), input_quantization)
    for output in outputs:
        values, quantization = output if isinstance(output, tuple) else (output, None)
        # A reshape, as models do not answer with constants themselves.
        source = graph.constant(values, quantization)
        target = graph.tensor(values.dtype.name, values.shape, quantization)
        graph._tensors[target].shape = np.array(values.shape, np.int32)
        graph.add("RESHAPE", [source, graph.constant(np.array(values.shape, np.int32))], [target],
                  schema.ReshapeOptionsT())
        graph.result(target)
    return graph.bytes()


def softmax_model(probabilities, size=(64, 64)):
    """A model that answers these probabilities by a SOFTMAX of their logarithms."""
    graph = GraphBuilder()
    graph.input(np.zeros((1, size[1], size[0], 3), np.float32))
    source = graph.constant(np.log(probabilities).astype(np.float32))
    shaped, target = (graph.tensor("float32", probabilities.shape) for _ in range(2))
    for tensor in (shaped, target):
        graph._tensors[tensor].shape = np.array(probabilities.shape, np.int32)
    graph.add("RESHAPE", [source, graph.constant(np.array(probabilities.shape, np.int32))], [shaped],
              schema.ReshapeOptionsT())
    options = schema.SoftmaxOptionsT()
    options.beta = 1
    graph.add("SOFTMAX", [shaped], [target], options)
    graph.result(target)
    return graph.bytes()


def joined_model(parts, axis, order=None, size=(64, 64)):
    """A model that answers constants joined along an axis, and perhaps transposed, to every picture."""
    graph = GraphBuilder()
    graph.input(np.zeros((1, size[1], size[0], 3), np.float32))
    shape = np.concatenate(parts, axis).shape
    sources = []
    for part in parts:
        # A reshape, as models do not join constants themselves.
        source = graph.tensor("float32", part.shape)
        graph._tensors[source].shape = np.array(part.shape, np.int32)
        graph.add("RESHAPE", [graph.constant(part), graph.constant(np.array(part.shape, np.int32))], [source],
                  schema.ReshapeOptionsT())
        sources.append(source)
    options = schema.ConcatenationOptionsT()
    options.axis = axis
    last = graph.tensor("float32", shape)
    graph._tensors[last].shape = np.array(shape, np.int32)
    graph.add("CONCATENATION", sources, [last], options)
    if order:
        shape = tuple(shape[place] for place in order)
        source, last = last, graph.tensor("float32", shape)
        graph._tensors[last].shape = np.array(shape, np.int32)
        graph.add("TRANSPOSE", [source, graph.constant(np.array(order, np.int32))], [last], schema.TransposeOptionsT())
    graph.result(last)
    return graph.bytes()


def class_model(grid, steps=(), size=(64, 64), planar=False):
    """A model whose output is that of ARG_MAX over the last axis of a constant grid, and of steps behind it.

    A step is a pair: `CAST` and a type; `ADD`, `SUB`, `MUL`, `DIV` and a number; `RESHAPE` and a shape; `QUANTIZE` and a quantization;
    `RESIZE_BILINEAR`, `RESIZE_NEAREST_NEIGHBOR` and a size; `GATHER` and a table.
    """
    graph = GraphBuilder()
    width, height = size
    graph.input(np.zeros((1, 3, height, width) if planar else (1, height, width, 3), np.float32))

    def tensor(dtype, shape, quantization=None):
        target = graph.tensor(dtype, shape, quantization)
        graph._tensors[target].shape = np.array(shape, np.int32)
        return target

    options = schema.ArgMaxOptionsT()
    dtype, shape, axis = "int32", grid.shape[:-1], grid.ndim - 1
    options.outputType = schema.TensorType.INT32
    last = tensor(dtype, shape)
    graph.add("ARG_MAX", [graph.constant(grid), graph.constant(np.array(axis, np.int32))], [last], options)
    for name, value in steps:
        inputs, options, quantization = [last], None, None
        if name == "CAST":
            dtype, options = value, schema.CastOptionsT()
        elif name == "RESHAPE":
            shape, options = value, schema.ReshapeOptionsT()
            inputs.append(graph.constant(np.array(value, np.int32)))
        elif name == "QUANTIZE":
            dtype, quantization, options = "uint8", value, schema.QuantizeOptionsT()
        elif name.startswith("RESIZE"):
            shape = (shape[0], *value, shape[3])
            options = getattr(schema, {"RESIZE_BILINEAR": "ResizeBilinearOptionsT"}.get(
                name, "ResizeNearestNeighborOptionsT"))()
            inputs.append(graph.constant(np.array(value, np.int32)))
        elif name == "GATHER":
            options = schema.GatherOptionsT()
            inputs = [graph.constant(np.array(value, np.int32)), last]
        else:
            options = getattr(schema, name.capitalize() + "OptionsT")()
            inputs.append(graph.constant(np.array(value, dtype)))
        last = tensor(dtype, shape, quantization)
        graph.add(name, inputs, [last], options)
    graph.result(last)
    return graph.bytes()


def picture_model(shape, size, planar=False, input_type="float32", quantization=None):
    """A model whose output is its input in another shape."""
    graph = GraphBuilder()
    width, height = size
    dimensions = (1, 3, height, width) if planar else (1, height, width, 3)
    source = graph.input(np.zeros(dimensions, TYPES[input_type]), quantization)
    target = graph.tensor(input_type, shape, quantization)
    graph._tensors[target].shape = np.array(shape, np.int32)
    graph.add("RESHAPE", [source, graph.constant(np.array(shape, np.int32))], [target], schema.ReshapeOptionsT())
    graph.result(target)
    return graph.bytes()


def with_files(model, files, compressed=False):
    """The model with a zip archive behind it."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as out:
        for name, text in files.items():
            # A date of its own, so that the bytes are the same every time.
            out.writestr(zipfile.ZipInfo(name), text)
    return model + archive.getvalue()


def metadata_json(names, **facts):
    """What exporters since 2025 append."""
    return {"metadata.json": json.dumps({"names": {str(k): v for k, v in enumerate(names)}, **facts})}


def metadata_literal(names, **facts):
    """What exporters before appended: Python's own notation."""
    return {"temp_meta.txt": str({"names": dict(enumerate(names)), **facts})}


# MARK: Metadata of TensorFlow's and MediaPipe's tools


def _table(builder, fields):
    """A table of `(slot, kind, value)`."""
    builder.StartObject(max(slot for slot, _, _ in fields) + 1)
    for slot, kind, value in fields:
        if kind == "offset":
            builder.PrependUOffsetTRelativeSlot(slot, value, 0)
        else:
            getattr(builder, f"Prepend{kind}Slot")(slot, value, 0)
    return builder.EndObject()


def _vector(builder, offsets):
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return builder.EndVector()


def detector_options(anchors, classes, scales=(10, 10, 5, 5), logits=True, exponential=True):
    """The custom metadata `DETECTOR_METADATA`; anchors are center x, center y, width, height."""
    builder = flatbuffers.Builder(1024)
    fixed = [_table(builder, [(slot, "Float32", float(value)) for slot, value in enumerate(anchor)])
             for anchor in anchors]
    schema_table = _table(builder, [(0, "offset", _vector(builder, fixed))])
    anchors_table = _table(builder, [(0, "offset", schema_table)])
    decoding = _table(builder, [
        (0, "Int32", classes), (1, "Int32", len(anchors)), (2, "Int32", 4), (5, "Int32", 2),
        (6, "Float32", scales[0]), (7, "Float32", scales[1]), (8, "Float32", scales[2]), (9, "Float32", scales[3]),
        (10, "Bool", exponential), (11, "Bool", logits)])
    builder.Finish(_table(builder, [(1, "offset", anchors_table), (2, "offset", decoding)]), b"V001")
    return bytes(builder.Output())


def _floats(builder, values):
    builder.StartVector(4, len(values), 4)
    for value in reversed(values):
        builder.PrependFloat32(value)
    return builder.EndVector()


def with_metadata(model, outputs, custom=None, normalization=None, title=None):
    """The model with `TFLITE_METADATA`; `normalization` is the input's means and deviations,
    `title` the model's name.

    `outputs` are dictionaries with `name`, `labels` (a file name), `calibration` (a file name) with
    `transformation` (0 to 2) and `default`, and `box_index`.
    """
    builder = flatbuffers.Builder(1024)
    tensors = []
    for output in outputs:
        files = []
        for key, kind in (("labels", 2), ("calibration", 4)):
            if key in output:
                name = builder.CreateString(output[key])
                files.append(_table(builder, [(0, "offset", name), (2, "Int8", kind)]))
        fields = [(0, "offset", builder.CreateString(output["name"]))]
        if "calibration" in output:
            options = _table(builder, [(0, "Int8", output.get("transformation", 0)),
                                       (1, "Float32", output.get("default", 0.0))])
            unit = _table(builder, [(0, "Uint8", 2), (1, "offset", options)])
            fields.append((4, "offset", _vector(builder, [unit])))
        if "box_index" in output:
            builder.StartVector(4, 4, 4)
            for value in reversed(output["box_index"]):
                builder.PrependUint32(value)
            index = builder.EndVector()
            box = _table(builder, [(0, "offset", index), (1, "Int8", 1)])
            content = _table(builder, [(0, "Uint8", 3), (1, "offset", box)])
            fields.append((3, "offset", content))
        if files:
            fields.append((6, "offset", _vector(builder, files)))
        tensors.append(_table(builder, fields))
    fields = [(0, "offset", builder.CreateString("image"))]
    if normalization:
        mean, deviation = (_floats(builder, values) for values in normalization)
        options = _table(builder, [(0, "offset", mean), (1, "offset", deviation)])
        unit = _table(builder, [(0, "Uint8", 1), (1, "offset", options)])
        fields.append((4, "offset", _vector(builder, [unit])))
    picture = _table(builder, fields)
    graph = [(2, "offset", _vector(builder, [picture])), (3, "offset", _vector(builder, tensors))]
    if custom is not None:
        data = builder.CreateByteVector(custom)
        entry = _table(builder, [(0, "offset", builder.CreateString("DETECTOR_METADATA")), (1, "offset", data)])
        graph.append((9, "offset", _vector(builder, [entry])))
    subgraphs = _vector(builder, [_table(builder, graph)])
    root = [(3, "offset", subgraphs)]
    if title:
        root.append((0, "offset", builder.CreateString(title)))
    builder.Finish(_table(builder, root), b"M001")
    tree = schema.ModelT.InitFromObj(schema.Model.GetRootAs(model, 0))
    buffer = schema.BufferT()
    buffer.data = np.frombuffer(bytes(builder.Output()), np.uint8)
    tree.buffers.append(buffer)
    entry = schema.MetadataT()
    entry.name, entry.buffer = "TFLITE_METADATA", len(tree.buffers) - 1
    tree.metadata = [entry]
    out = flatbuffers.Builder(1024)
    out.Finish(tree.Pack(out), b"TFL3")
    return bytes(out.Output())
