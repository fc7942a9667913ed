# SPDX-License-Identifier: Apache-2.0
"""Cameras: what they see, as pictures without end, events, snapshots and a page. Their sources are test patterns and made videos."""

import email.utils
import http.client
import http.server
import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from PIL import Image
from server import Server


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    """A video of the embedded model's sample picture that moves from left to right across the middle, at 10 pictures a second."""
    folder = tmp_path_factory.mktemp("film")
    with Server() as server:
        sample = Image.open(io.BytesIO(server.request("/sample.jpg")[2])).convert("RGB")
    for number in range(60):
        picture = Image.new("RGB", sample.size, (128, 128, 128))
        picture.paste(sample, (-sample.width + 22 * number, 0))
        picture.save(folder / f"{number:03}.png")
    subprocess.run(
        ["ffmpeg", "-v", "error", "-framerate", "10", "-i", folder / "%03d.png", "-pix_fmt", "yuv420p", "-crf", "18", folder / "film.mp4"],
        check=True)
    return folder / "film.mp4"


@pytest.fixture(scope="module")
def live(film):
    """A server of a live pattern, of a film, and of what cannot be read."""
    with Server(
            "--camera", "pattern=test:testsrc2:320x240:600", "--camera", f"film={film}", "--camera", "none=rtsp://127.0.0.1:9/none",
            "--camera-place", "film/gate:0.5,0,0.5,1", "--camera-place", "film/right:0.5,0,1,0,1,1,0.5,1") as server:
        yield server
        assert server.process.poll() is None, "the server died"
        began = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began < 10


