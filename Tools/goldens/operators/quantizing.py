"""QUANTIZE and DEQUANTIZE."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from model_builder import ModelBuilder

CONVERSIONS = (
    *("float32_to_uint8", "float32_to_int8", "float32_to_int16"),
    *("uint8_to_uint8", "uint8_to_int8", "int8_to_uint8", "int8_to_int8"),
    *("uint8_to_int16", "int8_to_int16", "int16_to_int8", "int16_to_int16"),
)


@operator("QUANTIZE", CONVERSIONS, cases=10, versions={name: 2 for name in CONVERSIONS if "int16" in name})
def quantize(draw):
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
        first = draw.quantization("input", type_name=source)
        steps = {"int16": 1 / 256}.get(target, 1) / {"int16": 1 / 256}.get(source, 1)
        factor = {"fit": draw.power(-1, 1), "saturated": draw.power(-6, -3), "coarse": draw.power(3, 6)}
        scale = first.scale * steps * factor.get(kind, 1)
        quantization = draw.quantization("output", scale, target)
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


@operator("DEQUANTIZE", ("uint8", "int8", "int16", "float16"), versions={"int8": 2, "int16": 3, "float16": 3})
def dequantize(draw):
    rank = draw.pick("rank", [1, 2, 3, 4, 5])
    draw.tag(f"rank{rank}")
    shape = [0, *draw.shape(rank)[1:]] if draw.flag("empty", 10) else draw.shape(rank)
    constant = draw.type == "float16" and 0 not in shape and draw.flag("constant", 2)
    model = ModelBuilder()
    add = model.constant if constant else model.input
    operand = add(draw.values(shape), draw.quantization("input"))
    output = model.output("float32")
    return model.operator("DEQUANTIZE", [operand], [output], schema.DequantizeOptionsT())


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
