# SPDX-License-Identifier: Apache-2.0
"""QUANTIZE and DEQUANTIZE."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import flexbuffers

from catalogue import operator
from draw import RANGES
from graph_builder import GraphBuilder
from model_builder import ModelBuilder, Quantization

CONVERSIONS = (
    *("float32_to_uint8", "float32_to_int8", "float32_to_int16"),
    *("uint8_to_uint8", "uint8_to_int8", "int8_to_uint8", "int8_to_int8"),
    *("uint8_to_int16", "int8_to_int16", "int16_to_int8", "int16_to_int16"),
    *("int16_to_int32", "int32_to_int8", "int32_to_int16"),
)
PACKED = {"int4": (-8, 7), "int2": (-2, 1), "uint4": (0, 15)}


@operator(
    "QUANTIZE",
    (*CONVERSIONS, "float32_to_int4", "float32_per_channel"),
    cases=10,
    versions={name: 2 for name in CONVERSIONS if "int16" in name},
)
def quantize(draw):
    if draw.type == "float32_to_int4":
        return _quantize_to_int4(draw)
    if draw.type == "float32_per_channel":
        return _quantize_channels(draw)
    source, target = draw.type.split("_to_")
    rank = draw.pick("rank", [1, 2, 3, 4])
    kind = draw.pick("scale", ["fit", "fit", "same", "saturated", "coarse", "flipped"])
    draw.tag(f"rank{rank}", kind if source != "float32" and kind != "fit" else "")
    shape = [0, *draw.shape(rank)[1:]] if draw.flag("empty", 10) else draw.shape(rank)
    model = ModelBuilder()
    if source == "float32":
        scale = draw.power(-9, -1) / (256 if target == "int16" else 1)
        quantization = draw.quantization("output", scale, target)
        values = _with_ties(draw, shape, quantization)
        operand = model.input(values)
    else:
        first = draw.quantization("input", type_name=source) or Quantization.per_tensor(draw.power(-9, -2), 0)
        steps = {"int16": 1 / 256}.get(target, 1) / {"int16": 1 / 256}.get(source, 1)
        factor = {"fit": draw.power(-1, 1), "saturated": draw.power(-6, -3), "coarse": draw.power(3, 6)}
        scale = first.scale * steps * factor.get(kind, 1)
        quantization = draw.quantization("output", scale, target) or Quantization.per_tensor(scale, 0)
        if kind == "same" and source == target:
            quantization = first
        if kind == "flipped" and {source, target} == {"uint8", "int8"}:
            # The same real values, between the signed and the unsigned form.
            shift = 128 if target == "uint8" else -128
            quantization = type(first).per_tensor(first.scale, first.zero_point + shift)
        operand = model.input(draw.values(shape, source), first)
    output = model.output(target, quantization)
    return model.operator("QUANTIZE", [operand], [output], schema.QuantizeOptionsT())


def _with_ties(draw, shape, quantization):
    """Real values around the whole range, some of them half-way between two quantized ones."""
    values = draw.values(shape, "float32", quantization.scale * draw.power(5, 9))
    if draw.flag("ties", 2):
        values = ((np.floor(values / quantization.scale) + 0.5) * quantization.scale).astype(np.float32)
    return values


def _quantize_to_int4(draw):
    """There and back, as no array of NumPy's holds the values between."""
    shape = draw.shape(draw.pick("rank", [1, 2, 3]))
    quantization = Quantization.per_tensor(draw.power(-4, 0), draw.integer(-8, 7))
    model = GraphBuilder()
    between = model.tensor("int4", shape, quantization)
    values = draw.values(shape, "float32", quantization.scale * draw.power(1, 4))
    model.add("QUANTIZE", [model.input(values)], [between], main=True)
    return model.add("DEQUANTIZE", [between], [model.output("float32")])


def _channels(draw, shape, low, high):
    """Parameters of their own for each index along some axis."""
    axis = draw.integer(0, len(shape) - 1)
    draw.tag("per_channel", f"axis{axis}")
    scales = tuple(float(np.float32(draw.power(-8, -2))) for _ in range(shape[axis]))
    return Quantization(scales, tuple(draw.integer(low, high) for _ in scales), axis)


