# SPDX-License-Identifier: Apache-2.0
"""Objects in millions of pictures: Spark drives the machines, `apus-worker` looks at the pictures.

    from apus_spark import detect, read_pictures
    pictures = read_pictures(spark, "s3a://bucket/pictures")
    detect(pictures, "detect.tflite").write.parquet("s3a://bucket/detections")

As a job:  spark-submit apus_spark.py --input DIR --output DIR --model FILE

Every picture has a row: files whose names begin with `_` or `.`, empty files and files that cannot be read, too. A job ends by
counting what it was given and what it wrote, and names what was left out.

Needs `pyspark pandas pyarrow` where the job runs, and `apus-worker` with the model on every machine. This file is sent to the
machines by the functions above, but for Spark Connect, where `spark.addArtifacts(apus_spark.__file__, pyfile=True)` does it.
"""

import argparse
import atexit
import datetime
import hashlib
import importlib
import json
import math
import os
import queue
import shutil
import stat
import struct
import subprocess
import sys
import threading
import time

SCHEMA = """
    path string, length bigint, modificationTime timestamp, model string,
    detections array<struct<label: string, index: int, score: float,
                            box: struct<x: float, y: float, width: float, height: float>,
                            keypoints: array<struct<name: string, x: float, y: float, score: float>>>>,
    milliseconds double, error string, warning string
"""

# How pictures are named, in any case; `apus` knows the same.
ENDINGS = ("jpg", "jpeg", "jpe", "jfif", "png", "bmp", "pnm", "ppm", "pgm", "pbm", "webp")

# The longest picture that a worker looks at, and that is read at all.
LONGEST_PICTURE = 64 << 20

# Settings for many small files: without them Spark makes a task of every four pictures, and Arrow batches of 10,000.
SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
    "spark.sql.files.openCostInBytes": str(64 << 10),
    "spark.sql.files.maxPartitionBytes": str(64 << 20),
}


class WorkerDied(RuntimeError):
    """The child process ended, did not answer, or wrote what is no answer, in the middle of a picture."""


class Worker:
    """One `apus-worker`: pictures go in from one thread while answers come out in another."""

    # The longest line, and the most lines before an answer, that a worker may write.
    LONGEST_LINE = 64 << 20
    MOST_NOISE = 1000

    def __init__(self, command, files=()):
        self.command = command
        # The SHA-256 of the model, and that of the labels, from which the answers are.
        self.files = files
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        atexit.register(self.close)
        self._errors = b""
        self._number = 0
        threading.Thread(target=self._read_errors, daemon=True).start()
        # The answer to an empty picture says that the model is loaded, so that its time is no picture's.
        try:
            for _ in self.answers([b""], limit=300):
                pass
        except WorkerDied as error:
            # No picture has been looked at yet, so that it is no picture's fault: the task fails with the reason, such as a model
            # that cannot be loaded, or too little memory, and Spark may try it on another machine.
            raise RuntimeError(str(error)) from None

    def _read_errors(self):
        while piece := self.process.stderr.read1(1 << 16):
            self._errors = (self._errors + piece)[-2000:]
            # Warnings are in the executor's log, too.
            sys.stderr.write(piece.decode(errors="replace"))
            sys.stderr.flush()

    def errors(self):
        """The end of what the worker wrote on standard error, as one line."""
        return _line(" ".join(self._errors.decode(errors="replace").split("\n")[-6:]))

    def is_alive(self):
        return self.process.poll() is None

    def close(self):
        if self.is_alive():
            self.process.kill()
        self.process.wait()
        atexit.unregister(self.close)

    def _died(self, reason):
        self.close()
        return WorkerDied(reason)

    def answers(self, pictures, limit):
        """Yields an answer for each picture, in their order.

        A picture that takes longer than `limit` seconds ends the worker; so does a line that answers another picture, and
        what is no answer, if there is too much of it. A few lines that are no answers are skipped.
        """
        # Numbers go on from call to call, so that no answer of an earlier one is taken for one of this.
        first = self._number
        self._number += len(pictures)
        numbers = [number & 0xFFFFFFFF for number in range(first, self._number)]
        lines = queue.Queue(maxsize=64)
        done = threading.Event()

        def feed():
            try:
                for number, picture in zip(numbers, pictures):
                    self.process.stdin.write(struct.pack("<II", len(picture), number))
                    self.process.stdin.write(picture)
                self.process.stdin.flush()
            except (ValueError, OSError):
                pass  # The worker ended: its output ends, too.

        def put(line, answer):
            while not done.is_set():
                try:
                    return lines.put((line, answer), timeout=1)
                except queue.Full:
                    pass

        def collect():
            try:
                while line := self.process.stdout.readline(self.LONGEST_LINE + 1):
                    answer = _answer(line)
                    put(line, answer)
                    if answer and answer["id"] == numbers[-1] or not line.endswith(b"\n") or done.is_set():
                        return
            except (ValueError, OSError):
                pass
            put(b"", None)

        threads = [threading.Thread(target=target, daemon=True) for target in (feed, collect)]
        for thread in threads:
            thread.start()
        try:
            for number in numbers:
                yield self._next(lines, number, limit)
            for thread in threads:
                thread.join(timeout=limit)
        finally:
            done.set()

    def _next(self, lines, number, limit):
        """The answer to a picture, which is the next that comes."""
        end = time.monotonic() + limit
        for _ in range(self.MOST_NOISE):
            try:
                line, answer = lines.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                raise self._died(f"apus-worker did not answer for {limit} seconds") from None
            if len(line) > self.LONGEST_LINE:
                raise self._died(f"apus-worker wrote a line of more than {self.LONGEST_LINE} bytes")
            if not line.endswith(b"\n"):
                try:
                    status = self.process.wait(timeout=5)
                except subprocess.TimeoutExpired:
                    raise self._died("apus-worker closed its output") from None
                raise self._died(f"apus-worker ended with status {status}: {self.errors()}")
            if answer and answer["id"] != number:
                raise self._died(f"apus-worker answered picture {answer['id']} in place of {number}")
            if answer:
                return answer
        raise self._died(f"apus-worker wrote {self.MOST_NOISE} lines that are no answers")


