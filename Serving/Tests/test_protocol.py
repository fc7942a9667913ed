# SPDX-License-Identifier: Apache-2.0
"""The inference protocol over REST, as its documents and Triton's clients have it."""

import copy
import gzip
import json
import os
import pathlib
import re
import struct
import subprocess
import zlib

import flatbuffers
import numpy as np
import pytest
import tritonclient.http as triton
from ai_edge_litert import schema_py_generated as schema
from make_models import LISTED, Graph
from server import Server
from tritonclient.utils import InferenceServerException

A = np.arange(16, dtype=np.int32).reshape(1, 16)
B = np.full((1, 16), -3, np.int32)


@pytest.fixture(scope="module")
def client(server):
    with triton.InferenceServerClient(server.http, concurrency=4) as client:
        yield client


def infer_input(name, array, binary=True):
    from tritonclient.utils import np_to_triton_dtype

    tensor = triton.InferInput(name, list(array.shape), np_to_triton_dtype(array.dtype))
    tensor.set_data_from_numpy(array, binary_data=binary)
    return tensor


def body(shape=(1, 16), datatype="INT32", data=None, name="INPUT0", **more):
    first = {"name": name, "shape": list(shape), "datatype": datatype, "data": list(range(16)) if data is None else data}
    second = {"name": "INPUT1", "shape": [1, 16], "datatype": "INT32", "data": [1] * 16}
    return {"inputs": [first, second], **more}


def test_health_answers_json(server):
    assert server.json("/v2/health/live") == (200, {"live": True})
    assert server.json("/v2/health/ready") == (200, {"ready": True})
    assert server.json("/v2/models/simple/ready") == (200, {"name": "simple", "ready": True})


def test_health_by_client(client):
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("simple")
    assert client.is_model_ready("versioned", "2") and not client.is_model_ready("versioned", "3")
    assert not client.is_model_ready("nobody")


def test_server_metadata(client):
    metadata = client.get_server_metadata()
    assert metadata["name"] == "apus"
    assert {"binary_tensor_data", "classification", "model_repository", "schedule_policy", "statistics"} <= set(
        metadata["extensions"])


def test_the_version_is_that_of_the_engine(client):
    engine = subprocess.run([os.environ["APUS"], "--version"], check=True, capture_output=True, text=True).stdout
    version = client.get_server_metadata()["version"]
    assert engine.split() == ["apus", version]
    description = pathlib.Path(__file__).parents[1] / "Sources/ApusServer/openapi.yaml"
    assert re.search(r"^  version: (.*)$", description.read_text(), re.MULTILINE)[1] == version


def test_names_are_the_signatures(client):
    metadata = client.get_model_metadata("simple")
    assert metadata == {
        "name": "simple", "versions": ["1"], "platform": "apus_tflite",
        "inputs": [{"name": f"INPUT{k}", "datatype": "INT32", "shape": [1, 16]} for k in (0, 1)],
        "outputs": [{"name": f"OUTPUT{k}", "datatype": "INT32", "shape": [1, 16]} for k in (0, 1)]}


def test_the_main_function_runs_as_by_the_command_line(models, tmp_path):
    """Of a signature of another function, even if it is `serving_default`, neither names nor numbers are taken."""
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs((models / "simple.tflite").read_bytes(), 0))
    other = copy.deepcopy(model.subgraphs[0])
    other.outputs = other.outputs[::-1]
    model.subgraphs.append(other)
    model.signatureDefs[0].subgraphIndex = 1
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    (tmp_path / "two.tflite").write_bytes(builder.Output())
    for name, array in (("a", A), ("b", B)):
        np.save(tmp_path / f"{name}.npy", array)
    subprocess.run(
        [os.environ["APUS"], "run", tmp_path / "two.tflite", "--input", tmp_path / "a.npy", "--input", tmp_path / "b.npy",
         "--output-dir", tmp_path], check=True, capture_output=True)
    with Server(tmp_path / "two.tflite") as server:
        inputs = [{"name": f"serving_default_{name}:0", "shape": [1, 16], "datatype": "INT32", "data": array.tolist()}
                  for name, array in (("a", A), ("b", B))]
        status, answer = server.json("/v2/models/two/infer", {"inputs": inputs})
        assert status == 200
        for position, output in enumerate(answer["outputs"]):
            assert output["name"] == f"StatefulPartitionedCall:{position}"
            assert output["data"] == np.load(tmp_path / f"output_{position}.npy").ravel().tolist()
        assert server.stop() == 0


