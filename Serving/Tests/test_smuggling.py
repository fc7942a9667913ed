# SPDX-License-Identifier: Apache-2.0
"""Requests that two readers could split differently: the cases that public tools for request smuggling try.

Each case is followed by a request that is hidden in its body, and by one that is not. What may be answered follows from RFC 9112,
sections 2.2, 3.2, 5 and 6, read strictly: a request is refused and the connection ends, or there is one reading.
"""

import json
import socket
import time

import pytest
from http2 import Call, Connection, framed
from server import Server
from tritonclient.grpc import service_pb2

LIVE = b"GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n"
READY = b"GET /v2/health/ready HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST /v2/repository/index HTTP/1.1\r\nHost: x\r\n"
REFUSED = "refused"


@pytest.fixture(scope="module")
def plain(models):
    with Server(models / "simple.tflite", "--deadline", 20) as server:
        yield server
        assert server.process.poll() is None, "the server died"
        assert server.stop() == 0


def answers(server, data, ends, piece):
    """What is answered, one word each: the key of the JSON, or `refused` at the last one."""
    words = []
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            for start in range(0, len(data), piece):
                connection.sendall(data[start:start + piece])
            if ends:
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # It has been refused already.
        with connection.makefile("rb") as file:
            while line := file.readline():
                status, headers = int(line.split()[1]), {}
                while (field := file.readline()) not in (b"\r\n", b""):
                    name, _, value = field.decode("latin1").partition(":")
                    assert name.lower() not in headers, "a header is there twice"
                    headers[name.lower()] = value.strip()
                isHead = data.startswith(b"HEAD") and not words
                body = b"" if isHead else file.read(int(headers["content-length"]))
                if isHead:
                    words.append("head")
                elif headers["content-type"] != "application/json":
                    words.append("page")
                else:
                    found = json.loads(body)
                    words.append("index" if isinstance(found, list) else next(iter(found)))
                if words[-1] == "error":
                    assert found["error"] and 400 <= status < 600 and status != 500, (status, body)
                if headers.get("connection") == "close":
                    assert file.read(1) == b"", "something follows the last answer"
                    if words[-1] == "error" and status in (400, 413, 431, 501, 505):
                        words[-1] = REFUSED
                    break
    return words


def check(server, data, expected, piece):
    """Holds the answers against the one reading, or against any of several."""
    allowed = expected if isinstance(expected, list) else [expected]
    allowed = [(word,) if isinstance(word, str) else word for word in allowed]
    found = tuple(answers(server, data, not all(word == (REFUSED,) for word in allowed), piece))
    assert found in allowed, (found, allowed)


PIECES = [1 << 20, 7, 1]

# ---- A body's end, by Transfer-Encoding

