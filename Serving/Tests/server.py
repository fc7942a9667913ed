# SPDX-License-Identifier: Apache-2.0
"""Starts `apus-server` for tests and says where it listens."""

import json
import os
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request


class Server:
    """A running server on free ports of the loopback interface."""

    def __init__(self, *options, environment=None):
        binary = os.environ["APUS_SERVER"]
        command = [binary, "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0", *map(str, options)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **(environment or {})})
        self.lines = []
        self.http = self.grpc = None
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        end = time.monotonic() + 60
        while self.http is None or self.grpc is None:
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the server did not start: {self.lines}")
            time.sleep(0.01)

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))
            if line.startswith("http "):
                self.http = line.split()[1]
            elif line.startswith("grpc "):
                self.grpc = line.split()[1]

    @property
    def port(self):
        return int(self.http.rsplit(":", 1)[1])

    def request(self, path, body=None, headers=None, method=None, timeout=60):
        """The status, headers and body of an answer."""
        data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        request = urllib.request.Request(f"http://{self.http}{path}", data, headers or {}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, dict(answer.headers), answer.read()
        except urllib.error.HTTPError as error:
            return error.code, dict(error.headers), error.read()

    def json(self, path, body=None, **more):
        status, _, text = self.request(path, body, **more)
        return status, json.loads(text, parse_constant=_refuse) if text else None

    def rss(self):
        """Resident memory in bytes."""
        return self._memory("VmRSS:")

    def peak(self):
        """The most resident memory so far, in bytes."""
        return self._memory("VmHWM:")

    def _memory(self, name):
        with open(f"/proc/{self.process.pid}/status") as status:
            for line in status:
                if line.startswith(name):
                    return int(line.split()[1]) * 1024
        raise RuntimeError(f"no {name}")

    def wait_for_queue(self, model, count):
        """Waits until so many requests wait for a model."""
        end = time.monotonic() + 30
        start = f'nv_inference_pending_request_count{{model="{model}"'
        while time.monotonic() < end:
            lines = [line for line in self.request("/metrics")[2].decode().splitlines() if line.startswith(start)]
            if lines and int(lines[0].rsplit(" ", 1)[1]) >= count:
                return
            time.sleep(0.01)
        raise RuntimeError(f"fewer than {count} requests wait for {model}")

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def stop(self, timeout=60):
        """Ends the server as an operator does; its exit status."""
        if self.process.poll() is None:
            self.terminate()
        status = self.process.wait(timeout)
        self._reader.join(5)
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def _refuse(constant):
    raise ValueError(f"{constant} is not JSON")
