# SPDX-License-Identifier: Apache-2.0
"""SOFTMAX and L2_NORMALIZATION."""

from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from model_builder import ModelBuilder, Quantization

SOFTMAX_OUTPUTS = {"uint8": (1 / 256, 0), "int8": (1 / 256, -128), "int16": (1 / 32768, 0)}
L2_OUTPUTS = {"uint8": (1 / 128, 128), "int8": (1 / 128, 0)}


@operator("SOFTMAX", ("uint8", "int8", "float32", "int16", "float16"), cases=12, versions={"int8": 2, "int16": 3})
def softmax(draw):
    rank = draw.pick("rank", [1, 2, 3, 4])
    depth = draw.pick("depth", [1, 2, 5, 10, 21, 91])
    # Of bytes, the reference takes no other signs.
    signs = [0.0, -1.0] if draw.type == "int16" else []
    beta = draw.pick("beta", [1.0, 1.0, 0.5, 2.0, 10.0, 0.1, *signs])
    draw.tag(f"rank{rank}", f"depth{depth}", f"beta{beta:g}".translate({ord("."): "p", ord("-"): "m"}) if beta != 1 else "")
    shape = [*draw.shape(rank - 1, max(draw.limit * 2 // depth, 1)), depth]
    if rank > 1 and draw.flag("empty", 12):
        shape[0] = 0
    scale = draw.power(-8, 0) / (256 if draw.type == "int16" else 1)
    fixed = SOFTMAX_OUTPUTS.get(draw.type)
    model = ModelBuilder()
    operand = model.input(draw.values(shape), draw.quantization("input", scale))
    output = model.output(draw.type, Quantization.per_tensor(*fixed) if fixed else None)
    return model.operator("SOFTMAX", [operand], [output], schema.SoftmaxOptionsT(beta=beta))


@operator("L2_NORMALIZATION", ("uint8", "int8", "float32"), versions={"int8": 2})
def l2_normalization(draw):
    rank = draw.pick("rank", [1, 2, 3, 4])
    draw.tag(f"rank{rank}")
    shape = draw.shape(rank)
    fixed = L2_OUTPUTS.get(draw.type)
    quantization = draw.quantization("input")
    values = draw.values(shape)
    if rank > 1 and draw.flag("zero_row", 5):
        values[0] = quantization.zero_point if quantization else 0
    model = ModelBuilder()
    operand = model.input(values, quantization)
    output = model.output(draw.type, Quantization.per_tensor(*fixed) if fixed else None)
    return model.operator("L2_NORMALIZATION", [operand], [output], schema.L2NormOptionsT())
