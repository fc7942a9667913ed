# SPDX-License-Identifier: Apache-2.0
"""Operators that move data: TRANSPOSE, PAD and PADV2."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import RARE, operator
from model_builder import ModelBuilder

TYPES = ("uint8", "int8", "float32", "int16", "int32", "int64", "bool")


@operator("TRANSPOSE", TYPES, versions={"int8": 2, "int16": 4}, rare=(*RARE, "int4", "uint4"))
def transpose(draw):
    rank = draw.pick("rank", [1, 2, 3, 4, 4, 5, 6, 7, 8])
    order = draw.sample(range(rank), rank)
    draw.tag("order" + "".join(map(str, order)))
    dynamic = draw.flag("dynamic_order", 6)
    shape = [0, *draw.shape(rank)[1:]] if draw.flag("empty", 10) else draw.shape(rank)
    order = [axis - rank if draw.chance(0.1) else axis for axis in order]
    quantization = draw.maybe_quantization("both")
    model = ModelBuilder()
    operands = [
        model.input(draw.values(shape), quantization),
        model.index_operand(np.array(order, np.int32), dynamic),
    ]
    output = model.output(draw.type, quantization)
    return model.operator("TRANSPOSE", operands, [output], schema.TransposeOptionsT())


def pad(name):
    def case(draw):
        rank = draw.pick("rank", [1, 2, 3, 4, 4, 5])
        index_type = draw.pick("index type", ["int32", "int64"])
        draw.tag(f"rank{rank}", f"by_{index_type}")
        dynamic = draw.flag("dynamic_paddings", 5)
        shape = draw.shape(rank, draw.limit // 3)
        paddings = [[draw.choice([0, 0, 1, 2, 3]), draw.choice([0, 0, 1, 2])] for _ in range(rank)]
        if draw.flag("empty", 10):
            shape[0] = 0
        if draw.flag("nothing", 10):
            paddings = [[0, 0]] * rank
        quantization = draw.quantization("all")
        model = ModelBuilder()
        operands = [
            model.input(draw.values(shape), quantization),
            model.index_operand(np.array(paddings, index_type), dynamic),
        ]
        options = schema.PadOptionsT()
        if name == "PADV2":
            value = draw.values([] if draw.chance(0.5) else [1])
            constant = not draw.flag("value_input", 4)
            operands.append((model.constant if constant else model.input)(value, quantization))
            options = schema.PadV2OptionsT()
        return model.operator(name, operands, [model.output(draw.type, quantization)], options)

    versions = {"int8": 2, "int16": 4 if name == "PAD" else 3}
    return operator(name, TYPES, versions=versions, rare=("float16", "bfloat16"))(case)


pad("PAD")
pad("PADV2")
