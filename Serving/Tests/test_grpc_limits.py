# SPDX-License-Identifier: Apache-2.0
"""Limits of gRPC: what breaks one ends its call with a status, and neither the connection nor the calls beside it."""

import gzip
import os
import socket
import struct
import threading
import time
import zlib
from pathlib import Path

import grpc
import h2.settings
import numpy as np
import pytest
from http2 import Connection, framed
from server import Server
from tritonclient.grpc import service_pb2, service_pb2_grpc

OK, INVALID, LATE, EXHAUSTED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE = 0, 3, 4, 8, 12, 13, 14
LIVE = "/inference.GRPCInferenceService/ServerLive"
STREAM = "/inference.GRPCInferenceService/ModelStreamInfer"


def simple(name="simple"):
    request = service_pb2.ModelInferRequest(model_name=name)
    for position in (0, 1):
        request.inputs.add(name=f"INPUT{position}", datatype="INT32", shape=[1, 16])
        request.raw_input_contents.append(np.arange(16, dtype="<i4").tobytes())
    return request.SerializeToString()


GOOD = framed(simple())


@pytest.fixture(scope="module")
def limited(models):
    with Server(models / "simple.tflite", models / "countdown.tflite", "--max-body", 1 << 20) as server:
        yield server
        assert server.process.poll() is None, "the server died"
        assert server.stop() == 0


@pytest.fixture
def connection(limited):
    with Connection(limited.grpc) as connection:
        yield connection
        # Whatever a call did, the connection goes on.
        assert not connection.is_closed and connection.goaway is None
        assert connection.call(GOOD).status == OK


@pytest.mark.parametrize("headers", [
    [("x", "y" * 20_000)], [("x", "y" * 100_000)], [(f"x-{number}", "y" * 100) for number in range(200)],
    [("x-bin", "eHh4" * 6_000)], [(f"x{number}", "") for number in range(600)], [("x", "y" * 2_000)] * 10])
def test_metadata_that_is_too_large_fails_its_call(connection, headers):
    beside = connection.open()
    for _ in range(3):
        call = connection.call(GOOD, headers)
        assert call.status == EXHAUSTED and "metadata" in call.message, (call.status, call.message)
    connection.send(beside, GOOD)
    assert connection.wait(beside).status == OK


def test_metadata_within_the_limit_is_taken(connection):
    assert connection.call(GOOD, [("x", "y" * 8_000), ("z", "y" * 4_000)]).status == OK


def test_clients_of_grpc_see_metadata_that_is_too_large_as_a_status(limited):
    with grpc.insecure_channel(limited.grpc) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        request = service_pb2.ModelInferRequest.FromString(simple())
        for _ in range(3):
            with pytest.raises(grpc.RpcError) as error:
                stub.ModelInfer(request, metadata=[("x", "y" * 20_000)])
            assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
            assert stub.ModelInfer(request).raw_output_contents


@pytest.mark.parametrize("size", [(3 << 20) + 1, 100 << 20, 2**31, 2**32 - 1])
@pytest.mark.parametrize("path", ["/inference.GRPCInferenceService/ModelInfer", STREAM, "/inference.GRPCInferenceService/ServerLive",
                                  "/inference.GRPCInferenceService/TraceSetting"])
def test_a_message_that_is_too_large_is_resource_exhausted(connection, size, path):
    number = connection.open(path)
    connection.send(number, struct.pack(">BI", 0, size) + bytes(1000), ended=False)
    call = connection.wait(number)
    assert call.status == EXHAUSTED and str(size) in call.message


def test_clients_of_grpc_see_a_message_that_is_too_large_as_a_status(limited):
    with grpc.insecure_channel(limited.grpc) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        for size in (1 << 20, 2 << 20, 4 << 20, 40 << 20):
            request = service_pb2.ModelInferRequest.FromString(simple())
            request.raw_input_contents.append(bytes(size))
            with pytest.raises(grpc.RpcError) as error:
                stub.ModelInfer(request)
            assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED, size


