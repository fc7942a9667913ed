# SPDX-License-Identifier: Apache-2.0
"""A folder with all that a few hundred commands are given; the same for the same seed and number."""

import hashlib
import json
import os
import pathlib
import shutil

import numpy as np
from PIL import Image

from random_commands import files, films, models

# Where commands may write.
OUT = "out"


class World:
    """Models, pictures, labels, tensors, sounds and galleries in a folder, in which commands run."""

    def __init__(self, folder, seed, number, runner, scale=1):
        self.folder = pathlib.Path(folder)
        shutil.rmtree(self.folder, ignore_errors=True)
        random = np.random.default_rng([seed, number, 7])
        drawn = models.draw(random, 6 * scale)
        self.models = {task: [model for model in drawn if model.task == task] for task in models.TASKS}
        graphs = [model for model in self.models["run"] if hasattr(model, "shape")]
        self.pictures = files.pictures(random, 12 * scale)
        self.labels = files.labels(random, 10 * scale)
        self.arrays = files.arrays(random, 12 * scale, graphs)
        self.sounds = files.sounds(random, 8 * scale)
        self.films, self.lists = films.films(random), films.lists(random, 10 * scale)
        for kind, members in (("models", drawn), ("pictures", self.pictures), ("labels", self.labels),
                              ("arrays", self.arrays), ("sounds", self.sounds), ("films", self.films),
                              ("lists", self.lists)):
            (self.folder / kind).mkdir(parents=True)
            for place, member in enumerate(members):
                name = f"{place}-{member.task}-{member.name.replace('/', ' ')[:60]}{member.ending}" if kind == "models" else member.name
                member.path = f"{kind}/{name}"
                with open(os.fsencode(self.folder / member.path), "wb") as file:
                    file.write(member.data)
        self._folders()
        self._galleries(random, runner)
        self._sets(random)
        (self.folder / OUT).mkdir()
        self.by_path = {member.path: member for members in (drawn, self.pictures, self.labels, self.arrays, self.sounds,
                                                                   self.films, self.lists)
                        for member in members}
        self._watched = [os.fsencode(path) for path in sorted(self.folder.rglob("*")) if OUT not in path.parts[len(self.folder.parts):]]
        self._state = self.state()

    def _folders(self):
        """Folders of pictures and of other things, and names that lead nowhere."""
        whole = [picture for picture in self.pictures if picture.is_valid]
        self.folders = {}
        for name, members, sub in (("album", whole[:3], whole[3:5]), ("mixed", self.pictures[-2:] + whole[:1], []),
                                   ("nothing", [], [])):
            for inner, inside in (("", members), ("below", sub)):
                target = self.folder / "folders" / name / inner
                target.mkdir(parents=True, exist_ok=True)
                for member in inside:
                    with open(os.path.join(os.fsencode(target), os.fsencode(member.name)), "wb") as file:
                        file.write(member.data)
            self.folders[f"folders/{name}"] = (members, sub)
        (self.folder / "folders/mixed/notes.txt").write_text("no picture\n")
        (self.folder / "folders/mixed/animal.gif").write_bytes(b"GIF89a")
        (self.folder / "folders/nothing/notes.txt").write_text("no picture\n")
        os.symlink("nowhere", self.folder / "folders/dangling.png")
        os.symlink("circle.png", self.folder / "folders/circle.png")
        self.nowhere = ["folders/dangling.png", "folders/circle.png", "missing.png", "folders/nothing", "folders/mixed", "", "/dev/null",
                        "/dev/zero", "/proc/self/mem", "models", "a" * 300 + ".png", "folders/album/missing\nforged 1.png",
                        "missing\x1b[2J.png", "missing-\udcff.png", "/dev/fd/99", "."]

    def _galleries(self, random, runner):
        """Galleries that the command wrote, and damaged ones."""
        (self.folder / "galleries").mkdir()
        self.galleries = []
        whole = [picture.path for picture in self.pictures if picture.is_valid][:2]
        embedders = [model for model in self.models["embed"] if model.is_valid][:2]
        for place, model in enumerate(embedders):
            path = f"galleries/{place}.gallery"
            for name in ("ann", "bob\nforged 0.1", "\u202eeve"):
                runner.run(["gallery", "add", name, *whole, "--gallery", path, "--model", model.path], self.folder)
            if (self.folder / path).is_file():
                self.galleries.append((path, model))
                data = bytearray((self.folder / path).read_bytes())
                data[random.integers(len(data))] ^= 1 << random.integers(8)
                (self.folder / f"galleries/{place}-damaged.gallery").write_bytes(data[:random.integers(1, len(data) + 1)])
                self.galleries.append((f"galleries/{place}-damaged.gallery", None))
        self.galleries.append(("galleries/missing.gallery", None))

    def _sets(self, random):
        """Files whose truth is known: folders that are classes, lists, masks, a truth in COCO's format, and damaged ones."""
        whole = [picture for picture in self.pictures if picture.is_valid and picture.size][:5]
        sets = self.folder / "sets"
        for name in ("classes/0", "classes/1", "pictures", "masks", "tensors"):
            (sets / name).mkdir(parents=True)
        images, objects, lines = [], [], []
        for place, picture in enumerate(whole):
            ending = os.path.splitext(picture.name)[1]
            ending = ending if ending.isascii() and ending.isprintable() else ".png"
            width, height = picture.size
            for target in (f"classes/{place % 2}/{place}{ending}", f"pictures/{place}{ending}"):
                (sets / target).write_bytes(picture.data)
            lines.append(f"pictures/{place}{ending},{place % 2}\n")
            images.append({"id": place + 1, "file_name": f"{place}{ending}", "width": width, "height": height})
            objects.append({"id": place + 1, "image_id": place + 1, "category_id": 1, "bbox": [0, 0, width / 2, height], "iscrowd": 0,
                            "area": width * height / 2})
            mask = random.choice([0, 0, 1, 255], size=(height, width)).astype(np.uint8)
            Image.fromarray(mask).save(sets / f"masks/{place}.png")
        (sets / "list.csv").write_text("".join(lines))
        for place, array in enumerate(self.arrays):
            (sets / f"tensors/{place}.npy").write_bytes(array.data)
        (sets / "tensors.csv").write_text("".join(f"tensors/{place}.npy,0\n" for place in range(len(self.arrays))))
        truth = json.dumps({"images": images, "annotations": objects, "categories": [{"id": 1, "name": "name 1"}, {"id": 2, "name": "thing 0"}]})
        (sets / "truth.json").write_text(truth)
        (sets / "damaged.json").write_text(truth[:random.integers(len(truth))])
        (sets / "damaged.csv").write_text("".join(lines)[:random.integers(1, 60)] + "\nmissing\nforged 1,2\n\x1b[2J,0\n")

    def state(self):
        """What tells whether anything besides outputs has changed."""
        result = [(facts.st_mtime_ns, facts.st_size) for facts in map(os.lstat, self._watched)]
        result.append(sorted(name for name in os.listdir(self.folder) if name != OUT))
        return result

    def changes(self):
        """What a command changed that it was not told to; empty for nothing."""
        state, before = self.state(), self._state
        if state == before:
            return []
        self._state = state
        changed = [os.fsdecode(path) for path, new, old in zip(self._watched, state, before) if new != old]
        return changed + sorted(set(state[-1]) ^ set(before[-1]))

    def clear(self):
        """Removes outputs."""
        for path in (self.folder / OUT).iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        drawn = self.folder / "apus-detections.png"
        if drawn.exists():
            drawn.unlink()

    def outputs(self):
        """The files that were written, by path."""
        folder = self.folder / OUT
        result = [str(path.relative_to(self.folder)) for path in sorted(folder.rglob("*")) if path.is_file()]
        if (self.folder / "apus-detections.png").exists():
            result.append("apus-detections.png")
        return result

    def digest(self):
        """The outputs' bytes, each as one number. Answers of an evaluation to be resumed have no order: threads write them as they end."""
        def bytes_of(name):
            written = (self.folder / name).read_bytes()
            if written.startswith(b'{"apus_evaluation":'):
                return b"".join(sorted(written.splitlines(keepends=True)))
            return written

        return {name: hashlib.sha256(bytes_of(name)).hexdigest() for name in self.outputs()}
