# SPDX-License-Identifier: Apache-2.0
"""Converts trained weights to a uint8 `.tflite` and appends the detection operator.

    python convert.py --weights work/quantized.npz --out work/shapes.tflite
"""

import argparse
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import flatbuffers
import numpy as np
import tensorflow as tf
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import flexbuffers

from network import ANCHORS_PER_CELL, BOX_SCALES, COLUMNS, anchor_pixels, network
from pictures import INPUT_SIZE, LABELS
from train import convolve

v1 = tf.compat.v1
OPERATOR = b"TFLite_Detection_PostProcess"


def converted_body(values):
    """The network up to box encodings and class probabilities, as a legacy uint8 model."""
    with tf.Graph().as_default(), v1.Session() as session:
        picture = v1.placeholder(tf.float32, [1, INPUT_SIZE, INPUT_SIZE, 3], "normalized_input_image_tensor")

        def fake(name, x, range_name):
            return tf.quantization.fake_quant_with_min_max_vars(
                x, float(values[range_name + "/min"]), float(values[range_name + "/max"]), num_bits=8, name=name)

        def layer(kind, name, x, kernel, stride, channels, activation):
            weights = values[name + "/weights"]
            weights = tf.quantization.fake_quant_with_min_max_vars(
                tf.constant(weights), min(float(weights.min()), 0.0), max(float(weights.max()), 0.0), num_bits=8)
            x = convolve(kind, x, weights, stride) + tf.constant(values[name + "/bias"])
            if not activation:
                # The levels are joined, so all carry the range of the whole.
                return fake(name, x, "boxes" if name.startswith("boxes") else "scores")
            return fake(name, tf.nn.relu6(x), name)

        boxes, scores = network(layer, tf.quantization.fake_quant_with_min_max_args(picture, -1, 1, num_bits=8))

        def joined(outputs, columns, name):
            flat = [tf.reshape(x, [1, x.shape[1] * x.shape[2] * ANCHORS_PER_CELL, columns]) for x in outputs]
            return fake(f"{name}_joined", tf.concat(flat, 1), name)

        codes = tf.identity(joined(boxes, 4, "boxes"), "box_encodings")
        # LOGISTIC's output has one legal quantisation: 1 / 256 from zero.
        probabilities = tf.quantization.fake_quant_with_min_max_args(
            tf.sigmoid(joined(scores, COLUMNS, "scores")), 0, 255 / 256, num_bits=8)
        probabilities = tf.identity(probabilities, "class_predictions")
        converter = v1.lite.TFLiteConverter.from_session(session, [picture], [codes, probabilities])
        converter.inference_type = tf.uint8
        # value = (byte − 127.5) / 127.5
        converter.quantized_input_stats = {"normalized_input_image_tensor": (127.5, 127.5)}
        return converter.convert()


def appended(body):
    """The model with the detection operator behind the body's two outputs."""
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(body))
    graph = model.subgraphs[0]
    model.description = "finds triangles, rectangles, pentagons and circles"
    # What the converter tells about itself would only make the file larger.
    model.metadata, model.metadataBuffer, model.signatureDefs = None, None, None

    def tensor(name, kind, shape, data=None, scale=None):
        result = schema.TensorT()
        result.name, result.type, result.shape = name, kind, shape
        result.buffer = 0
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = data
            model.buffers.append(buffer)
            result.buffer = len(model.buffers) - 1
        if scale is not None:
            result.quantization = schema.QuantizationParametersT()
            result.quantization.scale, result.quantization.zeroPoint = [scale], [0]
        graph.tensors.append(result)
        return len(graph.tensors) - 1

    def output(shape):
        """The body's output of this shape: the order of outputs is the converter's own."""
        return next(i for i in graph.outputs if list(graph.tensors[i].shape) == shape)

    anchors = anchor_pixels()
    boxes, scores = output([1, len(anchors), 4]), output([1, len(anchors), COLUMNS])
    for index, name in ((boxes, b"box_encodings"), (scores, b"class_predictions")):
        graph.tensors[index].name = name
    data = np.frombuffer(anchors.astype(np.uint8).tobytes(), np.uint8)
    constant = tensor(b"anchors", schema.TensorType.UINT8, list(anchors.shape), data, 1 / INPUT_SIZE)
    outputs = [tensor(OPERATOR + suffix, schema.TensorType.FLOAT32, shape) for suffix, shape in (
        (b"", [1, 25, 4]), (b":1", [1, 25]), (b":2", [1, 25]), (b":3", [1]))]

    code = schema.OperatorCodeT()
    code.builtinCode, code.customCode, code.version = schema.BuiltinOperator.CUSTOM, OPERATOR, 1
    code.deprecatedBuiltinCode = schema.BuiltinOperator.CUSTOM
    model.operatorCodes.append(code)
    operator = schema.OperatorT()
    operator.opcodeIndex = len(model.operatorCodes) - 1
    operator.inputs, operator.outputs = [boxes, scores, constant], outputs
    options = flexbuffers.Builder()
    with options.Map():
        options.Key("max_detections"), options.Int(25)
        options.Key("max_classes_per_detection"), options.Int(1)
        options.Key("use_regular_nms"), options.Bool(False)
        options.Key("nms_score_threshold"), options.Float(0.02)
        options.Key("nms_iou_threshold"), options.Float(0.45)
        options.Key("num_classes"), options.Int(len(LABELS))
        for key, value in zip(("y_scale", "x_scale", "h_scale", "w_scale"), BOX_SCALES):
            options.Key(key), options.Float(float(value))
    operator.customOptions = np.frombuffer(bytes(options.Finish()), np.uint8)
    operator.customOptionsFormat = schema.CustomOptionsFormat.FLEXBUFFERS
    graph.operators.append(operator)
    graph.outputs = outputs

    builder = flatbuffers.Builder(1 << 20)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    model = appended(converted_body(dict(np.load(arguments.weights))))
    arguments.out.write_bytes(model)
    print(f"{arguments.out}: {len(model)} bytes")


if __name__ == "__main__":
    main()