def test_tensor_names_are_accepted_too(server):
    inputs = [{"name": f"serving_default_{name}:0", "shape": [1, 16], "datatype": "INT32", "data": [2] * 16}
              for name in ("a", "b")]
    status, answer = server.json(
        "/v2/models/simple/infer", {"inputs": inputs, "outputs": [{"name": "StatefulPartitionedCall:0"}]})
    assert status == 200 and answer["outputs"][0]["name"] == "StatefulPartitionedCall:0" and answer["outputs"][0]["data"] == [4] * 16


def test_empty_and_repeated_names_are_replaced(server):
    _, metadata = server.json("/v2/models/nameless")
    assert [tensor["name"] for tensor in metadata["inputs"]] == ["input_0", "same", "input_2"]
    assert [tensor["name"] for tensor in metadata["outputs"]] == ["output_0"]
    inputs = [{"name": name, "shape": [1, 2], "datatype": "INT32", "data": [number, number]}
              for name, number in (("input_0", 1), ("same", 10), ("input_2", 100))]
    assert server.json("/v2/models/nameless/infer", {"inputs": inputs})[1]["outputs"][0]["data"] == [111, 111]


def test_a_name_that_the_server_gives_is_no_other_tensors(server):
    """Inputs called `input_1`, nothing, nothing, `input_3`, `input_1`: each has a name of its own, and may be asked by it."""
    _, metadata = server.json("/v2/models/called_as_others")
    names = [tensor["name"] for tensor in metadata["inputs"]]
    assert names == ["input_1", "input_5", "input_2", "input_3", "input_4"]
    assert [tensor["name"] for tensor in metadata["outputs"]] == ["output_1", "output_2"]
    inputs = [{"name": name, "shape": [1, 2], "datatype": "INT32", "data": [number + 1, 9]} for number, name in enumerate(names)]
    status, answer = server.json("/v2/models/called_as_others/infer", {"inputs": inputs[::-1]})
    assert status == 200 and [output["data"] for output in answer["outputs"]] == [[54321, 99999]] * 2


def test_batching_models_say_so(client):
    metadata = client.get_model_metadata("simple_batch")
    assert [tensor["shape"] for tensor in metadata["inputs"] + metadata["outputs"]] == [[-1, 16]] * 4
    assert client.get_model_config("simple_batch")["max_batch_size"] == 8
    assert client.get_model_config("simple")["max_batch_size"] == 0


def test_versions(client):
    assert client.get_model_metadata("versioned")["versions"] == ["1", "2"]
    assert client.get_model_metadata("versioned")["inputs"][0]["datatype"] == "FP32"
    assert client.get_model_metadata("versioned", "1")["inputs"][0]["datatype"] == "INT32"
    assert client.get_model_metadata("labelled")["versions"] == ["3"]


@pytest.mark.parametrize("binary_in", [False, True])
@pytest.mark.parametrize("binary_out", [False, True])
@pytest.mark.parametrize("model", ["simple", "simple_batch"])
def test_sum_and_difference(client, model, binary_in, binary_out):
    outputs = [triton.InferRequestedOutput(f"OUTPUT{k}", binary_data=binary_out) for k in (0, 1)]
    result = client.infer(
        model, [infer_input("INPUT0", A, binary_in), infer_input("INPUT1", B, binary_in)], outputs=outputs,
        request_id="number 7")
    np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), A + B)
    np.testing.assert_array_equal(result.as_numpy("OUTPUT1"), A - B)
    assert result.get_response()["id"] == "number 7"


@pytest.mark.parametrize("rows", [1, 3, 8])
def test_client_batches(client, rows):
    first = np.arange(rows * 16, dtype=np.int32).reshape(rows, 16)
    result = client.infer("simple_batch", [infer_input("INPUT0", first), infer_input("INPUT1", first * 2)])
    np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), first * 3)


@pytest.mark.parametrize("algorithm", ["gzip", "deflate"])
def test_compressed_bodies(client, algorithm):
    result = client.infer(
        "simple", [infer_input("INPUT0", A), infer_input("INPUT1", B)], request_compression_algorithm=algorithm,
        response_compression_algorithm=algorithm)
    np.testing.assert_array_equal(result.as_numpy("OUTPUT1"), A - B)


