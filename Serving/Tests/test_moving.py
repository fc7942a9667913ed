# SPDX-License-Identifier: Apache-2.0
"""What somebody who comes from Triton or KServe expects: the protocol's documents and Triton's sources are the authority."""

import base64
import concurrent.futures
import http.client
import io
import json
import queue
import socket
import time

import grpc
import numpy as np
import pytest
import tritonclient.grpc as triton_grpc
import tritonclient.http as triton
from make_models import Graph, _softmax, add_sub, dense, schema
from PIL import Image
from server import Server
from test_running import SIMPLE, SLOW, SLOW_BODY, SLOW_HEADERS, infer_input, slow, statistics
from tritonclient.grpc import service_pb2, service_pb2_grpc
from tritonclient.utils import InferenceServerException, np_to_triton_dtype


def grpc_input(name, array):
    tensor = triton_grpc.InferInput(name, list(array.shape), np_to_triton_dtype(array.dtype))
    tensor.set_data_from_numpy(array)
    return tensor


def index(server):
    return {(entry["name"], entry["version"]): entry for entry in server.json("/v2/repository/index", b"")[1]}


def logs(server, message):
    return [entry for entry in map(json.loads, (line for line in server.lines if line.startswith("{")))
            if entry["message"] == message]


# ---- Statistics


def test_requests_of_a_shared_run_each_count_its_whole_time(models):
    """Triton adds a run's duration for each request of it (`UpdateSuccessWithDuration`), so that ns / count is a request's time."""
    rows = np.random.default_rng(3).integers(-90, 90, (200, 64)).astype(np.int8)
    with Server("--model-repository", models, "--queue-delay", 20_000, "--instances", 1) as server:
        results = queue.Queue()
        with triton_grpc.InferenceServerClient(server.grpc) as client:
            for number in range(200):
                client.async_infer("dense_int8", [grpc_input("x", rows[number:number + 1])],
                                   lambda result, error: results.put(error))
            assert [results.get(timeout=30) for _ in range(200)] == [None] * 200
        found = statistics(server, "dense_int8")
        totals = found["inference_stats"]
        assert found["execution_count"] < 150 and totals["success"]["count"] == 200
        for name in ("compute_input", "compute_infer", "compute_output"):
            assert totals[name]["count"] == 200
            # Each request has one row: a batch of N is N requests.
            assert totals[name]["ns"] == sum(batch["batch_size"] * batch[name]["ns"] for batch in found["batch_stats"])
        assert server.stop() == 0


def test_what_a_client_takes_to_send_is_not_waiting(models):
    with Server("--model-repository", models) as server:
        before = statistics(server, "simple")["inference_stats"]
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        connection.putrequest("POST", "/v2/models/simple/infer")
        connection.putheader("Content-Length", str(len(SIMPLE)))
        connection.endheaders(SIMPLE[:20])
        time.sleep(1.5)
        connection.send(SIMPLE[20:])
        assert connection.getresponse().status == 200
        after = statistics(server, "simple")["inference_stats"]
        for name in ("queue", "success"):
            assert after[name]["ns"] - before[name]["ns"] < 1e9, name
        lines = [line for line in server.request("/metrics")[2].decode().splitlines()
                 if line.startswith('nv_inference_queue_duration_us{model="simple"')]
        assert int(lines[0].rsplit(" ", 1)[1]) < 1_000_000
        assert server.stop() == 0


# ---- Answers


def test_answers_of_a_stream_say_that_they_are_the_last(server):
    """Clients of models that may answer several times wait for `triton_final_response`; errors have it, too."""
    a, b = np.arange(16, dtype=np.int32).reshape(1, 16), np.ones((1, 16), np.int32)
    for asks in (True, False):
        results = queue.Queue()
        with triton_grpc.InferenceServerClient(server.grpc) as client:
            client.start_stream(lambda result, error: results.put((result, error)))
            client.async_stream_infer("simple", [grpc_input("INPUT0", a), grpc_input("INPUT1", b)],
                                      enable_empty_final_response=asks)
            result, error = results.get(timeout=30)
            assert error is None and result.get_response().parameters["triton_final_response"].bool_param
            client.stop_stream()
    with grpc.insecure_channel(server.grpc) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        answer = next(stub.ModelStreamInfer(iter([service_pb2.ModelInferRequest(model_name="nobody", id="7")])))
        assert answer.error_message and answer.infer_response.parameters["triton_final_response"].bool_param


