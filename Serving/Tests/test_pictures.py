# SPDX-License-Identifier: Apache-2.0
"""Pictures: as tensors of encoded files, as bodies of vision tasks, and on the page."""

import base64
import concurrent.futures
import io
import json
import re
import os
import pathlib
import struct
import subprocess
import urllib.parse
import zipfile
import zlib

import numpy as np
import pytest
import tritonclient.grpc as triton_grpc
import tritonclient.http as triton
from ai_edge_litert import schema_py_generated as schema
from make_models import Graph
from PIL import Image
from server import Server


@pytest.fixture(scope="module")
def shapes():
    """A server of the embedded model."""
    with Server() as server:
        yield server
        assert server.stop() == 0


@pytest.fixture(scope="module")
def sample(shapes):
    return shapes.request("/sample.jpg")[2]


def detect_by_command(picture, *options):
    """What the command line answers, without the name and the times."""
    text = subprocess.run([os.environ["APUS"], "detect", picture, "--json", *options], check=True, capture_output=True).stdout
    return without_times(json.loads(text))


def without_times(answer):
    return {key: value for key, value in answer.items() if key not in ("image", "milliseconds")}


def test_the_embedded_model_is_served_as_shapes(shapes, sample, tmp_path):
    (tmp_path / "p.jpg").write_bytes(sample)
    for query in ("", "?model=shapes"):
        status, answer = shapes.json("/v1/detect" + query, sample)
        assert status == 200 and without_times(answer) == detect_by_command(tmp_path / "p.jpg")
        assert set(answer["milliseconds"]) == {"preprocess", "inference", "postprocess"} and "image" not in answer
        assert {found["label"] for found in answer["detections"]} == {"triangle", "rectangle", "pentagon", "circle"}


def test_options_of_the_query(shapes, sample, tmp_path):
    (tmp_path / "p.jpg").write_bytes(sample)
    status, answer = shapes.json("/v1/detect?score_threshold=0.93&max_results=3&fit=letterbox", sample)
    assert status == 200 and without_times(answer) == detect_by_command(
        tmp_path / "p.jpg", "--score-threshold", "0.93", "--max-results", "3", "--fit", "letterbox")
    for option, value in (("pixels", "unit"), ("pixels", "123.7,116.3,103.5:58.4,57.1,57.4"), ("channels", "bgr"),
                          ("box_units", "fraction"), ("scores", "probability")):
        status, answer = shapes.json(f"/v1/detect?score_threshold=0.2&{option}={value}", sample)
        assert status == 200 and without_times(answer) == detect_by_command(
            tmp_path / "p.jpg", "--score-threshold", "0.2", "--" + option.replace("_", "-"), value), value
    for option, value in (("iou_threshold", "0.2"), ("class_agnostic", "true"), ("multi_label", "true"), ("resampling", "nearest"),
                          ("resampling", "area"), ("candidates", "rows")):
        status, answer = shapes.json(f"/v1/detect?score_threshold=0.2&{option}={value}", sample)
        words = ["--" + option.replace("_", "-")] + ([value] if value != "true" else [])
        assert status == 200 and without_times(answer) == detect_by_command(
            tmp_path / "p.jpg", "--score-threshold", "0.2", *words), option
    _, answer = shapes.json("/v1/detect?allow=circle&allow=triangle", sample)
    assert {found["label"] for found in answer["detections"]} == {"circle", "triangle"}
    for wrong in ("score_threshold=x", "score_threshold=nan", "max_results=0", "fit=x", "annotate=gif", "unknown=1",
                  "allow=nothing", "allow=circle&deny=triangle", "model=%ff",
                  "pixels=x", "pixels=1:0", "pixels=1,2:3", "channels=x", "channels=gray", "box_units=x", "box_order=x", "scores=x",
                  "iou_threshold=2", "iou_threshold=x", "iou_threshold=-0.1", "class_agnostic=1", "multi_label=", "resampling=x", "candidates=x",
                  "detection_threshold=0.5", "palm_angle=90", "refinement_cells=7"):
        status, answer = shapes.json(f"/v1/detect?{wrong}", sample)
        assert status == 400 and "error" in answer, wrong
    assert shapes.json("/v1/detect?model=x", sample)[0] == 404


@pytest.mark.parametrize("task,query", [
    ("segment", "score_threshold=0.9"), ("segment", "max_results=1"), ("segment", "box_units=pixel"), ("segment", "allow=dog"),
    ("embed", "score_threshold=0.9"), ("embed", "max_results=1"), ("embed", "scores=logit"), ("embed", "box_units=pixel"),
    ("transform", "score_threshold=0.9"), ("transform", "scores=logit"), ("classify", "box_units=pixel"), ("keypoints", "box_order=ltrb"), ("faces", "box_units=pixel"),
    ("faces", "deny=dog")])
