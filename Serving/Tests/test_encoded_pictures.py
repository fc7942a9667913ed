# SPDX-License-Identifier: Apache-2.0
"""Encoded pictures in place of an input's elements: each model gets the numbers that its task would give it."""

import base64
import io

import numpy as np
import pytest
from described_models import echo, exported
from PIL import Image
from server import Server

SIZE = (6, 4)


@pytest.fixture(scope="module")
def echoes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("echoes")
    for name, model in {
        "unit": exported(echo(), "classify", {str(number): f"class {number}" for number in range(72)}),
        "signed": echo().bytes(),
        "scaling": echo(factor=1 / 255).bytes(),
        "batch": echo(batch=-1).bytes(),
        "fixed": echo(batch=2).bytes(),
        "two": echo(inputs=2).bytes(),
    }.items():
        (folder / f"{name}.tflite").write_bytes(model)
    with Server("--model-repository", folder) as server:
        yield server
        assert server.stop() == 0


def drawn(seed, size=SIZE):
    return np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), np.uint8)


def png(pixels):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def infer(server, model, *pictures, **more):
    data = [base64.b64encode(png(pixels)).decode() for pixels in pictures]
    body = {"inputs": [{"name": "image0", "shape": [len(data)], "datatype": "BYTES", "data": data}, *more.get("inputs", [])]}
    status, answer = server.json(f"/v2/models/{model}/infer", body)
    if status != 200:
        return status, answer["error"]
    return np.array(answer["outputs"][0]["data"], np.float32).reshape(-1, SIZE[1], SIZE[0], 3)


def signed(pixels):
    return ((pixels.astype(np.float32) - 127.5) / 127.5)


def test_pixels_are_what_the_exporter_trained_on(echoes):
    pixels = drawn(1)
    np.testing.assert_allclose(infer(echoes, "unit", pixels)[0], pixels.astype(np.float32) / 255, atol=1e-6)


def test_pictures_are_fitted_as_the_task_does_it(echoes):
    """A classifier of Ultralytics sees the largest centered part, others the whole picture."""
    pixels = drawn(2)
    wide = np.concatenate([np.zeros((4, 5, 3), np.uint8), pixels, np.full((4, 5, 3), 255, np.uint8)], axis=1)
    np.testing.assert_allclose(infer(echoes, "unit", wide)[0], pixels.astype(np.float32) / 255, atol=1e-6)
    assert np.abs(infer(echoes, "signed", wide)[0] - signed(pixels)).max() > 0.5


def test_pixels_are_what_the_graph_begins_with(echoes):
    pixels = drawn(3)
    np.testing.assert_allclose(infer(echoes, "scaling", pixels)[0], pixels.astype(np.float32) / 255, atol=1e-6)
    np.testing.assert_allclose(infer(echoes, "signed", pixels)[0], signed(pixels), atol=1e-6)


@pytest.mark.parametrize("model", ["batch", "fixed"])
def test_each_picture_of_a_batch_has_its_place(echoes, model):
    one, other = drawn(4), drawn(5)
    found = infer(echoes, model, one, other)
    np.testing.assert_allclose(found, np.stack([signed(one), signed(other)]), atol=1e-6)


def test_pictures_are_refused_where_nothing_says_what_they_are(echoes):
    """A model of two inputs is no task's, and the file does not say how pixels become numbers."""
    other = {"name": "image1", "shape": [1, 4, 6, 3], "datatype": "FP32", "data": [0.0] * 72}
    status, error = infer(echoes, "two", drawn(6), inputs=[other])
    assert status == 400 and "picture 0 of 'image0'" in error and "send the numbers" in error


def test_a_real_export_answers_as_its_task(test_data):
    path = test_data / "cases" / "yolo-classify-pixels" / "yolov8ncls.tflite"
    if not path.exists():
        pytest.skip(f"there is no {path}")
    picture = (test_data / "images" / "burger.jpg").read_bytes()
    with Server(path) as server:
        expected = server.json("/v1/classify?max_results=3", picture)[1]["classes"]
        body = {"inputs": [{"name": "inputs_0", "shape": [1], "datatype": "BYTES", "data": [base64.b64encode(picture).decode()]}],
                "outputs": [{"name": "Identity", "parameters": {"classification": 3}}]}
        status, answer = server.json("/v2/models/yolov8ncls/infer", body)
        assert status == 200
        for text, category in zip(answer["outputs"][0]["data"], expected):
            score, index, label = text.split(":", 2)
            assert (int(index), label) == (category["index"], category["label"])
            assert abs(float(score) - category["score"]) < 1e-5
        assert server.stop() == 0