def test_large_answers_are_compressed_on_request(server):
    values = np.zeros((1, 20_000), np.float32)
    request = {"inputs": [{"name": "x", "shape": [1, 20_000], "datatype": "FP32", "data": values[0].tolist()}]}
    for name, expand in (("gzip", gzip.decompress), ("deflate", zlib.decompress)):
        status, headers, text = server.request(
            "/v2/models/open_length/infer", request, headers={"Accept-Encoding": name})
        assert status == 200 and headers["Content-Encoding"] == name
        assert len(json.loads(expand(text))["outputs"][0]["data"]) == 20_000


def test_async_inference(client):
    tensors = [infer_input("INPUT0", A), infer_input("INPUT1", B)]
    for request in [client.async_infer("simple", tensors) for _ in range(32)]:
        np.testing.assert_array_equal(request.get_result().as_numpy("OUTPUT0"), A + B)


def test_nested_and_flat_data(server):
    flat = server.json("/v2/models/simple/infer", body())
    nested = server.json("/v2/models/simple/infer", body(data=[list(range(16))]))
    assert flat == nested and flat[0] == 200
    assert flat[1]["outputs"][0] == {
        "name": "OUTPUT0", "datatype": "INT32", "shape": [1, 16], "data": [value + 1 for value in range(16)]}
    assert "id" not in flat[1]


def test_outputs_in_the_order_asked_for(server):
    _, answer = server.json("/v2/models/simple/infer", body(outputs=[{"name": "OUTPUT1"}, {"name": "OUTPUT0"}]))
    assert [output["name"] for output in answer["outputs"]] == ["OUTPUT1", "OUTPUT0"]


def test_binary_output_by_default(server):
    status, headers, text = server.request(
        "/v2/models/simple/infer", body(parameters={"binary_data_output": True},
                                        outputs=[{"name": "OUTPUT0"},
                                                 {"name": "OUTPUT1", "parameters": {"binary_data": False}}]))
    length = int(headers["Inference-Header-Content-Length"])
    header = json.loads(text[:length])
    assert status == 200 and header["outputs"][0]["parameters"] == {"binary_data_size": 64}
    assert header["outputs"][1]["data"] == [value - 1 for value in range(16)]
    np.testing.assert_array_equal(np.frombuffer(text[length:], "<i4"), np.arange(16) + 1)


TYPES = {
    "bool": [True, False, True, False], "uint8": [0, 1, 254, 255], "uint16": [0, 1, 2, 65535],
    "uint32": [0, 1, 2, 2**32 - 1], "uint64": [0, 1, 2**63, 2**64 - 1], "int8": [-128, -1, 0, 127],
    "int16": [-32768, -1, 0, 32767], "int32": [-2**31, -1, 0, 2**31 - 1], "int64": [-2**63, -1, 0, 2**63 - 1],
    "float32": [0.1, -1e-45, 3.4028235e38, 16777217.0],
    "float64": [0.1, 5e-324, -1.7976931348623157e308, 9007199254740993.0]}


def types_request(binary):
    """All inputs of the model `types`; those without a form in JSON as bytes."""
    tail = b""
    inputs = []
    _names = {"bool": "BOOL", "float16": "FP16", "bfloat16": "BF16", "float32": "FP32", "float64": "FP64"}
    for name in ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16",
                 "bfloat16", "float32", "float64"]:
        tensor = {"name": f"in_{name}", "shape": [1, 4], "datatype": _names.get(name, name.upper())}
        if name in ("float16", "bfloat16"):
            data = struct.pack("<4H", 0x3C00, 0x7C00, 0x7E01, 0x8001)
        else:
            data = np.array(TYPES[name], name).tobytes()
        if binary or name not in TYPES:
            tensor["parameters"] = {"binary_data_size": len(data)}
            tail += data
        else:
            tensor["data"] = TYPES[name]
        inputs.append(tensor)
    return inputs, tail


