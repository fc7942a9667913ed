# SPDX-License-Identifier: Apache-2.0
"""Frigate's detector of the type `zmq`: messages as its plugin sends them, rows as LiteRT's kernels give them."""

import io
import json
import os
import subprocess

import numpy as np
import pytest
import zmq
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from PIL import Image
from server import Server

COCO = "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29"


class Client:
    """A socket as Frigate has it."""

    def __init__(self, endpoint):
        self.socket = zmq.Context.instance().socket(zmq.REQ)
        self.socket.setsockopt(zmq.RCVTIMEO, 30_000)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.connect(endpoint)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def ask(self, *parts):
        self.socket.send_multipart([json.dumps(part).encode() if isinstance(part, dict) else bytes(part) for part in parts])
        return self.socket.recv_multipart()

    def model(self, *parts):
        answer = self.ask(*parts)
        assert len(answer) == 1
        return json.loads(answer[0])

    def detect(self, tensor):
        header, rows = self.ask({"shape": list(tensor.shape), "dtype": tensor.dtype.name, "model_type": "ssd"}, tensor.tobytes())
        header = json.loads(header)
        assert header["shape"] == [20, 6] and header["dtype"] == "float32"
        return np.frombuffer(rows, np.float32).reshape(20, 6), header.get("error")


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory):
    return f"ipc://{tmp_path_factory.mktemp('zmq')}/detector"


@pytest.fixture(scope="module")
def server(endpoint):
    """A server that has the embedded model only."""
    with Server("--frigate", endpoint) as server:
        yield server
        assert server.process.poll() is None, "the server died"
        assert server.stop() == 0


@pytest.fixture(scope="module")
def coco(test_data):
    return test_data / "models" / f"{COCO}.tflite"


def frame(path, side=300):
    return np.asarray(Image.open(path).convert("RGB").resize((side, side), Image.BILINEAR))[None]


def reference(model, tensor):
    """The rows of a model with boxes, classes, scores and a count as its outputs, in that order: the best above 0.4."""
    interpreter = Interpreter(str(model), experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], tensor)
    interpreter.invoke()
    boxes, classes, scores, count = (interpreter.get_tensor(output["index"])[0] for output in interpreter.get_output_details())
    rows = np.zeros((20, 6), np.float32)
    for row in range(min(int(count), 20)):
        if scores[row] >= 0.4:
            rows[row] = [classes[row], scores[row], *boxes[row]]
    return rows


def test_a_model_is_asked_for_sent_and_used(server, endpoint, coco, test_data):
    with Client(endpoint) as client:
        name = {"model_name": coco.name}
        assert client.model({"model_request": True} | name)["model_available"] is False
        assert client.model({"model_data": True} | name, coco.read_bytes()) == {"model_saved": True, "model_loaded": True}
        assert client.model({"model_request": True} | name) == {"model_available": True, "model_loaded": True}
        found = 0
        for picture in ("cats_and_dogs.jpg", "multi_objects.jpg", "burger.jpg"):
            tensor = frame(test_data / "images" / picture)
            rows, error = client.detect(tensor)
            expected = reference(coco, tensor)
            assert error is None and rows[:, :2].tobytes() == expected[:, :2].tobytes(), picture
            # Corners go through pixels of the picture: an ulp of the number may be lost.
            assert np.allclose(rows, expected, rtol=0, atol=2e-7), picture
            found += int((rows[:, 1] > 0).sum())
        assert found > 3
    assert server.json(f"/v2/models/{COCO}/ready")[1]["ready"] is True


def test_planes_and_numbers_are_read_as_rows_of_bytes_are(server, endpoint, coco, test_data):
    with Client(endpoint) as client:
        client.model({"model_data": True, "model_name": coco.name}, coco.read_bytes())
        tensor = frame(test_data / "images" / "cats_and_dogs.jpg")
        expected, _ = client.detect(tensor)
        assert expected.any()
        planes = np.ascontiguousarray(tensor.transpose(0, 3, 1, 2))
        for other in (planes, tensor.astype(np.float32), (tensor / 255).astype(np.float32), (planes / 255).astype(np.float32)):
            rows, error = client.detect(other)
            assert error is None and rows.tobytes() == expected.tobytes()


