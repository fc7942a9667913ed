# SPDX-License-Identifier: Apache-2.0
"""Spark with `apus-worker`: nothing is lost or doubled when workers and executors die.

Runs where `pyspark pandas pyarrow` are installed; APUS_WORKER is the worker, APUS the command line.
"""

import hashlib
import json
import math
import os
import shutil
import signal
import socket
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


def test_times_are_those_of_the_clock_in_every_time_zone(monkeypatch):
    """On a driver and an executor of different zones, and in the hour that comes twice at the end of summer."""
    from pyspark.sql.types import TimestampType

    seconds = 1792888200  # 2026-10-25 02:30 in Berlin, the first time.
    try:
        for driver, executor in (("Europe/Berlin", "Europe/Berlin"), ("America/New_York", "UTC"), ("UTC", "Asia/Tokyo")):
            monkeypatch.setenv("TZ", driver)
            time.tzset()
            moment = apus_spark._moment(seconds + 0.25)
            monkeypatch.setenv("TZ", executor)
            time.tzset()
            assert TimestampType().toInternal(moment) == seconds * 1_000_000 + 250_000, (driver, executor)
    finally:
        monkeypatch.undo()
        time.tzset()


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
        "path", "length", "modificationTime", "model", "detections", "milliseconds", "error", "warning"]
    assert all(row["warning"] is None for row in rows)


def overwritten(sample):
    """A JPEG whose pixels are damaged from the middle on, with its end."""
    middle = len(sample) // 2
    return sample[:middle] + bytes((37 * number) % 251 for number in range(len(sample) - middle - 2)) + sample[-2:]


@pytest.mark.parametrize("spark", ["local[2,4]"], indirect=True)
def test_a_damaged_picture_that_can_be_read_has_a_warning(spark, sample, tmp_path):
    (tmp_path / "good.jpg").write_bytes(sample)
    (tmp_path / "half.jpg").write_bytes(overwritten(sample))
    good, half = apus_spark.detect(apus_spark.read_pictures(spark, str(tmp_path)), "shapes", worker=WORKER).orderBy("path").collect()
    assert good["warning"] is good["error"] is half["error"] is None and half["detections"] is not None
    assert half["warning"].startswith("the file is damaged, so parts of the picture may be wrong (")


@pytest.mark.parametrize("spark", ["local[2,4]"], indirect=True)
def test_options_are_those_of_the_command_line(spark, sample, tmp_path):
    (tmp_path / "p.jpg").write_bytes(sample)
    options = {"score_threshold": 0.05, "iou_threshold": 0.9, "class_agnostic": True, "multi_label": True, "resampling": "nearest",
               "fit": "center-crop", "allow": ["circle", "triangle"]}
    words = [word for name, value in options.items() for single in (value if isinstance(value, list) else [value])
             for word in (["--" + name.replace("_", "-")] + ([] if single is True else [str(single)]))]
    expected = json.loads(subprocess.run(
        [os.environ["APUS"], "detect", tmp_path / "p.jpg", "--json", *words], check=True, capture_output=True).stdout)["detections"]
    row, = apus_spark.detect(apus_spark.read_pictures(spark, str(tmp_path)), "shapes", worker=WORKER, **options).collect()
    assert [(found["index"], found["label"]) for found in row["detections"]] == [(found["index"], found["label"]) for found in expected]
    assert [found["score"] for found in row["detections"]] == pytest.approx([found["score"] for found in expected], abs=1e-6)
    row, = apus_spark.detect(apus_spark.read_pictures(spark, str(tmp_path)), "shapes", worker=WORKER, deny=["circle"]).collect()
    assert row["detections"] and all(found["label"] != "circle" for found in row["detections"])


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


def stand_in(tmp_path, answer, name="worker"):
    """A program in the worker's place: `answer` is Python that writes an answer to `picture`, whose number is `number`."""
    program = tmp_path / name
    program.write_text(f"""#!{sys.executable}
import json, os, struct, sys
out = sys.stdout
while head := sys.stdin.buffer.read(8):
    length, number = struct.unpack("<II", head)
    picture = sys.stdin.buffer.read(length)
    good = json.dumps({{"id": number, "detections": []}}) + "\\n"
    if not picture:
        out.write(json.dumps({{"id": number, "error": "no bytes"}}) + "\\n")
    else:
        {answer}
    out.flush()
""")
    program.chmod(0o755)
    return str(program)


