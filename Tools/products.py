#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says what a consumer of each library gets, and fails if it is more than it asked for.

    Tools/products.py            the targets that are built, and the packages that are resolved
    Tools/products.py --sizes    builds a program that imports the library, too: the libraries that it is linked to, and its size
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURES = {"CTurboJPEG", "CPNG", "CCairo", "ApusImages"}
# What a consumer of a product must not get.
REFUSED = {
    "Apus": {"ApusVision", "ApusShapes", "ApusPixels", "ApusTracking", *PICTURES},
    "TensorFlowLite": {"ApusVision", "ApusShapes", *PICTURES},
    "ApusVision": {"ApusShapes", *PICTURES},
    "ApusTracking": {"Apus", "ApusVision", *PICTURES},
    # Many cameras give JPEG files.
    "ApusVideo": {"ApusShapes"},
    "ApusImages": {"ApusShapes"},
    "ApusShapes": PICTURES,
}
# No library has them, for they are for tests, or for the command line.
NEVER = {"TestSupport", "ReferenceKernels", "AllocationProbe", "GraphProbe", "FaultProbe", "ApusConsole", "ApusCLI"}

MANIFEST = """// swift-tools-version: 6.2
import PackageDescription
let package = Package(
  name: "consumer", platforms: [.macOS(.v15)], dependencies: [.package(name: "apus", path: "{root}")],
  targets: [.executableTarget(name: "consumer", dependencies: [.product(name: "{product}", package: "apus")])])
"""


def run(*words, folder=ROOT):
    return subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True).stdout


def closure(names, targets):
    found, waiting = [], list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.append(name)
            waiting += targets[name].get("target_dependencies", [])
    return sorted(found)


def built(product):
    """The size of a program that imports a library, and what it is linked to."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "Sources" / "consumer").mkdir(parents=True)
        (folder / "Package.swift").write_text(MANIFEST.format(root=ROOT, product=product))
        (folder / "Sources" / "consumer" / "main.swift").write_text(f"import {product}\n")
        run("swift", "build", "-c", "release", "--quiet", folder=folder)
        program = Path(run("swift", "build", "-c", "release", "--show-bin-path", folder=folder).strip()) / "consumer"
        linked = [line.split()[0] for line in run("ldd", str(program)).splitlines() if "=>" in line]
        named = [name for name in linked if not name.startswith(("libswift", "lib_", "libc.", "libm.", "libstdc", "libgcc", "ld-"))]
        return program.stat().st_size, named


def main():
    description = json.loads(run("swift", "package", "describe", "--type", "json"))
    targets = {target["name"]: target for target in description["targets"]}
    packages = [entry["identity"] for entry in description["dependencies"]]
    failed = False
    for product in description["products"]:
        name = product["name"]
        if "library" not in product["type"]:
            continue
        names = closure(product["targets"], targets)
        print(f"{name}: builds {', '.join(names)}; resolves {', '.join(packages)}, and builds none of it")
        for extra in sorted((REFUSED.get(name, set()) | NEVER) & set(names)):
            print(f"error: who asks for {name} gets {extra}, too", file=sys.stderr)
            failed = True
        uses = sorted({used for target in names for used in targets[target].get("product_dependencies", [])})
        if uses:
            print(f"error: {name} builds {', '.join(uses)} of other packages", file=sys.stderr)
            failed = True
        if "--sizes" in sys.argv[1:]:
            size, linked = built(name)
            print(f"    {size / 1e6:.1f} MB, linked to {', '.join(linked) or 'nothing but Swift and the C library'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