def test_what_numbers_mean_does_not_change_from_frame_to_frame(server, endpoint, coco, test_data):
    """Frames at night: of 0 and 1 among 0 to 255, the noise must not become white; of 0 to 1, they are as bright as others."""
    bright = frame(test_data / "images" / "cats_and_dogs.jpg")
    # Where the picture is bright, a night's noise is 1.
    noise = (bright > 128).astype(np.uint8)
    white = noise * 255
    with Client(endpoint) as levels, Client(endpoint) as unit, Client(endpoint) as unknown:
        for client in (levels, unit, unknown):
            client.model({"model_data": True, "model_name": coco.name}, coco.read_bytes())
        rows = {name: levels.detect(pixels)[0].tobytes() for name, pixels in (("bright", bright), ("noise", noise), ("white", white))}
        assert rows["noise"] != rows["white"]
        assert levels.detect(bright.astype(np.float32))[0].tobytes() == rows["bright"]
        assert levels.detect(noise.astype(np.float32))[0].tobytes() == rows["noise"]
        assert unit.detect((bright / 255).astype(np.float32))[0].tobytes() == rows["bright"]
        assert unit.detect(noise.astype(np.float32))[0].tobytes() == rows["white"]
        assert unit.detect((noise / 255).astype(np.float32))[0].tobytes() == rows["noise"]
        # A first frame at night.
        assert unknown.detect(noise.astype(np.float32))[0].tobytes() == rows["noise"]
        assert unknown.detect(bright.astype(np.float32))[0].tobytes() == rows["bright"]


def test_a_client_does_not_replace_a_model_of_the_server(server, endpoint, coco):
    before = server.json("/v2/models/shapes")[1]
    with Client(endpoint) as client:
        answer = client.model({"model_data": True, "model_name": "shapes.tflite"}, coco.read_bytes())
        assert answer["model_saved"] is False and "of its own" in answer["message"]
        assert client.model({"model_request": True, "model_name": "shapes"})["model_loaded"] is True
    assert server.json("/v2/models/shapes")[1] == before


def test_each_client_has_its_model(server, endpoint, coco, test_data):
    with Client(endpoint) as one, Client(endpoint) as other:
        one.model({"model_data": True, "model_name": coco.name}, coco.read_bytes())
        assert other.model({"model_request": True, "model_name": "shapes"})["model_loaded"] is True
        sample = np.asarray(Image.open(io.BytesIO(server.request("/sample.jpg")[2])).convert("RGB"))[None]
        rows, error = other.detect(sample)
        assert error is None and set(rows[rows[:, 1] > 0][:, 0]) <= {0, 1, 2, 3} and rows.any()
        assert one.detect(frame(test_data / "images" / "cats_and_dogs.jpg"))[0].any()


def test_many_clients_take_nothing_from_one_who_is_heard(server, endpoint, coco, test_data):
    """A client that sends frames keeps its model and its range, however many others come and go."""
    bright = frame(test_data / "images" / "cats_and_dogs.jpg")
    white = ((bright > 128) * 255).astype(np.uint8)
    night = (bright > 128).astype(np.float32)
    with Client(endpoint) as client:
        client.model({"model_data": True, "model_name": coco.name}, coco.read_bytes())
        expected = client.detect(white)[0].tobytes()
        client.detect((bright / 255).astype(np.float32))
        for number in range(300):
            with Client(endpoint) as other:
                other.model({"model_request": True, "model_name": "shapes"})
                if number < 260:
                    other.detect(np.zeros((1, 8, 8, 3), np.uint8))
            if number % 100 == 0:
                rows, error = client.detect(night)
                assert error is None and rows.tobytes() == expected
        rows, error = client.detect(night)
        assert error is None and rows.tobytes() == expected


def test_a_client_that_was_forgotten_is_answered_by_no_other_model(tmp_path, coco, test_data):
    """A socket connects by itself when the server is started anew, and its next frame comes under a name that the server does not know."""
    endpoint = f"ipc://{tmp_path}/detector"
    tensor = frame(test_data / "images" / "cats_and_dogs.jpg")
    with Client(endpoint) as client:
        with Server("--frigate", endpoint) as server:
            client.model({"model_data": True, "model_name": coco.name}, coco.read_bytes())
            expected = client.detect(tensor)[0].tobytes()
            assert server.stop() == 0
        with Server("--frigate", endpoint) as server:
            client.socket.setsockopt(zmq.RCVTIMEO, 1_000)
            with pytest.raises(zmq.Again):
                client.detect(tensor)
            # What Frigate's plugin does then.
            with Client(endpoint) as client:
                assert client.model({"model_request": True, "model_name": coco.name})["model_available"] is False
                client.model({"model_data": True, "model_name": coco.name}, coco.read_bytes())
                assert client.detect(tensor)[0].tobytes() == expected
            # With two models, no size of a frame decides.
            with Client(endpoint) as client:
                client.socket.setsockopt(zmq.RCVTIMEO, 1_000)
                with pytest.raises(zmq.Again):
                    client.detect(tensor)
            assert sum("asked for no model" in line for line in server.lines) == 1
            assert server.stop() == 0