# As Content-Length says, the body has all that follows but the last request; by chunks it is empty, and LIVE is a request.
BY_LENGTH, BY_CHUNKS, NO_BODY = ("error", "ready"), ("index", "live", "ready"), ("index", REFUSED)
CODINGS = {
    # name: (header, answers with Content-Length, answers without)
    "as it should be": (b"Transfer-Encoding: chunked", REFUSED, BY_CHUNKS),
    "without a space": (b"Transfer-Encoding:chunked", REFUSED, BY_CHUNKS),
    "after a tab": (b"Transfer-Encoding:\tchunked", REFUSED, BY_CHUNKS),
    "in any case": (b"TrAnSFer-EnCODinG: cHuNkeD", REFUSED, BY_CHUNKS),
    "after another header": (b"X: X\r\nTransfer-Encoding: chunked", REFUSED, BY_CHUNKS),
    "named by Connection": (b"Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked", REFUSED, BY_CHUNKS),
    "a tab at the end": (b"Transfer-Encoding: chunked\t", REFUSED, [REFUSED, BY_CHUNKS]),
    "a space at the end": (b"Transfer-Encoding: chunked ", REFUSED, [REFUSED, BY_CHUNKS]),
    **{name: (header, REFUSED, REFUSED) for name, header in {
        "a space before the name": b" Transfer-Encoding: chunked", "a tab before the name": b"\tTransfer-Encoding: chunked",
        "a folded header": b"X: y\r\n Transfer-Encoding: chunked", "a folded value": b"Transfer-Encoding:\r\n chunked",
        "folded by a tab": b"Transfer-Encoding:\r\n\tchunked", "folded by a line feed": b"Transfer-Encoding:\n chunked",
        "a space before the colon": b"Transfer-Encoding : chunked", "a tab before the colon": b"Transfer-Encoding\t: chunked",
        "a space in the name": b"Transfer Encoding: chunked", "a zero in the name": b"Transfer-Encoding\0: chunked",
        "a carriage return in the name": b"Transfer\r-Encoding: chunked", "two colons": b"Transfer-Encoding:: chunked",
        "no colon": b"Transfer-Encoding chunked", "an equals sign": b"Transfer-Encoding= chunked",
        "an accent in the name": b"Transf\x82r-Encoding: chunked", "an accent in the value": b"Transfer-Encoding: ch\x96nked",
        "a vertical tab": b"Transfer-Encoding:\x0bchunked", "a form feed": b"Transfer-Encoding:\x0cchunked",
        "a vertical tab behind": b"Transfer-Encoding: chunked\x0b", "a no-break space": b"Transfer-Encoding:\xa0chunked",
        "a no-break space of UTF-8": b"Transfer-Encoding: \xc2\xa0chunked", "a byte of 255": b"Transfer-Encoding:\xffchunked",
        "a zero in the value": b"Transfer-Encoding: \0chunked", "a control character": b"Transfer-Encoding: \1chunked",
        "a backspace": b"Transfer-Encoding: chunked\b", "a delete": b"Transfer-Encoding: chunked\x7f",
        "a carriage return behind": b"Transfer-Encoding: chunked\r", "quotes": b'Transfer-Encoding: "chunked"',
        "apostrophes": b"Transfer-Encoding: 'chunked'", "brackets": b"Transfer-Encoding: [chunked]",
        "a part of the word": b"Transfer-Encoding: chunk", "more than the word": b"Transfer-Encoding: chunkedchunked",
        "words around it": b"Transfer-Encoding: cow chunked bar", "another after it": b"Transfer-Encoding: chunked, cow",
        "another before it": b"Transfer-Encoding: cow, chunked", "gzip before it": b"Transfer-Encoding: gzip, chunked",
        "identity after it": b"Transfer-Encoding: chunked, identity", "identity": b"Transfer-Encoding: identity",
        "an empty one before it": b"Transfer-Encoding: ,chunked", "an empty one after it": b"Transfer-Encoding: chunked,",
        "twice": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "identity in a header before": b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
        "identity in a header after": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "an empty header after": b"Transfer-Encoding: chunked\r\nTransfer-Encoding:",
        "a parameter": b"Transfer-Encoding: chunked;q=1", "an empty value": b"Transfer-Encoding:", "a blank value": b"Transfer-Encoding: ",
        "after a line feed": b"X: y\nTransfer-Encoding: chunked", "after a carriage return": b"X: y\rTransfer-Encoding: chunked",
        "after two line feeds": b"X: y\n\nTransfer-Encoding: chunked", "after a line that is empty but for a carriage return":
            b"X: y\r\n\rTransfer-Encoding: chunked",
    }.items()},
    **{name: (header, BY_LENGTH, NO_BODY) for name, header in {
        "an underscore": b"Transfer_Encoding: chunked", "another header": b"X-Transfer-Encoding: chunked", "TE": b"TE: chunked",
        "a proxy's": b"Proxy-Transfer-Encoding: chunked", "its plural": b"Transfer-Encodings: chunked",
        "Content-Length named by Connection": b"Connection: Content-Length", "a method in place of POST": b"X-HTTP-Method-Override: GET"}.items()},
    # Refused before its body, or behind it.
    "a content encoding": (b"Content-Encoding: chunked", [BY_LENGTH, ("error",)], ("error", REFUSED)),
}


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("name", CODINGS)
def test_transfer_encoding_and_content_length_have_one_reading(plain, name, piece):
    header, with_length, without = CODINGS[name]
    body = b"0\r\n\r\n" + LIVE
    length = b"Content-Length: %d\r\n" % len(body)
    for head in (POST + length + header, POST + header + b"\r\n" + length.strip()):
        check(plain, head + b"\r\n\r\n" + body + READY, with_length, piece)
    check(plain, POST + header + b"\r\n\r\n" + body + READY, without, piece)


