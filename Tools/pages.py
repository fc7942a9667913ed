#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the documentation tells people to open and to run.

    Tools/pages.py              links lead to files, headings and symbols that are there; commands name files that are there
    Tools/pages.py --run BIN    the commands of apus are run too, those of its help as well; BIN is the folder of the programs

Commands run in a scratch folder. Files of the reader's own, such as street.jpg or yolo11n.tflite, have stand-ins from Examples.
"""

import argparse
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("Docs/*.md"), *ROOT.glob("[A-Z]*/README.md"), *ROOT.glob("[A-Z]*/*/README.md"),
         *ROOT.glob("Sources/*/*.docc/**/*.md")]

MODELS = {
    "detect.tflite": "squares-yolo", "yolo11n.tflite": "squares-yolo", "MODEL": "squares-yolo", "mobilenet.tflite": "color-classifier",
    "flowers.tflite": "color-classifier", "deeplabv3.tflite": "colors", "selfie.tflite": "colors", "facenet.tflite": "embedder",
    "embedder.tflite": "embedder", "blazeface.tflite": "faces", "face_detection_short_range.tflite": "faces",
    "movenet.tflite": "marked-joints", "yolo11n-pose.tflite": "marked-joints", "model.tflite": "embedder",
    "style.tflite": "sepia", "depth.tflite": "sepia", "yamnet.tflite": "ear", "birds.tflite": "ear",
    "int8.tflite": "embedder", "float.tflite": "embedder", "deeplab.tflite": "colors", "autoencoder.tflite": "sepia",
    "kws.tflite": "color-classifier",
}
PICTURES = {
    "street": "squares", "bird": "sunset", "picture": "squares", "photos/one": "squares", "photos/two": "figure", "hidden": "hidden",
    "team": "group", "party": "group", "grace1": "ada", "grace2": "ada", "one": "ada", "two": "bo", "first": "ada", "second": "bo",
    "dancer": "figure", "other": "bo", "face": "ada",
}
TEXTS = {"labelmap.txt": "red\ngreen\nblue\n", "labels.txt": "grey\nwarm\ncool\ngreen\n", "birds.txt": "robin\nwren\n"}
TEXTS["det.txt"] = "1,-1,10,10,20,40,0.9\n2,-1,11,10,20,40,0.9\n"
# What nothing in the project can stand for: MediaPipe's models and cameras. Such a command must say that it cannot open them.
WITHOUT_STAND_IN = re.compile(r"\.task\b|\b(palm|hand|mesh|person|pose)\.tflite|/dev/video|rtsp://")
SOUNDS = ["street.wav", "recordings/dawn.wav"]
# Words of a synopsis: they stand for something, or may be left out.
SYNOPSIS = re.compile(r"\[--|…|\$train")

failures = 0


def fail(place, text):
    global failures
    failures += 1
    print(f"error: {place}: {text}", file=sys.stderr)


# MARK: Links


def anchors(page):
    """The names by which a page's headings are linked."""
    found = set()
    for line in without_code(page.read_text()).splitlines():
        if line.startswith("#"):
            title = re.sub(r"[`*]", "", line.lstrip("#").strip()).lower()
            found.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return found


def without_code(text):
    """The same lines, those between fences empty."""
    return re.sub(r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)


def check_links(page):
    text = without_code(page.read_text())
    for match in re.finditer(r"\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"", text):
        target = match[1] or match[2]
        if re.match(r"https?:|mailto:|doc:", target):
            continue
        place = f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}"
        path, _, heading = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            fail(place, f"{target} is not there")
        elif heading and file.suffix == ".md" and heading not in anchors(file):
            fail(place, f"{path or page.name} has no heading {heading}")


# MARK: Commands


def check_symbols(page):
    """Links of a guide to symbols begin with a public type or function of its module, as DocC resolves them from there."""
    if page.parent.name != "Guides":
        return
    module = page.relative_to(ROOT / "Sources").parts[0]
    words = set(re.findall(r"\w+", (ROOT / f"Docs/API/{module}.txt").read_text())) | {module}
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for link in re.findall(r"``([^`]+)``", line):
            names = [re.match(r"\w*", part)[0] for part in link.split("/")]
            if not names[0][:1].isupper() or not words.issuperset(names):
                fail(f"{page.relative_to(ROOT)}:{number}", f"the link ``{link}`` is none to a public type or its member in Docs/API/{module}.txt")


