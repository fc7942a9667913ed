# SPDX-License-Identifier: Apache-2.0
"""What must hold of every answer: numbers in their ranges, boxes inside pictures, sums, names, files of the promised size."""

import io
import math

import numpy as np
from PIL import Image

from random_commands import live
from random_commands.checking import Broken, strict

# Float32 arithmetic on numbers of at most a few hundred.
NEAR = 1e-3
PICTURES = {"detect", "classify", "embed", "gallery add", "gallery find", "faces", "segment", "transform", "keypoints", *live.LANDMARKS}


def check(line, ending, out, err, outputs, world):
    """Checks the answer of a command; returns its JSON documents."""
    name = line.command.name
    if not line.has("json"):
        if ending.status == 0 and not out and not (name == "embed" and line.has("output")):
            raise Broken("status 0 without output")
        written(line, ending, None, outputs, world)
        return None
    documents = [strict(text) for text in out]
    for document in documents:
        walk(document, name)
    if name in PICTURES or name == "hear":
        sources(line, ending, documents, world)
        for document in documents:
            if "error" in document:
                if set(document) != {"error", "image" if name in PICTURES else "sound"} or not document["error"]:
                    raise Broken("a failure has other fields", sorted(document))
                continue
            numbers(document.get("milliseconds", {}), "milliseconds", 0, 1e6)
            CHECKS[name](line, document, world, err)
        if name == "classify" and len({document.get("scores") for document in documents if "error" not in document}) > 1:
            raise Broken("a model is read in two ways", [document.get("scores") for document in documents])
    elif name in ("watch", "cameras"):
        getattr(live, name)(line, documents, ending, world)
    elif ending.status == 0 or name == "evaluate" and ending.status == 2:
        if len(documents) != 1:
            raise Broken("not one JSON document", len(documents))
        if name in CHECKS:
            CHECKS[name](line, documents[0], world, err)
        if name == "track":
            live.track(line, documents[0], ending, world)
    written(line, ending, documents, outputs, world)
    return documents


def walk(value, where):
    """Checks every number: finite, and a number rather than a text that stands for one."""
    if isinstance(value, dict):
        for key, inner in value.items():
            # Texts that users give may be anything.
            if inner in ("NaN", "Infinity", "-Infinity") and key not in ("image", "sound", "label", "name", "model", "error"):
                raise Broken("a text stands for a number in JSON", f"{key}: {inner}")
            walk(inner, key)
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, str) and inner in ("NaN", "Infinity", "-Infinity"):
                raise Broken("a text stands for a number in JSON", f"{where}: {inner}")
            walk(inner, where)
    elif isinstance(value, float) and not math.isfinite(value):
        raise Broken("a number in JSON is not finite", where)


def fields(document, names, what):
    missing = [name for name in names if name not in document]
    if missing:
        raise Broken(f"{what} lacks a field", f"{missing} in {sorted(document)}")


def number(value, what, low=-math.inf, high=math.inf):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise Broken(f"{what} is not {low} to {high}", value)
    return value


def numbers(entries, what, low, high):
    for value in entries.values():
        number(value, what, low, high)


def descending(values, what):
    for first, second in zip(values, values[1:]):
        if second > first:
            raise Broken(f"{what} are not in order", values[:10])


def sources(line, ending, documents, world):
    """Checks that each picture or sound has one line, in order, and that the status says whether all have an answer."""
    key = "sound" if line.command.name == "hear" else "image"
    names = []
    for path in line.positionals:
        if path in world.folders:
            members, below = world.folders[path]
            inside = sorted(f"{path}/{member.name}" for member in members)
            if line.has("recursive"):
                inside = sorted(inside + [f"{path}/below/{member.name}" for member in below], key=lambda name: name.encode("utf-8", "replace"))
            names += inside
        elif path == "-":
            names += line.stdin.decode("utf-8", "replace").splitlines()
        else:
            names.append(path)
    if line.command.name == "detect" and not line.positionals:
        names = ["embedded picture"]
    found = [document.get(key) for document in documents]
    for name in found:
        if not isinstance(name, str):
            raise Broken(f"a line has no {key}", found[:3])
    failed = sum("error" in document for document in documents)
    known = all(path in world.by_path or path in world.folders for path in line.positionals)
    if ending.status in (0, 2) and known and line.positionals:
        expected = [name.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for name in names]
        if found != expected and line.command.name != "hear":
            raise Broken("lines are not those of the pictures in order", f"{found[:4]} for {expected[:4]}")
    if ending.status == 0 and failed:
        raise Broken("status 0 with a failed picture", documents[0])
    if ending.status == 1 and documents and failed < len(documents) and not line.has("output") and not line.has("annotate") \
            and not line.has("annotate-dir") and not line.has("output-dir") and not line.has("align-dir"):
        raise Broken("status 1 with answers", found[:3])


