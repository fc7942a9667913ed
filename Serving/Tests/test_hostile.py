# SPDX-License-Identifier: Apache-2.0
"""Models and clients that mean harm: the server goes on, in bounded time and memory."""

import concurrent.futures
import json
import queue
import socket
import time

import grpc
import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from make_models import Graph
from server import Server
from tritonclient.grpc import service_pb2, service_pb2_grpc

WIDE = 178_956_971
SIMPLE = {"inputs": [{"name": f"INPUT{k}", "shape": [1, 16], "datatype": "INT32", "data": [1] * 16} for k in (0, 1)]}


def filled(shape):
    """An output of any shape, all of one value: the input's."""
    graph = Graph()
    value = graph.named_input("x", "int8", [])
    dimensions = graph.constant(np.array(shape, np.int32))
    graph.add("FILL", [dimensions, value], [graph.named_output("y", "int8", shape)], schema.FillOptionsT())
    return graph


def repeated(count, shape, name="y"):
    """One output, listed many times."""
    graph = Graph()
    output = graph.named_output(name, "float32", shape)
    graph.add("NEG", [graph.named_input("x", "float32", shape)], [output], schema.NegOptionsT())
    for _ in range(count - 1):
        graph.result(output)
    return graph


def reshaped(shape):
    """Elements as they come, with an open batch."""
    graph = Graph()
    target = graph.constant(np.array(shape, np.int32))
    graph.add("RESHAPE", [graph.named_input("x", "int8", shape), target], [graph.named_output("y", "int8", shape)],
              schema.ReshapeOptionsT())
    return graph


@pytest.fixture(scope="module")
def hostile(models, tmp_path_factory):
    """A server of models whose outputs are larger than anybody could want."""
    folder = tmp_path_factory.mktemp("hostile")
    graphs = {"wide": filled([WIDE]), "empty": filled([2**31 - 1, 0]), "listed": repeated(1_000, [1024, 1024]),
              "crowd": repeated(200_000, [1, 4], ""), "giant": reshaped([-1, 300_000_000]),
              "echo": repeated(1, [1, 65_536])}
    for name, graph in graphs.items():
        (folder / f"{name}.tflite").write_bytes(graph.bytes())
    (folder / "simple.tflite").write_bytes((models / "simple.tflite").read_bytes())
    start = time.monotonic()
    with Server("--model-repository", folder, "--model-control", "explicit", "--max-body", 64 << 20) as server:
        assert time.monotonic() - start < 30
        assert server.rss() < 1 << 30, "trials of batches take memory"
        yield server
        assert server.process.poll() is None, "the server died"
        assert server.json("/v2/models/simple/infer", SIMPLE)[0] == 200
        assert server.stop() == 0


def ask(server, model, **output):
    """Asks for an output of a model whose input is one byte."""
    request = {"inputs": [{"name": "x", "shape": [], "datatype": "INT8", "data": [3]}], "outputs": [{"name": "y", **output}]}
    return server.json(f"/v2/models/{model}/infer", request)


@pytest.mark.parametrize("parameters", [{}, {"classification": 1}, {"classification": WIDE}])
def test_outputs_too_large_for_text_are_refused(hostile, parameters):
    status, answer = ask(hostile, "wide", parameters=parameters)
    assert status == 413 and "would be written as text" in answer["error"], answer


def test_classes_of_empty_rows_take_no_time(hostile):
    start = time.monotonic()
    status, answer = ask(hostile, "empty", parameters={"classification": 1})
    assert status == 200 and answer["outputs"][0]["data"] == [] and time.monotonic() - start < 5


def test_a_tensor_that_is_listed_often_is_copied_once_and_on_request(hostile):
    before = hostile.rss()
    header = json.dumps({"inputs": [{"name": "x", "shape": [1024, 1024], "datatype": "FP32",
                                     "parameters": {"binary_data_size": 4 << 20}}],
                         "parameters": {"binary_data_output": True}}).encode()
    path, headers = "/v2/models/listed/infer", {"Inference-Header-Content-Length": str(len(header))}
    status, _, text = hostile.request(path, header + bytes(4 << 20), headers)
    assert status == 413 and b"the outputs take 4194304000 bytes" in text
    header = header[:-1] + b', "outputs": [{"name": "output_7"}, {"name": "output_9"}]}'
    headers = {"Inference-Header-Content-Length": str(len(header))}
    status, _, text = hostile.request(path, header + bytes(4 << 20), headers)
    assert status == 200 and text.endswith(b"\0\0\0\x80" * 64) and len(text) > 8 << 20
    assert hostile.rss() - before < 256 << 20


