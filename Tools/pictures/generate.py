#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes Tests/Goldens/pictures.json: small picture files with the pixels that Pillow reads in them.

Needs Pillow. Run it from the root of the package: python3 Tools/pictures/generate.py
"""

import base64
import io
import json
import random
import struct
import zlib

from PIL import Image

random.seed(7)
WIDTH, HEIGHT = 13, 7
fixtures = []


def picture(mode="RGB"):
    """A smooth gradient with some noise, so that JPEG stays close to it."""
    image = Image.new("RGB", (WIDTH, HEIGHT))
    for y in range(HEIGHT):
        for x in range(WIDTH):
            image.putpixel((x, y), (x * 19 + random.randrange(4), y * 36, (x + y) * 12))
    if mode == "RGBA":
        image = image.convert("RGBA")
        for y in range(HEIGHT):
            for x in range(WIDTH):
                image.putpixel((x, y), image.getpixel((x, y))[:3] + ((x * 37 + y * 11) % 256,))
        return image
    return image.convert(mode)


def add(name, data, mode=None, expected=None, size=None, tolerance=0, orientation=1):
    """Adds a file; without expected pixels, they are what Pillow reads, converted to `mode`."""
    if expected is None:
        image = Image.open(io.BytesIO(data))
        size = image.size
        expected = image.convert(mode).tobytes()
    width, height = size or (WIDTH, HEIGHT)
    kind = {"L": "gray", "RGB": "rgb", "RGBA": "rgba"}[mode]
    fixtures.append((name, data, width, height, kind, expected, tolerance, orientation))


def saved(image, fmt, **options):
    out = io.BytesIO()
    image.save(out, fmt, **options)
    return out.getvalue()


# PNG
add("png gray", saved(picture("L"), "PNG"), "L")
add("png one bit", saved(picture("1"), "PNG"), "L")
add("png rgb", saved(picture(), "PNG"), "RGB")
add("png rgba", saved(picture("RGBA"), "PNG"), "RGBA")
add("png gray alpha", saved(picture("RGBA").convert("LA"), "PNG"), "RGBA")
for colors in (2, 4, 16, 200):
    add(f"png palette of {colors}", saved(picture().quantize(colors), "PNG"), "RGB")
add("png palette with transparency", saved(picture().quantize(8), "PNG", transparency=3), "RGBA")


def png(color_type, bits, rows, interlace=0):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, bits, color_type, 0, 0, interlace)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
            + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))) + chunk(b"IEND", b""))


def eight(value):
    return (value * 255 + 32895) >> 16


for name, color_type, channels, mode in (("gray", 0, 1, "L"), ("rgb", 2, 3, "RGB"), ("rgba", 6, 4, "RGBA")):
    samples = [[random.randrange(65536) for _ in range(WIDTH * channels)] for _ in range(HEIGHT)]
    add(f"png 16-bit {name}",
        png(color_type, 16, [struct.pack(f">{len(row)}H", *row) for row in samples]), mode,
        bytes(eight(v) for row in samples for v in row))

source = picture()
passes = []
for x0, y0, dx, dy in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)):
    for y in range(y0, HEIGHT, dy):
        row = b"".join(bytes(source.getpixel((x, y))) for x in range(x0, WIDTH, dx))
        if row:
            passes.append(row)
add("png interlaced", png(2, 8, passes, 1), "RGB")


# BMP
def bmp(bits, rows, compression=0, palette=b"", header=40, masks=b"", top_down=False, colors=0):
    body = b"".join(rows)
    if header == 12:
        info = struct.pack("<IHHHH", 12, WIDTH, HEIGHT, 1, bits)
    else:
        info = struct.pack("<IiiHHIIiiII", header, WIDTH, -HEIGHT if top_down else HEIGHT, 1, bits,
                           compression, len(body), 2835, 2835, colors, 0)
        if header > 40:
            info += masks + b"\0" * (header - 40 - len(masks))
            masks = b""
    offset = 14 + len(info) + len(masks) + len(palette)
    return struct.pack("<2sIHHI", b"BM", offset + len(body), 0, 0, offset) + info + masks + palette + body


def padded(row):
    return row + b"\0" * (-len(row) % 4)


def rows_of(pack, top_down=False):
    order = range(HEIGHT) if top_down else range(HEIGHT - 1, -1, -1)
    return [padded(b"".join(pack(*source.getpixel((x, y))) for x in range(WIDTH))) for y in order]


add("bmp 1 bit", saved(picture("1"), "BMP"), "L")
add("bmp 8 bits gray", saved(picture("L"), "BMP"), "L")
add("bmp 8 bits palette", saved(picture().quantize(40), "BMP"), "RGB")
add("bmp 24 bits", saved(picture(), "BMP"), "RGB")
add("bmp 24 bits top down", bmp(24, rows_of(lambda r, g, b: bytes((b, g, r)), True), top_down=True), "RGB")
add("bmp 24 bits core", bmp(24, rows_of(lambda r, g, b: bytes((b, g, r))), header=12), "RGB")
add("bmp 32 bits", bmp(32, rows_of(lambda r, g, b: bytes((b, g, r, 77)))), "RGB")
add("bmp 16 bits 555",
    bmp(16, rows_of(lambda r, g, b: struct.pack("<H", r >> 3 << 10 | g >> 3 << 5 | b >> 3))), "RGB")
add("bmp 16 bits 565",
    bmp(16, rows_of(lambda r, g, b: struct.pack("<H", r >> 3 << 11 | g >> 2 << 5 | b >> 3)), 3,
        masks=struct.pack("<III", 0xF800, 0x7E0, 0x1F)), "RGB")
add("bmp 32 bits fields with alpha",
    bmp(32, rows_of(lambda r, g, b: bytes((r, g, b, (r + b) % 256))), 3, header=108,
        masks=struct.pack("<IIII", 0xFF, 0xFF00, 0xFF0000, 0xFF000000)), "RGBA")
palette = bytes(v for i in range(16) for v in ((i * 16) % 256, (i * 40) % 256, (255 - i * 9), 0))
nibbles = [[random.randrange(16) for _ in range(WIDTH)] for _ in range(HEIGHT)]
add("bmp 4 bits", bmp(4, [padded(bytes((row + [0])[i] << 4 | (row + [0])[i + 1] for i in range(0, WIDTH, 2)))
                          for row in nibbles], palette=palette, colors=16), "RGB")
add("bmp 4 bits core",
    bmp(4, [padded(bytes((row + [0])[i] << 4 | (row + [0])[i + 1] for i in range(0, WIDTH, 2)))
            for row in nibbles], palette=bytes(v for i in range(16) for v in palette[4 * i:4 * i + 3]), header=12),
    "RGB")
runs = [b"\x05\x02\x00\x08" + bytes((1, 2, 3, 4, 5, 6, 7, 8)) + b"\x00\x00" if y % 2
        else b"\x00\x05\x01\x02\x03\x04\x05\x00\x08\x09\x00\x00" for y in range(HEIGHT)]
add("bmp rle8", bmp(8, runs + [b"\x00\x01"], 1, palette=palette, colors=16), "RGB")

# PNM
gray = picture("L").tobytes()
rgb = picture().tobytes()
header = f"{WIDTH} {HEIGHT}"
bits = [1 if v < 100 else 0 for v in gray]
add("pnm P1", (f"P1\n# a comment\n{header}\n" + "".join(map(str, bits))).encode(), "L")
add("pnm P2", (f"P2 {header} 255\n" + " ".join(map(str, gray))).encode(), "L")
add("pnm P3", (f"P3\n{header}\n255\n" + "\n".join(map(str, rgb))).encode(), "RGB")
add("pnm P4", saved(picture("1"), "PPM"), "L")
add("pnm P5", saved(picture("L"), "PPM"), "L")
add("pnm P6", f"P6 {WIDTH} # wide\n{HEIGHT}\n255\n".encode() + rgb, "RGB")
add("pnm P6 to 100", f"P6 {header} 100\n".encode() + bytes(v * 100 // 255 for v in rgb), "RGB",
    tolerance=1)  # Pillow rounds halves to even
wide = [random.randrange(65536) for _ in range(WIDTH * HEIGHT * 3)]
add("pnm P6 of 16 bits", f"P6 {header} 65535\n".encode() + struct.pack(f">{len(wide)}H", *wide), "RGB")
add("pnm P5 of 16 bits", f"P5 {header} 65535\n".encode() + struct.pack(f">{len(wide) // 3}H", *wide[::3]), "L",
    bytes((v * 510 + 65535) // 131070 for v in wide[::3]))

# JPEG: another library may round the color conversion otherwise
add("jpeg gray", saved(picture("L"), "JPEG", quality=95), "L", tolerance=2)
add("jpeg 4:4:4", saved(picture(), "JPEG", quality=95, subsampling=0), "RGB", tolerance=2)
add("jpeg 4:2:0", saved(picture(), "JPEG", quality=80), "RGB", tolerance=2)
add("jpeg progressive", saved(picture(), "JPEG", progressive=True), "RGB", tolerance=2)
add("jpeg cmyk", saved(picture().convert("CMYK"), "JPEG", quality=95), "RGB", tolerance=3)
for value in range(1, 9):
    exif = Image.Exif()
    exif[0x0112] = value
    add(f"jpeg orientation {value}", saved(picture(), "JPEG", exif=exif), "RGB", tolerance=2, orientation=value)
complete = saved(picture(), "JPEG", quality=80)
assert complete.endswith(b"\xff\xd9")
add("jpeg without its end marker", complete[:-2], "RGB",
    Image.open(io.BytesIO(complete)).convert("RGB").tobytes(), tolerance=2)

with open("Tests/Goldens/pictures.json", "w") as out:
    lines = (json.dumps({"name": name, "width": width, "height": height, "format": kind, "tolerance": tolerance,
                         "orientation": orientation, "file": base64.b64encode(data).decode(),
                         "pixels": base64.b64encode(expected).decode()})
             for name, data, width, height, kind, expected, tolerance, orientation in fixtures)
    out.write("[\n" + ",\n".join(lines) + "\n]\n")
print(len(fixtures), "pictures")
