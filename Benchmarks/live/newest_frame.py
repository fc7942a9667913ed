#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How old a frame is when its answer comes, with a camera that is faster than the model.

    Benchmarks/live/newest_frame.py APUS MODEL [--minutes 10] [--rate 30] [OPTION OF WATCH…]

Serves a test pattern as network cameras do, JPEG after JPEG over HTTP, and notes when each one has been sent. `apus watch` numbers the
frames that arrive, so the line of a frame tells how long ago it was sent: decoding, waiting and inference included. A slow model is any
large one with `--threads 1`, or one with `APUS_KERNELS=portable`. Needs ffmpeg. Status 1 if the 99th percentile is above 150 ms.
"""
import argparse
import http.server
import json
import subprocess
import sys
import threading
import time

LIMIT = 150


def jpegs(size, count):
    """The pictures of a test pattern."""
    stream = subprocess.run(
        ["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", f"testsrc2=size={size}:rate=30", "-frames:v", str(count), "-q:v", "4",
         "-f", "mjpeg", "-"], check=True, stdout=subprocess.PIPE).stdout
    return [b"\xff\xd8" + part for part in stream.split(b"\xff\xd8")[1:]]


def percentile(values, share):
    return values[min(len(values) - 1, int(share * len(values)))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("apus")
    parser.add_argument("model")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--rate", type=float, default=30)
    parser.add_argument("--size", default="640x480")
    arguments, options = parser.parse_known_args()
    pictures, sent, ends = jpegs(arguments.size, 60), [], time.monotonic() + arguments.minutes * 60

    class Camera(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
            self.end_headers()
            begin = time.monotonic()
            while (now := time.monotonic()) < ends:
                picture = pictures[len(sent) % len(pictures)]
                sent.append(now)
                try:
                    self.wfile.write(
                        b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n%s\r\n" % (len(picture), picture))
                except OSError:
                    return
                time.sleep(max(0, begin + len(sent) / arguments.rate - time.monotonic()))

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Camera)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    watch = subprocess.Popen(
        [arguments.apus, "watch", f"http://127.0.0.1:{server.server_address[1]}/", "--live", "--model", arguments.model,
         "--seconds", str(arguments.minutes * 60 - 2), "--json", *options], stdout=subprocess.PIPE, text=True)
    ages, own, times, summary = [], [], [], {}
    for line in watch.stdout:
        now, document = time.monotonic(), json.loads(line)
        summary = document.get("summary", summary)
        # The first second is for starting.
        if "frame" in document and document["time"] > 1:
            ages.append(1000 * (now - sent[document["frame"]]))
            own.append(document["age"])
            times.append(document["milliseconds"]["inference"])
    status = watch.wait()
    if status or not ages:
        sys.exit(f"error: status {status}, {len(ages)} answers")
    print(f"{summary['frames']} frames at {arguments.rate:g} a second, {summary['answered']} answered, {summary['dropped']} dropped")
    for name, values in [("inference", times), ("age since arrival", own), ("age since it was sent", ages)]:
        values.sort()
        print(f"{name}: median {percentile(values, 0.5):.1f}, 99th percentile {percentile(values, 0.99):.1f}, most {values[-1]:.1f} ms")
    return 0 if percentile(ages, 0.99) <= LIMIT else 1


sys.exit(main())
