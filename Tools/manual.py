#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the manual page of a command line made with ArgumentParser.

    .build/release/apus --experimental-dump-help | Tools/manual.py VERSION > Docs/apus.1
"""

import json
import sys


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in text)
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.splitlines())


def prose(text):
    """Paragraphs; lines that are indented stay as they are."""
    lines, verbatim = [], False
    for line in text.splitlines():
        if line.startswith("  ") != verbatim:
            verbatim = not verbatim
            lines.append(".RS 4\n.nf" if verbatim else ".fi\n.RE")
        lines.append(escaped(line.strip()) if line.strip() else ".PP")
    return "\n".join(lines + [".fi\n.RE"] * verbatim)


def name(entry):
    return ("--" if entry["kind"] == "long" else "-") + entry["name"]


def synopsis(argument):
    """An argument as a usage line has it."""
    value = f"\\fI{escaped(argument.get('valueName', ''))}\\fR"
    if argument["kind"] == "positional":
        text = value
    else:
        text = f"\\fB{escaped(name(argument['preferredName']))}\\fR"
        if argument["kind"] == "option":
            text += f" {value}"
    if argument.get("isRepeating"):
        text += " ..."
    return f"[{text}]" if argument.get("isOptional") else text


def entry(argument):
    """An argument with its explanation."""
    if argument["kind"] == "positional":
        tag = f"\\fI{escaped(argument['valueName'])}\\fR"
    else:
        names = sorted(argument["names"], key=lambda entry: (len(entry["name"]), entry["name"]))
        tag = ", ".join(f"\\fB{escaped(name(n))}\\fR" for n in names)
        if argument["kind"] == "option":
            tag += f" \\fI{escaped(argument['valueName'])}\\fR"
    text = argument.get("abstract", "")
    if argument.get("discussion"):
        text += "\n" + argument["discussion"]
    notes = []
    if argument.get("allValues"):
        notes.append("one of " + ", ".join(argument["allValues"]))
    if argument.get("defaultValue"):
        notes.append("default: " + argument["defaultValue"])
    if notes:
        text += f" ({'; '.join(notes)})"
    return f".TP\n{tag}\n{escaped(text.strip())}"


def arguments(command):
    return [a for a in command.get("arguments", []) if a.get("shouldDisplay") and a.get("valueName") not in ("help", "version")]


def commands(command, prefix=""):
    """A command and those below it, each with its full name."""
    full = f"{prefix} {command['commandName']}".strip()
    yield full, command
    for child in command.get("subcommands", []):
        if child.get("shouldDisplay") and child["commandName"] != "help":
            yield from commands(child, full)


def page(root, version):
    title = root["commandName"]
    lines = [
        f'.TH {title.upper()} 1 "" "{title} {version}" "User Commands"',
        ".SH NAME", f"{title} \\- {escaped(root['abstract'].rstrip('.'))}",
        ".SH SYNOPSIS", f".B {title}", "\\fIcommand\\fR [\\fIarguments\\fR]",
        ".SH DESCRIPTION", escaped(root["abstract"]),
        *([".PP", prose(root["discussion"])] if root.get("discussion") else []),
        ".SH COMMANDS",
    ]
    for full, command in commands(root):
        if command is root:
            continue
        usage = " ".join([f"\\fB{escaped(full)}\\fR", *map(synopsis, arguments(command))])
        lines += [f".SS {escaped(full)}", escaped(command.get("abstract", "")), ".PP", usage]
        if command.get("discussion"):
            lines += [".PP", prose(command["discussion"])]
        lines += map(entry, arguments(command))
    lines += [
        ".SH OPTIONS", *map(entry, arguments(root)),
        ".TP", "\\fB\\-h\\fR, \\fB\\-\\-help\\fR", "Show help for apus, or for a command.",
        ".TP", "\\fB\\-\\-version\\fR", "Show the version.",
        ".SH ENVIRONMENT",
        ".TP", "\\fBAPUS_KERNELS\\fR", escaped("The kernel set to use; apus kernels lists them. The option --kernels takes precedence."),
        ".TP", "\\fBAPUS_PROVE\\fR", escaped("With 1, a kernel set is compared with plain Swift before its first use, and passed over if it differs."),
        ".TP", "\\fBCOLUMNS\\fR", escaped("How long lines for people are; 80 characters by default."),
        ".SH EXIT STATUS",
        escaped("Except for 0, one line on standard error says what was found where."),
        ".TP", "0", "All went well.",
        ".TP", "1", "A model, an option or a list is wrong, nothing could be written, or 'apus diff' or 'apus doctor' found a difference.",
        ".TP", "2", "A picture, a sound or a file failed, or a folder has files that are not read; the others have results.",
        ".TP", "64", "The command line is wrong.",
        ".TP", "141", "Whoever reads the results has closed the pipe.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page(json.load(sys.stdin)["command"], sys.argv[1]))
