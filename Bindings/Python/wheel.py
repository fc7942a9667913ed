# SPDX-License-Identifier: Apache-2.0
"""Packs the package and the C library as a wheel: wheel.py VERSION LIBRARY FOLDER."""

import base64
import hashlib
import pathlib
import platform
import re
import subprocess
import sys
import zipfile

SUMMARY = "Runs .tflite models exactly and fast: the Interpreter of tflite_runtime and ai_edge_litert, on Apus"


def main(version, library, folder):
    here = pathlib.Path(__file__).parent
    # The oldest C library of Linux that has every function which the library needs.
    symbols = subprocess.run(["objdump", "-T", library], check=True, capture_output=True, text=True).stdout
    oldest = max(tuple(map(int, v)) for v in re.findall(r"GLIBC_(\d+)\.(\d+)", symbols))
    tag = "py3-none-manylinux_%d_%d_%s" % (*oldest, platform.machine())
    information = "apus_tflite-%s.dist-info" % version
    files = {"apus_tflite/" + p.name: p.read_bytes() for p in sorted((here / "apus_tflite").glob("*.py"))}
    files["apus_tflite/libtensorflowlite_c.so"] = pathlib.Path(library).read_bytes()
    files[information + "/LICENSE.txt"] = (here.parents[1] / "LICENSE.txt").read_bytes()
    files[information + "/METADATA"] = (
        "Metadata-Version: 2.1\nName: apus-tflite\nVersion: %s\nSummary: %s\nLicense: Apache-2.0\n"
        "Requires-Python: >=3.8\nRequires-Dist: numpy\n" % (version, SUMMARY)
    ).encode()
    files[information + "/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: apus\nRoot-Is-Purelib: false\nTag: %s\n" % tag
    ).encode()
    record = information + "/RECORD"
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append("%s,sha256=%s,%d\n" % (name, digest, len(data)))
    files[record] = "".join(lines + [record + ",,\n"]).encode()
    path = pathlib.Path(folder) / ("apus_tflite-%s-%s.whl" % (version, tag))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            # A fixed date, so that the same files are the same wheel.
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, data)
    print("Built", path)


if __name__ == "__main__":
    main(*sys.argv[1:])
