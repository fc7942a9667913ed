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
    if orientation is None:
        image = Image.open(io.BytesIO(data))
        image.load()
        # What ImageOps.exif_transpose looks at.
        orientation = image.getexif().get(0x0112, 1)
        orientation = orientation if orientation in range(1, 9) else 1
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
    """The high byte, as Pillow takes it from colors, and OpenCV and TensorFlow from gray too."""
    return value >> 8


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
# The high byte, as OpenCV takes it, and as in a PNG. Pillow rounds colors, and keeps 16 bits of gray.
add("pnm P6 of 16 bits", f"P6 {header} 65535\n".encode() + struct.pack(f">{len(wide)}H", *wide), "RGB",
    bytes(eight(v) for v in wide))
add("pnm P5 of 16 bits", f"P5 {header} 65535\n".encode() + struct.pack(f">{len(wide) // 3}H", *wide[::3]), "L",
    bytes(eight(v) for v in wide[::3]))

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



# What a PNG says about light is ignored; its EXIF orientation is obeyed.
def with_chunks(data, *chunks):
    """The file with more chunks behind its header."""
    made = b"".join(struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
                    for kind, body in chunks)
    return data[:33] + made + data[33:]


def tiff(orientation, order="<"):
    mark = b"II" if order == "<" else b"MM"
    return (mark + struct.pack(order + "HIH", 42, 8, 1) + struct.pack(order + "HHI", 0x0112, 3, 1)
            + struct.pack(order + "HHI", orientation, 0, 0))


linear, dark = struct.pack(">I", 100000), struct.pack(">I", 22000)
rgb_png, gray_png, rgba_png = (saved(picture(m), "PNG") for m in ("RGB", "L", "RGBA"))
add("png linear light", with_chunks(rgb_png, (b"gAMA", linear)), "RGB")
add("png gray of gamma 0.22", with_chunks(gray_png, (b"gAMA", dark)), "L")
add("png rgba linear light", with_chunks(rgba_png, (b"gAMA", linear)), "RGBA")
add("png gamma and sRGB", with_chunks(rgb_png, (b"gAMA", linear), (b"sRGB", b"\0")), "RGB")
add("png gamma and primaries", with_chunks(rgb_png, (b"gAMA", dark), (b"cHRM", struct.pack(
    ">8I", 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000))), "RGB")
add("png palette linear light", with_chunks(saved(picture().quantize(16), "PNG"), (b"gAMA", linear)), "RGB")
for value in (3, 6, 8):
    add(f"png orientation {value}", with_chunks(rgb_png, (b"eXIf", tiff(value, "<" if value == 6 else ">"))), "RGB",
        orientation=value)
late = saved(picture(), "PNG")
kind, body = b"eXIf", tiff(5)
add("png orientation behind the data",
    late[:-12] + struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) + late[-12:],
    "RGB", orientation=5)

# 16 bits in every layout.
deep = [[random.randrange(65536) for _ in range(WIDTH * 2)] for _ in range(HEIGHT)]
add("png 16-bit gray alpha", png(4, 16, [struct.pack(f">{len(row)}H", *row) for row in deep]), "RGBA")
wide16 = [[random.randrange(65536) for _ in range(WIDTH * 3)] for _ in range(HEIGHT)]
passes = []
for x0, y0, dx, dy in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)):
    for y in range(y0, HEIGHT, dy):
        row = b"".join(struct.pack(">3H", *wide16[y][3 * x:3 * x + 3]) for x in range(x0, WIDTH, dx))
        if row:
            passes.append(row)
add("png 16-bit interlaced linear light", with_chunks(png(2, 16, passes, 1), (b"gAMA", linear)), "RGB",
    bytes(eight(v) for row in wide16 for v in row))
key = wide16[2][9:12]
add("png 16-bit with a transparent color",
    with_chunks(png(2, 16, [struct.pack(f">{len(row)}H", *row) for row in wide16]), (b"tRNS", struct.pack(">3H", *key))),
    "RGBA", b"".join(bytes(eight(v) for v in row[3 * x:3 * x + 3]) + (b"\0" if row[3 * x:3 * x + 3] == key else b"\xff")
                     for row in wide16 for x in range(WIDTH)))


