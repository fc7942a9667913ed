# SPDX-License-Identifier: Apache-2.0
"""Draws command lines: most of them as a user means them, others with values out of range, repeated, contradictory or missing."""

import numpy as np

from random_commands import bundles, films
from random_commands.hostile import odd_texts

# The task of the model that a command takes.
TASKS = {"detect": "detect", "classify": "classify", "embed": "embed", "compare": "embed", "gallery add": "embed",
         "gallery find": "embed", "faces": "faces", "segment": "segment", "transform": "transform", "keypoints": "keypoints",
         "hear": "hear", "run": "run", "watch": "detect", **{task: task for task in bundles.TASKS}}
# How often each command is drawn; those that are not named, once.
WEIGHTS = {"detect": 18, "classify": 15, "embed": 6, "compare": 4, "gallery add": 2, "gallery find": 5, "gallery list": 2, "faces": 5,
           "segment": 10, "transform": 7, "keypoints": 8, "hear": 8, "filter": 4, "run": 8, "inspect": 12, "hands": 4,
           "face-mesh": 4, "pose": 4, "holistic": 4, "watch": 8, "track": 6, "evaluate": 8}
# Options that take numbers, besides those whose default is one.
NUMBERS = {"jobs", "pixel-limit", "label-offset", "score-threshold", "max-results", "decide", "distance", "rate", "window", "output-index",
           "memory-limit", "top", "overlap", "k", "align-size", "iou-threshold", "threads", "time-limit", "runs", "warmup", "fps", "frames",
           "seconds", "activation-score", "high-score", "minimum-overlap", "minimum-hits", "lost-time", "step"}
# What inspect heeds with --as alone.
READINGS = ("layout", "fit", "anchors", "keypoints", "pixels", "channels", "scores", "box-units", "output-index", "box-order")
# The tasks whose evaluations heed an option, of those that not all heed.
EVALUATED = {"step": ("anomaly",), "shape": ("classify", "anomaly"), "type": ("classify", "anomaly"), "ignore": ("segment",), "output-index": ("segment",),
             "class-names": ("classify", "detect"), "class-offset": ("classify",), "labels": ("classify", "detect", "segment"),
             **{name: ("classify", "detect") for name in ("label-offset", "allow", "deny", "score-threshold")},
             "scores": ("classify", "detect", "segment"), "locale": (), **{name: () for name in ("rate", "window", "samples", "overlap")},
             **{name: ("detect",) for name in ("max-results", "iou-threshold", "class-agnostic", "multi-label", "layout", "box-units",
                                               "candidates", "anchors", "box-order")}}
# Options that are for others, which may be missing.
BESIDE = {"tracking-threshold", "snapshots", "align-size"}
# What trackers take.
TRACKING = {"activation-score": lambda number, whole: number(0, 1), "high-score": lambda number, whole: number(0, 1),
            "minimum-overlap": lambda number, whole: number(0.01, 1), "minimum-hits": lambda number, whole: whole(1, 5),
            "lost-time": lambda number, whole: number(0, 3), "crossing-frames": lambda number, whole: whole(1, 3)}
# Videos that ffmpeg draws, then what is no pattern.
PATTERNS = ["test:testsrc2:64x48:0.2", "test:testsrc:33x47:0.2", "test:", "test:nothing", "test:testsrc:0x0:1", "test:testsrc:64x48:nan",
            "test:testsrc:64x48:-1", "test:testsrc:99999x99999:1", "test:testsrc,movie=/etc/passwd", "file:/etc/passwd", "http://127.0.0.1:9/x",
            "rtsp://127.0.0.1:9/x", "/dev/video99", "concat:a|b", "lavfi:testsrc", "pipe:0", "-"]
# Options that name a file or folder to write.
OUTPUTS = {"resume", "mask-dir", "save-frames", "snapshots", "annotate", "annotate-dir", "output", "output-dir", "align-dir", "gallery", "tensors"}
# Numbers that no option takes.
NO_NUMBERS = ["nan", "inf", "-inf", "NaN", "x", "", "1e999", "１", "1,2", "--"]
FILTERS = ["invert", "prewitt:0.7", "sobel", "erosion:1", "dilation:1", "closing:1", "gaussian:1", "gaussian:0.5", "erosion:0",
           "gaussian:1e9", "closing:999", "prewitt:nan", "nothing", "", "invert:3"]


