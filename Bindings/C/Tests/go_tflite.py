# SPDX-License-Identifier: Apache-2.0
"""Builds and runs go-tflite's own tests and its examples, unedited, and repeats each run of theirs in LiteRT's reference kernels.

    go_tflite.py GO-TFLITE GOPATH LIBRARY RECORDER

GO-TFLITE is a copy of github.com/mattn/go-tflite, GOPATH folders whose src has the packages that the examples import, LIBRARY what
Scripts/c-library.sh wrote, RECORDER the compiled record.h (with what is preloaded before it, after which there is a colon). Outputs of integers
must be equal, floats within 1e-4 of the output's range. Beyond that, floats must on average differ by no more than twice what LiteRT's own
output moves when its inputs change by a millionth: quantized activations make steps of the last bits of sums. An example whose packages, headers
or model are not there is listed with the reason. Needs ai_edge_litert.
"""

import base64
import itertools
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import ai_edge_litert.interpreter as litert
import numpy as np

PACKAGE = "github.com/mattn/go-tflite"
TYPES = {1: np.float32, 2: np.int32, 3: np.uint8, 4: np.int64, 6: np.bool_, 7: np.int16, 9: np.int8, 10: np.float16}
# What an example is given, if it is not run once without arguments: lines of arguments, or text for its standard input.
ARGUMENTS = {
    "mnist": [["-f", f"{digit}.png"] for digit in range(10)],
    "segment": [[], ["-clip"]],
    "qa": [["-f", "content.txt", "-q", "What is it?"]],
}
INPUT = {"text_classification": "What a wonderful film!\nIt is terrible, and too long.\n\n"}
# A model in APUS_TEST_DATA for an example that takes any of a kind, where its own is not there.
OTHER_MODELS = {"label_image": ["mobilenet_v2_1.0_224_quant.tflite", "mobilenet_v1_0.25_224_1_metadata_1.tflite"]}


class Skipped(Exception):
    """Why an example is not run."""


def build(folder, binary, environment):
    built = subprocess.run(["go", "build", "-o", binary, "."], cwd=folder, env=environment, capture_output=True, text=True)
    if built.returncode == 0:
        return
    for pattern, kind in ((r'cannot find package "([^"]+)"', "package"), (r"fatal error: ([^:]+): No such file", "header")):
        missing = sorted(set(re.findall(pattern, built.stderr)))
        if missing:
            raise Skipped(f"there is no {kind} {', '.join(missing)}")
    sys.exit(f"error: {folder.name} does not build:\n{built.stderr}")


def commands(folder):
    """The lines of arguments to run an example with."""
    for model in sorted(set(re.findall(r'"([\w.-]+\.tflite)"', (folder / "main.go").read_text()))):
        if not (folder / model).exists():
            others = [Path(os.environ.get("APUS_TEST_DATA", "/nowhere")) / "models" / name for name in OTHER_MODELS.get(folder.name, [])]
            others = [str(path) for path in others if path.exists()]
            if not others:
                raise Skipped(f"there is no model {model}")
            return [["-model", path] for path in others]
    return ARGUMENTS.get(folder.name, [[]])


def run(folder, binary, environment, records):
    """Runs an example with each line of arguments. It must write something."""
    written = 0
    for number, arguments in enumerate(commands(folder)):
        (records / str(number)).mkdir()
        recorded = {**environment, "APUS_RECORD": str(records / str(number))}
        ended = subprocess.run(
            [binary, *arguments], cwd=folder, env=recorded, input=INPUT.get(folder.name, ""), capture_output=True, text=True, timeout=600)
        if ended.returncode:
            sys.exit(f"error: {folder.name} {arguments} ended with {ended.returncode}:\n{ended.stdout[-2000:]}{ended.stderr[-4000:]}")
        written += len(ended.stdout + ended.stderr) + sum(path.stat().st_size for path in folder.glob("output*"))
    if not written:
        sys.exit(f"error: {folder.name} wrote nothing")


def ask(folder, binary, environment, records):
    """Runs the example that is a server: it is sent the pictures of the example mnist, as its page does."""
    commands(folder)
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", 8080)) == 0:
            raise Skipped("port 8080, which it listens to, is taken")
    (records / "0").mkdir()
    recorded = {**environment, "APUS_RECORD": str(records / "0")}
    server = subprocess.Popen([binary], cwd=folder, env=recorded, stderr=subprocess.DEVNULL)
    try:
        for picture in sorted((folder.parent / "mnist").glob("[0-9].png")):
            url = b"data:image/png;base64," + base64.b64encode(picture.read_bytes())
            for attempt in itertools.count():
                try:
                    answer = urllib.request.urlopen(urllib.request.Request("http://127.0.0.1:8080/picture", url), timeout=60).read()
                    break
                except urllib.error.URLError:
                    if attempt == 100 or server.poll() is not None:
                        raise
                    time.sleep(0.1)
            if not re.fullmatch(rb"[0-9]", answer):
                sys.exit(f"error: {folder.name} answered {answer!r}")
    finally:
        server.kill()
        server.wait()