@pytest.mark.parametrize("binary", [False, True])
def test_every_type_comes_back_exactly(server, binary):
    inputs, tail = types_request(binary)
    outputs = [{"name": tensor["name"].replace("in_", "out_"),
                "parameters": {"binary_data": binary or "float16" in tensor["name"]}} for tensor in inputs]
    header = json.dumps({"inputs": inputs, "outputs": outputs}).encode()
    status, headers, text = server.request(
        "/v2/models/types/infer", header + tail, headers={"Inference-Header-Content-Length": str(len(header))})
    assert status == 200, text
    length = int(headers["Inference-Header-Content-Length"])
    answer = json.loads(text[:length])
    place = length
    for tensor, name in zip(answer["outputs"], [t["name"][3:] for t in inputs]):
        if "data" in tensor:
            expected = np.array(TYPES[name], name)
            np.testing.assert_array_equal(np.array(tensor["data"], name), expected)
        else:
            size = tensor["parameters"]["binary_data_size"]
            found = text[place:place + size]
            place += size
            if name in TYPES:
                assert found == np.array(TYPES[name], name).tobytes()
            else:
                assert found == struct.pack("<4H", 0x3C00, 0x7C00, 0x7E01, 0x8001)
    assert place == len(text)


def test_half_precision_is_not_in_json(server):
    inputs, tail = types_request(True)
    header = json.dumps({"inputs": inputs, "outputs": [{"name": "out_float16"}]}).encode()
    status, answer = server.json(
        "/v2/models/types/infer", header + tail, headers={"Inference-Header-Content-Length": str(len(header))})
    assert status == 400 and "out_float16" in answer["error"] and "binary_data" in answer["error"]


def test_nan_and_infinity_are_null_in_json_and_exact_in_binary(server):
    values = [1.0, 0.0, -1.0, float(np.float32(np.e))]
    request = {"inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP32", "data": values}]}
    status, answer = server.json("/v2/models/logarithm/infer", request)
    data = answer["outputs"][0]["data"]
    assert status == 200 and data[0] == 0 and data[1] is None and data[2] is None and abs(data[3] - 1) < 1e-6
    request["parameters"] = {"binary_data_output": True}
    _, headers, text = server.request("/v2/models/logarithm/infer", request)
    found = np.frombuffer(text[int(headers["Inference-Header-Content-Length"]):], "<f4")
    assert found[1] == -np.inf and np.isnan(found[2])


def test_raw_requests(server):
    data = np.array([1, 2, 3], "<f4").tobytes()
    status, headers, text = server.request(
        "/v2/models/open_length/infer", data, headers={"Inference-Header-Content-Length": "0"})
    length = int(headers["Inference-Header-Content-Length"])
    assert status == 200 and json.loads(text[:length])["outputs"][0]["shape"] == [1, 3]
    np.testing.assert_array_equal(np.frombuffer(text[length:], "<f4"), [-1, -2, -3])
    status, answer = server.json("/v2/models/simple/infer", data, headers={"Inference-Header-Content-Length": "0"})
    assert status == 400 and answer["error"] == (
        "Raw request must only have 1 input (found 1) to be deduced but got 2 inputs in 'simple' model configuration")


def test_extensions_of_triton_that_are_absent_say_so(server, client):
    client.unregister_system_shared_memory()
    client.unregister_cuda_shared_memory("a")
    assert client.get_system_shared_memory_status() == [] and client.get_cuda_shared_memory_status() == []
    for register in (lambda: client.register_system_shared_memory("a", "/a", 64),
                     lambda: client.register_cuda_shared_memory("a", b"", 0, 64),
                     lambda: client.register_system_shared_memory("", "", 0)):
        with pytest.raises(InferenceServerException, match="shared memory is not supported|there is nothing") as error:
            register()
        assert error.value.status() in ("400", "404")
    tensor = triton.InferInput("INPUT0", [1, 16], "INT32")
    tensor.set_shared_memory("a", 64)
    with pytest.raises(InferenceServerException, match="shared memory is not supported"):
        client.infer("simple", [tensor, infer_input("INPUT1", B)])
    assert client.get_trace_settings() == {"trace_level": ["OFF"]} == client.update_trace_settings()
    status, headers, _ = server.request("/v2/trace/setting", method="OPTIONS")
    assert status == 405 and headers["Allow"] == "GET, HEAD, POST"
    assert client.get_trace_settings("simple") == {"trace_level": ["OFF"]} == client.update_trace_settings("simple")
    for name in (None, "simple"):
        with pytest.raises(InferenceServerException, match="traces are not supported"):
            client.update_trace_settings(name, settings={"trace_level": ["TIMESTAMPS"]})
    with pytest.raises(InferenceServerException, match="'nobody' is not found"):
        client.get_trace_settings("nobody")


