# SPDX-License-Identifier: Apache-2.0
"""Runs the wheels pymicro-wakeword and pyopen-wakeword as they are, with their own library and with Apus' in its place.

    python3 -m venv wheels && wheels/bin/pip install pymicro-wakeword pyopen-wakeword
    wheels/bin/python Bindings/Python/tests/wake_words.py out/lib/libtensorflowlite_c.so

Both hear four seconds of a rising tone with noise. Their own library has optimized kernels: probabilities of bytes may differ by one step.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGES = ("pymicro_wakeword", "pyopen_wakeword")


def sound():
    import numpy as np

    times = np.arange(64_000) / 16_000
    noise = np.random.default_rng(5).normal(0, 900, times.size)
    return (noise + 8000 * np.sin(2 * np.pi * (200 + 300 * times) * times)).astype(np.int16).tobytes()


def hear():
    """Prints the probabilities of both packages."""
    from pymicro_wakeword import MicroWakeWord, MicroWakeWordFeatures
    from pymicro_wakeword import Model as MicroModel
    from pyopen_wakeword import Model as OpenModel
    from pyopen_wakeword import OpenWakeWord, OpenWakeWordFeatures

    samples, found = sound(), []
    word = MicroWakeWord.from_builtin(MicroModel.OKAY_NABU)
    for features in MicroWakeWordFeatures().process_streaming(samples):
        word.process_streaming(features)
        found += [float(value) for value in list(word._probabilities)[-1:]]
    opened = OpenWakeWord.from_builtin(OpenModel.OKAY_NABU)
    heard = [
        float(value) for features in OpenWakeWordFeatures.from_builtin().process_streaming(samples)
        for value in opened.process_streaming(features)
    ]
    print(json.dumps([found, heard]))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--hear":
        return hear()
    import pymicro_wakeword

    site = Path(pymicro_wakeword.__file__).parent.parent
    with tempfile.TemporaryDirectory() as folder:
        for package in PACKAGES:
            shutil.copytree(site / package, Path(folder) / package)
            shutil.copy(sys.argv[1], Path(folder) / package / "lib" / "libtensorflowlite_c.so")
        runs = [
            json.loads(subprocess.run(
                [sys.executable, __file__, "--hear"], env={"PYTHONPATH": path}, check=True, capture_output=True, text=True
            ).stdout.splitlines()[-1]) for path in ("", folder)
        ]
    for name, step, own, other in zip(PACKAGES, (1 / 256, 1e-6), *runs):
        worst = max(abs(one - two) for one, two in zip(own, other, strict=True))
        print(f"{name}: {len(own)} probabilities, the largest difference is {worst:.3g}")
        if not own or worst > step:
            sys.exit(f"error: {name} differs by more than {step:.3g}")


if __name__ == "__main__":
    main()