def size_of(document, world):
    picture = world.by_path.get(document["image"])
    if picture is None:
        name = document["image"].rsplit("/", 1)[-1]
        picture = world.by_path.get(f"pictures/{name}") if document["image"].startswith("folders/") else None
    return picture.size if picture is not None and picture.is_valid else None


# MARK: Tasks


def categories(line, entries, err, is_raw=False, what="a class", threshold=None, model=None):
    for entry in entries:
        fields(entry, ["index", "label", "score"], what)
        index = entry["index"]
        if isinstance(index, bool) or not isinstance(index, int) or index < 0:
            raise Broken(f"{what} has no whole index", index)
        if entry["label"] is not None and not isinstance(entry["label"], str):
            raise Broken(f"{what} has a label that is no text", entry["label"])
        number(entry["score"], f"the score of {what}", *((-math.inf, math.inf) if is_raw else (0, 1)))
        if threshold is not None and entry["score"] < threshold:
            raise Broken(f"{what} is below the threshold", f"{entry['score']} < {threshold}")
        for option, holds in (("allow", lambda wanted: entry["label"] in wanted), ("deny", lambda wanted: entry["label"] not in wanted)):
            if line.has(option) and not holds(line.values(option)):
                raise Broken(f"--{option} is not obeyed", entry["label"])
    descending([entry["score"] for entry in entries], "scores")
    labels = {}
    for entry in entries:
        if labels.setdefault(entry["index"], entry["label"]) != entry["label"]:
            raise Broken("a class has two names", entry["index"])
    named(line, entries, err)


def named(line, entries, err):
    """Checks names against those of the file of labels, or of the model."""
    if line.has("label-offset") or line.has("locale") or line.command.name == "segment":
        return
    path = line.value("labels")
    labels = next((found for found in line.world.labels if found.path == path), None) if path else None
    names = labels.facts.get("names") if labels else line.model.names if line.model and not path else None
    if not names:
        return
    for entry in entries:
        index = entry["index"]
        # Rows without numbers may begin with the background where there are as many as classes and one.
        is_sure = labels is None or labels.facts.get("numbered") or line.model and line.model.classes == len(names)
        if is_sure and index < len(names) and (entry["label"] or "").strip() != names[index].strip():
            raise Broken("a class has the name of another one", f"{index} is {entry['label']!r}, not {names[index]!r}")
        if index >= len(names) and entry["label"] is None and not any("label" in text or "name" in text for text in err):
            raise Broken("a class beyond the names, without a warning", f"{index} of {len(names)}")


def threshold_of(line):
    try:
        return float(np.float32(line.value("score-threshold"))) if line.has("score-threshold") else None
    except ValueError:
        return None


def limit_of(line, name, default=None):
    value = line.value(name)
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else default


def box(entry, size, what):
    fields(entry, ["x", "y", "width", "height"], f"the box of {what}")
    for key in ("x", "y", "width", "height"):
        number(entry[key], f"the {key} of {what}")
    if entry["width"] < 0 or entry["height"] < 0:
        raise Broken(f"{what} has a box of negative size", entry)
    if size:
        # Boxes of SSD may reach beyond the picture, as TensorFlow has them.
        if entry["x"] >= size[0] or entry["y"] >= size[1] or entry["x"] + entry["width"] <= 0 or entry["y"] + entry["height"] <= 0:
            raise Broken(f"{what} has a box outside the picture", f"{entry} of {size}")


def detect(line, document, world, err):
    fields(document, ["image", "width", "height", "detections", "milliseconds"], "an answer")
    size = size_of(document, world)
    if size and (document["width"], document["height"]) != tuple(size):
        raise Broken("an answer has another size than the picture", f"{document['width']}×{document['height']} for {size}")
    size = (document["width"], document["height"])
    found = document["detections"]
    categories(line, found, err, line.value("scores") == "raw", what="an object", threshold=threshold_of(line))
    for entry in found:
        if "angle" not in entry:
            box(entry["box"], size, "an object")
        for point in entry.get("keypoints", []):
            if line.value("scores") != "raw":
                number(point.get("score", 0) or 0, "the score of a keypoint", 0, 1)
    limit = limit_of(line, "max-results")
    if limit and len(found) > limit:
        raise Broken("more objects than --max-results", f"{len(found)} > {limit}")