def test_settings_that_say_nothing_to_a_task_are_refused(shapes, sample, task, query):
    status, answer = shapes.json(f"/v1/{task}?{query}", sample)
    assert status == 400 and f"{query.split('=')[0]} says nothing to the task '{task}'" in answer["error"], answer


def test_annotated_pictures(shapes, sample):
    status, headers, png = shapes.request("/v1/detect?annotate=png", sample)
    assert status == 200 and headers["Content-Type"] == "image/png" and png.startswith(b"\x89PNG")
    assert struct.unpack(">II", png[16:24]) == (640, 480)


def png(width, height, data=b""):
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b""))


def overwritten(sample):
    """A JPEG whose pixels are damaged from the middle on, with its end."""
    middle = len(sample) // 2
    return sample[:middle] + bytes(37 * number % 251 for number in range(len(sample) - middle - 2)) + sample[-2:]


def test_a_damaged_picture_that_can_be_read_has_a_warning(shapes, sample, tmp_path):
    """In the words of the command line, wherever an answer goes."""
    (tmp_path / "p.jpg").write_bytes(overwritten(sample))
    done = subprocess.run([os.environ["APUS"], "detect", tmp_path / "p.jpg", "--json"], check=True, capture_output=True, text=True)
    warning = json.loads(done.stdout)["warning"]
    assert warning.startswith("the file is damaged") and warning in done.stderr
    status, headers, body = shapes.request("/v1/detect", overwritten(sample))
    assert status == 200 and json.loads(body)["warning"] == warning == headers["X-Warning"]
    assert without_times(json.loads(body)) == without_times(json.loads(done.stdout))
    status, headers, body = shapes.request("/v1/detect?annotate=png", overwritten(sample))
    assert status == 200 and body.startswith(b"\x89PNG") and headers["X-Warning"] == warning
    for file, expected in ((sample, None), (overwritten(sample), f"picture 0 of 'normalized_input_image_tensor': {warning}")):
        headers = shapes.request("/v1/detect", file)[1]
        assert ("X-Warning" in headers) == (expected is not None)
        for module, address in ((triton, shapes.http), (triton_grpc, shapes.grpc)):
            tensor = module.InferInput("normalized_input_image_tensor", [1], "BYTES")
            tensor.set_data_from_numpy(np.array([file], object))
            with module.InferenceServerClient(address) as client:
                answer = client.infer("shapes", [tensor]).get_response()
            parameters = answer.get("parameters", {}) if module is triton else {
                name: value.string_param for name, value in answer.parameters.items()}
            assert parameters.get("warning") == expected


def test_broken_pictures(shapes, sample):
    for body, status in ((b"", 400), (b"hello", 415), (sample[:1000], 400), (sample[:-500], 400), (b"\xff\xd8\xff" * 50, 400),
                         (png(30_000, 30_000), 413), (png(2**31 - 1, 2**31 - 1), 413), (png(100, 100), 400),
                         (b"GIF89a" + bytes(100), 415)):
        found, answer = shapes.json("/v1/detect", body)
        assert found == status and answer["error"], (body[:20], found, answer)
    assert shapes.json("/v1/detect", sample)[0] == 200


def test_advice_about_a_picture_is_that_for_a_picture(shapes, sample):
    status, answer = shapes.json("/v1/detect", base64.b64encode(sample))
    assert status == 415 and "a text in Base64" in answer["error"] and "base64 -d FILE > picture" in answer["error"], answer


def test_advice_names_what_a_client_can_choose(tmp_path, sample):
    graph = Graph()
    picture = graph.named_input("image", "float32", [1, 64, 64, 3])
    graph.add("RELU", [picture], [graph.named_output("y", "float32", [1, 64, 64, 3])], None)
    (tmp_path / "picture.tflite").write_bytes(graph.bytes())
    with Server(tmp_path / "picture.tflite") as server:
        for task in ("detect", "keypoints", "faces", "segment"):
            status, answer = server.json(f"/v1/{task}", sample)
            assert status == 400 and "--" not in json.dumps(answer) and "apus " not in json.dumps(answer), (task, answer)


def test_progressive_bombs_are_refused(shapes):
    """A progressive JPEG with thousands of scans over a large picture."""
    frame = b"\xff\xd8" + b"\xff\xdb\x00\x43\x00" + b"\x01" * 64
    frame += b"\xff\xc2\x00\x0b\x08" + struct.pack(">HH", 8000, 8000) + b"\x01\x01\x11\x00"
    frame += b"\xff\xc4\x00\x14\x00\x01" + bytes(15) + b"\x00" + b"\xff\xc4\x00\x14\x10\x01" + bytes(15) + b"\x00"
    scan = b"\xff\xda\x00\x08\x01\x01\x00\x00\x00\x01" + bytes(8)
    for body in (frame + scan * 3000 + b"\xff\xd9", frame + scan * 3000 + bytes(20_000) + b"\xff\xd9"):
        status, answer = shapes.json("/v1/detect", body, timeout=60)
        assert status in (400, 413), answer


