# SPDX-License-Identifier: Apache-2.0
"""HTTP/1 as strangers speak it, over plain sockets: half-closed, of version 1.0, slow, ambiguous, compressed in odd ways.

What is right stands in RFC 9110 and RFC 9112.
"""

import gzip
import io
import json
import os
import socket
import struct
import time
import zlib

import pytest
from server import Server

SIMPLE = json.dumps({"inputs": [{"name": f"INPUT{k}", "shape": [1, 16], "datatype": "INT32", "data": list(range(16))}
                                for k in (0, 1)]}).encode()
PATH = "/v2/models/simple/infer"


@pytest.fixture(scope="module")
def plain(models, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokens")
    (folder / "tokens").write_text("secret\n")
    with Server(models / "simple.tflite", models / "identity.tflite", "--token-file", folder / "tokens", "--max-body",
                4 << 20, "--deadline", 20) as server:
        yield server
        assert server.process.poll() is None, "the server died"
        assert server.stop() == 0


@pytest.fixture(scope="module")
def hasty(models):
    """A server whose requests have a second."""
    with Server(models / "simple.tflite", "--model-control", "explicit", "--deadline", 1) as server:
        yield server
        assert server.stop() == 0


def request(body=SIMPLE, *headers, path=PATH, method="POST", version="1.1", host="Host: x", token=True, length=True):
    lines = [f"{method} {path} HTTP/{version}"] + ([host] if host else []) + list(headers)
    if token:
        lines.append("Authorization: Bearer secret")
    if length:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Client:
    """A socket with what came in on it."""

    def __init__(self, server, timeout=20):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def send(self, data):
        self.socket.sendall(data)
        return self

    def answer(self, head=False):
        """The next answer: its status, headers and body."""
        line = self.file.readline()
        if not line:
            return None
        status, headers = int(line.split()[1]), {}
        while (field := self.file.readline()) not in (b"\r\n", b""):
            name, _, value = field.decode().partition(":")
            headers[name.lower()] = value.strip()
        if status < 200:
            return status, headers, b""
        return status, headers, b"" if head else self.file.read(int(headers.get("content-length", 0)))

    def is_ended(self, within=5):
        """Whether the server closes its side, without a reset."""
        self.socket.settimeout(within)
        return self.file.read(1) == b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()


def refused(answer, *statuses):
    """An answer that says in JSON what was wrong."""
    assert answer and answer[0] in statuses, answer
    assert answer[1]["content-type"] == "application/json" and json.loads(answer[2])["error"], answer
    return True


# ---- Half-closed clients, and those that are gone


@pytest.mark.parametrize("path,body", [(PATH, SIMPLE), ("/v2", b""), ("/metrics", b""), ("/v2/repository/index", b"{}")])
def test_a_client_that_closes_its_sending_side_gets_its_answer(plain, path, body):
    method = "POST" if body else "GET"
    for _ in range(20):
        with Client(plain) as client:
            client.send(request(body, path=path, method=method))
            client.socket.shutdown(socket.SHUT_WR)
            assert client.answer()[0] == 200 and client.is_ended()


def test_a_half_closed_client_gets_the_answers_of_all_its_requests(plain):
    with Client(plain) as client:
        client.send(request() * 5)
        client.socket.shutdown(socket.SHUT_WR)
        assert [client.answer()[0] for _ in range(5)] == [200] * 5 and client.is_ended()


def test_a_half_closed_client_gets_all_of_a_large_answer(models):
    with Server("--model-repository", models) as server:
        with Client(server) as client:
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
            client.send(request(b"", path="/sample.jpg", method="GET") * 40)
            client.socket.shutdown(socket.SHUT_WR)
            time.sleep(0.5)
            sizes = {len(client.answer()[2]) for _ in range(40)}
            assert len(sizes) == 1 and sizes.pop() > 10_000 and client.is_ended()


def test_a_request_that_ends_early_is_refused(plain):
    with Client(plain) as client:
        client.send(request()[:-10])
        client.socket.shutdown(socket.SHUT_WR)
        assert refused(client.answer(), 400) and client.is_ended()


# ---- HTTP/1.0, and when connections end


@pytest.mark.parametrize("host", ["Host: x", None])
def test_a_request_of_version_1_0_is_answered_and_the_connection_closed(plain, host):
    with Client(plain) as client:
        status, headers, _ = client.send(request(version="1.0", host=host)).answer()
        assert (status, headers["connection"]) == (200, "close") and client.is_ended(2)


def test_a_client_of_version_1_0_may_ask_to_keep_the_connection(plain):
    with Client(plain) as client:
        for _ in range(3):
            status, headers, _ = client.send(request(SIMPLE, "Connection: Keep-Alive", version="1.0")).answer()
            assert (status, headers["connection"]) == (200, "keep-alive")


@pytest.mark.parametrize("value", ["close", "Close", "CLOSE", "keep-alive, close", "TE,close"])
def test_a_client_may_ask_to_close_the_connection_in_any_way(plain, value):
    with Client(plain) as client:
        status, headers, _ = client.send(request(SIMPLE, f"Connection: {value}")).answer()
        assert (status, headers["connection"]) == (200, "close") and client.is_ended(2)


@pytest.mark.parametrize("more", [dict(), dict(method="GET", path="/v2")])
def test_a_client_that_offers_another_protocol_is_answered_and_the_connection_closed(plain, more):
    """Java's client offers HTTP/2 in its first request."""
    with Client(plain) as client:
        client.send(request(SIMPLE, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAEAAEAAAAIAAAAB", **more))
        answer = client.answer()
        assert answer[0] == 200 and answer[1]["connection"] == "close" and client.is_ended(2)


def test_a_tunnel_is_refused_and_the_connection_closed(plain):
    with Client(plain) as client:
        assert refused(client.send(request(b"", method="CONNECT", path="x:80", length=False)).answer(), 405, 404)
        assert client.is_ended(2)


def test_blanks_around_values_are_no_part_of_them(plain):
    text = request(SIMPLE, "Accept-Encoding: \t gzip;q=0 \t", host="Host:  \t x:80 \t ").replace(b"Length: ", b"Length: \t")
    with Client(plain) as client:
        for _ in range(2):
            assert client.send(text).answer()[0] == 200


def test_a_client_of_version_1_0_is_not_told_to_continue(plain):
    with Client(plain) as client:
        assert client.send(request(SIMPLE, "Expect: 100-continue", version="1.0")).answer()[0] == 200


# ---- Answers before the end of the body


EARLY = [
    ("401", dict(token=False), 401),
    ("404", dict(path="/nothing"), 404),
    ("404 below a picture", dict(path="/sample.jpg/x"), 404),
    ("404 below an icon", dict(path="/favicon.ico/x"), 404),
    ("405", dict(path="/v2"), 405),
    ("404 of a model", dict(path="/v2/models/nobody/infer"), 404),
]


@pytest.mark.parametrize("name,more,status", EARLY)
@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_trickles_after_the_answer_does_not_destroy_it(plain, name, more, status, chunked):
    head = request(b"", "Transfer-Encoding: chunked" if chunked else "Content-Length: 3000000", length=False, **more)
    with Client(plain) as client:
        client.send(head)
        for _ in range(20):
            client.send(b"400\r\n" + bytes(1024) + b"\r\n" if chunked else bytes(1024))
            time.sleep(0.05)
        answer = client.answer()
        assert refused(answer, status) and answer[1]["connection"] == "close" and client.is_ended()


def test_a_body_that_is_too_large_is_refused_at_once_and_read_over(plain):
    with Client(plain) as client:
        client.send(request(b"", f"Content-Length: {8 << 20}", length=False))
        time.sleep(0.3)
        for _ in range(8):
            client.send(bytes(1 << 20))
        assert refused(client.answer(), 413) and client.is_ended()
    with Client(plain) as client:
        client.send(request(b"", "Transfer-Encoding: chunked", length=False))
        for _ in range(16):
            client.send(b"80000\r\n" + bytes(0x80000) + b"\r\n")
        assert refused(client.answer(), 413) and client.is_ended()


def test_an_answer_after_a_whole_body_keeps_the_connection(plain):
    with Client(plain) as client:
        for more, status in [(dict(token=False), 401), (dict(path="/nothing"), 404), (dict(), 200), (dict(path="/v2"), 405)]:
            answer = client.send(request(**more)).answer()
            assert answer[0] == status and answer[1].get("connection") != "close"


def test_a_client_that_waits_to_continue_is_refused_without_its_body(plain):
    with Client(plain) as client:
        client.send(request(b"", "Expect: 100-continue", "Content-Length: 100", length=False, token=False))
        assert refused(client.answer(), 401)
    with Client(plain) as client:
        client.send(request(b"", "Expect: 100-continue", f"Content-Length: {1 << 30}", length=False))
        assert refused(client.answer(), 413)
    with Client(plain) as client:
        client.send(request(b"", "Expect: 100-Continue", f"Content-Length: {len(SIMPLE)}", length=False))
        assert client.answer()[0] == 100
        assert client.send(SIMPLE).answer()[0] == 200


def test_a_body_that_stops_is_refused_by_the_deadline(models):
    with Server(models / "simple.tflite", "--deadline", 1) as server:
        for part in (b"", SIMPLE[:10]):
            with Client(server) as client:
                start = time.monotonic()
                client.send(request(part, f"Content-Length: {len(SIMPLE)}", length=False))
                assert refused(client.answer(), 504) and client.is_ended() and time.monotonic() - start < 5


# ---- Two readers who disagree about where a request ends


SMUGGLED = b"GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n"


def raw(*lines, body=b""):
    return b"\r\n".join((b"POST %s HTTP/1.1" % PATH.encode(), b"Authorization: Bearer secret") + lines) + b"\r\n\r\n" + body


AMBIGUOUS = {
    "Content-Length and chunked": raw(b"Host: x", b"Content-Length: 6", b"Transfer-Encoding: chunked", body=b"0\r\n\r\nG"),
    "chunked and Content-Length": raw(b"Host: x", b"Transfer-Encoding: chunked", b"Content-Length: 6", body=b"0\r\n\r\nG"),
    "two Content-Length": raw(b"Host: x", b"Content-Length: 2", b"Content-Length: 4", body=b"{}{}"),
    "one Content-Length twice": raw(b"Host: x", b"Content-Length: 2", b"Content-Length: 2", body=b"{}"),
    "a list of Content-Length": raw(b"Host: x", b"Content-Length: 2, 2", body=b"{}"),
    "a negative length": raw(b"Host: x", b"Content-Length: -2", body=b"{}"),
    "a length with a sign": raw(b"Host: x", b"Content-Length: +2", body=b"{}"),
    "a hexadecimal length": raw(b"Host: x", b"Content-Length: 0x2", body=b"{}"),
    "an endless length": raw(b"Host: x", b"Content-Length: 99999999999999999999999", body=b"{}"),
    "an empty length": raw(b"Host: x", b"Content-Length:", body=b"{}"),
    "identity coding": raw(b"Host: x", b"Transfer-Encoding: identity", body=b"{}"),
    "chunked is not last": raw(b"Host: x", b"Transfer-Encoding: chunked, gzip", body=b"0\r\n\r\n"),
    "chunked twice": raw(b"Host: x", b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n"),
    "chunked with a tail": raw(b"Host: x", b"Transfer-Encoding: xchunked", body=b"0\r\n\r\n"),
    "chunked after a space": raw(b"Host: x", b"Transfer-Encoding : chunked", body=b"0\r\n\r\n"),
    "chunked after a tab": raw(b"Host: x", b"Transfer-Encoding:\x0bchunked", body=b"0\r\n\r\n"),
    "a folded header": raw(b"Host: x", b"X: y", b" Transfer-Encoding: chunked", b"Content-Length: 2", body=b"{}"),
    "a header that begins with a space": raw(b" Host: x", b"Content-Length: 2", body=b"{}"),
    "a header without a colon": raw(b"Host: x", b"Content-Length 2", body=b"{}"),
    "a header with a zero byte": raw(b"Host: x", b"X: \0", b"Content-Length: 2", body=b"{}"),
    "a lone carriage return": raw(b"Host: x", b"X: a\rContent-Length: 2", body=b"{}"),
    "two hosts": raw(b"Host: x", b"Host: y", b"Content-Length: 2", body=b"{}"),
    "no host": raw(b"Content-Length: 2", body=b"{}"),
    "a host that is a path": raw(b"Host: x/y", b"Content-Length: 2", body=b"{}"),
    "chunked in version 1.0": raw(b"Host: x", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n").replace(b"/1.1", b"/1.0", 1),
    "a chunk of negative size": raw(b"Host: x", b"Transfer-Encoding: chunked", body=b"-1\r\n{}\r\n0\r\n\r\n"),
    "a chunk of endless size": raw(b"Host: x", b"Transfer-Encoding: chunked", body=b"fffffffffffffffff\r\n{}\r\n0\r\n\r\n"),
    "a chunk of no size": raw(b"Host: x", b"Transfer-Encoding: chunked", body=b"\r\n{}\r\n0\r\n\r\n"),
    "a chunk that is longer than it says": raw(b"Host: x", b"Transfer-Encoding: chunked", body=b"1\r\n{}\r\n0\r\n\r\n"),
    "a chunk's size after a space": raw(b"Host: x", b"Transfer-Encoding: chunked", body=b" 2\r\n{}\r\n0\r\n\r\n"),
    "a chunk's size in 0x": raw(b"Host: x", b"Transfer-Encoding: chunked", body=b"0x2\r\n{}\r\n0\r\n\r\n"),
    "a chunk that ends with a line feed": raw(b"Host: x", b"Transfer-Encoding: chunked", body=b"2\n{}\n0\n\n"),
    "version 0.9": b"GET /v2\r\n\r\n",
    "version 1.2": b"GET /v2 HTTP/1.2\r\nHost: x\r\n\r\n",
    "version 2.0": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "no method": b"/v2 HTTP/1.1\r\nHost: x\r\n\r\n",
    "an unknown method": b"FETCH /v2 HTTP/1.1\r\nHost: x\r\n\r\n",
    "a method in lower case": b"get /v2 HTTP/1.1\r\nHost: x\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),
    "headers of 100 kB": raw(b"Host: x", b"X: " + b"y" * 100_000, body=b""),
    "2,000 headers": raw(b"Host: x", *[b"X: y"] * 2_000, body=b""),
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_what_has_two_readings_is_refused_and_nothing_after_it_is_a_request(plain, name):
    with Client(plain) as client:
        client.send(AMBIGUOUS[name] + SMUGGLED)
        assert refused(client.answer(), 400, 413, 431, 501, 505)
        assert client.is_ended(), "what followed was taken for a request"


@pytest.mark.parametrize("body", [
    b"%x\r\n%s\r\n0\r\n\r\n" % (len(SIMPLE), SIMPLE),
    b"%X;name=value;q=\"a;b\"\r\n%s\r\n0;last\r\n\r\n" % (len(SIMPLE), SIMPLE),
    b"00000%x\r\n%s\r\n000\r\nX-Check: x\r\nY: 3\r\n\r\n" % (len(SIMPLE), SIMPLE),
    b"".join(b"1\r\n%c\r\n" % byte for byte in SIMPLE) + b"0\r\n\r\n",
])
def test_chunks_may_have_extensions_and_trailers(plain, body):
    with Client(plain) as client:
        for _ in range(2):
            client.send(request(body, "Transfer-Encoding: Chunked", length=False))
            assert client.answer()[0] == 200


def test_requests_that_come_together_are_answered_in_order(plain):
    with Client(plain) as client:
        client.send(request() + request(path="/nothing") + SMUGGLED + request(b"{", path=PATH) + request())
        assert [client.answer()[0] for _ in range(5)] == [200, 404, 200, 400, 200]


def test_what_is_no_request_is_refused_after_the_answers_before_it(plain):
    with Client(plain) as client:
        client.send(request() + request() + b"nonsense\r\n\r\n")
        assert client.answer()[0] == 200 and client.answer()[0] == 200
        assert refused(client.answer(), 400) and client.is_ended()


# ---- Encodings


@pytest.mark.parametrize("accepted,encoding", [
    (None, None), ("", None), ("gzip", "gzip"), ("deflate", "deflate"), ("x-gzip", "gzip"), ("GZIP", "gzip"), ("*", "gzip"),
    ("gzip;q=0", None), ("gzip;q=0.0", None), ("gzip;q=0.000", None), ("gzip; q=0", None), ("gzip ;Q = 0.00", None),
    ("gzip;q=0, deflate", "deflate"), ("gzip;q=0.5, deflate;q=0.9", "deflate"), ("gzip;q=0.5, identity", None),
    ("identity;q=0.5, gzip", "gzip"), ("*;q=0, gzip", "gzip"), ("gzip;q=0, *", "deflate"), ("br, zstd", None),
    ("br;q=1, gzip;q=0.1", "gzip"), ("gzip;q=nan", None), ("gzip;q=-1", None), ("gzip;q=2", None), ("gzip;q=", None),
    ("gzip;q=0;q=1", None), ("identity;q=0, gzip", "gzip"), ("identity;q=0.0, *", "gzip"), ("*;q=0.000, identity", None)])
def test_answers_are_encoded_as_the_client_accepts(plain, accepted, encoding):
    headers = [] if accepted is None else [f"Accept-Encoding: {accepted}"]
    with Client(plain) as client:
        status, fields, body = client.send(request(b"", *headers, path="/", method="GET")).answer()
    assert status == 200 and fields.get("content-encoding") == encoding, fields
    assert fields["vary"] == "Accept-Encoding"
    text = {"gzip": gzip.decompress, "deflate": zlib.decompress, None: bytes}[encoding](body)
    assert text.startswith(b"<!doctype html>")


@pytest.mark.parametrize("accepted", ["identity;q=0", "*;q=0", "*;q=0.0, br", "identity;q=0.000, gzip;q=0, deflate;q=0"])
def test_a_client_that_accepts_nothing_is_told_so(plain, accepted):
    with Client(plain) as client:
        assert refused(client.send(request(SIMPLE, f"Accept-Encoding: {accepted}")).answer(), 406)


def test_a_small_answer_is_encoded_for_a_client_that_accepts_it_in_no_other_way(plain):
    with Client(plain) as client:
        _, fields, body = client.send(request(SIMPLE, "Accept-Encoding: gzip, identity;q=0")).answer()
        assert fields["content-encoding"] == "gzip" and b"OUTPUT0" in gzip.decompress(body)


def members(*parts, level=6):
    return b"".join(gzip.compress(part, level) for part in parts)


def named(part):
    """A member with a name, a comment and extra bytes in its header."""
    file = io.BytesIO()
    with gzip.GzipFile("name", "wb", fileobj=file) as member:
        member.write(part)
    return file.getvalue()


@pytest.mark.parametrize("body", [
    members(SIMPLE), members(SIMPLE[:20], SIMPLE[20:]), members(*(SIMPLE[k:k + 1] for k in range(len(SIMPLE)))),
    members(b"", SIMPLE, b""), named(SIMPLE[:7]) + members(SIMPLE[7:], level=0)])
def test_a_body_of_gzip_may_have_several_members(plain, body):
    with Client(plain) as client:
        assert client.send(request(body, "Content-Encoding: gzip")).answer()[0] == 200
        for start in range(0, len(body) - 1, max(1, len(body) // 20)):
            client.send(request(body, "Content-Encoding: gzip")[:start - len(body)])
            time.sleep(0.001)
            client.send(body[start:])
            assert client.answer()[0] == 200


@pytest.mark.parametrize("encoding,body", [
    ("gzip", members(SIMPLE) + b"x"), ("gzip", members(SIMPLE) + b"\0" * 8), ("gzip", members(SIMPLE) + b"\x1f\x8b"),
    ("gzip", members(SIMPLE)[:-1]), ("gzip", members(SIMPLE)[:-5] + b"00000"), ("gzip", SIMPLE), ("gzip", b""),
    ("gzip", members(SIMPLE) + members(b"x")), ("deflate", zlib.compress(SIMPLE) + b"x"), ("deflate", zlib.compress(SIMPLE) * 2)])
def test_what_follows_compressed_data_is_refused(plain, encoding, body):
    with Client(plain) as client:
        assert refused(client.send(request(body, f"Content-Encoding: {encoding}")).answer(), 400)
        assert client.send(request()).answer()[0] == 200


def test_bombs_of_gzip_are_refused_in_time(plain):
    before = plain.rss()
    bombs = [members(bytes(64 << 20)), members(*[bytes(1 << 20)] * 64), members(b"") * 200_000]
    for bomb in bombs:
        start = time.monotonic()
        with Client(plain) as client:
            assert refused(client.send(request(bomb, "Content-Encoding: gzip")).answer(), 400, 413)
        assert time.monotonic() - start < 10
    with Client(plain) as client:
        nested = gzip.compress(bombs[0])
        assert refused(client.send(request(nested, "Content-Encoding: gzip, gzip")).answer(), 415)
        assert refused(client.send(request(nested, "Content-Encoding: gzip")).answer(), 400)
    assert plain.rss() - before < 128 << 20


# ---- Clients that read or write slowly, and many of them


@pytest.mark.parametrize("path", ["/", "/v2", PATH, "/v1/detect?model=simple", "/metrics", "/v2/repository/index",
                                  "/v2/trace/setting", "/v2/systemsharedmemory/status"])
def test_slow_requests_hold_up_nobody(plain, path):
    slow = [Client(plain) for _ in range(50)]
    for client in slow:
        client.send(f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\nContent-Le".encode())
    start = time.monotonic()
    with Client(plain) as client:
        assert client.send(request()).answer()[0] == 200 and time.monotonic() - start < 5
    for client in slow:
        client.send(b"ngth: 1\r\n\r\n")
        client.socket.shutdown(socket.SHUT_WR)
        refused(client.answer(), 400, 404, 405)
        client.__exit__()


def test_a_client_that_resets_its_connection_costs_no_run(models):
    big = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 768, 768],
                                  "parameters": {"binary_data_size": 768 * 768 * 4}}]}).encode()
    text = request(big + bytes(768 * 768 * 4), f"Inference-Header-Content-Length: {len(big)}", path="/v2/models/slow/infer")
    with Server(models / "slow.tflite", "--instances", 1) as server:
        clients = [Client(server) for _ in range(20)]
        for client in clients:
            client.send(text)
        server.wait_for_queue("slow", 10)
        for client in clients:
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.__exit__()
        with Client(server) as client:
            assert client.send(text).answer()[0] == 200
        counts = server.json("/v2/models/slow/stats")[1]["model_stats"][0]
        assert counts["execution_count"] <= 12 and counts["inference_stats"]["fail"]["count"] >= 8, counts
        assert server.stop() == 0


# Every route that takes a body, and every one that has an answer.
WRITTEN = [PATH, "/v2/models/simple/versions/1/infer", "/v2/repository/index", "/v2/repository/models/simple/load", "/v2/repository/models/simple/unload",
           "/v2/systemsharedmemory/unregister", "/v2/cudasharedmemory/region/x/register", "/v2/trace/setting",
           *(f"/v1/{task}?model=simple" for task in ("detect", "classify", "embed", "segment", "keypoints", "faces"))]
READ = ["/", "/sample.jpg", "/v2", "/v2/health/live", "/v2/health/ready", "/v2/models/simple", "/v2/models/simple/ready", "/v2/models/simple/config",
        "/v2/models/simple/stats", "/v2/models/stats", "/v2/trace/setting", "/v2/systemsharedmemory/status", "/metrics"]


@pytest.mark.parametrize("path", WRITTEN)
def test_a_body_that_trickles_is_refused_by_the_deadline_on_every_route(hasty, path):
    for head in ("Content-Length: 1000000", "Transfer-Encoding: chunked"):
        with Client(hasty) as client:
            client.send(request(b"", head, path=path, length=False))
            start = time.monotonic()
            client.socket.settimeout(0.05)
            answer = None
            while answer is None and time.monotonic() - start < 10:
                try:
                    client.send(b"1\r\n \r\n" if "chunked" in head else b" ")
                    answer = client.socket.recv(4096)
                except TimeoutError:
                    pass
            assert answer.startswith(b"HTTP/1.1 504 ") and b'{"error":' in answer and 0.5 < time.monotonic() - start < 5, (path, answer)


def test_a_body_that_stops_behind_another_request_is_refused_by_the_deadline(hasty):
    for part in (b"", b"{", SIMPLE[:40]):
        with Client(hasty) as client:
            start = time.monotonic()
            client.send(request() * 3 + request(part, "Content-Length: 1000", length=False))
            assert [client.answer()[0] for _ in range(3)] == [200] * 3
            assert refused(client.answer(), 504) and client.is_ended() and time.monotonic() - start < 5


@pytest.mark.parametrize("path", READ)
def test_answers_that_nobody_reads_hold_up_nobody_on_any_route(plain, path):
    """Twenty clients ask a hundred times and read nothing: others are answered, and the memory is bounded."""
    before = plain.rss()
    text = request(b"", path=path, method="GET") * 100
    slow = []
    for _ in range(20):
        client = Client(plain)
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.socket.settimeout(0.2)
        try:
            client.send(text)
        except TimeoutError:
            pass  # The server reads no further before its answers are taken.
        slow.append(client)
    start = time.monotonic()
    for _ in range(10):
        with Client(plain) as client:
            assert client.send(request()).answer()[0] == 200
    assert time.monotonic() - start < 5 and plain.rss() - before < 128 << 20
    for client in slow:
        client.__exit__()


def test_an_answer_that_nobody_takes_closes_its_connection(plain):
    """Slow: answers may be taken for a minute before they are given up."""
    if not os.environ.get("APUS_SERVING_SLOW"):
        pytest.skip("APUS_SERVING_SLOW is not set")
    clients = []
    for path in ("/", "/sample.jpg", "/metrics"):
        clients.append(Client(plain))
        clients[-1].socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        clients[-1].socket.setblocking(False)
        text = request(b"", path=path, method="GET") * 5_000
        try:
            while text:
                text = text[clients[-1].socket.send(text):]
        except BlockingIOError:
            pass
    time.sleep(75)
    for client in clients:
        client.socket.settimeout(10)
        with pytest.raises((ConnectionError, TimeoutError)):
            client.socket.sendall(b"x" * 10_000_000)
        client.__exit__()


def test_a_flood_of_connections_leaves_the_server_answering(plain):
    for _ in range(3):
        clients = [Client(plain) for _ in range(300)]
        for client in clients[::3]:
            client.send(b"GET / HTTP/1.1\r\n")
        for client in clients[1::3]:
            client.send(request(b"", path="/", method="GET"))
        with Client(plain) as client:
            assert client.send(request()).answer()[0] == 200
        for client in clients:
            client.__exit__()


@pytest.mark.parametrize("text", [b"", b"\x16\x03\x01", b"GET / HTTP/1.1\r\n", b"nonsense\r\n\r\n", request(), request()[:-10]])
def test_connections_that_come_and_go_cost_nothing_for_good(plain, text):
    """A thousand, each reset at once: descriptors and threads are those of before."""
    def usage():
        return len(os.listdir(f"/proc/{plain.process.pid}/fd")), len(os.listdir(f"/proc/{plain.process.pid}/task"))

    before = usage()
    for _ in range(1_000):
        with socket.create_connection(("127.0.0.1", plain.port), timeout=10) as connection:
            connection.sendall(text)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    end = time.monotonic() + 10
    while time.monotonic() < end and usage()[0] > before[0] + 8:
        time.sleep(0.1)
    after = usage()
    assert after[0] <= before[0] + 8 and after[1] <= before[1] + 4, (before, after)
    with Client(plain) as client:
        assert client.send(request()).answer()[0] == 200


PART = b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\nContent-Type: image/png\r\n\r\n'


@pytest.mark.parametrize("body", [
    PART + b"x\r\n--b--\r\n", PART * 30_000, b"--b\r\n" + b"X: y\r\n" * 400_000, (PART + b"--c\r\n") * 10_000, b"--b\r\n" * 600_000,
    b"--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" * 40_000, PART + b"\x89PNG\r\n\x1a\n" + bytes(3 << 20)])
@pytest.mark.parametrize("path", ["/v1/detect?model=simple", PATH])
def test_forms_are_no_bodies_however_many_parts_they_have(plain, path, body):
    """Only tasks on pictures read forms, up to a number of parts; elsewhere a form is what any other body is, refused at its first bytes."""
    start, before = time.monotonic(), plain.rss()
    with Client(plain) as client:
        answer = client.send(request(body, "Content-Type: multipart/form-data; boundary=b", path=path)).answer()
        assert refused(answer, 400, 415)
    assert time.monotonic() - start < 5 and plain.rss() - before < 64 << 20


def test_errors_of_names_with_control_characters_are_one_line_of_ascii(plain):
    for name in ("%1b%5b31m", "a%0ab", "%c2%9b31m", "%e2%80%ae", "%7f", "%e2%80%a8"):
        with Client(plain) as client:
            answer = client.send(request(path=f"/v2/models/{name}/infer")).answer()
        assert refused(answer, 404) and answer[2].isascii() and b"\n" not in answer[2] and b"\x1b" not in answer[2]


@pytest.mark.parametrize("headers, status", [
    (("Origin: http://evil.example",), 403), (("Origin: null",), 403), (("Sec-Fetch-Site: cross-site",), 403),
    (("Origin: http://evil.example", "Sec-Fetch-Site: cross-site"), 403), (("Origin: http://x:81",), 403),
    (("Origin: http://x",), 200), (("Origin: https://X",), 200), (("Origin: http://evil.example", "Sec-Fetch-Site: same-origin"), 200),
    (("Origin: http://apus.example", "X-Forwarded-Host: apus.example"), 200), (("Sec-Fetch-Site: none",), 200), ((), 200),
    (("Origin: http://evil.example", "Authorization: Bearer any"), 200)])
def test_pages_of_others_are_refused(hasty, headers, status):
    """Browsers send forms and bodies without a type to any address, with the origin of their page."""
    with Client(hasty) as client:
        client.send(request(SIMPLE, *headers, token=False))
        assert client.answer()[0] == status
        client.send(request(b"", *headers, path="/v2/health/ready", method="GET", token=False))
        assert client.answer()[0] == 200
