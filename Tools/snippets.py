#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each Swift snippet of a page is a part of code that is built: for the guides, of a program in Examples, which
is run too; for README and Docs, of such a program or of a library.

Indentation and blank lines may differ. A snippet with "…" is a sketch and is not looked at, nor are mistakes that a page warns of.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Their Swift is what not to write.
OF_MISTAKES = {"SampleMistakes.md"}


def lines(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def contains(program, snippet):
    return any(program[i : i + len(snippet)] == snippet for i in range(len(program) - len(snippet) + 1))


def main():
    programs = [lines(path.read_text()) for path in sorted(ROOT.glob("Examples/Sources/*/*.swift"))]
    libraries = [lines(path.read_text()) for path in sorted(ROOT.glob("Sources/**/*.swift"))]
    count = failures = 0
    for page in [*sorted(ROOT.glob("Sources/*/*.docc/**/*.md")), ROOT / "README.md", *sorted(ROOT.glob("Docs/*.md"))]:
        if page.name in OF_MISTAKES:
            continue
        code = programs if ".docc" in str(page) else programs + libraries
        text = page.read_text()
        for match in re.finditer(r"^```swift\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            if "…" in match[1]:
                continue
            count += 1
            if not any(contains(program, lines(match[1])) for program in code):
                failures += 1
                place = f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}"
                print(f"error: {place}: this snippet is in no program of Examples", file=sys.stderr)
    print(f"{count} snippets, {failures} of them in no program")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