def _line(text):
    """A text without characters that could forge lines or command terminals."""
    return "".join(character if character.isprintable() else " " for character in text).strip()


def _answer(line):
    """The answer that a worker's line is; None for anything else."""
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) and type(answer.get("id")) is int else None


def _text(value):
    """A string that can be stored: JSON may have halves of surrogate pairs."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError(f"{_line(repr(value)[:100])} is no text")
    return value.encode("utf-8", "replace").decode()


def _number(value):
    """A float; infinity and NaN are strings in JSON."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{_line(repr(value)[:100])} is no number")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _index(value):
    if value is not None and (type(value) is not int or not -(1 << 31) <= value < 1 << 31):
        raise ValueError(f"{_line(repr(value)[:100])} is no index")
    return value


def _keypoint(point):
    score = point.get("score")
    return {"name": _text(point.get("name")), "x": _number(point["x"]), "y": _number(point["y"]),
            "score": None if score is None else _number(score)}


def _row(answer):
    """The detections and the error of an answer, one of which is None, and the warning about its picture, if there is one."""
    try:
        if answer.get("error") is not None:
            return None, _text(answer["error"]), None
        return [{"label": _text(found.get("label")), "index": _index(found.get("index")), "score": _number(found["score"]),
                 "box": {side: _number(found["box"][side]) for side in ("x", "y", "width", "height")},
                 "keypoints": [_keypoint(point) for point in found.get("keypoints") or []]}
                for found in answer["detections"]], None, _text(answer.get("warning"))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        return None, f"the answer of apus-worker cannot be read: {type(error).__name__}: {_line(str(error))}", None


# One child for each Python worker, kept between tasks, by its command: Spark reuses Python workers.
_workers = {}


def _files(command):
    """The SHA-256 of the model and of the labels of a worker's command: the worker, the task, the model and options."""
    labels = [option[len("--labels="):] for option in command if option.startswith("--labels=")]
    return tuple(_digest(path) for path in command[2:3] + labels)


def _worker(command):
    """The worker for a command; a new one if the model or the labels are no longer those that it has read."""
    key, files = tuple(command), _files(command)
    worker = _workers.get(key)
    if worker is not None and worker.is_alive() and worker.files == files:
        return worker
    # Those of other options, too: each keeps a model in memory.
    while _workers:
        _workers.popitem()[1].close()
    for _ in range(10):
        worker = _workers[key] = Worker(command, files)
        # What changed while the worker started may have been read before or after.
        files = _files(command)
        if worker.files == files:
            return worker
        worker.close()
    raise RuntimeError(f"the model {command[2]} or its labels change all the time")