def test_pictures_as_tensors(shapes, sample):
    """N encoded files in a BYTES tensor give what their pixels give."""
    expected = shapes.json("/v1/detect?score_threshold=0&max_results=1000", sample)[1]["detections"]
    with triton.InferenceServerClient(shapes.http) as client:
        tensor = triton.InferInput("normalized_input_image_tensor", [1], "BYTES")
        tensor.set_data_from_numpy(np.array([sample], object))
        result = client.infer("shapes", [tensor])
        scores = result.as_numpy(result.get_response()["outputs"][2]["name"])
        np.testing.assert_array_equal(np.sort(scores[0])[::-1][:len(expected)], [found["score"] for found in expected])
        for data in (base64.b64encode(sample).decode(),):
            body = {"inputs": [{"name": "normalized_input_image_tensor", "shape": [1], "datatype": "BYTES", "data": [data]}]}
            status, answer = shapes.json("/v2/models/shapes/infer", body)
            assert status == 200 and answer["outputs"][2]["data"] == scores[0].tolist()
    # The file as a raw request.
    status, headers, text = shapes.request(
        "/v2/models/shapes/infer", sample, headers={"Inference-Header-Content-Length": "0"})
    answer = json.loads(text[:int(headers["Inference-Header-Content-Length"])])
    assert status == 200 and [output["shape"] for output in answer["outputs"]] == [[1, 25, 4], [1, 25], [1, 25], [1]]


def test_broken_pictures_in_tensors(shapes, sample):
    def ask(data, shape):
        header = json.dumps({"inputs": [{"name": "normalized_input_image_tensor", "shape": shape, "datatype": "BYTES",
                                         "parameters": {"binary_data_size": len(data)}}]}).encode()
        return shapes.json("/v2/models/shapes/infer", header + data,
                           headers={"Inference-Header-Content-Length": str(len(header))})

    one = struct.pack("<I", len(sample)) + sample
    for data, shape in ((one, [2]), (one + one, [2]), (one, [1, 1, 1]), (one[:-1], [1]), (struct.pack("<I", 2**32 - 1), [1]),
                        (b"\1\0", [1]), (struct.pack("<I", 3) + b"abc", [1]), (b"", [0]), (b"", [1])):
        status, answer = ask(data, shape)
        assert status in (400, 415) and "normalized_input_image_tensor" in answer["error"], answer


def test_many_pictures_at_once(shapes, sample):
    expected = without_times(shapes.json("/v1/detect", sample)[1])
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for status, answer in pool.map(lambda _: shapes.json("/v1/detect", sample), range(100)):
            assert status == 200 and without_times(answer) == expected


def test_pictures_together_take_no_more_memory_than_two(shapes):
    """Six threads, and pictures of 49 megapixels that take 147 MB each: at most two are decoded at a time."""
    file = io.BytesIO()
    Image.new("RGB", (7_000, 7_000)).save(file, "PNG", compress_level=1)
    with Server("--instances", 6) as server:
        assert server.request("/v1/detect", file.getvalue())[0] == 200
        before = server.peak()
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            answers = list(pool.map(lambda _: server.request("/v1/detect", file.getvalue(), timeout=120)[0], range(12)))
        assert set(answers) == {200}
        assert server.peak() - before < 300 << 20, (before >> 20, server.peak() >> 20)


def test_models_that_are_no_detectors_say_why(server, sample):
    status, answer = server.json("/v1/detect?model=simple", sample)
    assert status == 400 and "inputs" in answer["error"]
    status, answer = server.json("/v1/detect", sample)
    assert status == 400 and "?model=" in answer["error"]


def test_real_detectors_answer_as_the_command_line(test_data):
    names = ["coco_ssd_mobilenet_v1_1.0_quant_2018_06_29_no_metadata", "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29_metadata"]
    paths = [path for path in sorted((test_data / "models").glob("*ssd*.tflite"))][:4]
    pictures = sorted((test_data / "images").glob("*.jpg"))[:4]
    assert paths and pictures, names
    with Server(*paths) as server:
        for path in paths:
            for picture in pictures:
                try:
                    expected = detect_by_command(picture, "--model", path)
                except subprocess.CalledProcessError as error:
                    status, answer = server.json(f"/v1/detect?model={path.stem}", picture.read_bytes())
                    assert status == 400 and answer["error"] in error.stderr.decode()
                    continue
                status, answer = server.json(f"/v1/detect?model={path.stem}", picture.read_bytes())
                assert status == 200 and without_times(answer) == expected, (path, picture)
        assert server.stop() == 0


