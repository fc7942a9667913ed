#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the public API of a module, as its symbol graph has it: types in order of their names, members below them.

    Tools/api.py Apus.symbols.json [Apus@Swift.symbols.json …] > Docs/API/Apus.txt
"""

import json
import sys

# Conformances that every such type has, or that others bring along.
IMPLIED = {"Copyable", "Escapable", "BitwiseCopyable", "SendableMetatype"}

TYPES = {"swift.class", "swift.struct", "swift.enum", "swift.protocol", "swift.typealias"}


def declaration(symbol):
    text = "".join(fragment["spelling"] for fragment in symbol["declarationFragments"])
    return " ".join(text.split())


def main(paths):
    symbols, conformances = {}, {}
    for path in paths:
        with open(path) as file:
            graph = json.load(file)
        for symbol in graph["symbols"]:
            symbols[symbol["identifier"]["precise"]] = symbol
        for relation in graph["relationships"]:
            name = relation.get("targetFallback", "").split(".", 1)[-1]
            if relation["kind"] == "conformsTo" and name not in IMPLIED:
                conformances.setdefault(relation["source"], set()).add((relation["target"], name))
    types = {tuple(s["pathComponents"]) for s in symbols.values() if s["kind"]["identifier"] in TYPES}
    lines = set()
    for identifier, symbol in symbols.items():
        path = symbol["pathComponents"]
        text = declaration(symbol)
        if symbol["kind"]["identifier"] == "swift.extension":
            continue
        names = sorted(
            name or ".".join(symbols[target]["pathComponents"])
            for target, name in conformances.get(identifier, ()) if name or target in symbols)
        if names and symbol["kind"]["identifier"] != "swift.protocol":
            text += " : " + ", ".join(names)
        if symbol.get("availability"):
            if any(entry.get("isUnconditionallyDeprecated") for entry in symbol["availability"]):
                text += "  // deprecated"
        is_type = tuple(path) in types
        owner = tuple(path if is_type else path[:-1])
        if owner and owner not in types:  # of another module
            lines.add((owner, False, "", "extension " + ".".join(owner)))
        # A type comes before its members, and they before the types within it.
        lines.add((owner, not is_type, path[-1], "  " * (len(path) - 1) + text))
    for *_, line in sorted(lines):
        print(line)


if __name__ == "__main__":
    main(sys.argv[1:])