def _answers(command, pictures, limit):
    """Yields an answer for each picture, with the SHA-256 of its model and its time in milliseconds. A worker that ends is
    started anew, and looks at the picture again; the picture that ends a second one is answered with an error, so that it
    cannot stop the job."""
    done = deaths = 0
    while done < len(pictures):
        model = next(iter(_files(command)), None)
        before = time.perf_counter()
        try:
            worker = _worker(command)
            model = next(iter(worker.files), None)
            # The start of a worker is no picture's time.
            before = time.perf_counter()
            for answer in worker.answers(pictures[done:], limit):
                now = time.perf_counter()
                yield answer, model, (now - before) * 1e3
                done, deaths, before = done + 1, 0, now
        except WorkerDied as error:
            deaths += 1
            if deaths == 2:
                yield {"error": f"two workers ended: {error}"}, model, (time.perf_counter() - before) * 1e3
                done, deaths = done + 1, 0


# ---- Pictures

LIST_SCHEMA = "path string, modificationTime timestamp, length bigint, file binary"
READ_SCHEMA = "path string, modificationTime timestamp, length bigint, content binary, error string"


def read_pictures(spark, path, glob=None):
    """A DataFrame of the pictures in a folder and the folders in it: path, modificationTime, length, content, error.

    Every file that is named as a picture has a row; `glob` chooses others by their names. On a file system of the machines
    themselves, such as a disk that all of them mount, Python reads the files. Elsewhere Spark's binaryFile source does; as it
    leaves out empty files and most names that begin with `_` or `.`, Python reads those. `error` says why a file has no content.
    A file that Spark itself cannot read fails what is done with the DataFrame; a job of this file looks at it again, and goes on.
    """
    return _listed(spark, path, glob).pictures(reads=True)


class _Listing:
    """The files below a path: those that are named as pictures, and those that are left out."""

    def __init__(self, spark, glob):
        self.spark = spark
        self.glob = glob
        # Path, modification time in seconds, length, and the name as bytes where the file system is the machines' own.
        self.files = []
        # The same for those that Spark reads itself, below the roots.
        self.plain = []
        self.roots = []
        self.left_out = []
        # The paths of files, and the paths or inodes of folders, that are in the listing: paths that are given may overlap.
        self.known = set()

    def is_new(self, identity):
        """Whether a file or a folder is not yet in the listing; from now on it is."""
        if identity in self.known:
            return False
        self.known.add(identity)
        return True

    def is_picture(self, name):
        import fnmatch

        if self.glob is not None:
            return fnmatch.fnmatchcase(name, self.glob)
        return name.rpartition(".")[2].lower() in ENDINGS and "." in name

    @property
    def count(self):
        return len(self.files) + len(self.plain)

    def paths(self):
        """A DataFrame of the paths of all pictures."""
        rows = [(file[0],) for file in self.files + self.plain]
        return self.spark.createDataFrame(rows, "path string")

    def pictures(self, reads=False, skips=False):
        """The pictures with their contents, or with the names of their files in `file` where `detect` reads them itself.

        A file that Spark cannot read fails the job, or has no row if `skips`.
        """
        _ship(self.spark)
        rows = [(path, _moment(modified), length, name) for path, modified, length, name in self.files]
        size = sum(min(length, LONGEST_PICTURE) + (64 << 10) for _, _, length, _ in self.files)
        parts = max(1, min(len(rows), math.ceil(size / (64 << 20)), 100_000))
        # By turns, so that large files are not all in one part.
        ordered = [row for part in range(parts) for row in rows[part::parts]]
        read = self.spark.createDataFrame(self.spark.sparkContext.parallelize(ordered, parts), LIST_SCHEMA)
        # `detect` reads only what has a name on the machines, and the columns must be those of what Spark reads.
        if reads or self.plain or any(name is None for _, _, _, name in self.files):
            read = read.mapInArrow(_read_files, READ_SCHEMA)
        return self._read_by_spark(self.roots, skips).unionByName(read) if self.plain else read

    def _read_by_spark(self, places, skips):
        from pyspark.sql import functions

        reader = self.spark.read.format("binaryFile").option("recursiveFileLookup", "true")
        if skips:
            reader = reader.option("ignoreCorruptFiles", "true").option("ignoreMissingFiles", "true")
        wanted = functions.udf(_is_named_as(self.glob), "boolean")
        return reader.load(places).where(wanted("path") & (functions.col("length") <= LONGEST_PICTURE)).select(
            "path", "modificationTime", "length", "content", functions.lit(None).cast("string").alias("error"))

    def again(self, rows):
        """Yields pictures that are not among some rows, for a second look: those that Spark can read now; then those that Python
        tries to read, each with an error if it cannot. The rows are read anew each time."""
        hadoop = self.spark._jvm.org.apache.hadoop.fs
        missing = self.missing(rows())
        # Files that are gone would stop the job.
        system = hadoop.Path(missing[0][0]).getFileSystem(self.spark._jsc.hadoopConfiguration()) if missing else None
        there = [file[0] for file in missing if system.exists(hadoop.Path(file[0]))]
        for start in range(0, len(there), 10_000):
            yield self._read_by_spark([_escaped(path) for path in there[start:start + 10_000]], True)
        if there:
            missing = self.missing(rows())
        if missing:
            unread = _Listing(self.spark, self.glob)
            unread.files = missing
            from pyspark.sql import functions

            yield unread.pictures().withColumn("error", functions.concat(
                functions.lit("Spark cannot read the file, and neither can Python: "), "error"))

    def missing(self, rows):
        """The pictures of those that Spark reads that are not among some rows."""
        paths = self.spark.createDataFrame([(file[0],) for file in self.plain], "path string")
        found = {row["path"] for row in paths.join(rows.select("path"), "path", "left_anti").collect()}
        return [file for file in self.plain if file[0] in found]


