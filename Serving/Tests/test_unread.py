# SPDX-License-Identifier: Apache-2.0
"""Answers that clients do not take, or slowly, and messages that calls do not take: all of them count, and none is kept for good."""

import contextlib
import os
import select
import socket
import time

import pytest
from http2 import Connection, framed
from server import Server
from test_hostile import WIDE, filled, repeated
from test_http import Client, refused
from tritonclient.grpc import service_pb2

OK, UNAVAILABLE = 0, 14
STREAM = "/inference.GRPCInferenceService/ModelStreamInfer"
LIMIT, MESSAGE = 1 << 30, 64 << 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("unread")
    (folder / "wide.tflite").write_bytes(filled([WIDE]).bytes())
    (folder / "large.tflite").write_bytes(filled([20 << 20]).bytes())
    (folder / "echo.tflite").write_bytes(repeated(1, [1, 4]).bytes())
    return folder


@pytest.fixture
def server(folder):
    with Server("--model-repository", folder) as server:
        yield server
        assert server.process.poll() is None, "the server died"
        assert server.json("/v2/health/live")[0] == 200
        assert server.stop() == 0


def wide(model="wide"):
    """A request of some bytes for an answer of 171 MiB."""
    request = service_pb2.ModelInferRequest(model_name=model)
    request.inputs.add(name="x", datatype="INT8", shape=[])
    request.raw_input_contents.append(b"\3")
    return framed(request.SerializeToString())


def echo():
    request = service_pb2.ModelInferRequest(model_name="echo")
    request.inputs.add(name="x", datatype="FP32", shape=[1, 4])
    request.raw_input_contents.append(bytes(16))
    return framed(request.SerializeToString())


BINARY = b"POST /v2/models/wide/infer HTTP/1.1\r\nHost: x\r\nInference-Header-Content-Length: 0\r\nContent-Length: 1\r\n\r\n\3"