@pytest.mark.parametrize("task", ["classify", "embed", "segment", "keypoints", "faces", "transform"])
def test_every_task_answers_as_the_command_line(test_data, task, tmp_path):
    """Each real model under 12 MB on one picture, by the server and by `apus`: the same answer, or a 400 with its reason."""
    picture = test_data / "images" / "grace_hopper.jpg"
    picture = picture if picture.exists() else sorted((test_data / "images").glob("*.jpg"))[0]
    paths = [path for path in sorted((test_data / "models").glob("*.tflite")) if path.stat().st_size < 12 << 20][:14]
    answered = 0
    with Server(*paths) as server:
        for path in paths:
            status, answer = server.json(f"/v1/{task}?model={path.stem}", picture.read_bytes())
            if task == "segment" and status == 200:
                assert abs(sum(entry["share"] for entry in answer["classes"]) - 1) < 1e-3
            done = subprocess.run([os.environ["APUS"], task, picture, "--model", path, "--json"]
                                  + (["--output-dir", tmp_path] if task == "segment" else []), capture_output=True, text=True)
            if status == 200:
                assert done.returncode == 0, (path, done.stderr)
                assert without_times(answer) == without_times(json.loads(done.stdout)), path
                answered += 1
            else:
                assert status == 400 and done.returncode != 0, (path, answer, done.stdout)
                # The advice is for clients: the task, where the command line names its command and the type.
                advice = re.sub(r"'apus ([a-z-]+)' \([A-Z][A-Za-z]+\)", r"the task '\1'", done.stderr)
                assert answer["error"] in advice, (answer, advice)
        assert server.stop() == 0
    print(task, answered, "of", len(paths))


def bundles(folder):
    """Bundles under a folder by the task that takes them."""
    found = {}
    for path in sorted(folder.rglob("*.task")):
        try:
            names = set(zipfile.ZipFile(path).namelist())
        except zipfile.BadZipFile:
            continue
        hands, poses = "hand_landmarks_detector.tflite" in names, "pose_landmarks_detector.tflite" in names
        if hands and poses:
            found["holistic"] = path
        elif poses:
            found["pose"] = path
        elif hands or "hand_landmarker.task" in names:
            found["hands"] = path
        elif "face_landmarks_detector.tflite" in names:
            found["face-mesh"] = path
    return found


@pytest.mark.parametrize("task", ["hands", "face-mesh", "pose", "holistic"])
def test_bundles_answer_as_the_command_line(test_data, task, tmp_path):
    path = bundles(test_data).get(task)
    if not path:
        pytest.skip(f"there is no bundle for {task}")
    picture = test_data / "images" / "grace_hopper.bmp"
    done = subprocess.run([os.environ["APUS"], task, picture, "--model", path, "--json"], capture_output=True, text=True, check=True)
    with Server(path) as server:
        status, answer = server.json(f"/v1/{task}?model={path.stem}", picture.read_bytes())
        assert status == 200 and without_times(answer) == without_times(json.loads(done.stdout))
        status, headers, png = server.request(f"/v1/{task}?annotate=png", picture.read_bytes())
        assert status == 200 and png.startswith(b"\x89PNG")
        for other in ("detect", "faces", "hands" if task != "hands" else "pose"):
            status, answer = server.json(f"/v1/{other}", picture.read_bytes())
            assert status == 400 and ("bundle" in answer["error"] or "no entry" in answer["error"]), answer
        assert server.json(f"/v1/{task}?fit=stretch", picture.read_bytes())[0] == 400
        options = {"hands": {"detection_threshold": "0.1", "palm_angle": "5156.62"}, "face-mesh": {"detection_threshold": "0.1", "iou_threshold": "0.5"},
                   "pose": {"detection_threshold": "0.1", "refinement_cells": "9"}, "holistic": {"detection_threshold": "0.99", "score_threshold": "0.1", "refinement_cells": "9"}}[task]
        words = [word for name, value in options.items() for word in ("--" + name.replace("_", "-"), value)]
        done = subprocess.run([os.environ["APUS"], task, picture, "--model", path, "--json", *words], capture_output=True, text=True, check=True)
        status, answer = server.json(f"/v1/{task}?{urllib.parse.urlencode(options)}", picture.read_bytes())
        assert status == 200 and without_times(answer) == without_times(json.loads(done.stdout))
        for wrong in ("refinement_cells=8", "detection_threshold=2", "palm_angle=nan", "class_agnostic=true"):
            assert server.json(f"/v1/{task}?{wrong}", picture.read_bytes())[0] == 400, wrong
        assert server.stop() == 0