GZIP = [("grpc-encoding", "gzip")]
BROKEN = {
    "no message of protobuf": (framed(b"\xff" * 100), [], {INVALID, INTERNAL}),
    "a flag of 2": (b"\2" + GOOD[1:], [], {INVALID}),
    "a flag of 255": (b"\xff" + GOOD[1:], [], {INVALID}),
    "compressed without an encoding": (framed(gzip.compress(simple()), 1), [], {INVALID}),
    "compressed with another encoding": (framed(gzip.compress(simple()), 1), [("grpc-encoding", "identity")], {INVALID}),
    "no gzip": (framed(b"nonsense", 1), GZIP, {INTERNAL, INVALID, 2}),
    "broken gzip": (framed(gzip.compress(simple())[:-9] + b"x" * 9, 1), GZIP, {INTERNAL, INVALID, 2}),
    **{f"gzip that ends {count} bytes early": (framed(gzip.compress(simple())[:-count], 1), GZIP, {INVALID}) for count in (1, 4, 8, 30)},
    "no more than the head of gzip": (framed(gzip.compress(simple())[:10], 1), GZIP, {INVALID}),
    "nothing in place of gzip": (framed(b"", 1), GZIP, {INVALID}),
    "deflate that ends early": (framed(zlib.compress(simple())[:-4], 1), [("grpc-encoding", "deflate")], {INVALID}),
    "much gzip that ends early": (framed(gzip.compress(os.urandom(200_000))[:-9], 1), GZIP, {INVALID}),
    "something behind gzip": (framed(gzip.compress(simple()) + b"junk", 1), GZIP, {INVALID}),
    "a bomb of gzip": (framed(gzip.compress(bytes(64 << 20)), 1), GZIP, {EXHAUSTED}),
    "an unknown encoding": (framed(simple(), 1), [("grpc-encoding", "br")], {UNIMPLEMENTED}),
    "an end within the prefix": (GOOD[:3], [], {INVALID}),
    "an end within the message": (GOOD[:-3], [], {INVALID}),
    "two messages": (GOOD * 2, [], {INVALID, INTERNAL, UNIMPLEMENTED}),
    "no message": (b"", [], {INVALID, INTERNAL, UNIMPLEMENTED}),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_message_ends_its_call_alone(connection, name):
    text, headers, statuses = BROKEN[name]
    beside = connection.open()
    call = connection.call(text, headers)
    assert call.status in statuses, (call.status, call.message, call.reset)
    connection.send(beside, GOOD)
    assert connection.wait(beside).status == OK


@pytest.mark.parametrize("encoding, packed", [
    ("gzip", gzip.compress(simple())), ("gzip", gzip.compress(simple()[:20]) + gzip.compress(simple()[20:])),
    ("deflate", zlib.compress(simple()))])
def test_compressed_messages_are_read_whole_and_in_order(connection, encoding, packed):
    """Small ones, large ones that another thread expands, and plain ones between them."""
    headers = [("grpc-encoding", encoding)]
    assert connection.call(framed(packed, 1), headers).data == connection.call(GOOD).data
    pack = gzip.compress if encoding == "gzip" else zlib.compress
    ids = []
    number = connection.open(STREAM, headers)
    for turn in range(12):
        request = service_pb2.ModelInferRequest.FromString(simple())
        request.id = f"{turn} {os.urandom(10_000 if turn % 3 == 0 else 4).hex()}"
        ids.append(request.id)
        text = request.SerializeToString()
        connection.send(number, framed(text) if turn % 3 == 1 else framed(pack(text, 0 if turn % 3 == 0 else 9), 1), ended=False)
    connection.send(number, b"")
    call = connection.wait(number)
    found, data = [], call.data
    while data:
        size = struct.unpack(">I", data[1:5])[0]
        found.append(service_pb2.ModelStreamInferResponse.FromString(data[5:5 + size]).infer_response.id)
        data = data[5 + size:]
    assert call.status == OK and found == ids


def test_a_message_that_takes_long_to_expand_keeps_nobody_waiting(limited):
    """Ten calls of three compressed megabytes, which become nothing much, beside probes."""
    text = gzip.compress(os.urandom(3_000_000))
    with Connection(limited.grpc) as connection:
        for _ in range(10):
            number = connection.open(LIVE, GZIP)
            connection.send(number, framed(text, 1))
        assert limited.json("/v2/health/live")[0] == 200


def test_a_call_that_ends_with_its_headers_is_answered(connection):
    for path, status in [(LIVE, INVALID), ("/grpc.health.v1.Health/Check", INVALID), (STREAM, OK)]:
        call = connection.wait(connection.open(path, ended=True), 5)
        assert call.is_ended and call.status == status, (path, call.status, call.message)


def test_broken_messages_end_a_stream_after_its_answers(connection):
    number = connection.open(STREAM)
    connection.send(number, GOOD * 3 + framed(b"\xff" * 10))
    assert connection.wait(number).status not in (None, OK)


@pytest.mark.parametrize("timeout", ["99999999H", "99999999M", "99999999S", "9999999H", "99999999n", "1H", "00000010S"])
def test_long_deadlines_are_deadlines(connection, timeout):
    call = connection.call(GOOD, [("grpc-timeout", timeout)])
    assert call.status == OK, (call.status, call.message)


@pytest.mark.parametrize("timeout", ["0S", "0n", "0H", "00000000u"])
def test_a_deadline_of_nothing_has_passed(connection, timeout):
    assert connection.call(GOOD, [("grpc-timeout", timeout)]).status == LATE


@pytest.mark.parametrize("timeout", ["-1S", "-0S", "+1S", "1", "S", "", "1 S", "1s", "1.5S", "0x1S", "999999999S", "1e9S",
                                     "9" * 400 + "S", "９S", "١S", "1SS", "-99999999H"])
def test_a_malformed_deadline_is_an_invalid_argument(connection, timeout):
    if not timeout.isascii():
        timeout = timeout.encode()
    assert connection.call(GOOD, [("grpc-timeout", timeout)]).status == INVALID


def test_two_deadlines_are_an_invalid_argument(connection):
    assert connection.call(GOOD, [("grpc-timeout", "1S"), ("grpc-timeout", "2S")]).status == INVALID


def test_a_deadline_ends_a_run(connection, limited):
    request = service_pb2.ModelInferRequest(model_name="countdown")
    request.inputs.add(name="x", datatype="INT32", shape=[1])
    request.raw_input_contents.append(np.array([2_000_000_000], "<i4").tobytes())
    start = time.monotonic()
    call = connection.call(framed(request.SerializeToString()), [("grpc-timeout", "300m")])
    assert call.status == LATE and time.monotonic() - start < 5
    assert call.message == "the deadline of 300 ms passed"
    # The run has ended, too: another one has its turn at once.
    assert connection.call(GOOD).status == OK


def test_a_message_must_come_before_the_deadline(models):
    with Server(models / "simple.tflite", "--deadline", 1) as server, Connection(server.grpc) as connection:
        calls = [connection.open(), connection.open(), connection.open(STREAM)]
        connection.send(calls[1], GOOD[:10], ended=False)
        connection.send(calls[2], GOOD + GOOD[:10], ended=False)
        idle = connection.open(STREAM)
        start = time.monotonic()
        for number in calls:
            assert connection.wait(number, 10).status == LATE
        assert time.monotonic() - start < 5
        # A stream may wait for its next message as long as it likes.
        time.sleep(1.5)
        connection.send(idle, GOOD)
        assert connection.wait(idle).status == OK
        assert connection.call(GOOD).status == OK and connection.goaway is None


@pytest.mark.parametrize("path", ["/inference.GRPCInferenceService/ModelInfer", LIVE, "/inference.GRPCInferenceService/TraceSetting"])
def test_a_call_must_end_before_the_deadline(models, path):
    """What a call of one message has sent is held until the client ends the call."""
    with Server(models / "simple.tflite", "--deadline", 1) as server, Connection(server.grpc) as connection:
        number = connection.open(path)
        connection.send(number, GOOD, ended=False)
        call = connection.wait(number, 10)
        assert call.status == LATE and "ended the call" in call.message, (call.status, call.message)
        assert connection.call(GOOD).status == OK and connection.goaway is None


# ---- Memory of all messages together


@pytest.fixture(scope="module")
def wide(models):
    """A server whose messages have up to 17 MiB."""
    with Server(models / "simple.tflite", "--max-body", 8 << 20) as server:
        yield server
        assert server.process.poll() is None, "the server died"
        assert server.stop() == 0


def frame(kind, flags, stream, payload):
    """A frame of HTTP/2 as it is on the wire."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def varint(number):
    """The rest of a number of HPACK."""
    result = b""
    while number >= 128:
        result, number = result + bytes([number & 127 | 128]), number >> 7
    return result + bytes([number])


def unknown(size):
    """A message of one field that no message has."""
    return b"\x7a" + varint(size) + bytes(size)


BOMB = framed(gzip.compress(unknown(16 << 20)), 1)
GZIPPED = [("grpc-encoding", "gzip")]


def ended_calls(connection):
    """The calls that the server has ended, once there is one."""
    end = time.monotonic() + 40
    while not (ended := [call for call in connection.calls.values() if call.is_ended]) and time.monotonic() < end:
        connection.poll(0.2)
    return ended


def is_unharmed_by(server, before):
    """The memory is given back with the calls."""
    end = time.monotonic() + 20
    with Connection(server.grpc) as connection:
        while (call := connection.call(BOMB, GZIPPED, path=LIVE)).status != OK:
            assert time.monotonic() < end, (call.status, call.message)
    assert server.json("/v2/health/live")[0] == 200
    return True


def send_many(connection, number, size, sent):
    """Sends zeros behind a prefix, many frames at a time: h2 takes too long for each. `sent` is how many bytes went before."""
    part, windows = bytes([0, 64, 0, 0, 0]) + number.to_bytes(4, "big") + bytes(16_384), connection.h2
    done, end = 0, time.monotonic() + 20
    while done < size and not connection.calls[number].is_ended and not connection.is_closed and time.monotonic() < end:
        room = min(windows.outbound_flow_control_window - sent - done,
                   windows.streams[number].outbound_flow_control_window - done - 5, size - done, 1 << 20) >> 14
        connection.socket.settimeout(20)
        connection.socket.sendall(part * room)
        done += room << 14
        connection.poll(0 if room else 0.1)
    return done


def test_messages_that_do_not_become_whole_count(wide):
    """Seventy calls send 16 MiB each of messages of 17 MiB: more than all requests together may take."""
    before, sent = wide.rss(), 0
    with Connection(wide.grpc) as connection:
        for _ in range(70):
            number = connection.open(LIVE)
            connection.socket.settimeout(20)
            connection.socket.sendall(frame(0, 0, number, struct.pack(">BI", 0, 17 << 20)))
            sent += 5 + send_many(connection, number, 16 << 20, sent + 5)
        ended = ended_calls(connection)
        assert ended and all(call.status == UNAVAILABLE and "memory" in call.message for call in ended)
        assert wide.rss() - before < (1 << 30) + (256 << 20), wide.rss() - before
    assert is_unharmed_by(wide, before)


@pytest.mark.parametrize("method", ["ServerLive", "ModelMetadata", "ModelStatistics", "RepositoryIndex", "ModelInfer"])
def test_messages_of_calls_that_do_not_end_count(wide, method):
    """Eighty calls of any method send a message of 16 MiB in 16 KiB each, and do not end."""
    before = wide.rss()
    with Connection(wide.grpc) as connection:
        for _ in range(80):
            number = connection.open("/inference.GRPCInferenceService/" + method, GZIPPED)
            connection.send(number, BOMB, ended=False)
            connection.poll(0.02)
        ended = ended_calls(connection)
        assert ended and all(call.status == UNAVAILABLE and "memory" in call.message for call in ended)
        assert wide.rss() - before < (1 << 30) + (256 << 20), wide.rss() - before
    assert is_unharmed_by(wide, before)


def test_memory_of_messages_is_given_back(wide):
    """One after the other, more than all together may have."""
    with Connection(wide.grpc) as connection:
        for _ in range(80):
            assert connection.call(BOMB, GZIPPED, path=LIVE).status == OK
        number = connection.open(STREAM, GZIPPED)
        for _ in range(80):
            connection.send(number, BOMB, ended=False)
        connection.send(number, b"")
        assert connection.wait(number, 60).status == OK
    answers, data = 0, connection.calls[number].data
    while data:
        size = struct.unpack(">I", data[1:5])[0]
        answer = service_pb2.ModelStreamInferResponse.FromString(data[5:5 + size])
        assert "memory" not in answer.error_message
        answers, data = answers + 1, data[5 + size:]
    assert answers == 80


def test_an_answer_that_nobody_takes_ends_its_call(models):
    """Slow: answers may be taken for a minute before they are given up."""
    if not os.environ.get("APUS_SERVING_SLOW"):
        pytest.skip("APUS_SERVING_SLOW is not set")
    with Server(models / "simple.tflite") as server, Connection(server.grpc, window=10) as connection:
        number = connection.open()
        connection.send(number, GOOD)
        assert connection.wait(number, 90).reset is not None
        assert connection.goaway is None and not connection.is_closed


# ---- How many calls a connection may have


def test_clients_learn_how_many_calls_they_may_have(limited):
    with Connection(limited.grpc) as connection:
        settings = connection.h2.remote_settings
        assert settings.max_concurrent_streams == 256
        assert settings.max_header_list_size == 256 << 10 and settings.initial_window_size == 1 << 20


def test_more_calls_than_a_connection_may_have_wait_in_the_client(limited):
    """Three hundred streams of one client at a time: the connection goes on."""
    stop = threading.Event()

    def requests():
        yield service_pb2.ModelInferRequest.FromString(simple())
        stop.wait(60)

    with grpc.insecure_channel(limited.grpc) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        streams = [stub.ModelStreamInfer(requests()) for _ in range(300)]
        assert [len(next(stream).infer_response.raw_output_contents) for stream in streams[:200]] == [2] * 200
        stop.set()
        for stream in streams:
            assert all(not answer.error_message for answer in stream)
            assert stream.code() == grpc.StatusCode.OK


def test_texts_of_errors_do_not_fill_the_table_of_the_answers_headers(limited):
    """The client chooses how large the table of HPACK is that the server keeps for it."""
    with Connection(limited.grpc) as connection:
        connection.h2.update_settings({h2.settings.SettingCodes.HEADER_TABLE_SIZE: 2**31 - 1})
        connection.flush()
        connection.poll(0.2)
        connection.h2.decoder.max_allowed_table_size = 2**31 - 1
        for number in range(100):
            request = service_pb2.ModelInferRequest(model_name=f"{number}-" + "n" * 3_000)
            assert connection.call(framed(request.SerializeToString())).status == 5
        assert connection.h2.decoder.header_table._current_size < 10_000


# ---- Floods


def flooded(server, flood, count):
    """A connection that sends without reading, until the server ends it; whether it did."""
    with Connection(server.grpc) as connection:
        for number in range(count):
            flood(connection, number)
            if number % 50 == 0:
                connection.flush()
                connection.poll(0)
            if connection.is_closed or connection.goaway is not None:
                return True
        for _ in range(20):
            connection.poll(0.05)
        return connection.is_closed or connection.goaway is not None


def reset(connection, number):
    stream = connection.h2.get_next_available_stream_id()
    connection.h2.send_headers(stream, [(":method", "POST"), (":scheme", "http"), (":path", STREAM), (":authority", "x"),
                                        ("te", "trailers"), ("content-type", "application/grpc")])
    connection.h2.reset_stream(stream)


def test_rapid_resets_end_their_connection(limited):
    before = limited.rss()
    assert flooded(limited, reset, 3_000)
    with Connection(limited.grpc) as connection:
        assert connection.call(GOOD).status == OK
    assert limited.rss() - before < 64 << 20


def test_pings_are_bounded(limited):
    assert flooded(limited, lambda connection, _: connection.h2.ping(bytes(8)), 2_000)
    with Connection(limited.grpc) as connection:
        assert connection.call(GOOD).status == OK


def test_settings_and_empty_frames_leave_the_server_answering(limited):
    before = limited.rss()
    flooded(limited, lambda connection, number: connection.h2.update_settings({4: 65_535 + number % 2}), 2_000)

    def empty(connection, number):
        stream = connection.open(STREAM) if number == 0 else 1
        connection.h2.send_data(stream, b"")

    flooded(limited, empty, 5_000)
    with Connection(limited.grpc) as connection:
        assert connection.call(GOOD).status == OK
    assert limited.rss() - before < 64 << 20


def test_metadata_beyond_all_limits_ends_its_connection_and_no_other(limited):
    before = limited.rss()
    with Connection(limited.grpc) as beside:
        with Connection(limited.grpc) as connection:
            number = connection.open(headers=[("x", "y" * 1_000)] * 1_000)
            connection.send(number, GOOD)
            connection.wait(number, 5)
            assert connection.is_closed or connection.goaway is not None or connection.calls[number].status == EXHAUSTED
        assert beside.call(GOOD).status == OK
    assert limited.rss() - before < 64 << 20


HEADERS, PRIORITY, WINDOW_UPDATE, CONTINUATION = 1, 2, 8, 9


def send_frames(server, frames, count):
    """Sends frames as they are, until the server closes the connection or has had them all; whether it closed it."""
    with Connection(server.grpc) as connection:
        try:
            for number in range(count):
                connection.socket.sendall(frames(connection, number))
                if number % 20 == 0:
                    connection.poll(0)
                if connection.is_closed or connection.goaway is not None:
                    return True
        except OSError:
            return True
        for _ in range(20):
            connection.poll(0.05)
        return connection.is_closed or connection.goaway is not None


def head(connection):
    """The headers of a call, as the client's table has them."""
    return connection.h2.encoder.encode([(":method", "POST"), (":scheme", "http"), (":path", STREAM), (":authority", "x"), ("te", "trailers"),
                                         ("content-type", "application/grpc")])


def is_unharmed(server, before, most=64 << 20):
    with Connection(server.grpc) as connection:
        assert connection.call(GOOD).status == OK
    assert server.rss() - before < most, (before >> 20, server.rss() >> 20)
    return True


def test_a_call_of_frames_as_they_are_is_answered(limited):
    """What the floods below consist of is right but for their number."""
    with Connection(limited.grpc) as connection:
        data = head(connection)
        connection.socket.sendall(frame(HEADERS, 0, 1, data[:9]) + frame(CONTINUATION, 4, 1, data[9:]) + frame(WINDOW_UPDATE, 0, 1, b"\0\0\0\x01")
                                  + frame(PRIORITY, 0, 1, b"\0\0\0\0\x10") + frame(0x42, 0, 1, b"x") + frame(0, 1, 1, GOOD))
        answer, end = b"", time.monotonic() + 10
        while b"OUTPUT1" not in answer and time.monotonic() < end:
            answer += connection.socket.recv(65_536)
        assert b"OUTPUT1" in answer


@pytest.mark.parametrize("size", [0, 1, 1_000, 16_384])
def test_headers_without_an_end_end_their_connection(limited, size):
    """CONTINUATION after CONTINUATION, never the last one: empty, short and long ones."""
    before = limited.rss()
    # A field of HPACK whose value goes on.
    part = (b"\x00\x01x\x7f" + b"y" * size)[:size]

    def frames(connection, number):
        return frame(HEADERS, 0, 1, head(connection)) if number == 0 else frame(CONTINUATION, 0, 1, part) * 10

    assert send_frames(limited, frames, 3_000), "the connection goes on"
    assert is_unharmed(limited, before)


@pytest.mark.parametrize("value", [200, 3_900])
def test_a_field_that_is_repeated_from_the_table_is_counted_each_time(limited, value):
    """A bomb of HPACK: one long field goes into the table, a byte repeats it, 60,000 times in a call."""
    before = limited.rss()

    def frames(connection, number):
        block = head(connection) + b"\x40\x01x\x7f" + varint(value - 127) + b"y" * value + b"\xbe" * 16_000
        stream = 2 * number + 1
        return frame(HEADERS, 0, stream, block[:16_384]) + frame(CONTINUATION, 0, stream, b"\xbe" * 16_000) * 3 + frame(CONTINUATION, 4, stream, b"\xbe")

    send_frames(limited, frames, 50)
    assert is_unharmed(limited, before)


@pytest.mark.parametrize("provocation", ["a window of nothing", "a window too large", "a header after the end", "data after the end"])
def test_resets_that_the_client_provokes_are_bounded(limited, provocation):
    """"Made you reset": each call breaks a rule, so that the server resets it and it counts no more, but its work goes on."""
    before = limited.rss()

    def frames(connection, number):
        stream = 2 * number + 1
        # Without the table of HPACK, which a server may forget with a connection's end.
        opened = frame(HEADERS, 4 | ("after" in provocation), stream, head(connection))
        if provocation == "a window of nothing":
            return opened + frame(WINDOW_UPDATE, 0, stream, bytes(4))
        if provocation == "a window too large":
            return opened + frame(WINDOW_UPDATE, 0, stream, b"\x7f\xff\xff\xff")
        if provocation == "a header after the end":
            return opened + frame(HEADERS, 5, stream, connection.h2.encoder.encode([("x", "y")]))
        return opened + frame(0, 1, stream, b"abc")

    send_frames(limited, frames, 5_000)
    assert is_unharmed(limited, before)


@pytest.mark.parametrize("kind", [PRIORITY, WINDOW_UPDATE, 0x42])
def test_frames_that_say_nothing_are_bounded(limited, kind):
    """Priorities, windows and unknown frames, 200,000 of them."""
    before = limited.rss()
    payload = {PRIORITY: b"\0\0\0\0\x10", WINDOW_UPDATE: b"\0\0\0\x01", 0x42: b"x"}[kind]

    def frames(connection, number):
        return b"".join(frame(kind, 0, 0 if kind == WINDOW_UPDATE else 2 * (number * 100 + k) + 1, payload) for k in range(100))

    start = time.monotonic()
    send_frames(limited, frames, 2_000)
    assert time.monotonic() - start < 30 and is_unharmed(limited, before)


def anonymous_kib(server):
    lines = Path(f"/proc/{server.process.pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Anonymous:"))


