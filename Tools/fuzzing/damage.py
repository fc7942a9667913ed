# SPDX-License-Identifier: Apache-2.0
"""Damage without and with knowledge of a format: bytes, pictures, archives, arrays, labels, galleries."""

import io
import struct
import warnings
import zipfile
import zlib

# Numbers at the edges of what fields hold.
EDGES = [0, 1, 2, 3, 4, 7, 8, 255, 256, 65_535, 65_536, 1 << 20, 1 << 24, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]


def damage(data, random, first=None):
    """Changes some bits, bytes, words or the length, mostly near the ends, where the tables are."""
    for _ in range(random.choice([1, 1, 2, 4, 8])):
        if not data:
            return
        end = len(data)
        reach = random.choice([end, min(end, first or 4096), min(end, 65536)])
        place = random.randrange(reach) if random.random() < 0.5 else end - 1 - random.randrange(reach)
        kind = random.randrange(5)
        if kind == 0:
            data[place] ^= 1 << random.randrange(8)
        elif kind == 1:
            data[place] = random.randrange(256)
        elif kind == 2:
            word = random.choice([0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 4, end, 0xFFFF, 0x10000, random.randrange(1 << 32)])
            place &= ~3
            data[place:place + 4] = word.to_bytes(4, "little")[: max(0, end - place)]
        elif kind == 3 and random.random() < 0.3:
            del data[place:]
        else:
            other = random.randrange(end)
            length = random.choice([1, 4, 16, 64])
            data[place:place + length] = data[other:other + length]


def damaged(contents, random, first=None):
    data = bytearray(contents)
    damage(data, random, first)
    return bytes(data)


def edit_list(items, random):
    """Deletes, doubles, swaps or repeats entries of a list."""
    kind = random.randrange(4)
    if not items:
        return
    place = random.randrange(len(items))
    if kind == 0:
        del items[place]
    elif kind == 1:
        items.insert(random.randrange(len(items) + 1), items[place])
    elif kind == 2:
        other = random.randrange(len(items))
        items[place], items[other] = items[other], items[place]
    else:
        items[place:place] = [items[place]] * random.choice([2, 10, 200])


# MARK: Pictures

def picture(random, sources):
    """A picture and its extension: made, or a real one changed in its segments, its chunks or its bytes."""
    real = random.choice(sources) if sources and random.random() < 0.7 else None
    if real is None:
        data, suffix = made_picture(random)
    else:
        data, suffix = real.read_bytes(), real.suffix
        if data[:2] == b"\xff\xd8" and random.random() < 0.7:
            data = jpeg(data, random)
        elif data[:4] == b"\x89PNG" and random.random() < 0.7:
            data = png(data, random)
    if random.random() < (0.3 if real is None else 0.5):
        data = damaged(data, random, first=min(len(data), 4096))
    return data, suffix


def jpeg_segments(data):
    """The segments of a JPEG, as (marker, contents), and the coded pictures behind each start of a scan."""
    parts, place = [], 2
    while place + 4 <= len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if marker == 0xD9:
            break
        length = struct.unpack_from(">H", data, place + 2)[0]
        end = place + 2 + length
        body = data[place + 4:end]
        coded = b""
        if marker == 0xDA:
            stop = end
            while stop + 1 < len(data) and not (data[stop] == 0xFF and data[stop + 1] not in (0, *range(0xD0, 0xD8))):
                stop += 1
            coded, end = data[end:stop], stop
        parts.append([marker, bytearray(body), coded])
        place = end
    return parts


def jpeg(data, random):
    """Changes what the segments of a JPEG say: sizes, factors, tables, scans, restarts, EXIF."""
    parts = jpeg_segments(data)
    for _ in range(random.choice([1, 1, 2, 3])):
        kind = random.randrange(8)
        if kind == 0:
            edit_list(parts, random)
            continue
        if not parts:
            break
        found = [part for part in parts if part[0] in ((0xC0, 0xC1, 0xC2) if kind < 3 else (0xC4,) if kind == 3 else
                                                       (0xDB,) if kind == 4 else (0xDA,) if kind == 5 else range(256))]
        if not found:
            continue
        part = random.choice(found)
        body = part[1]
        if kind == 1 and len(body) >= 5:
            struct.pack_into(">HH", body, 1, random.choice(EDGES) & 0xFFFF, random.choice([1, 8, 300, 5000, 32768, 65535]))
        elif kind == 5 and random.random() < 0.5:
            part[2] = damaged(part[2], random) if random.random() < 0.5 else part[2][: random.randrange(len(part[2]) + 1)]
        elif kind == 6:
            part[0] = random.choice([0xC0, 0xC1, 0xC2, 0xC3, 0xC9, 0xDD, 0xE0, 0xE1, 0xEE, 0xFE, 0xDB, 0xC4])
        elif kind == 7:
            parts.insert(0, [0xE1, exif(random), b""])
        elif body:
            body[random.randrange(min(len(body), 20))] = random.choice([0, 1, 2, 4, 16, 17, 34, 68, 127, 255, random.randrange(256)])
    out = b"\xff\xd8"
    for marker, body, coded in parts:
        out += bytes([0xFF, marker]) + struct.pack(">H", (len(body) + 2) & 0xFFFF) + bytes(body) + coded
        if len(out) > 4 << 20:
            break
    return out + b"\xff\xd9"


