# SPDX-License-Identifier: Apache-2.0
"""Goldens: a model, its inputs, and what the reference answers; stored as deterministic zip files."""

import io
import zipfile
from dataclasses import dataclass

import numpy as np

from draw import Draw
from reference import Rejected


@dataclass(frozen=True)
class Golden:
    name: str
    model: bytes
    inputs: list
    outputs: list

    def files(self):
        """The names and contents by which a golden is stored."""
        yield "model.tflite", self.model
        for kind, arrays in (("input", self.inputs), ("output", self.outputs)):
            for index, array in enumerate(arrays):
                yield f"{kind}_{index}.npy", npy_bytes(array)

    def save(self, folder):
        """Writes the golden as loose files."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, contents in self.files():
            (folder / name).write_bytes(contents)


def materialize(operator, type_name, index, references, **options):
    """Draws a case and asks the reference for its outputs; throws `Rejected` where it has none.

    The model runs twice: first without and then with the shapes of its outputs declared, in processes
    whose fresh memory differs. Answers that differ come from memory that nobody wrote: such a case has no
    definite answer. A model that brings its answer, where the reference lacks the operator, is not run.
    """
    draw = Draw(operator.name, type_name, index, **options)
    model = operator.case(draw)
    model.set_version(operator.version(type_name))
    if model.answer is not None:
        model.set_output_shapes([output.shape for output in model.answer])
        return Golden(draw.name, model.bytes(), model.inputs, model.answer)
    first = model.defined(references.first.run(model.bytes(), model.inputs, model.optimized))
    model.set_output_shapes([output.shape for output in first])
    contents = model.bytes()
    outputs = model.defined(references.second.run(contents, model.inputs, model.optimized))
    if [o.tobytes() for o in first] != [o.tobytes() for o in outputs]:
        raise Rejected("the answer varies")
    return Golden(draw.name, contents, model.inputs, outputs)


def write_archive(path, goldens):
    """Writes a zip file whose bytes depend on nothing but the goldens."""
    with zipfile.ZipFile(path, "w") as archive:
        for golden in goldens:
            for name, contents in golden.files():
                entry = zipfile.ZipInfo(f"{golden.name}/{name}", date_time=(1980, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system = 3
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, contents, compresslevel=9)


def npy_bytes(array):
    if array.dtype.name == "bfloat16":
        array = array.view("V2")  # the format has no name for it
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(array).reshape(array.shape), version=(1, 0))
    return stream.getvalue()