BOX = '{"x": 0, "y": 0, "width": 1, "height": 1}'
POINTS = '{"name": "nose", "x": 1.5, "y": 2, "score": 0.75}, {"name": null, "x": 3, "y": "NaN", "score": null}'
LINES = {
    # What is an answer in spite of everything.
    "noise": ("out.write('loading\\n\\n[1]\\n{}\\nnull\\n' + good)", None),
    "infinity": ("""out.write('{"id": %d, "detections": [{"label": "x", "index": 1, "score": "Infinity", "box": """ + BOX
                 + """}]}\\n' % number)""", None),
    "nan": ("""out.write('{"id": %d, "detections": [{"index": 1, "score": "NaN", "box": """ + BOX + """}]}\\n' % number)""", None),
    "beyond floats": ("""out.write('{"id": %d, "detections": [{"index": 1, "score": 1""" + "0" * 400 + """, "box": """ + BOX
                      + """}]}\\n' % number)""", None),
    "half a character": ("""out.write('{"id": %d, "detections": [{"label": "\\\\ud800", "index": 1, "score": 1, "box": """
                         + BOX + """}]}\\n' % number)""", None),
    "keypoints": ("""out.write('{"id": %d, "detections": [{"index": 0, "score": 1, "box": """ + BOX + """, "keypoints": [""" + POINTS
                  + """]}]}\\n' % number)""", None),
    # What is none.
    "keypoints that are none": ("""out.write('{"id": %d, "detections": [{"index": 0, "score": 1, "box": """ + BOX
                                + """, "keypoints": [{"x": 1}]}]}\\n' % number)""", "cannot be read"),
    "words": ("out.write('x\\n' * 2000)", "lines that are no answers"),
    "bytes": ("out.buffer.write(b'\\xff\\xfe\\0\\n' * 2000)", "lines that are no answers"),
    "deep": ("out.write('[' * 100000 + '\\n'); sys.exit(0)", "ended with status 0"),
    "another number": ("out.write(good.replace(str(number), str(number + 7)))", "in place of"),
    "no number": ("""out.write('{"id": "x"}\\n'); sys.exit(3)""", "ended with status 3"),
    "death": ("sys.exit(5)", "ended with status 5"),
    "death in a line": ("out.write(good[:-4]); out.flush(); os._exit(1)", "ended with status 1"),
    "no detections": ("""out.write('{"id": %d}\\n' % number)""", "cannot be read"),
    "other types": ("""out.write('{"id": %d, "detections": [{"score": [], "box": 3, "index": "x"}]}\\n' % number)""", "cannot be read"),
    "a large index": ("""out.write('{"id": %d, "detections": [{"index": 1""" + "0" * 30 + """, "score": 1, "box": """ + BOX
                      + """}]}\\n' % number)""", "cannot be read"),
    "an error that is no text": ("""out.write('{"id": %d, "error": {}}\\n' % number)""", "cannot be read"),
}


def run(command, pictures, limit=5):
    """The answers of a worker to pictures, as `detect` has them."""
    rows = [{"path": "p", "content": picture, "error": None, "file": None, "length": len(picture)} for picture in pictures]
    try:
        return apus_spark._looked_at(rows, [command], limit)
    finally:
        for worker in apus_spark._workers.values():
            worker.close()
        apus_spark._workers.clear()


@pytest.mark.parametrize("name", LINES)
def test_nothing_that_a_worker_prints_stops_a_job(tmp_path, name):
    answer, error = LINES[name]
    detections, times, errors = run(stand_in(tmp_path, answer), [b"one", b"two", b""])
    assert errors[2] == "no bytes" and len(detections) == len(times) == 3
    for number in (0, 1):
        assert (errors[number] is None) == (error is None) and (detections[number] is None) == (error is not None), errors
        assert error is None or error in errors[number], errors
    if name in ("infinity", "beyond floats"):
        assert detections[0][0]["score"] == math.inf
    if name == "keypoints":
        first, second = detections[0][0]["keypoints"]
        assert first == {"name": "nose", "x": 1.5, "y": 2, "score": 0.75}
        assert second["name"] is second["score"] is None and second["x"] == 3 and math.isnan(second["y"])
    elif error is None:
        assert all(found["keypoints"] == [] for found in detections[0])
    # What Spark stores.
    import pyarrow

    pyarrow.array(detections, apus_spark._arrow_schema().field("detections").type)
    pyarrow.array(errors, pyarrow.string())