@pytest.mark.parametrize("task", ["hands", "face-mesh", "pose", "holistic"])
def test_tasks_of_bundles_refuse_single_models(shapes, sample, task):
    status, answer = shapes.json(f"/v1/{task}?model=shapes", sample)
    assert status == 400 and ".task" in answer["error"], answer


def test_real_models_answer_as_the_command_line(test_data, tmp_path):
    """Every real model that the server takes gives the bytes of `apus run` on the same data."""
    checked = 0
    for path in sorted((test_data / "models").glob("*.tflite")):
        if path.stat().st_size > 12 << 20:
            continue
        with Server(path) as server:
            metadata = server.json(f"/v2/models/{path.stem}")[1]
            if any(-1 in tensor["shape"] for tensor in metadata["inputs"]):
                continue
            random = np.random.default_rng(5)
            header, tail, options = {"inputs": [], "parameters": {"binary_data_output": True}}, b"", []
            kinds = {"FP32": "<f4", "UINT8": "u1", "INT8": "i1", "INT32": "<i4", "INT64": "<i8", "INT16": "<i2"}
            for index, tensor in enumerate(metadata["inputs"]):
                kind = kinds[tensor["datatype"]]
                values = (random.random(tensor["shape"]).astype("f4") if kind == "<f4"
                          else random.integers(0, 100, tensor["shape"]).astype(kind))
                np.save(tmp_path / f"{index}.npy", values)
                options += ["--input", tmp_path / f"{index}.npy"]
                header["inputs"].append({**tensor, "parameters": {"binary_data_size": values.nbytes}})
                tail += values.tobytes()
            text = json.dumps(header).encode()
            status, headers, answer = server.request(f"/v2/models/{path.stem}/infer", text + tail, headers={
                "Inference-Header-Content-Length": str(len(text))})
            assert status == 200, (path, answer)
            subprocess.run([os.environ["APUS"], "run", path, *options, "--output-dir", tmp_path], check=True,
                           stdout=subprocess.DEVNULL)
            found = answer[int(headers["Inference-Header-Content-Length"]):]
            expected = b"".join(np.load(tmp_path / f"output_{index}.npy").tobytes()
                                for index in range(len(metadata["outputs"])))
            assert found == expected, path
            checked += 1
    assert checked > 10


def test_the_page(shapes):
    status, headers, html = shapes.request("/")
    assert status == 200 and headers["Content-Type"].startswith("text/html")
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    text = html.decode()
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "") and "https://" not in text
    assert shapes.request("/favicon.ico")[0] == 204


def raw_head():
    """A raw head of YOLO v2 with one class and one anchor in each cell: a constant, so that only anchors change the box."""
    graph = Graph()
    picture = graph.named_input("image", "float32", [1, 64, 64, 3])
    nothing = graph.hidden("float32", [1])
    brightest = graph.hidden("float32", [1])
    graph.add("REDUCE_MAX", [picture, graph.constant(np.array([1, 2, 3], np.int32))], [brightest], schema.ReducerOptionsT())
    graph.add("MUL", [brightest, graph.constant(np.zeros(1, np.float32))], [nothing], schema.MulOptionsT())
    cells = np.full((1, 2, 2, 6), -9, np.float32)
    cells[0, 1, 0] = [0, 0, 0, 0, 9, 9]
    graph.add("ADD", [nothing, graph.constant(cells)], [graph.named_output("y", "float32", [1, 2, 2, 6])], schema.AddOptionsT())
    return graph


def test_anchors_and_layouts_of_the_query(tmp_path, sample):
    (tmp_path / "raw.tflite").write_bytes(raw_head().bytes())
    (tmp_path / "p.jpg").write_bytes(sample)
    with Server(tmp_path / "raw.tflite") as server:
        for anchors in ("20,10", "31.5, 40"):
            query = urllib.parse.urlencode({"layout": "yolo2", "anchors": anchors, "scores": "logit"})
            status, answer = server.json(f"/v1/detect?{query}", sample)
            expected = detect_by_command(tmp_path / "p.jpg", "--model", tmp_path / "raw.tflite", "--layout", "yolo2",
                                         "--anchors", anchors, "--scores", "logit")
            assert status == 200 and without_times(answer) == expected and len(expected["detections"]) == 1, (answer, expected)
        for wrong, text in (("anchors=x", "anchors are 'x'"), ("anchors=1,nan", "anchors"), ("layout=x", "layout is 'x'"),
                            ("layout=yolo2&anchors=1,2,3", "anchors are given as 3 numbers"), ("keypoints=17x3", "keypoints"),
                            ("output=png", "output"), ("fit_output=true", "fit_output"), ("output_pixels=unit", "output_pixels"), ("output_index=1", "output_index"),
                            ("annotate=png&output=png", "annotate and output"), ("fit_output=2", "fit_output is '2'")):
            status, answer = server.json(f"/v1/detect?{wrong}", sample)
            assert status == 400 and text in answer["error"], (wrong, answer)
        for wrong in ("keypoints=17", "keypoints=0x3", "keypoints=17x4", "keypoints=x", "anchors=20,10"):
            status, answer = server.json(f"/v1/keypoints?{wrong}", sample)
            assert status == 400 and wrong.split("=")[0] in answer["error"], (wrong, answer)


