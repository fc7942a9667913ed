# SPDX-License-Identifier: Apache-2.0
"""Spark with `apus-worker`: nothing is lost or doubled when workers and executors die.

Runs where `pyspark pandas pyarrow` are installed; APUS_WORKER is the worker, APUS the command line.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import apus_spark  # noqa: E402

os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["PYTHONPATH"] = str(Path(__file__).parent)
WORKER = os.environ["APUS_WORKER"]
COUNT = 400


@pytest.fixture(scope="session")
def sample(tmp_path_factory):
    """The embedded picture, as the server hands it out."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Tests"))
    from server import Server

    with Server() as server:
        return server.request("/sample.jpg")[2]


@pytest.fixture(scope="session")
def pictures(sample, tmp_path_factory):
    """Good pictures, a damaged one and one that is no picture."""
    folder = tmp_path_factory.mktemp("pictures")
    for number in range(COUNT - 2):
        (folder / f"{number:04}.jpg").write_bytes(sample)
    (folder / "damaged.jpg").write_bytes(sample[:3000])
    (folder / "text.jpg").write_bytes(b"hello")
    return folder


def session(master):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false").config(
        "spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    for name, value in apus_spark.SETTINGS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@pytest.fixture
def spark(request):
    found = session(request.param)
    yield found
    found.stop()


