# SPDX-License-Identifier: Apache-2.0
"""Apus as a process that lives long: `GraphProbe`, which runs each graph in many ways."""

import os
import select
import signal
import struct
import subprocess

import numpy as np

_TYPES = {"float32": "<f4", "float16": "<f2", "float64": "<f8", "complex64": "<c8", "complex128": "<c16", "bool": "?"}
ALL_WAYS = ("threads", "preserves", "profiles", "again", "simultaneous", "resizes", "cancels", "limit")


class Died(Exception):
    """The process ended, or gave no answer: a finding."""


class Refused(Exception):
    """Apus does not take the model, and says why."""


class Engine:
    """Talks to a probe; starts it again when it has died, and after so many graphs.

    Pages with generated code are never given back: a process has room for some thousand graphs.
    """

    def __init__(self, executable, timeout=60, graphs=400):
        self._executable = str(executable)
        self._timeout = timeout
        self._graphs = graphs
        self._left = 0
        self._process = None

    def kernel_sets(self):
        return subprocess.run([self._executable, "--kernels"], capture_output=True, text=True, check=True).stdout.split()

    def run(self, model, sets, has_state, kernels, ways, threads):
        """The runs (kernel set, number of the set of data, outputs or a reason), and how ways disagree."""
        return self._outcomes(self._ask(_frame(model, sets, has_state, kernels, ways, threads)))

    def _outcomes(self, reader):
        runs = []
        for _ in range(reader.integer()):
            name, number, count = reader.text(), reader.integer(), reader.integer()
            runs.append((name, number, reader.text() if count < 0 else [reader.output() for _ in range(count)]))
        return runs, [reader.text() for _ in range(reader.integer())]

    def tensors(self, model, sets, kernels):
        """What tensors of the main subgraph hold after a run of a kernel set with the first set, by their indices."""
        reader = self._ask(_frame(model, sets, False, [kernels], ["tensors"], []))
        return {reader.integer(): reader.output() for _ in range(reader.integer())}

    def rows(self, model, sets, kernels):
        """What came of rows of a batch together and alone, by kernel sets: proved, refuted, or why there is no proof."""
        reader = self._ask(_frame(model, sets, False, kernels, ["rows"], []))
        return {reader.text(): reader.text() for _ in range(reader.integer())}

    def sequence(self, model, runs, has_state, kernels, ways, threads):
        """As `run`, for runs one after the other; their numbers are their positions."""
        sets = [arrays for _, arrays in runs]
        keys = [key for key, _ in runs] if any(key is not None for key, _ in runs) else []
        # Runs of the same data are the same set.
        first = {}
        order = [first.setdefault((key, tuple(map(id, arrays))), place) for place, (key, arrays) in enumerate(runs)]
        return self._outcomes(self._ask(_frame(model, sets, has_state, kernels, ways, threads, order, keys)))

    def limits(self, model, inputs, kernels, limits):
        """Why, and how long and how far beyond its limits, a preparation and a run went on; in seconds and bytes."""
        reader = self._ask(_frame(model, [inputs], False, [kernels], ["limits"], [], limits=limits))
        phases = []
        for _ in range(reader.integer()):
            reason, wall, _, late, grown = reader.text(), *(reader.integer() for _ in range(4))
            phases.append({"reason": reason, "wall": wall / 1e6, "late": late / 1e6, "grown": grown << 10})
        return phases

    def close(self):
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _ask(self, frame):
        if self._process is None or self._left == 0:
            self.close()
            self._process = subprocess.Popen([self._executable], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env={**os.environ, "SWIFT_BACKTRACE": "enable=no"})
            self._left = self._graphs
        self._left -= 1
        try:
            self._process.stdin.write(struct.pack("<I", len(frame)) + frame)
            self._process.stdin.flush()
            count = struct.unpack("<I", self._read(4))[0]
            reader = _Reader(self._read(count))
        except (BrokenPipeError, EOFError):
            status = self._process.wait()
            self._process = None
            name = signal.Signals(-status).name if status < 0 else f"status {status}"
            raise Died(f"died of {name}") from None
        status = reader.integer()
        if status == 1:
            raise Refused(reader.text())
        return reader

    def _read(self, count):
        parts = bytearray()
        while len(parts) < count:
            if not select.select([self._process.stdout], [], [], self._timeout)[0]:
                self.close()
                raise Died("no answer in time")
            part = self._process.stdout.read1(count - len(parts))
            if not part:
                raise EOFError
            parts += part
        return bytes(parts)


def _frame(model, sets, has_state, kernels, ways, threads, order=(), keys=(), limits=()):
    parts = [struct.pack("<I", len(model)), model, struct.pack("<I", has_state)]
    for texts in (kernels, ways):
        parts.append(struct.pack("<I", len(texts)))
        for text in texts:
            parts.append(struct.pack("<I", len(text)) + text.encode())
    parts.append(struct.pack(f"<{1 + len(threads)}I", len(threads), *threads))
    parts.append(struct.pack("<I", len(sets)))
    for arrays in sets:
        parts.append(struct.pack("<I", len(arrays)))
        for array in arrays:
            contents = array.tobytes()
            parts.append(struct.pack(f"<{array.ndim + 2}I", array.ndim, *array.shape, len(contents)) + contents)
    parts.append(struct.pack(f"<{1 + len(order)}I", len(order), *order))
    parts.append(struct.pack("<I", len(keys)))
    for key in keys:
        parts.append(struct.pack("<I", len(key)) + key.encode())
    parts.append(struct.pack(f"<{1 + len(limits)}I", bool(limits), *limits))
    return b"".join(parts)


class _Reader:
    def __init__(self, contents):
        self._contents = contents
        self._position = 0

    def integer(self):
        self._position += 4
        return struct.unpack_from("<i", self._contents, self._position - 4)[0]

    def bytes(self):
        count = self.integer()
        self._position += count
        return self._contents[self._position - count:self._position]

    def text(self):
        return self.bytes().decode()

    def output(self):
        name = self.text()
        shape = [self.integer() for _ in range(self.integer())]
        contents = self.bytes()
        try:
            return np.frombuffer(contents, _TYPES.get(name, name)).reshape(shape)
        except (ValueError, TypeError):
            raise Died(f"an output of {shape} {name} has {len(contents)} bytes") from None
