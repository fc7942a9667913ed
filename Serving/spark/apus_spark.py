# SPDX-License-Identifier: Apache-2.0
"""Objects in millions of pictures: Spark drives the machines, `apus-worker` looks at the pictures.

    from apus_spark import detect, read_pictures
    pictures = read_pictures(spark, "s3a://bucket/pictures")
    detect(pictures, "detect.tflite").write.parquet("s3a://bucket/detections")

As a job:  spark-submit apus_spark.py --input DIR --output DIR --model FILE

Needs `pyspark pandas pyarrow` where the job runs, and `apus-worker` with the model on every machine.
"""

import argparse
import atexit
import hashlib
import json
import os
import queue
import shutil
import struct
import subprocess
import threading
import time

SCHEMA = """
    path string, length bigint, modificationTime timestamp, model string,
    detections array<struct<label: string, index: int, score: float,
                            box: struct<x: float, y: float, width: float, height: float>>>,
    milliseconds double, error string
"""

# Settings for many small files: without them Spark makes a task of every four pictures, and Arrow batches of 10,000.
SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
    "spark.sql.files.openCostInBytes": str(64 << 10),
    "spark.sql.files.maxPartitionBytes": str(64 << 20),
}


class WorkerDied(RuntimeError):
    """The child process ended, or did not answer, in the middle of a picture."""


class Worker:
    """One `apus-worker`: pictures go in from one thread while answers come out in another."""

    def __init__(self, command):
        self.command = command
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        atexit.register(self.close)
        self._errors = []
        threading.Thread(target=self._read_errors, daemon=True).start()
        # The answer to an empty picture says that the model is loaded, so that its time is no picture's.
        try:
            for _ in self.answers([b""], limit=300):
                pass
        except WorkerDied as error:
            # No picture's fault: the task fails with the reason, such as a model that cannot be loaded.
            raise RuntimeError(str(error)) from None

    def _read_errors(self):
        for line in self.process.stderr:
            self._errors = (self._errors + [line.decode(errors="replace").strip()])[-5:]

    def is_alive(self):
        return self.process.poll() is None

    def close(self):
        if self.is_alive():
            self.process.kill()
        self.process.wait()

    def answers(self, pictures, limit):
        """Yields an answer and its time for each picture, in their order.

        A picture that takes longer than `limit` seconds beyond the worker's own deadline ends the worker.
        """
        lines = queue.Queue()
        failure = []

        def feed():
            try:
                for number, picture in enumerate(pictures):
                    self.process.stdin.write(struct.pack("<II", len(picture), number))
                    self.process.stdin.write(picture)
                self.process.stdin.flush()
            except (BrokenPipeError, ValueError, OSError) as error:
                failure.append(error)

        def collect():
            for _ in pictures:
                line = self.process.stdout.readline()
                lines.put(line)
                if not line:
                    return

        threads = [threading.Thread(target=target, daemon=True) for target in (feed, collect)]
        for thread in threads:
            thread.start()
        for number in range(len(pictures)):
            try:
                line = lines.get(timeout=limit)
            except queue.Empty:
                self.close()
                raise WorkerDied(f"apus-worker did not answer for {limit} seconds") from None
            if not line.endswith(b"\n"):
                status = self.process.wait()
                raise WorkerDied(f"apus-worker ended with status {status}: {' '.join(self._errors)}")
            answer = json.loads(line)
            if answer["id"] != number:
                self.close()
                raise WorkerDied(f"apus-worker answered picture {answer['id']} in place of {number}")
            yield answer
        for thread in threads:
            thread.join()


# One child for each Python worker, kept between tasks: Spark reuses Python workers.
_workers = {}


def _worker(command):
    key = tuple(command)
    worker = _workers.get(key)
    if worker is None or not worker.is_alive():
        worker = _workers[key] = Worker(command)
    return worker


def _answers(command, pictures, limit):
    """Yields an answer for each picture. A worker that ends is started anew, and looks at the picture again; the picture
    that ends a second one is answered with an error, so that it cannot stop the job."""
    done = deaths = 0
    while done < len(pictures):
        try:
            for answer in _worker(command).answers(pictures[done:], limit):
                yield answer
                done, deaths = done + 1, 0
        except WorkerDied as error:
            deaths += 1
            if deaths == 2:
                yield {"error": f"two workers ended: {error}"}
                done, deaths = done + 1, 0


