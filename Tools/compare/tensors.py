#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares every tensor of models with LiteRT's reference kernels, through `apus diff`.

LiteRT keeps all tensors (`experimental_preserve_all_tensors`); they are dumped as .npy files, which are the reference. With
`--golden FILE`, one model and its dump are written as a golden of ApusTestingTests instead.
"""

import argparse
import base64
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

INTEGERS = {np.int8: 127, np.uint8: 255, np.int16: 2000}


def dump(model, folder, seed):
    """Runs a model on random values and writes its inputs and all tensors that LiteRT can read."""
    random = np.random.default_rng(seed)
    interpreter = Interpreter(
        model_content=model, experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True)
    interpreter.allocate_tensors()
    for position, detail in enumerate(interpreter.get_input_details()):
        shape, dtype = detail["shape"], detail["dtype"]
        if dtype in INTEGERS:
            values = random.integers(np.iinfo(dtype).min // 2, INTEGERS[dtype], shape).astype(dtype)
        else:
            values = random.uniform(-1, 1, shape).astype(dtype)
        np.save(folder / f"input_{position}.npy", values)
        interpreter.set_tensor(detail["index"], values)
    interpreter.invoke()
    count = 0
    for detail in interpreter.get_tensor_details():
        try:
            values = interpreter.get_tensor(detail["index"])
        except ValueError:
            continue  # an operator's scratch memory
        if values.dtype.kind in "fiubc":
            np.save(folder / f"tensor_{detail['index']}.npy", values)
            count += 1
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--apus", type=pathlib.Path, help="the executable")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tolerance", type=float, help="for all tensors, in place of the defaults")
    parser.add_argument("--golden", type=pathlib.Path, help="write a golden of one model")
    arguments = parser.parse_args()
    if arguments.golden:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            records = []
            for path in arguments.models:
                for file in folder.iterdir():
                    file.unlink()
                model = path.read_bytes()
                dump(model, folder, arguments.seed)
                files = {file.stem: base64.b64encode(file.read_bytes()).decode() for file in sorted(folder.iterdir())
                         if file.stat().st_size <= 1 << 16}
                records.append({"name": path.stem, "model": base64.b64encode(model).decode(), "files": files})
        arguments.golden.write_text(json.dumps(records, indent=1) + "\n")
        return 0
    if not arguments.apus:
        parser.error("--apus is missing")
    failures = 0
    for path in arguments.models:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            try:
                count = dump(path.read_bytes(), folder, arguments.seed)
            except (RuntimeError, ValueError) as error:
                print(f"{path.name}: LiteRT refuses it: {str(error).splitlines()[0]}")
                continue
            command = [arguments.apus, "diff", path, folder, "--json", "--time-limit", "0"]
            if arguments.tolerance is not None:
                command += ["--tolerance", str(arguments.tolerance)]
            answer = subprocess.run(command, capture_output=True, text=True)
            if answer.returncode == 0:
                report = json.loads(answer.stdout)
                print(f"{path.name}: {len(report['tensors'])} tensors agree, {len(report['uncompared'])} of LiteRT's {count} have no partner")
            else:
                failures += 1
                first = json.loads(answer.stdout)["first"] if answer.stdout else answer.stderr.strip()
                print(f"{path.name}: {first}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
