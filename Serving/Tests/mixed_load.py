# SPDX-License-Identifier: Apache-2.0
"""A server under mixed load for some minutes: memory, threads and descriptors stay flat.

    APUS_SERVER=… python Serving/Tests/mixed_load.py --minutes 60

Clients of all kinds at once: good ones over HTTP and gRPC, pictures, mistakes, bombs, half-closed, reset and slow connections,
models that are loaded and unloaded. It prints a line every ten seconds, and ends with status 1 if the server died, answered
with 500, or did not stay flat.
"""

import argparse
import collections
import gzip
import http.client
import json
import os
import random
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import grpc  # noqa: E402
import numpy as np  # noqa: E402
from http2 import Connection, framed  # noqa: E402
from server import Server  # noqa: E402
from tritonclient.grpc import service_pb2, service_pb2_grpc  # noqa: E402

SIMPLE = json.dumps({"inputs": [{"name": f"INPUT{k}", "shape": [1, 16], "datatype": "INT32", "data": list(range(16))}
                                for k in (0, 1)]}).encode()
PATH = "/v2/models/simple/infer"


def message():
    request = service_pb2.ModelInferRequest(model_name="simple")
    for position in (0, 1):
        request.inputs.add(name=f"INPUT{position}", datatype="INT32", shape=[1, 16])
        request.raw_input_contents.append(np.arange(16, dtype="<i4").tobytes())
    return request


class Load:
    def __init__(self, server, vision, seed, pause):
        self.server, self.vision, self.random, self.pause = server, vision, random.Random(seed), pause
        self.stop = threading.Event()
        self.statuses = collections.Counter()
        self.failures = []
        self.sample = vision.request("/sample.jpg")[2]

    def ask(self, path, body=None, server=None, **more):
        status, _, text = (server or self.server).request(path, body, **more)
        self.statuses[status] += 1
        if status == 500:
            self.failures.append((path, text[:200]))
        return status, text

    # ---- What clients do

    def infer(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        for _ in range(50):
            connection.request("POST", PATH, SIMPLE)
            answer = connection.getresponse()
            text = answer.read()
            self.statuses[answer.status] += 1
            if answer.status == 200 and b'"data":[0,2,4' not in text:
                self.failures.append((PATH, text[:200]))
        connection.close()

    def calls(self):
        with grpc.insecure_channel(self.server.grpc) as channel:
            stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
            for _ in range(20):
                stub.ModelInfer(message())
            answers = list(stub.ModelStreamInfer(iter([message()] * 20)))
            if len(answers) != 20:
                self.failures.append(("stream", f"{len(answers)} answers to 20 requests"))
            for answer in answers:
                if answer.error_message:
                    self.failures.append(("stream", answer.error_message))
            for request, metadata in ((service_pb2.ModelInferRequest(model_name="nobody"), []), (message(), [("x", "y" * 20_000)])):
                try:
                    stub.ModelInfer(request, metadata=metadata)
                except grpc.RpcError as error:
                    self.statuses[error.code().name] += 1

    def frames(self):
        good = framed(message().SerializeToString())
        with Connection(self.server.grpc) as connection:
            for text, headers in ((good, []), (framed(b"\xff" * 50), []), (b"\2" + good[1:], []), (good[:-4], []),
                                  (good, [("grpc-timeout", self.random.choice(["0S", "-1S", "99999999H", "1m"]))]),
                                  (struct.pack(">BI", 0, 2**31), [])):
                number = connection.open(headers=headers)
                connection.send(number, text)
                self.statuses[f"grpc {connection.wait(number).status}"] += 1

    def pictures(self):
        for query in ("", "?annotate=png", "?score_threshold=0.9&max_results=1"):
            self.ask("/v1/detect" + query, self.sample, self.vision)
        damaged = bytearray(self.sample)
        for _ in range(20):
            damaged[self.random.randrange(len(damaged))] = self.random.randrange(256)
        self.ask("/v1/detect", bytes(damaged), self.vision)

    def mistakes(self):
        body = bytearray(SIMPLE)
        for _ in range(self.random.randrange(1, 8)):
            body[self.random.randrange(len(body))] = self.random.randrange(256)
        self.ask(PATH, bytes(body))
        self.ask(self.random.choice(["/nothing", "/v2/models/nobody", "/v2/%ff", "/v1/detect?x=y"]))
        for path in ("/metrics", "/v2", "/v2/models/stats", "/", "/v2/health/ready"):
            self.ask(path)

    def bombs(self):
        self.ask(PATH, gzip.compress(bytes(32 << 20)), headers={"Content-Encoding": "gzip"})
        self.ask(PATH, bytes(9 << 20))
        self.ask(PATH, gzip.compress(SIMPLE), headers={"Content-Encoding": "gzip"})

    def sockets(self):
        head = b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (PATH.encode(), len(SIMPLE))
        for kind in range(6):
            with socket.create_connection(("127.0.0.1", self.server.port), timeout=30) as connection:
                if kind == 0:  # half-closed
                    connection.sendall(head + SIMPLE)
                    connection.shutdown(socket.SHUT_WR)
                    if b" 200 " not in connection.recv(65536)[:20]:
                        self.failures.append(("half-closed", b""))
                elif kind == 1:  # reset
                    connection.sendall(head + SIMPLE)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                elif kind == 2:  # gone in the middle
                    connection.sendall(head + SIMPLE[:40])
                elif kind == 3:  # slow
                    for byte in head[:60]:
                        connection.sendall(bytes([byte]))
                        time.sleep(0.002)
                elif kind == 4:  # a body that comes after its answer
                    connection.sendall(b"POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
                    for _ in range(5):
                        connection.sendall(bytes(1000))
                        time.sleep(0.01)
                    if b" 404 " not in connection.recv(65536)[:20]:
                        self.failures.append(("trickle", b""))
                else:
                    connection.sendall(b"\x16\x03\x01" + os.urandom(100) + b"\r\n\r\n")

    def models(self):
        for action in ("unload", "load"):
            self.ask(f"/v2/repository/models/identity/{action}", b"")
        self.ask("/v2/repository/models/nobody/load", b"")

    # ---- Measuring

    def is_alive(self):
        return self.server.process.poll() is None and self.vision.process.poll() is None

    def usage(self):
        """MiB, threads and descriptors of both servers."""
        counts = [0, 0, 0]
        for server in (self.server, self.vision):
            folder = Path(f"/proc/{server.process.pid}")
            counts[0] += server.rss() >> 20
            counts[1] += sum(1 for _ in (folder / "task").iterdir())
            counts[2] += sum(1 for _ in (folder / "fd").iterdir())
        return counts

    def client(self, seed):
        choice = random.Random(seed)
        kinds = [self.infer, self.calls, self.frames, self.pictures, self.mistakes, self.bombs, self.sockets, self.models]
        while not self.stop.is_set():
            kind = choice.choice(kinds)
            try:
                kind()
            except (OSError, http.client.HTTPException, grpc.RpcError) as error:
                if self.is_alive():
                    self.statuses[f"{kind.__name__}: {type(error).__name__}"] += 1
                else:
                    return
            self.stop.wait(self.pause)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, default=0, help="seconds that each client waits between two things that it does")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.executable, Path(__file__).parent / "make_models.py", folder / "all"], check=True)
        (folder / "some").mkdir()
        for model in ("simple", "identity"):
            (folder / "some" / f"{model}.tflite").write_bytes((folder / "all" / f"{model}.tflite").read_bytes())
        with Server("--model-repository", folder / "some", "--model-control", "explicit", "--max-body", 8 << 20) as server:
            with Server() as vision:
                sys.exit(run(server, vision, arguments))


