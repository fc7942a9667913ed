# SPDX-License-Identifier: Apache-2.0
"""Model repositories with what nobody meant to put there: the server starts, serves the rest, and says why not."""

import json
import os
import re
import socket
import subprocess
import unicodedata

import pytest
from server import Server

SIMPLE = json.dumps({"inputs": [{"name": f"INPUT{k}", "shape": [1, 16], "datatype": "INT32", "data": [1] * 16}
                                for k in (0, 1)]}).encode()


@pytest.fixture
def folder(models, tmp_path):
    """A repository with one good model."""
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "good.tflite").write_bytes((models / "simple.tflite").read_bytes())
    return folder


def index(server):
    return {entry["name"]: entry for entry in server.json("/v2/repository/index", b"")[1]}


def test_pipes_devices_sockets_and_links_do_not_stop_the_start(folder, models):
    os.mkfifo(folder / "pipe.tflite")
    (folder / "zero.tflite").symlink_to("/dev/zero")
    (folder / "terminal.tflite").symlink_to("/dev/tty")
    (folder / "itself.tflite").symlink_to("itself.tflite")
    (folder / "nowhere.tflite").symlink_to("nothing")
    (folder / "loop").symlink_to("loop")
    (folder / "up.tflite").symlink_to(".")
    with socket.socket(socket.AF_UNIX) as listener:
        before = os.getcwd()
        os.chdir(folder)
        listener.bind("socket.tflite")
        os.chdir(before)
    for name in ("inner", "numbered/1", "labelled", "pipes/1", "round"):
        (folder / name).mkdir(parents=True)
    os.mkfifo(folder / "inner" / "model.tflite")
    os.mkfifo(folder / "numbered" / "1" / "model.tflite")
    (folder / "labelled" / "model.tflite").write_bytes((models / "simple.tflite").read_bytes())
    os.mkfifo(folder / "labelled" / "labels.txt")
    os.mkfifo(folder / "pipes" / "1" / "labels.txt")
    (folder / "round" / "1").symlink_to("..")
    (folder / "beside.tflite").write_bytes((models / "simple.tflite").read_bytes())
    os.mkfifo(folder / "beside.txt")
    with Server("--model-repository", folder, "--model-control", "explicit") as server:
        entries = index(server)
        assert entries["good"]["state"] == "READY"
        assert server.request("/v2/models/good/infer", SIMPLE)[0] == 200
        refused = {"pipe", "zero", "terminal", "itself", "nowhere", "loop", "socket", "inner", "numbered", "labelled", "beside"}
        for name in refused:
            assert entries[name]["state"] == "UNAVAILABLE" and len(entries[name]["reason"]) > 10, entries[name]
            assert server.json(f"/v2/repository/models/{name}/load", b"")[0] == 400
        assert set(entries) == refused | {"good"}
        assert "not a regular file" in entries["labelled"]["reason"]
        logged = {entry.get("model") for entry in map(json.loads, (line for line in server.lines if line.startswith("{")))
                  if entry["message"] == "not served"}
        assert refused <= logged
        assert server.stop() == 0


@pytest.mark.parametrize("special", ["pipe", "/dev/zero", "socket", "folder", "loop"])
def test_a_model_that_is_no_file_is_an_error_at_once(tmp_path, special):
    path = tmp_path / "model.tflite"
    listener = socket.socket(socket.AF_UNIX)
    if special == "pipe":
        os.mkfifo(path)
    elif special == "socket":
        listener.bind(str(path))
    elif special == "folder":
        path.mkdir()
    else:
        path.symlink_to("model.tflite" if special == "loop" else special)
    done = subprocess.run([os.environ["APUS_SERVER"], "--grpc", "off", "--http", "127.0.0.1:0", path], capture_output=True,
                          text=True, timeout=30)
    assert done.returncode == 1 and done.stderr.count("error: ") == 1, done.stderr


def test_unreadable_files_and_folders_have_a_reason(folder, models):
    (folder / "locked.tflite").write_bytes((models / "simple.tflite").read_bytes())
    (folder / "locked.tflite").chmod(0)
    (folder / "closed").mkdir(mode=0)
    if os.access(folder / "locked.tflite", os.R_OK):
        pytest.skip("this user reads everything")
    with Server("--model-repository", folder) as server:
        entries = index(server)
        assert entries["good"]["state"] == "READY"
        assert "locked.tflite" in entries["locked"]["reason"] and "closed" in entries["closed"]["reason"]


@pytest.mark.parametrize("names", [
    ("caf\u00e9.tflite", "cafe\u0301.tflite"), ("\u212b.tflite", "\u00c5.tflite"), ("\u1e9b\u0323.tflite", "\u017f\u0323\u0307.tflite"),
    ("e\u0301/model.tflite", "\u00e9.tflite"), ("e\u0301/1/model.tflite", "\u00e9/1/model.tflite")])
def test_names_that_are_equal_in_unicode_are_one_name(folder, models, names):
    forms = {unicodedata.normalize("NFC", name) for name in names}
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((models / "simple.tflite").read_bytes())
    done = subprocess.run([os.environ["APUS_SERVER"], "--grpc", "off", "--http", "127.0.0.1:0", "--model-repository", folder],
                          capture_output=True, text=True, timeout=30)
    assert done.returncode == 1 and "two models have the name" in done.stderr, (done.stderr, forms)