@pytest.mark.parametrize("data,right", [
    ([[1, 2, 3, 4], [5, 6, 7, 8]], True), ([1, 2, 3, 4, 5, 6, 7, 8], True),
    ([[1, 2, 3], [4, 5, 6, 7, 8]], False), ([[1, 2], [3, 4], [5, 6], [7, 8]], False), ([[1, 2, 3, 4, 5, 6, 7, 8]], False),
    ([[[1, 2, 3, 4], [5, 6, 7, 8]]], False), ([[1, 2, 3, 4], 5, 6, 7, 8], False), ([1, 2, 3, 4, [5, 6, 7, 8]], False),
    ([[1, 2, 3, 4], [5, 6, 7, [8]]], False), ([[1, 2, 3, 4], [5, 6, 7, 8], []], False), ([[], [1, 2, 3, 4, 5, 6, 7, 8]], False)])
def test_nested_data_have_the_nesting_of_the_shape(server, data, right):
    body = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [2, 4], "data": data}]}
    status, answer = server.json("/v2/models/rectified/infer", body)
    assert status == (200 if right else 400), answer
    assert right or answer["error"].startswith("inputs[0]: 'x': data is n"), answer


def test_outputs_come_back_under_the_names_that_they_were_asked_for(server):
    a, b = np.arange(16, dtype=np.int32).reshape(1, 16), np.ones((1, 16), np.int32)
    name = "StatefulPartitionedCall:0"
    with triton.InferenceServerClient(server.http) as client:
        result = client.infer("simple", [infer_input("INPUT0", a), infer_input("INPUT1", b)], outputs=[triton.InferRequestedOutput(name)])
        np.testing.assert_array_equal(result.as_numpy(name), a + b)
    with triton_grpc.InferenceServerClient(server.grpc) as client:
        result = client.infer("simple", [grpc_input("INPUT0", a), grpc_input("INPUT1", b)], outputs=[triton_grpc.InferRequestedOutput(name)])
        np.testing.assert_array_equal(result.as_numpy(name), a + b)


# ---- Repositories


def test_a_model_that_could_not_be_loaded_makes_the_server_not_ready(models, tmp_path):
    """As Triton's `--strict-readiness`, whose default is true."""
    data = (models / "simple.tflite").read_bytes()
    (tmp_path / "good.tflite").write_bytes(data)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "model.tflite").write_bytes(b"not a model at all")
    with Server("--model-repository", tmp_path, "--model-control", "explicit") as server:
        assert server.json("/v2/health/ready") == (503, {"ready": False})
        assert server.json("/v2/health/live") == (200, {"live": True})
        assert server.json("/v2/models/good/ready")[1]["ready"] and server.json("/v2/models/good/infer", SIMPLE)[0] == 200
        with triton_grpc.InferenceServerClient(server.grpc) as client:
            assert not client.is_server_ready() and client.is_model_ready("good") and not client.is_model_ready("bad")
        # A model that was unloaded does not count, nor one that nobody asked for.
        assert server.json("/v2/repository/models/bad/unload", b"")[0] == 200
        (tmp_path / "later.tflite").write_bytes(data)
        assert index(server)["later", "1"]["state"] == "UNAVAILABLE"
        assert server.json("/v2/health/ready") == (200, {"ready": True})
        assert server.json("/v2/repository/models/bad/load", b"")[0] == 400
        assert server.json("/v2/health/ready") == (503, {"ready": False})
        (tmp_path / "bad" / "model.tflite").write_bytes(data)
        assert server.json("/v2/repository/models/bad/load", b"")[0] == 200
        assert server.json("/v2/health/ready") == (200, {"ready": True})
        assert server.stop() == 0
    (tmp_path / "bad" / "model.tflite").write_bytes(b"not a model at all")
    with Server("--model-repository", tmp_path, "--strict-readiness", "false") as server:
        assert server.json("/v2/health/ready") == (200, {"ready": True})
        assert server.stop() == 0


