# SPDX-License-Identifier: Apache-2.0
"""Names of classes: the server's tasks, its classification extension and `apus-worker` have those of the command line."""

import json
import os
import struct
import subprocess

import numpy as np
import pytest
from described_models import classifier, described, exported
from PIL import Image
from server import Server

NAMES = {
    "heads": (["apple", "birch", "cedar", "daisy"], ["red", "green", "blue", "gray"]),
    "export": {"0": "cat", "1": "dog", "2": "owl"},
    "background": ["ant", "bee", "cow", "doe"],
    "pair": ["nothing", "something"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two heads with a file each, an export, a list that leaves out the background, and two names for one score."""
    folder = tmp_path_factory.mktemp("labels")
    (folder / "heads.tflite").write_bytes(described(classifier(4, 4), NAMES["heads"]))
    (folder / "export.tflite").write_bytes(exported(classifier(3), "classify", NAMES["export"]))
    for name, count in (("background", 5), ("pair", 1)):
        (folder / name).mkdir()
        (folder / name / "model.tflite").write_bytes(classifier(count).bytes())
        (folder / name / "labels.txt").write_text("\n".join(NAMES[name]))
    return folder


@pytest.fixture(scope="module")
def labelled(folder):
    with Server("--model-repository", folder) as server:
        yield server
        assert server.stop() == 0


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    path = tmp_path_factory.mktemp("picture") / "picture.png"
    Image.fromarray(np.random.default_rng(3).integers(0, 256, (8, 8, 3), np.uint8)).save(path)
    return path


def command(folder, name):
    """The model and the labels of the command line."""
    if (folder / name).is_dir():
        return [folder / name / "model.tflite", "--labels", folder / name / "labels.txt"]
    return [folder / f"{name}.tflite"]


def heads(answer):
    """The classes of each head with their labels."""
    return [{found["index"]: found["label"] for found in head["classes"]} for head in answer.get("heads", [answer])]


def by_command(folder, name, picture):
    model, *labels = command(folder, name)
    done = subprocess.run(
        [os.environ["APUS"], "classify", picture, "--json", "--top", "9", "--model", model, *labels], capture_output=True, check=True)
    return heads(json.loads(done.stdout))


def test_the_command_line_has_the_right_names(folder, picture):
    """What the others are compared with."""
    assert by_command(folder, "heads", picture) == [dict(enumerate(names)) for names in NAMES["heads"]]
    assert by_command(folder, "export", picture) == [dict(enumerate(NAMES["export"].values()))]
    assert by_command(folder, "background", picture) == [dict(enumerate([None, *NAMES["background"]]))]
    assert by_command(folder, "pair", picture) == [dict(enumerate(NAMES["pair"]))]


@pytest.mark.parametrize("name", NAMES)
def test_tasks_of_the_server(labelled, folder, picture, name):
    status, answer = labelled.json(f"/v1/classify?model={name}&max_results=9", picture.read_bytes())
    assert status == 200 and heads(answer) == by_command(folder, name, picture)


@pytest.mark.parametrize("name", NAMES)
def test_workers(folder, picture, name):
    file = picture.read_bytes()
    worker = subprocess.run(
        [os.environ["APUS_WORKER"], "classify", *command(folder, name), "--max-results", "9"],
        input=struct.pack("<II", len(file), 1) + file, capture_output=True, check=True)
    assert heads(json.loads(worker.stdout)) == by_command(folder, name, picture)


@pytest.mark.parametrize("name", NAMES)
def test_classes_of_the_protocol(labelled, folder, picture, name):
    """Each output has the names that the task has for its head."""
    expected = by_command(folder, name, picture)
    body = {
        "inputs": [{"name": "image", "shape": [1, 8, 8, 3], "datatype": "FP32", "data": [0.5] * 192}],
        "outputs": [{"name": f"scores{number}", "parameters": {"classification": 9}} for number in range(len(expected))],
    }
    status, answer = labelled.json(f"/v2/models/{name}/infer", body)
    assert status == 200 and len(answer["outputs"]) == len(expected)
    for output, names in zip(answer["outputs"], expected):
        found = {}
        for text in output["data"]:
            _, index, *label = text.split(":")
            found[int(index)] = label[0] if label else None
        # The one score of a pair is that of the second class.
        assert found == ({0: "something"} if name == "pair" else names)


OWN = ["NAME.txt", "NAME.labels.txt", "NAME_labels.txt"]
COMMON = ["labels.txt", "labelmap.txt", "dict.txt"]


def test_the_label_files_of_a_file_and_of_folders_have_the_same_names(tmp_path, picture):
    """A model without labels beside each of the files, alone, in its folder, and in a folder of a version."""
    model = classifier(2).bytes()

    def put(path, labels):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(model)
        (path.parent / labels).write_text("this\nthat\n")

    repository, files = tmp_path / "repository", []
    for number, labels in enumerate(OWN + COMMON):
        for place in ("", "1/"):
            name = f"m{number}{place[:-1]}v"
            put(repository / name / f"{place}model.tflite", labels.replace("NAME", name))
            if labels in OWN:
                put(repository / f"{name}b" / f"{place}model.tflite", labels.replace("NAME", "model"))
        path = tmp_path / str(number) / f"file{number}.tflite"
        put(path, labels.replace("NAME", path.stem))
        files.append(path)
    # Those of one file are not those of another in its folder, and nobody knows whose the common ones are.
    for name in ("a", "b"):
        put(tmp_path / "shared" / f"{name}.tflite", "labels.txt")
        files.append(tmp_path / "shared" / f"{name}.tflite")
    with Server("--model-repository", repository, *files) as server:
        names = [entry["name"] for entry in server.json("/v2/repository/index", b"")[1]]
        assert len(names) == 2 * 9 + 6 + 2
        for name in names:
            found = server.json(f"/v1/classify?model={name}", picture.read_bytes())[1]["classes"]
            assert {one["label"] for one in found} == ({None} if name in "ab" else {"this", "that"}), name
        assert server.stop() == 0


def warnings(lines):
    """The reasons of the warnings in a server's log."""
    entries = [json.loads(line) for line in lines if line.startswith("{")]
    return [entry["reason"] for entry in entries if entry.get("message") == "task"]


def test_what_is_suspicious_is_said_once_in_the_log(tmp_path, picture):
    (tmp_path / "short.tflite").write_bytes(classifier(4).bytes())
    (tmp_path / "short.txt").write_text("this\nthat\n")
    with Server(tmp_path / "short.tflite", "--instances", 2) as server:
        for query in ("", "", "max_results=1", "pixels=0.5:0.5", "pixels=0.5:0.5", "max_results=2"):
            assert server.request(f"/v1/classify?{query}", picture.read_bytes())[0] == 200
        # The log is read by a thread of the test's own.
        assert server.stop() == 0
        said = warnings(server.lines)
    assert len(said) == 2 and "2 labels for 4 classes" in said[0] and "0.5:0.5" in said[1], said


def test_what_is_suspicious_is_said_once_by_the_worker(tmp_path, picture):
    (tmp_path / "short.tflite").write_bytes(classifier(4).bytes())
    (tmp_path / "short.txt").write_text("this\nthat\n")
    file = picture.read_bytes()
    done = subprocess.run(
        [os.environ["APUS_WORKER"], "classify", tmp_path / "short.tflite", "--labels", tmp_path / "short.txt"],
        input=(struct.pack("<II", len(file), 1) + file) * 3, capture_output=True, check=True)
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 1 and lines[0].startswith("warning: there are 2 labels for 4 classes"), lines
    assert len(done.stdout.splitlines()) == 3
