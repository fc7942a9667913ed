# SPDX-License-Identifier: Apache-2.0
"""The inference protocol over gRPC, by Triton's client and by its messages."""

import json
import queue
import threading

import grpc
import numpy as np
import pytest
import tritonclient.grpc as triton
from make_models import LISTED
from server import Server
from tritonclient.grpc import service_pb2, service_pb2_grpc
from tritonclient.utils import InferenceServerException, np_to_triton_dtype

A = np.arange(16, dtype=np.int32).reshape(1, 16)
B = np.full((1, 16), -3, np.int32)


@pytest.fixture(scope="module")
def client(server):
    with triton.InferenceServerClient(server.grpc) as client:
        yield client


@pytest.fixture(scope="module")
def stub(server):
    with grpc.insecure_channel(server.grpc) as channel:
        yield service_pb2_grpc.GRPCInferenceServiceStub(channel)


def infer_input(name, array):
    tensor = triton.InferInput(name, list(array.shape), np_to_triton_dtype(array.dtype))
    tensor.set_data_from_numpy(array)
    return tensor


def pair(model="simple"):
    return [infer_input("INPUT0", A), infer_input("INPUT1", B)]


def test_health(client):
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("simple")
    assert client.is_model_ready("versioned", "2") and not client.is_model_ready("versioned", "3")
    assert not client.is_model_ready("nobody")


def test_metadata_and_configuration(client):
    assert client.get_server_metadata().name == "apus"
    metadata = client.get_model_metadata("simple_batch", as_json=True)
    assert metadata["inputs"][0] == {"name": "INPUT0", "datatype": "INT32", "shape": ["-1", "16"]}
    config = client.get_model_config("simple_batch").config
    assert config.max_batch_size == 8 and config.input[0].dims == [16] and config.input[0].data_type == 8
    assert config.backend == "apus" and config.instance_group[0].kind == 2


def test_unknown_models_by_name(client):
    with pytest.raises(InferenceServerException, match="Request for unknown model: 'wrong' is not found") as error:
        client.get_model_metadata("wrong")
    assert error.value.status() == "StatusCode.NOT_FOUND"


@pytest.mark.parametrize("model", ["simple", "simple_batch"])
@pytest.mark.parametrize("compression", [None, "gzip", "deflate"])
def test_sum_and_difference(client, model, compression):
    outputs = [triton.InferRequestedOutput(name) for name in ("OUTPUT1", "OUTPUT0")]
    result = client.infer(model, pair(), outputs=outputs, request_id="seven", compression_algorithm=compression)
    np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), A + B)
    np.testing.assert_array_equal(result.as_numpy("OUTPUT1"), A - B)
    response = result.get_response()
    assert response.id == "seven" and [output.name for output in response.outputs] == ["OUTPUT1", "OUTPUT0"]


def test_async_inference(client):
    results = queue.Queue()
    for _ in range(32):
        client.async_infer("simple", pair(), lambda result, error: results.put((result, error)))
    for _ in range(32):
        result, error = results.get(timeout=30)
        assert error is None
        np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), A + B)


def test_streams_answer_in_order_and_go_on_after_errors(server):
    results = queue.Queue()
    with triton.InferenceServerClient(server.grpc) as client:
        client.start_stream(lambda result, error: results.put((result, error)))
        for number in range(100):
            tensors = [infer_input("INPUT0", A + number), infer_input("INPUT1", B)]
            client.async_stream_infer("nobody" if number == 50 else "simple", tensors, request_id=str(number))
        for number in range(100):
            result, error = results.get(timeout=30)
            if number == 50:
                assert "unknown model" in str(error)
            else:
                assert result.get_response().id == str(number)
                np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), A + number + B)
        client.stop_stream()


FIELDS = {
    "bool": ("BOOL", "bool_contents"), "uint8": ("UINT8", "uint_contents"), "uint16": ("UINT16", "uint_contents"),
    "uint32": ("UINT32", "uint_contents"), "uint64": ("UINT64", "uint64_contents"),
    "int8": ("INT8", "int_contents"), "int16": ("INT16", "int_contents"), "int32": ("INT32", "int_contents"),
    "int64": ("INT64", "int64_contents"), "float16": ("FP16", None), "bfloat16": ("BF16", None),
    "float32": ("FP32", "fp32_contents"), "float64": ("FP64", "fp64_contents")}