def wait(server, name, holds, seconds=60):
    """The description of a camera once it is as wanted."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        camera = {camera["name"]: camera for camera in server.json("/cameras")[1]}[name]
        if holds(camera):
            return camera
        time.sleep(0.05)
    raise AssertionError(camera)


class Events:
    """A listener of server-sent events."""

    def __init__(self, server, path):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=30)
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        self.data = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def read(self, enough):
        while not enough(self.data):
            part = self.socket.recv(1 << 16)
            if not part:
                break
            self.data += part
        return self.data


def test_what_is_seen_is_what_watch_says(film, live):
    done = wait(live, "film", lambda camera: camera["state"] == "ended")
    lines = [json.loads(line) for line in subprocess.run(
        [os.environ["APUS"], "watch", film, "--json", "--track", "bytetrack", "--line", "gate:0.5,0,0.5,1", "--zone", "right:0.5,0,1,0,1,1,0.5,1"],
        check=True, capture_output=True).stdout.splitlines()]
    summary = lines[-1]["summary"]
    assert done["frames"] == done["answered"] == summary["frames"] == 60
    assert done["lines"] == summary["lines"] and done["lines"]["gate"]["in"] + done["lines"]["gate"]["out"] > 0
    # The stays of those who are in the zone end with the film.
    assert done["zones"] == summary["zones"] and done["zones"]["right"]["entries"] == done["zones"]["right"]["exits"] > 0
    assert (done["width"], done["height"], done["model"]) == (640, 480, "shapes")
    assert done["places"]["gate"] == [[0.5, 0], [0.5, 1]]


def test_what_is_found_is_counted(test_data, tmp_path):
    """Objects below the score from which ByteTrack starts tracks by itself, and such that the lower edge of the picture cuts."""
    model = test_data / "models" / "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29_metadata.tflite"
    subprocess.run(
        ["ffmpeg", "-v", "error", "-loop", "1", "-framerate", "10", "-i", test_data / "images" / "cats_and_dogs.jpg", "-t", "1",
         "-c:v", "mpeg2video", "-q:v", "2", tmp_path / "cats.mpg"], check=True)
    with Server(model, "--camera", f"c={tmp_path / 'cats.mpg'}", "--camera-place", "c/all:0,0,1,0,1,1,0,1") as server:
        with Events(server, "/cameras/c/events") as listener:
            data = listener.read(lambda data: b'"detections"' in data)
        done = wait(server, "c", lambda camera: camera["state"] == "ended")
        assert server.stop() == 0
    assert data and done["zones"]["all"]["entries"] >= 4, done


def test_the_head_of_a_stream_has_no_length(live):
    """RFC 9110, 8.6: a length in the answer to HEAD is the one that GET has, which has none here. The connection goes on."""
    connection = http.client.HTTPConnection("127.0.0.1", live.port, timeout=30)
    for path in ("/cameras/pattern/stream", "/cameras/pattern/events", "/v2"):
        connection.request("HEAD", path)
        answer = connection.getresponse()
        assert answer.status == 200 and answer.read() == b""
        assert (answer.getheader("Content-Length") is None) == path.startswith("/cameras"), path
    connection.request("GET", "/v2/health/live")
    assert connection.getresponse().read() == b'{"live":true}'


def test_the_list_of_cameras_is_kept_by_no_cache(live):
    """Two answers under one address: RFC 9110, 12.5.5."""
    for accept, kind in (("application/json", "application/json"), ("text/html", "text/html; charset=utf-8")):
        status, headers, _ = live.request("/cameras", headers={"Accept": accept})
        assert status == 200 and headers["Content-Type"] == kind and headers["Vary"] == "Accept"
        assert headers.get("Cache-Control") == ("no-store" if kind == "application/json" else None)


def test_a_stream_is_pictures_each_in_place_of_the_one_before(live):
    wait(live, "pattern", lambda camera: camera["state"] == "running")
    with Events(live, "/cameras/pattern/stream") as viewer:
        data = viewer.read(lambda data: data.count(b"--frame\r\n") > 5)
    assert b"multipart/x-mixed-replace; boundary=frame" in data
    # Chunks of the transfer lie between; a picture is found by its markers.
    start, end = data.index(b"\xff\xd8"), data.index(b"\xff\xd9\r\n") + 2
    picture = Image.open(io.BytesIO(data[start:end]))
    assert picture.size == (320, 240) and np.asarray(picture).std() > 10


def test_a_snapshot_is_the_newest_picture(live):
    wait(live, "pattern", lambda camera: camera["answered"] > 3)
    status, headers, one = live.request("/cameras/pattern/snapshot.jpg")
    time.sleep(1)
    other = live.request("/cameras/pattern/snapshot.jpg")[2]
    assert status == 200 and headers["Content-Type"] == "image/jpeg" and headers["Cache-Control"] == "no-store"
    assert Image.open(io.BytesIO(one)).size == (320, 240) and one != other


def test_events_are_lines_of_json(film):
    with Server("--camera", f"film={film}", "--camera-place", "film/gate:0.5,0,0.5,1", "--camera-fps", "5") as server:
        with Events(server, "/cameras/film/events") as listener:
            data = listener.read(lambda data: b'"event":"crossed"' in data)
        wait(server, "film", lambda camera: camera["state"] == "ended")
        assert server.stop() == 0
    texts = [line[6:] for line in data.decode().replace("\r\n", "\n").splitlines() if line.startswith("data: ")]
    frames = [json.loads(text) for text in texts]
    crossing = next(frame for frame in frames if "event" in frame)
    assert crossing["line"] == "gate" and crossing["direction"] in ("in", "out") and crossing["track"] >= 1
    seen = next(frame for frame in frames if frame.get("detections"))
    assert {"label", "index", "score", "box"} <= set(seen["detections"][0]) and seen["milliseconds"]["inference"] > 0


def test_a_source_that_is_opened_anew_goes_on():
    """A live source that ends is opened again: numbers of tracks and frames, counts and the time go on in the same stream of events."""
    ends = lambda: sum('"camera ended"' in line for line in server.lines)
    with Server("--camera", "c=test:testsrc2:320x240:2", "--camera-place", "c/gate:0.5,0,0.5,1",
                "--camera-place", "c/all:0,0,1,0,1,1,0,1") as server:
        with Events(server, "/cameras/c/events") as listener:
            listener.read(lambda data: ends() == 1)
            before = server.json("/cameras")[1][0]
            # The third opening shows that the second one was read to its end.
            listener.read(lambda data: ends() == 3)
            data = listener.data
        after = server.json("/cameras")[1][0]
        assert server.stop() == 0

    def lines(data):
        texts = [line[6:] for line in data.decode(errors="replace").replace("\r\n", "\n").splitlines() if line.startswith("data: ")]
        return [json.loads(text) for text in texts if text.endswith("}")]

    # What was read when the source ended may lack its last line.
    frames = [line for line in lines(data) if "frame" in line]
    gap = next(place for place in range(1, len(frames)) if frames[place]["time"] - frames[place - 1]["time"] > 0.9)
    for one, other in zip(frames, frames[1:]):
        assert other["frame"] > one["frame"] and other["time"] > one["time"], (one, other)

    def tracks(frames):
        return {found["track"] for frame in frames for found in frame["detections"] if "track" in found}

    assert max(tracks(frames[:gap])) < min(tracks(frames[gap:])), "numbers of tracks are used again"
    assert before["zones"]["all"]["entries"] > 0 and after["zones"]["all"]["entries"] > before["zones"]["all"]["entries"]
    for name in ("frames", "answered", "dropped", "late"):
        assert after[name] >= before[name]
    assert after["frames"] >= after["answered"] > before["answered"] and after["frames"] >= frames[-1]["frame"]
    assert all(after["lines"]["gate"][way] >= before["lines"]["gate"][way] for way in ("in", "out"))


def test_a_source_that_is_not_there_is_said_and_tried_again(live):
    camera = wait(live, "none", lambda camera: camera["state"] == "failed")
    assert "rtsp://127.0.0.1:9/none" in camera["reason"] and camera["answered"] == 0
    status, body = live.json("/cameras/none/snapshot.jpg")
    assert status == 503 and "has no picture yet" in body["error"]
    assert live.json("/cameras/nobody")[0] == 404 and live.json("/cameras/none/other")[0] == 404
    assert live.request("/cameras/none", b"x")[0] == 405


def takes_a_viewer(live, path, seconds):
    """Asks until there is a place again for a viewer."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with Events(live, path) as viewer:
            if b"200 OK" in viewer.read(lambda data: b"\r\n\r\n" in data):
                return
        time.sleep(0.2)
    raise AssertionError("viewers who left still count")