class Recording:
    """The runs that record.h wrote."""

    def __init__(self, folder):
        self.folder = folder
        self.bytes = (folder / "runs").read_bytes() if (folder / "runs").exists() else b""
        self.position = 0

    def read(self, form):
        values = struct.unpack_from(form, self.bytes, self.position)
        self.position += struct.calcsize(form)
        return values

    def tensor(self):
        kind, rank = self.read("<2i")
        shape = self.read(f"<{rank}i")
        (size,) = self.read("<Q")
        self.position += size
        return np.frombuffer(self.bytes[self.position - size:self.position], TYPES[kind]).reshape(shape)

    def runs(self):
        """Models with inputs and outputs."""
        while self.position < len(self.bytes):
            model, inputs, outputs = self.read("<3i")
            yield model, [self.tensor() for _ in range(inputs)], [self.tensor() for _ in range(outputs)]


def repeat(interpreter, inputs):
    for detail, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


def difference(one, other):
    """The largest and the mean difference of floats, to the range of the second."""
    extent = max(float(np.abs(other).max(initial=0)), 1e-6)
    differences = np.abs(one - other) / extent
    return float(differences.max(initial=0)), float(differences.mean()) if differences.size else 0.0


def compare(name, folder):
    """Repeats the runs of a process in LiteRT. Returns their number and the largest difference to the output's range."""
    interpreters, count, largest = {}, 0, 0.0
    for model, inputs, outputs in Recording(folder).runs():
        if model not in interpreters:
            interpreters[model] = litert.Interpreter(
                str(folder / f"model-{model}.tflite"), experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF)
        reference = interpreters[model]
        for detail, value in zip(reference.get_input_details(), inputs, strict=True):
            if tuple(detail["shape"]) != value.shape:
                reference.resize_tensor_input(detail["index"], value.shape)
        reference.allocate_tensors()
        expected = repeat(reference, inputs)
        for place, (mine, theirs) in enumerate(zip(outputs, expected, strict=True)):
            if mine.dtype != theirs.dtype or mine.shape != theirs.shape:
                sys.exit(f"error: {name}: {mine.dtype} {mine.shape}, not {theirs.dtype} {theirs.shape}")
            if theirs.dtype.kind != "f":
                if not np.array_equal(mine, theirs):
                    sys.exit(f"error: {name}: run {count} differs in {(mine != theirs).sum()} of {theirs.size} values")
                continue
            worst, mean = difference(mine, theirs)
            if not worst <= 1e-4:
                moved = [value * np.float32(1 + 1e-6) if value.dtype == np.float32 else value for value in inputs]
                _, own = difference(repeat(reference, moved)[place], theirs)
                if not mean <= 2 * own:
                    sys.exit(f"error: {name}: run {count} differs by {worst:g} of the range, {mean:g} on average")
                print(f"{name}: run {count} differs by {mean:.1g} of the range on average, LiteRT from itself by {own:.1g}")
                continue
            largest = max(largest, worst)
        count += 1
    return count, largest


def main(source, paths, library, recorder):
    with tempfile.TemporaryDirectory() as work:
        package = Path(work) / "src" / PACKAGE
        shutil.copytree(source, package, ignore=shutil.ignore_patterns(".git"))
        environment = {
            **os.environ, "GO111MODULE": "off", "GOFLAGS": "", "GOPATH": f"{work}:{paths}", "GOCACHE": f"{work}/cache",
            "CGO_CFLAGS": f"-I{library}/include", "CGO_LDFLAGS": f"-L{library}/lib", "LD_LIBRARY_PATH": f"{library}/lib"}
        preloaded = recorder.rpartition(":")[0]
        subprocess.run(["go", "test", "-exec", f"env LD_PRELOAD={preloaded}", "."], cwd=package, env=environment, check=True)
        # The example that contains its model has it made by TensorFlow; the tests have a copy.
        if not (package / "_example/xor_embedded/xor_model.tflite").exists():
            shutil.copy(package / "testdata/xor_model.tflite", package / "_example/xor_embedded")
        passed = total = skipped = 0
        for folder in sorted(path.parent for path in package.glob("_example/*/main.go")):
            name, binary, records = folder.name, Path(work) / folder.name, Path(work) / f"{folder.name}-records"
            records.mkdir()
            try:
                build(folder, binary, environment)
                (ask if name == "mnist_reader" else run)(folder, binary, {**environment, "LD_PRELOAD": recorder}, records)
            except Skipped as reason:
                skipped += 1
                print(f"skipped: {name}: {reason}")
                continue
            compared = [compare(name, record) for record in sorted(records.iterdir())]
            if not all(count for count, _ in compared):
                sys.exit(f"error: {name} ran no model")
            count, largest = sum(count for count, _ in compared), max(difference for _, difference in compared)
            print(f"{name}: {count} runs as in LiteRT, floats within {largest:.1g} of the range", flush=True)
            passed, total = passed + 1, total + count
    if not passed:
        sys.exit("error: no example was run")
    print(f"{passed} examples with {total} runs passed, {skipped} skipped")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
