#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the compiler does not: each target declares what it imports, each operator's type has a file of its name, and
bodies marked `@inlinable` can be compiled into other modules."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMPORT = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|private)\s+)?import\s+"
    r"(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w+)",
    re.MULTILINE,
)
LINE = re.compile(r"\b([A-Z]\w+)\.\w+(?:\([^()]*(?:\([^()]*\))?[^()]*\))?\s*$")


def undeclared_imports():
    """Imports of the package's own modules that a target does not declare."""
    package = json.loads(subprocess.check_output(["swift", "package", "--ignore-lock", "dump-package"], cwd=ROOT, text=True))
    targets = package["targets"]
    own = {target["name"] for target in targets}
    for target in targets:
        if target["type"] == "system":
            continue
        declared = set()
        for dependency in target["dependencies"]:
            for kind in ("byName", "target", "product"):
                if kind in dependency:
                    declared.add(dependency[kind][0])
        folder = target.get("path") or ("Tests/" if target["type"] == "test" else "Sources/") + target["name"]
        for file in sorted((ROOT / folder).rglob("*.swift")):
            for module in IMPORT.findall(file.read_text()):
                if module in own | {"ArgumentParser"} and module != target["name"] and module not in declared:
                    yield f"{file.relative_to(ROOT)}: {target['name']} imports {module} without declaring it"


def hidden_operators():
    """Lines of the registry whose type is in a file of another name."""
    operators = ROOT / "Sources/Apus/Operators"
    files = {file.stem for file in operators.rglob("*.swift")}
    registry = (operators / "OperatorRegistry.swift").read_text()
    builtin = re.findall(
        r"case \.(\w+):\s+\.init\((.*?)\)\n(?=    case|    default)", registry, re.DOTALL)
    custom = re.findall(r"\.init\(\s*(custom: \S+),(.*?)\),?\n(?=    \.init|  \])", registry, re.DOTALL)
    if not builtin or not custom:
        yield "OperatorRegistry: no operators found"
    for name, line in builtin + custom:
        found = LINE.findall(line.strip())
        if not found:
            yield f"OperatorRegistry: no type in the line of {name}"
        elif found[-1] not in files:
            yield f"OperatorRegistry: {name} is {found[-1]}, and there is no file {found[-1]}.swift"


TYPE = re.compile(r"^( *)((?:@[\w(]+\)?\s+|[a-z]+\s+)*)(struct|class|enum|protocol|actor|extension)\s+(\w+(?:\.\w+)*)")


def idle_marks():
    """`@inlinable` members of types without `@usableFromInline`: the compiler accepts such a mark, which has no effect."""
    known, members = {}, []
    for file in sorted((ROOT / "Sources").rglob("*.swift")):
        inside = []
        for number, line in enumerate(file.read_text().splitlines(), 1):
            indent = len(line) - len(line.lstrip())
            if line.strip() and not line.lstrip().startswith(("}", ")", "#")):
                inside = [(depth, name) for depth, name in inside if depth < indent]
            if found := TYPE.match(line):
                name = f"{inside[-1][1]}.{found[4]}" if inside else found[4]
                inside.append((indent, name))
                if found[3] != "extension":
                    known[name] = "@usableFromInline" in found[2] or "public" in found[2]
            if "@inlinable" in line and inside:
                members.append((f"{file.relative_to(ROOT)}:{number}", inside[-1][1]))
    for place, name in members:
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            if known.get(".".join(parts[:end])) is False:
                yield f"{place}: @inlinable has no effect, as {'.'.join(parts[:end])} is not @usableFromInline"


complaints = [*undeclared_imports(), *hidden_operators(), *idle_marks()]
print("\n".join(complaints), end="\n" if complaints else "")
sys.exit(1 if complaints else 0)
