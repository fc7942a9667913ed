# SPDX-License-Identifier: Apache-2.0
"""Runs models in Apus, through its command line."""

import pathlib
import signal
import subprocess
import tempfile

import numpy as np

from archive import npy_bytes


class Failed(Exception):
    """Apus refused a model (an answer), or died of a signal (a bug)."""


class Apus:
    def __init__(self, executable, threads=1, kernels=None, timeout=300):
        self._arguments = ["--threads", str(threads)] + (["--kernels", kernels] if kernels else [])
        self._executable = str(pathlib.Path(executable).resolve())
        self._timeout = timeout

    def run(self, model, inputs):
        """The outputs of a model, given its bytes or path, on `inputs`."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            if isinstance(model, bytes):
                path = folder / "model.tflite"
                path.write_bytes(model)
                model = path
            command = [self._executable, "run", str(model), *self._arguments]
            for index, values in enumerate(inputs):
                values = values.astype(np.float32) if values.dtype.name == "bfloat16" else values
                path = folder / f"input_{index}.npy"
                is_brain_float = values.dtype.name == "bfloat16"
                path.write_bytes(npy_bytes(values.astype(np.float32) if is_brain_float else values))
                command += ["--input", str(path)]
            self._execute([*command, "--output-dir", str(folder / "outputs")])
            return _outputs(folder / "outputs")

    def _execute(self, command):
        try:
            finished = subprocess.run(command, capture_output=True, text=True, timeout=self._timeout)
        except subprocess.TimeoutExpired:
            raise Failed("no answer in time") from None
        if finished.returncode < 0:
            raise Failed(f"died of {signal.Signals(-finished.returncode).name}")
        if finished.returncode:
            lines = finished.stderr.strip().splitlines() or ["no message"]
            raise Failed(f"status {finished.returncode}: {lines[-1]}")


def _outputs(folder):
    count = len(list(folder.glob("output_*.npy")))
    return [np.load(folder / f"output_{index}.npy") for index in range(count)]