def square():
    """A YOLO output of 84 candidates with 84 numbers of each: nothing says which axis has the candidates. One number is high: that of
    class 36 in row 20, or of class 16 in column 40."""
    graph = Graph()
    picture = graph.named_input("image", "float32", [1, 64, 64, 3])
    nothing, brightest = graph.hidden("float32", [1]), graph.hidden("float32", [1])
    graph.add("REDUCE_MAX", [picture, graph.constant(np.array([1, 2, 3], np.int32))], [brightest], schema.ReducerOptionsT())
    graph.add("MUL", [brightest, graph.constant(np.zeros(1, np.float32))], [nothing], schema.MulOptionsT())
    numbers = np.full((1, 84, 84), 0.1, np.float32)
    numbers[0, 20, :4], numbers[0, :4, 40], numbers[0, 20, 40] = [0.5, 0.5, 0.2, 0.2], [0.3, 0.3, 0.1, 0.1], 0.9
    graph.add("ADD", [nothing, graph.constant(numbers)], [graph.named_output("y", "float32", [1, 84, 84])], schema.AddOptionsT())
    return graph


def test_candidates_of_the_query(tmp_path, sample):
    (tmp_path / "square.tflite").write_bytes(square().bytes())
    (tmp_path / "p.jpg").write_bytes(sample)
    with Server(tmp_path / "square.tflite") as server:
        for axis, index in (("rows", 36), ("columns", 16)):
            status, answer = server.json(f"/v1/detect?layout=yolo8&candidates={axis}&score_threshold=0.5", sample)
            expected = detect_by_command(tmp_path / "p.jpg", "--model", tmp_path / "square.tflite", "--layout", "yolo8",
                                         "--candidates", axis, "--score-threshold", "0.5")
            assert status == 200 and without_times(answer) == expected, (answer, expected)
            assert [found["index"] for found in answer["detections"]] == [index], answer
        for task, query, text in (("detect", "candidates=cells", "candidates is 'cells'"),
                                  ("detect", "layout=yolo8", "(candidates=rows or candidates=columns)"),
                                  ("classify", "candidates=rows", "candidates says nothing")):
            status, answer = server.json(f"/v1/{task}?{query}", sample)
            assert status == 400 and text in answer["error"], (query, answer)


def pose():
    """A head of YOLO v8 with a box, a class and four points of two numbers: 13 columns, which say nothing by themselves."""
    graph = Graph()
    picture = graph.named_input("image", "float32", [1, 64, 64, 3])
    nothing, brightest = graph.hidden("float32", [1]), graph.hidden("float32", [1])
    graph.add("REDUCE_MAX", [picture, graph.constant(np.array([1, 2, 3], np.int32))], [brightest], schema.ReducerOptionsT())
    graph.add("MUL", [brightest, graph.constant(np.zeros(1, np.float32))], [nothing], schema.MulOptionsT())
    columns = np.zeros((1, 13, 84), np.float32)
    columns[0, :, 3] = [.5, .5, .5, .5, .9, .3, .3, .6, .3, .6, .7, .3, .7]
    graph.add("ADD", [nothing, graph.constant(columns)], [graph.named_output("y", "float32", [1, 13, 84])], schema.AddOptionsT())
    return graph


def test_keypoints_of_the_query(tmp_path, sample):
    (tmp_path / "pose.tflite").write_bytes(pose().bytes())
    (tmp_path / "p.jpg").write_bytes(sample)
    with Server(tmp_path / "pose.tflite") as server:
        status, answer = server.json("/v1/keypoints?keypoints=4x2&layout=yolo8", sample)
    done = subprocess.run([os.environ["APUS"], "keypoints", tmp_path / "p.jpg", "--model", tmp_path / "pose.tflite", "--keypoints", "4x2",
                           "--layout", "yolo8", "--json"], check=True, capture_output=True)
    assert status == 200 and without_times(answer) == without_times(json.loads(done.stdout))
    assert [len(pose["keypoints"]) for pose in answer["poses"]] == [4]