def test_viewers_are_bounded_and_leave(live):
    wait(live, "pattern", lambda camera: camera["state"] == "running")
    viewers = [Events(live, "/cameras/pattern/stream") for _ in range(16)]
    for viewer in viewers:
        viewer.read(lambda data: b"--frame" in data)
    assert live.request("/cameras/pattern/stream")[0] == 503
    assert live.request("/cameras/pattern/snapshot.jpg")[0] == 200
    for viewer in viewers:
        viewer.socket.close()
    takes_a_viewer(live, "/cameras/pattern/events", 20)


def test_viewers_who_leave_a_camera_that_fails_leave_their_places(live):
    wait(live, "none", lambda camera: camera["state"] == "failed")
    for _ in range(20):
        with Events(live, "/cameras/none/stream") as viewer:
            viewer.read(lambda data: b"\r\n\r\n" in data)
    # The source is tried again every 30 seconds at the latest, and a client that is gone shows at the second write.
    takes_a_viewer(live, "/cameras/none/stream", 90)


class Silence:
    """A source over TCP that sends a video at once, and then nothing more; whoever comes later gets nothing."""

    def __init__(self, video):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.name = f"tcp://127.0.0.1:{self.listener.getsockname()[1]}"
        self.connections = []
        threading.Thread(target=self.serve, args=(video,), daemon=True).start()

    def serve(self, video):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            if not self.connections:
                connection.sendall(video)
            self.connections.append(connection)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        for connection in self.connections:
            connection.close()


def test_viewers_who_leave_a_camera_that_is_silent_leave_their_places():
    video = subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=10:duration=30", "-c:v", "mpeg2video", "-f", "mpegts", "-"],
        check=True, capture_output=True).stdout
    with Silence(video) as source, Server("--camera", f"silent={source.name}") as server:
        wait(server, "silent", lambda camera: camera["answered"] > 0)
        for path in ("/cameras/silent/stream", "/cameras/silent/events"):
            for _ in range(20):
                with Events(server, path) as viewer:
                    viewer.read(lambda data: b"\r\n\r\n" in data)
            takes_a_viewer(server, path, 40)
        assert server.stop() == 0


class Videos:
    """A source over TCP that sends each video to one who asks, and the last one to all after."""

    def __init__(self, *videos):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.name = f"tcp://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.serve, args=(list(videos),), daemon=True).start()

    def serve(self, videos):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                try:
                    connection.sendall(videos[0])
                except OSError:
                    pass  # who asks may leave
            videos = videos[1:] or videos

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


def test_places_stay_where_they_are_when_pictures_change_their_size(tmp_path):
    with Server() as server:
        (tmp_path / "sample.jpg").write_bytes(server.request("/sample.jpg")[2])
    videos = [subprocess.run(
        ["ffmpeg", "-v", "error", "-loop", "1", "-framerate", "10", "-i", tmp_path / "sample.jpg", "-t", "4", "-s", size, "-c:v", "mpeg2video",
         "-q:v", "2", "-f", "mpegts", "-"], check=True, capture_output=True).stdout for size in ("640x480", "320x240")]
    with Videos(*videos) as source, Server("--camera", f"c={source.name}", "--camera-place", "c/right:0.5,0,1,0,1,1,0.5,1") as server:
        wide = wait(server, "c", lambda camera: camera["width"] == 640 and camera["zones"]["right"]["occupancy"] > 0)
        # Nothing moves: those who are in the right half are still there, if it is that of the small picture.
        small = wait(server, "c", lambda camera: camera["width"] == 320 and camera["answered"] > wide["answered"] + 20)
        assert small["zones"]["right"]["occupancy"] >= wide["zones"]["right"]["occupancy"]
        wait(server, "c", lambda camera: camera["answered"] > small["answered"] + 40)
        assert server.json("/cameras")[1][0]["zones"]["right"]["occupancy"] >= wide["zones"]["right"]["occupancy"]
        assert server.stop() == 0