# ---- A body's end, by Content-Length

OF_FIVE, OF_NONE = ("error", "live", "ready"), ("index", REFUSED)
LENGTHS = {
    "as it should be": (b"Content-Length: 5", OF_FIVE), "zeros before it": (b"Content-Length: 0005", [REFUSED, OF_FIVE]),
    "forty zeros before it": (b"Content-Length: " + b"0" * 40 + b"5", [REFUSED, OF_FIVE]),
    "blanks around it": (b"Content-Length: \t5 \t", [REFUSED, OF_FIVE]),
    **{name: (header, REFUSED) for name, header in {
        "a semicolon": b"Content-Length: 5;x", "a comma": b"Content-Length: 5,", "a comma before": b"Content-Length: ,5",
        "a list of one length": b"Content-Length: 5,5", "a list of two": b"Content-Length: 5, 0", "two words": b"Content-Length: 5 5",
        "a vertical tab": b"Content-Length: 5\x0b", "a form feed before": b"Content-Length:\x0c5", "hexadecimal": b"Content-Length: 0x5",
        "an exponent": b"Content-Length: 5e0", "a plus": b"Content-Length: +5", "a minus": b"Content-Length: -5",
        "a minus zero": b"Content-Length: -0", "a point": b"Content-Length: 5.0", "an underscore": b"Content-Length: 0_5",
        "quotes": b'Content-Length: "5"', "a word": b"Content-Length: five", "no value": b"Content-Length:", "a blank": b"Content-Length: ",
        "a full-width digit": b"Content-Length: \xef\xbc\x95", "an Arabic digit": b"Content-Length: \xd9\xa5",
        "a zero byte behind": b"Content-Length: 5\0", "a zero byte in the name": b"Content-Length\0: 5",
        "a carriage return behind": b"Content-Length: 5\r", "2^63": b"Content-Length: 9223372036854775808",
        "2^64": b"Content-Length: 18446744073709551616", "2^64 and 5": b"Content-Length: 18446744073709551621",
        "2^32 times 2^64 and 5": b"Content-Length: 79228162514264337593543950341", "the same twice": b"Content-Length: 5\r\nContent-Length: 5",
        "the same twice in other cases": b"Content-Length: 5\r\ncontent-length: 5", "5 and 0": b"Content-Length: 5\r\nContent-Length: 0",
        "0 and 5": b"Content-Length: 0\r\nContent-Length: 5", "5 and nothing": b"Content-Length: 5\r\nContent-Length:",
        "5 and, apart from it, 0": b"Content-Length: 5\r\nX: y\r\nContent-Length: 0",
        "a space before the colon": b"Content-Length : 5", "a tab before the colon": b"Content-Length\t: 5",
        "a space before the name": b" Content-Length: 5", "a space in the name": b"Content Length: 5", "folded": b"Content-Length:\r\n 5",
        "folded behind": b"Content-Length: 5\r\n 5", "folded into another": b"X: y\r\n Content-Length: 5",
        "after a line feed": b"X: y\nContent-Length: 5", "after a carriage return": b"X: y\rContent-Length: 5"}.items()},
    "an underscore in the name": (b"Content_Length: 5", OF_NONE), "another header": (b"X-Content-Length: 5", OF_NONE), "none": (b"X: y", OF_NONE),
}


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("name", LENGTHS)
def test_a_content_length_has_one_reading(plain, name, piece):
    header, expected = LENGTHS[name]
    body = b"     " if expected != OF_NONE else b"nonsense\r\n\r\n"
    check(plain, POST + header + b"\r\n\r\n" + body + LIVE + READY, expected, piece)