@pytest.mark.parametrize("end", ["kill -9 $$", "kill -ILL $$", "exit 0", "exit 3"])
def test_a_worker_that_never_starts_fails_the_task(tmp_path, end):
    """Memory that runs out at the start is no picture's fault."""
    program = tmp_path / "worker"
    program.write_text(f"#!/bin/sh\n{end}\n")
    program.chmod(0o755)
    with pytest.raises(RuntimeError, match="ended with status") as raised:
        run(str(program), [b"one"])
    assert not isinstance(raised.value, apus_spark.WorkerDied)


def test_a_row_that_has_no_bytes_costs_itself_only(tmp_path):
    worker = stand_in(tmp_path, "out.write(good)")
    start = time.monotonic()
    _, _, errors = run(worker, [b"one", "text", [1, 2], b"two"], limit=30)
    assert errors[0] is errors[3] is None and "is str, not bytes" in errors[1] and "is list, not bytes" in errors[2]
    assert time.monotonic() - start < 20


def test_rows_without_a_length_and_with_an_empty_error_are_looked_at(tmp_path):
    (tmp_path / "p.jpg").write_bytes(b"picture")
    rows = [{"path": "p", "content": None, "error": None, "file": os.fsencode(tmp_path / "p.jpg"), "length": None},
            {"path": "q", "content": b"one", "error": "", "file": None, "length": 3}]
    try:
        detections, _, errors = apus_spark._looked_at(rows, [stand_in(tmp_path, "out.write(good)")], 5)
    finally:
        for worker in apus_spark._workers.values():
            worker.close()
        apus_spark._workers.clear()
    assert detections == [[], []] and errors == [None, None]


@pytest.mark.parametrize("spark", ["local[2,4]"], indirect=True)
def test_columns_of_other_types_are_refused_before_the_job(spark):
    rest = "path string, length bigint, modificationTime timestamp"
    for kind in ("string", "array<tinyint>"):
        with pytest.raises(TypeError, match="'content' is .*, not binary"):
            apus_spark.detect(spark.createDataFrame([], f"{rest}, content {kind}"), "shapes")
    with pytest.raises(ValueError, match="neither"):
        apus_spark.detect(spark.createDataFrame([], rest), "shapes")
    with pytest.raises(ValueError, match="'length'"):
        apus_spark.detect(spark.createDataFrame([], "path string, content binary"), "shapes")