def filtered(rows, step):
    """The rows with each of the five filters in turn."""
    made, above = [], bytes(len(rows[0]))
    for number, row in enumerate(rows):
        kind = number % 5
        out = bytearray()
        for i, v in enumerate(row):
            left, up, corner = (row[i - step] if i >= step else 0), above[i], (above[i - step] if i >= step else 0)
            p = left + up - corner
            nearest = min((abs(p - left), 0, left), (abs(p - up), 1, up), (abs(p - corner), 2, corner))[2]
            out.append((v - (0, left, up, (left + up) // 2, nearest)[kind]) & 255)
        made.append(bytes([kind]) + bytes(out))
        above = row
    return made


rows16 = [struct.pack(f">{len(row)}H", *row) for row in wide16]
body = zlib.compress(b"".join(filtered(rows16, 6)))
header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 16, 2, 0, 0, 0)
add("png 16-bit filtered, in two chunks", with_chunks(b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + header + struct.pack(
    ">I", zlib.crc32(b"IHDR" + header)), (b"IDAT", body[:50]), (b"IDAT", body[50:]), (b"IEND", b"")), "RGB")

# BMP: skipped pixels have entry 0, and runs end with the row, as Pillow reads them.
rle4 = [b"\x07\x12\x00\x06\x34\x56\x78\x00\x00\x00" if y % 2 else b"\x0d\xab\x00\x00" for y in range(HEIGHT)]
add("bmp rle4", bmp(4, rle4 + [b"\x00\x01"], 2, palette=palette, colors=16), "RGB")
add("bmp rle4 beyond its rows", bmp(4, [b"\xff\x12\x00\x00"] * HEIGHT + [b"\x00\x01"], 2, palette=palette, colors=16), "RGB")
add("bmp rle8 beyond its rows", bmp(8, [b"\x09\x02\x09\x03\x00\x00"] * HEIGHT + [b"\x00\x01"], 1, palette=palette, colors=16),
    "RGB")
add("bmp rle8 with gaps", bmp(8, [b"\x03\x04\x00\x00\x02\x05\x00\x02\x02\x02\x06\x07"] + [b"\x00\x00"]
    + [b"\x0d\x08\x00\x00"] * (HEIGHT - 4) + [b"\x00\x01"], 1, palette=palette, colors=16), "RGB")

# WebP
add("webp lossless", saved(picture(), "WEBP", lossless=True), "RGB")
add("webp lossless with alpha", saved(picture("RGBA"), "WEBP", lossless=True, exact=True), "RGBA")
add("webp lossy", saved(picture(), "WEBP", quality=80), "RGB")
add("webp lossy with alpha", saved(picture("RGBA"), "WEBP", quality=60), "RGBA")
for value in (2, 6):
    exif = Image.Exif()
    exif[0x0112] = value
    add(f"webp orientation {value}", saved(picture(), "WEBP", lossless=value == 2, exif=exif), "RGB", orientation=value)
plain = saved(picture(), "WEBP", lossless=True, exif=tiff(8))
start = plain.index(b"EXIF")
body = b"Exif\0\0" + tiff(8)
marked = plain[:start] + b"EXIF" + struct.pack("<I", len(body)) + body
add("webp orientation behind a mark", marked[:4] + struct.pack("<I", len(marked) - 8) + marked[8:], "RGB", orientation=8)

# Other largest samples are scaled to 16 bits first, as Pillow does for gray.
def deep_gray(data):
    """What Pillow makes of gray samples of more than 8 bits: 16 bits each."""
    return struct.unpack(f"={WIDTH * HEIGHT}i", Image.open(io.BytesIO(data)).tobytes())


for largest in (300, 1023, 4095):
    samples = [v * largest // 65535 for v in wide[::3]]
    data = f"P5 {WIDTH} {HEIGHT} {largest}\n".encode() + struct.pack(f">{len(samples)}H", *samples)
    high = bytes(eight(v) for v in deep_gray(data))
    add(f"pnm P5 to {largest}", data, "L", high)
    add(f"pnm P2 to {largest}", f"P2 {WIDTH} {HEIGHT} {largest}\n{' '.join(map(str, samples))}".encode(), "L", high)
narrow = [v * 15 // 255 for v in rgb]
add("pnm P6 to 15", f"P6 {WIDTH} {HEIGHT} 15\n".encode() + bytes(narrow), "RGB")

# Orientation outside the usual place: what Pillow finds, or does not find.
def xmp(text):
    return ('<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
            f'<rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" {text}</rdf:RDF></x:xmpmeta>').encode()


def attribute(value):
    return xmp(f'tiff:Make="Orientation" tiff:Orientation="{value}"/>')


def element(value):
    return xmp(f'><tiff:Orientation>{value}</tiff:Orientation></rdf:Description>')


def international(text, compressed=False):
    return b"iTXt", (b"XML:com.adobe.xmp\0" + bytes((compressed, 0)) + b"en\0\0"
                     + (zlib.compress(text) if compressed else text))


def profile(data, compressed):
    digits = data.hex()
    lines = "\n".join(digits[i:i + 72] for i in range(0, len(digits), 72))
    text = f"\nexif\n{len(data):8}\n{lines}\n".encode()
    keyword = b"Raw profile type exif\0"
    return (b"zTXt", keyword + b"\0" + zlib.compress(text)) if compressed else (b"tEXt", keyword + text)


def found(name, data):
    add(name, data, "RGB", orientation=None)


mark = b"Exif\0\0"
found("png orientation in an attribute of XMP", with_chunks(rgb_png, international(attribute(6))))
found("png orientation in an element of XMP", with_chunks(rgb_png, international(element(8), True)))
found("png orientation 0 in XMP", with_chunks(rgb_png, international(attribute(0))))
found("png orientation in a text of XMP", with_chunks(rgb_png, (b"tEXt", b"XML:com.adobe.xmp\0" + attribute(3))))
found("png orientation in a profile", with_chunks(rgb_png, profile(mark + tiff(6), False)))
found("png orientation in a compressed profile", with_chunks(rgb_png, profile(mark + tiff(8, ">"), True)))
found("png orientation in a profile without a mark", with_chunks(rgb_png, profile(tiff(3), True)))
found("png orientation in a chunk and a profile", with_chunks(rgb_png, profile(tiff(3), True), (b"eXIf", tiff(6))))
found("png orientation behind a mark", with_chunks(rgb_png, (b"eXIf", mark + tiff(6))))
found("png orientation in EXIF and XMP", with_chunks(rgb_png, (b"eXIf", tiff(6)), international(attribute(3))))
found("png orientation 9 in EXIF and 3 in XMP", with_chunks(rgb_png, (b"eXIf", tiff(9)), international(attribute(3))))
other = tiff(6).replace(struct.pack("<H", 0x0112), struct.pack("<H", 0x0113))
found("png EXIF without it and XMP", with_chunks(rgb_png, (b"eXIf", other), international(attribute(3))))


def segment(body):
    return b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body


plain = saved(picture(), "JPEG")
space = b"http://ns.adobe.com/xap/1.0/\0"
for name, segments in (
        ("in an attribute of XMP", segment(space + attribute(6))),
        ("in an element of XMP", segment(space + element(5))),
        ("in EXIF and XMP", segment(mark + tiff(6)) + segment(space + attribute(3))),
        ("in XMP, not in EXIF", segment(mark + other) + segment(space + attribute(8))),
        ("in two packets of XMP", segment(space + attribute(8)) + segment(space + attribute(6)))):
    add(f"jpeg orientation {name}", plain[:2] + segments + plain[2:], "RGB", tolerance=2, orientation=None)
found("webp orientation in XMP", saved(picture(), "WEBP", lossless=True, xmp=attribute(6)))
found("webp orientation in EXIF and XMP", saved(picture(), "WEBP", lossless=True, xmp=element(3), exif=tiff(8)))

with open("Tests/Goldens/pictures.json", "w") as out:
    lines = (json.dumps({"name": name, "width": width, "height": height, "format": kind, "tolerance": tolerance,
                         "orientation": orientation, "file": base64.b64encode(data).decode(),
                         "pixels": base64.b64encode(expected).decode()})
             for name, data, width, height, kind, expected, tolerance, orientation in fixtures)
    out.write("[\n" + ",\n".join(lines) + "\n]\n")
print(len(fixtures), "pictures")