def test_the_index_has_every_model_that_is_available_and_why_it_failed(models, tmp_path):
    """`extension_model_repository.md`: "every model available in a model repository, even if not currently loaded"."""
    data = (models / "simple.tflite").read_bytes()
    (tmp_path / "first.tflite").write_bytes(data)
    with Server("--model-repository", tmp_path, "--model-control", "explicit") as server:
        (tmp_path / "later.tflite").write_bytes(data)
        (tmp_path / "broken.tflite").write_bytes(b"TFL3 no")
        assert server.json("/v2/repository/models/broken/load", b"")[0] == 400
        found = index(server)
        assert found["later", "1"]["state"] == "UNAVAILABLE" and "not asked" in found["later", "1"]["reason"]
        assert found["broken", "1"]["state"] == "UNAVAILABLE" and len(found["broken", "1"]["reason"]) > 10
        with triton_grpc.InferenceServerClient(server.grpc) as client:
            states = {model.name: model.state for model in client.get_model_repository_index().models}
        assert states == {"first": "READY", "later": "UNAVAILABLE", "broken": "UNAVAILABLE"}
        assert server.json("/v2/repository/models/later/load", b"")[0] == 200
        assert index(server)["later", "1"]["state"] == "READY"
        # The reason of the failure, not that it was unloaded before; what is loaded goes on.
        assert server.json("/v2/repository/models/first/unload", b"")[0] == 200
        for name in ("first", "later"):
            (tmp_path / f"{name}.tflite").write_bytes(b"TFL3 no")
            assert server.json(f"/v2/repository/models/{name}/load", b"")[0] == 400
        assert "unloaded" not in index(server)["first", "1"]["reason"]
        assert index(server)["later", "1"]["state"] == "READY" and server.json("/v2/models/later/infer", SIMPLE)[0] == 200
        assert server.stop() == 0


def test_what_a_repository_of_triton_has_and_is_not_heeded_is_said(tmp_path):
    def put(name, version, file, content, configuration=None):
        folder = tmp_path / name / version
        folder.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(content)
        if configuration:
            (tmp_path / name / "config.pbtxt").write_text(configuration)

    model = add_sub("int32", 1).bytes()
    put("pinned", "1", "model.tflite", model, 'name: "pinned"\nversion_policy: { specific { versions: [1] } }\n')
    put("pinned", "2", "model.tflite", model)
    put("labelled", "1", "model.tflite", dense().bytes(),
        'max_batch_size: 2 # {\noutput [ { name: "y" data_type: TYPE_FP32 dims: [32] label_filename: "my { classes.txt" } ]\n'
        'dynamic_batching { max_queue_delay_microseconds: 1000 }\n')
    put("plain", "1", "model.tflite", model, 'name: "plain"\nplatform: "tensorflow_lite"\n')
    put("onnx", "1", "model.onnx", b"onnx")
    put("renamed", "1", "net.tflite", model, 'default_model_filename: "net.tflite"')
    put("zeros", "00000123", "model.tflite", model)
    (tmp_path / "ensemble" / "1").mkdir(parents=True)
    (tmp_path / "ensemble" / "config.pbtxt").write_text('platform: "ensemble"\nensemble_scheduling { step [] }\n')
    for number in range(60):
        (tmp_path / f"empty{number}").mkdir()
    with Server("--model-repository", tmp_path) as server:
        notes = {entry["folder"]: entry["reason"] for entry in logs(server, "repository")}
        assert len(notes) == 33 and "more folders" in notes[str(tmp_path)]
        for number in range(60):
            (tmp_path / f"empty{number}").rmdir()
        parameters = server.json("/v2/models/labelled/config")[1]["parameters"]
        assert parameters["ignored_settings"]["string_value"] == "max_batch_size, label_filename, dynamic_batching"
        with triton_grpc.InferenceServerClient(server.grpc) as client:
            assert client.get_model_config("pinned").config.parameters["ignored_settings"].string_value == "version_policy"
        assert "ignored_settings" not in server.json("/v2/models/plain/config")[1]["parameters"]
        assert server.stop() == 0
    with Server("--model-repository", tmp_path) as server:
        notes = {entry["folder"]: entry["reason"] for entry in logs(server, "repository")}
        assert set(notes) == {"pinned", "labelled", "onnx", "renamed", "zeros", "ensemble"}
        assert "version_policy" in notes["pinned"] and "config.pbtxt is not heeded" in notes["pinned"]
        assert "1/model.onnx" in notes["onnx"] and "1/net.tflite" in notes["renamed"] and "'00000123'" in notes["zeros"]
        assert server.stop() == 0


