#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes Tests/Goldens/audio.json: what SciPy reads in WAV files and makes of other rates, and what LiteRT hears.

Needs what Tools/goldens/requirements.txt lists, and SciPy. From the root of the package, with YAMNet's .tflite file:

    .venv/bin/python Tools/vision/audio.py yamnet_audio_classifier_with_metadata.tflite
"""

import base64
import io
import json
import struct
import sys

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from scipy import signal
from scipy.io import wavfile

RATE = 16_000


def text(data):
    return base64.b64encode(data).decode()


def wav(samples, rate, tag, bits, extensible=False, extra=b""):
    """`samples` are bytes as stored, with their number of channels."""
    data, channels = samples
    frame = channels * bits // 8
    form = struct.pack("<HHIIHH", 0xFFFE if extensible else tag, channels, rate, rate * frame, frame, bits)
    if extensible:
        form += struct.pack("<HHIH", 22, bits, 0, tag) + bytes.fromhex("000000001000800000aa00389b71")
    chunks = [(b"fmt ", form)]
    if extra:
        chunks.insert(0, (b"LIST", extra))
    chunks.append((b"data", data))
    body = b"".join(name + struct.pack("<I", len(part)) + part + b"\0" * (len(part) % 2) for name, part in chunks)
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WAVE" + body


def real(values):
    """Samples from -1 to 1; SciPy has 24 bits in the upper bytes of 32."""
    if values.dtype.kind == "f":
        return values.astype(np.float32)
    if values.dtype == np.uint8:
        return (values.astype(np.float64) - 128) / 128
    return values.astype(np.float64) / 2.0 ** (8 * values.dtype.itemsize - 1)


def files():
    random = np.random.default_rng(9)
    for bits, tag, channels, extensible, extra in [
        (8, 1, 1, False, b""), (8, 1, 3, False, b"odd"), (16, 1, 1, False, b""), (16, 1, 2, True, b"name"),
        (24, 1, 1, False, b""), (24, 1, 2, True, b""), (32, 1, 2, False, b""), (32, 3, 1, False, b""),
        (32, 3, 6, True, b""), (64, 3, 2, False, b""),
    ]:
        frames = 21
        if tag == 3:
            data = random.uniform(-1.5, 1.5, (frames, channels)).astype(f"<f{bits // 8}").tobytes()
        else:
            # Every byte at random, and the extremes.
            data = random.integers(0, 256, frames * channels * bits // 8, dtype=np.uint8)
            data[: bits // 8], data[bits // 8 : bits // 4] = 0, 255
            data = data.tobytes()
        rate = int(random.integers(4000, 96000))
        file = wav((data, channels), rate, tag, bits, extensible, extra)
        found, values = wavfile.read(io.BytesIO(file))
        assert found == rate
        yield {"name": f"{bits} bits, format {tag}{', extensible' if extensible else ''}, {channels} channels",
               "file": text(file), "rate": rate, "channels": channels,
               "samples": text(np.ascontiguousarray(real(values)).astype("<f4").tobytes())}


def rates():
    random = np.random.default_rng(10)
    for rate, wanted, count in [(44_100, RATE, 700), (48_000, RATE, 500), (8_000, RATE, 90), (22_050, RATE, 300),
                                (RATE, 44_100, 60), (11_025, 48_000, 40), (44_100, RATE, 1), (16_001, RATE, 50)]:
        samples = random.uniform(-1, 1, count).astype(np.float32)
        result = signal.resample_poly(samples.astype(np.float64), wanted, rate)
        yield {"rate": rate, "wanted": wanted, "samples": text(samples.astype("<f4").tobytes()),
               "result": text(result.astype("<f4").tobytes())}


def sound():
    """A whistle, noise, a plucked string, and a bit of silence: 2.4 seconds."""
    random = np.random.default_rng(11)
    time = np.arange(RATE) / RATE
    whistle = 0.5 * np.sin(2 * np.pi * (1500 + 200 * np.sin(2 * np.pi * 3 * time)) * time)
    noise = 0.3 * random.uniform(-1, 1, RATE * 7 // 10)
    string = random.uniform(-0.8, 0.8, 80)
    pluck = np.zeros(RATE * 6 // 10)
    for index in range(len(pluck)):
        pluck[index] = string[index % 80]
        string[index % 80] = 0.497 * (string[index % 80] + string[(index + 1) % 80])
    return np.concatenate([whistle, noise, pluck, np.zeros(RATE // 10)])


def heard(model):
    interpreter = Interpreter(model, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    place, size = interpreter.get_input_details()[0]["index"], int(interpreter.get_input_details()[0]["shape"][-1])
    bytes_ = np.clip(np.round(sound() * 128 + 128), 0, 255).astype(np.uint8)
    file = wav((bytes_.tobytes(), 1), RATE, 1, 8)
    samples = (bytes_.astype(np.float32) - 128) / 128
    for overlap, hop in ((0, size), (0.5, size // 2)):
        windows = []
        for begin in range(0, max(len(samples) - size, 0) + hop, hop):
            part = samples[begin : begin + size]
            interpreter.set_tensor(place, np.pad(part, (0, size - len(part))))
            interpreter.invoke()
            scores = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])[0]
            windows.append({"start": begin / RATE, "scores": text(scores.astype("<f4").tobytes())})
        yield {"file": text(file) if not overlap else None, "overlap": overlap, "windows": windows}


def main():
    record = {"files": list(files()), "rates": list(rates()), "heard": list(heard(sys.argv[1]))}
    with open("Tests/Goldens/audio.json", "w") as out:
        out.write("[\n" + json.dumps(record) + "\n]\n")
    for window in record["heard"][0]["windows"]:
        scores = np.frombuffer(base64.b64decode(window["scores"]), "<f4")
        print(window["start"], [(int(index), float(scores[index])) for index in np.argsort(-scores)[:3]])


if __name__ == "__main__":
    main()
