# SPDX-License-Identifier: Apache-2.0
"""The archive of graphs that have failed: `Tests/Goldens/GRAPHS.zip`."""

import io
import json
import pathlib
import zipfile

import numpy as np

from archive import npy_bytes
from random_graphs.answers import GraphReference

ARCHIVE = pathlib.Path(__file__).resolve().parents[3] / "Tests/Goldens/GRAPHS.zip"


def keep(folder, name):
    """Adds a failing graph to the archive, with what the reference answers to each set of data.

    `folder` is where the driver has left it; `name` begins with an element type and says what is special.
    """
    sets = [arrays(folder, "input_")]
    while (folder / f"set_{len(sets)}_input_0.npy").exists():
        sets.append(arrays(folder, f"set_{len(sets)}_input_"))
    facts = json.loads((folder / "facts.json").read_text())
    contents = (folder / "model.tflite").read_bytes()
    reference = GraphReference()
    answers = reference.run(contents, sets[:2], facts["is_mixed"], facts["has_state"])
    reference.close()
    files = {"model.tflite": contents}
    # A model with state is run once: its second answer is not that of its second set alone.
    for number, (values, outputs) in enumerate(zip(sets[:1] if facts["has_state"] else sets[:2], answers)):
        prefix = f"set_{number}_" if number else ""
        for kind, found in (("input", values), ("output", outputs)):
            files |= {f"{prefix}{kind}_{index}.npy": npy_bytes(array) for index, array in enumerate(found)}
    files["listing.txt"] = (folder / "listing.txt").read_bytes()
    write({**kept(), name: files})


def arrays(folder, prefix):
    found = []
    while (folder / f"{prefix}{len(found)}.npy").exists():
        found.append(np.load(io.BytesIO((folder / f"{prefix}{len(found)}.npy").read_bytes())))
    return found


def kept():
    """What the archive holds: for each case its files."""
    cases = {}
    if ARCHIVE.exists():
        with zipfile.ZipFile(ARCHIVE) as archive:
            for entry in archive.namelist():
                case, name = entry.split("/", 1)
                cases.setdefault(case, {})[name] = archive.read(entry)
    return cases


def write(cases):
    """Writes a zip file whose bytes depend on nothing but the cases."""
    with zipfile.ZipFile(ARCHIVE, "w") as archive:
        for case in sorted(cases):
            for name, contents in cases[case].items():
                entry = zipfile.ZipInfo(f"{case}/{name}", date_time=(1980, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system = 3
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, contents, compresslevel=9)