def test_a_film_that_breaks_off_is_read_once(tmp_path):
    subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=10:duration=4", "-c:v", "ffv1", tmp_path / "film.mkv"], check=True)
    film = (tmp_path / "film.mkv").read_bytes()
    (tmp_path / "half.mkv").write_bytes(film[: len(film) // 2])
    with Server("--camera", f"c={tmp_path / 'half.mkv'}") as server:
        failed = wait(server, "c", lambda camera: camera["state"] == "failed")
        assert 0 < failed["answered"] < 40 and "breaks off" in failed["reason"]
        time.sleep(5)
        later = server.json("/cameras")[1][0]
        assert later["state"] == "failed" and later["answered"] == failed["answered"]
        assert server.stop() == 0


def test_a_viewer_who_does_not_read_slows_nobody(live):
    wait(live, "pattern", lambda camera: camera["state"] == "running")
    with Events(live, "/cameras/pattern/stream") as sleeper:
        sleeper.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        before, began = wait(live, "pattern", lambda camera: True)["answered"], time.monotonic()
        memory = live.rss()
        time.sleep(5)
        rate = (wait(live, "pattern", lambda camera: True)["answered"] - before) / (time.monotonic() - began)
        assert rate > 2 and live.rss() < memory + (64 << 20)


@pytest.fixture
def versions(tmp_path):
    """A repository of a detector in two versions with other names, of which nothing else is known."""
    from test_pictures import undecided

    for version in ("9", "10"):
        folder = tmp_path / "finder" / version
        folder.mkdir(parents=True)
        (folder / "model.tflite").write_bytes(undecided().bytes())
        (folder / "labels.txt").write_text(f"first of {version}\nsecond of {version}\n")
    return tmp_path


def labels_of_next_frame(server, name):
    with Events(server, f"/cameras/{name}/events") as listener:
        text = listener.read(lambda data: b"\n\n" in data.partition(b'"detections"')[2]).decode()
    frame = json.loads(next(line for line in text.splitlines() if '"detections"' in line)[len("data: "):])
    return {found["label"] for found in frame["detections"]}


@pytest.mark.parametrize("options", [[], ["--camera-model", "c=finder"]])
def test_a_camera_takes_the_version_that_requests_get(versions, options):
    with Server("--model-repository", versions, "--camera", "c=test:testsrc2:64x48:600", *options) as server:
        camera = wait(server, "c", lambda camera: camera["answered"] > 0)
        picture = server.request("/cameras/c/snapshot.jpg")[2]
        asked = {found["label"] for found in server.json("/v1/detect", picture)[1]["detections"]}
        assert camera["model"] == "finder" and asked == {"second of 10"} == labels_of_next_frame(server, "c")
        assert server.stop() == 0
        assert sum("--box-units pixel says so" in line for line in server.lines) == 1


def test_a_camera_follows_its_model(versions):
    with Server("--model-repository", versions, "--model-control", "explicit", "--camera", "c=test:testsrc2:64x48:600") as server:
        wait(server, "c", lambda camera: camera["answered"] > 0)
        (versions / "finder" / "10" / "labels.txt").write_text("other\nanother\n")
        assert server.request("/v2/repository/models/finder/load", b"{}")[0] == 200
        # A frame may be on its way.
        answered = wait(server, "c", lambda camera: True)["answered"]
        wait(server, "c", lambda camera: camera["answered"] > answered + 1)
        assert labels_of_next_frame(server, "c") == {"another"}
        assert server.request("/v2/repository/models/finder/unload", b"{}")[0] == 200
        gone = wait(server, "c", lambda camera: camera["state"] == "failed")
        assert "'finder'" in gone["reason"] and "unloaded" in gone["reason"]
        time.sleep(0.5)
        assert wait(server, "c", lambda camera: True)["answered"] == gone["answered"]
        assert server.request("/v2/repository/models/finder/load", b"{}")[0] == 200
        wait(server, "c", lambda camera: camera["state"] == "running" and camera["answered"] > gone["answered"])
        assert sum("unloaded" in line and '"camera"' in line for line in server.lines) == 1, server.lines
        assert server.stop() == 0


def test_a_camera_that_waited_for_its_model_looks_at_the_newest_frame(versions):
    with Server("--model-repository", versions, "--model-control", "explicit", "--camera", "c=test:testsrc2:64x48:600") as server:
        def next_time(after=lambda: None):
            with Events(server, "/cameras/c/events") as listener:
                listener.read(lambda data: b"\r\n\r\n" in data)
                after()
                text = listener.read(lambda data: b"\n\n" in data.partition(b'"detections"')[2]).decode()
            return json.loads(next(line for line in text.splitlines() if '"detections"' in line)[len("data: "):])["time"]

        wait(server, "c", lambda camera: camera["answered"] > 0)
        before = next_time()
        assert server.request("/v2/repository/models/finder/unload", b"{}")[0] == 200
        wait(server, "c", lambda camera: camera["state"] == "failed")
        time.sleep(3)
        after = next_time(lambda: server.request("/v2/repository/models/finder/load", b"{}"))
        # The frame that was held while the model was gone is from before the pause.
        assert after - before > 2.5
        assert server.stop() == 0


def test_a_camera_that_has_ended_says_so(live):
    ended = wait(live, "film", lambda camera: camera["state"] == "ended")
    assert ended["fps"] == 0
    for path in ("stream", "events"):
        status, body = live.json(f"/cameras/film/{path}")
        assert status == 404 and body["error"] == "the camera 'film' has ended"
    assert live.request("/cameras/film/snapshot.jpg")[0] == 200


def test_wrong_cameras_stop_the_server(film):
    for options, message in [
        (["--camera", "x"], "NAME=SOURCE"), (["--camera", "a b=x"], "NAME=SOURCE"),
        (["--camera", f"a={film}", "--camera", f"a={film}"], "two cameras"),
        (["--camera", f"a={film}", "--camera-model", "a=none"], "no model 'none'"),
        (["--camera", f"a={film}", "--camera-model", "b=shapes"], "the name of a camera"),
        (["--camera", f"a={film}", "--camera-model", "a=shapes", "--camera-model", "a=shapes"], "two models for the camera 'a'"),
        (["--camera", f"a={film}", "--camera-place", "a/gate:0,0"], "--camera-place"),
        (["--camera", f"a={film}", "--camera-place", "a/gate:0,0,0,0"], "two equal points"),
        (["--camera", f"a={film}", "--camera-fps", "0"], "--camera-fps"),
        (["--camera", f"a={film}", "--camera-stall", "0"], "--camera-stall"),
        # What no device, network or disk can make right.
        (["--camera", "a=test:shapes"], "the camera 'a': 'test:shapes' is not test:PATTERN"),
        (["--camera", "a=test:testsrc2:5x5"], "the camera 'a': 'test:testsrc2:5x5' is not"),
        (["--camera", "a=ftp://user:s3cretpw@camera/film.mp4?token=t0k3n"], "has the scheme 'ftp'"),
        (["--camera", "a=-"], "standard input"),
        (["--camera", "rtsp://user:s3cretpw@camera/film?token=t0k3n"], "--camera is 'rtsp://…=…'"),
    ]:
        ended = subprocess.run(
            [os.environ["APUS_SERVER"], "--http", "127.0.0.1:0", "--grpc", "off", *options], capture_output=True, text=True, timeout=60)
        assert ended.returncode != 0 and message in ended.stderr, (options, ended.stderr)
        assert "s3cretpw" not in ended.stderr and "t0k3n" not in ended.stderr


def runs(pid):
    """Whether a process runs; one that has ended may wait for the system's first process to take note."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_end_of_the_server_ends_ffmpeg(film):
    with Server("--camera", "pattern=test:testsrc2:64x48:600") as server:
        wait(server, "pattern", lambda camera: camera["state"] == "running")
        children = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(server.process.pid)], capture_output=True, text=True).stdout.split("\n")
        pids = [int(line.split()[0]) for line in children if "ffmpeg" in line]
        assert pids
        stopper = threading.Thread(target=server.stop)
        stopper.start()
        stopper.join(20)
        assert not stopper.is_alive()
    end = time.monotonic() + 10
    while any(map(runs, pids)):
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("listener", ["--http", "--grpc"])
@pytest.mark.parametrize("sources", [[], ["test:testsrc2:64x48:600", "rtsp://127.0.0.1:9/none"]])
def test_a_listener_that_cannot_start_ends_the_server(listener, sources):
    """With cameras, too: they end with the group of services. The error names the option and the address."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        options = {"--http": "127.0.0.1:0", "--grpc": "127.0.0.1:0", listener: address}
        cameras = [part for number, source in enumerate(sources) for part in ("--camera", f"c{number}={source}")]
        ended = subprocess.run(
            [os.environ["APUS_SERVER"], *[part for pair in options.items() for part in pair], *cameras], capture_output=True, text=True, timeout=30)
    assert ended.returncode == 1, ended.stderr
    assert f"error: {listener} {address}: Address already in use" in ended.stderr.splitlines(), ended.stderr


class MotionJPEG:
    """A camera over HTTP that sends pictures one after the other, in a process of its own, which can be killed and started again."""

    def __init__(self, port=0):
        self.port = port

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()

    def start(self):
        with socket.create_server(("127.0.0.1", self.port)) as found:
            self.port = found.getsockname()[1]
        self.process = subprocess.Popen([sys.executable, "-c", self.PROGRAM, str(self.port)], stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == b"ready\n"

    def kill(self):
        self.process.kill()
        self.process.wait()

    @property
    def name(self):
        return f"http://127.0.0.1:{self.port}/video"

    PROGRAM = """
import io, socketserver, sys, time
from http.server import BaseHTTPRequestHandler
from PIL import Image

class Camera(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=b")
        self.end_headers()
        for number in range(100000):
            data = io.BytesIO()
            Image.new("RGB", (64, 48), (number * 5 % 256, 90, 120)).save(data, "JPEG")
            self.wfile.write(b"--b\\r\\nContent-Type: image/jpeg\\r\\nContent-Length: %d\\r\\n\\r\\n%s\\r\\n" % (
                len(data.getvalue()), data.getvalue()))
            time.sleep(0.05)

    def log_message(self, *_):
        pass

class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

with Server(("127.0.0.1", int(sys.argv[1])), Camera) as server:
    print("ready", flush=True)
    server.serve_forever()
"""


def up(server, name):
    text = server.request("/metrics")[2].decode()
    return int(next(line for line in text.splitlines() if line.startswith(f'apus_camera_up{{camera="{name}"}}')).split()[1])


def test_a_camera_whose_source_is_gone_says_so_within_seconds():
    with MotionJPEG() as source, Server("--camera", f"c={source.name}") as server:
        before = wait(server, "c", lambda camera: camera["answered"] > 10)
        assert before["state"] == "running" and before["fps"] > 0 and before["restarts"] == 0 and up(server, "c") == 1
        status, headers, picture = server.request("/cameras/c/snapshot.jpg")
        stamp = float(headers["X-Timestamp"])
        assert status == 200 and abs(time.time() - stamp) < 5
        assert email.utils.parsedate_to_datetime(headers["Last-Modified"]).timestamp() == int(stamp)
        source.kill()
        killed = time.time()
        gone = wait(server, "c", lambda camera: camera["state"] == "failed", 10)
        assert gone["fps"] == 0 and up(server, "c") == 0 and "127.0.0.1" in gone["reason"], gone
        # The last picture is not shown as the newest one, but for those who ask for it.
        status, body = server.json("/cameras/c/snapshot.jpg")
        assert status == 503 and gone["last_picture"] in body["error"] and "any_age" in body["error"], body
        status, headers, _ = server.request("/cameras/c/snapshot.jpg?any_age=true")
        assert status == 200 and stamp <= float(headers["X-Timestamp"]) <= killed + 1
        assert f'last_picture_timestamp_seconds{{camera="c"}} {headers["X-Timestamp"]}' in server.request("/metrics")[2].decode()
        # Restarts count as they happen.
        restarts = [wait(server, "c", lambda camera: camera["restarts"] > count, 10)["restarts"] for count in (0, 1)]
        assert restarts == [1, 2] and server.json("/cameras")[1][0]["state"] == "failed"
        source.start()
        back = wait(server, "c", lambda camera: camera["state"] == "running", 40)
        assert back["frames"] >= back["answered"] > gone["answered"] and "reason" not in back, back
        assert up(server, "c") == 1 and server.request("/cameras/c/snapshot.jpg")[0] == 200
        wait(server, "c", lambda camera: camera["fps"] > 0)
        assert server.stop() == 0
    log = [json.loads(line) for line in server.lines if line.startswith("{")]
    said = [entry for entry in log if entry.get("camera") == "c" and entry["level"] == "error"]
    assert said and len(said) == len({entry["reason"] for entry in said}), "a reason is said once"
    assert sum(entry["message"] == "camera is running" for entry in log) == 1, log


def test_a_camera_that_is_silent_says_so_within_seconds():
    """The connection stays, and no frame comes: the source counts as stalled after 15 seconds."""
    with MotionJPEG() as source, Server("--camera", f"c={source.name}") as server:
        wait(server, "c", lambda camera: camera["answered"] > 10)
        source.process.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        silent = wait(server, "c", lambda camera: camera["state"] == "failed", 10)
        assert time.monotonic() - began < 8 and silent["fps"] == 0 and "no frame for" in silent["reason"] and up(server, "c") == 0
        assert server.request("/cameras/c/snapshot.jpg")[0] == 503
        source.process.send_signal(signal.SIGCONT)
        wait(server, "c", lambda camera: camera["state"] == "running" and camera["restarts"] == 0, 10)
        assert server.stop() == 0


class Redirect(http.server.BaseHTTPRequestHandler):
    """Sends everybody to an address with a secret of its own."""

    def do_GET(self):
        self.send_response(302)
        self.send_header("Location", "http://127.0.0.1:1/b.mjpg?token=t0k3n")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def test_nobody_reads_the_secrets_of_addresses():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Redirect) as redirect:
        threading.Thread(target=redirect.serve_forever, daemon=True).start()
        sources = {
            "query": "http://user:s3cretpw@127.0.0.1:1/a.mjpg?user=admin&pwd=t0k3n",
            "long": "http://127.0.0.1:1/a.mjpg?signature=" + "t0k3n" * 60,
            "path": "rtsp://127.0.0.1:1/user=admin_password=s3cretpw_channel=1.sdp",
            "slash": "http://user:s3cretpw/t0k3n@127.0.0.1:1/a.mjpg",
            "elsewhere": f"http://127.0.0.1:{redirect.server_port}/a.mjpg?token=t0k3n",
        }
        with Server(*[part for name, source in sources.items() for part in ("--camera", f"{name}={source}")]) as server:
            for name in sources:
                wait(server, name, lambda camera: camera["state"] == "failed")
                assert server.json(f"/cameras/{name}/snapshot.jpg")[0] == 503
            cameras = {camera["name"]: camera["reason"] for camera in server.json("/cameras")[1]}
            shown = [json.dumps(cameras), *[server.request(f"/cameras/{name}/snapshot.jpg")[2].decode() for name in sources]]
            assert server.stop() == 0
        redirect.shutdown()
    for text in shown + server.lines:
        assert "s3cretpw" not in text and "t0k3n" not in text, text
    assert cameras["query"] == "cannot read 'http://…@127.0.0.1:1/a.mjpg?…': Connection refused"
    assert cameras["long"] == "cannot read 'http://127.0.0.1:1/a.mjpg?…': Connection refused"
    assert cameras["path"].startswith("cannot read 'rtsp://127.0.0.1:1/…': "), cameras


def test_watch_says_when_a_stream_is_lost_and_back():
    with MotionJPEG() as source:
        watch = subprocess.Popen(
            [os.environ["APUS"], "watch", f"{source.name}?token=t0k3n", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            for _ in range(10):
                assert "frame" in json.loads(watch.stdout.readline())
            drain = threading.Thread(target=watch.stdout.read, daemon=True)
            drain.start()
            source.kill()
            lost = watch.stderr.readline()
            time.sleep(2)
            source.start()
            back = watch.stderr.readline()
            watch.send_signal(signal.SIGINT)
            drain.join(30)
            assert watch.wait(30) == 0 and watch.stderr.read() == ""
        finally:
            watch.kill()
    name = f"'{source.name}?…'"
    assert lost.startswith("warning: ") and name in lost and lost.endswith("; trying again\n"), lost
    assert back.startswith(f"warning: {name} is back after "), back


def test_watch_ends_in_time_where_no_frame_comes():
    with MotionJPEG() as source:
        watch = subprocess.Popen(
            [os.environ["APUS"], "watch", source.name, "--seconds", "3", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert "frame" in json.loads(watch.stdout.readline())
            source.process.send_signal(signal.SIGSTOP)
            began = time.monotonic()
            assert "summary" in json.loads(watch.communicate(timeout=30)[0].splitlines()[-1])
            assert watch.returncode == 0 and time.monotonic() - began < 8
        finally:
            watch.kill()


def test_ffmpeg_has_no_sockets_of_the_server(live):
    """It outlives a server that is killed, for a moment: nothing must listen on its ports then."""
    wait(live, "pattern", lambda camera: camera["state"] == "running")
    children = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(live.process.pid)], capture_output=True, text=True).stdout.split("\n")
    pids = [int(line.split()[0]) for line in children if "ffmpeg" in line]
    assert pids
    for pid in pids:
        files = {name: os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")}
        assert not [file for file in files.values() if file.startswith(("socket:", "anon_inode:"))], files


def test_damaged_frames_of_a_film_are_counted_as_watch_counts_them(tmp_path):
    subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=10:duration=4", "-c:v", "mpeg2video", "-q:v", "4",
         tmp_path / "film.mpg"], check=True)
    film = bytearray((tmp_path / "film.mpg").read_bytes())
    for place in range(len(film) // 2, len(film) // 2 + 4000):
        film[place] = 37 * place % 251
    (tmp_path / "film.mpg").write_bytes(film)
    done = subprocess.run([os.environ["APUS"], "watch", tmp_path / "film.mpg", "--json"], capture_output=True, text=True)
    summary = json.loads(done.stdout.splitlines()[-1])["summary"]
    assert done.returncode == 0 and summary["damaged"] > 0 and "is damaged" in done.stderr
    with Server("--camera", f"c={tmp_path / 'film.mpg'}") as server:
        camera = wait(server, "c", lambda camera: camera["state"] == "ended")
        assert camera["damaged"] == summary["damaged"] and camera["answered"] == summary["answered"]
        assert f'apus_camera_damaged_total{{camera="c"}} {camera["damaged"]}' in server.request("/metrics")[2].decode()
        assert server.stop() == 0
    said, = [json.loads(line) for line in server.lines if '"damaged frames"' in line]
    assert said["level"] == "warning" and said["camera"] == "c" and said["reason"] in done.stderr


# Grays for which the boxes of `undecided` are fractions, and pixels.
GRAYS = (136, 255)


def test_a_frame_without_an_answer_costs_itself_only(tmp_path):
    """Boxes are fractions in the first and the last frames, and pixels in those between: over HTTP, each of them is answered."""
    from test_pictures import undecided

    (tmp_path / "undecided.tflite").write_bytes(undecided().bytes())
    for number in range(30):
        Image.new("RGB", (64, 64), (GRAYS[10 <= number < 20],) * 3).save(tmp_path / f"{number:02}.png")
    subprocess.run(["ffmpeg", "-v", "error", "-framerate", "10", "-i", tmp_path / "%02d.png", "-c:v", "ffv1", "-pix_fmt", "gray", tmp_path / "film.mkv"],
                   check=True)
    with Server(tmp_path / "undecided.tflite", "--camera", f"c={tmp_path / 'film.mkv'}") as server:
        for number in (0, 10):
            status, answer = server.json("/v1/detect", (tmp_path / f"{number:02}.png").read_bytes())
            assert status == 200, answer
        camera = wait(server, "c", lambda camera: camera["state"] in ("ended", "failed"))
        assert camera["state"] == "ended" and camera["frames"] == 30 and camera["answered"] + camera["failed"] == 30, camera
        assert camera["answered"] == 30 and camera["restarts"] == 0
        assert 'apus_camera_failed_total{camera="c"} 0' in server.request("/metrics")[2].decode()
        assert server.stop() == 0


def no_number_in_the_dark():
    """A detector whose scores are no numbers where the picture is black."""
    from ai_edge_litert import schema_py_generated as schema
    from make_models import Graph

    graph = Graph()
    picture = graph.named_input("image", "float32", [1, 64, 64, 3])
    brightest, logarithm, nothing = (graph.hidden("float32", [1]) for _ in range(3))
    axes = graph.constant(np.array([1, 2, 3], np.int32))
    graph.add("REDUCE_MAX", [picture, axes], [brightest], schema.ReducerOptionsT())
    graph.add("LOG", [brightest], [logarithm])
    graph.add("MUL", [logarithm, graph.constant(np.zeros(1, np.float32))], [nothing], schema.MulOptionsT())
    box = np.tile(np.array([0.1, 0.1, 0.5, 0.5], np.float32), (1, 10, 1))
    for name, value in (("detection_boxes", box), ("detection_classes", np.ones([1, 10])), ("detection_scores", np.full([1, 10], 0.9)),
                        ("num_detections", np.full([1], 10))):
        number = graph.constant(value.astype(np.float32))
        graph.add("ADD", [nothing, number], [graph.named_output(name, "float32", list(value.shape))], schema.AddOptionsT())
    return graph


def test_frames_that_a_model_cannot_answer_are_counted_and_the_source_stays(tmp_path):
    """A model whose scores are no numbers for dark pictures."""
    (tmp_path / "dark.tflite").write_bytes(no_number_in_the_dark().bytes())
    for number in range(30):
        Image.new("RGB", (64, 64), (255 * (number % 3 != 1),) * 3).save(tmp_path / f"{number:02}.png")
    subprocess.run(["ffmpeg", "-v", "error", "-framerate", "10", "-i", tmp_path / "%02d.png", "-c:v", "ffv1", "-pix_fmt", "gray", tmp_path / "film.mkv"],
                   check=True)
    with Server(tmp_path / "dark.tflite", "--camera", f"c={tmp_path / 'film.mkv'}") as server:
        camera = wait(server, "c", lambda camera: camera["state"] in ("ended", "failed"))
        assert (camera["state"], camera["answered"], camera["failed"], camera["restarts"]) == ("ended", 20, 10, 0), camera
        assert server.stop() == 0


def test_a_slow_listener_is_told_how_much_it_missed(tmp_path):
    subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=30:duration=100", "-c:v", "mpeg2video", tmp_path / "film.mpg"], check=True)
    with Server("--camera", f"c={tmp_path / 'film.mpg'}") as server:
        with socket.socket() as listener:
            # Little is on its way in the system.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
            listener.settimeout(60)
            listener.connect(("127.0.0.1", server.port))
            listener.sendall(b"GET /cameras/c/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            wait(server, "c", lambda camera: camera["state"] == "ended", 120)
            data = b""
            while part := listener.recv(1 << 16):
                data += part
        assert server.stop() == 0
    lines = [json.loads(line[6:]) for line in unchunked(data).decode().splitlines() if line.startswith("data: ")]
    assert any("missed" in line for line in lines), "nothing was missed"
    for before, line, after in zip(lines, lines[1:], lines[2:]):
        if "missed" in line:
            assert after["frame"] - before["frame"] - 1 == line["missed"] > 0
        elif "frame" in before and "frame" in line:
            assert line["frame"] == before["frame"] + 1


def unchunked(answer):
    """The body of an answer in chunks."""
    body, rest = b"", answer.split(b"\r\n\r\n", 1)[1]
    while rest:
        size, rest = rest.split(b"\r\n", 1)
        size = int(size, 16)
        body, rest = body + rest[:size], rest[size + 2:]
    return body


def test_a_camera_that_sends_pictures_rarely_has_its_time():
    with MotionJPEG() as source, Server("--camera", f"c={source.name}", "--camera-stall", "2") as server:
        wait(server, "c", lambda camera: camera["answered"] > 10)
        source.process.send_signal(signal.SIGSTOP)
        stalled = wait(server, "c", lambda camera: "stalled" in camera.get("reason", ""), 10)
        assert "2.0 seconds" in stalled["reason"], stalled
        source.process.send_signal(signal.SIGCONT)
        assert server.stop() == 0


def test_metrics_count_frames(live):
    wait(live, "pattern", lambda camera: camera["answered"] > 3)
    text = live.request("/metrics")[2].decode()
    for name in ("apus_camera_frames_total", "apus_camera_answered_total", "apus_camera_dropped_total", "apus_camera_restarts_total", "apus_camera_up"):
        assert f'{name}{{camera="pattern"}}' in text, name
    assert "since the source was opened" not in text
    assert 'apus_camera_up{camera="none"} 0' in text and 'apus_camera_up{camera="pattern"} 1' in text