def commands(text):
    """Command lines without comments, a line that goes on joined with the next, and the number of each."""
    for block in re.finditer(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        number, joined = text.count("\n", 0, block.start(1)) + 1, ""
        for line in block[1].splitlines():
            joined += line.rstrip("\\") if line.endswith("\\") else line
            if not line.endswith("\\"):
                command = re.sub(r"(^|\s)#.*", "", joined).strip()
                if command:
                    yield number, command
                joined = ""
            number += 1


def help_commands(apus):
    """The examples in the help of each subcommand."""
    def text(*words):
        return subprocess.run([apus, "help", *words], capture_output=True, text=True, check=True).stdout

    names = re.findall(r"^  ([a-z-]+) +\S", text().partition("SUBCOMMANDS:")[2], re.MULTILINE)
    for name in sorted(set(names) - {"help"}):
        example = re.search(r"For example:\n((?:  .*\n)+)", text(name))
        if example:
            # A backslash at the end of a line, or the width of the help, breaks commands.
            for command in re.split(r"\n\s*(?=apus )", re.sub(r"\\\n\s*", "", example[1]).strip()):
                yield f"apus help {name}", " ".join(command.split())


def check_files(place, command):
    """What a command names below the folders of this repository is there."""
    for word in re.findall(r"(?<![\w./-])(?:Scripts|Tools|Benchmarks|Serving|Examples|Docs)/[\w./-]+", command):
        if not (ROOT / word).exists():
            fail(place, f"{word} is not there")


def is_apus(command):
    return re.match(r"(\.build/release/)?apus(-benchmark)? ", command) and not SYNOPSIS.search(command)


def scratch_folder(folder, apus):
    for name, model in MODELS.items():
        shutil.copy(ROOT / f"Examples/Models/{model}.tflite", folder / name)
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    (folder / "photos").mkdir()
    (folder / "recordings").mkdir()
    samples = struct.pack("<8000h", *(600 * (index % 40 - 20) for index in range(8000)))
    for name in SOUNDS:
        header = b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 16000, 32000, 2, 16) + b"data" + struct.pack("<I", len(samples))
        (folder / name).write_bytes(b"RIFF" + struct.pack("<I", len(header) + len(samples)) + header + samples)
    for name, picture in PICTURES.items():
        source = ROOT / f"Examples/Pictures/{picture}.png"
        for ending in ("png", "jpg"):
            # A chain that changes nothing to speak of.
            subprocess.run([apus, "filter", source, folder / f"{name}.{ending}", "--chain", "dilation:0"], check=True,
                           stdout=subprocess.DEVNULL)
    subprocess.run(["ffmpeg", "-v", "error", "-loop", "1", "-i", folder / "street.png", "-t", "0.4", "-r", "10",
                    "-vf", "scale=320:240", folder / "street.mp4"], check=True, stdin=subprocess.DEVNULL)
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 112, 112, 3), }".ljust(117) + b"\n"
    (folder / "picture.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(4 * 112 * 112 * 3))
    shutil.copy(folder / "picture.npy", folder / "values.npy")
    shutil.copy(folder / "street.mp4", folder / "film.mp4")
    evaluated_folders(folder, apus)
    (folder / "Sources/App").mkdir(parents=True)
    subprocess.run([apus, "run", "model.tflite", "--tensors", "reference"], check=True, cwd=folder, stdout=subprocess.DEVNULL)


def evaluated_folders(folder, apus):
    """Files with their truth."""
    def place(source, *targets):
        for target in targets:
            (folder / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / source, folder / target)

    place("bird.jpg", "flowers/warm/1.jpg")
    place("street.jpg", "flowers/grey/2.jpg", "val2017/street.jpg", "val/1.jpg", "pictures/1.jpg")
    truth = (ROOT / "Examples/References/squares.json").read_text()
    for name, picture in (("instances.json", "1.jpg"), ("instances_val2017.json", "street.jpg")):
        (folder / name).write_text(truth.replace("squares.png", picture))
    (folder / "masks").mkdir()
    subprocess.run([apus, "segment", "street.jpg", "--model", "deeplab.tflite", "--output", "masks/1.png"], check=True, cwd=folder,
                   stdout=subprocess.DEVNULL)
    (folder / "y_labels.csv").write_text("zero.bin,4,0\none.bin,4,1\n")
    for name in ("zero.bin", "one.bin"):
        (folder / name).write_bytes(bytes(64 * 64 * 3))
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (57600,), }".ljust(117) + b"\n"
    (folder / "window.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(4 * 57600))
    place("window.npy", "test/normal/a.npy", "test/anomaly/b.npy")


def run(place, command, folder, programs):
    command = re.sub(r"^\.build/release/", "", command)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    process = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True,
                             stdin=subprocess.DEVNULL)
    if process.returncode == 1 and WITHOUT_STAND_IN.search(command) and re.search("cannot (open|read)|not among the model's labels", process.stderr):
        return
    if process.returncode:
        fail(place, f"{command}: status {process.returncode}, {process.stderr.strip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path, metavar="BIN", help="the folder of the programs")
    programs = parser.parse_args().run
    found = []
    for page in sorted(set(PAGES)):
        check_links(page)
        check_symbols(page)
        for number, command in commands(page.read_text()):
            place = f"{page.relative_to(ROOT)}:{number}"
            check_files(place, command)
            shlex.split(command.replace("…", ""))
            found.append((place, command))
    print(f"{len(set(PAGES))} pages, {len(found)} commands")
    if programs:
        programs = programs.resolve()
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            scratch_folder(folder, programs / "apus")
            ours = [(place, command) for place, command in found if is_apus(command)]
            ours += help_commands(programs / "apus")
            for place, command in ours:
                run(place, command, folder, programs)
        print(f"{len(ours)} commands were run")
    print(f"{failures} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