def _is_named_as(glob):
    def check(path):
        return _Listing(None, glob).is_picture(path.rsplit("/", 1)[-1])

    return check


def _listed(spark, path, glob=None):
    """What there is below a path, or below each of several; paths may have the wildcards of Hadoop."""
    listing = _Listing(spark, glob)
    for place in [path] if isinstance(path, (str, os.PathLike)) else list(path):
        _list(listing, str(place))
    return listing


def _list(listing, place):
    hadoop = listing.spark._jvm.org.apache.hadoop.fs
    root = hadoop.Path(place)
    system = root.getFileSystem(listing.spark._jsc.hadoopConfiguration())
    if system.getUri().getScheme() == "file":
        local = place[len("file:"):] if place.startswith("file:") else place
        local = os.path.abspath("/" + local.lstrip("/") if place.startswith("file:") else local)
        if os.path.lexists(local):
            return _list_local(listing, os.fsencode(local))
    found = system.globStatus(root)
    if not found:
        raise FileNotFoundError(f"there is nothing at {place}")
    for status in found:
        path = status.getPath()
        if system.getUri().getScheme() == "file":
            _list_local(listing, os.fsencode(path.toUri().getPath()))
        elif status.isDirectory():
            # A folder that is known is below another one: Spark reads it, or Python where its name is hidden there.
            if listing.is_new(path.toString()):
                listing.roots.append(_escaped(path.toString()))
                _list_folder(listing, system, path, False)
        elif _note(listing, path.toString(), status.getModificationTime() / 1e3, status.getLen(),
                   not _is_hidden(path.getName())):
            listing.roots.append(_escaped(path.toString()))


def _escaped(path):
    """A path for Spark, which takes paths for patterns."""
    return "".join("\\" + character if character in "{}[]*?\\" else character for character in path)


def _is_hidden(name, is_folder=False):
    """Whether Spark leaves out a file, or all that is in a folder, because of its name (`HadoopFSUtils.shouldFilterOutPathName`
    and, for files, `PartitioningAwareFileIndex.isDataPath`)."""
    if is_folder and name.startswith(("_metadata", "_common_metadata")):
        return False
    return name.startswith(".") or name.startswith("_") and "=" not in name or name.endswith("._COPYING_")


def _list_local(listing, root):
    """Every file below a folder of this machine, each once; links are followed."""
    def note(path):
        shown = "file:" + path.decode("utf-8", "backslashreplace")
        name = os.path.basename(path).decode("utf-8", "backslashreplace")
        if not listing.is_new(path):
            return
        try:
            status = os.stat(path)
        except OSError as error:
            if listing.is_picture(name):
                listing.files.append((shown, 0.0, 0, path))
            else:
                listing.left_out.append((shown, error.strerror))
            return
        if stat.S_ISDIR(status.st_mode):
            if listing.is_new((status.st_dev, status.st_ino)):
                folders.append(path)
        elif not stat.S_ISREG(status.st_mode):
            listing.left_out.append((shown, "it is no regular file"))
        elif listing.is_picture(name):
            listing.files.append((shown, status.st_mtime, status.st_size, path))
        else:
            listing.left_out.append((shown, "it is not named as a picture"))

    folders = []
    note(root)
    while folders:
        folder = folders.pop()
        try:
            names = sorted(os.listdir(folder))
        except OSError as error:
            listing.left_out.append(("file:" + folder.decode("utf-8", "backslashreplace"), error.strerror))
            continue
        for name in names:
            note(os.path.join(folder, name))