def test_several_repositories_are_served_together(models, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"model_{name}.tflite").write_bytes((models / "simple.tflite").read_bytes())
    with Server("--model-repository", tmp_path / "a", "--model-repository", tmp_path / "b", "--model-control", "explicit") as server:
        assert set(index(server)) == {("model_a", "1"), ("model_b", "1")}
        for name in ("a", "b"):
            assert server.json(f"/v2/repository/models/model_{name}/load", b"")[0] == 200
        assert server.stop() == 0


# ---- Settings without an effect


def test_settings_without_an_effect_are_refused(server):
    load = "/v2/repository/models/simple/load"
    for size in (4, "4"):
        status, answer = server.json(load, {"parameters": {"config": json.dumps({"max_batch_size": size})}})
        assert status == 400 and "takes no batches" in answer["error"]
    assert server.json(load, {"parameters": {"config": '{"max_batch_size": 0}'}})[0] == 200
    assert server.json("/v2/health/ready")[0] == 200
    for body in ({"parameters": {"foo": 1}}, b"{garbage"):
        assert server.json("/v2/repository/models/simple/unload", body)[0] == 400
    assert server.json("/v2/models/simple/ready")[0] == 200
    # Files that come with a configuration: the error is about the files.
    status, answer = server.json(load, {"parameters": {"config": '{"backend": "x"}', "file:1/model.tflite": "AAAA"}})
    assert status == 400 and "file:1/model.tflite" in answer["error"]
    with triton_grpc.InferenceServerClient(server.grpc) as client:
        with pytest.raises(InferenceServerException, match="takes no batches") as error:
            client.load_model("simple", config='{"max_batch_size": 4}')
        assert error.value.status() == "StatusCode.INVALID_ARGUMENT"


def test_sequences_are_refused(server):
    a = np.zeros((1, 16), np.int32)
    with triton.InferenceServerClient(server.http) as client:
        tensors = [infer_input("INPUT0", a), infer_input("INPUT1", a)]
        for more in ({"sequence_id": 7, "sequence_start": True}, {"sequence_id": "seven"}):
            with pytest.raises(InferenceServerException, match="no sequences"):
                client.infer("simple", tensors, **more)
        client.infer("simple", tensors, sequence_id=0, sequence_start=False, sequence_end=False)
    with triton_grpc.InferenceServerClient(server.grpc) as client:
        tensors = [grpc_input("INPUT0", a), grpc_input("INPUT1", a)]
        with pytest.raises(InferenceServerException, match="no sequences") as error:
            client.infer("simple", tensors, sequence_id=7, sequence_start=True)
        assert error.value.status() == "StatusCode.INVALID_ARGUMENT"