def classify(line, document, world, err):
    fields(document, ["image", "milliseconds"], "an answer")
    heads = document.get("heads") or [document]
    is_raw = document.get("scores") in ("raw", "logit")
    limit = limit_of(line, "top", 5)
    for head in heads:
        fields(head, ["classes"], "an answer")
        found = head["classes"]
        categories(line, found, err, is_raw, threshold=threshold_of(line))
        indices = [entry["index"] for entry in found]
        if len(set(indices)) != len(indices):
            raise Broken("a class appears twice", indices)
        if len(found) > limit:
            raise Broken("more classes than --top", f"{len(found)} > {limit}")
        if line.has("decide") and not line.has("annotate"):
            decision(line, head, found, is_raw)
    model = line.model
    chosen = any(line.has(name) for name in ("allow", "deny", "score-threshold", "scores"))
    if model is None or len(heads) > 1 or chosen or is_raw:
        return
    found = document["classes"]
    if model.classes and len(found) != min(limit, model.classes) and model.classes > 1:
        raise Broken("classes are missing", f"{len(found)} of {model.classes}, --top {limit}")
    if model.softmax and limit >= model.classes and abs(sum(entry["score"] for entry in found) - 1) > NEAR:
        raise Broken("the scores of a softmax do not add up to 1", sum(entry["score"] for entry in found))
    if model.best is not None and found and found[0]["index"] != model.best:
        raise Broken("another class wins", f"{found[0]} instead of {model.best}")


def decision(line, head, found, is_raw):
    threshold = float(np.float32(line.value("decide")))
    if "decision" not in head:
        raise Broken("--decide without a decision", sorted(head))
    # Who says that the scores are the model's own numbers may decide by them.
    if is_raw and line.value("scores") is None:
        raise Broken("a decision on raw scores", head["decision"])
    # The classes are cut off at --score-threshold and --top, the decision need not be.
    if found and found[0]["score"] < threshold and head["decision"] not in ("not sure", "nothing"):
        raise Broken("a decision below its threshold", f"{head['decision']}: {found[0]}")


def embed(line, document, world, err):
    fields(document, ["image", "embeddings"], "an answer")
    if not document["embeddings"]:
        raise Broken("no embedding")
    for values in document["embeddings"]:
        for value in values:
            number(value, "a coordinate")
        length = math.sqrt(sum(value * value for value in values))
        if not line.has("raw") and abs(length - 1) > NEAR and any(values):
            raise Broken("an embedding has not the length 1", length)


def compare(line, document, world, err):
    fields(document, ["euclidean", "cosine"], "an answer")
    distance, cosine = number(document["euclidean"], "a distance", 0, 2 + NEAR), document["cosine"]
    # An embedding of zeros has no direction.
    if cosine is not None and abs(distance * distance - (2 - 2 * number(cosine, "a cosine", -1 - NEAR, 1 + NEAR))) > 10 * NEAR and cosine != 0:
        raise Broken("distance and cosine do not agree", document)
    if line.positionals[0] == line.positionals[1] and distance > NEAR:
        raise Broken("a picture differs from itself", document)


def find(line, document, world, err):
    fields(document, ["image", "matches"], "an answer")
    limit = limit_of(line, "distance")
    for match in document["matches"]:
        fields(match, ["name", "distance", "box"], "a match")
        if match["name"] == "unknown":
            continue
        if match["name"] not in ("ann", "bob\nforged 0.1", "\u202eeve"):
            raise Broken("a name that nobody has", match["name"])
        number(match["distance"], "a distance", 0, 2 + NEAR)
        if limit is not None and match["distance"] > limit:
            raise Broken("a match beyond --distance", match)
    if not line.has("faces") and len(document["matches"]) > (limit_of(line, "k", 1) or 1):
        raise Broken("more matches than --k", len(document["matches"]))


def added(line, document, world, err):
    fields(document, ["image", "matches"], "an answer")
    if [match["name"] for match in document["matches"]] != line.positionals[:1] or document["matches"][0]["distance"] is not None:
        raise Broken("another name is added", document["matches"])