def test_a_second_model_of_a_name_is_not_loaded_later(folder, models):
    data = (models / "simple.tflite").read_bytes()
    (folder / "\u00e9.tflite").write_bytes(data)
    with Server("--model-repository", folder, "--model-control", "explicit") as server:
        (folder / "e\u0301.tflite").write_bytes(data)
        status, answer = server.json("/v2/repository/models/%C3%A9/load", b"")
        assert status >= 400 and "two models have the name" in answer["error"]
        # Either form of the name asks for the one that is there.
        for name in ("%C3%A9", "e%CC%81"):
            assert server.request(f"/v2/models/{name}/infer", SIMPLE)[0] == 200
        assert server.stop() == 0


HOSTILE = ["a\nb", "esc\x1b[31mred", "bell\x07", "return\rX", "c1\u009b31m", "delete\x7f", "line\u2028break", "turn\u202etxt", "next\u0085line"]
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]")


def test_control_characters_of_names_reach_no_terminal_and_forge_no_line(folder, models):
    data = (models / "simple.tflite").read_bytes()
    for name in HOSTILE:
        (folder / f"{name}.tflite").write_bytes(data)
        (folder / f"broken {name}.tflite").write_bytes(b"no model")
    with Server("--model-repository", folder, "--log-level", "info") as server:
        assert {entry["name"] for entry in server.json("/v2/repository/index", b"")[1]} >= set(HOSTILE)
        for path in ("/v2/repository/index", "/metrics", "/v2/models/stats"):
            text = server.request(path, b"" if "index" in path else None)[2].decode()
            assert not UNSAFE.search(text.replace("\n", "")), path
        metrics = server.request("/metrics")[2].decode()
        for line in metrics.splitlines():
            assert re.fullmatch(r'#.*|\w+\{(\w+="(\\.|[^"\\])*",?)*\} [0-9.e+-]+', line), line
        served = {line.split('model="')[1].split('",')[0] for line in metrics.splitlines() if 'model="' in line}
        assert len(served) == len(HOSTILE) + 1
        server.request("/v2/models/a%0A%1B%5B31mb?x=%0A", headers={"X-Request-Id": "a\x80b"})
        for line in server.lines:
            assert not UNSAFE.search(line), line
            assert line.startswith(("http ", "grpc ")) or json.loads(line)
        assert server.stop() == 0


def test_an_error_at_the_start_is_one_line_without_control_characters(tmp_path):
    path = str(tmp_path / "no\x1b[31m\nerror: such\u009bfile.tflite")
    done = subprocess.run([os.environ["APUS_SERVER"], "--grpc", "off", path], capture_output=True, text=True, timeout=30)
    assert done.returncode == 1 and not UNSAFE.search(done.stderr.rstrip("\n")), done.stderr


def test_endings_of_files_may_have_capitals(folder, models):
    (folder / "Loud.TFLITE").write_bytes((models / "simple.tflite").read_bytes())
    with Server("--model-repository", folder) as server:
        entries = index(server)
        assert entries["Loud"]["state"] == entries["good"]["state"] == "READY", entries
        assert server.request("/v2/models/Loud/infer", SIMPLE)[0] == 200
        assert server.stop() == 0


def test_the_log_has_the_shapes_that_metadata_has(test_data):
    """The file of an SSD gives its outputs no shapes."""
    with Server(test_data / "models" / "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29_metadata.tflite") as server:
        name = server.json("/v2/repository/index", b"")[1][0]["name"]
        described = server.json(f"/v2/models/{name}")[1]["outputs"]
        said = next(json.loads(line) for line in server.lines if '"serving"' in line)["outputs"]
        assert said == ", ".join(f"{output['name']} {output['datatype']} {output['shape']}" for output in described)
        assert [1, 10, 4] in [output["shape"] for output in described]
        assert server.stop() == 0


def test_models_that_are_named_are_loaded_at_the_start(models):
    """As by Triton, whose clients load the others."""
    def states(server):
        return {entry["name"]: entry["state"] for entry in server.json("/v2/repository/index", b"{}")[1]}

    with Server("--model-repository", models, "--model-control", "explicit") as server:
        names = sorted(name for name, state in states(server).items() if state == "READY")
        assert server.stop() == 0
    first, second, other = names[:3]
    with Server("--model-repository", models, "--model-control", "explicit", "--load-model", first, "--load-model", second) as server:
        assert sorted(name for name, state in states(server).items() if state == "READY") == [first, second]
        assert set(states(server)) >= set(names) and server.request("/v2/health/ready")[0] == 200
        assert server.request(f"/v2/models/{other}/ready")[0] == 400
        assert server.request(f"/v2/repository/models/{other}/load", b"{}")[0] == 200
        assert server.request(f"/v2/models/{other}/ready")[0] == 200
        assert server.stop() == 0
    for options, message in ((["--load-model", "nothing"], "there is no model 'nothing' to load"),
                             (["--load-model", first, "--model-control", "none"], "--load-model is for --model-control explicit")):
        ended = subprocess.run([os.environ["APUS_SERVER"], "--http", "127.0.0.1:0", "--grpc", "off", "--model-repository", models,
                                "--model-control", "explicit", *options], capture_output=True, text=True, timeout=60)
        assert ended.returncode != 0 and message in ended.stderr, ended.stderr
