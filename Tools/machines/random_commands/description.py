# SPDX-License-Identifier: Apache-2.0
"""What the executable says of its own commands, from `--experimental-dump-help`."""

import json
import subprocess


class Argument:
    """An option, a flag or a positional argument."""

    def __init__(self, entry):
        self.kind = entry["kind"]
        self.is_repeating, self.is_optional = entry["isRepeating"], entry["isOptional"]
        self.name = entry["preferredName"]["name"] if self.kind != "positional" else entry["valueName"]
        self.values = entry.get("allValues")
        default = entry.get("defaultValue")
        self.is_number = False
        if default is not None:
            try:
                float(default)
                self.is_number = True
            except ValueError:
                pass


# Commands that are not drawn yet: there are no pairs of a model and its quantized twin among the files, what is generated is compiled by a
# script, and the doctor's report is of the machine.
NOT_DRAWN = {"diff", "doctor", "generate"}
# Options that are not drawn yet: no gallery among the files is of hands, there is no camera, and watch draws models of one file.
# An evaluation refuses a region.
OPTIONS_NOT_DRAWN = {"evaluate": ("region",), "hands": ("gallery", "distance"), "watch": (
    "camera-format", "camera-rate", "control", "detector", "landmarks", "blendshapes", "hand", "hand-region", "face-detector", "face",
    "detection-threshold", "tracking-threshold", "no-smoothing", "smooth-regions", "gallery", "distance")}


class Command:
    """A command that runs something, with its path of names."""

    def __init__(self, path, entries):
        self.path = path
        arguments = [Argument(entry) for entry in entries if entry.get("shouldDisplay", True)]
        self.positionals = [argument for argument in arguments if argument.kind == "positional"]
        self.options = {argument.name: argument for argument in arguments
                        if argument.kind != "positional" and argument.name not in ("help", "version", "trace")
                        and argument.name not in OPTIONS_NOT_DRAWN.get(path[-1], ())}

    @property
    def name(self):
        return " ".join(self.path)


def commands(executable):
    """The commands of an executable that run something, in the order in which it lists them."""
    dump = subprocess.run([executable, "--experimental-dump-help"], capture_output=True, check=True).stdout
    result = []

    def visit(entry, path):
        children = entry.get("subcommands", [])
        for child in children:
            if child["commandName"] not in {"help", *NOT_DRAWN}:
                visit(child, [*path, child["commandName"]])
        if not children:
            result.append(Command(path, entry.get("arguments", [])))

    visit(json.loads(dump)["command"], [])
    return result


def kernels(executable):
    """The kernel sets that this machine runs."""
    listing = json.loads(subprocess.run([executable, "kernels", "--json"], capture_output=True, check=True).stdout)
    return [entry["name"] for entry in listing if entry["supported"]]