def exif(random):
    """EXIF with an orientation and other entries, whose counts and offsets are anything."""
    order = random.choice("<>")
    entries = [(0x112, 3, 1, random.choice([1, 3, 6, 8, 0, 9, 65535]) << (16 if order == ">" else 0))]
    for _ in range(random.randrange(4)):
        entries.append((random.choice([0x112, 0x8769, 0x100]), random.randrange(14), random.choice(EDGES), random.choice(EDGES)))
    random.shuffle(entries)
    count = random.choice([len(entries)] * 4 + [0, 65535])
    body = struct.pack(f"{order}2sHI", b"II" if order == "<" else b"MM", 42, random.choice([8] * 5 + EDGES))
    body += struct.pack(f"{order}H", count)
    for tag, type, number, value in entries:
        body += struct.pack(f"{order}HHII", tag, type, number & 0xFFFFFFFF, value & 0xFFFFFFFF)
    return bytearray(b"Exif\0\0" + body + struct.pack(f"{order}I", random.choice([0, 8, 1 << 31])))


def png(data, random):
    """Changes the chunks of a PNG, whose checksums hold again."""
    chunks, place = [], 8
    while place + 8 <= len(data):
        length, name = struct.unpack_from(">I4s", data, place)
        chunks.append([name, bytearray(data[place + 8:place + 8 + length])])
        place += 12 + length
    for _ in range(random.choice([1, 1, 2, 3])):
        kind = random.randrange(5)
        chunk = random.choice(chunks) if chunks else None
        if kind == 0 or chunk is None:
            edit_list(chunks, random)
        elif kind == 1 and chunks[0][0] == b"IHDR" and len(chunks[0][1]) == 13:
            body = chunks[0][1]
            struct.pack_into(">II", body, 0, random.choice(EDGES[1:]), random.choice([1, 8, 300, 5000, 40000, 1 << 20]))
            body[8 + random.randrange(5)] = random.choice([0, 1, 2, 3, 4, 6, 8, 16, 255])
        elif kind == 2:
            chunk[0] = random.choice([b"IDAT", b"PLTE", b"tRNS", b"gAMA", b"iCCP", b"zTXt", b"sBIT", b"eXIf", b"IEND", b"acTL", b"AAAA"])
        elif kind == 3:
            chunk[1] = bytearray(zlib.compress(bytes(random.choice([0, 1 << 10, 1 << 20, 1 << 24])), 9))
        elif chunk[1]:
            damage(chunk[1], random, 64)
    out = data[:8]
    for name, body in chunks:
        out += struct.pack(">I", len(body)) + name + bytes(body) + struct.pack(">I", zlib.crc32(name + bytes(body)))
        if len(out) > 8 << 20:
            break
    return out