def test_the_name_of_the_server_can_be_chosen(models):
    with Server(models / "simple.tflite", "--id", "triton") as server:
        assert server.json("/v2")[1]["name"] == "triton"
        assert server.stop() == 0


def test_classification(client):
    x = np.random.default_rng(1).standard_normal((2, 64)).astype(np.float32)
    plain = client.infer("labelled", [infer_input("x", x)]).as_numpy("y")
    for binary in (True, False):
        output = triton.InferRequestedOutput("y", binary_data=binary, class_count=3)
        found = client.infer("labelled", [infer_input("x", x)], outputs=[output]).as_numpy("y")
        assert found.shape == (2, 3)
        for row in range(2):
            best = np.argsort(-plain[row], kind="stable")[:3]
            expected = [f"{plain[row, k]:f}:{k}:class {k}" for k in best]
            assert [text if isinstance(text, str) else text.decode() for text in found[row]] == expected


def test_classes_of_one_number_for_each_item_are_those_of_the_item(tmp_path):
    graph = Graph()
    x, axis = graph.named_input("x", "float32", [-1, 4]), graph.constant(np.array([1], np.int32))
    graph.add("REDUCE_MAX", [x, axis], [graph.named_output("y", "float32", [-1])], schema.ReducerOptionsT())
    (tmp_path / "greatest.tflite").write_bytes(graph.bytes())
    with Server(tmp_path / "greatest.tflite") as server, triton.InferenceServerClient(f"127.0.0.1:{server.port}") as client:
        data = np.array([[1, 4, 2, 3], [8, 5, 6, 7], [0, 9, 0, 0]], np.float32)
        output = triton.InferRequestedOutput("y", class_count=1)
        found = client.infer("greatest", [infer_input("x", data)], outputs=[output]).as_numpy("y")
        assert found.tolist() == [[b"4.000000:0"], [b"8.000000:0"], [b"9.000000:0"]]
        assert server.stop() == 0


@pytest.mark.parametrize("path", ["/%EF%BB%BFv2/health/live", "/v2/%EF%BB%BFmodels/simple", "/v2/models/%EF%BB%BFsimple/ready",
                                  "/%EF%BB%BFmetrics", "/v2/models/simple/versions//ready"])
def test_what_stands_in_a_path_is_not_taken_away(server, path):
    assert server.json(path)[0] == 404
    assert server.json("/v2/models/simple/ready")[0] == 200


def test_keys_that_differ_only_in_how_they_are_composed_are_two(server):
    text = json.dumps(body(parameters={"caf\u00e9": 1, "cafe\u0301": 2}), ensure_ascii=False).encode()
    assert server.json("/v2/models/simple/infer", text)[0] == 200


def test_statistics_count_requests_and_runs(client):
    before = client.get_inference_statistics("identity")["model_stats"][0]
    data = np.arange(16, dtype=np.uint8).reshape(1, 16)
    for _ in range(5):
        client.infer("identity", [infer_input("INPUT0", data)])
    with pytest.raises(InferenceServerException):
        client.infer("identity", [infer_input("INPUT0", data[:, :3])])
    after = client.get_inference_statistics("identity")["model_stats"][0]
    assert after["inference_count"] - before["inference_count"] == 5
    assert after["execution_count"] - before["execution_count"] == 5
    assert after["inference_stats"]["success"]["count"] - before["inference_stats"]["success"]["count"] == 5
    assert after["inference_stats"]["fail"]["count"] - before["inference_stats"]["fail"]["count"] == 1
    for name in ("queue", "compute_input", "compute_infer", "compute_output"):
        assert after["inference_stats"][name]["count"] > before["inference_stats"][name]["count"]
    assert len(client.get_inference_statistics()["model_stats"]) == LISTED
    assert [counts["version"] for counts in client.get_inference_statistics("versioned")["model_stats"]] == ["1", "2"]
    assert [counts["version"] for counts in client.get_inference_statistics("versioned", "1")["model_stats"]] == ["1"]


