#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the tests, programs and pages that Docs/Seeds.md names exist."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main():
    page = (ROOT / "Docs/Seeds.md").read_text()
    suites = {}
    for path in ROOT.glob("Tests/*/**/*Tests.swift"):
        suites.setdefault(path.stem, []).append(path.read_text())
    names = re.findall(r"`(\w+Tests)(?:\.(\w+))?`", page)
    missing = [f"{suite}.{test}" for suite, test in names
               if not any(not test or f"func {test}(" in text for text in suites.get(suite, []))]
    links = re.findall(r"\]\(([^)#]+)", page)
    missing += [link for link in links if not (ROOT / "Docs" / link).exists()]
    for name in missing:
        print(f"error: Docs/Seeds.md names {name}, which is not there", file=sys.stderr)
    print(f"{len(names)} tests and {len(links)} links, {len(missing)} of them missing")
    return 1 if missing or not names else 0


if __name__ == "__main__":
    sys.exit(main())