def made_picture(random):
    """A small PNG, BMP or PNM with a header of any numbers and a body that may fit it."""
    width, height = random.choice([1, 2, 17, 300, 5000, 40000, 1 << 20]), random.choice([1, 3, 40, 300, 5000, 40000])
    body = random.randbytes(min(4 * width * height, 1 << 16)) if random.random() < 0.7 else bytes(1 << 16)
    kind = random.choice(["png", "bmp", "pnm"])
    if kind == "pnm":
        number = random.choice("123456")
        return f"P{number} {width} {height} {random.choice([1, 7, 255, 65535, 0])}\n".encode() + body, ".ppm"
    if kind == "bmp":
        head = struct.pack("<IiiHHIIiiII", random.choice([12, 40, 52, 56, 108, 124]), width, random.choice([-1, 1]) * height, 1,
                           random.choice([1, 2, 4, 8, 16, 24, 32]), random.choice([0, 1, 2, 3, 6]), 0, 0, 0,
                           random.choice([0, 2, 256, 1 << 20]), 0)
        return b"BM" + struct.pack("<IHHI", 54 + len(body), 0, 0, random.choice([54, 26, 66, 1078])) + head + body, ".bmp"
    colors = random.choice([0, 2, 3, 4, 6])
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, random.choice([1, 2, 4, 8, 16]), colors, 0, 0, random.choice([0, 1])))]
    if colors == 3 or random.random() < 0.1:
        chunks.append((b"PLTE", random.randbytes(3 * random.choice([1, 2, 256]))))
    if random.random() < 0.3:
        chunks.append((random.choice([b"tRNS", b"gAMA", b"iCCP", b"zTXt", b"sBIT", b"eXIf"]), random.randbytes(random.randrange(64))))
    chunks.append((b"IDAT", zlib.compress(body)))
    chunks.append((b"IEND", b""))
    parts = [struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts), ".png"


# MARK: What lies behind a model

