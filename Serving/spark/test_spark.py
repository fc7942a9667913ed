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
    """The processes whose command line has `kind`, below this one."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if kind in (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode():
                    found.append(int(folder.name))
            except OSError:
                pass
    return found


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


def test_as_a_job(pictures, tmp_path):
    submit = Path(sys.executable).parent / "spark-submit"
    subprocess.run(
        [submit, "--master", "local[2,4]", "--conf", "spark.ui.enabled=false", Path(apus_spark.__file__), "--input", pictures,
         "--output", tmp_path / "out", "--model", "shapes", "--worker", WORKER],
        check=True, timeout=300, capture_output=True, env={**os.environ, "PYSPARK_PYTHON": sys.executable})
    import pyarrow.parquet

    check(pyarrow.parquet.read_table(tmp_path / "out").to_pylist())