# ---- Chunks

WHOLE = ("index", "ready")
CHUNKS = {
    "one": (b"2\r\n{}\r\n0\r\n\r\n", WHOLE), "two": (b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n", WHOLE), "none": (b"0\r\n\r\n", WHOLE),
    "zeros": (b"000\r\n\r\n", WHOLE), "zeros before the size": (b"0" * 12 + b"2\r\n{}\r\n0\r\n\r\n", WHOLE),
    "upper case": (b"0A\r\n{        }\r\n0\r\n\r\n", WHOLE), "an extension": (b"2;a=b;c\r\n{}\r\n0;d\r\n\r\n", WHOLE),
    "a quoted extension": (b'2;a="b;c"\r\n{}\r\n0\r\n\r\n', WHOLE), "a trailer": (b"2\r\n{}\r\n0\r\nX: y\r\n\r\n", WHOLE),
    # All that follows belongs to the body: refused when it ends early, is too large or too late.
    "a size of 2^63 and 2": (b"8000000000000002\r\n{}\r\n0\r\n\r\n", [REFUSED, ("error",)]),
    "a size of 2^64 − 1": (b"ffffffffffffffff\r\n{}\r\n0\r\n\r\n", [REFUSED, ("error",)]),
    "another host in the trailer": (b"2\r\n{}\r\n0\r\nHost: y\r\n\r\n", [WHOLE, REFUSED]),
    **{name: (body, REFUSED) for name, body in {
        "an empty extension": b"2;\r\n{}\r\n0\r\n\r\n", "a space behind the size": b"2 \r\n{}\r\n0\r\n\r\n",
        "a tab behind the size": b"2\t\r\n{}\r\n0\r\n\r\n", "a space before the extension": b"2 ;x\r\n{}\r\n0\r\n\r\n",
        "a space before the size": b" 2\r\n{}\r\n0\r\n\r\n", "an empty line before the size": b"\r\n2\r\n{}\r\n0\r\n\r\n",
        "a line feed in an extension": b"2;a\n{}\r\n0\r\n\r\n", "a line feed amid an extension": b"2;a\nb\r\n{}\r\n0\r\n\r\n",
        "a carriage return in an extension": b"2;a\rb\r\n{}\r\n0\r\n\r\n", "a line end in a quoted extension": b'2;a="\r\n"\r\n{}\r\n0\r\n\r\n',
        "a zero byte in an extension": b"2;\0\r\n{}\r\n0\r\n\r\n", "a byte of 255 in an extension": b"2;\xff\r\n{}\r\n0\r\n\r\n",
        "two carriage returns": b"2\r\r\n{}\r\n0\r\n\r\n", "a line feed behind the size": b"2\n{}\r\n0\r\n\r\n",
        "a carriage return behind the size": b"2\r{}\r\n0\r\n\r\n", "an underscore": b"0_2\r\n{}\r\n0\r\n\r\n", "0x": b"0x2\r\n{}\r\n0\r\n\r\n",
        "a minus": b"-2\r\n{}\r\n0\r\n\r\n", "a plus": b"+2\r\n{}\r\n0\r\n\r\n", "a comma": b"2,\r\n{}\r\n0\r\n\r\n", "no digit": b"g\r\n{}\r\n0\r\n\r\n",
        "a letter behind the size": b"2g\r\n{}\r\n0\r\n\r\n", "a zero byte behind the size": b"2\0\r\n{}\r\n0\r\n\r\n",
        "no size": b"\r\n{}\r\n0\r\n\r\n", "an extension alone": b";a\r\n{}\r\n0\r\n\r\n", "a size of 2^64 and 2": b"10000000000000002\r\n{}\r\n0\r\n\r\n",
        "a size of 2^68 and 2": b"100000000000000002\r\n{}\r\n0\r\n\r\n", "nothing behind the data": b"2\r\n{}0\r\n\r\n",
        "a line feed behind the data": b"2\r\n{}\n0\r\n\r\n", "a carriage return behind the data": b"2\r\n{}\r0\r\n\r\n",
        "other bytes behind the data": b"2\r\n{}XX0\r\n\r\n", "a line feed behind the last size": b"2\r\n{}\r\n0\n\r\n",
        "a line feed at the end": b"2\r\n{}\r\n0\r\n\n", "line feeds at the end": b"2\r\n{}\r\n0\n\n",
        "a folded trailer": b"2\r\n{}\r\n0\r\nX: y\r\n z\r\n\r\n", "a trailer that ends with a line feed": b"2\r\n{}\r\n0\r\nX: y\n\r\n",
        "a request as a trailer": b"2\r\n{}\r\n0\r\n" + LIVE, "a space in a trailer's name": b"2\r\n{}\r\n0\r\nX : y\r\n\r\n",
        "a length in the trailer": b"2\r\n{}\r\n0\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        "2,000 trailers": b"2\r\n{}\r\n0\r\n" + b"X: y\r\n" * 2_000 + b"\r\n", "a trailer of 200 kB": b"2\r\n{}\r\n0\r\nX: " + b"y" * 200_000 + b"\r\n\r\n",
    }.items()},
}


@pytest.mark.parametrize("piece", PIECES[:2])
@pytest.mark.parametrize("name", CHUNKS)
def test_chunks_have_one_reading(plain, name, piece):
    body, expected = CHUNKS[name]
    check(plain, POST + b"Transfer-Encoding: chunked\r\n\r\n" + body + READY, expected, piece)


@pytest.mark.parametrize("extension", [b";x", b";name=value" * 20, b';x="' + b"y" * 1_000 + b'"'])
def test_extensions_of_chunks_are_bounded(plain, extension):
    """They are read over, but whoever sends more of them than data gets an answer: what nobody counts, anybody may send for ever."""
    with socket.create_connection(("127.0.0.1", plain.port), timeout=10) as connection:
        connection.sendall(POST + b"Transfer-Encoding: chunked\r\n\r\n")
        chunk = b"1" + extension + b"\r\n \r\n"
        sent, start = 0, time.monotonic()
        try:
            # More than the limit of what comes beside a byte.
            if len(chunk) > 17:
                connection.sendall(b"1;" + b"y" * 300_000)
            while sent < 300_000:
                connection.sendall(chunk * 100)
                sent += 100 * len(chunk)
            connection.sendall(b"0\r\n\r\n")
        except OSError:
            pass
        answer = connection.recv(4096)
        assert time.monotonic() - start < 10
        assert b" 400 " in answer[:20] and ((b"chunks and trailers take" in answer) == (len(chunk) > 17)), answer


# ---- Lines, targets and hosts


def line(old, new):
    return LIVE.replace(old, new, 1)


FINE = ("live", "ready")
LINES = {
    "as it should be": (LIVE, FINE), "empty lines before it": (b"\r\n\r\n" + LIVE, [FINE, REFUSED]), "a line feed before it": (b"\n" + LIVE, [FINE, REFUSED]),
    "two spaces before the target": (line(b"GET ", b"GET  "), [FINE, REFUSED]), "two before the version": (line(b" HTTP", b"  HTTP"), [FINE, REFUSED]),
    "a HEAD": (line(b"GET", b"HEAD"), ("head", "ready")),
    # Answered before its body, after which the connection ends, or behind it.
    "a body of a GET": (line(b"\r\n\r\n", b"\r\nContent-Length: 5\r\n\r\nhello"), [FINE, ("live",)]),
    "chunks of a GET": (line(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), [FINE, ("live",)]),
    "a request in the body of a GET": (line(b"\r\n\r\n", b"\r\nContent-Length: %d\r\n\r\n" % len(LIVE)) + LIVE, [FINE, ("live",)]),
    "an expectation": (line(b"\r\n\r\n", b"\r\nExpect: 200-maybe\r\n\r\n"), [FINE, ("error", "ready")]),
    "an address": (line(b" /", b" http://x/"), FINE), "an address of TLS": (line(b" /", b" https://x/"), FINE),
    "an address with a port": (line(b" /", b" http://x:80/"), FINE), "an address of IPv6": (line(b" /", b" http://[::1]:80/"), FINE),
    "an address of another host": (line(b" /", b" http://y/"), FINE), "an address in upper case": (line(b" /", b" HTTP://x/"), FINE),
    "an address without a path": (line(b" /v2/health/live", b" http://x"), ("page", "ready")),
    "all of the server": (line(b"GET /v2/health/live", b"OPTIONS *"), ("error", "ready")),
    "two slashes": (line(b" /", b" //"), ("error", "ready")), "two dots": (line(b" /", b" /../"), ("error", "ready")),
    "percent": (line(b"live", b"%6cive"), FINE), "percent of a slash": (line(b"/live", b"%2flive"), ("error", "ready")),
    "percent of a line end": (line(b"live", b"live%0d%0aHost:%20y"), ("error", "ready")), "a bad percent": (line(b"live", b"%zz"), ("error", "ready")),
    "a query with a request": (line(b"live", b"live?x=%0d%0aGET%20/"), FINE),
    "an empty host": (line(b"Host: x", b"Host:"), FINE), "a port": (line(b"Host: x", b"Host: x:80"), FINE), "an empty port": (line(b"Host: x", b"Host: x:"), FINE),
    "IPv6": (line(b"Host: x", b"Host: [::1]:8000"), FINE), "marks in a host": (line(b"Host: x", b"Host: a-b_c.d~e!$&'()*+;=%41"), FINE),
    "a connection that names the host": (line(b"Host: x", b"Host: x\r\nConnection: Host"), FINE),
    "other hosts for proxies": (line(b"Host: x", b"Host: x\r\nX-Forwarded-Host: y\r\nForwarded: host=z\r\nX-Original-URL: /\r\nX-Rewrite-URL: /"), FINE),
    "no host in version 1.0": (b"GET /v2/health/live HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", FINE),
    **{name: (text, REFUSED) for name, text in {
        "a line feed after the first line": line(b"1.1\r\n", b"1.1\n"), "a line feed after a header": line(b"Host: x", b"Host: x\nX: y"),
        "line feeds alone": LIVE.replace(b"\r\n", b"\n"), "carriage returns alone": LIVE.replace(b"\r\n", b"\r"),
        "a line feed at the end": LIVE[:-2] + b"\n", "a space before it": b" " + LIVE, "a tab before it": b"\t" + LIVE, "a zero byte before it": b"\0" + LIVE,
        "a tab before the target": line(b"GET ", b"GET\t"), "a tab before the version": line(b" HTTP", b"\tHTTP"),
        "a space after the version": line(b"1.1", b"1.1 "), "a version in lower case": line(b"HTTP", b"http"), "version 1.10": line(b"1.1", b"1.10"),
        "version 01.1": line(b"1.1", b"01.1"), "version 1,1": line(b"1.1", b"1,1"), "version 3.0": line(b"1.1", b"3.0"), "version 1.1x": line(b"1.1", b"1.1x"),
        "a space in the version": line(b"/1.1", b"/ 1.1"), "no version": line(b" HTTP/1.1", b""), "a vertical tab": line(b"GET ", b"GET\x0b"),
        "a zero byte in the target": line(b"live", b"li\0ve"), "a byte of 255 in the target": line(b"live", b"live\xff"),
        "a carriage return in the target": line(b"live", b"li\rve"), "a space in the target": line(b"live", b"li ve"),
        "a fragment": line(b"live", b"live#x"), "a fragment of an address": line(b" /v2/health/live", b" http://x#/v2/health/live"),
        "an address with a user": line(b" /", b" http://u:p@x/"), "an address without a host": line(b" /", b" http:///"),
        "an address with one slash": line(b" /", b" http:/"), "an address of FTP": line(b" /", b" ftp://x/"), "an address of a file": line(b" /", b" file:///"),
        "an address with a bad port": line(b" /", b" http://x:y/"), "a host and port": line(b" /v2/health/live", b" x:80"), "a star": line(b" /v2/health/live", b" *"),
        "a star before a path": line(b" /", b" */"), "a relative path": line(b" /", b" "), "a query alone": line(b" /v2/health/live", b" ?x"),
        "an address without a header Host": b"GET http://x/v2/health/live HTTP/1.1\r\n\r\n",
        "one host twice": line(b"Host: x", b"Host: x\r\nHost: x"), "two hosts": line(b"Host: x", b"Host: x\r\nhost: y"), "a list of hosts": line(b"Host: x", b"Host: x,y"),
        "two words": line(b"Host: x", b"Host: x y"), "a port of letters": line(b"Host: x", b"Host: x:abc"), "a port of six digits": line(b"Host: x", b"Host: x:999999"),
        "two ports": line(b"Host: x", b"Host: x:1:2"), "a bracket": line(b"Host: x", b"Host: [::1"), "something after a bracket": line(b"Host: x", b"Host: [::1]y"),
        "an empty bracket": line(b"Host: x", b"Host: []"), "a user": line(b"Host: x", b"Host: u@x"), "a path": line(b"Host: x", b"Host: x/y"),
        "an address as a host": line(b"Host: x", b"Host: http://x"), "quotes": line(b"Host: x", b'Host: "x"'), "angle brackets": line(b"Host: x", b"Host: <x>"),
        "a backslash": line(b"Host: x", b"Host: x\\y"), "UTF-8 in a host": line(b"Host: x", b"Host: \xc3\xa9"), "a bad percent in a host": line(b"Host: x", b"Host: x%0y"),
        "a zero byte in a host": line(b"Host: x", b"Host: x\0"), "a folded host": line(b"Host: x", b"Host: x\r\n y"), "a space before the colon": line(b"Host: x", b"Host : x"),
        "no name": line(b"Host: x", b"Host: x\r\n: y"), "no colon": line(b"Host: x", b"Host: x\r\nfoo"), "a byte of 255 in a name": line(b"Host: x", b"Host: x\r\nfo\xffo: y"),
        "a bracket in a name": line(b"Host: x", b"Host: x\r\nfo(o: y"), "a control character": line(b"Host: x", b"Host: x\r\nfoo: \1"), "a delete": line(b"Host: x", b"Host: x\r\nfoo: \x7f"),
        "a bracket in the method": line(b"GET", b"G(T"), "an unknown method": line(b"GET", b"GETX"), "a zero byte in the method": line(b"GET", b"G\0T"),
        "a method of 100 letters": line(b"GET", b"A" * 100), "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "an answer": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    }.items()},
}


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("name", LINES)
def test_lines_targets_and_hosts_have_one_reading(plain, name, piece):
    text, expected = LINES[name]
    check(plain, text + READY, expected, piece)


@pytest.mark.parametrize("head", [b"", b"Host: x\r\nHost: y\r\n", b"Host: x/y\r\n", b"Host: x\r\nTransfer-Encoding: gzip\r\n"])
def test_a_refused_head_has_no_body(plain, head):
    with socket.create_connection(("127.0.0.1", plain.port), timeout=10) as connection:
        connection.sendall(b"HEAD /v2 HTTP/1.1\r\n" + head + b"\r\n")
        with connection.makefile("rb") as file:
            answer = file.read()
    assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 501 ")) and answer.endswith(b"\r\n\r\n") and answer.count(b"\r\n\r\n") == 1


@pytest.mark.parametrize("upgrade", [
    b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__", b"Upgrade: h2c", b"Connection: Upgrade\r\nUpgrade: websocket",
    b"Connection: Upgrade\r\nUpgrade: TLS/1.2"])
def test_an_upgrade_is_not_made_and_nothing_behind_it_is_read(plain, upgrade):
    text = line(b"Host: x", b"Host: x\r\n" + upgrade)
    assert answers(plain, text + b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9), True, 1 << 20) == ["live"]
    assert answers(plain, text + READY, True, 1 << 20) == ["live"]


# ---- HTTP/2: what would become another request for a reader of HTTP/1 behind it, of which there is none

GRPC = [(":method", "POST"), (":scheme", "http"), (":path", "/inference.GRPCInferenceService/ServerLive"), (":authority", "x"),
        ("te", "trailers"), ("content-type", "application/grpc")]


def with_headers(*more, without=()):
    return [field for field in GRPC if field[0] not in without] + list(more)


HTTP2 = {
    "Transfer-Encoding": with_headers(("transfer-encoding", "chunked")), "Connection": with_headers(("connection", "close")),
    "Upgrade": with_headers(("upgrade", "h2c")), "a length that is too short": with_headers(("content-length", "1")),
    "a length that is too long": with_headers(("content-length", "1000")), "two lengths": with_headers(("content-length", "5"), ("content-length", "6")),
    "a negative length": with_headers(("content-length", "-1")), "a name in upper case": with_headers(("X-Upper", "y")),
    "a line end in a value": with_headers(("x", "y\r\ntransfer-encoding: chunked")), "a line end in a name": with_headers(("x\r\ny", "z")),
    "a colon in a name": with_headers(("x:y", "z")), "an empty name": with_headers(("", "y")), "a zero byte": with_headers(("x", "a\0b")),
    "a space in a name": with_headers(("x y", "z")), "another host": with_headers(("host", "y")),
    "two paths": with_headers((":path", "/"), without=("te", "content-type")), "a path after a header": [*GRPC[:2], *GRPC[3:], GRPC[2]],
    "no path": with_headers(without=(":path",)), "an empty path": [field if field[0] != ":path" else (":path", "") for field in GRPC],
    "a path with a request": [field if field[0] != ":path" else (":path", "/ HTTP/1.1\r\nHost: x\r\n\r\n") for field in GRPC],
    "a method with a request": [field if field[0] != ":method" else (":method", "GET / HTTP/1.1\r\nX: y") for field in GRPC],
    "an unknown pseudo-header": [(":x", "y"), *GRPC], "CONNECT": [(":method", "CONNECT"), (":authority", "x:80")],
    "a status": [(":status", "200"), *GRPC], "GET": [field if field[0] != ":method" else (":method", "GET") for field in GRPC],
}


@pytest.mark.parametrize("name", HTTP2)
def test_odd_headers_of_http2_end_their_call_or_connection_alone(plain, name):
    with Connection(plain.grpc) as beside:
        with Connection(plain.grpc) as connection:
            connection.h2.config.normalize_outbound_headers = False
            number = connection.h2.get_next_available_stream_id()
            connection.calls[number] = Call()
            try:
                connection.h2.send_headers(number, HTTP2[name])
            except Exception:
                pytest.skip("the client does not send it")
            connection.flush()
            connection.send(number, framed(service_pb2.ServerLiveRequest().SerializeToString()))
            call = connection.wait(number, 5)
            assert call.is_ended or connection.is_closed or connection.goaway is not None, "nothing was answered"
        number = beside.open("/inference.GRPCInferenceService/ServerLive")
        beside.send(number, framed(b""))
        assert beside.wait(number).status == 0


def test_http1_on_the_port_of_grpc_is_no_request(plain):
    for text in (LIVE, POST + b"Content-Length: 2\r\n\r\n{}", line(b"Host: x", b"Host: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk")):
        host, port = plain.grpc.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(text)
            data = b""
            while part := connection.recv(4096):
                data += part
            assert b"live" not in data and not data.startswith(b"HTTP/1.1 200")