def test_models_with_more_outputs_than_requests_may_name_are_not_served(hostile):
    index = {entry["name"]: entry for entry in hostile.json("/v2/repository/index", b"")[1]}
    assert "200000 outputs, more than 1024" in index["crowd"]["reason"]
    assert index["giant"]["state"] == "READY"


def strings(count):
    return (b'{"inputs":[{"name":"INPUT0","datatype":"BYTES","shape":[%d],"data":[' % count
            + b",".join([b'"a"'] * count) + b"]}]}")


def keys(count):
    return b"{" + b",".join(b'"%x":1' % number for number in range(count)) + b"}"


@pytest.mark.parametrize("body,place", [
    (strings(5_000_000), "BYTES have more than 1024 elements"),
    (b'{"parameters":' + keys(2_000_000) + b"}", "more than 64 parameters"),
    (b'{"inputs":[{"name":"INPUT0","parameters":' + keys(100) + b"}]}", "more than 64 parameters"),
    (b'{"anything":' + keys(2_000_000) + b"}", "more than 1024 keys"),
    (b'{"inputs":[{"name":"' + b"n" * (30 << 20) + b'","datatype":"INT32","shape":[0],"data":[]}]}', "nnn…"),
])
def test_text_takes_no_more_than_a_few_times_its_size(hostile, body, place):
    before = hostile.rss()
    status, answer = hostile.json("/v2/models/simple/infer", body)
    assert status == 400 and place in answer["error"] and len(answer["error"]) < 5_000
    assert hostile.rss() - before < 256 << 20


def test_a_tensor_of_empty_pictures_is_refused_at_the_first_too_many():
    header = json.dumps({"inputs": [{"name": "normalized_input_image_tensor", "shape": [1], "datatype": "BYTES",
                                     "parameters": {"binary_data_size": 32 << 20}}]}).encode()
    with Server() as server:
        before = server.rss()
        status, answer = server.json("/v2/models/shapes/infer", header + bytes(32 << 20),
                                     headers={"Inference-Header-Content-Length": str(len(header))})
        assert status == 400 and "more than 1 elements" in answer["error"]
        assert server.rss() - before < 128 << 20