def test_other_repositories_and_endless_parameters_are_refused(server):
    with grpc.insecure_channel(server.grpc) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        for ask, request in ((stub.RepositoryIndex, service_pb2.RepositoryIndexRequest(repository_name="elsewhere")),
                             (stub.RepositoryModelLoad, service_pb2.RepositoryModelLoadRequest(repository_name="elsewhere", model_name="simple")),
                             (stub.RepositoryModelUnload, service_pb2.RepositoryModelUnloadRequest(repository_name="elsewhere", model_name="simple"))):
            with pytest.raises(grpc.RpcError, match="'repository_name' specification is not supported") as error:
                ask(request)
            assert error.value.code() == grpc.StatusCode.UNIMPLEMENTED
        assert stub.ModelReady(service_pb2.ModelReadyRequest(name="simple")).ready
        for count in (64, 65):
            for place in ("request", "input", "output"):
                request = service_pb2.ModelInferRequest(model_name="simple")
                for position in (0, 1):
                    request.inputs.add(name=f"INPUT{position}", datatype="INT32", shape=[1, 16])
                    request.raw_input_contents.append(bytes(64))
                request.outputs.add(name="OUTPUT0")
                target = {"request": request, "input": request.inputs[1], "output": request.outputs[0]}[place]
                for number in range(count):
                    target.parameters[f"p{number}"].int64_param = number
                if count == 64:
                    stub.ModelInfer(request)
                    continue
                with pytest.raises(grpc.RpcError, match="more than 64 parameters") as error:
                    stub.ModelInfer(request)
                assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_settings_of_traces_and_of_the_log_are_the_same_by_both_ways(server):
    with triton.InferenceServerClient(server.http) as over_http, triton_grpc.InferenceServerClient(server.grpc) as over_grpc:
        for name in (None, "simple"):
            settings = over_grpc.get_trace_settings(model_name=name).settings
            assert {key: list(value.value) for key, value in settings.items()} == over_http.get_trace_settings(name) == {"trace_level": ["OFF"]}
        for client in (over_http, over_grpc):
            with pytest.raises(InferenceServerException, match="'nobody' is not found"):
                client.get_trace_settings("nobody")
            with pytest.raises(InferenceServerException, match="--log-level"):
                client.update_log_settings({"log_info": True})
        found = {key: value.bool_param for key, value in over_grpc.get_log_settings().settings.items()}
        assert found == over_http.get_log_settings() == {"log_error": True, "log_warning": True, "log_info": False}


# ---- Shapes


def softmax_of_a_row():
    graph = Graph()
    graph.add("SOFTMAX", [graph.named_input("x", "float32", [-1])], [graph.named_output("y", "float32", [-1])], _softmax())
    return graph


def sum_of_rows():
    graph = Graph()
    options = schema.ReducerOptionsT()
    options.keepDims = True
    graph.add("SUM", [graph.named_input("x", "float32", [-1, 4]), graph.constant(np.array([0], np.int32))],
              [graph.named_output("y", "float32", [1, 4])], options)
    return graph


def test_the_length_of_a_sound_is_no_batch(tmp_path):
    (tmp_path / "sound.tflite").write_bytes(softmax_of_a_row().bytes())
    with Server("--model-repository", tmp_path) as server, triton.InferenceServerClient(server.http) as client:
        x = np.linspace(-1, 1, 1000, dtype=np.float32)
        y = client.infer("sound", [infer_input("x", x)]).as_numpy("y")
        np.testing.assert_allclose(y, np.exp(x) / np.exp(x).sum(), rtol=1e-4)
        assert client.get_model_metadata("sound")["inputs"][0]["shape"] == [-1]
        config = client.get_model_config("sound")
        assert config["max_batch_size"] == 0 and config["input"][0]["dims"] == [-1]
        raw = server.request("/v2/models/sound/infer", x.tobytes(), headers={"Inference-Header-Content-Length": "0"})
        assert raw[0] == 200 and raw[2].endswith(y.tobytes())
        assert server.stop() == 0


def test_metadata_say_which_first_dimension_a_model_takes(tmp_path):
    (tmp_path / "total.tflite").write_bytes(sum_of_rows().bytes())
    with Server("--model-repository", tmp_path) as server, triton.InferenceServerClient(server.http) as client:
        assert client.get_model_metadata("total")["inputs"][0]["shape"] == [1, 4]
        assert client.get_model_config("total")["input"][0]["dims"] == [1, 4]
        with triton_grpc.InferenceServerClient(server.grpc) as other:
            assert list(other.get_model_metadata("total").inputs[0].shape) == [1, 4]
        assert server.stop() == 0


def test_outputs_that_the_file_leaves_open_have_their_shapes_in_metadata(test_data):
    with Server(test_data / "models" / "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29.tflite", "--id", "triton") as server:
        name = "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29"
        outputs = server.json(f"/v2/models/{name}")[1]["outputs"]
        assert [output["shape"] for output in outputs] == [[1, 10, 4], [1, 10], [1, 10], [1]]
        # Without a batch, the format of three dimensions is not that of an input of four.
        assert server.json(f"/v2/models/{name}/config")[1]["input"][0]["format"] == "FORMAT_NONE"
        assert server.stop() == 0


# ---- Pictures