def children(kind):
    """The processes below this one whose command line has `kind`."""
    commands, parents = {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                commands[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                pass

    def is_below(process):
        while process in parents and process != os.getpid():
            process = parents[process]
        return process == os.getpid()

    return [process for process, command in commands.items() if kind in command and is_below(process)]


def kill_one(kind, after):
    """Kills one process of a kind as soon as there is one, and some work was done."""
    killed = []

    def run():
        end = time.monotonic() + 60
        while time.monotonic() < end and not killed:
            for process in children(kind):
                time.sleep(after)
                try:
                    os.kill(process, signal.SIGKILL)
                    killed.append(process)
                    return
                except ProcessLookupError:
                    continue
            time.sleep(0.02)

    threading.Thread(target=run, daemon=True).start()
    return killed


def check(rows):
    """Each picture once; damage is an error in its row."""
    assert len(rows) == COUNT and len({row["path"] for row in rows}) == COUNT
    for row in rows:
        name = row["path"].rsplit("/", 1)[1]
        if name in ("damaged.jpg", "text.jpg"):
            assert row["error"] and row["detections"] is None
        else:
            assert row["error"] is None and len(row["detections"]) == 8, row
        assert row["milliseconds"] > 0 and row["length"] >= 0 and row["modificationTime"] is not None


@pytest.mark.parametrize("spark", ["local[2,4]"], indirect=True)
def test_rows_are_those_of_the_command_line(spark, pictures, sample, tmp_path):
    found = apus_spark.detect(apus_spark.read_pictures(spark, str(pictures)), "shapes", worker=WORKER)
    rows = found.collect()
    check(rows)
    (tmp_path / "p.jpg").write_bytes(sample)
    expected = json.loads(subprocess.run(
        [os.environ["APUS"], "detect", tmp_path / "p.jpg", "--json"], check=True, capture_output=True).stdout)
    row = next(row for row in rows if row["path"].endswith("0000.jpg"))
    assert [found["label"] for found in row["detections"]] == [found["label"] for found in expected["detections"]]
    for mine, theirs in zip(row["detections"], expected["detections"]):
        assert mine["index"] == theirs["index"] and abs(mine["score"] - theirs["score"]) < 1e-6
        assert all(abs(mine["box"][side] - theirs["box"][side]) < 1e-3 for side in ("x", "y", "width", "height"))
    assert [field.name for field in found.schema] == [
        "path", "length", "modificationTime", "model", "detections", "milliseconds", "error"]


@pytest.mark.parametrize("spark", ["local[2,4]"], indirect=True)
def test_a_killed_worker_loses_and_doubles_nothing(spark, pictures, tmp_path):
    killed = kill_one("apus-worker detect shapes", 0.05)
    pictures = apus_spark.read_pictures(spark, str(pictures)).repartition(8)
    apus_spark.detect(pictures, "shapes", worker=WORKER).write.parquet(str(tmp_path / "out"))
    assert killed, "no worker was killed"
    assert (tmp_path / "out" / "_SUCCESS").exists()
    check(spark.read.parquet(str(tmp_path / "out")).collect())


@pytest.mark.parametrize("spark", ["local[2,4]"], indirect=True)
def test_a_picture_that_ends_workers_is_a_row_with_an_error(spark, sample, tmp_path):
    """A worker that ends, and one that hangs, at the same picture each time: the job goes on without that picture."""
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(12):
        (folder / f"{number:02}.jpg").write_bytes(sample)
    for number, name in enumerate(("kills", "hangs")):
        (folder / f"{name}.jpg").write_bytes(name.encode() + bytes(64))
    stand_in = tmp_path / "worker"
    stand_in.write_text(f"""#!{sys.executable}
import subprocess, struct, sys, time
worker = subprocess.Popen([{WORKER!r}, *sys.argv[1:]], stdin=subprocess.PIPE)
while head := sys.stdin.buffer.read(8):
    picture = sys.stdin.buffer.read(struct.unpack("<II", head)[0])
    if picture.startswith((b"kills", b"hangs")):
        worker.stdin.close()
        worker.wait()
        time.sleep(1000 if picture.startswith(b"hangs") else 0)
        sys.exit(9)
    worker.stdin.write(head + picture)
    worker.stdin.flush()
""")
    stand_in.chmod(0o755)
    found = apus_spark.detect(apus_spark.read_pictures(spark, str(folder)), "shapes", worker=str(stand_in), patience=2.0,
                              deadline=1.0)
    rows = {row["path"].rsplit("/", 1)[1]: row for row in found.collect()}
    assert len(rows) == 14
    assert "two workers ended" in rows.pop("kills.jpg")["error"] and "did not answer" in rows.pop("hangs.jpg")["error"]
    assert all(row["error"] is None and len(row["detections"]) == 8 for row in rows.values())


@pytest.mark.parametrize("spark", ["local[2,4]"], indirect=True)
def test_a_model_that_cannot_be_loaded_fails_the_job(spark, pictures, tmp_path):
    (tmp_path / "broken.tflite").write_bytes(b"TFL3 no")
    with pytest.raises(Exception, match="model"):
        apus_spark.detect(apus_spark.read_pictures(spark, str(pictures)), tmp_path / "broken.tflite", worker=WORKER).collect()


@pytest.mark.parametrize("spark", ["local-cluster[2,1,1024]"], indirect=True)
def test_a_killed_executor_loses_and_doubles_nothing(spark, pictures, tmp_path):
    killed = kill_one("apus-worker detect shapes", 0)
    executors = []

    def executor():
        while not killed:
            time.sleep(0.02)
        found = children("CoarseGrainedExecutorBackend")
        for process in found:
            if "java" in (Path("/proc") / str(process) / "cmdline").read_bytes().decode().split("\0")[0]:
                os.kill(process, signal.SIGKILL)
                executors.append(process)
                return

    thread = threading.Thread(target=executor, daemon=True)
    thread.start()
    pictures = apus_spark.read_pictures(spark, str(pictures)).repartition(16)
    apus_spark.detect(pictures, "shapes", worker=WORKER).write.parquet(str(tmp_path / "out"))
    assert killed and executors, "no executor was killed"
    assert (tmp_path / "out" / "_SUCCESS").exists()
    check(spark.read.parquet(str(tmp_path / "out")).collect())


@pytest.mark.parametrize("spark", ["local[2,4]"], indirect=True)
def test_packed_pictures_are_those_of_the_folder(spark, pictures, tmp_path):
    """Pictures that were written to Parquet files have the rows that the folder has."""
    apus_spark.read_pictures(spark, str(pictures)).repartition(2).write.parquet(str(tmp_path / "packed"))
    check(apus_spark.detect(spark.read.parquet(str(tmp_path / "packed")), "shapes", worker=WORKER).collect())


def test_a_thousand_pictures_as_the_readme_says(sample, tmp_path):
    """The README's command, with the folders and programs of this machine in place of its own."""
    folder = tmp_path / "in"
    for number in range(1000):
        (folder / f"{number % 10}").mkdir(parents=True, exist_ok=True)
        (folder / f"{number % 10}" / f"{number:04}.jpg").write_bytes(sample)
    readme = (Path(apus_spark.__file__).parents[1] / "README.md").read_text()
    command, = (line for line in readme.splitlines() if line.startswith("spark-submit "))
    here = {"spark-submit": Path(sys.executable).parent / "spark-submit", "spark/apus_spark.py": apus_spark.__file__,
            "INPUT": folder, "OUTPUT": tmp_path / "out", "detect.tflite": "shapes", "/usr/local/bin/apus-worker": WORKER}
    words = [str(here.get(word, word)) for word in command.split()]
    assert all(str(value) in words for value in here.values()), command
    words[1:1] = ["--master", "local[2,4]", "--conf", "spark.ui.enabled=false"]
    done = subprocess.run(words, timeout=600, capture_output=True, text=True, env={**os.environ, "PYSPARK_PYTHON": sys.executable})
    assert done.returncode == 0, done.stderr[-3000:]
    import pyarrow.parquet

    rows = pyarrow.parquet.read_table(tmp_path / "out").to_pylist()
    assert len(rows) == 1000 and len({row["path"] for row in rows}) == 1000
    assert all(row["error"] is None and len(row["detections"]) == 8 for row in rows)