def _list_folder(listing, system, folder, is_hidden):
    """Every file below a folder of Hadoop's: by one call for each folder, or some for each file where its status needs them."""
    hadoop = listing.spark._jvm.org.apache.hadoop
    statuses = hadoop.util.functional.RemoteIterators.toList(system.listStatusIterator(folder))
    if statuses.isEmpty():
        return
    texts = hadoop.util.StringUtils.join("\0", statuses).split("\0")
    place = system.makeQualified(folder).toString()
    found = [_entry(text, place) for text in texts]
    if len(found) != statuses.size() or None in found:
        found = [(status.getPath().toString(), status.isDirectory(), status.getModificationTime(), status.getLen())
                 for status in statuses]
    for path, is_folder, modified, length in found:
        hidden = is_hidden or _is_hidden(path.rsplit("/", 1)[-1], is_folder)
        if is_folder:
            if listing.is_new(path):
                _list_folder(listing, system, hadoop.fs.Path(path), hidden)
        else:
            _note(listing, path, modified / 1e3, length, not hidden)


def _entry(text, folder):
    """The path, whether it is a folder, the time in milliseconds and the length that the text of a file's status has.

    None for a text that does not say them: some file systems, such as viewfs, answer with statuses whose texts are not theirs.
    """
    # `FileStatus{path=…; isDirectory=false; length=74; …; modification_time=…; …}`: the path may have any characters.
    _, start, rest = text.partition("{path=")
    path, end, rest = rest.rpartition("; isDirectory=")
    fields = dict(field.split("=", 1) for field in (end + rest).split("; ") if "=" in field)
    is_folder = fields.get("isDirectory")
    try:
        if not start or not path.startswith(folder.rstrip("/") + "/") or is_folder not in ("true", "false"):
            return None
        # Folders have no length.
        return path, is_folder == "true", int(fields["modification_time"]), 0 if is_folder == "true" else int(fields["length"])
    except (KeyError, ValueError):
        return None


def _note(listing, path, modified, length, is_plain):
    """Lists a file, unless it is known; returns whether Spark is to read it itself."""
    if not listing.is_new(path):
        return False
    if not listing.is_picture(path.rsplit("/", 1)[-1]):
        listing.left_out.append((path, "it is not named as a picture"))
    elif is_plain and 0 < length <= LONGEST_PICTURE:
        listing.plain.append((path, modified, length, None))
        return True
    else:
        listing.files.append((path, modified, length, None))
    return False


def _moment(seconds):
    """A time as Spark stores it, whatever the time zones of the machines; its beginning for one that Python does not have."""
    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    except (OverflowError, OSError, ValueError):
        return datetime.datetime.fromtimestamp(0, datetime.timezone.utc)


def _read_files(batches):
    """Reads files, with an error in place of the content of each that cannot be read."""
    import pyarrow

    schema = pyarrow.schema([
        ("path", pyarrow.string()), ("modificationTime", pyarrow.timestamp("us", tz="UTC")), ("length", pyarrow.int64()),
        ("content", pyarrow.binary()), ("error", pyarrow.string())])
    for batch in batches:
        for rows in _groups(batch.to_pylist(), lambda row: row["length"]):
            read = [_read(row["path"], row["file"], row["length"]) for row in rows]
            yield pyarrow.RecordBatch.from_arrays([
                pyarrow.array([row["path"] for row in rows]),
                pyarrow.array([row["modificationTime"] for row in rows], schema.field("modificationTime").type),
                pyarrow.array([row["length"] if content is None else len(content) for row, (content, _) in zip(rows, read)],
                              pyarrow.int64()),
                pyarrow.array([content for content, _ in read], pyarrow.binary()),
                pyarrow.array([error for _, error in read], pyarrow.string())], schema=schema)


def _groups(rows, size):
    """Rows in groups whose pictures take no more memory together than one may take."""
    group, total = [], 0
    for row in rows:
        length = min(size(row) or 0, LONGEST_PICTURE)
        if group and total + length > LONGEST_PICTURE:
            yield group
            group, total = [], 0
        group.append(row)
        total += length
    if group:
        yield group


def _read(path, file, length):
    """The content of a file, or None and why it cannot be read."""
    if length is not None and length > LONGEST_PICTURE:
        return None, f"the file has {length} bytes, more than {LONGEST_PICTURE}"
    try:
        return _content(path, file), None
    except Exception as failure:  # Whatever a file system throws is this file's error.
        return None, f"the file cannot be read: {_line(str(getattr(failure, 'strerror', None) or failure))}"