def faces(line, document, world, err):
    fields(document, ["image", "faces"], "an answer")
    for face in document["faces"]:
        fields(face, ["score", "box", "keypoints"], "a face")
        if line.value("scores") != "raw":
            number(face["score"], "the score of a face", 0, 1)
        # A face may reach beyond the picture, as MediaPipe has it.
        box(face["box"], None, "a face")
        for point in face["keypoints"]:
            number(point["x"], "a keypoint's x")
            number(point["y"], "a keypoint's y")
    descending([face["score"] for face in document["faces"]], "scores")
    limit, threshold = limit_of(line, "max-results"), threshold_of(line)
    if limit and len(document["faces"]) > limit:
        raise Broken("more faces than --max-results", len(document["faces"]))
    if threshold is not None and any(face["score"] < threshold for face in document["faces"]):
        raise Broken("a face is below the threshold", threshold)


def keypoints(line, document, world, err):
    fields(document, ["image", "poses"], "an answer")
    size = size_of(document, world)
    for pose in document["poses"]:
        bounds = (-math.inf, math.inf) if line.value("scores") == "raw" else (0, 1)
        number(pose["score"], "the score of a pose", *bounds)
        for point in pose["keypoints"]:
            for key in ("x", "y"):
                value = number(point[key], "a coordinate of a keypoint")
                # The bars of a letterbox are many times as wide as a narrow picture.
                if size and not abs(value) <= 100 * max(size) + 100:
                    raise Broken("a keypoint is far outside", f"{point} of {size}")
            if point.get("score") is not None:
                number(point["score"], "the score of a keypoint", *bounds)
    limit = limit_of(line, "max-results")
    if limit and len(document["poses"]) > limit:
        raise Broken("more poses than --max-results", len(document["poses"]))


def segment(line, document, world, err):
    fields(document, ["image", "classes"], "an answer")
    shares = []
    for entry in document["classes"]:
        fields(entry, ["index", "label", "share"], "a class")
        if not isinstance(entry["index"], int) or entry["index"] < 0:
            raise Broken("a class has no whole index", entry["index"])
        shares.append(number(entry["share"], "a share", 0, 1 + 1e-9))
        if entry["share"] == 0:
            raise Broken("a class without a pixel", entry)
    descending(shares, "shares")
    if abs(sum(shares) - 1) > 1e-6:
        raise Broken("shares do not add up to 1", sum(shares))
    indices = [entry["index"] for entry in document["classes"]]
    if len(set(indices)) != len(indices):
        raise Broken("a class appears twice", indices[:20])
    if line.model and line.model.best is not None and not line.has("scores") and indices != [line.model.best]:
        raise Broken("another class wins", f"{document['classes'][:3]} instead of {line.model.best}")
    if line.model and line.model.classes and max(indices) >= line.model.classes:
        raise Broken("a class that the model does not have", max(indices))


def transform(line, document, world, err):
    fields(document, ["image", "width", "height", "minimum", "maximum"], "an answer")
    if number(document["minimum"], "the minimum") > number(document["maximum"], "the maximum"):
        raise Broken("the minimum is above the maximum", document)
    size = size_of(document, world)
    if line.has("fit-output") and size and not line.has("region") and (document["width"], document["height"]) != tuple(size):
        raise Broken("--fit-output has another size than the picture", f"{document['width']}×{document['height']} for {size}")


def hear(line, document, world, err):
    fields(document, ["sound", "windows", "classes"], "an answer")
    is_raw = document.get("scores") in ("raw", "logit") or any("scores" in text for text in err) or line.value("scores") == "raw"
    found = world.by_path.get(document["sound"])
    starts = []
    for window in document["windows"]:
        fields(window, ["start", "end", "classes"], "a window")
        if not 0 <= number(window["start"], "a start") < number(window["end"], "an end"):
            raise Broken("a window ends before it starts", window)
        if found is not None and found.is_valid and window["end"] > found.facts["seconds"] + 0.01:
            raise Broken("a window ends after the sound", f"{window['end']} of {found.facts['seconds']}")
        starts.append(-window["start"])
        categories(line, window["classes"], err, is_raw)
    descending(starts, "windows")
    categories(line, document["classes"], err, is_raw)
    limit, threshold = limit_of(line, "top", 5), threshold_of(line)
    for head in [document, *document["windows"]]:
        if len(head["classes"]) > limit:
            raise Broken("more classes than --top", len(head["classes"]))
        if threshold is not None and any(entry["score"] < threshold for entry in head["classes"]):
            raise Broken("a class is below the threshold", threshold)
    model = line.model
    if model and model.best is not None and document["classes"] and not line.has("allow") and not line.has("deny") and not line.has("scores") \
            and document["classes"][0]["index"] != model.best:
        raise Broken("another class wins", f"{document['classes'][0]} instead of {model.best}")


