# SPDX-License-Identifier: Apache-2.0
"""Functions of one value: LOGISTIC, TANH and the three forms of RELU."""

from catalogue import operator
from model_builder import ModelBuilder, Quantization

FIXED_OUTPUTS = {
    "LOGISTIC": {"uint8": (1 / 256, 0), "int8": (1 / 256, -128), "int16": (1 / 32768, 0)},
    "TANH": {"uint8": (1 / 128, 128), "int8": (1 / 128, 0), "int16": (1 / 32768, 0)},
}


def bounded(name):
    """An operator whose range, and so its output's quantization, is fixed."""

    def case(draw):
        rank = draw.pick("rank", [1, 2, 3, 4, 5])
        draw.tag(f"rank{rank}")
        shape = [0, *draw.shape(rank)[1:]] if draw.flag("empty", 10) else draw.shape(rank)
        if draw.type == "int16":
            power_of_two = draw.flag("power_of_two_scale", 2)
            scale = 2.0 ** -draw.integer(10, 13) if power_of_two else draw.power(-14, -10)
        else:
            scale = draw.power(-9, -1)
        fixed = FIXED_OUTPUTS[name].get(draw.type)
        model = ModelBuilder()
        operand = model.input(draw.values(shape), draw.quantization("input", scale))
        output = model.output(draw.type, Quantization.per_tensor(*fixed) if fixed else None)
        return model.operator(name, [operand], [output])

    types = ("uint8", "int8", "float32", "int16", "float16", "bfloat16")
    return operator(name, types, versions={"int8": 2, "int16": 3})(case)


def rectifier(name, types):
    def case(draw):
        rank = draw.pick("rank", [1, 2, 3, 4, 5])
        draw.tag(f"rank{rank}")
        shape = [0, *draw.shape(rank)[1:]] if draw.flag("empty", 10) else draw.shape(rank)
        input_quantization = draw.quantization("input")
        output_quantization = input_quantization
        if input_quantization and draw.flag("rescaled", 2):
            scale = input_quantization.scale * draw.power(-3, 3)
            output_quantization = draw.quantization("output", scale)
        model = ModelBuilder()
        operand = model.input(draw.values(shape), input_quantization)
        return model.operator(name, [operand], [model.output(draw.type, output_quantization)])

    return operator(name, types, versions={"int8": 2, "int16": 3} if "int16" in types else {})(case)


bounded("LOGISTIC")
bounded("TANH")
rectifier("RELU", ("uint8", "int8", "float32", "int16"))
rectifier("RELU6", ("uint8", "int8", "float32", "int16"))
rectifier("RELU_N1_TO_1", ("uint8", "int8", "float32"))
