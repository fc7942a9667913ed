# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms, complex numbers, spectrograms and cepstral coefficients."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import flexbuffers

from catalogue import operator
from model_builder import ModelBuilder


@operator("RFFT2D", ("float32",), cases=24)
def rfft2d(draw):
    rank = draw.pick("rank", [2, 3, 4])
    height = draw.pick("height", [1, 1, 2, 4, 8])
    width = draw.pick("width", [2, 4, 8, 16, 32, 64, 256])
    draw.tag(f"{height}x{width}")
    # Some planes are cut, some filled with zeros.
    sizes = [max(1, height + draw.choice([-1, 0, 0, 1])), max(1, width + draw.choice([-3, -1, 0, 0, 2]))]
    model = ModelBuilder()
    operands = [
        model.input(draw.values([*draw.shape(rank - 2, 4), *sizes])),
        model.index_operand(np.array([height, width], np.int32), draw.flag("dynamic_lengths", 6)),
    ]
    return model.operator("RFFT2D", operands, [model.output("complex64")], schema.Rfft2dOptionsT())


def part(name):
    def case(draw):
        rank = draw.pick("rank", [0, 1, 2, 3, 4])
        draw.tag(f"rank{rank}")
        values = draw.values([*draw.shape(rank), 2], "float64")
        if draw.flag("special", 5):
            for index in range(values.size):
                if draw.chance(0.3):
                    values.flat[index] = draw.choice([np.inf, -np.inf, 0.0, -0.0, 1e30, 1e-30])
        model = ModelBuilder()
        operand = model.input(values.view("complex128")[..., 0].astype(draw.type))
        result = {"complex64": "float32", "complex128": "float64"}[draw.type]
        return model.operator(name, [operand], [model.output(result)])

    return operator(name, ("complex64", "complex128"))(case)


part("REAL")
part("IMAG")
part("COMPLEX_ABS")


def custom_options(**fields):
    builder = flexbuffers.Builder()
    with builder.Map():
        for key, value in fields.items():
            builder.Key(key)
            builder.Bool(value) if isinstance(value, bool) else builder.Int(value)
    return bytes(builder.Finish())


@operator("AudioSpectrogram", ("float32",), cases=20)
def audio_spectrogram(draw):
    window = draw.pick("window", [2, 3, 4, 7, 16, 25, 64, 100])
    stride = draw.pick("stride", [1, 3, 10, 40, 120])
    squared = draw.flag("squared", 2)
    channels = draw.pick("channels", [1, 2, 1])
    frames = draw.pick("frames", [1, 2, 3, 5])
    draw.tag(f"window{window}", f"stride{stride}", f"{channels}_channels")
    samples = window + (frames - 1) * stride + draw.integer(0, stride - 1)
    if draw.flag("too_short", 10):
        samples = window - 1
    model = ModelBuilder()
    operand = model.input(draw.values([samples, channels]))
    options = custom_options(window_size=window, stride=stride, magnitude_squared=squared)
    return model.operator("AudioSpectrogram", [operand], [model.output("float32")], custom_options=options)


@operator("Mfcc", ("float32",), cases=20)
def mfcc(draw):
    frequencies = draw.pick("frequencies", [129, 257, 33, 65, 2])
    rate = draw.pick("rate", [16000, 8000, 44100])
    bands = draw.pick("bands", [40, 20, 13, 1])
    coefficients = draw.pick("coefficients", [1.0, 0.5, 0.3])
    lower = draw.pick("lower", [20, 0, 300])
    upper = draw.pick("upper", [4000, 3500, 4000, 8000, 30000])
    draw.tag(f"{frequencies}_frequencies", f"{rate}_hertz", f"{bands}_bands", f"from_{lower}_to_{upper}")
    count = max(1, int(bands * coefficients))
    spectra = [draw.choice([1, 2]), draw.choice([1, 2]), frequencies]
    values = draw.values(spectra) ** 2
    if draw.flag("silent", 6):
        values[0, 0] = 0
    model = ModelBuilder()
    operands = [
        model.input(values),
        model.index_operand(np.array(rate if draw.chance(0.5) else [rate], np.int32), draw.flag("dynamic_rate", 3)),
    ]
    options = custom_options(
        upper_frequency_limit=upper,
        lower_frequency_limit=lower,
        filterbank_channel_count=bands,
        dct_coefficient_count=count,
    )
    return model.operator("Mfcc", operands, [model.output("float32")], custom_options=options)