def _quantize_channels(draw):
    kind = draw.pick("kind", ["int8", "uint8", "int16"])
    draw.tag(kind)
    shape = draw.shape(draw.pick("rank", [1, 2, 3, 4]))
    low, high = (0, 0) if kind == "int16" else RANGES[kind]
    quantization = _channels(draw, shape, low, high)
    model = ModelBuilder()
    operand = model.input(draw.values(shape, "float32", quantization.scale * draw.power(5, 9)))
    return model.operator("QUANTIZE", [operand], [model.output(kind, quantization)], schema.QuantizeOptionsT())


@operator(
    "DEQUANTIZE",
    ("uint8", "int8", "int16", "float16", "int4", "int2", "uint4"),
    versions={"int8": 2, "int16": 3, "float16": 3, "int4": 6, "int2": 7, "uint4": 8},
)
def dequantize(draw):
    if draw.type in PACKED:
        return _dequantize_packed(draw)
    rank = draw.pick("rank", [1, 2, 3, 4, 5])
    draw.tag(f"rank{rank}")
    shape = [0, *draw.shape(rank)[1:]] if draw.flag("empty", 10) else draw.shape(rank)
    constant = draw.type == "float16" and 0 not in shape and draw.flag("constant", 2)
    model = ModelBuilder()
    add = model.constant if constant else model.input
    quantization = draw.quantization("input")
    if draw.type in ("uint8", "int8") and 0 not in shape and draw.pick("channels", [True, False, False]):
        quantization = _channels(draw, shape, *RANGES[draw.type])
    operand = add(draw.values(shape), quantization)
    output = model.output("float32")
    return model.operator("DEQUANTIZE", [operand], [output], schema.DequantizeOptionsT())


def _dequantize_packed(draw):
    low, high = PACKED[draw.type]
    shape = draw.shape(draw.pick("rank", [1, 2, 3, 4]))
    quantization = Quantization.per_tensor(draw.power(-6, 0), draw.integer(low, high))
    if draw.pick("channels", [True, False, False]):
        quantization = _channels(draw, shape, low, high)
    values = draw.values(shape, "int8", 127).astype(np.int64) % (high - low + 1) + low
    model = ModelBuilder()
    operand = model.constant(values.astype(np.int8), quantization, draw.type)
    return model.operator("DEQUANTIZE", [operand], [model.output("float32")], schema.DequantizeOptionsT())


@operator("NumericVerify", ("uint8", "int8", "int16", "float16"))
def numeric_verify(draw):
    draw.tag(f"rank{draw.pick('rank', [1, 2, 3, 4])}")
    shape = draw.shape(draw.pick("rank", [1, 2, 3, 4]))
    quantization = draw.quantization("input")
    if draw.type in ("uint8", "int8") and draw.pick("channels", [False, True, False]):
        quantization = _channels(draw, shape, *RANGES[draw.type])
    values = draw.values(shape)
    checked = quantization is not None and len(quantization.scales) == 1 and draw.flag("checked", 2)
    floats = draw.values(shape, "float32")
    if checked:
        # Less than three steps away.
        exact = (values.astype(np.float64) - quantization.zero_point) * quantization.scale
        floats = (exact + floats / max(1, np.abs(floats).max()) * 2.9 * quantization.scale).astype(np.float32)
    builder = flexbuffers.Builder()
    with builder.Map():
        builder.Key("tolerance")
        builder.Float(3.0 if checked else draw.choice([0.0, 0.05, 5.0]))
        builder.Key("log_if_failed")
        builder.Bool(checked)
    model = ModelBuilder()
    operands = [model.input(values, quantization), model.input(floats)]
    return model.operator(
        "NumericVerify", operands, [model.output("float32")], custom_options=bytes(builder.Finish())
    )


@operator("FAKE_QUANT", ("float32",), cases=16)
def fake_quant(draw):
    bits = draw.pick("bits", [8, 4, 2, 16, 7])
    kind = draw.pick("bounds", ["around", "positive", "negative", "around"])
    draw.tag(f"{bits}_bits", kind)
    low, high = -draw.power(-3, 4), draw.power(-3, 4)
    if kind == "positive":
        low = draw.choice([0.0, high / 3])
    if kind == "negative":
        high = draw.choice([0.0, low / 3])
    values = draw.values(draw.shape(draw.choice([1, 2, 4])))
    if draw.flag("nan", 6):
        values.flat[0] = np.nan
    options = schema.FakeQuantOptionsT()
    options.min, options.max, options.numBits = low, high, bits
    model = ModelBuilder()
    return model.operator("FAKE_QUANT", [model.input(values)], [model.output("float32")], options)
