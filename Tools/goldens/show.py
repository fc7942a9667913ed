#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints goldens as text: the numbers of their inputs and outputs, and a digest of their models.

    Tools/goldens/show.py Tests/Goldens/CONV_2D.zip [CASE] [--apus .build/release/apus]

With APUS, each model is described by `apus inspect`. Git shows changed archives in this way after

    git config diff.golden.textconv Tools/goldens/show.py
"""

import argparse
import hashlib
import io
import pathlib
import signal
import subprocess
import sys
import tempfile
import zipfile

import numpy as np


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=pathlib.Path)
    parser.add_argument("case", nargs="?")
    parser.add_argument("--apus", type=pathlib.Path)
    arguments = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    np.set_printoptions(threshold=sys.maxsize, linewidth=120, floatmode="unique")
    with zipfile.ZipFile(arguments.archive) as archive:
        names = archive.namelist()
        cases = list(dict.fromkeys(name.partition("/")[0] for name in names))
        if arguments.case and arguments.case not in cases:
            sys.exit(f"error: {arguments.archive} has no case {arguments.case}, only: {', '.join(cases)}")
        for case in [arguments.case] if arguments.case else cases:
            print(f"== {case}")
            for name in (name for name in names if name.startswith(f"{case}/")):
                contents = archive.read(name)
                if name.endswith(".npy"):
                    array = np.load(io.BytesIO(contents))
                    print(f"{name.partition('/')[2]}: {array.dtype} {list(array.shape)}\n{array}")
                else:
                    print(f"{name.partition('/')[2]}: {len(contents)} bytes, SHA-256 {hashlib.sha256(contents).hexdigest()}")
                    if arguments.apus:
                        print(inspected(arguments.apus, contents))


def inspected(apus, model):
    with tempfile.NamedTemporaryFile(suffix=".tflite") as file:
        file.write(model)
        file.flush()
        result = subprocess.run([apus, "inspect", file.name], capture_output=True, text=True)
        return (result.stdout or result.stderr).replace(file.name, "model.tflite").strip()


if __name__ == "__main__":
    main()
