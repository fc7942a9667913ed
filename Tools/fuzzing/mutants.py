#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs damaged models, pictures, labels, arrays and galleries through every command of `apus` that takes files.

A command may answer or fail with one line and a status from 1 to 64, within a time and an address space. A signal, a hang
or another status is a finding, whose files and command are kept.
"""

import argparse
import collections
import os
import pathlib
import random as randoms
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor

from structure import Structure

TASKS = ["detect", "classify", "embed", "faces", "segment", "keypoints"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--apus", required=True, help="the executable")
    parser.add_argument("--data", help="a folder with models/, images/ and labels/")
    parser.add_argument("--goldens", default=str(pathlib.Path(__file__).parents[2] / "Tests/Goldens"))
    parser.add_argument("--kept", default="findings", help="where the files of findings go")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--gibibytes", type=float, default=2)
    parser.add_argument("--what", default="models,goldens,pictures,others")
    arguments = parser.parse_args()
    runner = Runner(arguments)
    began = time.monotonic()
    # Processes are started from threads: `preexec_fn` would not be safe, so that a shell sets the limit.
    with ThreadPoolExecutor(arguments.jobs) as threads:
        pending = collections.deque()
        for number in range(arguments.count):
            if time.monotonic() - began > 60 * arguments.minutes:
                break
            pending.append(threads.submit(runner.one, number))
            if len(pending) > 4 * arguments.jobs:
                pending.popleft().result()
            if number % 1000 == 999:
                print(runner.summary(time.monotonic() - began), flush=True)
        for job in pending:
            job.result()
    print(runner.summary(time.monotonic() - began))
    sys.exit(1 if runner.findings else 0)


class Runner:
    def __init__(self, arguments):
        self.arguments = arguments
        self.kinds = arguments.what.split(",")
        self.counts = collections.Counter()
        self.findings = 0
        self.slowest = (0.0, "")
        self.structures = {}
        self.model_files = [] if not arguments.data else sorted(pathlib.Path(arguments.data, "models").glob("*.tflite"))
        self.images = [] if not arguments.data else sorted(pathlib.Path(arguments.data, "images").iterdir())
        self.labels = [] if not arguments.data else sorted(pathlib.Path(arguments.data, "labels").iterdir())
        self.archives = sorted(pathlib.Path(arguments.goldens).glob("*.zip"))

    def summary(self, seconds):
        return (f"{sum(self.counts.values())} commands in {seconds:.0f} s: "
                + ", ".join(f"{count} {name}" for name, count in sorted(self.counts.items()))
                + f"; slowest {self.slowest[0]:.1f} s: {self.slowest[1]}")

    def one(self, number):
        random = randoms.Random(f"{self.arguments.seed}/{number}")
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            kind = random.choice(self.kinds)
            for command in getattr(self, kind)(random, folder):
                self.run(command, folder, f"{self.arguments.seed}-{number}-{kind}")

    def run(self, command, folder, name):
        limit = int(self.arguments.gibibytes * (1 << 20))
        began = time.monotonic()
        process = subprocess.Popen(
            ["bash", "-c", f'ulimit -v {limit} -c 0; exec "$0" "$@"', self.arguments.apus, *command], cwd=folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env={**os.environ, "SWIFT_BACKTRACE": "enable=no"})
        try:
            _, errors = process.communicate(timeout=self.arguments.seconds)
            status = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            _, errors = process.communicate()
            status = "hang"
        seconds = time.monotonic() - began
        text = errors.decode(errors="replace")
        if seconds > self.slowest[0]:
            self.slowest = (seconds, f"{name} {' '.join(command[:2])} {text[:150].strip()}")
        lines = [line for line in text.splitlines() if line]
        isFine = status == 0 or (
            status != "hang" and 1 <= status <= 64 and lines and all(line.startswith("error: ") for line in lines))
        self.counts["answered" if status == 0 else "refused" if isFine else "FOUND"] += 1
        if not isFine:
            self.findings += 1
            kept = pathlib.Path(self.arguments.kept, f"{name}-{command[0]}")
            shutil.copytree(folder, kept, dirs_exist_ok=True)
            (kept / "command.txt").write_text(f"{' '.join(command)}\n{status}\n{text}")
            print(f"FOUND {kept}: {status}: {' '.join(command)}: {text[:300]}", flush=True)

    # What is damaged, and by which commands it is read.

    def models(self, random, folder):
        # Small models are tried more often: they take less time.
        weights = [1 / (1 << 18 | path.stat().st_size) for path in self.model_files]
        path = random.choices(self.model_files, weights)[0]
        (folder / "m.tflite").write_bytes(self.mutant(str(path), path.read_bytes(), random))
        yield from self.commands(random, folder)

    def goldens(self, random, folder):
        archive = random.choice(self.archives)
        with zipfile.ZipFile(archive) as contents:
            name = random.choice([name for name in contents.namelist() if name.endswith(".tflite")])
            model = contents.read(name)
        (folder / "m.tflite").write_bytes(self.mutant(f"{archive.name}/{name}", model, random))
        yield ["run", "m.tflite", "--output-dir", "out"]
        if random.random() < 0.2:
            yield ["inspect", "m.tflite", "--plan", "--all"]

    def commands(self, random, folder):
        yield ["run", "m.tflite", "--output-dir", "out", "--threads", random.choice(["1", "2", "4"])]
        choice = random.choice(TASKS + ["inspect", "inspect", "as", "compare", "gallery"])
        image = str(random.choice(self.images)) if self.images else "missing.png"
        if choice == "inspect":
            yield ["inspect", "m.tflite", random.choice(["--plan", "--all", "--json"])]
        elif choice == "as":
            task = random.choice(["detector", "classifier", "embedder", "segmenter", "keypoints", "faces"])
            yield ["inspect", "m.tflite", "--as", task]
        elif choice == "compare":
            yield ["compare", image, image, "--model", "m.tflite"]
        elif choice == "gallery":
            yield ["gallery", "add", "name", image, "--gallery", "g.gallery", "--model", "m.tflite"]
        else:
            extra = {"detect": ["--json"], "classify": ["--top", "3"], "embed": ["--json"], "faces": ["--json"],
                     "segment": ["--output", "mask.png"], "keypoints": ["--json"]}[choice]
            yield [choice, image, "--model", "m.tflite", *extra]

    def pictures(self, random, folder):
        path = random.choice(self.images)
        data = bytearray(path.read_bytes() if random.random() < 0.5 else made_picture(random))
        if random.random() < 0.8:
            damage(data, random, first=min(len(data), 4096))
        name = f"p{path.suffix}"
        (folder / name).write_bytes(data)
        yield ["detect", name, "--annotate", "out.png"]

    def others(self, random, folder):
        kind = random.choice(["labels", "npy", "gallery"])
        if kind == "labels":
            data = bytearray(random.choice(self.labels).read_bytes())
            damage(data, random)
            (folder / "l.txt").write_bytes(data)
            yield ["detect", "--labels", "l.txt", str(random.choice(self.images))]
        elif kind == "npy":
            archive = random.choice(self.archives)
            with zipfile.ZipFile(archive) as contents:
                case = random.choice([name for name in contents.namelist() if name.endswith(".tflite")]).rsplit("/")[0]
                inputs = sorted(n for n in contents.namelist() if n.startswith(f"{case}/input_"))
                (folder / "m.tflite").write_bytes(contents.read(f"{case}/model.tflite"))
                command = ["run", "m.tflite", "--output-dir", "out"]
                for position, name in enumerate(inputs):
                    data = bytearray(contents.read(name))
                    damage(data, random, first=min(len(data), 128))
                    (folder / f"i{position}.npy").write_bytes(data)
                    command += ["--input", f"i{position}.npy"]
            yield command
        else:
            (folder / "g.gallery").write_bytes(gallery(random))
            yield ["gallery", "list", "--gallery", "g.gallery"]

    def mutant(self, name, contents, random):
        if random.random() < 0.35:
            data = bytearray(contents)
            damage(data, random)
            return bytes(data)
        if name not in self.structures:
            if len(self.structures) > 400:
                self.structures.clear()
            self.structures[name] = Structure(contents)
        try:
            data, _ = self.structures[name].mutant(random, random.choice([1, 1, 2, 3, 5]))
        except Exception:  # What the schema's own writer cannot write.
            data = bytearray(contents)
            damage(data, random)
        return bytes(data)


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


def made_picture(random):
    """A small PNG, BMP or PNM with a header of any numbers and a body that may fit it."""
    width, height = random.choice([1, 2, 17, 300, 5000, 40000, 1 << 20]), random.choice([1, 3, 40, 300, 5000, 40000])
    body = random.randbytes(min(4 * width * height, 1 << 16)) if random.random() < 0.7 else bytes(1 << 16)
    kind = random.choice(["png", "bmp", "pnm"])
    if kind == "pnm":
        number = random.choice("123456")
        return f"P{number} {width} {height} {random.choice([1, 7, 255, 65535, 0])}\n".encode() + body
    if kind == "bmp":
        head = struct.pack("<IiiHHIIiiII", random.choice([12, 40, 52, 56, 108, 124]), width, random.choice([-1, 1]) * height, 1,
                           random.choice([1, 2, 4, 8, 16, 24, 32]), random.choice([0, 1, 2, 3, 6]), 0, 0, 0,
                           random.choice([0, 2, 256, 1 << 20]), 0)
        return b"BM" + struct.pack("<IHHI", 54 + len(body), 0, 0, random.choice([54, 26, 66, 1078])) + head + body
    colors = random.choice([0, 2, 3, 4, 6])
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, random.choice([1, 2, 4, 8, 16]), colors, 0, 0, random.choice([0, 1])))]
    if colors == 3 or random.random() < 0.1:
        chunks.append((b"PLTE", random.randbytes(3 * random.choice([1, 2, 256]))))
    if random.random() < 0.3:
        chunks.append((random.choice([b"tRNS", b"gAMA", b"iCCP", b"zTXt", b"sBIT", b"eXIf"]), random.randbytes(random.randrange(64))))
    chunks.append((b"IDAT", zlib.compress(body)))
    chunks.append((b"IEND", b""))
    parts = [struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def gallery(random):
    """Three names with embeddings of eight numbers, as `apus gallery` writes them, damaged; the checksum mostly holds."""
    entries = b"".join(struct.pack("<I", len(name)) + name + struct.pack("<8f", *range(8)) for name in (b"a", b"bc", b"d"))
    data = bytearray(GALLERY_MARK + struct.pack("<II", 8, 3) + entries)
    damage(data, random)
    checksum = zlib.crc32(bytes(data)) if random.random() < 0.9 else random.randrange(1 << 32)
    return bytes(data) + struct.pack("<I", checksum)


# What a gallery's file begins with.
GALLERY_MARK = b"ApusGallery1\n"

if __name__ == "__main__":
    main()