def run(server, vision, arguments):
    load = Load(server, vision, arguments.seed, arguments.pause)
    clients = [threading.Thread(target=load.client, args=(arguments.seed * 1000 + number,), daemon=True)
               for number in range(arguments.clients)]
    for client in clients:
        client.start()
    samples, start = [], time.monotonic()
    while time.monotonic() - start < arguments.minutes * 60 and load.is_alive():
        time.sleep(10)
        samples.append(load.usage())
        print(f"{time.monotonic() - start:6.0f} s  {samples[-1][0]:5} MiB  {samples[-1][1]:4} threads  {samples[-1][2]:4} descriptors  "
              f"{sum(load.statuses.values()):8} answers  {len(load.failures)} failures", flush=True)
    load.stop.set()
    for client in clients:
        client.join(60)
    if not load.is_alive():
        print(f"a server died with status {server.process.poll()}, {vision.process.poll()}: {(server.lines + vision.lines)[-5:]}")
        return 1
    time.sleep(5)
    rest = load.usage()
    status = server.stop() or vision.stop()
    print(f"at rest: {rest[0]} MiB, {rest[1]} threads, {rest[2]} descriptors; exit status {status}")
    print(dict(sorted(load.statuses.items(), key=str)))
    for failure in load.failures[:10]:
        print("failure:", failure)
    quarter = max(1, len(samples) // 4)
    # The first quarter warms up: what every kind of request needs once.
    early, late = samples[quarter:2 * quarter] or samples, samples[-quarter:]
    grown = [statistics.median(values) for values in zip(*late)], [statistics.median(values) for values in zip(*early)]
    growth = [late - early for late, early in zip(*grown)]
    print(f"from the second quarter to the last: {growth[0]:+.0f} MiB, {growth[1]:+.0f} threads, {growth[2]:+.0f} descriptors")
    flat = growth[0] < 32 and growth[1] < 8 and growth[2] < 64
    return 0 if flat and status == 0 and not load.failures else 1


if __name__ == "__main__":
    main()