def _content(path, name):
    if name is not None:
        # What was a file a moment ago may be a pipe by now: opening it must not wait.
        with open(os.open(name, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            content = file.read(LONGEST_PICTURE + 1)
    else:
        import pyarrow.fs

        system, inner = pyarrow.fs.FileSystem.from_uri(_uri(path))
        with system.open_input_stream(inner) as file:
            content = file.read(LONGEST_PICTURE + 1)
    if len(content) > LONGEST_PICTURE:
        raise OSError(f"it has grown beyond {LONGEST_PICTURE} bytes")
    return content


def _uri(path):
    """The URI of a path of Hadoop's, which is none itself: there `%`, `#`, `?` and spaces are characters of a name."""
    import urllib.parse

    scheme, separator, rest = path.partition("://")
    if separator:
        authority, slash, name = rest.partition("/")
        return ("s3" if scheme == "s3a" else scheme) + "://" + authority + slash + urllib.parse.quote(name)
    scheme, separator, name = path.partition(":")
    return scheme + separator + urllib.parse.quote(name)


# How a model is read, where its file does not say it, or says it wrong.
READINGS = ["pixels", "channels", "box_units", "scores", "layout", "candidates", "anchors", "fit", "resampling", "box_order"]


def detect(df, model, *, worker=None, score_threshold=None, max_results=None, iou_threshold=None, class_agnostic=False,
           multi_label=False, allow=(), deny=(), labels=None, deadline=30.0, patience=60.0, threads=1, pixels=None,
           channels=None, box_units=None, scores=None, layout=None, candidates=None, anchors=None, fit=None, resampling=None,
           box_order=None):
    """Looks for objects in the pictures of a DataFrame that has `path`, `length`, `modificationTime` and `content`.

    In place of `content` there may be `file`, the name of a file that every machine has. A picture that cannot be read, or
    takes longer than `deadline` seconds (0 for any time), is a row with an `error`; so is one at which two workers end, write what is no
    answer, or do not answer for `patience` seconds more, and one whose `error` is given. `model` is a path that every machine
    knows; the column `model` is the SHA-256 of the file. `allow` and `deny` are lists of labels; the other options are those of
    `apus detect`. The result's schema is SCHEMA; `warning` says that a picture's file is damaged, so that parts of it may be wrong
    although it could be read, and is null for all others; `keypoints` are those of an object of a model of poses or faces, and
    empty for others.
    """
    from pyspark.sql import functions

    if not 0 <= deadline <= 86_400:
        raise ValueError(f"the deadline is {deadline}, not 0 to 86400 seconds")
    options = ["--deadline", str(deadline), "--threads", str(threads)]
    for name, value in (("--score-threshold", score_threshold), ("--max-results", max_results),
                        ("--iou-threshold", iou_threshold), ("--labels", labels), ("--pixels", pixels),
                        ("--channels", channels), ("--box-units", box_units), ("--box-order", box_order), ("--scores", scores), ("--layout", layout),
                        ("--candidates", candidates), ("--anchors", anchors), ("--fit", fit), ("--resampling", resampling),
                        *(("--allow", label) for label in allow), *(("--deny", label) for label in deny)):
        if value is not None:
            options += [f"{name}={value}"]
    options += [name for name, is_on in (("--class-agnostic", class_agnostic), ("--multi-label", multi_label)) if is_on]
    binary = worker or os.environ.get("APUS_WORKER") or "apus-worker"
    limit = deadline + patience if deadline else threading.TIMEOUT_MAX / 2

    def rows(batches):
        import pyarrow

        found = shutil.which(binary)
        if not found:
            raise FileNotFoundError(f"there is no {binary} on this machine")
        command = [found, "detect", str(model), *options]
        schema = _arrow_schema()
        for batch in batches:
            for group in _groups(list(range(len(batch))), lambda row: batch.column("length")[row].as_py()):
                part = batch.slice(group[0], len(group))
                models = [None] * len(part)
                warnings = []
                detections, times, errors = _looked_at(part.to_pylist(), command, limit, models, warnings)
                yield pyarrow.RecordBatch.from_arrays([
                    part.column("path").cast(pyarrow.string()),
                    part.column("length").cast(pyarrow.int64()),
                    part.column("modificationTime").cast(schema.field("modificationTime").type),
                    pyarrow.array(models, pyarrow.string()),
                    pyarrow.array(detections, schema.field("detections").type),
                    pyarrow.array(times, pyarrow.float64()),
                    pyarrow.array(errors, pyarrow.string()),
                    pyarrow.array(warnings, pyarrow.string()),
                ], schema=schema)

    _check_columns(df)
    _ship(df.sparkSession)
    columns = ["path", "length", "modificationTime"]
    for name, kind in (("content", "binary"), ("error", "string"), ("file", "binary")):
        columns.append(name if name in df.columns else functions.lit(None).cast(kind).alias(name))
    return df.select(*columns).mapInArrow(rows, SCHEMA)


def _ship(spark):
    """Sends this module to the machines, whose tasks import it; once, and not where `--py-files` has done so."""
    if not os.path.isfile(__file__):
        return  # A zip archive of `--py-files`.
    try:
        context = spark.sparkContext
    except Exception:
        return  # Spark Connect has none: `spark.addArtifacts(…, pyfile=True)` is the user's.
    if os.path.basename(__file__) not in {file.rsplit("/", 1)[-1] for file in context.listFiles}:
        context.addPyFile(__file__)


def _check_columns(df):
    """Refuses pictures that are no bytes, before the job starts."""
    kinds = dict(df.dtypes)
    for name in ("path", "length", "modificationTime"):
        if name not in kinds:
            raise ValueError(f"the pictures have no column {name!r}, only {', '.join(kinds)}")
    if "content" not in kinds and "file" not in kinds:
        raise ValueError(f"the pictures have neither a column 'content' nor a column 'file', only {', '.join(kinds)}")
    for name, wanted in (("content", "binary"), ("file", "binary"), ("error", "string")):
        # A column of nulls has no type of its own.
        if kinds.get(name, wanted) not in (wanted, "void"):
            raise TypeError(f"the column {name!r} is {kinds[name]}, not {wanted}")


def _looked_at(rows, command, limit, models=None, warnings=None):
    """The detections, times in milliseconds and errors of pictures; puts the SHA-256 of the model of each into `models`, and the
    warnings about them into `warnings`."""
    contents, errors = [row["content"] for row in rows], [row["error"] or None for row in rows]
    for number, row in enumerate(rows):
        if errors[number] is None and row["file"] is not None:
            contents[number], errors[number] = _read(row["path"], row["file"], row["length"])
        elif errors[number] is None and contents[number] is None:
            errors[number] = "the row has no content"
        elif errors[number] is None and not isinstance(contents[number], (bytes, bytearray)):
            errors[number] = f"the row's content is {type(contents[number]).__name__}, not bytes"
        elif errors[number] is None and len(contents[number]) > LONGEST_PICTURE:
            errors[number] = f"the picture has {len(contents[number])} bytes, more than {LONGEST_PICTURE}"
    detections, times = [None] * len(rows), [0.0] * len(rows)
    models = [None] * len(rows) if models is None else models
    models[:] = [next(iter(_files(command)), None)] * len(rows)
    warnings = [] if warnings is None else warnings
    warnings[:] = [None] * len(rows)
    asked = [number for number in range(len(rows)) if errors[number] is None]
    answers = _answers(command, [contents[number] for number in asked], limit)
    for number, (answer, models[number], times[number]) in zip(asked, answers):
        detections[number], errors[number], warnings[number] = _row(answer)
    return detections, times, errors


# The digests of files, each with what tells that the file is another one.
_digests = {}


def _digest(path):
    """The SHA-256 of a file; None if there is none, as for the embedded model."""
    def stamp():
        status = os.stat(path)
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

    if not os.path.exists(path):
        return None
    before = stamp()
    known = _digests.get(path)
    if known and known[0] == before:
        return known[1]
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    if stamp() == before:
        _digests[path] = before, digest.hexdigest()
    return digest.hexdigest()


def _arrow_schema():
    import pyarrow

    number = pyarrow.float32()
    box = pyarrow.struct([(name, number) for name in ("x", "y", "width", "height")])
    point = pyarrow.struct([("name", pyarrow.string()), ("x", number), ("y", number), ("score", number)])
    found = pyarrow.struct([("label", pyarrow.string()), ("index", pyarrow.int32()), ("score", number), ("box", box),
                            ("keypoints", pyarrow.list_(point))])
    return pyarrow.schema([
        ("path", pyarrow.string()), ("length", pyarrow.int64()),
        ("modificationTime", pyarrow.timestamp("us", tz="UTC")), ("model", pyarrow.string()),
        ("detections", pyarrow.list_(found)), ("milliseconds", pyarrow.float64()), ("error", pyarrow.string()),
        ("warning", pyarrow.string())])


def main():
    parser = argparse.ArgumentParser(description="Finds objects in a folder of pictures.")
    parser.add_argument("--input", required=True, help="a folder of pictures, on any file system that Spark reads")
    parser.add_argument("--output", required=True, help="a folder for the Parquet files")
    parser.add_argument("--model", required=True, help="a .tflite file, on every machine, or 'shapes'")
    parser.add_argument("--worker", help="the apus-worker on every machine; by default the one on its PATH")
    parser.add_argument("--labels", help="a label file, on every machine")
    parser.add_argument("--score-threshold", type=float)
    parser.add_argument("--max-results", type=int)
    parser.add_argument("--iou-threshold", type=float)
    for name in ("class-agnostic", "multi-label"):
        parser.add_argument("--" + name, action="store_true", help=f"as apus detect --{name} has it")
    for name in ("allow", "deny"):
        parser.add_argument("--" + name, action="append", default=[], help=f"a label, as apus detect --{name} has it")
    for name in READINGS:
        parser.add_argument("--" + name.replace("_", "-"), help=f"as apus detect --{name.replace('_', '-')} has it")
    parser.add_argument("--deadline", type=float, default=30.0, help="seconds for a picture; 0 for any time")
    parser.add_argument("--packed", action="store_true",
                        help="the input is Parquet files with the columns of read_pictures(), not pictures")
    parser.add_argument("--partitions", type=int, help="how many tasks; by default by the size of the files")
    arguments = parser.parse_args()

    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("apus-detect").getOrCreate()
    for name, value in SETTINGS.items():
        # What spark-submit says with --conf comes first.
        if spark.sparkContext.getConf().get(name) is None:
            spark.conf.set(name, value)
    listing = None if arguments.packed else _listed(spark, arguments.input)
    pictures = spark.read.parquet(arguments.input) if arguments.packed else listing.pictures(skips=True)
    if arguments.partitions:
        pictures = pictures.repartition(arguments.partitions)
    _remove_empty(spark, arguments.output)
    # Where Spark reads files, some may need a second look, and `_SUCCESS` comes after it.
    has_second_look = listing is not None and bool(listing.plain)

    def look(pictures, mode):
        found = detect(pictures, arguments.model, worker=arguments.worker, labels=arguments.labels,
                       score_threshold=arguments.score_threshold, max_results=arguments.max_results,
                       iou_threshold=arguments.iou_threshold, class_agnostic=arguments.class_agnostic,
                       multi_label=arguments.multi_label, allow=arguments.allow, deny=arguments.deny, deadline=arguments.deadline,
                       **{name: getattr(arguments, name) for name in READINGS}).write.mode(mode)
        if has_second_look:
            found = found.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
        found.parquet(arguments.output)

    look(pictures, "errorifexists")
    if has_second_look:
        for pictures in listing.again(lambda: spark.read.parquet(arguments.output)):
            look(pictures, "append")
        _mark_success(spark, arguments.output)
    complete = _summarize(spark, arguments, listing)
    spark.stop()
    if not complete:
        sys.exit(1)


def _remove_empty(spark, output):
    """Removes the empty output folder that a job that failed has left. One that has anything in it is kept, and refused by Spark:
    it is of a job that is done, or that still runs."""
    path = spark._jvm.org.apache.hadoop.fs.Path(output)
    system = path.getFileSystem(spark._jsc.hadoopConfiguration())
    if system.exists(path) and system.getFileStatus(path).isDirectory() and not list(system.listStatus(path)):
        system.delete(path, False)


def _mark_success(spark, output):
    path = spark._jvm.org.apache.hadoop.fs.Path(output, "_SUCCESS")
    path.getFileSystem(spark._jsc.hadoopConfiguration()).create(path, True).close()


def _summarize(spark, arguments, listing):
    """Prints what was given and what was written, with the names of what was left out; whether every picture has a row."""
    given = spark.read.parquet(arguments.input).select("path") if listing is None else listing.paths()
    rows = spark.read.parquet(arguments.output)
    missing = given.join(rows.select("path"), "path", "left_anti")
    count, absent = given.count(), missing.count()
    written, failed = rows.count(), rows.where("error IS NOT NULL").count()
    print(f"{count} pictures, {written} rows, {failed} of them with an error")
    warned = rows.where("warning IS NOT NULL").count()
    if warned:
        print(f"{warned} rows have a warning")
    if written != count - absent:
        later = rows.join(given, "path", "left_anti").count()
        print(f"{later} rows are of files that came while the job ran")
    left_out = [] if listing is None else listing.left_out
    if left_out:
        print(f"{len(left_out)} files were left out:")
        _print_names([f"{json.dumps(path)}: {reason}" for path, reason in left_out])
    if absent:
        print(f"error: {absent} pictures have no row:", file=sys.stderr)
        _print_names([json.dumps(row["path"]) for row in missing.limit(20).collect()], sys.stderr, absent)
    return not absent


def _print_names(lines, file=None, count=None):
    """Prints the first lines, and how many there are beside them."""
    for line in lines[:20]:
        print("  " + line, file=file)
    if (count or len(lines)) > 20:
        print(f"  and {(count or len(lines)) - 20} more", file=file)


if __name__ == "__main__":
    # Functions of a module are sent to tasks by name, and those of a program as copies: each task would have `_workers` of its own.
    importlib.import_module(os.path.splitext(os.path.basename(__file__))[0]).main()