def test_metrics_follow_the_statistics(server, client):
    text = server.request("/metrics")[2].decode()
    metrics = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    statistics = client.get_inference_statistics("identity")["model_stats"][0]
    label = '{model="identity",version="1"}'
    assert int(metrics["nv_inference_request_success" + label]) == statistics["inference_stats"]["success"]["count"]
    assert int(metrics["nv_inference_count" + label]) == statistics["inference_count"]
    assert int(metrics["nv_inference_exec_count" + label]) == statistics["execution_count"]
    assert int(metrics['nv_inference_request_failure{model="identity",version="1",reason="OTHER"}']) >= 1
    assert metrics["nv_inference_pending_request_count" + label] == "0"
    for name in ("request", "queue", "compute_input", "compute_infer", "compute_output"):
        assert int(metrics[f"nv_inference_{name}_duration_us{label}"]) >= 0
    bucket = 'nv_inference_first_response_histogram_ms_bucket{model="identity",version="1",le="+Inf"}'
    assert metrics[bucket] == metrics["nv_inference_request_success" + label]


def test_repository(server, client):
    index = {(entry["name"], entry["version"]): entry["state"] for entry in client.get_model_repository_index()}
    assert index[("simple", "1")] == "READY" and index[("versioned", "2")] == "READY" and len(index) == LISTED
    client.unload_model("simple")
    assert not client.is_model_ready("simple")
    with pytest.raises(InferenceServerException, match="not ready"):
        client.infer("simple", [infer_input("INPUT0", A), infer_input("INPUT1", B)])
    client.load_model("simple")
    assert client.is_model_ready("simple")
    for wrong in ("wrong_model_name", "../simple", "/etc/passwd", "labelled/3", "...", "..simple"):
        with pytest.raises(InferenceServerException, match="failed to load|there is nothing"):
            client.load_model(wrong)
    for wrong in ("..", " ..", "..%2Fsimple", "%2Fetc%2Fpasswd", "."):
        status, answer = server.json(f"/v2/repository/models/{wrong.replace(' ', '%20')}/load", b"")
        assert status == 400 and "must not contain path traversal characters" in answer["error"], answer
    status, answer = server.json("/v2/repository/models/%20%09/load", b"")
    assert status == 400 and "Model name cannot be empty" in answer["error"]


def test_loading_with_another_maximum_batch(client):
    client.load_model("simple_batch", config='{"max_batch_size": "16"}')
    assert client.get_model_config("simple_batch")["max_batch_size"] == 16
    rows = np.ones((16, 16), np.int32)
    client.infer("simple_batch", [infer_input("INPUT0", rows), infer_input("INPUT1", rows)])
    for wrong in ("{{", "5", '{"max_batch_size": 0}', '{"backend": "x"}'):
        with pytest.raises(InferenceServerException, match="failed to load 'simple_batch'"):
            client.load_model("simple_batch", config=wrong)
    client.load_model("simple_batch")
    assert client.get_model_config("simple_batch")["max_batch_size"] == 8


def test_loading_by_files_of_the_client_is_refused(client):
    with pytest.raises(InferenceServerException, match="failed to poll from model repository.*not supported"):
        client.load_model("simple", config="{}", files={"file:1/model.tflite": b"x"})


