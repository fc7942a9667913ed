#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a software bill of materials in the form of SPDX 2.3, and checks the licences of everything in it.

    Tools/sbom.py PACKAGE_FOLDER [--output FILE]

PACKAGE_FOLDER is the root or a nested package, such as Serving; it must be resolved (`swift package resolve`). The bill lists what
its programs contain or load: Swift packages at their resolved revisions, with their notices; the Swift runtime; system libraries. Times are
those of the commit, so that two bills of one commit are equal. The status is 1 if a licence is unknown or not accepted.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Licences that may be distributed with programs under the Apache License 2.0; LGPL only for libraries that are loaded.
ACCEPTED = {
    "Apache-2.0",
    "Apache-2.0 WITH Swift-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "IJG AND BSD-3-Clause AND Zlib",
    "ISC",
    "LGPL-2.0-or-later",
    "LGPL-2.1-only OR MPL-1.1",
    "MIT",
    "Zlib",
    "libpng-2.0",
}

# Libraries of the system, by the name that pkg-config has for them. No file on the system states an SPDX expression.
SYSTEM = {
    "cairo": ("LGPL-2.1-only OR MPL-1.1", "https://www.cairographics.org"),
    "libpng": ("libpng-2.0", "http://www.libpng.org/pub/png/libpng.html"),
    "libturbojpeg": ("IJG AND BSD-3-Clause AND Zlib", "https://libjpeg-turbo.org"),
    "libwebp": ("BSD-3-Clause", "https://developers.google.com/speed/webp"),
    "libwebpdecoder": ("BSD-3-Clause", "https://developers.google.com/speed/webp"),
    "pango": ("LGPL-2.0-or-later", "https://pango.gnome.org"),
    "pangocairo": ("LGPL-2.0-or-later", "https://pango.gnome.org"),
    "fontconfig": ("MIT", "https://www.fontconfig.org"),
    "zlib": ("Zlib", "https://zlib.net"),
}


def output_of(*command, folder=ROOT):
    return subprocess.check_output(command, cwd=folder, text=True).strip()


def manifest(folder):
    """What a package declares. A build folder of its own, since a build that is going on has locked the other."""
    with tempfile.TemporaryDirectory() as scratch:
        return json.loads(output_of("swift", "package", "--scratch-path", scratch, "dump-package", folder=folder))


def licence_of(text):
    """The SPDX expression of a licence's text; None if it is not one that this program knows."""
    text = re.sub(r"\s+", " ", text)
    if "Apache License Version 2.0" in text:
        return "Apache-2.0 WITH Swift-exception" if "Runtime Library Exception" in text else "Apache-2.0"
    if "Permission is hereby granted, free of charge" in text:
        return "MIT"
    if "Permission to use, copy, modify, and/or distribute this software" in text:
        return "ISC"
    if "Redistribution and use in source and binary forms" in text:
        return "BSD-3-Clause" if "Neither the name" in text else "BSD-2-Clause"
    return None


def element(name, version, licence, place, **more):
    identifier = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"Package-{name}")
    return {
        "SPDXID": identifier,
        "name": name,
        "versionInfo": version,
        "downloadLocation": place,
        "filesAnalyzed": False,
        "licenseConcluded": licence or "NOASSERTION",
        "licenseDeclared": licence or "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "supplier": "NOASSERTION",
        **more,
    }


def swift_packages(folder):
    """The resolved packages that products of the folder's package link, each with the text of its notices."""
    resolved = folder / "Package.resolved"
    if not resolved.exists():
        sys.exit(f"error: {resolved} is missing: run 'swift package resolve' in {folder}")
    for pin in sorted(json.loads(resolved.read_text())["pins"], key=lambda pin: pin["identity"]):
        name, state = pin["identity"], pin["state"]
        checkout = folder / ".build" / "checkouts" / name
        found = sorted(path for path in checkout.glob("LICENSE*") if path.is_file())
        licence = licence_of(found[0].read_text(errors="replace")) if found else None
        notices = [path.read_text(errors="replace").strip() for path in sorted(checkout.glob("NOTICE*")) if path.is_file()]
        place = pin["location"].removesuffix(".git")
        yield element(
            name,
            state.get("version", state["revision"]),
            licence,
            f"git+{place}@{state['revision']}",
            **({"attributionTexts": notices} if notices else {}),
        )


def system_libraries(folders):
    """The libraries that the system must have: those of system targets, and OpenBLAS, which is loaded if it is there."""
    names = set()
    for folder in folders:
        for target in manifest(folder)["targets"]:
            if target["type"] == "system" and target.get("pkgConfig"):
                names.add(target["pkgConfig"])
    for name in sorted(names):
        licence, place = SYSTEM.get(name, (None, "NOASSERTION"))
        yield element(name, output_of("pkg-config", "--modversion", name), licence, place, comment="linked dynamically")
    yield element(
        "openblas", "NOASSERTION", "BSD-3-Clause", "https://www.openblas.net",
        comment="optional: loaded at run time where generated code cannot run",
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=Path)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    folder = arguments.package.resolve()

    version = output_of("Scripts/version.sh")
    commit = output_of("git", "rev-parse", "HEAD")
    time = output_of("git", "show", "-s", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%cd", "HEAD")
    name = manifest(folder)["name"]
    swift = re.search(r"Swift version (\S+)", output_of("swift", "--version")).group(1)

    own = element(name, version, "Apache-2.0", "NOASSERTION", comment=f"built from commit {commit}")
    parts = [
        *swift_packages(folder),
        element(
            "swift-runtime", swift, "Apache-2.0 WITH Swift-exception", "https://github.com/swiftlang/swift",
            comment="the standard library, Foundation and Dispatch, linked into released programs",
        ),
        *system_libraries({ROOT, folder}),
    ]
    digest = hashlib.sha256(json.dumps([own, parts], sort_keys=True).encode()).hexdigest()
    bill = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{name}-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{version}-{digest[:32]}",
        "creationInfo": {"created": time, "creators": ["Tool: Tools/sbom.py"]},
        "packages": [own, *parts],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own["SPDXID"]},
            *(
                {"spdxElementId": own["SPDXID"], "relationshipType": "DEPENDS_ON", "relatedSpdxElement": part["SPDXID"]}
                for part in parts
            ),
        ],
    }
    text = json.dumps(bill, indent=2, ensure_ascii=False) + "\n"
    if arguments.output:
        arguments.output.write_text(text)
    else:
        sys.stdout.write(text)

    wrong = [part for part in parts if part["licenseConcluded"] not in ACCEPTED]
    for part in wrong:
        print(f"error: {part['name']} has the licence {part['licenseConcluded']}, which Tools/sbom.py does not accept", file=sys.stderr)
    print(f"{name} {version}: {len(parts)} parts, {len(wrong)} with a licence that is not accepted", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