class Option:
    """An option as it is given; `is_plain` where a valid command stays valid with it, `is_bad` where nothing good may come of it."""

    def __init__(self, name, value=None, is_plain=True, is_bad=False, is_joined=False):
        self.name, self.value, self.is_plain, self.is_bad, self.is_joined = name, value, is_plain, is_bad, is_joined

    @property
    def words(self):
        if self.value is None:
            return [f"--{self.name}"]
        # A value that begins with a minus sign needs an equals sign.
        if self.is_joined or self.value.startswith("-"):
            return [f"--{self.name}={self.value}"]
        return [f"--{self.name}", self.value]


class Line:
    """A command line with what is known about it."""

    def __init__(self, command, world):
        self.command, self.world = command, world
        self.positionals, self.options, self.stdin = [], [], b""
        self.model = None
        # Whether all files are valid.
        self.is_valid = True

    @property
    def words(self):
        return [*self.command.path, *self.positionals, *(word for option in self.options for word in option.words)]

    @property
    def is_plain(self):
        """Whether the command must succeed."""
        return self.is_valid and all(option.is_plain and not option.is_bad for option in self.options)

    def value(self, name):
        """The last value of an option; True for a flag that is given; None without it."""
        found = [option for option in self.options if option.name == name]
        return (True if found[-1].value is None else found[-1].value) if found else None

    def values(self, name):
        return [option.value for option in self.options if option.name == name]

    def has(self, name):
        return any(option.name == name for option in self.options)

    def changed(self, without=(), added=(), positionals=None):
        """A copy with other options or positional arguments."""
        copy = Line(self.command, self.world)
        copy.positionals = list(self.positionals if positionals is None else positionals)
        copy.options = [option for option in self.options if option.name not in without] + list(added)
        copy.stdin, copy.model, copy.is_valid = self.stdin, self.model, self.is_valid
        return copy