# One line for each mistake: the body, and what the error says of its place.
MISTAKES = [
    (b"", "line 1"),
    (b"{", "line 1, column 2"),
    (b'{"inputs": [}', "column 13"),
    (b"[]", "expected an object"),
    (b"null", "expected an object"),
    (b'{"inputs": []} x', "after the end"),
    (b'\xff\xfe', "malformed JSON"),
    (b"[" * 100_000, "expected an object"),
    (b'{"x":' + b"[" * 100_000, "JSON nesting depth exceeds maximum allowed limit (100)"),
    (b'{"inputs": 5}', "expected an array"),
    (b"{}", '"inputs"'),
    (b'{"inputs":[{"shape":[1,16],"datatype":"INT32","data":[1]}]}', "inputs[0]"),
    (body(name="nobody"), "inputs[0]: unexpected inference input 'nobody' for model 'simple', which has only: 'INPUT0', 'INPUT1'"),
    (body(datatype="INT31"), "inputs[0]"),
    (body(datatype="FP32"), "inputs[0] ('INPUT0'): inference input 'INPUT0' data-type is 'FP32', but model 'simple' expects 'INT32'"),
    (body(datatype="BYTES", data=["x"] * 16), "BYTES"),
    (body(shape=(1, 15)), "inputs[0]"),
    (body(shape=(16,)), "unexpected shape for input 'INPUT0' for model 'simple'. Expected [1,16], got [16]"),
    (body(shape=(2, 8)), "Expected [1,16], got [2,8]"),
    (body(shape=(1, -16)), "inputs[0]"),
    (body(shape=(2**40, 2**22)), "inputs[0] ('INPUT0'): byte size overflow for input 'INPUT0'"),
    (body(shape=(2**60, 2**60)), "causes total element count to exceed maximum size of 9223372036854775807"),
    (body(shape=(1099511627776, 4194304)), "inputs[0]"),
    (body(shape=(2**64, 16)), "malformed JSON"),
    (body(shape=(1.5, 16)), "1.5"),
    (body(shape=(1,) * 20), "dimensions"),
    (body(data=list(range(15))), "data has 15 elements, but the shape [1, 16] has 16"),
    (body(data=list(range(17))), "more than the 16 elements"),
    (body(data=["a"] * 16), "data element 0"),
    (body(data=[0] * 7 + ["a"] + [0] * 8), "data element 7"),
    (body(data=[0.5] * 16), "0.5"),
    (body(data=[2**31] * 16), "2147483648"),
    (body(data=[None] * 16), "data element 0"),
    (body(data=[True] * 16), "data element 0"),
    (body(data=5), "data is not an array"),
    (body(outputs=[{"name": "nobody"}]), "outputs[0] ('nobody')"),
    (body(outputs=[{"name": "OUTPUT0"}, {"name": "OUTPUT0"}]), "outputs[1] ('OUTPUT0'): output 'OUTPUT0' already exists in request"),
    (body(outputs=[{"name": "OUTPUT0", "parameters": {"classification": -1}}]), "classification"),
    (body(outputs=[{"name": "OUTPUT0", "parameters": {"binary_data": 3}}]), "binary_data"),
    (body(parameters={"priority": "high"}), "priority"),
    (body(parameters={"timeout": -5}), "timeout"),
    (body(id=7), "malformed JSON"),
    ({"inputs": body()["inputs"][:1]}, "expected 2 inputs but got 1 inputs for model 'simple'. Got input(s) ['INPUT0'], but "
     "missing required input(s) ['INPUT1']"),
    ({"inputs": body()["inputs"][:1] * 2}, "inputs[1]: input 'INPUT0' already exists in request"),
    (json.dumps(body()).replace("15]", "NaN]").encode(), "NaN"),
    (json.dumps(body()).replace("15]", "-Infinity]").encode(), "malformed JSON"),
    (json.dumps(body()).replace("15]", "015]").encode(), "malformed JSON"),
    (json.dumps(body()).replace("15]", "15,]").encode(), "malformed JSON"),
    (json.dumps(body()).replace('"inputs"', '"inputs": [], "inputs"').encode(), "repeated"),
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_mistakes_are_400_with_their_place(server, number):
    request, place = MISTAKES[number]
    status, answer = server.json("/v2/models/simple/infer", request)
    assert status == 400 and list(answer) == ["error"] and place in answer["error"], answer


def test_batches_are_checked(server):
    def rows(count, model, width=16):
        inputs = [{"name": f"INPUT{k}", "shape": [count, width], "datatype": "INT32", "data": [0] * count * width}
                  for k in (0, 1)]
        return server.json(f"/v2/models/{model}/infer", {"inputs": inputs})

    assert rows(8, "simple_batch")[0] == 200
    status, answer = rows(9, "simple_batch")
    assert status == 400 and "batch-size must be <= 8 for 'simple_batch'" in answer["error"]
    assert rows(0, "simple_batch")[0] == 400 and rows(2, "simple")[0] == 400
    inputs = [{"name": f"INPUT{k}", "shape": [k + 1, 16], "datatype": "INT32", "data": [0] * 16 * (k + 1)}
              for k in (0, 1)]
    status, answer = server.json("/v2/models/simple_batch/infer", {"inputs": inputs})
    assert status == 400 and "the batch is 2, but 1" in answer["error"]


@pytest.mark.parametrize("header", ["-1", "x", "99999999", "18446744073709551616", "1.5", "+5", "-0"])
def test_header_lengths_are_checked(server, header):
    status, answer = server.json(
        "/v2/models/simple/infer", body(), headers={"Inference-Header-Content-Length": header})
    assert status == 400 and "Inference-Header-Content-Length" in answer["error"]


@pytest.mark.parametrize("size,tail", [(64, 63), (63, 64), (1 << 62, 64), (-1, 64), (0, 64)])
def test_binary_sizes_are_checked(server, size, tail):
    request = body()
    del request["inputs"][0]["data"]
    request["inputs"][0]["parameters"] = {"binary_data_size": size}
    header = json.dumps(request).encode()
    status, answer = server.json(
        "/v2/models/simple/infer", header + bytes(tail),
        headers={"Inference-Header-Content-Length": str(len(header))})
    assert status == 400, answer


def test_unknown_models_and_paths(server):
    assert server.json("/v2/models/x/infer", body()) == (
        404, {"error": "Request for unknown model: 'x' is not found"})
    assert server.json("/v2/models/x") == (404, {"error": "Request for unknown model: 'x' is not found"})
    assert server.json("/v2/models/simple/versions/9/infer", body())[0] == 404
    for path in ("/v3", "/v2/model", "/v2/models/simple/versions", "/v2/models/simple/x", "/v1/nothing", "//"):
        assert server.request(path)[0] == 404, path


def test_methods(server):
    assert server.json("/v2/models/simple/infer")[0] == 405
    assert server.request("/v2/models/simple/infer")[1]["Allow"] == "POST"
    assert server.request("/v2", b"x")[1]["Allow"] == "GET, HEAD"
    for path in ("/v2", "/v2/health/live", "/v2/models/simple", "/metrics", "/"):
        assert server.request(path, b"x")[0] == 405, path
    status, headers, text = server.request("/v2", method="HEAD")
    assert status == 200 and int(headers["Content-Length"]) > 10 and text == b""


def test_encodings_and_bombs(server):
    text = json.dumps(body()).encode()
    path = "/v2/models/simple/infer"
    assert server.json(path, gzip.compress(text), headers={"Content-Encoding": "gzip"})[0] == 200
    assert server.json(path, zlib.compress(text), headers={"Content-Encoding": "deflate"})[0] == 200
    raw = zlib.compressobj(wbits=-15)
    assert server.json(path, raw.compress(text) + raw.flush(), headers={"Content-Encoding": "deflate"})[0] == 200
    assert server.json(path, text, headers={"Content-Encoding": "br"})[0] == 415
    assert server.json(path, text, headers={"Content-Encoding": "gzip"})[0] == 400
    assert server.json(path, gzip.compress(text)[:-9], headers={"Content-Encoding": "gzip"})[0] == 400
    bomb = gzip.compress(bytes(1 << 30), 9)
    status, answer = server.json(path, bomb, headers={"Content-Encoding": "gzip"})
    assert status == 413 and "after decompression" in answer["error"]
    assert server.rss() < 1 << 30


def test_large_bodies(server):
    status, answer = server.json("/v2/models/simple/infer", bytes((8 << 20) + 1))
    assert status == 413 and "8388608" in answer["error"]
    assert server.json("/v2/repository/index", bytes((1 << 20) + 1))[0] == 413


def test_a_body_said_to_be_endless_is_refused_at_once(server):
    import socket

    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(b"POST /v2/models/simple/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000\r\n\r\n{")
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 413 ") and b"8388608" in answer, answer


def test_priority_and_timeout_are_taken(client):
    tensors = [infer_input("INPUT0", A), infer_input("INPUT1", B)]
    result = client.infer("simple", tensors, priority=1, timeout=5_000_000)
    np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), A + B)


def test_kserve_client(server):
    """In a process of its own: kserve and tritonclient register messages of the same names."""
    import subprocess
    import sys
    from pathlib import Path

    subprocess.run([sys.executable, Path(__file__).parent / "kserve_client.py", server.http], check=True, timeout=120)


def test_a_request_of_too_many_tensors_is_refused(server):
    """Empty tensors of large shapes take neither time nor memory."""
    before = server.rss()
    tensor = {"name": "INPUT0", "datatype": "INT64", "shape": [65536, 16384], "data": []}
    for count in (1025, 60_000):
        status, answer = server.json("/v2/models/simple/infer", {"inputs": [tensor] * count})
        assert status == 400 and "more than 1024 inputs" in answer["error"], answer
    status, answer = server.json("/v2/models/simple/infer", {"inputs": [], "outputs": [{"name": "OUTPUT0"}] * 1025})
    assert status == 400 and "more than 1024 outputs" in answer["error"], answer
    assert server.rss() - before < 64 << 20