def darkest():
    """A head of YOLO v8 with one box, whose score is the darkest value of the picture."""
    graph = Graph()
    picture = graph.named_input("image", "float32", [1, 64, 64, 3])
    lowest, scores = graph.hidden("float32", [1]), graph.hidden("float32", [1, 5, 84])
    graph.add("REDUCE_MIN", [picture, graph.constant(np.array([1, 2, 3], np.int32))], [lowest], schema.ReducerOptionsT())
    place, box = np.zeros((1, 5, 84), np.float32), np.zeros((1, 5, 84), np.float32)
    place[0, 4, 3], box[0, :4, 3] = 1, .5
    graph.add("MUL", [lowest, graph.constant(place)], [scores], schema.MulOptionsT())
    graph.add("ADD", [scores, graph.constant(box)], [graph.named_output("y", "float32", [1, 5, 84])], schema.AddOptionsT())
    return graph


def test_the_letterbox_of_yolo_is_that_of_the_command(tmp_path):
    """Its bands are gray, 114 of 255; those of other models are black."""
    (tmp_path / "darkest.tflite").write_bytes(darkest().bytes())
    Image.new("RGB", (64, 32), (255, 255, 255)).save(tmp_path / "white.png")
    with Server(tmp_path / "darkest.tflite") as server:
        status, answer = server.json("/v1/detect?layout=yolo8&fit=letterbox", (tmp_path / "white.png").read_bytes())
    expected = detect_by_command(tmp_path / "white.png", "--model", tmp_path / "darkest.tflite", "--layout", "yolo8", "--fit", "letterbox")
    assert status == 200 and without_times(answer) == expected
    assert [round(found["score"], 3) for found in answer["detections"]] == [0.447]


def painter(channels):
    """A model whose output is its input, or with one channel a number for each pixel from −8 to 24."""
    graph = Graph()
    picture = graph.named_input("image", "float32", [1, 16, 24, channels])
    factor, offset = (0.5, 0.25) if channels == 3 else (16, 8)
    scaled = graph.hidden("float32", [1, 16, 24, channels])
    graph.add("MUL", [picture, graph.constant(np.float32([factor]))], [scaled], schema.MulOptionsT())
    graph.add("ADD", [scaled, graph.constant(np.float32([offset]))], [graph.named_output("y", "float32", [1, 16, 24, channels])],
              schema.AddOptionsT())
    return graph


@pytest.mark.parametrize("channels", [3, 1])
def test_pictures_that_models_make(channels, tmp_path, sample):
    (tmp_path / "painter.tflite").write_bytes(painter(channels).bytes())
    (tmp_path / "p.jpg").write_bytes(sample)

    def by_command(form, *options):
        subprocess.run([os.environ["APUS"], "transform", tmp_path / "p.jpg", "--model", tmp_path / "painter.tflite", "--output",
                        tmp_path / f"out.{form}", *options], check=True, capture_output=True)
        return (tmp_path / f"out.{form}").read_bytes()

    with Server(tmp_path / "painter.tflite") as server:
        status, answer = server.json("/v1/transform", sample)
        assert status == 200 and (answer["width"], answer["height"]) == (24, 16), answer
        assert answer["kind"] == ("picture" if channels == 3 else "numbers") and answer["minimum"] <= answer["maximum"]
        for query, options in (("", ()), ("&fit_output=true", ("--fit-output",)),
                               *([("&pixels=unit&output_pixels=unit", ("--pixels", "unit", "--output-pixels", "unit"))] * (channels == 3))):
            for form, kind in (("png", "image/png"), ("npy", "application/octet-stream")):
                status, headers, body = server.request(f"/v1/transform?output={form}{query}", sample)
                assert status == 200 and headers["Content-Type"] == kind and body == by_command(form, *options), query
        image = Image.open(io.BytesIO(server.request("/v1/transform?output=png&fit_output=true", sample)[2]))
        assert image.size == (640, 480) and image.mode == ("RGB" if channels == 3 else "I;16")
        for wrong in ("annotate=png", "output=gif", "output_pixels=x", "layout=yolo8", "allow=x"):
            status, answer = server.json(f"/v1/transform?{wrong}", sample)
            assert status == 400 and answer["error"], wrong
        assert server.json("/v1/detect", sample)[0] == 400