def test_a_job_that_failed_runs_again_and_one_that_is_done_does_not(sample, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jpg").write_bytes(sample)

    def job(worker):
        return subprocess.run(
            [Path(sys.executable).parent / "spark-submit", "--master", "local[1]", "--conf", "spark.ui.enabled=false",
             apus_spark.__file__, "--input", tmp_path / "in", "--output", tmp_path / "out", "--model", "shapes",
             "--worker", worker], timeout=600, capture_output=True, text=True)

    assert job("/bin/false").returncode != 0 and (tmp_path / "out").exists()
    done = job(WORKER)
    assert done.returncode == 0 and "1 pictures, 1 rows" in done.stdout, done.stderr[-3000:]
    files = sorted((tmp_path / "out").iterdir())
    again = job(WORKER)
    assert again.returncode != 0 and "already exists" in again.stdout + again.stderr
    assert sorted((tmp_path / "out").iterdir()) == files


def test_the_start_of_a_worker_is_no_pictures_time(tmp_path):
    """That of the first worker, and of one that takes the place of another."""
    program, ended = tmp_path / "worker", tmp_path / "ended"
    program.write_text(f"""#!{sys.executable}
import os, struct, sys, time
time.sleep(2)
while head := sys.stdin.buffer.read(8):
    length, number = struct.unpack("<II", head)
    if sys.stdin.buffer.read(length) == b"ends" and not os.path.exists({str(ended)!r}):
        open({str(ended)!r}, "x").close()
        sys.exit(1)
    time.sleep(0.05)
    print('{{"id": %d, "detections": []}}' % number, flush=True)
""")
    program.chmod(0o755)
    _, times, errors = run(str(program), [b"one", b"two", b"ends", b"three"])
    assert ended.exists() and errors == [None] * 4
    assert all(50 <= time < 1500 for time in times), times


def test_an_endless_line_ends_its_worker(tmp_path, monkeypatch):
    monkeypatch.setattr(apus_spark.Worker, "LONGEST_LINE", 1 << 20)
    _, _, errors = run(stand_in(tmp_path, "[out.write('x' * 65536) for _ in range(64)]"), [b"one"])
    assert "a line of more than 1048576 bytes" in errors[0]


def test_an_answer_that_comes_twice_is_not_taken_for_the_next(tmp_path):
    """The second answer is read when the next picture waits, in the next batch too."""
    worker = stand_in(tmp_path, "out.write(good.replace('[]', '[], \"of\": \"%s\"' % picture.decode()) * 2)")
    for pictures in ([b"one", b"two"], [b"one"]):
        _, _, errors = run(worker, pictures)
        assert all(error is None or "in place of" in error for error in errors)
    kept = apus_spark.Worker([worker])
    try:
        assert [answer["of"] for answer in kept.answers([b"one"], 5)] == ["one"]
        with pytest.raises(apus_spark.WorkerDied, match="in place of"):
            list(kept.answers([b"two"], 5))
    finally:
        kept.close()


def test_rows_have_the_digest_of_the_model_that_made_them(tmp_path):
    """The model, and then the labels, are replaced under the same path: Spark reuses Python workers, and these keep workers."""
    worker, model, labels = tmp_path / "worker", tmp_path / "model.tflite", tmp_path / "labels.txt"
    worker.write_text(f"""#!{sys.executable}
import struct, sys
words = [open(path).read() for path in (sys.argv[2], sys.argv[3].split("=")[1])]
while head := sys.stdin.buffer.read(8):
    length, number = struct.unpack("<II", head)
    sys.stdin.buffer.read(length)
    label = " ".join(words)
    print('{{"id": %d, "detections": [{{"label": "%s", "index": 1, "score": 1, "box": '
          '{{"x": 0, "y": 0, "width": 1, "height": 1}}}}]}}' % (number, label), flush=True)
""")
    worker.chmod(0o755)
    command = [str(worker), "detect", str(model), f"--labels={labels}"]
    row = {"path": "p", "content": b"x", "error": None, "file": None, "length": 1}
    unread = row | {"error": "it cannot be read"}

    def labels_and_digests():
        models = []
        detections, _, errors = apus_spark._looked_at([row, unread, row], command, 5, models)
        assert errors == [None, "it cannot be read", None] and detections[1] is None
        return {detections[number][0]["label"] for number in (0, 2)}, models

    try:
        for words in (("old", "cat"), ("new", "cat"), ("new", "dog"), ("new", "dog")):
            for path, word in zip((model, labels), words):
                if not path.exists() or path.read_text() != word:
                    (tmp_path / "written").write_text(word)
                    os.replace(tmp_path / "written", path)
            digest = hashlib.sha256(words[0].encode()).hexdigest()
            assert labels_and_digests() == ({" ".join(words)}, [digest] * 3)
            assert len(children(str(worker))) == 1, "the former worker still runs"
    finally:
        for kept in apus_spark._workers.values():
            kept.close()
        apus_spark._workers.clear()


def test_pictures_are_named_as_the_command_line_knows_them(sample, tmp_path):
    """Every ending of `apus detect FOLDER` is one of a picture here."""
    names = [f"picture.{ending}" for ending in (*apus_spark.ENDINGS, "webp", "tiff", "gif", "txt")]
    for name in names:
        (tmp_path / name).write_bytes(sample)
    done = subprocess.run([os.environ["APUS"], "detect", tmp_path, "--json"], capture_output=True, text=True)
    known = [name for name in names if name in done.stdout + done.stderr]
    assert "picture.webp" in known and "picture.jfif" in known
    assert [name for name in names if apus_spark._Listing(None, None).is_picture(name)] == known


NAMES = ["IMG_0001.jpg", "_MG_0001.jpg", ".hidden.jpg", "_album/in.jpg", ".album/deep/in.jpg", "Photo.Jpg", "SHOUT.JPEG",
         "old.jpe", "new.jfif", "with space.jpg", "per%20cent.jpg", "col:on.jpg", "glob[1]{a}*?.jpg", "é.jpg", "e\u0301.jpg",
         "line\nbreak.jpg", "esc\x1b[31m.jpg", "x=1/part.jpg"]


@pytest.mark.parametrize("spark", ["local[2,4]"], indirect=True)
def test_every_file_has_a_row(spark, sample, tmp_path):
    """Hidden names, any case, empty, damaged, unreadable and huge files; what is left out is named."""
    folder = tmp_path / "in"
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(sample)
    with open(os.fsencode(folder) + b"/not-utf8-\xff.jpg", "wb") as file:
        file.write(sample)
    (folder / "empty.jpg").write_bytes(b"")
    (folder / "gone.png").symlink_to("nowhere")
    with open(folder / "huge.PNG", "wb") as file:
        file.truncate(3 << 30)
    (folder / "notes.txt").write_text("no picture")
    os.mkfifo(folder / "pipe.jpg")
    (folder / "loop").symlink_to(folder)
    with socket.socket(socket.AF_UNIX) as listener:
        os.chdir(folder)
        listener.bind("socket.jpg")
    listing = apus_spark._listed(spark, str(folder))
    assert listing.count == len(NAMES) + 4
    left = {path.rsplit("/", 1)[1]: reason for path, reason in listing.left_out}
    assert left == {"notes.txt": "it is not named as a picture", "pipe.jpg": "it is no regular file",
                    "socket.jpg": "it is no regular file"}
    for pictures in (listing.pictures(), apus_spark.read_pictures(spark, str(folder))):
        rows = {row["path"]: row for row in apus_spark.detect(pictures, "shapes", worker=WORKER).collect()}
        assert len(rows) == len(NAMES) + 4
        for name in NAMES:
            row = rows.pop(f"file:{folder}/{name}")
            assert row["error"] is None and len(row["detections"]) == 8 and row["length"] == len(sample)
        errors = {path.rsplit("/", 1)[1]: row["error"] for path, row in rows.items()}
        assert errors.pop("not-utf8-\\xff.jpg") is None
        assert "no bytes" in errors.pop("empty.jpg") and "No such file" in errors.pop("gone.png")
        assert "3221225472 bytes" in errors.pop("huge.PNG") and not errors


def test_a_file_that_python_reads_from_a_store_is_that_of_its_path(tmp_path):
    """A path of Hadoop's is no URI."""
    names = ["_" + name.rsplit("/", 1)[-1] for name in NAMES] + ["_a%20b.jpg", "_a b.jpg", "_x#1.jpg", "_what?.jpg", "_%zz.jpg", "_%2F.jpg"]
    for name in names:
        (tmp_path / name).write_text(name)
    for name in names:
        for path in (f"file:{tmp_path}/{name}", f"file://{tmp_path}/{name}"):
            assert apus_spark._read(path, None, 5) == (name.encode(), None), path
    for path, uri in (("s3a://bucket/IMG (1).jpg", "s3://bucket/IMG%20%281%29.jpg"), ("hdfs://nn:8020/a#b?.jpg", "hdfs://nn:8020/a%23b%3F.jpg"),
                      ("abfss://box@account/é.jpg", "abfss://box@account/%C3%A9.jpg")):
        assert apus_spark._uri(path) == uri


def listed_by_hadoop(spark, folder):
    """The pictures of a folder, as those of a file system that Python does not know are listed."""
    listing = apus_spark._Listing(spark, None)
    path = spark._jvm.org.apache.hadoop.fs.Path(str(folder))
    listing.roots.append(f"file:{folder}")
    apus_spark._list_folder(listing, path.getFileSystem(spark._jsc.hadoopConfiguration()), path, False)
    return listing


@pytest.mark.parametrize("spark", ["local[2,4]"], indirect=True)
def test_a_file_system_that_python_does_not_know_loses_no_name(spark, sample, tmp_path):
    """Spark reads what it knows; what it leaves out is a row, too, be it with an error."""
    folder = tmp_path / "in"
    for name in NAMES[:8]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(sample)
    (folder / "empty.jpg").write_bytes(b"")
    listing = listed_by_hadoop(spark, folder)
    assert listing.count == 9 and len(listing.plain) == 4 and listing.paths().count() == 9
    rows = {row["path"].rsplit("/", 1)[1]: row for row in
            apus_spark.detect(listing.pictures(), "shapes", worker=WORKER).collect()}
    assert len(rows) == 8 and all(rows[name]["error"] is None for name in ("IMG_0001.jpg", "Photo.Jpg", "_MG_0001.jpg"))


@pytest.mark.parametrize("spark", ["local[2,4]"], indirect=True)
def test_pictures_of_hidden_folders_alone_are_looked_at(spark, sample, tmp_path):
    """Spark reads none of them: Python does."""
    names = ["_album/one.jpg", ".album/two.jpg", "_three.jpg"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(sample)
    listing = listed_by_hadoop(spark, tmp_path)
    assert listing.count == 3 and not listing.plain
    rows = apus_spark.detect(listing.pictures(), "shapes", worker=WORKER).collect()
    assert [(row["error"], len(row["detections"] or [])) for row in rows] == [(None, 8)] * 3


@pytest.mark.parametrize("spark", ["local[2,4]"], indirect=True)
def test_names_that_spark_does_not_hide_have_one_row(spark, sample, tmp_path):
    names = ["_a=b.jpg", "_x=1/in.jpg", "_metadata.jpg", "_common_metadata.jpg", "_metadata/in.jpg", "_metadata/_in.jpg", "_x/a=b.jpg",
             "c._COPYING_/in.jpg", ".a=b.jpg", "plain.jpg"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(sample)
    rows = apus_spark.detect(listed_by_hadoop(spark, tmp_path).pictures(), "shapes", worker=WORKER).collect()
    assert sorted(row["path"] for row in rows) == sorted(f"file:{tmp_path}/{name}" for name in names)
    assert all(row["error"] is None for row in rows)


@pytest.mark.parametrize("spark", ["local[2,4]"], indirect=True)
def test_pictures_that_a_pattern_names_are_read(spark, sample, tmp_path):
    """On a file system that Python does not know: files alone, files and folders, and names that are patterns themselves."""
    for name in ("one.jpg", "two.jpg", "folder/three.jpg", "[4]*.jpg", "[5]/six.jpg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(sample)
    # Hadoop keeps file systems by their names, so that each test has one of its own.
    spark._jsc.hadoopConfiguration().set("fs.viewfs.mounttable.rows.link./in", f"file://{tmp_path}")
    for places, names in ((["*.jpg"], ["[4]*.jpg", "one.jpg", "two.jpg"]), (["one.jpg"], ["one.jpg"]),
                          (["folder", "t*.jpg"], ["folder/three.jpg", "two.jpg"]),
                          (["*"], ["[4]*.jpg", "[5]/six.jpg", "folder/three.jpg", "one.jpg", "two.jpg"])):
        pictures = apus_spark.read_pictures(spark, [f"viewfs://rows/in/{place}" for place in places])
        rows = apus_spark.detect(pictures, "shapes", worker=WORKER).collect()
        assert sorted(row["path"] for row in rows) == [f"viewfs://rows/in/{name}" for name in names], places
        assert all(row["error"] is None and len(row["detections"]) == 8 for row in rows)


@pytest.mark.parametrize("spark", ["local[2,4]"], indirect=True)
def test_a_folder_whose_statuses_have_other_texts_is_listed(spark, tmp_path):
    """That of viewfs: the texts say `path=null`, no folder and no length."""
    folder = tmp_path / "in"
    for name in ("one.jpg", "below/two.jpg", "below/deep/three.jpg", "below/_four.jpg", "notes.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"picture")
    (folder / "below/empty.jpg").write_bytes(b"")
    spark._jsc.hadoopConfiguration().set("fs.viewfs.mounttable.texts.link./in", f"file://{folder}")
    for place in ("viewfs://texts/in", "viewfs://texts/in/", "viewfs://texts/in/*"):
        listing = apus_spark._listed(spark, place)
        names = [sorted(path.removeprefix("viewfs://texts/in/") for path, *_ in files) for files in (listing.plain, listing.files)]
        assert names == [["below/deep/three.jpg", "below/two.jpg", "one.jpg"], ["below/_four.jpg", "below/empty.jpg"]]
        assert {length for _, _, length, _ in listing.plain} == {7} and all(time > 1e9 for _, time, _, _ in listing.plain)
        assert listing.left_out == [("viewfs://texts/in/notes.txt", "it is not named as a picture")]
    rows = apus_spark.detect(apus_spark.read_pictures(spark, "viewfs://texts/in"), "shapes",
                             worker=stand_in(tmp_path, "out.write(good)")).collect()
    assert sorted(row["path"].rsplit("/", 1)[1] for row in rows if row["error"] is None) == ["one.jpg", "three.jpg", "two.jpg"]
    assert len(rows) == 5


def test_the_text_of_a_status_is_read_where_it_says_all():
    text = "Status{path=s3a://b/in/{path=x}; isDirectory=false; y.jpg; isDirectory=false; length=7; modification_time=5; owner=a=b}"
    assert apus_spark._entry(text, "s3a://b/in") == ("s3a://b/in/{path=x}; isDirectory=false; y.jpg", False, 5, 7)
    assert apus_spark._entry("S{path=h://n/a; isDirectory=true; modification_time=5; x=y}", "h://n/") == ("h://n/a", True, 5, 0)
    for wrong in ("", "x", "S{path=null; isDirectory=false; length=0; modification_time=0}", "S{path=h://n/a; isDirectory=false}",
                  "S{path=h://m/a; isDirectory=true; modification_time=5; x=}", "S{path=h://n/a; isDirectory=; modification_time=5; x=}",
                  "S{path=h://n/a; isDirectory=false; length=x; modification_time=5; x=}"):
        assert apus_spark._entry(wrong, "h://n") is None, wrong


@pytest.mark.parametrize("spark", ["local[2,4]"], indirect=True)
def test_a_picture_below_several_paths_has_one_row(spark, tmp_path):
    folder = tmp_path / "in"
    names = ["one.jpg", "below/two.jpg", "_hidden/three.jpg", "_four.jpg", "below/deep/five.jpg"]
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"picture")
    spark._jsc.hadoopConfiguration().set("fs.viewfs.mounttable.paths.link./in", f"file://{folder}")
    worker = stand_in(tmp_path, "out.write(good)")
    for places in (["", "below"], ["below", ""], ["", "one.jpg"], ["one.jpg", ""], ["_hidden", ""], ["", "_hidden"], ["", "_four.jpg"],
                   ["*", "_hidden/three.jpg", "below/../below/deep"], ["", "", "below/*"]):
        for store in (f"file:{folder}", "viewfs://paths/in", str(folder)):
            listing = apus_spark._listed(spark, [f"{store}/{place}" for place in places])
            paths = sorted(path.split("/in/", 1)[1] for path, *_ in listing.files + listing.plain)
            assert paths == sorted(names), (store, places)
            if store.startswith("viewfs") and places in (["", "below"], ["_hidden", ""], ["", "_four.jpg"]):
                rows = apus_spark.detect(listing.pictures(), "shapes", worker=worker).collect()
                assert sorted(row["path"].split("/in/", 1)[1] for row in rows) == sorted(names), places


def test_a_job_counts_and_names_what_it_left_out(sample, tmp_path):
    for name in ("_a.jpg", "b.Jpg", "notes.txt"):
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / name).write_bytes(sample)
    (tmp_path / "in" / "c.png").write_bytes(b"")
    command = [Path(sys.executable).parent / "spark-submit", "--master", "local[2,4]", "--conf", "spark.ui.enabled=false",
               apus_spark.__file__, "--input", tmp_path / "in", "--output", tmp_path / "out", "--model", "shapes", "--worker", WORKER]
    done = subprocess.run(command, timeout=600, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "3 pictures, 3 rows, 1 of them with an error\n1 files were left out:\n" in done.stdout
    assert f'"file:{tmp_path}/in/notes.txt": it is not named as a picture' in done.stdout
    shutil.rmtree(tmp_path / "out")


# A program that is the job on pictures of viewfs, `IN`; `changes` is Python that runs once they are listed.
JOB_OF_A_STORE = """
import sys
sys.path.append({folder!r})
import apus_spark, os
listed = apus_spark._listed
def changed(*arguments):
    listing = listed(*arguments)
    {changes}
    return listing
apus_spark._listed = changed
apus_spark.main()
"""


def job_of_a_store(tmp_path, changes, *options):
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(6):
        (folder / f"{number}.jpg").write_bytes(b"picture")
    (tmp_path / "job.py").write_text(JOB_OF_A_STORE.format(folder=str(Path(apus_spark.__file__).parent), changes=changes))
    worker = stand_in(tmp_path, "out.write(good)")
    command = [Path(sys.executable).parent / "spark-submit", "--master", "local[2,4]", "--conf", "spark.ui.enabled=false",
               "--conf", f"spark.hadoop.fs.viewfs.mounttable.store.link./in=file://{folder}", tmp_path / "job.py",
               "--input", "viewfs://store/in", "--output", tmp_path / "out", "--model", "shapes", "--worker", worker, *options]
    done = subprocess.run(command, timeout=600, capture_output=True, text=True, cwd=folder)
    import pyarrow.parquet

    rows = pyarrow.parquet.read_table(tmp_path / "out").to_pylist() if (tmp_path / "out").exists() else []
    return done, {row["path"].rsplit("/", 1)[1]: row["error"] for row in rows}, len(rows)


def test_a_file_that_spark_cannot_read_costs_its_row_only(tmp_path):
    """One whose checksum is wrong, one that is gone, and one that is damaged for a while."""
    changes = ("open('.1.jpg.crc', 'wb').write(b'crc\\0\\0\\0\\2\\0' + b'1234'); os.remove('2.jpg'); os.rename('3.jpg', '3.away'); "
               "first = apus_spark._Listing.again; "
               "apus_spark._Listing.again = lambda *words: (os.rename('3.away', '3.jpg'), first(*words))[1]")
    done, errors, count = job_of_a_store(tmp_path, changes)
    assert done.returncode == 0, done.stderr[-3000:]
    assert count == 6 and sorted(errors) == [f"{number}.jpg" for number in range(6)]
    assert [name for name, error in sorted(errors.items()) if error] == ["1.jpg", "2.jpg"]
    assert all(errors[name].startswith("Spark cannot read the file, and neither can Python: ") for name in ("1.jpg", "2.jpg"))
    assert "6 pictures, 6 rows, 2 of them with an error" in done.stdout and (tmp_path / "out" / "_SUCCESS").exists()


def test_a_picture_that_comes_while_a_job_runs_is_no_error(tmp_path):
    done, errors, count = job_of_a_store(tmp_path, "open('new.jpg', 'w').write('picture')")
    assert done.returncode == 0, done.stderr[-3000:]
    assert count == 7 and set(errors.values()) == {None}
    assert "6 pictures, 7 rows, 0 of them with an error\n1 rows are of files that came while the job ran\n" in done.stdout


@pytest.mark.parametrize("spark", ["local[2,4]"], indirect=True)
def test_a_deadline_of_0_is_any_time(spark, tmp_path):
    """As for `apus-worker`."""
    (tmp_path / "one.jpg").write_bytes(b"picture")
    worker = stand_in(tmp_path, "import time; time.sleep(1); out.write(good)")
    pictures = apus_spark.read_pictures(spark, str(tmp_path))
    row, = apus_spark.detect(pictures, "shapes", worker=worker, deadline=0, patience=0.2).collect()
    assert row["error"] is None and row["milliseconds"] > 1000
    for wrong in (-1, math.nan, 1e6):
        with pytest.raises(ValueError, match="the deadline is"):
            apus_spark.detect(pictures, "shapes", worker=worker, deadline=wrong)


def processes_of_job(tmp_path, program):
    """Runs a program by spark-submit with 20 tasks, two at a time; returns the workers that had pictures, and what it printed."""
    (tmp_path / "in").mkdir()
    for number in range(40):
        (tmp_path / "in" / f"{number}.jpg").write_bytes(b"picture")
    worker = stand_in(tmp_path, f"open({str(tmp_path / 'seen')!r}, 'a').write(str(os.getpid()) + '\\n'); out.write(good)")
    command = [Path(sys.executable).parent / "spark-submit", "--master", "local[2,4]", "--conf", "spark.ui.enabled=false", program,
               "--input", tmp_path / "in", "--output", tmp_path / "out", "--model", "shapes", "--worker", worker, "--partitions", "20"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, timeout=600, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return set((tmp_path / "seen").read_text().split()), done.stdout


def test_a_job_has_one_worker_for_each_python_worker(tmp_path):
    processes, output = processes_of_job(tmp_path, apus_spark.__file__)
    assert "40 pictures, 40 rows, 0 of them with an error" in output and 1 <= len(processes) <= 2, processes


def test_a_program_that_imports_the_module_sends_it_to_the_machines(tmp_path):
    """The machines find the module, although only the driver has it on its path."""
    (tmp_path / "program.py").write_text(f"""
import sys
sys.path.append({str(Path(apus_spark.__file__).parent)!r})
from apus_spark import detect, read_pictures
sys.path.pop()
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
for _ in range(2):
    rows = detect(read_pictures(spark, sys.argv[2]).repartition(20), "shapes", worker=sys.argv[8]).collect()
    print(len(rows), {{row["error"] for row in rows}})
""")
    processes, output = processes_of_job(tmp_path, tmp_path / "program.py")
    assert output.count("40 {None}") == 2 and 1 <= len(processes) <= 2, (output, processes)


@pytest.mark.parametrize("spark", ["local[2,4]"], indirect=True)
def test_a_session_keeps_no_workers_of_former_options(spark, tmp_path):
    for number in range(8):
        (tmp_path / f"{number}.jpg").write_bytes(b"picture")
    worker = stand_in(tmp_path, "out.write(good)")
    pictures = apus_spark.read_pictures(spark, str(tmp_path)).repartition(4)
    for threshold in (0.1, 0.2, 0.3, 0.4, 0.5):
        rows = apus_spark.detect(pictures, "shapes", worker=worker, score_threshold=threshold).collect()
        assert len(rows) == 8 and all(row["error"] is None for row in rows)
    assert 1 <= len(children(worker)) <= 2


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