def test_connections_leave_nothing_behind(models):
    with Server(models / "simple.tflite") as server:
        host, port = server.grpc.rsplit(":", 1)

        def some(count):
            for _ in range(count):
                with socket.create_connection((host, int(port)), timeout=20) as connection:
                    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + struct.pack(">HBBBI", 0, 0, 4, 0, 0))
                    connection.recv(4096)
            time.sleep(0.5)
            return anonymous_kib(server)

        before = some(500)
        grown = []
        for _ in range(6):
            after = some(500)
            grown.append(after - before)
            before = after
        # Memory grows in pages and by what threads keep, but 300 bytes a connection would be 150 KiB each time.
        assert sorted(grown)[1] < 75, grown


def test_a_connection_without_calls_ends(models):
    with Server(models / "simple.tflite", "--grpc-idle-time", "2") as server:
        with Connection(server.grpc) as connection:
            for _ in range(2):
                assert connection.call(GOOD).status == OK
                # Calls begin the time anew.
                time.sleep(1.2)
            end = time.monotonic() + 5
            while connection.goaway is None and not connection.is_closed and time.monotonic() < end:
                connection.poll(0.1)
            assert connection.goaway is not None or connection.is_closed
        # One that never says anything is closed, too.
        with socket.create_connection(server.grpc.rsplit(":", 1), timeout=20) as silent:
            while silent.recv(4096):
                pass


def test_a_call_keeps_its_connection(models):
    with Server(models / "simple.tflite", "--grpc-idle-time", "1") as server:
        with Connection(server.grpc) as connection:
            number = connection.open(STREAM)
            for _ in range(2):
                connection.send(number, GOOD, ended=False)
                end = time.monotonic() + 2
                while time.monotonic() < end:
                    connection.poll(0.1)
            assert connection.goaway is None and not connection.is_closed