def archive(random):
    """A zip of labels and metadata whose headers say something else."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", random.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as files:
        count = random.choice([1, 1, 2, 3, 3, 200])
        for _ in range(count):
            name = random.choice(["labels.txt", "labelmap.txt", "temp_meta.txt", "metadata.json", "../x", "a/" * 200, "", "\u202e\x1b[2J"])
            if count > 3:
                contents = b"cat"
            elif random.random() < 0.1:
                # More than the limit of decompressed bytes.
                contents = bytes(random.choice([1 << 20, 40 << 20]))
            else:
                contents = random.choice([labels, export])(random)
            try:
                with warnings.catch_warnings(action="ignore"):
                    files.writestr(name, contents)
            except (ValueError, IndexError):
                continue
    data = bytearray(target.getvalue())
    marks = [place for mark in (b"PK\1\2", b"PK\3\4", b"PK\5\6") for place in places(data, mark)]
    for _ in range(random.choice([0, 1, 1, 2, 4])):
        if not marks:
            break
        place = random.choice(marks) + 4 + 2 * random.randrange(20)
        width = random.choice([2, 4])
        if place + width <= len(data):
            value = random.choice(EDGES + [len(data), len(data) - 1])
            data[place:place + width] = (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")
    if random.random() < 0.2:
        damage(data, random)
    return bytes(data)


def places(data, mark):
    found, place = [], data.find(mark)
    while place >= 0 and len(found) < 100:
        found.append(place)
        place = data.find(mark, place + 1)
    return found


def export(random):
    """Metadata of a YOLO exporter, as JSON or as a literal of Python, nested or long."""
    value = random.choice(["1e999", "-1", "null", "None", "[" * random.choice([3, 100, 100_000]), '"' + "x" * 100_000 + '"', "1" * 5000,
                           "{" * 1000, "true", "[1,2,3]", '"\\ud800"', "9223372036854775808"])
    key = random.choice(["task", "imgsz", "names", "kpt_shape", "args", "end2end", "stride", "nms", "x" * 1000])
    rest = '"task": "detect", "imgsz": [64, 64], "names": {"0": "a", "1": "b"}, "stride": 32'
    text = "{" + rest + f', "{key}": {value}' + "}"
    if random.random() < 0.3:
        text = text.replace('"', "'").replace("true", "True").replace("null", "None")
    return text.encode(errors="surrogatepass") if random.random() < 0.8 else damaged(text.encode(errors="surrogatepass"), random)


# MARK: Small formats

WHOLE_IDS = [str(number) for number in range(100)]
IDS = WHOLE_IDS + 16 * ["-1", "99999999999999999999", "1e9", "0x1", "", " "]


def labels(random):
    """A label file in some format, with ids and lengths that are none."""
    kind = random.randrange(7)
    # Long files are drawn at once: one by one, drawing them takes more time than reading them.
    ids = iter(())
    def number():
        nonlocal ids
        while (found := next(ids, None)) is None:
            ids = iter(random.choices(random.choice([IDS, IDS, WHOLE_IDS]), k=min(lines, 4096)))
        return found
    text = lambda: random.choice(["cat", "", "x" * random.choice([10, 5000, 200_000]), "\x1b[2J", "\u202eabc", "\ud800", ",", ":", "\"", "\t\t"])
    lines = random.choice([1, 3, 90, 1000, 100_000])
    if kind == 0:
        body = "\n".join(text() if lines < 100 else "cat" for _ in range(lines))
    elif kind == 1:
        body = "\n".join(f"{number()} {text() if lines < 100 else 'cat'}" for _ in range(lines))
    elif kind == 2:
        body = "id,name\n" + "\n".join(f"{number()},{text() if lines < 100 else 'cat'}" for _ in range(lines))
    elif kind == 3:
        body = "names:\n" + "\n".join(f"  {number()}: {text() if lines < 100 else 'cat'}" for _ in range(lines))
    elif kind == 4:
        body = "".join(f'item {{\n id: {number()}\n name: "{text() if lines < 100 else "cat"}"\n}}\n' for _ in range(lines))
    elif kind == 5:
        body = "item {" * random.choice([1, 100, 100_000])
    else:
        body = "[" * random.choice([1, 100, 100_000]) + '"a"'
    data = body.encode(errors="surrogatepass")
    if random.random() < 0.2:
        data = random.choice([b"\xff\xfe", b"\xef\xbb\xbf", b"\0"]) + data
    return data if random.random() < 0.7 else damaged(data, random)


def array(random, contents=None):
    """A NumPy array whose head says what its body is not."""
    if contents is not None and random.random() < 0.4:
        return damaged(contents, random, 128)
    kind = random.choice(["<f4", ">f4", "|u1", "|i1", "<i4", "<i8", "|b1", "<f2", "<f8", "<c8", "|O", "<U4", "|S0", "f4", "", "<f99", "V16"])
    sizes = [random.choice([0, 1, 2, 3, 4, 8, 64, 1000, 1 << 20, 1 << 31, 1 << 62, 1 << 63, 10 ** 30, -1]) for _ in range(random.choice([0, 1, 2, 4, 33]))]
    shape = random.choice([repr(tuple(sizes)), repr(sizes), "()", "(", "1", "(1,", "(((1,),),)", "None"]) if random.random() < 0.4 else repr(tuple(sizes))
    order = random.choice(["False", "False", "True", "0", "None"])
    head = f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}"
    if random.random() < 0.2:
        head = random.choice([head * 2, head[:-5], head + " " * 70_000, "{" * 5000, head.replace("'descr'", "'x'")])
    version = random.choice([1, 1, 1, 2, 3, 0, 9])
    encoded = head.encode() + b"\n"
    length = random.choice([len(encoded)] * 5 + [0, 65535, len(encoded) + 1])
    size = struct.pack("<H", length & 0xFFFF) if version < 2 else struct.pack("<I", random.choice([length, length, (1 << 32) - 1]))
    body = bytes(random.choice([0, 1, 16, 64, 4096, 1 << 20]))
    return b"\x93NUMPY" + bytes([version, 0]) + size + encoded + body


# What a gallery's file begins with.
GALLERY_MARK = b"ApusGallery1\n"


def gallery(random):
    """Names with embeddings, as `apus gallery` writes them, with counts that lie; the checksum mostly holds."""
    width = random.choice([8, 8, 8, 0, 1, 512])
    values = [0.0, 1.0, -1.0, float("nan"), float("inf"), 1e38, 1e-45]
    entries = []
    for _ in range(random.choice([0, 1, 3, 3, 1000])):
        name = random.choice([b"a", b"bc", b"", b"\xff\xfe", b"\x1b[2J", b"x" * 5000])
        length = random.choice([len(name)] * 9 + EDGES)
        entries.append(struct.pack("<I", length) + name + struct.pack(f"<{width}f", *(random.choice(values) for _ in range(width))))
    data = bytearray(GALLERY_MARK + struct.pack("<II", random.choice([width] * 9 + EDGES), random.choice([len(entries)] * 9 + EDGES)) + b"".join(entries))
    if random.random() < 0.4:
        damage(data, random)
    checksum = zlib.crc32(bytes(data)) if random.random() < 0.9 else random.randrange(1 << 32)
    return bytes(data) + struct.pack("<I", checksum)


def filter_chain(random):
    """A chain of filters with any parameters."""
    number = lambda: random.choice(["0", "1", "2", "0.7", "1e9", "1e308", "-1", "nan", "inf", "9223372036854775807", "", "16", "4096"])
    one = lambda: random.choice([f"prewitt:{number()}", f"sobel:{number()}:luminance", f"erosion:{number()}", f"dilation:{number()}",
                                 f"closing:{number()}", "invert", f"gaussian:{number()}", "", "x", ":", f"gaussian:{number()}:{number()}"])
    return ",".join(one() for _ in range(random.choice([1, 1, 2, 5, 5000])))