def run(line, document, world, err):
    fields(document, ["model", "outputs", "milliseconds", "threads", "kernels"], "an answer")


def inspect(line, document, world, err):
    if not isinstance(document, dict) or not document:
        raise Broken("an inspection says nothing")


def evaluation(line, document, world, err):
    fields(document, ["task", "data", "model", "files", "worst", "guesses", "failures"], "an evaluation")
    for key in ("top1", "top5", "ap", "ap50", "ar100", "miou", "pixel_accuracy", "auc"):
        if document.get(key) is not None:
            number(document[key], key, 0, 1)
    if document.get("top5") is not None and document["top5"] < document["top1"]:
        raise Broken("top-5 is below top-1", document["top5"])
    if document["files"] < 0 or len(document["failures"]) != sum(entry.startswith("error: ") for entry in err):
        raise Broken("the failures are not the errors", document["failures"][:3])
    if (document["files"] > 0) != any(document.get(key) is not None for key in ("top1", "miou", "auc", "ap")) and document["task"] == "classify":
        raise Broken("files without an accuracy", document["files"])


CHECKS = {"evaluate": evaluation, "detect": detect, "classify": classify, "embed": embed, "compare": compare, "gallery add": added, "gallery find": find, "faces": faces,
          "keypoints": keypoints, "segment": segment, "transform": transform, "hear": hear, "run": run, "inspect": inspect, **live.CHECKS}


# MARK: Files


def written(line, ending, documents, outputs, world):
    """Checks the files that a command wrote."""
    name = line.command.name
    for path in outputs:
        data = (world.folder / path).read_bytes()
        if name == "track":
            live.tracks(line, data.decode("utf-8"), documents[0] if documents else None)
            continue
        if not data:
            raise Broken("a file is empty", path)
        if path.endswith((".png", ".jpg", ".ppm")):
            try:
                image = Image.open(io.BytesIO(data))
                image.load()
            except Exception as error:
                raise Broken("a picture that was written cannot be read", f"{path}: {error}") from None
            sized(line, name, path, image, documents, world)
        if path.endswith(".npy"):
            try:
                values = np.load(io.BytesIO(data), allow_pickle=False)
            except Exception as error:
                raise Broken("a tensor that was written cannot be read", f"{path}: {error}") from None
            # A picture that fails is a row of NaN.
            if name == "embed" and not (values.dtype == np.float32 and values.ndim == 2 and (
                    np.isfinite(values).all() or ending.status == 2)):
                raise Broken("embeddings are no finite rows of float32", f"{values.dtype} {values.shape}")
    if name == "run" and ending.status == 0 and documents:
        for entry in documents[0]["outputs"]:
            if "file" not in entry:
                continue
            values = np.load(world.folder / entry["file"], allow_pickle=False)
            if list(values.shape) != entry["shape"]:
                raise Broken("a tensor has another shape than the answer says", f"{values.shape}, {entry['shape']}")


def sized(line, name, path, image, documents, world):
    single = world.by_path.get(line.positionals[0]) if len(line.positionals) == 1 else None
    if single is None or not single.is_valid or name not in ("detect", "classify", "faces", "keypoints", "segment", "filter"):
        return
    if line.has("align-dir"):
        return
    if image.size != tuple(single.size):
        raise Broken("a picture that was written has another size", f"{path}: {image.size} for {single.size}")
    # Masks have classes outside of what the model saw, which no share counts.
    if line.has("region") or line.value("fit") == "center-crop":
        return
    if name == "segment" and documents and path in (line.value("output"), *(found for found in [path] if found.startswith("out/masks"))):
        values, counts = np.unique(np.asarray(image), return_counts=True)
        shares = {int(value): count / image.width / image.height for value, count in zip(values, counts)}
        expected = {entry["index"]: entry["share"] for entry in documents[0].get("classes", [])}
        if set(shares) != set(expected) or any(abs(shares[index] - expected[index]) > 1e-6 for index in shares):
            raise Broken("a mask's pixels are not the answer's shares", f"{list(shares.items())[:5]}, {list(expected.items())[:5]}")
