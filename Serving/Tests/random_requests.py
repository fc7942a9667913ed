# SPDX-License-Identifier: Apache-2.0
"""Sends requests that are drawn at random from the server's own description, and holds each answer against what must be true.

    APUS_SERVER=… python Serving/Tests/random_requests.py --count 100000 [--seed 1] [--clients 4] [--only NUMBER]

Over HTTP each answer has a status that `openapi.yaml` has for its route, a body of the type and the schema that stand there, strict
JSON, and a message if it is an error. Numbers are those that NumPy computes; scores, boxes and sums are in their bounds; and the same
request has the same answer, however many others there are. Some requests travel over a connection that others use, some together,
some byte by byte, some with bytes of their heads changed. Calls of gRPC are drawn likewise. In the end the server lives, and its
memory, threads and descriptors are where they were after a quarter of the requests. Each finding has the number that draws it again.
"""

import argparse
import collections
import gzip
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import grpc  # noqa: E402
import jsonschema_rs  # noqa: E402
import numpy as np  # noqa: E402
import yaml  # noqa: E402
from drawn_requests import EXAMPLES, TASKS, TYPES, Drawer, oracle, strict  # noqa: E402
from server import Server  # noqa: E402
from tritonclient.grpc import service_pb2, service_pb2_grpc  # noqa: E402

DOCUMENT = Path(__file__).resolve().parents[1] / "Sources/ApusServer/openapi.yaml"
MODELS = ["simple", "simple_batch", "types", "dense", "dense_int8", "mixing", "mixing_beyond", "rectified", "logarithm", "nameless",
          "open_length", "countdown", "identity", "labelled", "versioned"]
# What any request may be answered with: its head or its framing is wrong.
ANYWHERE = {400, 404, 405, 406, 413, 415, 431, 501, 505}