@pytest.fixture(scope="module")
def shapes():
    with Server("--deepstack", "--log-level", "info") as server:
        yield server
        assert server.stop() == 0


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "BMP", "PPM"])
def test_a_raw_request_is_a_picture_of_any_kind(shapes, kind):
    picture = Image.open(io.BytesIO(shapes.request("/sample.jpg")[2])).convert("RGB")
    file = io.BytesIO()
    picture.save(file, kind, **({"lossless": True} if kind == "WEBP" else {}))
    name = shapes.json("/v2/models/shapes")[1]["inputs"][0]["name"]
    data = base64.b64encode(file.getvalue()).decode()
    asked = {"inputs": [{"name": name, "datatype": "BYTES", "shape": [1], "data": [data]}], "parameters": {"binary_data_output": True}}
    expected = shapes.request("/v2/models/shapes/infer", asked)
    if kind == "WEBP" and expected[0] != 200:
        pytest.skip("libwebp is not installed")
    status, headers, body = shapes.request("/v2/models/shapes/infer", file.getvalue(), headers={"Inference-Header-Content-Length": "0"})
    assert status == expected[0] == 200 and body == expected[2]


def test_base64_of_every_writing_is_a_picture(shapes):
    sample = shapes.request("/sample.jpg")[2]
    name = shapes.json("/v2/models/shapes")[1]["inputs"][0]["name"]
    plain = base64.b64encode(sample).decode()
    answers = set()
    for data in (plain, base64.encodebytes(sample).decode(), base64.urlsafe_b64encode(sample).decode(), plain.rstrip("="),
                 "data:image/jpeg;base64," + plain):
        answers.add(shapes.request("/v2/models/shapes/infer", {"inputs": [{"name": name, "datatype": "BYTES", "shape": [1], "data": [data]}]})[::2])
    assert len(answers) == 1 and next(iter(answers))[0] == 200, answers


def test_settings_in_the_wrong_place_or_twice_are_refused(shapes):
    sample = shapes.request("/sample.jpg")[2]
    for query in ("score_threshold=0.1&score_threshold=0.9", "max_results=1&max_results=1", "model=shapes&model=shapes"):
        status, answer = shapes.json(f"/v1/detect?{query}", sample)
        assert status == 400 and "twice" in answer["error"]
    assert shapes.json("/v1/detect?allow=circle&allow=triangle", sample)[0] == 200
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    image = b'--b\r\nContent-Disposition: form-data; name="image"; filename="p.jpg"\r\n\r\n' + sample + b"\r\n"
    for field in ("score_threshold", "min_confidence", "model"):
        body = image + f'--b\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n0.6\r\n--b--\r\n'.encode()
        status, answer = shapes.json("/v1/detect", body, headers=headers)
        assert status == 400 and f"'{field}'" in answer["error"] and "query" in answer["error"], answer


def test_custom_models_are_those_that_find_objects(models, tmp_path):
    (tmp_path / "simple.tflite").write_bytes((models / "simple.tflite").read_bytes())
    with Server("--model-repository", tmp_path, "--deepstack") as server:
        for _ in range(2):
            assert server.json("/v1/vision/custom/list")[1]["models"] == []
        assert server.stop() == 0


# ---- Probes, deadlines, the log and the end


def health(channel, method, name="", **more):
    """`grpc.health.v1`: the request's first field is the service; the answer's is 1 for SERVING, 2 NOT_SERVING, 3 SERVICE_UNKNOWN."""
    call = channel.unary_stream if method == "Watch" else channel.unary_unary
    request = (b"\x0a" + bytes([len(name)]) + name.encode()) if name else b""
    return call(f"/grpc.health.v1.Health/{method}")(request, **more)


