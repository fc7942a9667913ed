# SPDX-License-Identifier: Apache-2.0
"""How many pictures a second one `apus-worker` answers on one processor, and Spark with it: the rates of Docs/Scale.md.

    Benchmarks/serving/worker.py MODEL PICTURE [--seconds 5] [--spark COUNT] [--spark-python PYTHON]

APUS_WORKER names the worker. The picture is repeated to fill each of the usual sizes, and compressed as a camera does.
"""

import argparse
import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from PIL import Image

SIZES = [(640, 480), (1280, 720), (1920, 1080), (3840, 2160)]


def encoded(picture, width, height):
    """The picture repeated until it fills the size, so that details stay as sharp as they are."""
    whole = Image.new("RGB", (width, height))
    for y in range(0, height, picture.height):
        for x in range(0, width, picture.width):
            whole.paste(picture.convert("RGB"), (x, y))
    file = io.BytesIO()
    whole.save(file, "jpeg", quality=90)
    return file.getvalue()


def processor_seconds(process):
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rate(model, picture, seconds):
    """Pictures a second, the processor's milliseconds for each, the worker's peak memory, and an answer.

    On a busy machine, the processor's time says what a second says on a quiet one.
    """
    worker = subprocess.Popen(["taskset", "-c", "0", os.environ["APUS_WORKER"], "detect", model],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    frame = struct.pack("<II", len(picture), 0) + picture
    stop = threading.Event()

    def feed():
        while not stop.is_set():
            worker.stdin.write(frame)
            worker.stdin.flush()
        worker.stdin.close()

    thread = threading.Thread(target=feed)
    thread.start()
    line = b""
    for _ in range(10):
        line = worker.stdout.readline()
    assert b'"error"' not in line, line
    start, count, before = time.perf_counter(), 0, processor_seconds(worker.pid)
    while time.perf_counter() - start < seconds:
        line = worker.stdout.readline()
        count += 1
    took, used = time.perf_counter() - start, processor_seconds(worker.pid) - before
    status = Path(f"/proc/{worker.pid}/status").read_text()
    memory = int(status.split("VmHWM:")[1].split()[0]) << 10
    stop.set()
    worker.stdout.read()
    thread.join()
    worker.wait()
    return count / took, used / count * 1e3, memory, len(line), json.loads(line)["milliseconds"]


def spark(model, picture, count, python):
    """Pictures a second of a job on two processors, without Spark's start, and the bytes of its output."""
    with tempfile.TemporaryDirectory() as folder:
        pictures = Path(folder) / "in"
        for number in range(count):
            place = pictures / f"{number % 100:02}"
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{number}.jpg").write_bytes(picture)
        program = f"""
import sys, time
sys.path.insert(0, {str(Path(__file__).resolve().parents[2] / "Serving" / "spark")!r})
import apus_spark
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
for name, value in apus_spark.SETTINGS.items(): builder = builder.config(name, value)
spark = builder.getOrCreate()
def run(name):
    start = time.perf_counter()
    found = apus_spark.detect(apus_spark.read_pictures(spark, {str(pictures)!r}), {str(model)!r})
    found.write.parquet({folder!r} + "/" + name)
    return time.perf_counter() - start
run("warm")
print("took", run("out"))
"""
        done = subprocess.run([python, "-c", program], check=True, capture_output=True, text=True,
                              env={**os.environ, "PYSPARK_PYTHON": python})
        took = float(done.stdout.split("took")[1])
        size = sum(file.stat().st_size for file in (Path(folder) / "out").glob("*.parquet"))
        return count / took, size / count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--spark", type=int, default=0, help="how many pictures a Spark job gets; 0 for no job")
    parser.add_argument("--spark-python", default=".build/spark-python/bin/python")
    options = parser.parse_args()
    picture = Image.open(options.picture)
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    print("| Picture | Bytes | Pictures a second | Processor, ms a picture | of them resizing, model, boxes | Memory, MiB | Answer, bytes |")
    print("|---|--:|--:|--:|---|--:|--:|")
    for width, height in SIZES:
        data = encoded(picture, width, height)
        found, used, memory, answer, stages = rate(options.model, data, options.seconds)
        stages = ", ".join(f"{stages[name]:.2f}" for name in ("preprocess", "inference", "postprocess"))
        print(f"| {width}×{height} | {len(data):,} | {found:.1f} | {used:.2f} | {stages} | {memory / 2**20:.0f} | {answer} |",
              flush=True)
    if options.spark:
        found, size = spark(options.model.resolve(), encoded(picture, *SIZES[0]), options.spark, options.spark_python)
        print(f"Spark, local[2,4], {options.spark} pictures of 640×480: {found:.1f} a second; {size:.0f} bytes of Parquet for each")


if __name__ == "__main__":
    sys.exit(main())