class Connection:
    """A connection of HTTP/1.1 that reads answers strictly."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")
        self.is_closed = False

    def answer(self, is_head=False):
        line = self.file.readline(65_536)
        if not line:
            return None
        assert line.startswith(b"HTTP/1.1 ") and line.endswith(b"\r\n"), line
        status, headers = int(line[9:12]), {}
        while (field := self.file.readline(65_536)) != b"\r\n":
            name, colon, value = field.decode("ascii").partition(":")
            assert colon and field.endswith(b"\r\n") and name.strip() == name, field
            assert name.lower() not in headers, f"the header {name} is there twice"
            headers[name.lower()] = value.strip()
        assert "transfer-encoding" not in headers
        length = int(headers["content-length"]) if status != 204 else 0
        body = b"" if is_head else self.file.read(length)
        assert is_head or len(body) == length, "the answer is cut off"
        self.is_closed = headers.get("connection") == "close"
        return status, headers, body

    def close(self):
        self.file.close()
        self.socket.close()


class Machine:
    def __init__(self, server, arguments):
        self.server, self.arguments = server, arguments
        self.document = yaml.safe_load(DOCUMENT.read_text())
        metadata = {name: server.json(f"/v2/models/{name}")[1] for name in [*MODELS, *TASKS.values()]}
        self.drawer = Drawer(self.document, metadata)
        self.validators = {}
        self.lock = threading.Lock()
        self.next = 0
        self.findings, self.statuses, self.kinds = [], collections.Counter(), collections.Counter()
        self.known = []  # Pure requests by number, with their answers.

    # ---- What must hold of an answer

    def responses(self, drawn):
        """What the document has for a request, by status; None where it does not have the route."""
        item = self.document["paths"].get(drawn.template)
        method = "get" if drawn.method == "HEAD" else drawn.method.lower()
        return item and item[method]["responses"] if item and method in item else None

    def check(self, drawn, answer):
        status, headers, body = answer
        assert status not in (500, 499), body
        responses = self.responses(drawn)
        if drawn.expected is not None:
            assert status in drawn.expected, f"{status}, not {drawn.expected}: {body[:300]}"
        if drawn.template and responses is None:
            assert status in (405, 400, 406, 431) and ("allow" in headers or status != 405), status
        elif responses is not None:
            assert str(status) in responses, f"{status} is not documented"
        else:
            assert status in ANYWHERE or status in (200, 204, 401, 503), status
        if status == 503:
            assert headers.get("retry-after") or "/health/" in drawn.target
        encoding = headers.get("content-encoding")
        if drawn.method == "HEAD" or status == 204:
            return
        if encoding:
            accepted = [value for name, value in drawn.headers if name == "Accept-Encoding"]
            assert accepted and status == 200, headers
            body = gzip.decompress(body) if encoding == "gzip" else zlib.decompress(body)
        if status >= 400 and "ready" not in drawn.target:
            assert headers["content-type"] == "application/json", headers
            message = strict(body)["error"]
            assert message and len(message) < 8_000 and not re.search(rb"[\0-\x1f\x7f]", body), body
        if responses is not None and str(status) in responses:
            self.check_schema(drawn, responses, status, headers, body)
        if status == 200 and drawn.check:
            drawn.check(headers, body)

    def check_schema(self, drawn, responses, status, headers, body):
        content = self.drawer.resolved(responses[str(status)]).get("content", {})
        kind = headers["content-type"].split(";")[0]
        found = next((value for name, value in content.items() if name.split(";")[0] == kind), None)
        assert found is not None, f"the type {kind} is not documented"
        if kind == "application/json" and "inference-header-content-length" not in headers:
            key = (drawn.template, drawn.method, status)
            if key not in self.validators:
                self.validators[key] = jsonschema_rs.validator_for({**found["schema"], "components": self.document["components"]})
            self.validators[key].validate(strict(body))

    @staticmethod
    def comparable(answer):
        """An answer without what may differ: times, and what a connection has to do with."""
        status, headers, body = answer
        kept = {name: headers.get(name) for name in ("content-type", "content-encoding", "inference-header-content-length", "allow")}
        if kept["content-encoding"] and body:
            body = gzip.decompress(body) if kept["content-encoding"] == "gzip" else zlib.decompress(body)
        if b'"milliseconds"' in body:
            body = json.dumps({name: value for name, value in json.loads(body).items() if name != "milliseconds"}).encode()
        return status, kept, body

    # ---- Clients

    def client(self, name):
        choice = random.Random(f"client {self.arguments.seed}/{name}")
        connection = None
        with grpc.insecure_channel(self.server.grpc) as channel:
            self.channel_of(channel)
            while (number := self.take()) is not None:
                try:
                    way = choice.random()
                    if way < 0.08:
                        self.call(channel, number)
                    elif way < 0.16:
                        self.changed(number)
                    else:
                        connection = self.ask(connection, number, choice, way)
                except Exception as error:
                    connection = None
                    if self.server.process.poll() is not None:
                        return
                    self.find(number, error)
        if connection:
            connection.close()

    def channel_of(self, channel):
        grpc.channel_ready_future(channel).result(20)

    def take(self):
        with self.lock:
            if self.next >= self.arguments.count or len(self.findings) >= 20:
                return None
            self.next += 1
            return self.next

    def find(self, number, error):
        drawn = self.drawer.draw(self.arguments.seed, number)
        with self.lock:
            self.findings.append((number, drawn.kind, f"{type(error).__name__}: {error}"[:1_000], drawn.wire()[:600]))
            print("finding:", *self.findings[-1], sep="\n  ", flush=True)

    def ask(self, connection, number, choice, way):
        """Sends a request, or several together; or one that was answered before."""
        if way < 0.26 and self.known:
            with self.lock:
                number, before = choice.choice(self.known)
        else:
            before = None
        batch = [self.drawer.draw(self.arguments.seed, number)]
        if way > 0.95 and before is None:
            # Others behind it on the wire.
            batch += [self.drawer.draw(self.arguments.seed, f"{number}+{more}") for more in range(choice.randrange(1, 5))]
        connection = connection or Connection(self.server.port)
        data = b"".join(drawn.wire() for drawn in batch)
        if way < 0.2 and len(data) < 20_000:
            for start in range(0, len(data), 97):
                connection.socket.sendall(data[start:start + 97])
        else:
            # Read while sending: an early answer must not wait for the end of what nobody reads.
            sender = threading.Thread(target=self.send, args=(connection, data)) if len(data) > 100_000 else None
            sender.start() if sender else self.send(connection, data)
        for drawn in batch:
            answer = connection.answer(drawn.method == "HEAD")
            if answer is None:
                raise AssertionError("the connection ended without an answer")
            self.count(drawn.kind, answer[0])
            try:
                self.check(drawn, answer)
            except Exception as error:
                if drawn is batch[0]:
                    raise
                raise AssertionError(f"{error}; of one behind it: {drawn.wire()[:300]!r}")
            if drawn is batch[0]:
                self.compare(number, drawn, before, answer)
            if connection.is_closed:
                break
        if connection.is_closed or choice.random() < 0.02:
            connection.close()
            return None
        return connection

    @staticmethod
    def send(connection, data):
        try:
            connection.socket.sendall(data)
        except OSError:
            pass  # The answer says why.

    def compare(self, number, drawn, before, answer):
        if not drawn.is_pure or answer[0] in (408, 503, 504):
            return
        found = self.comparable(answer)
        if before is not None:
            assert found == before, f"the same request has another answer: {before[0]} {before[2][:300]} and {found[0]} {found[2][:300]}"
        elif len(found[2]) < 100_000:
            with self.lock:
                if len(self.known) < 1_000:
                    self.known.append((number, found))
                else:
                    self.known[number % 1_000] = (number, found)

    def count(self, kind, status):
        with self.lock:
            self.statuses[status] += 1
            self.kinds[kind.split()[0]] += 1

    def changed(self, number):
        """A request with bytes of its head changed: refused, or one that the server understood; and the connection has an end."""
        drawn = self.drawer.draw(self.arguments.seed, number)
        choice = random.Random(f"changed {self.arguments.seed}/{number}")
        data = bytearray(drawn.wire())
        size = data.index(b"\r\n\r\n") + 4
        for _ in range(choice.choice([1, 1, 2, 4])):
            place = choice.randrange(size)
            data[place:place + choice.randrange(3)] = choice.choice(
                [b"", bytes([choice.randrange(256)]), b"\r\n", b"\n", b"\r", b" ", b"\t", b"\0", b":", b",", b"chunked", b"0", b"99999999999", b"%", b"\xff",
                 b"\r\nContent-Length: 3", b"\r\nTransfer-Encoding: chunked", b"\r\nHost: y", b"\r\n x", b"HTTP/1.1", b"HTTP/2.0"])
        connection = Connection(self.server.port)
        try:
            self.send(connection, bytes(data))
            try:
                connection.socket.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            count = 0
            # What cannot be parsed is none of HEAD, whatever its first line: its answer has a body.
            is_head = re.match(rb"HEAD \S+ HTTP/1\.[01]\r\n", data) is not None
            while (answer := connection.answer(is_head and count == 0)) is not None:
                count += 1
                self.count("changed", answer[0])
                status, headers, body = answer
                assert status != 500 and count < 200
                if status >= 400 and headers["content-type"] == "application/json" and body:
                    strict(body)
                if connection.is_closed:
                    assert connection.file.read(1) == b"" or (is_head and status >= 400), "something follows the last answer"
                    break
        except ConnectionResetError:
            # What was sent after the end of the drain.
            self.count("changed", 0)
        except AssertionError as error:
            raise AssertionError(f"{error}; sent: {bytes(data[:1_500])!r}")
        finally:
            connection.close()

    # ---- gRPC

    EXPECTED = {grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE,
                grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.FAILED_PRECONDITION}

    def call(self, channel, number):
        choice = random.Random(f"call {self.arguments.seed}/{number}")
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        kind = choice.randrange(6)
        name = choice.choice(["simple", "simple_batch", "types", "rectified", "open_length", "nameless", "identity"])
        request, right = self.message(name, choice)
        try:
            if kind <= 1:
                self.check_message(stub.ModelInfer(request, timeout=60), request, right)
            elif kind == 2:
                requests = [request] * choice.randrange(1, 6)
                answers = list(stub.ModelStreamInfer(iter(requests), timeout=60))
                assert len(answers) == len(requests)
                for answer in answers:
                    assert not answer.error_message, answer.error_message
                    self.check_message(answer.infer_response, request, right)
            elif kind == 3:
                method, content = choice.choice([
                    ("ServerLive", service_pb2.ServerLiveRequest()), ("ServerReady", service_pb2.ServerReadyRequest()),
                    ("ServerMetadata", service_pb2.ServerMetadataRequest()), ("ModelReady", service_pb2.ModelReadyRequest(name=name)),
                    ("ModelMetadata", service_pb2.ModelMetadataRequest(name=choice.choice([name, "nobody", ""]))),
                    ("ModelConfig", service_pb2.ModelConfigRequest(name=choice.choice([name, "nobody"]))),
                    ("ModelStatistics", service_pb2.ModelStatisticsRequest(name=choice.choice([name, "", "nobody"]))),
                    ("RepositoryIndex", service_pb2.RepositoryIndexRequest(ready=choice.random() < 0.5)),
                    ("SystemSharedMemoryStatus", service_pb2.SystemSharedMemoryStatusRequest())])
                getattr(stub, method)(content, timeout=60)
            else:
                # Bytes of a message by chance, or a field that does not fit.
                text = bytearray(request.SerializeToString())
                for _ in range(choice.choice([1, 2, 8])):
                    text[choice.randrange(len(text))] = choice.randrange(256)
                channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")(bytes(text), timeout=60)
            self.count("grpc", "OK")
        except grpc.RpcError as error:
            self.count("grpc", error.code().name)
            assert error.details(), error
            allowed = self.EXPECTED | ({grpc.StatusCode.INTERNAL} if kind > 3 else set())
            assert error.code() in allowed and (kind > 2 or error.code() == grpc.StatusCode.UNAVAILABLE), error

    def message(self, name, choice):
        arrays = self.drawer.arrays(name, choice)
        request = service_pb2.ModelInferRequest(model_name=name, id=choice.choice(["", "1", "ünï"]))
        for tensor, (datatype, array) in arrays.items():
            request.inputs.add(name=tensor, datatype=datatype, shape=array.shape)
            request.raw_input_contents.append(array.tobytes())
        order = [tensor["name"] for tensor in self.drawer.metadata[name]["inputs"]]
        return request, oracle(name, [arrays[tensor][1] for tensor in order])

    @staticmethod
    def check_message(answer, request, right):
        assert answer.id == request.id and answer.model_name == request.model_name
        assert len(answer.raw_output_contents) == len(answer.outputs) == len(right)
        for output, data, (expected, _) in zip(answer.outputs, answer.raw_output_contents, right):
            kind = np.dtype(TYPES[output.datatype])
            assert list(output.shape) == list(expected.shape) and data == expected.astype(kind).tobytes(), output

    # ---- All of it

    def usage(self):
        folder = Path(f"/proc/{self.server.process.pid}")
        return self.server.rss() >> 20, sum(1 for _ in (folder / "task").iterdir()), sum(1 for _ in (folder / "fd").iterdir())

    def run(self):
        total = self.arguments.count
        self.arguments.count = total // 4
        self.everyone()
        time.sleep(1)
        before = self.usage()
        self.arguments.count = total
        start = time.monotonic()
        self.everyone()
        seconds = time.monotonic() - start
        # Each again, while nobody else asks.
        if not self.findings and self.server.process.poll() is None:
            for number, answer in self.known[:300]:
                drawn = self.drawer.draw(self.arguments.seed, number)
                connection = Connection(self.server.port)
                self.send(connection, drawn.wire())
                found = self.comparable(connection.answer(drawn.method == "HEAD"))
                connection.close()
                if found != answer:
                    self.find(number, AssertionError(f"alone, the answer is another one: {found[0]} {found[2][:300]} and {answer[0]} {answer[2][:300]}"))
        print(f"{self.next} requests and calls, {(total - total // 4) / seconds:.0f} a second; by status: "
              f"{dict(sorted(self.statuses.items(), key=str))}; by kind: {dict(sorted(self.kinds.items()))}")
        if self.server.process.poll() is not None:
            print(f"the server died with status {self.server.process.poll()}: {self.server.lines[-5:]}")
            return 1
        assert self.server.request("/v2/health/live")[0] == 200
        time.sleep(3)
        after = self.usage()
        print(f"MiB, threads and descriptors: {before} after a quarter, {after} at the end; {len(self.findings)} findings")
        is_flat = after[0] - before[0] < 48 and after[1] - before[1] <= 4 and after[2] - before[2] <= 16
        if not is_flat:
            print("that is not flat")
        return 0 if is_flat and not self.findings and self.server.stop() == 0 else 1

    def everyone(self):
        clients = [threading.Thread(target=self.client, args=(f"{number}/{self.arguments.count}",)) for number in range(self.arguments.clients)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()


def repository(folder):
    """A folder of small models of both kinds: of numbers, and of pictures."""
    every = folder / "every"
    subprocess.run([sys.executable, Path(__file__).parent / "make_models.py", every], check=True)
    (folder / "models").mkdir()
    for name in MODELS:
        for kind in (name, f"{name}.tflite"):
            if (every / kind).exists():
                os.rename(every / kind, folder / "models" / kind)
    for name in TASKS.values():
        (folder / "models" / f"{name}.tflite").write_bytes((EXAMPLES / "Models" / f"{name}.tflite").read_bytes())
    return folder / "models"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="shows the request of one number, and its answer")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        # The delay has requests of different clients joined.
        with Server("--model-repository", repository(Path(name)), "--model-control", "explicit", "--max-body", 8 << 20, "--queue-delay", 500) as server:
            machine = Machine(server, arguments)
            if not arguments.only:
                sys.exit(machine.run())
            drawn = machine.drawer.draw(arguments.seed, arguments.only)
            connection = Connection(server.port)
            connection.socket.sendall(drawn.wire())
            answer = connection.answer(drawn.method == "HEAD")
            print(drawn.kind, drawn.wire(), answer, sep="\n")
            machine.check(drawn, answer)


if __name__ == "__main__":
    main()