class Drawer:
    """Draws lines for the commands of an executable from the files of a world."""

    def __init__(self, commands, kernels):
        self._commands, self._kernels = commands, kernels
        weights = np.array([WEIGHTS.get(command.name, 1) for command in commands], float)
        self._weights = weights / weights.sum()

    def draw(self, world, seed, index):
        random = np.random.default_rng([seed, index])
        line = Line(self._commands[random.choice(len(self._commands), p=self._weights)], world)
        # Half of the lines are as they should be.
        mood = "good" if random.random() < 0.5 else str(random.choice(["bad option", "bad file", "odd", "odd"]))
        self._required(line, world, random, mood)
        self._optional(line, world, random, mood)
        if mood == "odd":
            self._spoil(line, random)
        order = random.permutation(len(line.options))
        line.options = [line.options[place] for place in order]
        return line

    # MARK: Files

    def _required(self, line, world, random, mood):
        name, options = line.command.name, line.command.options
        task = TASKS.get(name)
        if name == "inspect":
            task = str(random.choice([task for task in world.models if task not in bundles.TASKS]))
        if name == "evaluate":
            task = self._evaluation(line, world, random, mood)
        if task and ("model" in options or name in ("run", "inspect")):
            line.model = self._model(world, random, task, mood)
            line.is_valid &= line.model.is_valid or name == "inspect" and not line.model.name.startswith(("damaged", "archive"))
            if name in ("run", "inspect"):
                line.positionals.append(line.model.path)
            elif line.model.parts and random.random() < 0.4:
                # Instead of a bundle, files of their own; one may be missing.
                parts = [option for option in line.model.parts if mood != "odd" or random.random() < 0.9]
                line.options += [Option(option, line.model.parts[option].path) for option in parts]
                line.is_valid &= all(part.is_valid for part in line.model.parts.values()) and len(parts) == len(line.model.parts)
            elif name not in ("detect", "watch") or random.random() < 0.95:
                line.options.append(Option("model", line.model.path))
                for option, value in zip(line.model.options[::2], line.model.options[1::2]):
                    known = options.get(option.lstrip("-"))
                    line.options.append(Option(option.lstrip("-"), value, is_plain=known is not None and (
                        known.values is None or value in known.values)))
                line.options = [option for option in line.options if option.name in options]
            else:
                line.model, line.is_valid = None, True
        if name in ("gallery add", "gallery remove"):
            line.positionals.append(str(random.choice(["ann", "bob\nforged 0.1", "\u202eeve", "", "x" * 300])))
            line.is_valid &= name == "gallery add" and line.positionals[-1] == "ann"
        if "gallery" in options:
            self._gallery(line, world, random, mood)
        for positional in line.command.positionals:
            if positional.name == "data":
                line.positionals.append(line.data)
            elif positional.name == "image":
                count = {"compare": 2, "filter": 1}.get(name) or int(random.choice([1, 1, 1, 2, 3]))
                line.positionals += [self._picture(line, world, random, mood) for _ in range(count)]
            elif positional.name == "sound":
                line.positionals += [self._sound(line, world, random, mood) for _ in range(random.integers(1, 3))]
            elif positional.name == "source":
                line.positionals.append(self._film(line, world, random, mood))
            elif positional.name == "detections":
                line.positionals.append(self._list(line, world, random, mood))
            elif positional.name == "output":
                line.positionals.append(self._target(random, [".png", ".jpg", ".ppm"], mood))
                line.is_valid &= mood != "odd"
        if name == "filter":
            chain = [str(random.choice(FILTERS[:8] if mood == "good" else FILTERS)) for _ in range(random.integers(1, 4))]
            line.options.append(Option("chain", ",".join(chain), is_plain=all(link in FILTERS[:8] for link in chain)))
        if name == "run":
            self._inputs(line, world, random, mood)
            line.options.append(Option("output-dir", "out/tensors"))
        if name == "embed":
            line.options.append(Option("json") if random.integers(2) else Option(
                "output", "out/embeddings.npy", is_plain=line.model.name != "two embeddings"))
        if name == "transform":
            line.options.append(Option("json") if random.integers(2) else Option("output-dir", "out/results"))

    def _model(self, world, random, task, mood):
        choice = world.models[task]
        if mood == "bad file" and random.integers(2):
            choice = world.models[str(random.choice(list(world.models)))]
            model = choice[random.integers(len(choice))]
            # A model of another task may have an answer by chance.
            return model if model.task == task else model.__class__(task, model.name, model.data).at(model.path)
        if mood == "good" or random.integers(2):
            choice = [model for model in choice if model.is_valid] or choice
        return choice[random.integers(len(choice))]

    def _picture(self, line, world, random, mood):
        if mood == "bad file" and random.integers(2):
            line.is_valid = False
            if random.integers(2):
                return str(random.choice(world.nowhere))
            return world.pictures[random.integers(len(world.pictures))].path
        if random.random() < 0.08 and line.command.name not in ("compare", "filter"):
            line.is_valid &= line.command.name not in ("embed", "transform", "segment") or not line.has("output")
            return "folders/album"
        if random.random() < 0.04 and line.command.name not in ("compare", "filter"):
            # Names on standard input.
            names = [picture.path for picture in world.pictures if picture.is_valid and "\n" not in picture.path][:2]
            line.stdin = "".join(name + "\n" for name in names).encode("utf-8", "surrogateescape")
            line.is_valid = False
            return "-"
        whole = [picture for picture in world.pictures if picture.is_valid]
        picture = whole[random.integers(len(whole))]
        # A name that is no UTF-8 may be refused.
        line.is_valid &= picture.path.isprintable() or "\udce9" not in picture.path
        return picture.path

    def _sound(self, line, world, random, mood):
        if mood == "bad file" and random.integers(2):
            line.is_valid = False
            if random.integers(2):
                return str(random.choice(world.nowhere))
            return world.sounds[random.integers(len(world.sounds))].path
        whole = [sound for sound in world.sounds if sound.is_valid]
        return whole[random.integers(len(whole))].path

    def _film(self, line, world, random, mood):
        """A video, or a pattern that ffmpeg draws."""
        line.is_valid &= bool(films.whole())
        if mood == "bad file" and random.integers(2):
            line.is_valid = False
            if random.integers(2):
                return str(random.choice([path for path in world.nowhere if path not in ("/dev/zero", "/dev/fd/99")] + PATTERNS))
            return world.films[random.integers(len(world.films))].path
        whole = [film for film in world.films if film.is_valid]
        if not whole or random.random() < 0.2:
            return str(random.choice(PATTERNS[:2]))
        return whole[random.integers(len(whole))].path

    def _list(self, line, world, random, mood):
        """A file of detections."""
        if mood == "bad file" and random.integers(2):
            line.is_valid = False
            if random.integers(2):
                return str(random.choice(world.nowhere))
            return world.lists[random.integers(len(world.lists))].path
        whole = [found for found in world.lists if found.is_valid]
        found = whole[random.integers(len(whole))]
        if random.random() < 0.1:
            line.stdin, line.is_valid = found.data, False
            return "-"
        return found.path

    def _evaluation(self, line, world, random, mood):
        """What an evaluation is about: its files and their truth; the task of the model that it needs."""
        task = str(random.choice(["classify", "classify", "detect", "segment", "anomaly"]))
        line.data = {"classify": str(random.choice(["sets/classes", "sets/list.csv", "sets/tensors.csv"])), "anomaly": "sets/classes",
                     "detect": "sets/pictures", "segment": "sets/pictures"}[task]
        line.options.append(Option("task", task))
        truth = {"detect": "sets/truth.json", "segment": "sets/masks"}.get(task)
        if truth:
            line.options.append(Option("truth", truth))
        # Models have classes, names and inputs of their own.
        line.is_valid = task == "classify" and line.data != "sets/tensors.csv" or task == "segment"
        if mood == "bad file":
            line.is_valid = False
            line.data = str(random.choice([*world.nowhere[:4], "sets/damaged.csv", "sets", *(found.path for found in world.lists)]))
            if truth:
                line.options[-1] = Option("truth", str(random.choice(["sets/damaged.json", "sets/list.csv", "missing.json", "sets/pictures"])))
        return {"anomaly": "run"}.get(task, task)

    def _gallery(self, line, world, random, mood):
        path, model = world.galleries[random.integers(len(world.galleries))]
        if line.command.name in ("gallery add", "gallery remove"):
            # These write the gallery.
            line.options.append(Option("gallery", "out/new.gallery" if random.random() < 0.8 else "out/no/new.gallery",
                                       is_plain=mood != "odd"))
            line.is_valid &= line.value("gallery") == "out/new.gallery"
            return
        line.options.append(Option("gallery", path))
        if model is None:
            line.is_valid = False
        elif line.command.name == "gallery find":
            line.model = model
            line.options = [option for option in line.options if option.name != "model"] + [Option("model", model.path)]
            line.is_valid = True

    def _inputs(self, line, world, random, mood):
        fitting = [array for array in world.arrays if array.is_valid and array.facts["model"] is line.model]
        if fitting and random.integers(2):
            line.options.append(Option("input", fitting[0].path))
        elif mood != "good" and random.integers(2):
            line.options.append(Option("input", world.arrays[random.integers(len(world.arrays))].path, is_plain=False))

    def _target(self, random, endings, mood):
        """A file to write."""
        if mood == "odd":
            return str(random.choice(["out/none/x.png", "out/x.gif", "out/x", "out", "/dev/full", "", "out/x.PNG", "/proc/x.png",
                                      "out/a\nforged 1.png", "out/" + "a" * 300 + ".png"]))
        return "out/result" + str(random.choice(endings))

    # MARK: Options

    def _optional(self, line, world, random, mood):
        names = [name for name in line.command.options if not line.has(name)]
        if line.command.name == "evaluate" and mood != "odd":
            task = line.value("task")
            names = [name for name in names if task in EVALUATED.get(name, (task,))]
        chosen = [name for name in names if random.random() < (0.5 if name == "json" else min(0.12, 2.5 / len(names)))]
        for name in chosen:
            option = self._valid(line, line.command.options[name], world, random, mood)
            if option is not None:
                line.options.append(option)
        if line.command.name == "evaluate":
            line.is_valid &= all(line.value("task") in EVALUATED.get(option.name, (line.value("task"),)) for option in line.options)
        if line.command.name == "inspect":
            # Readings are those of a task, and a task has no steps.
            without = ("plan",) if line.has("as") else READINGS
            line.options = [option for option in line.options if option.name not in without]
        if mood == "bad option" and names:
            argument = line.command.options[str(random.choice(names))]
            if argument.kind == "option":
                line.options = [option for option in line.options if option.name != argument.name]
                line.options.append(self._bad(argument, random))

    def _bad(self, argument, random):
        is_number = argument.is_number or argument.name in NUMBERS
        if is_number and random.integers(2):
            return Option(argument.name, str(random.choice(NO_NUMBERS)), is_bad=True, is_joined=bool(random.integers(2)))
        if argument.values and random.integers(2):
            value = str(random.choice(argument.values))
            value = str(random.choice([value.upper(), value + "x", value[:-1], f" {value}"]))
        else:
            value = str(random.choice(odd_texts()))
        if argument.name in OUTPUTS:
            # Where commands may write.
            value = "out/" + value.replace("..", "")
        return Option(argument.name, value, is_plain=False, is_bad=True, is_joined=bool(random.integers(2)))

    def _valid(self, line, argument, world, random, mood):
        """A value that users mean, or None where the option does not go with the rest."""
        name = argument.name
        if argument.kind == "flag":
            beside = ("video", "markdown", "no-smoothing", "smooth-regions", "real-time", "live", "reduced")
            return Option(name, is_plain=name not in beside)
        number = lambda low, high: str(round(float(random.uniform(low, high)), 3))  # noqa: E731
        whole = lambda low, high: str(int(random.integers(low, high)))  # noqa: E731
        if name in line.command.options and name in ("detector", "landmarks", "hand", "hand-region", "face-detector", "face", "blendshapes"):
            parts = [model for model in world.models["part"] if model.is_valid]
            return Option(name, parts[random.integers(len(parts))].path, is_plain=False)
        one = len(line.positionals) == 1 and not line.positionals[0].startswith("folders") and line.positionals[0] != "-"
        if name in ("annotate", "output") and not one or name in ("output", "output-dir") and (
                line.has("output") or line.has("output-dir")) or name == "annotate-dir" and line.has("annotate"):
            return None
        if line.command.name == "pose" and (name == "output" and (line.has("mask-dir") or line.has("max-results")) or
                                            name in ("mask-dir", "max-results") and line.has("output")):
            return None
        # Both would be the same file.
        if name == "output" and line.has("annotate") or name == "annotate" and line.has("output"):
            return None
        if line.command.name == "watch" and name in ("annotate", "size"):
            return Option(name, "out/drawn.mp4" if name == "annotate" else "64x48")
        simple = {
            "jobs": lambda: whole(1, 4), "pixel-limit": lambda: whole(1, 268), "score-threshold": lambda: number(0, 1),
            "max-results": lambda: whole(1, 20), "iou-threshold": lambda: number(0.05, 1), "threads": lambda: whole(1, 5),
            "runs": lambda: whole(1, 4), "warmup": lambda: whole(0, 3),
            "time-limit": lambda: whole(10, 100), "memory-limit": lambda: whole(128, 4096), "top": lambda: whole(1, 400),
            "decide": lambda: number(0, 1), "overlap": lambda: number(0, 0.9), "k": lambda: whole(1, 5),
            "detection-threshold": lambda: number(0, 1), "tracking-threshold": lambda: number(0, 1), "palm-angle": lambda: number(-180, 180),
            "refinement-cells": lambda: str(1 + 2 * int(random.integers(0, 31))),
            "fps": lambda: str(random.choice(["5", "30", "29.97"])), "frames": lambda: whole(1, 5), "seconds": lambda: number(0.05, 2),
            "every": lambda: whole(1, 4), "mask-dir": lambda: "out/masks", "snapshots": lambda: "out/events",
            "save-frames": lambda: "out/frames",
            "frame-rate": lambda: number(1, 60),
            "distance": lambda: number(0, 2), "align-size": lambda: whole(16, 200), "locale": lambda: "de",
            "kernels": lambda: str(random.choice(self._kernels)), "annotate-dir": lambda: "out/drawn", "align-dir": lambda: "out/aligned",
            "output-dir": lambda: "out/masks", "tensors": lambda: "out/every", "region": lambda: "0,0,1,1",
            "annotate": lambda: self._target(random, [".png", ".jpg", ".ppm"], "good"),
            "output": lambda: self._target(random, {"embed": [".npy"], "track": [".txt"], "pose": [".png"]}.get(line.command.name, [".png", ".npy"]), "good"),
        }
        if name in simple:
            # A row of a file has room for one embedding.
            return Option(name, simple[name](), is_joined=bool(random.integers(2)), is_plain=name not in BESIDE and not (
                name == "output" and line.model and line.model.name == "two embeddings"))
        if name in ("fit", "resampling"):
            return Option(name, str(random.choice(argument.values)))
        if name == "labels":
            fitting = [labels for labels in world.labels if labels.is_valid and line.model and
                       labels.facts["classes"] == line.model.classes]
            labels = (fitting or world.labels)[random.integers(len(fitting or world.labels))]
            return Option(name, labels.path, is_plain=bool(fitting))
        if name in ("line", "zone"):
            corners = ",".join(number(0, 1) for _ in range(4 if name == "line" else 6))
            return Option(name, f"{random.choice(['gate', 'door-2', 'Tür'])}:{corners}", is_plain=not (line.has("line") or line.has("zone")))
        if name in TRACKING:
            # Only what tracks takes them.
            return Option(name, TRACKING[name](number, whole), is_plain=False)
        texts = {
            "pixels": ["unit", "signed", "raw", "127.5:127.5", "0:255", "123,116,103:58,57,57"], "output-pixels": ["unit", "signed", "raw"],
            "label-offset": ["0", "1"], "anchors": ["10,13,16,30,33,23", "9,9,20,11,30,30,17,40"], "input-size": ["16x16", "32x24"],
            "keypoints": ["17x3", "4x2"], "allow": ["name 1", "thing 0", "n1"], "deny": ["name 1", "thing 0", "n1"], "window": ["100"],
            "rate": ["8000", "16000"], "samples": ["signed", "int16"], "output-index": ["0", "1"], "input": [array.path for array in world.arrays],
            "faces": [model.path for model in world.models["faces"]],
            "truth": ["sets/list.csv", "sets/masks", "sets/truth.json"], "class-names": [labels.path for labels in world.labels],
            "class-offset": ["-1", "0", "1"], "shape": ["1x4", "1x16x16x3"], "type": ["uint8", "float32"], "step": ["1", "7"], "ignore": ["0", "255"],
        }
        choice = texts.get(name) or argument.values or (["out/odd"] if name in OUTPUTS else odd_texts())
        return Option(name, str(random.choice(choice)), is_plain=False)

    def _spoil(self, line, random):
        """Repeats, leaves out, doubles, adds what there is not."""
        line.is_valid = False
        kind = random.integers(6)
        if kind == 0 and line.options:
            again = line.options[random.integers(len(line.options))]
            line.options.append(Option(again.name, again.value))
        elif kind == 1 and line.options:
            del line.options[random.integers(len(line.options))]
        elif kind == 2 and line.positionals:
            del line.positionals[random.integers(len(line.positionals))]
        elif kind == 3:
            unknown = ["labelz", "modell", "m", "json=1", "no-json", "THREADS", "ｊson", "\x1b[2J", "a\nforged"]
            line.options.append(Option(str(random.choice(unknown))))
        elif kind == 4:
            # What follows two dashes would be no option.
            line.positionals.append(str(random.choice([text for text in odd_texts() if text != "--"])))
        else:
            # A flag takes no value.
            line.positionals.append("yes")
            if "json" in line.command.options:
                line.options.append(Option("json"))
