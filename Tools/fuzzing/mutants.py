#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs damaged models, pictures, archives, labels, arrays and galleries through every command of `apus` that takes files.

A command may answer or fail with an error, warnings and a status from 1 to 64, within a time and an address space. A signal, a hang
or another status is a finding, whose files and command are kept.
"""

import argparse
import collections
import os
import pathlib
import random as randoms
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import answers
import damage
from structure import Structure

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "goldens"))
from random_graphs.generator import Generator  # noqa: E402
from random_graphs.writer import write  # noqa: E402

TASKS = ["detect", "classify", "embed", "faces", "segment", "keypoints"]
KINDS = ["models", "models", "goldens", "goldens", "graphs", "pictures", "archives", "labels", "arrays", "galleries", "filters", "settings", "hostile"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--apus", required=True, type=os.path.abspath, help="the executable")
    parser.add_argument("--data", help="a folder with models/, images/ and labels/")
    parser.add_argument("--goldens", default=str(pathlib.Path(__file__).parents[2] / "Tests/Goldens"))
    parser.add_argument("--kept", default="findings", help="where the files of findings go")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--gibibytes", type=float, default=2)
    parser.add_argument("--what", default=",".join(KINDS))
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
    for kind, count in sorted(runner.commands_run.items()):
        print(f"{count:7} {kind}")
    print(runner.summary(time.monotonic() - began))
    sys.exit(1 if runner.findings else 0)


class Runner:
    def __init__(self, arguments):
        self.arguments = arguments
        self.kinds = arguments.what.split(",")
        self.counts = collections.Counter()
        self.commands_run = collections.Counter()
        self.findings = 0
        self.slowest = (0.0, "")
        self.structures = {}
        self.model_files = [] if not arguments.data else sorted(pathlib.Path(arguments.data, "models").glob("*.tflite"))
        self.images = [] if not arguments.data else sorted(pathlib.Path(arguments.data, "images").iterdir())
        self.labels_known = [] if not arguments.data else sorted(pathlib.Path(arguments.data, "labels").iterdir())
        self.generator = Generator()
        self.golden_archives = sorted(pathlib.Path(arguments.goldens).glob("*.zip"))

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
        while True:
            try:
                _, errors = process.communicate(timeout=self.arguments.seconds)
                status = process.returncode
                break
            except subprocess.TimeoutExpired:
                # On a busy machine a command may have had hardly any of the time.
                waited = time.monotonic() - began
                if processor_time(process.pid) < self.arguments.seconds / 4 and waited < 10 * self.arguments.seconds:
                    continue
                process.kill()
                _, errors = process.communicate()
                status = "hang"
                break
        seconds = time.monotonic() - began
        text = errors.decode(errors="replace")
        if seconds > self.slowest[0]:
            self.slowest = (seconds, f"{name} {' '.join(command[:2])} {text[:150].strip()}")
        lines = [line for line in text.splitlines() if line]
        isFine = status == 0 or (
            status != "hang" and 1 <= status <= 64 and any(line.startswith("error: ") for line in lines)
            and all(line.startswith(("error: ", "warning: ")) for line in lines))
        self.commands_run[" ".join(command[:2]) if command[0] == "gallery" else command[0]] += 1
        self.counts["answered" if status == 0 else "refused" if isFine else "FOUND"] += 1
        if not isFine:
            self.findings += 1
            kept = pathlib.Path(self.arguments.kept, f"{name}-{command[0]}")
            shutil.copytree(folder, kept, dirs_exist_ok=True)
            (kept / "command.txt").write_text(f"{' '.join(command)}\n{status}\n{text}")
            print(f"FOUND {kept}: {status}: {' '.join(command)}: {text[:300]}", flush=True)

    # What is damaged, and by which commands it is read.

    def model_file(self, random):
        # Small models are tried more often: they take less time.
        weights = [1 / (1 << 18 | path.stat().st_size) for path in self.model_files]
        return random.choices(self.model_files, weights)[0]

    def golden(self, random):
        """The name and the bytes of a model of the goldens."""
        archive = random.choice(self.golden_archives)
        with zipfile.ZipFile(archive) as contents:
            name = random.choice([name for name in contents.namelist() if name.endswith(".tflite")])
            return f"{archive.name}/{name}", contents.read(name)

    def image(self, random):
        return str(random.choice(self.images)) if self.images else "missing.png"

    def models(self, random, folder):
        if not self.model_files:
            yield from self.goldens(random, folder)
            return
        path = self.model_file(random)
        (folder / "m.tflite").write_bytes(self.mutant(str(path), path.read_bytes(), random))
        yield ["run", "m.tflite", "--output-dir", "out", "--threads", random.choice(["1", "2", "4"])]
        yield self.task(random, self.image(random))

    def goldens(self, random, folder):
        (folder / "m.tflite").write_bytes(self.mutant(*self.golden(random), random))
        yield ["run", "m.tflite", "--output-dir", "out", *self.kernels(random)]
        if random.random() < 0.2:
            yield ["inspect", "m.tflite", "--plan", "--all"]

    def graphs(self, random, folder):
        """Whole graphs of many operators, drawn as for the comparison with the reference, then changed."""
        graph = self.generator.draw(self.arguments.seed % (1 << 31), random.randrange(1 << 31))
        (folder / "m.tflite").write_bytes(self.mutant(None, write(graph)[0], random))
        yield ["run", "m.tflite", "--output-dir", "out", "--threads", random.choice(["1", "3"]), *self.kernels(random)]
        if random.random() < 0.1:
            yield self.task(random, self.image(random))

    def kernels(self, random):
        return random.choice([[], [], [], ["--kernels", "portable"]])

    def hostile(self, random, folder):
        """A task with a model of the right shapes and wrong values."""
        task = random.choice(TASKS)
        (folder / "m.tflite").write_bytes(answers.model(task, random))
        command = self.task(random, self.image(random), random.choice([task] * 6 + ["as", "compare", "add", "faces of"]))
        if task in ("detect", "classify", "faces", "keypoints") and command[0] == task and random.random() < 0.5:
            command += [f"--score-threshold={random.choice(['-1', '0', '1e30', '-inf'])}"]
        if command[0] == "detect" and random.random() < 0.3:
            command += random.choice([["--multi-label"], ["--class-agnostic"], ["--max-results", "1000000"]])
        yield command

    def task(self, random, image, choice=None):
        """A command that reads a model, and mostly a picture."""
        choice = choice or random.choice(TASKS + ["inspect", "inspect", "as", "compare", "add", "find", "faces of"])
        if choice == "inspect":
            return ["inspect", "m.tflite", random.choice(["--plan", "--all", "--json"])]
        if choice == "as":
            task = random.choice(["detector", "classifier", "embedder", "segmenter", "keypoints", "faces"])
            return ["inspect", "m.tflite", "--as", task, *random.choice([[], ["--json"]])]
        if choice == "compare":
            return ["compare", image, image, "--model", "m.tflite"]
        if choice == "add":
            return ["gallery", "add", "name", image, "--gallery", "new.gallery", "--model", "m.tflite"]
        if choice == "find":
            return ["gallery", "find", image, "--gallery", "g.gallery", "--model", "m.tflite", "--json"]
        if choice == "faces of":
            return ["gallery", "add", "name", image, "--gallery", "new.gallery", "--model", "m.tflite", "--faces", "m.tflite"]
        extra = {"detect": [["--json"], ["--annotate", "out.png"], ["--layout", random.choice(["ssd", "yolo5", "yolo8", "yolo10-raw",
                                                                                       "yolo-end-to-end", "post-processed"])]],
                 "classify": [["--top", "3"], ["--json"]], "embed": [["--json"], ["--output", "out.npy"]],
                 "faces": [["--json"], ["--align-dir", "faces"], ["--annotate", "out.png"]],
                 "segment": [["--output", "mask.png"], ["--output", "mask.npy"], ["--annotate", "out.png"]],
                 "keypoints": [["--json"], ["--annotate", "out.jpg"]]}[choice]
        return [choice, image, "--model", "m.tflite", *random.choice(extra)]

    def pictures(self, random, folder):
        data, suffix = damage.picture(random, self.images)
        name = f"p{random.choice([suffix] * 5 + ['.jpg', '.png'])}"
        (folder / name).write_bytes(data)
        kind = random.randrange(4)
        if kind == 0:
            yield ["filter", name, f"out{random.choice(['.png', '.jpg', '.ppm'])}", "--chain", random.choice(["invert", "closing:2", "gaussian:1"])]
        elif kind == 1 and self.model_files:
            yield ["classify", name, "--model", str(self.model_file(random)), "--reduced"]
        else:
            yield ["detect", name, *random.choice([["--annotate", "out.png"], ["--json", "--reduced"], ["--annotate-dir", "drawn"]])]

    def archive_behind(self, random, folder):
        model = self.model_file(random).read_bytes() if self.model_files and random.random() < 0.5 else self.golden(random)[1]
        tail = damage.archive(random)
        (folder / "m.tflite").write_bytes(model + tail)

    def archives(self, random, folder):
        self.archive_behind(random, folder)
        yield ["inspect", "m.tflite", random.choice(["--all", "--json"])]
        if random.random() < 0.5:
            yield self.task(random, self.image(random))

    def labels(self, random, folder):
        known = random.choice(self.labels_known).read_bytes() if self.labels_known and random.random() < 0.4 else None
        (folder / "l.txt").write_bytes(damage.labels(random) if known is None else damage.damaged(known, random))
        if self.images and self.model_files and random.random() < 0.3:
            task = random.choice(["classify", "segment"])
            yield [task, "--labels", "l.txt", self.image(random), "--model", str(self.model_file(random))]
        else:
            yield ["detect", "--labels", "l.txt", *([self.image(random)] if self.images else [])]

    def arrays(self, random, folder):
        archive = random.choice(self.golden_archives)
        with zipfile.ZipFile(archive) as contents:
            case = random.choice([name for name in contents.namelist() if name.endswith(".tflite")]).rsplit("/")[0]
            inputs = sorted(n for n in contents.namelist() if n.startswith(f"{case}/input_"))
            (folder / "m.tflite").write_bytes(contents.read(f"{case}/model.tflite"))
            command = ["run", "m.tflite", "--output-dir", "out"]
            for position, name in enumerate(inputs):
                (folder / f"i{position}.npy").write_bytes(damage.array(random, contents.read(name)))
                command += ["--input", f"i{position}.npy"]
        yield command

    def galleries(self, random, folder):
        (folder / "g.gallery").write_bytes(damage.gallery(random))
        kind = random.randrange(4)
        if kind == 0:
            yield ["gallery", "list", "--gallery", "g.gallery", *random.choice([[], ["--json"]])]
        elif kind == 1:
            yield ["gallery", "remove", random.choice(["a", "", "bc", "nobody"]), "--gallery", "g.gallery"]
            yield ["gallery", "list", "--gallery", "g.gallery"]
        elif self.model_files:
            name = random.choice(["add", "find"])
            yield ["gallery", name, *(["a"] if name == "add" else []), self.image(random), "--gallery", "g.gallery", "--model",
                   str(self.model_file(random))]

    def filters(self, random, folder):
        data, suffix = damage.made_picture(random)
        if self.images and random.random() < 0.6:
            data, suffix = (path := random.choice(self.images)).read_bytes(), path.suffix
        (folder / f"p{suffix}").write_bytes(data)
        yield ["filter", f"p{suffix}", f"out{random.choice(['.png', '.jpg', '.ppm', '.gif', ''])}", "--chain", damage.filter_chain(random)]

    def settings(self, random, folder):
        """A whole model with options of any value."""
        (folder / "m.tflite").write_bytes(self.golden(random)[1])
        if self.model_files and random.random() < 0.7:
            shutil.copyfile(self.model_file(random), folder / "m.tflite")
        number = lambda: random.choice(["0", "1", "2", "64", "65", "-1", "nan", "1e-9", "99999999999999999999", "0.5", "", "65536"])
        options = {"--threads": number, "--time-limit": number, "--memory-limit": number, "--input-size": lambda: f"{number()}x{number()}",
                   "--region": lambda: ",".join(number() for _ in range(4)), "--kernels": lambda: random.choice(["portable", "blas", "x"]),
                   "--jobs": number, "--top": number, "--score-threshold": number, "--iou-threshold": number, "--max-results": number,
                   "--fit": lambda: random.choice(["stretch", "letterbox", "center-crop"]), "--k": number,
                   "--resampling": lambda: random.choice(["area", "bilinear", "nearest"]), "--align-size": number}
        command = self.task(random, self.image(random)) if random.random() < 0.7 else ["run", "m.tflite"]
        for name in random.sample(sorted(options), random.choice([1, 1, 2])):
            command += [name + "=" + options[name]()]
        yield command

    def mutant(self, name, contents, random):
        if random.random() < 0.3:
            return damage.damaged(contents, random)
        structure = self.structures.get(name)
        if structure is None:
            if len(self.structures) > 400:
                self.structures.clear()
            structure = Structure(contents)
            if name is not None:
                self.structures[name] = structure
        try:
            data, _ = structure.mutant(random, random.choice([1, 1, 2, 3, 5]))
        except Exception:  # What the schema's own writer cannot write.
            return damage.damaged(contents, random)
        return data if random.random() < 0.9 else data + damage.archive(random)


def processor_time(process):
    """The seconds that a process and its threads had a processor."""
    try:
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")")[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):
        return float("inf")


if __name__ == "__main__":
    main()