def test_masks_of_segmenters(tmp_path, sample):
    graph = Graph()
    picture = graph.named_input("image", "float32", [1, 16, 24, 3])
    both = graph.hidden("float32", [1, 16, 24, 6])
    options = schema.ConcatenationOptionsT()
    options.axis = 3
    graph.add("CONCATENATION", [picture, picture], [both], options)
    graph.add("MUL", [both, graph.constant(np.float32([1, 2, 1, -1, 0.5, -2]))], [graph.named_output("y", "float32", [1, 16, 24, 6])],
              schema.MulOptionsT())
    (tmp_path / "mask.tflite").write_bytes(graph.bytes())
    (tmp_path / "p.jpg").write_bytes(sample)
    with Server(tmp_path / "mask.tflite") as server:
        for form in ("png", "npy"):
            subprocess.run([os.environ["APUS"], "segment", tmp_path / "p.jpg", "--model", tmp_path / "mask.tflite", "--output",
                            tmp_path / f"m.{form}"], check=True, capture_output=True)
            status, headers, body = server.request(f"/v1/segment?output={form}", sample)
            assert status == 200 and body == (tmp_path / f"m.{form}").read_bytes(), body[:200]
        mask = np.load(io.BytesIO(body))
        assert mask.dtype == np.uint8 and mask.shape == (480, 640) and len(np.unique(mask)) > 1


def undecided():
    """A detector of which only the answers say whether boxes are fractions or pixels: pixels where the picture is bright."""
    graph = Graph()
    picture = graph.named_input("image", "float32", [1, 64, 64, 3])
    brightest, nothing = graph.hidden("float32", [1]), graph.hidden("float32", [1])
    axes = graph.constant(np.array([1, 2, 3], np.int32))
    graph.add("REDUCE_MAX", [picture, axes], [brightest], schema.ReducerOptionsT())
    graph.add("MUL", [brightest, graph.constant(np.zeros(1, np.float32))], [nothing], schema.MulOptionsT())
    box = graph.constant(np.tile(np.array([1, 1, 12, 12], np.float32), (1, 10, 1)))
    graph.add("MUL", [brightest, box], [graph.named_output("detection_boxes", "float32", [1, 10, 4])], schema.MulOptionsT())
    for name, shape, value in (("detection_classes", [1, 10], 1), ("detection_scores", [1, 10], 0.9), ("num_detections", [1], 10)):
        number = graph.constant(np.full(shape, value, np.float32))
        graph.add("ADD", [nothing, number], [graph.named_output(name, "float32", shape)], schema.AddOptionsT())
    return graph


def png_of(value):
    """The file of a picture with one gray everywhere."""
    file = io.BytesIO()
    Image.new("RGB", (32, 32), (value, value, value)).save(file, "PNG")
    return file.getvalue()


def test_pictures_of_one_client_do_not_decide_how_those_of_others_are_read(tmp_path):
    (tmp_path / "undecided.tflite").write_bytes(undecided().bytes())
    files = [png_of(value) for value in (25, 255, 0, 20, 250)]

    def ask(server, file):
        status, answer = server.json("/v1/detect?pixels=unit", file)
        return status, without_times(answer)

    alone = []
    for file in files:
        with Server(tmp_path / "undecided.tflite", "--instances", 1) as server:
            alone.append(ask(server, file))
    assert [status for status, _ in alone[:2]] == [200, 200]
    with Server(tmp_path / "undecided.tflite", "--instances", 1) as server:
        for place in [0, 1, 0, 1, 2, 1, 3, 4, 2, 0, 4, 1, 1, 3, 3, 0]:
            assert ask(server, files[place]) == alone[place], place
        assert server.stop() == 0
        # What answers have shown is forgotten, and said once for all.
        assert sum("--box-units pixel says so" in line for line in server.lines) == 1


def test_a_picture_comes_in_a_form_too(shapes, sample):
    """As browsers and `curl -F image=@picture.jpg` send it."""
    expected = without_times(shapes.json("/v1/detect", sample)[1])
    boundary, disposition = b"xyz", b'Content-Disposition: form-data; name="image"; filename="p.jpg"\r\n\r\n'
    headers = {"Content-Type": "multipart/form-data; boundary=xyz"}
    for before in (b"", b'--xyz\r\nContent-Disposition: form-data; name="note"\r\n\r\nhello\r\n'):
        body = before + b"--" + boundary + b"\r\n" + disposition + sample + b"\r\n--xyz--\r\n"
        status, answer = shapes.json("/v1/detect", body, headers=headers)
        assert status == 200 and without_times(answer) == expected
    status, answer = shapes.json("/v1/detect", b'--xyz\r\nContent-Disposition: form-data; name="image"\r\n\r\ntext\r\n--xyz--\r\n', headers=headers)
    assert status == 400 and "no file" in answer["error"]
    status, answer = shapes.json("/v1/detect", sample, headers=headers)
    assert status == 200 and without_times(answer) == expected
    status, answer = shapes.json("/v1/detect", b"--other\r\n" + sample, headers=headers)
    assert status == 400 and "no delimiter" in answer["error"]


def test_the_server_describes_itself(shapes):
    status, headers, body = shapes.request("/openapi.yaml")
    assert status == 200 and headers["Content-Type"] == "application/yaml"
    assert body == (pathlib.Path(__file__).parents[1] / "Sources/ApusServer/openapi.yaml").read_bytes()