def read_pictures(spark, path, glob="*.{jpg,jpeg,png,JPG,JPEG,PNG}"):
    """A DataFrame of Spark's binaryFile source: path, modificationTime, length, content.

    Spark leaves out files without any bytes.
    """
    return (spark.read.format("binaryFile").option("pathGlobFilter", glob).option("recursiveFileLookup", "true")
            .load(path))


def detect(df, model, *, worker=None, score_threshold=None, max_results=None, labels=None, deadline=30.0, patience=60.0,
           threads=1, pixels=None, channels=None):
    """Looks for objects in the pictures of a DataFrame that has `path`, `length`, `modificationTime` and `content`.

    A picture that cannot be read, or takes longer than `deadline` seconds, is a row with an `error`; so is one at which
    two workers end, or do not answer for `patience` seconds more. `model` is a
    path that every machine knows; the column `model` is the SHA-256 of the file. `pixels` and `channels` are those of
    `apus detect`. The result's schema is SCHEMA.
    """
    options = ["--deadline", str(deadline), "--threads", str(threads)]
    for name, value in (("--score-threshold", score_threshold), ("--max-results", max_results), ("--labels", labels),
                        ("--pixels", pixels), ("--channels", channels)):
        if value is not None:
            options += [f"{name}={value}"]
    binary = worker or os.environ.get("APUS_WORKER") or "apus-worker"
    limit = deadline + patience

    def rows(batches):
        import pyarrow

        found = shutil.which(binary)
        if not found:
            raise FileNotFoundError(f"there is no {binary} on this machine")
        digest = _digest(model)
        command = [found, "detect", str(model), *options]
        schema = _arrow_schema()
        for batch in batches:
            contents = [content.as_py() or b"" for content in batch.column("content")]
            answers, times = [], []
            before = time.perf_counter()
            for answer in _answers(command, contents, limit):
                now = time.perf_counter()
                answers.append(answer)
                times.append((now - before) * 1e3)
                before = now
            yield pyarrow.RecordBatch.from_arrays([
                batch.column("path").cast(pyarrow.string()),
                batch.column("length").cast(pyarrow.int64()),
                batch.column("modificationTime").cast(schema.field("modificationTime").type),
                pyarrow.array([digest] * len(answers), pyarrow.string()),
                pyarrow.array([answer.get("detections") for answer in answers], schema.field("detections").type),
                pyarrow.array(times, pyarrow.float64()),
                pyarrow.array([answer.get("error") for answer in answers], pyarrow.string()),
            ], schema=schema)

    return df.select("path", "length", "modificationTime", "content").mapInArrow(rows, SCHEMA)


def _digest(path):
    if not os.path.exists(path):
        return None  # the embedded model
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def _arrow_schema():
    import pyarrow

    number = pyarrow.float32()
    box = pyarrow.struct([(name, number) for name in ("x", "y", "width", "height")])
    found = pyarrow.struct([("label", pyarrow.string()), ("index", pyarrow.int32()), ("score", number), ("box", box)])
    return pyarrow.schema([
        ("path", pyarrow.string()), ("length", pyarrow.int64()),
        ("modificationTime", pyarrow.timestamp("us", tz="UTC")), ("model", pyarrow.string()),
        ("detections", pyarrow.list_(found)), ("milliseconds", pyarrow.float64()), ("error", pyarrow.string())])


def main():
    parser = argparse.ArgumentParser(description="Finds objects in a folder of pictures.")
    parser.add_argument("--input", required=True, help="a folder of pictures, on any file system that Spark reads")
    parser.add_argument("--output", required=True, help="a folder for the Parquet files")
    parser.add_argument("--model", required=True, help="a .tflite file, on every machine, or 'shapes'")
    parser.add_argument("--worker", help="the apus-worker on every machine; by default the one on its PATH")
    parser.add_argument("--labels", help="a label file, on every machine")
    parser.add_argument("--score-threshold", type=float)
    parser.add_argument("--max-results", type=int)
    parser.add_argument("--deadline", type=float, default=30.0, help="seconds for a picture")
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
    pictures = spark.read.parquet(arguments.input) if arguments.packed else read_pictures(spark, arguments.input)
    if arguments.partitions:
        pictures = pictures.repartition(arguments.partitions)
    detect(pictures, arguments.model, worker=arguments.worker, labels=arguments.labels,
           score_threshold=arguments.score_threshold, max_results=arguments.max_results,
           deadline=arguments.deadline).write.mode("errorifexists").parquet(arguments.output)
    spark.stop()


if __name__ == "__main__":
    main()