def test_probes_of_grpc_are_answered(models, tmp_path):
    (tmp_path / "tokens").write_text("secret\n")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "simple.tflite").write_bytes((models / "simple.tflite").read_bytes())
    options = ["--model-repository", tmp_path / "models", "--model-control", "explicit", "--token-file", tmp_path / "tokens"]
    with Server(*options) as server, grpc.insecure_channel(server.grpc) as channel:
        for name in ("", "inference.GRPCInferenceService", "grpc.health.v1.Health"):
            assert health(channel, "Check", name) == b"\x08\x01"
        with pytest.raises(grpc.RpcError) as error:
            health(channel, "Check", "nobody")
        assert error.value.code() == grpc.StatusCode.NOT_FOUND
        watch, unknown = health(channel, "Watch"), health(channel, "Watch", "nobody")
        assert next(watch) == b"\x08\x01" and next(unknown) == b"\x08\x03"
        unknown.cancel()
        (tmp_path / "models" / "bad.tflite").write_bytes(b"no")
        token = {"Authorization": "Bearer secret"}
        assert server.json("/v2/repository/models/bad/load", b"", headers=token)[0] == 400
        assert next(watch) == b"\x08\x02" and health(channel, "Check") == b"\x08\x02"
        assert server.json("/v2/repository/models/bad/unload", b"", headers=token)[0] == 200
        assert next(watch) == b"\x08\x01"
        start = time.monotonic()
        server.terminate()
        assert next(watch) == b"\x08\x02"
        with pytest.raises(grpc.RpcError) as error:
            next(watch)
        assert error.value.code() == grpc.StatusCode.UNAVAILABLE
        assert server.process.wait(30) == 0 and time.monotonic() - start < 4


def test_an_idle_stream_does_not_keep_the_server(server, models):
    with Server(models / "simple.tflite") as server, grpc.insecure_channel(server.grpc) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        requests = queue.Queue()
        answers = stub.ModelStreamInfer(iter(requests.get, None))
        request = service_pb2.ModelInferRequest(model_name="simple", id="1")
        for position in (0, 1):
            request.inputs.add(name=f"INPUT{position}", datatype="INT32", shape=[1, 16])
            request.raw_input_contents.append(bytes(64))
        requests.put(request)
        assert next(answers).infer_response.id == "1"
        start = time.monotonic()
        server.terminate()
        with pytest.raises(grpc.RpcError) as error:
            next(answers)
        assert error.value.code() == grpc.StatusCode.UNAVAILABLE
        assert server.process.wait(30) == 0 and time.monotonic() - start < 3
        server.stop()
        assert logs(server, "stopped")
        requests.put(None)


def test_a_drain_that_ends_answers_what_is_left(models):
    with Server("--model-repository", models, "--instances", 1, "--drain", 0.3) as server:
        body = json.dumps({"inputs": [{"name": "x", "datatype": "INT32", "shape": [1], "data": [2_000_000_000]}]}).encode()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            running = [pool.submit(server.request, "/v2/models/countdown/infer", body) for _ in range(3)]
            with triton_grpc.InferenceServerClient(server.grpc) as client:
                call = pool.submit(client.infer, "countdown", [grpc_input("x", np.array([2_000_000_000], np.int32))])
                server.wait_for_queue("countdown", 3)
                assert server.stop() == 0
                for answer in running:
                    status, headers, text = answer.result()
                    assert status == 503 and b"the server ended before the answer" in text
                with pytest.raises(InferenceServerException, match="the server ended before the answer"):
                    call.result()
        assert logs(server, "stopped")[0]["unanswered"] == "4"


def test_a_full_queue_is_unavailable_over_grpc_as_over_http(models):
    with Server("--model-repository", models, "--instances", 1, "--max-queue", 1) as server:
        x = grpc_input("x", np.zeros((1, 768, 768), np.float32))
        results = queue.Queue()
        with triton_grpc.InferenceServerClient(server.grpc) as client:
            for _ in range(6):
                client.async_infer("slow", [x], lambda result, error: results.put(error))
            errors = [error for error in (results.get(timeout=60) for _ in range(6)) if error]
        assert errors and {error.status() for error in errors} == {"StatusCode.UNAVAILABLE"}
        assert server.stop() == 0


def test_calls_of_grpc_are_logged_as_requests_are(shapes):
    with triton_grpc.InferenceServerClient(shapes.grpc) as client:
        client.get_model_metadata("shapes", headers={"x-request-id": "G1"})
        with pytest.raises(InferenceServerException):
            client.get_model_metadata("nobody", headers={"x-request-id": "G2"})
    time.sleep(0.2)
    found = {entry["request"]: entry["status"] for entry in logs(shapes, "inference.GRPCInferenceService/ModelMetadata")}
    assert found["G1"] == "ok" and "notFound" in found["G2"].replace(" ", ""), found
