# SPDX-License-Identifier: Apache-2.0
"""A server that is killed in the middle: its clients see an error, what it reads is as it was, and the next one serves."""

import hashlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import threading
import time

import grpc
import numpy as np
import pytest
from server import Server
from tritonclient.grpc import service_pb2, service_pb2_grpc

SIMPLE = json.dumps({"inputs": [{"name": f"INPUT{k}", "shape": [1, 16], "datatype": "INT32", "data": list(range(16))}
                                for k in (0, 1)]}).encode()
WAIT = json.dumps({"inputs": [{"name": "x", "shape": [1], "datatype": "INT32", "data": [2_000_000_000]}]}).encode()
PATH = "/v2/models/simple/infer"


def files(folder):
    """Every file of a folder: its time and what is in it."""
    return {str(path.relative_to(folder)): (path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest())
            for path in sorted(folder.rglob("*")) if path.is_file()}


class Clients:
    """Clients of all kinds, until their server is gone: each notes what it saw last."""

    def __init__(self, server):
        self.server, self.answered, self.wrong, self.errors, self.threads = server, 0, [], [], []
        kinds = [lambda: self.ask(PATH, SIMPLE, b'"data":[0,2,4')] * 3 + [
            lambda: self.ask("/v2/models/countdown/infer", WAIT, None), lambda: self.ask("/v2/repository/models/identity/load", b"{}", b"{}"),
            lambda: self.ask("/sample.jpg", None, None), self.call, self.stream]
        for kind in kinds:
            self.threads.append(threading.Thread(target=self.until_error, args=(kind,), daemon=True))
            self.threads[-1].start()

    def until_error(self, kind):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                kind()
            except (OSError, http.client.HTTPException, grpc.RpcError) as error:
                self.errors.append(error)
                return

    def ask(self, path, body, expected):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        for _ in range(10):
            connection.request("POST" if body else "GET", path, body)
            answer = connection.getresponse()
            text = answer.read()  # Raises if the answer is cut off.
            if answer.status == 200:
                self.answered += 1
                if expected is not None and expected not in text:
                    self.wrong.append(text)

    @staticmethod
    def message():
        request = service_pb2.ModelInferRequest(model_name="simple")
        for position in (0, 1):
            request.inputs.add(name=f"INPUT{position}", datatype="INT32", shape=[1, 16])
            request.raw_input_contents.append(np.arange(16, dtype="<i4").tobytes())
        return request

    def take(self, answer):
        self.answered += 1
        if answer.raw_output_contents[0] != (np.arange(16, dtype="<i4") * 2).tobytes():
            self.wrong.append(answer)

    def call(self):
        with grpc.insecure_channel(self.server.grpc) as channel:
            for _ in range(10):
                self.take(service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelInfer(self.message(), timeout=30))

    def stream(self):
        with grpc.insecure_channel(self.server.grpc) as channel:
            for answer in service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelStreamInfer(iter([self.message()] * 20), timeout=30):
                self.take(answer.infer_response)


def test_a_killed_server_leaves_errors_to_its_clients_and_nothing_half_written(models, tmp_path):
    repository, scratch = tmp_path / "models", tmp_path / "scratch"
    shutil.copytree(models, repository)
    scratch.mkdir()
    before = files(repository)
    for seconds in (0.2, 0.5, 1.1):
        with Server("--model-repository", repository, "--model-control", "explicit", environment={"TMPDIR": str(scratch)}) as server:
            clients = Clients(server)
            time.sleep(seconds)
            start = time.monotonic()
            server.process.kill()
            assert server.process.wait(10) == -9
            for thread in clients.threads:
                thread.join(20)
            assert time.monotonic() - start < 15 and not any(thread.is_alive() for thread in clients.threads), "a client still waits"
            assert len(clients.errors) == len(clients.threads), "a client saw no error"
            assert not clients.wrong and (clients.answered or seconds < 1), clients.wrong
        assert files(repository) == before and not list(scratch.iterdir())
        # The next one has every model, and answers.
        with Server("--model-repository", repository, "--model-control", "explicit") as server:
            assert {entry["state"] for entry in server.json("/v2/repository/index", b"")[1]} == {"READY"}
            assert server.json(PATH, SIMPLE)[1]["outputs"][0]["data"] == list(range(0, 32, 2))
            assert server.stop() == 0


def test_a_supervisor_starts_a_killed_server_again_on_the_same_ports(models):
    """What systemd's `Restart=on-failure` does, by a shell; connections of the killed one must not keep its ports."""
    with socket.socket() as first, socket.socket() as second:
        for listener in (first, second):
            listener.bind(("127.0.0.1", 0))
        http_port, grpc_port = first.getsockname()[1], second.getsockname()[1]
    script = 'while :; do "$@" & echo $! >&3; wait $! && exit 0; done'
    reader, writer = os.pipe()
    supervisor = subprocess.Popen(
        ["bash", "-c", f"exec 3>&{writer}; {script}", "supervisor", os.environ["APUS_SERVER"], "--http", f"127.0.0.1:{http_port}", "--grpc",
         f"127.0.0.1:{grpc_port}", str(models / "simple.tflite")], pass_fds=[writer], stderr=subprocess.DEVNULL)
    os.close(writer)
    pids = os.fdopen(reader)

    def answers(within=30):
        end = time.monotonic() + within
        while time.monotonic() < end:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", http_port, timeout=10)
                connection.request("POST", PATH, SIMPLE)
                if b'"data":[0,2,4' in connection.getresponse().read():
                    return connection
            except (OSError, http.client.HTTPException):
                time.sleep(0.05)
        pytest.fail("the server is not back")

    try:
        connections = []
        for _ in range(3):
            pid = int(pids.readline())
            connections += [answers() for _ in range(5)]
            os.kill(pid, 9)
            with pytest.raises((OSError, http.client.HTTPException)):
                for _ in range(2):
                    connections[-1].request("POST", PATH, SIMPLE)
                    connections[-1].getresponse().read()
        pid = int(pids.readline())
        answers()
        os.kill(pid, 15)
        assert supervisor.wait(40) == 0
    finally:
        if supervisor.poll() is None:
            supervisor.kill()
            os.kill(pid, 9)