def unread(server, text):
    """A connection with a small window that sends and reads nothing."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    connection.settimeout(20)
    connection.connect(("127.0.0.1", server.port))
    connection.sendall(text)
    return connection


@contextlib.contextmanager
def filled_up(server, left):
    """Bodies on their way take all memory but `left` bytes. Yields what tells whether they still do: a late body ends."""
    clients = []

    def stands():
        return not select.select([client.socket for client in clients], [], [], 0)[0]

    with contextlib.ExitStack() as stack:
        for number in range(16):
            client = stack.enter_context(Client(server, 60))
            clients.append(client)
            size = MESSAGE - (left if number == 15 else 1)
            client.send(b"POST /v2/models/echo/infer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (64 << 20))
            part = bytes(1 << 20)
            while size:
                client.send(part[:size])
                size -= min(size, len(part))
        time.sleep(0.5)
        yield stands


def descriptors(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


# ---- Memory


def test_answers_over_http_count_until_they_are_taken(server):
    before, connections, status = server.rss(), [], 200
    while status == 200 and len(connections) < 12:
        connections.append(unread(server, BINARY))
        status = int(connections[-1].recv(12).split()[1])
    assert status == 503 and server.rss() - before < LIMIT + (1 << 30), server.rss() - before >> 20
    for connection in connections:
        connection.close()
    end = time.monotonic() + 20
    while server.request("/v2/models/wide/infer", b"\3", {"Inference-Header-Content-Length": "0"})[0] != 200:
        assert time.monotonic() < end, "the memory is not given back"
        time.sleep(0.5)


@pytest.mark.parametrize("path", ["/openapi.yaml", "/sample.jpg"])
def test_small_answers_that_are_not_taken_count_on_their_connection(server, path):
    """The answers that fit into nobody's buffers: where there is no memory for them, their connections are closed."""
    text = b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % path.encode()
    # More than the system takes for a connection.
    requests = text * (12_000_000 // len(server.request(path)[2]))
    # Where another program held the machine for so long that bodies ended, nothing was tried.
    for _ in range(3):
        with filled_up(server, 256 << 10) as stands:
            before = descriptors(server)
            connections = [unread(server, requests) for _ in range(12)]
            end = time.monotonic() + 10
            while (kept := descriptors(server) - before) > 6 and time.monotonic() < end:
                time.sleep(0.1)
            is_full = stands()
        for connection in connections:
            connection.close()
        if kept <= 6 or is_full:
            break
    assert kept <= 6, "answers that nobody takes do not count"
    assert server.request(path)[0] == 200


def test_answers_of_calls_count_until_they_are_taken(server):
    before = server.rss()
    with Connection(server.grpc, window=10) as connection:
        numbers = []
        for _ in range(12):
            numbers.append(connection.open())
            connection.send(numbers[-1], wide())
            connection.poll(0.5)
        end = time.monotonic() + 30
        while not (ended := [call for call in connection.calls.values() if call.is_ended]) and time.monotonic() < end:
            connection.poll(0.2)
        assert ended and all(call.status == UNAVAILABLE and "memory" in call.message for call in ended)
        assert server.rss() - before < LIMIT + (1280 << 20)
    is_given_back(server)


def test_answers_of_a_stream_count_until_they_are_taken(server):
    """A stream takes 64 requests ahead of its client; their answers take no more than all may."""
    before = server.rss()
    with Connection(server.grpc, window=10) as connection:
        connection.send(connection.open(STREAM), wide() * 16, ended=False)
        for _ in range(40):
            connection.poll(0.2)
        # Two runs at a time have what is not yet an answer, and one is written.
        assert server.rss() - before < LIMIT + (1280 << 20), server.rss() - before >> 20
    is_given_back(server)


def is_given_back(server):
    end = time.monotonic() + 20
    while True:
        with Connection(server.grpc) as connection:
            calls = [connection.open() for _ in range(4)]
            for number in calls:
                connection.send(number, wide("large"))
            if [connection.wait(number).status for number in calls] == [OK] * 4:
                return
        assert time.monotonic() < end, "the memory is not given back"


def test_calls_that_do_nothing_count(server):
    with filled_up(server, 1 << 20), Connection(server.grpc) as connection:
        for _ in range(64):
            connection.open(STREAM)
        for _ in range(5):
            connection.poll(0.1)
        ended = [call for call in connection.calls.values() if call.is_ended]
        assert 16 <= len(ended) < 64 and all(call.status == UNAVAILABLE for call in ended), len(ended)
        assert connection.goaway is None and not connection.is_closed


def test_messages_that_a_call_does_not_take_count(server):
    """A client that takes no answers goes on sending requests: HTTP/2 keeps them."""
    with filled_up(server, 24 << 20), Connection(server.grpc, window=10) as connection:
        for _ in range(20):
            connection.send(connection.open(STREAM), echo() * 2_000, ended=False)
            connection.poll(0.1)
        for _ in range(20):
            connection.poll(0.1)
        ended = [call for call in connection.calls.values() if call.is_ended]
        assert ended and all(call.status == UNAVAILABLE and "memory" in call.message for call in ended)
        assert connection.goaway is None and not connection.is_closed


def test_memory_of_many_requests_goes_back_to_the_system(server):
    """The allocator would keep it in its arenas."""
    before = server.rss()
    for _ in range(2):
        with filled_up(server, 1 << 20):
            assert server.rss() - before > 900 << 20
    end = time.monotonic() + 40
    while (more := server.rss() - before) > 160 << 20 and time.monotonic() < end:
        time.sleep(0.5)
    assert more <= 160 << 20, more >> 20


def test_heads_that_do_not_end_count(server):
    """Connections without a whole head have up to 80 KiB each."""
    with filled_up(server, 1 << 20), contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Client(server)) for _ in range(40)]
        for client in clients:
            client.send(b"GET /v2 HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 60_000)
        time.sleep(1)
        statuses = []
        for client in clients:
            client.socket.settimeout(0.1)
            with contextlib.suppress(TimeoutError):
                statuses.append(client.answer()[0])
        assert 20 <= len(statuses) < 40 and set(statuses) == {503}, statuses
        clients[0].socket.settimeout(20)
    with Client(server) as client:
        for _ in range(3):
            client.send(b"GET /v2 HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 60_000 + b"\r\n\r\n")
            assert client.answer()[0] == 200


# ---- Time


def take(connection, seconds):
    """Takes 200 kB a second for some time, then what is left as fast as it comes, to the end of the connection; how much it was."""
    end, size = time.monotonic() + seconds, 0
    connection.settimeout(5)
    while True:
        try:
            part = connection.recv(20_000 if time.monotonic() < end else 1 << 20)
        except OSError:
            part = b""
        if not part:
            return size
        size += len(part)
        if time.monotonic() < end:
            time.sleep(0.1)


def test_an_answer_over_http_must_be_taken_within_ten_times_the_deadline(folder):
    with Server("--model-repository", folder, "--deadline", 1) as server:
        large = BINARY.replace(b"wide", b"large")
        assert take(unread(server, large), 3) > 20 << 20
        assert take(unread(server, large), 12) < 20 << 20
        assert server.json("/v2/health/live")[0] == 200


def slow():
    if not os.environ.get("APUS_SERVING_SLOW"):
        pytest.skip("APUS_SERVING_SLOW is not set")


def test_a_message_must_be_taken_within_ten_times_the_deadline(folder):
    """Slow: it is looked at every half a minute."""
    slow()
    with Server("--model-repository", folder, "--deadline", 1) as server, Connection(server.grpc, window=65_535) as connection:
        connection.reads = False
        number = connection.open()
        connection.send(number, wide("large"))
        start, taken = time.monotonic(), 0
        while not connection.calls[number].is_ended and time.monotonic() - start < 70:
            connection.poll(0.2)
            size = min(len(connection.calls[number].data) - taken, 40_000)
            if size:
                connection.h2.acknowledge_received_data(size, number)
                connection.flush()
                taken += size
            time.sleep(0.2)
        assert connection.calls[number].reset is not None and time.monotonic() - start < 65
        assert connection.goaway is None and not connection.is_closed


def test_a_call_whose_answer_is_taken_steadily_goes_on(folder):
    """Slow: an answer of 20 MiB at 0.25 MB/s takes longer than the time over which rates are measured."""
    slow()
    with Server("--model-repository", folder) as server, Connection(server.grpc, window=65_535) as connection:
        connection.reads = False
        number = connection.open()
        connection.send(number, wide("large"))
        call = connection.calls[number]
        start, size = time.monotonic(), 0
        while not call.is_ended and time.monotonic() - start < 120:
            connection.poll(0.2)
            taken, call.data = len(call.data), b""
            size += taken
            if taken:
                connection.h2.acknowledge_received_data(taken, number)
                connection.flush()
            time.sleep(taken / 250_000)
        assert call.status == OK and size > 20 << 20, (call.status, call.reset, size, time.monotonic() - start)
        assert time.monotonic() - start > 65
