# SPDX-License-Identifier: Apache-2.0
"""How many pictures a second one `apus-worker` answers on one processor, and Spark with it: the rates of Docs/Scale.md.

    Benchmarks/serving/worker.py MODEL PICTURE [--seconds 5] [--spark 8000] [--spark-python PYTHON]

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

from PIL import Image, ImageChops

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


def spark(model, photo, size, count, python):
    """Pictures a second of a job on two processors, without Spark's start, the processor's milliseconds of a picture in
    the JVM, in Python and in the worker, and the bytes of Parquet for a row."""
    with tempfile.TemporaryDirectory() as folder:
        pictures = Path(folder) / "in"
        for number in range(count):
            place = pictures / f"{number % 100:02}"
            place.mkdir(parents=True, exist_ok=True)
            # Each picture begins elsewhere in the photo, so that no two have the same answer.
            shifted = ImageChops.offset(photo, number * 37 % photo.width, number * 101 % photo.height)
            (place / f"{number}.jpg").write_bytes(encoded(shifted, *size))
        program = f"""
import os, sys, time
sys.path.insert(0, {str(Path(__file__).resolve().parents[2] / "Serving" / "spark")!r})
import apus_spark
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
for name, value in apus_spark.SETTINGS.items(): builder = builder.config(name, value)
spark = builder.getOrCreate()
spark.sparkContext.addPyFile(apus_spark.__file__)
def used():
    # Clock ticks of the job's processes so far, by program.
    found = dict.fromkeys(("java", "python", "apus-worker"), 0)
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            name, fields = open(f"/proc/{{process}}/stat").read().rsplit(")", 1)
            program = next((known for known in found if known in name), None)
            if program: found[program] += sum(map(int, fields.split()[11:13]))
        except OSError: pass
    return found
def run(name):
    start, before = time.perf_counter(), used()
    found = apus_spark.detect(apus_spark.read_pictures(spark, {str(pictures)!r}), {str(model)!r})
    found.write.parquet({folder!r} + "/" + name)
    took, after = time.perf_counter() - start, used()
    return [took, *(after[name] - before[name] for name in after)]
run("warm")
print("measured", *run("out"))
"""
        done = subprocess.run([python, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "PYSPARK_PYTHON": str(python)})
        if done.returncode != 0:
            sys.exit(done.stderr)
        took, *ticks = map(float, done.stdout.split("measured")[1].split())
        parts = [number / os.sysconf("SC_CLK_TCK") / count * 1e3 for number in ticks]
        written = sum(file.stat().st_size for file in (Path(folder) / "out").glob("*.parquet"))
        return count / took, parts, written / count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--spark", type=int, default=0, help="how many pictures of 640×480 a Spark job gets, and a quarter of them of 1920×1080; 0 for no job")
    parser.add_argument("--spark-python", default=Path(".build/spark-python/bin/python").absolute())
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
        print("\n| Spark, local[2,4] | Pictures | Pictures a second | Processor, ms a picture: JVM | Python | worker | Bytes of Parquet |")
        print("|---|--:|--:|--:|--:|--:|--:|")
        for size, count in ((SIZES[0], options.spark), (SIZES[2], options.spark // 4)):
            found, parts, row = spark(options.model.resolve(), picture, size, count, options.spark_python)
            parts = " | ".join(f"{part:.2f}" for part in parts)
            print(f"| {size[0]}×{size[1]} | {count:,} | {found:.1f} | {parts} | {row:.0f} |", flush=True)



if __name__ == "__main__":
    sys.exit(main())
