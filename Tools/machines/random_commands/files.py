# SPDX-License-Identifier: Apache-2.0
"""The files that commands are given besides models: pictures of all formats, sizes and orientations, labels, tensors, sounds."""

import io
import json
import struct
import zlib

import numpy as np
from PIL import Image

from random_commands.hostile import FORGED, odd_name


class File:
    """A file with what is known about it."""

    def __init__(self, name, data=None, is_valid=True, size=None, **facts):
        self.name, self.data, self.is_valid = name, data, is_valid
        # The width and height that people see.
        self.size, self.facts = size, facts
        self.path, self.twin = None, None


# MARK: Pictures


def pixels(random, width, height):
    """A smooth picture, so that no decision hangs on one pixel."""
    if random.random() < 0.2:
        # One color, often a bright one.
        return np.broadcast_to(255 - random.integers(0, int(random.choice([2, 128, 256])), 3), (height, width, 3)).astype(np.uint8)
    y, x = np.mgrid[:height, :width] / max(width, height)
    waves = random.uniform(0, 6, (3, 3))
    channels = [127.5 + 127.5 * np.sin(a + b * x + c * y) for a, b, c in waves]
    return np.stack(channels, -1).round().astype(np.uint8)


def encoded(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def pictures(random, count):
    """Pictures that are whole, then those that are not."""
    result = []
    for number in range(count):
        width, height = (int(random.choice([1, 2, 7, 16, 33, 64, 100])) for _ in range(2))
        image = Image.fromarray(pixels(random, width, height))
        kind, other = int(random.integers(10)), None
        name = f"picture-{number}"
        size = (width, height)
        if kind < 3:
            data, name = encoded(image, "PNG"), name + ".png"
        elif kind == 3 and random.integers(2):
            image, other = palette_twin(random, image, number)
            data, name = encoded(image, "PNG"), name + ".png"
        elif kind == 3:
            mode = str(random.choice(["L", "RGBA", "P", "1", "LA"]))
            data, name = encoded(image.convert(mode), "PNG"), name + ".png"
        elif kind < 6:
            data, name = encoded(image, "JPEG", quality=int(random.choice([30, 90])), progressive=bool(random.integers(2))), name + ".jpg"
        elif kind == 6:
            turn = int(random.integers(1, 9))
            exif = Image.Exif()
            exif[0x0112] = turn
            data, name = encoded(image, "JPEG", exif=exif), name + ".jpeg"
            size = size[::-1] if turn >= 5 else size
        elif kind == 7:
            data, name = encoded(image.convert(str(random.choice(["RGB", "L", "P"]))), "BMP"), name + ".bmp"
        elif kind == 8:
            data, name = encoded(image.convert(str(random.choice(["RGB", "L"]))), "PPM"), name + ".ppm"
        else:
            data, name = encoded(image, "JPEG", quality=90), name + ".jpg"
        result.append(File(name, data, size=size))
        result[-1].twin = other
        # What has every pixel has a twin of the same pixels in another format, or turned.
        if kind < 3 or kind == 8 and data[:2] == b"P6":
            result[-1].twin = twin(random, image, number)
    result += [picture.twin for picture in result if picture.twin]
    for number in range(max(count // 4, 2)):
        whole = result[random.integers(count)]
        name = odd_name(random, f"odd-{number}").replace("/", "") + whole.name[whole.name.rindex("."):]
        result.append(File(name, whole.data, size=whole.size))
    result.append(File(f"line{FORGED}.png", result[0].data, size=result[0].size))
    result.append(File("latin-\udce9.png", result[0].data, size=result[0].size))
    for number in range(max(count // 3, 4)):
        result.append(broken(random, result[random.integers(count)], number))
    return result


def twin(random, image, number):
    """The same picture in another file."""
    kind = int(random.integers(7))
    name, size = f"twin-{number}", image.size
    if kind == 0:
        return File(name + ".bmp", encoded(image, "BMP"), size=size)
    if kind == 1:
        return File(name + ".pnm", encoded(image, "PPM"), size=size)
    if kind == 2:
        return File(name + ".png", encoded(image.convert("RGBA"), "PNG"), size=size)
    if kind == 3:
        # Of 16 bits, the high ones count.
        low = random.integers(0, 256, (size[1], size[0], 3), np.uint8)
        return File(name + ".png", png(np.stack([np.asarray(image), low], -1).reshape(size[1], -1), size, 16), size=size)
    if kind == 4:
        # A gamma that nobody applies.
        return File(name + ".png", png(np.asarray(image).reshape(size[1], -1), size, 8, [(b"gAMA", struct.pack(">I", 100_000))]), size=size)
    if kind == 5:
        return File(name + ".webp", encoded(image, "WEBP", lossless=True), size=size)
    turn = int(random.integers(2, 9))
    exif = Image.Exif()
    exif[0x0112] = turn
    # What undoes the turn.
    moves = {2: Image.FLIP_LEFT_RIGHT, 3: Image.ROTATE_180, 4: Image.FLIP_TOP_BOTTOM, 5: Image.TRANSPOSE, 6: Image.ROTATE_90,
             7: Image.TRANSVERSE, 8: Image.ROTATE_270}
    return File(name + ".png", encoded(image.transpose(moves[turn]), "PNG", exif=exif), size=size, is_turned=True)


def png(rows, size, bits, chunks=()):
    """A PNG of red, green and blue; `rows` are its bytes."""
    data = b"".join(b"\0" + row.tobytes() for row in rows)
    head = struct.pack(">IIBBBBB", *size, bits, 2, 0, 0, 0)
    parts = [(b"IHDR", head), *chunks, (b"IDAT", zlib.compress(data)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(part)) + name + part + struct.pack(">I", zlib.crc32(name + part)) for name, part in parts)


def palette_twin(random, image, number):
    """A picture of few colors, and the same one as a BMP of runs."""
    bits = int(random.choice([4, 8]))
    image = image.quantize(16)
    colors = (np.frombuffer(bytes(image.getpalette()), np.uint8).reshape(-1, 3))[:16]
    values = np.asarray(image)
    body = b""
    for row in values[::-1]:
        x = 0
        while x < len(row):
            same = next((end for end in range(x, min(len(row), x + 255)) if row[end] != row[x]), min(len(row), x + 255)) - x
            rest = row[x:x + min(int(random.integers(3, 20)), len(row) - x)]
            if same < 3 and len(rest) >= 3:
                # Pixels as they are, in whole pairs of bytes.
                stored = rest.astype(np.uint8).tobytes() if bits == 8 else bytes(
                    int(rest[i]) << 4 | (int(rest[i + 1]) if i + 1 < len(rest) else 0) for i in range(0, len(rest), 2))
                body += bytes([0, len(rest)]) + stored + b"\0" * (len(stored) % 2)
                x += len(rest)
            else:
                body += bytes([same, int(row[x]) if bits == 8 else int(row[x]) * 17])
                x += same
        body += b"\0\0"
    body += b"\0\1"
    table = b"".join(bytes([*color[::-1], 0]) for color in colors).ljust(4 << bits, b"\0")
    head = struct.pack("<IiiHHIIiiII", 40, *image.size, 1, bits, 1 if bits == 8 else 2, len(body), 0, 0, 1 << bits, 0)
    data = b"BM" + struct.pack("<IHHI", 14 + len(head) + len(table) + len(body), 0, 0, 14 + len(head) + len(table)) + head + table + body
    return image, File(f"twin-{number}.bmp", data, size=image.size)


def broken(random, whole, number):
    """A picture that is cut off, changed, empty or something else."""
    ending = whole.name[whole.name.rindex("."):]
    data = bytearray(whole.data)
    kind = int(random.integers(6))
    if kind < 2:
        data = data[:random.integers(len(data))]
    elif kind == 2:
        for _ in range(random.integers(1, 9)):
            data[random.integers(len(data))] = random.integers(256)
    elif kind == 3:
        data = b""
    elif kind == 4:
        data = b"GIF89a" + bytes(40)
    else:
        # Sizes that nobody has memory for.
        data = b"P6 999999 999999 255\n" + bytes(60) if random.integers(2) else b"P5 0 7 255\n"
    # What is cut off may be read nonetheless.
    return File(f"broken-{number}{ending}", bytes(data), is_valid=None)


# MARK: Labels


def labels(random, count):
    """Files of labels in all forms, and files that are none."""
    result = []
    for number in range(count):
        classes = int(random.choice([1, 2, 3, 5, 10, 80, 300]))
        names = [f"name {index}" for index in range(classes)]
        if random.random() < 0.25:
            names = [odd_name(random, name) for name in names]
        plain = all(name.isascii() and name.isprintable() for name in names) and names == [f"name {i}" for i in range(classes)]
        kind = int(random.integers(8))
        if kind in (0, 1, 7):
            # A line feed would make another name.
            names = [name.replace("\n", " ") for name in names]
        facts = {"names": names if plain or kind in (2, 3, 4) else None, "numbered": kind in (1, 2, 3)}
        if kind == 1:
            text, name = "\n".join(f"{index} {text}" for index, text in enumerate(names)), f"labels-{number}.txt"
        elif kind == 2:
            text, name = json.dumps({str(index): text for index, text in enumerate(names)}), f"labels-{number}.json"
        elif kind == 3:
            items = [f'item {{\n  id: {index}\n  name: {json.dumps(text)}\n}}' for index, text in enumerate(names)]
            text, name = "\n".join(items), f"labels-{number}.pbtxt"
        elif kind == 4:
            text, name = json.dumps(names), f"labels-{number}.json"
        elif kind == 5:
            text, name, facts = "names:\n" + "\n".join(f"  - {json.dumps(text)}" for text in names), f"labels-{number}.yaml", {}
        elif kind == 6:
            # Whatever it is, it is no list of labels.
            data = [b"", bytes(100), b"\xff\xfe\x00\xd8", b"[1, 2", b"{\"0\": ", b"\x89PNG\r\n\x1a\n" + bytes(50), b"\n\n\n",
                    b"item { id: 99999999999999999999 }", b"names: [a, b", b"a\tb\tc", b"0 a\n0 b\n0 c", b"-5 a\n7 b"][random.integers(12)]
            result.append(File(f"labels-{number}.txt", data, is_valid=None))
            continue
        else:
            text, name = "\n".join(names) + ("\n" if random.integers(2) else ""), f"labels-{number}.txt"
        result.append(File(name, text.encode("utf-8", "surrogateescape"), is_valid=plain, classes=classes, **facts))
    return result


# MARK: Tensors


def arrays(random, count, graphs):
    """Tensors, most of them as an input of a model has it, and files that are none."""
    result = []
    for number in range(count):
        model = graphs[random.integers(len(graphs))]
        shape, dtype = model.shape, model.dtype
        kind = int(random.integers(8))
        if kind == 5:
            shape = tuple(int(side) for side in random.integers(0, 5, random.integers(0, 5)))
        if kind == 6:
            dtype = str(random.choice(["float64", "int16", "uint8", "complex64", "U4", "bool", ">f4"]))
        values = np.zeros(shape, dtype) if "U" in dtype else (random.uniform(-5, 5, shape)).astype(dtype)
        out = io.BytesIO()
        np.save(out, np.asfortranarray(values) if random.integers(3) == 0 else values)
        data = out.getvalue()
        if kind == 7:
            data = bytearray(data)
            if random.integers(2):
                data = data[:random.integers(len(data))]
            else:
                data[random.integers(min(len(data), 128))] = random.integers(256)
        result.append(File(f"tensor-{number}.npy", bytes(data), is_valid=kind < 5, model=model))
    return result


# MARK: Sounds


def sounds(random, count):
    result = []
    for number in range(count):
        rate = int(random.choice([8000, 16000, 44100]))
        frames = int(random.choice([0, 1, 100, 999, 4000]))
        channels = int(random.choice([1, 2]))
        bits, tag, dtype = [(8, 1, "u1"), (16, 1, "<i2"), (32, 3, "<f4"), (16, 1, "<i2")][random.integers(4)]
        wave = np.sin(np.arange(frames * channels) * float(random.uniform(0.01, 0.5)))
        samples = {"u1": wave * 100 + 128, "<i2": wave * 30000, "<f4": wave}[dtype].astype(dtype)
        kind = int(random.integers(7))
        if kind == 6 and dtype == "<f4" and frames:
            samples[random.integers(len(samples))] = random.choice([np.nan, np.inf, 1e30])
        data = wav(samples.tobytes(), channels, rate, tag, bits)
        name = f"sound-{number}.wav"
        if kind == 5:
            data = bytearray(data)
            if random.integers(2):
                data = data[:random.integers(len(data))]
            else:
                data[random.integers(min(44, len(data)))] = random.integers(256)
        if kind == 4:
            name = odd_name(random, f"sound-{number}").replace("/", "") + ".wav"
        result.append(File(name, bytes(data), is_valid=kind < 5 and frames > 0 or None, seconds=frames / rate))
        if dtype == "<i2" and kind < 5 and frames:
            # The same numbers as floats.
            floats = (samples.astype(np.float32) / 32768).astype("<f4")
            result[-1].twin = File(f"twin-{number}.wav", wav(floats.tobytes(), channels, rate, 3, 32), seconds=frames / rate)
            result.append(result[-1].twin)
    result.append(File(f"line{FORGED}.wav", wav(bytes(400), 1, 8000, 1, 16), seconds=200 / 8000))
    return result


def wav(data, channels, rate, tag, bits):
    frame = channels * bits // 8
    form = struct.pack("<HHIIHH", tag, channels, rate, rate * frame, frame, bits)
    body = b"fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WAVE" + body