def test_a_body_must_come_before_the_deadline(models):
    with Server(models / "simple.tflite", "--deadline", 0.5) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
            connection.sendall(b"POST /v2/models/simple/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
            time.sleep(1)
            connection.sendall(b" ")
            connection.sendall(b" " * 998)
            assert connection.recv(4096).startswith(b"HTTP/1.1 504 ")


def test_loads_beyond_some_that_wait_are_503(hostile):
    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        loads = pool.map(lambda _: hostile.request("/v2/repository/models/giant/load", b"")[0], range(64))
        assert {200} <= set(loads) <= {200, 503}


def test_requests_for_text_are_joined_where_each_is_within_the_limit(tmp_path):
    """Eight requests of 2.2 million elements each: together more than one may ask for."""
    (tmp_path / "joined.tflite").write_bytes(reshaped([-1, 2_200_000]).bytes())
    header = json.dumps({"inputs": [{"name": "x", "shape": [1, 2_200_000], "datatype": "INT8",
                                     "parameters": {"binary_data_size": 2_200_000}}]}).encode()
    headers = {"Inference-Header-Content-Length": str(len(header))}
    with Server("--model-repository", tmp_path, "--instances", 1, "--queue-delay", 2_000_000) as server:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = pool.map(lambda number: server.json("/v2/models/joined/infer", header + bytes([number]) * 2_200_000,
                                                          headers=headers), range(8))
            for number, (status, answer) in enumerate(answers):
                assert status == 200 and set(answer["outputs"][0]["data"]) == {number}
        assert server.json("/v2/models/joined/stats")[1]["model_stats"][0]["execution_count"] == 1


def message(number, content):
    """A field of a protobuf message."""
    size, text = len(content), bytes([number << 3 | 2])
    while size > 127:
        text, size = text + bytes([size & 127 | 128]), size >> 7
    return text + bytes([size]) + content


def test_names_of_clients_come_back_as_their_beginnings(hostile):
    with grpc.insecure_channel(hostile.grpc) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        with pytest.raises(grpc.RpcError) as error:
            stub.ModelMetadata(service_pb2.ModelMetadataRequest(name="n" * 1_000_000))
        assert error.value.code() == grpc.StatusCode.NOT_FOUND and len(error.value.details()) < 5_000


def test_parameters_of_loads_that_grow_when_they_are_decoded_are_refused(hostile):
    bomb = b"".join(message(3, message(1, b"%x" % number)) for number in range(1_000_000))
    before = hostile.rss()
    with grpc.insecure_channel(hostile.grpc) as channel:
        for method in ("RepositoryModelLoad", "RepositoryModelUnload"):
            with pytest.raises(grpc.RpcError) as error:
                channel.unary_unary(f"/inference.GRPCInferenceService/{method}")(bomb)
            assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert hostile.rss() - before < 256 << 20


def test_answers_that_nobody_reads_hold_up_their_stream(hostile):
    stop = queue.Queue()

    def requests():
        for number in range(400):
            request = service_pb2.ModelInferRequest(model_name="echo", id=str(number))
            request.inputs.add(name="x", datatype="FP32", shape=[1, 65_536])
            request.raw_input_contents.append(bytes(4 * 65_536))
            yield request
        stop.get()

    with grpc.insecure_channel(hostile.grpc) as channel:
        answers = service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelStreamInfer(requests())
        assert next(answers).infer_response.id == "0"
        time.sleep(3)
        runs = hostile.json("/v2/models/echo/stats")[1]["model_stats"][0]["execution_count"]
        assert 1 <= runs < 200, runs
        for number in range(1, 400):
            assert next(answers).infer_response.id == str(number)
        stop.put(None)


def heavy(request):
    """A message that counts 120 MiB of memory: the value of a parameter, 245,000 times."""
    return request.SerializeToString() + message(4, message(1, b"p") + message(2, b"") * 245_000)


def heavy_stream(channel, requests):
    return channel.stream_stream("/inference.GRPCInferenceService/ModelStreamInfer",
                                 response_deserializer=service_pb2.ModelStreamInferResponse.FromString)(requests)


def test_requests_beyond_the_memory_of_all_are_answered_in_their_stream(models):
    def requests():
        for number in range(40):
            request = service_pb2.ModelInferRequest(model_name="slow", id=str(number))
            request.inputs.add(name="x", datatype="FP32", shape=[1, 768, 768])
            request.raw_input_contents.append(bytes(4 * 768 * 768))
            yield heavy(request)

    with Server("--model-repository", models, "--instances", 1, "--max-body", 64 << 20) as server:
        with grpc.insecure_channel(server.grpc) as channel:
            answers = list(heavy_stream(channel, requests()))
        refused = [answer.error_message for answer in answers if answer.error_message]
        ids = [answer.infer_response.id for answer in answers if not answer.error_message]
        assert len(answers) == 40 and 0 < len(refused) < 33
        assert all("try again later" in text for text in refused) and ids == sorted(ids, key=int)
        assert server.json("/v2/models/slow/stats")[1]["model_stats"][0]["inference_count"] == len(ids)


def test_answers_that_nobody_reads_take_no_memory_from_others(hostile):
    stop = queue.Queue()
    request = service_pb2.ModelInferRequest(model_name="echo")
    request.inputs.add(name="x", datatype="FP32", shape=[1, 65_536])
    request.raw_input_contents.append(bytes(4 * 65_536))
    text = heavy(request)

    def requests():
        yield from [text] * 120
        stop.get()

    with grpc.insecure_channel(hostile.grpc) as channel, grpc.insecure_channel(hostile.grpc) as other:
        answers = heavy_stream(channel, requests())
        next(answers)
        time.sleep(4)
        infer = other.unary_unary("/inference.GRPCInferenceService/ModelInfer")
        for _ in range(8):
            infer(text, timeout=10)
        answers.cancel()
        stop.put(None)
