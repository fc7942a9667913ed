# SPDX-License-Identifier: Apache-2.0
"""Draws, runs and checks commands; makes what fails as short as it can be, and keeps it."""

import hashlib
import json
import os
import pathlib
import shlex
import shutil
import tempfile

import numpy as np

from random_commands import answers, checking, description
from random_commands.checking import Broken
from random_commands.drawing import Drawer
from random_commands.relations import Relations
from random_commands.running import Runner
from random_commands.world import World

# How many commands share the files of a world.
PORTION = 400
# How many commands that succeed are run once more, in another way.
RELATED = 0.3
# Widths of a terminal that does not say its own.
WIDTH = 80


class Worker:
    """Judges commands of a seed by their number."""

    def __init__(self, arguments):
        self._arguments = arguments
        self._scratch = tempfile.mkdtemp(prefix="apus-commands-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self._runner = Runner(arguments.apus, self._scratch)
        commands = [command for command in description.commands(arguments.apus)
                    if not arguments.commands or command.name in arguments.commands.split(",")]
        self._drawer = Drawer(commands, description.kernels(arguments.apus))
        self._relations = Relations(self._runner)
        self._world, self._number = None, None
        self._kept = {}

    @property
    def runs(self):
        return self._runner.count

    def close(self):
        shutil.rmtree(self._scratch, ignore_errors=True)

    def judge(self, index):
        """The command's name, its status, and what is wrong: a key and a report, or None."""
        number = index // PORTION
        if number != self._number:
            self._world = World(os.path.join(self._scratch, "world"), self._arguments.seed, number, self._runner)
            self._number = number
        line = self._drawer.draw(self._world, self._arguments.seed, index)
        relation = None
        status, broken = self._judged(line)
        if broken is None and status in (0, 2):
            random = np.random.default_rng([self._arguments.seed, index, 1])
            relation = self._relations.draw(line, random) if random.random() < RELATED else None
            if relation:
                _, broken = self._judged(line, relation)
        if broken is None:
            return line.command.name, status, None, None
        key = f"{line.command.name}: {broken.kind}"
        # Of each kind, the first few are enough.
        self._kept[key] = self._kept.get(key, 0) + 1
        if self._kept[key] > 5:
            return line.command.name, status, key, None
        line = self._shrunk(line, relation, broken.kind)
        _, again = self._judged(line, relation)
        return line.command.name, status, key, self._keep(index, line, relation, again or broken, key)

    def _judged(self, line, relation=None):
        """The status, and the property that does not hold, if any."""
        world = self._world
        world.clear()
        ending = self._runner.run(line.words, world.folder, line.stdin)
        try:
            out, err = checking.ended(line, ending)
            checking.limited(line, ending)
            outputs = checking.written(line, ending, world)
            checking.blamed(line, ending, err)
            checking.refused(line, ending, err)
            answers.check(line, ending, out, err, outputs, world)
            if relation:
                self._relations.check(relation, line, ending, world.digest())
        except Broken as broken:
            return ending.status, broken
        return ending.status, None

    # MARK: What fails

    def _shrunk(self, line, relation, kind):
        """The line without what the failure does not need."""
        attempts = 40
        before = None
        while attempts > 0 and before != len(line.words):
            before = len(line.words)
            smaller = [line.changed(without=(name,)) for name in sorted({option.name for option in line.options})]
            smaller += [line.changed(positionals=line.positionals[:place] + line.positionals[place + 1:])
                        for place in range(len(line.positionals)) if len(line.positionals) > 1 and line.command.name != "compare"]
            for candidate in smaller:
                attempts -= 1
                if len(candidate.words) >= len(line.words):
                    continue
                if any(line.has(name) and not candidate.has(name) for name in ("model", "output-dir", "chain")):
                    continue
                _, broken = self._judged(candidate, relation)
                if broken is not None and broken.kind == kind:
                    line = candidate
                    break
        return line

    def _keep(self, index, line, relation, broken, key):
        """Keeps the command and its files; returns the line that says what is wrong."""
        words = shlex.join(word.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") for word in line.words)
        name = hashlib.sha256(key.encode()).hexdigest()[:8]
        folder = pathlib.Path(self._arguments.failures) / f"{name}-{self._arguments.seed}-{index}"
        folder.mkdir(parents=True, exist_ok=True)
        world = self._world.folder
        for word in line.words:
            word = word.split("=", 1)[-1] if word.startswith("--") else word
            source = os.path.join(os.fsencode(world), os.fsencode(word))
            if not word or word.startswith(("/", "out")):
                continue
            target = os.path.join(os.fsencode(folder), os.fsencode(word))
            if os.path.isfile(source) and os.path.getsize(source) < 1 << 24:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copyfile(source, target)
            elif os.path.isdir(source):
                shutil.copytree(source, target, dirs_exist_ok=True)
        facts = {"seed": self._arguments.seed, "index": index, "what": broken.kind, "detail": broken.detail, "relation": relation,
                 "words": [word.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") for word in line.words]}
        (folder / "finding.json").write_text(json.dumps(facts, indent=1))
        (folder / "command.sh").write_text(f"cd \"$(dirname \"$0\")\" && mkdir -p out && \"${{APUS:-apus}}\" {words}\n")
        detail = broken.detail.replace("\n", "\\n")[:300]
        return f"FAILED {index} {key}: {detail} | apus {words[:400]!r}"


def help_findings(executable):
    """What is wrong with the help of each command: lines too long, commands and options without a word."""
    runner_folder = tempfile.mkdtemp(prefix="apus-help-")
    runner = Runner(executable, runner_folder)
    result = []
    for command in [None, *description.commands(executable)]:
        words = [*(command.path if command else []), "--help"]
        ending = runner.run(words, runner_folder)
        name = command.name if command else "apus"
        try:
            out, err = checking.ended(None, ending)
            if ending.status != 0 or err:
                raise Broken("--help fails", ending.status)
            for text in out:
                if len(text) > WIDTH and not text.startswith("USAGE") and " " in text[:WIDTH].strip():
                    raise Broken("a line of help is too long", text)
            missing = [option for option in (command.options if command else {}) if f"--{option}" not in "\n".join(out)]
            if missing:
                raise Broken("help lacks an option", missing)
        except Broken as broken:
            result.append((f"{name}: {broken.kind}", f"FAILED help {name}: {broken.kind}: {broken.detail}"))
    shutil.rmtree(runner_folder)
    return result