def test_raw_contents_of_every_type(stub):
    request = service_pb2.ModelInferRequest(model_name="types")
    data = []
    for name, (datatype, _) in FIELDS.items():
        request.inputs.add(name=f"in_{name}", datatype=datatype, shape=[1, 4])
        size = 2 if "float16" in name else np.dtype(name).itemsize
        data.append(bytes(range(4 * size)) if name != "bool" else b"\1\0\1\0")
    request.raw_input_contents.extend(data)
    answer = stub.ModelInfer(request)
    assert list(answer.raw_output_contents) == data
    assert [output.datatype for output in answer.outputs] == [datatype for datatype, _ in FIELDS.values()]


def typed(name="simple", field="int_contents", values=tuple(range(16)), **more):
    request = service_pb2.ModelInferRequest(model_name=name)
    for position in (0, 1):
        tensor = request.inputs.add(name=f"INPUT{position}", datatype="INT32", shape=[1, 16])
        getattr(tensor.contents, field).extend(values)
    return request


def test_typed_contents(stub):
    answer = stub.ModelInfer(typed())
    np.testing.assert_array_equal(np.frombuffer(answer.raw_output_contents[0], "<i4"), np.arange(16) * 2)


def mistake(change):
    request = typed()
    change(request)
    return request


MISTAKES = [
    (lambda r: r.raw_input_contents.extend([bytes(64)] * 2), 
     "contents field must not be specified when using raw_input_contents for 'INPUT0' for model 'simple'"),
    (lambda r: (r.raw_input_contents.append(bytes(64)), [tensor.ClearField("contents") for tensor in r.inputs]),
     "1 raw_input_contents for 2 inputs"),
    (lambda r: setattr(r, "model_version", "-1"),
     "failed to get model version from specified version string '-1'"),
    (lambda r: r.inputs[0].contents.int64_contents.append(1), "INT32 is in int64_contents, not in int_contents"),
    (lambda r: r.inputs[0].contents.int_contents.append(1), "data has 17 elements, but the shape [1, 16] has 16"),
    (lambda r: r.inputs[0].shape.__setitem__(1, -16), "negative"),
    (lambda r: r.inputs[0].shape.__setitem__(slice(0, 2), [2**40, 2**22]), "inputs[0]"),
    (lambda r: r.inputs[0].shape.__setitem__(slice(0, 2), [2**62, 2**62]), "causes total element count to exceed maximum size of"),
    (lambda r: setattr(r.inputs[0], "name", "nobody"), "unexpected inference input 'nobody' for model 'simple'"),
    (lambda r: setattr(r.inputs[0], "datatype", "FP32"), "FP32"),
    (lambda r: setattr(r.inputs[0], "datatype", "FP16"), "FP16 has no typed contents"),
    (lambda r: setattr(r.inputs[0], "datatype", "x"), "there is no datatype 'x'"),
    (lambda r: r.outputs.add(name="nobody"), "outputs[0] ('nobody')"),
    (lambda r: [r.outputs.add(name="OUTPUT0") for _ in range(2)],
     "output 'OUTPUT0' already exists in request"),
    (lambda r: r.inputs.pop(), "missing required input(s) ['INPUT1']"),
    (lambda r: r.inputs.append(r.inputs[0]), "inputs[2]"),
    (lambda r: r.inputs[0].parameters["shared_memory_region"].MergeFrom(
        service_pb2.InferParameter(string_param="x")), "shared memory"),
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_mistakes_are_invalid_arguments(stub, number):
    change, place = MISTAKES[number]
    with pytest.raises(grpc.RpcError) as error:
        stub.ModelInfer(mistake(change))
    code = grpc.StatusCode.NOT_FOUND if "version" in place else grpc.StatusCode.INVALID_ARGUMENT
    assert error.value.code() == code and place in error.value.details()


def test_values_beyond_their_type(stub):
    request = service_pb2.ModelInferRequest(model_name="identity")
    tensor = request.inputs.add(name="INPUT0", datatype="UINT8", shape=[1, 16])
    tensor.contents.uint_contents.extend([255] * 15 + [256])
    with pytest.raises(grpc.RpcError) as error:
        stub.ModelInfer(request)
    assert "element 15 is 256" in error.value.details()


def test_large_messages_are_refused(stub):
    request = service_pb2.ModelInferRequest(model_name="simple")
    request.raw_input_contents.append(bytes((8 << 20) + 1))
    with pytest.raises(grpc.RpcError) as error:
        stub.ModelInfer(request)
    assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


def test_garbage_is_an_error(server):
    with grpc.insecure_channel(server.grpc) as channel:
        call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")
        for garbage in (b"\xff" * 100, b"\x0a\xff\xff\xff\xff\x0f", b"\x08" * 1000):
            with pytest.raises(grpc.RpcError):
                call(garbage)
        with pytest.raises(grpc.RpcError) as error:
            channel.unary_unary("/inference.GRPCInferenceService/Nothing")(b"")
        assert error.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_classification(client):
    x = np.random.default_rng(1).standard_normal((2, 64)).astype(np.float32)
    output = triton.InferRequestedOutput("y", class_count=2)
    found = client.infer("labelled", [infer_input("x", x)], outputs=[output]).as_numpy("y")
    plain = client.infer("labelled", [infer_input("x", x)]).as_numpy("y")
    for row in range(2):
        expected = [f"{plain[row, k]:f}:{k}:class {k}".encode() for k in np.argsort(-plain[row])[:2]]
        assert list(found[row]) == expected


def test_statistics(client):
    before = client.get_inference_statistics("simple").model_stats[0]
    client.infer("simple", pair())
    after = client.get_inference_statistics("simple").model_stats[0]
    assert after.inference_count == before.inference_count + 1
    assert after.inference_stats.success.ns > before.inference_stats.success.ns
    assert after.batch_stats[0].batch_size == 1
    assert len(client.get_inference_statistics().model_stats) == LISTED
    assert [counts.version for counts in client.get_inference_statistics("versioned").model_stats] == ["1", "2"]
    assert [counts.version for counts in client.get_inference_statistics("versioned", "1").model_stats] == ["1"]


def test_repository(client):
    states = {model.name: model.state for model in client.get_model_repository_index().models}
    assert states["simple"] == "READY"
    client.unload_model("simple")
    assert not client.is_model_ready("simple")
    client.load_model("simple")
    assert client.is_model_ready("simple")
    with pytest.raises(InferenceServerException, match="failed to load"):
        client.load_model("wrong_model_name")
    with pytest.raises(InferenceServerException, match="failed to poll from model repository") as error:
        client.load_model("simple", config="{}", files={"file:" + "A" * 256: b"a"})
    assert error.value.status() == "StatusCode.INTERNAL", "what Triton's own example expects"
    assert client.is_model_ready("simple")


def test_loading_needs_explicit_control(models):
    with Server(models / "simple.tflite") as server:
        with triton.InferenceServerClient(server.grpc) as client:
            with pytest.raises(InferenceServerException, match="explicit model load / unload is not allowed") as error:
                client.load_model("simple")
            assert error.value.status() == "StatusCode.UNAVAILABLE"
        assert server.stop() == 0


def test_methods_of_triton_that_are_absent_say_so(client):
    client.unregister_system_shared_memory()
    client.unregister_cuda_shared_memory()
    assert len(client.get_system_shared_memory_status().regions) == 0
    assert len(client.get_cuda_shared_memory_status().regions) == 0
    for register in (lambda: client.register_system_shared_memory("a", "/a", 64),
                     lambda: client.register_cuda_shared_memory("a", b"", 0, 64)):
        with pytest.raises(InferenceServerException, match="shared memory is not supported") as error:
            register()
        assert error.value.status() == "StatusCode.UNIMPLEMENTED"
    assert client.get_trace_settings().settings["trace_level"].value == client.update_trace_settings().settings["trace_level"].value == ["OFF"]
    with pytest.raises(InferenceServerException, match="is not found"):
        client.get_trace_settings(model_name="x" * 300)
    for name in (None, "simple"):
        with pytest.raises(InferenceServerException, match="traces are not supported"):
            client.update_trace_settings(model_name=name, settings={"trace_level": "TIMESTAMPS"})
    with pytest.raises(InferenceServerException, match="--log-level"):
        client.update_log_settings({"log_info": True})


def test_field_numbers_are_those_of_the_client():
    """Each message and field of ours has the number, type and label that Triton's client has."""
    import subprocess
    import tempfile
    from pathlib import Path

    from google.protobuf import descriptor_pb2

    proto = Path(__file__).resolve().parents[1] / "Proto"
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run(["protoc", "-I", proto, "inference.proto", "-o", file.name], check=True)
        ours = descriptor_pb2.FileDescriptorSet.FromString(Path(file.name).read_bytes()).file[0]
    from tritonclient.grpc import model_config_pb2

    theirs = {}
    for module in (service_pb2, model_config_pb2):
        description = descriptor_pb2.FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(description)
        theirs.update({message.name: message for message in description.message_type})
        theirs.update({enumeration.name: enumeration for enumeration in description.enum_type})
        for service in description.service:
            theirs[service.name] = service

    def compare(mine, other, place):
        fields = {field.name: field for field in other.field}
        for field in mine.field:
            peer = fields[field.name]
            assert (field.number, field.type, field.label, field.type_name) == (
                peer.number, peer.type, peer.label, peer.type_name), f"{place}.{field.name}"
        nested = {message.name: message for message in other.nested_type}
        for message in mine.nested_type:
            compare(message, nested[message.name], f"{place}.{message.name}")

    for message in ours.message_type:
        compare(message, theirs[message.name], message.name)
    numbers = {value.name: value.number for value in theirs["DataType"].value}
    assert {value.name: value.number for value in ours.enum_type[0].value} == numbers
    methods = {method.name: method for method in theirs["GRPCInferenceService"].method}
    for method in ours.service[0].method:
        peer = methods[method.name]
        assert (method.input_type, method.output_type, method.client_streaming, method.server_streaming) == (
            peer.input_type, peer.output_type, peer.client_streaming, peer.server_streaming)


def test_messages_that_grow_when_they_are_decoded_are_refused(models):
    """Fields of two bytes become structures, numbers of one byte eight: such a message costs its own bytes only."""
    def field(number, content):
        size, text = len(content), bytes([number << 3 | 2])
        while size > 127:
            text, size = text + bytes([size & 127 | 128]), size >> 7
        return text + bytes([size]) + content

    name = field(1, b"simple")
    bombs = [
        name + field(5, b"") * 4_000_000,  # inputs
        name + field(6, b"") * 4_000_000,  # outputs
        name + field(7, b"") * 4_000_000,  # raw contents
        name + field(4, field(2, b"")) * 2_000_000,  # parameters
        name + field(5, field(3, bytes(12_000_000))),  # a shape
        name + field(5, field(5, field(3, bytes(12_000_000)))),  # int64_contents
        name + field(5, field(5, field(8, b"") * 4_000_000)),  # bytes_contents
    ]
    with Server(models / "simple.tflite", "--max-body", 16 << 20) as server:
        with grpc.insecure_channel(server.grpc) as channel:
            ask = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")
            before = server.rss()
            for number, bomb in enumerate(bombs):
                with pytest.raises(grpc.RpcError) as error:
                    ask(bomb)
                assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED, (number, error.value)
            assert server.rss() - before < 200 << 20
            for number, what in ((5, "inputs"), (6, "outputs")):
                with pytest.raises(grpc.RpcError, match=f"more than 1024 {what}") as error:
                    ask(name + field(number, b"") * 1025)
                assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT
        assert server.stop() == 0


def test_streams_are_answered_whole_before_their_status(server):
    """Streams that come at once, with their end, from many connections: each request has its answer, in order."""
    wrong = []

    def ask():
        with grpc.insecure_channel(server.grpc) as channel:
            stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
            for _ in range(300):
                requests = []
                for number in range(5):
                    request = service_pb2.ModelInferRequest(model_name="simple", id=str(number))
                    for position in (0, 1):
                        request.inputs.add(name=f"INPUT{position}", datatype="INT32", shape=[1, 16])
                        request.raw_input_contents.append(bytes(64))
                    requests.append(request)
                ids = [answer.infer_response.id for answer in stub.ModelStreamInfer(iter(requests))]
                if ids != list("01234"):
                    wrong.append(ids)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong
