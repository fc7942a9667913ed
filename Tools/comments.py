#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refuses comments in Swift code that cannot be read alone, that avoid the field's words, or that describe some of a function's parameters.

Quick Help shows a comment without its neighbors, and a reader from another engine knows M, N, K, tile, block, panel, K-step and
epilogue, but not our words for them. Each rule below has a pattern and the advice that is printed. A public function's comment describes
all of its parameters or none: DocC warns otherwise, and Scripts/documentation.sh takes warnings for errors.
"""

import re
import sys
from pathlib import Path

# Searched in the text of each comment: its lines joined, without slashes, code blocks and `code`.
RULES = [
    (r"^(The same|As above|As before|Likewise|Those)\b", "leans on another comment: name the thing again"),
    (r"\b(the one|the ones|those|as|see) above\b", "leans on another comment: name the thing again"),
    (r"(?<!each )(?<!none )(?<!all )(?<!any )(?<!both )(?<!some )(?<!one )(?<!most )(?<!first )(?<!last )\bof (which|whom)\b",
     "a nominal relative clause: use two sentences, or 'whose'"),
    (r"\bof whose\b", "a nominal relative clause: use two sentences"),
    (r"\bso many\b", "say which number: 'the number of …', or the parameter's name"),
    (r"\bwhat\b(?! was\b)[^.,;:]*\bwhat\b", "two nominal clauses in a sentence: name the things"),
    (r"\b(as|where) (it|they) lies?\b", "say 'in place', 'not packed' or 'the offset of'"),
    (r"\b(nobody|somebody|anybody|whoever)\b", "code is not a person: name the thread, caller or operator"),
    (r"\bfor people to read\b", "name the report: `apus inspect --plan`, an error message"),
    (r"(;|,| and) answers\b", "a function returns"),
    (r"\bby way of\b", "say which registers or memory are overwritten: 'clobbers …'"),
    (r"^(What|By what|Who|Whatever)\b", "a bare nominal clause: begin with a noun, 'The …'"),
    (r"\breckon", "say 'estimate' or 'compare the cost'"),
]

LINE = re.compile(r"^(\s*)(///|//)(?!/) ?(.*)$")

# Files below a `.build` folder are skipped. InferenceProtocol is generated.
FOLDERS = (
    "Sources", "Serving/Sources", "Bindings/C/Sources", "Benchmarks", "Fuzzing/Sources", "Examples/Sources", "Tests",
)
GENERATED = "Serving/Sources/InferenceProtocol/"


def comments(text):
    """The comments of a file, as pairs of the first line's number and the joined text."""
    block, start, kind, in_code = [], 0, None, False
    for number, line in enumerate(text.splitlines(), 1):
        match = LINE.match(line)
        if not match or (kind is not None and match.groups()[:2] != kind):
            if block:
                yield start, " ".join(block)
            block, kind, in_code = [], None, False
        if not match or match[3].startswith(("MARK:", "SPDX-")):
            continue
        if match[3].startswith("```"):
            in_code = not in_code
        elif not in_code:
            if not block:
                start = number
            block.append(re.sub(r"``?[^`]*``?", "`…`", match[3].strip()))
        kind = match.groups()[:2]
    if block:
        yield start, " ".join(block)


FUNCTION = re.compile(r"\bpublic\b[^\n(]*?\b(?:init[?!]?|func\s+[^\s(<]+|subscript)\s*(?:<[^(]*>)?\(")
PARAMETER = re.compile(r"^(?:- Parameter |  - )`?(\w+)`?:", re.MULTILINE)


def parameters(declaration):
    """The names of the parameters of a function, whose list `declaration` begins with."""
    names, depth, start = [], 0, 0
    for place, character in enumerate(declaration):
        if depth == 0 and character in ",)":
            if words := re.sub(r"@\w+", "", declaration[start:place]).split(":")[0].split():
                names.append(words[-1].strip("`"))
            start = place + 1
            if character == ")":
                break
        depth += (character in "([{<") - (character in ")]}" or (character == ">" and declaration[place - 1] != "-"))
    return names


def undescribed(text):
    """The public functions with comments that describe some of their parameters: first line, and the missing names."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip().startswith("///") or (number < len(lines) and lines[number].strip().startswith("///")):
            continue
        first = number
        while first > 1 and lines[first - 2].strip().startswith("///"):
            first -= 1
        comment = "\n".join(each.strip()[4:] for each in lines[first - 1:number])
        described = set(PARAMETER.findall(comment.partition("- Parameter")[1] + comment.partition("- Parameter")[2]))
        # Attributes stand on lines of their own.
        following = "\n".join(lines[number:number + 40])
        following = re.sub(r"^(\s*@[^\n]*\n)+", "", following)
        function = FUNCTION.match(following.lstrip())
        if described and function:
            missing = [each for each in parameters(following.lstrip()[function.end():]) if each not in described]
            if missing:
                yield first, missing


def main():
    root = Path(__file__).resolve().parent.parent
    rules = [(re.compile(pattern, re.IGNORECASE), advice) for pattern, advice in RULES]
    count = 0
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.swift")):
        name = path.relative_to(root).as_posix()
        if name.startswith(GENERATED) or ".build" in path.relative_to(root).parts:
            continue
        for number, text in comments(path.read_text()):
            for rule, advice in rules:
                if match := rule.search(text):
                    print(f"{name}:{number}: '{match[0].strip()}' {advice}", file=sys.stderr)
                    count += 1
        for number, names in undescribed(path.read_text()) if name.startswith("Sources/") else ():
            print(f"{name}:{number}: does not describe {', '.join(names)}, but other parameters", file=sys.stderr)
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