def test_a_plugin_that_asks_for_no_model_gets_the_only_one(tmp_path, test_data):
    """Frames have exactly the size of the model's input, as those of Frigate's first plugins have."""
    endpoint = f"ipc://{tmp_path}/detector"
    with Server("--frigate", endpoint) as server, Client(endpoint) as client:
        _, height, width, _ = server.json("/v2/models/shapes")[1]["inputs"][0]["shape"]
        sample = Image.open(io.BytesIO(server.request("/sample.jpg")[2])).convert("RGB").resize((width, height))
        rows, error = client.detect(np.asarray(sample)[None])
        assert error is None and rows.any()
        client.socket.setsockopt(zmq.RCVTIMEO, 1_000)
        with pytest.raises(zmq.Again):
            client.detect(np.zeros((1, height, width + 1, 3), np.uint8))
        assert server.stop() == 0


def test_frames_that_fail_are_counted(server, endpoint):
    def failures():
        return server.json("/v2/models/shapes/stats")[1]["model_stats"][0]["inference_stats"]["fail"]["count"]

    with Client(endpoint) as client:
        client.model({"model_request": True, "model_name": "shapes"})
        before = failures()
        client.ask({"shape": [1, 8, 8, 3], "dtype": "float64"}, bytes(192))
        client.ask({"shape": [1, 8, 8, 3], "dtype": "uint8"}, bytes(191))
        assert client.detect(np.zeros((1, 8, 8, 3), np.uint8))[1] is None
        assert failures() == before + 2


def test_what_is_wrong_is_answered_and_ends_nothing(server, endpoint):
    with Client(endpoint) as client:
        for name in ("../etc/passwd", "", ".hidden", "a/b.tflite", "x" * 300, "ü.tflite"):
            assert "model_name is" in client.model({"model_data": True, "model_name": name}, b"x")["message"]
        for data, message in [(b"", "load"), (b"no model", "load"), (b"PK\x03\x04" + bytes(100), "load")]:
            answer = client.model({"model_data": True, "model_name": "broken.tflite"}, data)
            assert answer["model_saved"] is False and answer["model_loaded"] is False and message in answer["message"]
        assert "no part" in client.model({"model_data": True, "model_name": "x"})["message"]
        client.model({"model_request": True, "model_name": "shapes"})
        pixels = np.zeros((1, 8, 8, 3), np.uint8)
        for parts, message in [
            ([b"no JSON"], "not a JSON object"),
            ([b"[" * 60_000], "not a JSON object"),
            ([b"{" + b" " * 70_000 + b"}"], "not a JSON object"),
            ([{}], "no part with the frame"),
            ([{"shape": [1, 8, 8, 3], "dtype": "uint8"}], "no part with the frame"),
            ([{"shape": [1, 8, 8, 3], "dtype": "uint8"}, pixels.tobytes()[1:]], "191 bytes"),
            ([{"shape": [1, 8, 8, 3], "dtype": "float64"}, pixels.tobytes()], "dtype is 'float64'"),
            ([{"shape": [8, 8, 3], "dtype": "uint8"}, pixels.tobytes()], "shape is [8, 8, 3]"),
            ([{"shape": [1, 0, 8, 3], "dtype": "uint8"}, b""], "shape is [1, 0, 8, 3]"),
            ([{"shape": [1, 2**62, 2**62, 3], "dtype": "uint8"}, b""], "shape is"),
            ([{"shape": [1, -8, 8, 3], "dtype": "uint8"}, b""], "shape is"),
            ([{"shape": [1, 1e300, 8, 3], "dtype": "uint8"}, b""], "not a JSON object"),
            ([{"shape": [1, 8, 8, 3], "dtype": "uint8"}, pixels.tobytes(), *[b"more"] * 20], "no part with the frame"),
        ]:
            header, rows = client.ask(*parts)
            assert message in json.loads(header)["error"], (parts[0], header)
            assert rows == bytes(480)
        nothing = np.full((1, 8, 8, 3), np.nan, np.float32)
        assert client.detect(nothing)[1] is None


def test_an_endpoint_that_cannot_be_stops_the_server(tmp_path):
    for endpoint, message in [(f"ipc://{tmp_path}/none/x", "--frigate ipc://"), ("carrier-pigeon://x", "--frigate carrier-pigeon://x")]:
        ended = subprocess.run(
            [os.environ["APUS_SERVER"], "--http", "127.0.0.1:0", "--grpc", "off", "--frigate", endpoint], capture_output=True,
            text=True, timeout=60)
        assert ended.returncode == 1 and message in ended.stderr, ended.stderr
