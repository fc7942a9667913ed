# SPDX-License-Identifier: Apache-2.0
"""Streams that misbehave, before 'apus watch': streams.py APUS [http] [stalled] [rtsp]. Each case says what must be counted and said."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

APUS = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
problems = []


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def expect(holds, text):
    if not holds:
        problems.append(text)
    print("ok    " if holds else "FAILED", text, flush=True)


class Watch:
    """The command, with its lines in a file."""

    def __init__(self, source, *options):
        self.output = tempfile.TemporaryFile("w+")
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [APUS, "watch", source, "--json", *options], stdout=self.output, stderr=self.errors
        )

    def lines(self):
        self.output.seek(0)
        return self.output.read().splitlines()

    def frames(self):
        return sum(line.startswith('{"') and '"frame":' in line for line in self.lines())

    def wait_for_frames(self, count, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            if self.frames() >= count:
                return True
            time.sleep(0.1)
        return self.frames() >= count

    def children(self):
        names = []
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    fields = open(f"/proc/{entry}/stat").read().rsplit(")", 1)
                    if int(fields[1].split()[1]) == self.process.pid:
                        names.append((fields[0].split("(", 1)[1], fields[1].split()[0]))
                except (OSError, IndexError, ValueError):
                    pass
        return names

    def end(self, interrupt=True, seconds=60):
        """The status, the summary and the messages."""
        if interrupt and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = "not ended"
        lines = self.lines()
        self.errors.seek(0)
        summary = json.loads(lines[-1]).get("summary") if lines else None
        return status, summary or {}, self.errors.read().strip()


def http_server(port, size="320x240", seconds=3600, extra=()):
    return subprocess.Popen(
        ["ffmpeg", "-hide_banner", "-loglevel", "error", "-nostdin", "-re", "-f", "lavfi", "-i",
         f"testsrc2=size={size}:rate=30:duration={seconds}", *extra, "-c:v", "mpeg4", "-f", "mpegts", "-listen", "1",
         f"http://127.0.0.1:{port}/live"], stderr=subprocess.DEVNULL)  # fmt: skip


def rtsp_server(port, size=(320, 240)):
    server = subprocess.Popen(
        ["/usr/bin/python3", f"{HERE}/rtsp_server.py", str(port), *map(str, size)], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True)  # fmt: skip
    if server.stdout.readline().strip() != "ready":
        server.wait()
        return None
    return server


def stop(server):
    server.kill()
    server.wait()


def http():
    port = free_port()
    server = http_server(port, seconds=3)
    time.sleep(1)
    watch = Watch(f"http://127.0.0.1:{port}/live")
    status, summary, errors = watch.end(interrupt=False)
    expect(status == 0 and summary.get("answered", 0) >= 80, f"HTTP that ends: {status}, {summary}, {errors}")
    stop(server)

    port = free_port()
    server = http_server(port)
    time.sleep(1)
    watch = Watch(f"http://127.0.0.1:{port}/live", "--live")
    expect(watch.wait_for_frames(20), "HTTP, live: frames come")
    stop(server)
    time.sleep(2)
    before = watch.frames()
    server = http_server(port, size="640x360")
    expect(watch.wait_for_frames(before + 20), "HTTP, killed and back in another size: frames come again")
    expect(all(state != "Z" for _, state in watch.children()), "HTTP, restarted: no zombie")
    status, summary, errors = watch.end()
    expect(status == 0 and summary.get("restarts", 0) >= 1, f"HTTP, restarted: {status}, {summary}, {errors}")
    expect(summary.get("frames") == summary.get("answered", 0) + summary.get("dropped", 0)
           or abs(summary.get("frames", 0) - summary.get("answered", 0) - summary.get("dropped", 0)) <= 1,
           f"HTTP, restarted: every frame is counted once: {summary}")  # fmt: skip
    stop(server)

    status, summary, errors = Watch(f"http://127.0.0.1:{free_port()}/live").end(interrupt=False)
    expect(status == 1 and "refused" in errors and len(errors.splitlines()) == 1, f"HTTP, nobody listens: {status}, {errors}")


def stalled():
    # A server that sends the beginning of a stream, and then nothing.
    film = subprocess.run(
        ["ffmpeg", "-hide_banner", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=30:duration=20", "-c:v",
         "mpeg4", "-f", "mpegts", "-"], stdout=subprocess.PIPE, check=True).stdout  # fmt: skip
    listener = socket.create_server(("127.0.0.1", 0))
    watch = Watch(f"http://127.0.0.1:{listener.getsockname()[1]}/live")
    connection, _ = listener.accept()
    connection.recv(4096)
    connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Type: video/mp2t\r\n\r\n" + film[: len(film) * 3 // 4])
    status, summary, errors = watch.end(interrupt=False)
    expect(status == 1 and "stalled" in errors and "15" in errors, f"HTTP, stalled: {status}, {errors}")
    expect(watch.frames() > 10, f"HTTP, stalled: {watch.frames()} frames came before")
    connection.close()
    for name, body in [("text", b"no film\n" * 1000), ("nothing", b"")]:
        watch = Watch(f"http://127.0.0.1:{listener.getsockname()[1]}/live")
        connection, _ = listener.accept()
        connection.recv(4096)
        connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + body)
        connection.close()
        status, summary, errors = watch.end(interrupt=False)
        expect(status == 1 and len(errors.splitlines()) == 1, f"HTTP with {name}: {status}, {errors}")


def rtsp():
    port = free_port()
    server = rtsp_server(port)
    if server is None:
        print("skipped: RTSP needs python3-gi, gir1.2-gst-rtsp-server-1.0, gstreamer1.0-plugins-base and -good")
        return
    watch = Watch(f"rtsp://127.0.0.1:{port}/test")
    expect(watch.wait_for_frames(30), "RTSP: frames come")
    stop(server)
    time.sleep(2)
    before = watch.frames()
    server = rtsp_server(port, (640, 480))
    expect(watch.wait_for_frames(before + 20, 40), "RTSP, killed and back in another size: frames come again")
    os.kill(server.pid, signal.SIGSTOP)
    time.sleep(3)
    stopped = watch.frames()
    os.kill(server.pid, signal.SIGCONT)
    expect(watch.wait_for_frames(stopped + 10, 40), "RTSP, held for three seconds: frames come again")
    expect(all(state != "Z" for _, state in watch.children()), "RTSP, restarted: no zombie")
    status, summary, errors = watch.end()
    expect(status == 0 and summary.get("restarts", 0) >= 1, f"RTSP: {status}, {summary}, {errors}")
    stop(server)


for case in (http, stalled, rtsp):
    if case.__name__ in (sys.argv[2:] or [case.__name__]):
        case()
print(f"{len(problems)} failed")
sys.exit(1 if problems else 0)
