# SPDX-License-Identifier: Apache-2.0
"""Starts the servers of the comparison, each on the first processor, with one run at a time on one thread."""

import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = Path(".build/serving-benchmark").resolve()


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Server:
    """A process with a REST and a gRPC address."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.http, self.grpc = (f"127.0.0.1:{free_port()}" for _ in range(2))

    def start(self, command, environment=None):
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen(
            ["taskset", "-c", "0", *map(str, command)], stdout=self.log, stderr=self.log, cwd=self.folder,
            env={**os.environ, **(environment or {})})
        end = time.monotonic() + 120
        while True:
            try:
                with urllib.request.urlopen(f"http://{self.http}/v2/health/ready", timeout=1) as answer:
                    if answer.status == 200:
                        return
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"error: {self.name} did not start:\n{(self.folder / 'log').read_text()[-3000:]}")
            time.sleep(0.1)

    def processor_seconds(self):
        """What the server's processes have taken of processors so far."""
        tree, ticks = {self.process.pid}, 0
        entries = []
        for place in Path("/proc").iterdir():
            if place.name.isdigit():
                try:
                    fields = (place / "stat").read_text().rsplit(")", 1)[1].split()
                except OSError:
                    continue
                entries.append((int(place.name), int(fields[1]), int(fields[11]) + int(fields[12])))
        for _ in range(4):
            tree |= {process for process, parent, _ in entries if parent in tree}
        ticks = sum(time for process, _, time in entries if process in tree)
        return ticks / os.sysconf("SC_CLK_TCK")

    def answered(self, model):
        """How many requests the server has answered; None where it does not say."""
        if not self.has_configuration:
            return None
        with urllib.request.urlopen(f"http://{self.http}/v2/models/{model.name}/stats") as answer:
            return json.load(answer)["model_stats"][0]["inference_stats"]["success"]["count"]

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Apus(Server):
    name = "apus"
    has_binary_rest = True
    has_configuration = True

    def __init__(self, folder, models):
        super().__init__(folder)
        for model in models:
            shutil.copy(model.path, folder / f"{model.name}.tflite")
        self.start([os.environ["APUS_SERVER"], *(folder / f"{model.name}.tflite" for model in models), "--instances", 1,
                    "--http", self.http, "--grpc", self.grpc, "--max-queue", 1000])

    def input_name(self, model):
        return model.input_name


class Triton(Server):
    """Triton 2.51 for CPUs, from the wheel nvidia-pytriton; models by LiteRT in its Python backend."""

    name = "triton"
    has_binary_rest = True
    has_configuration = True

    def __init__(self, folder, models):
        super().__init__(folder)
        site, = (ENVIRONMENTS / "triton" / "lib").glob("python3*/site-packages")
        root = site / "pytriton" / "tritonserver"
        version = re.search(r"python(3\.\d+)", str(site)).group(1)
        backend = root / "backends" / "python"
        stub = root / "python_backend_stubs" / version / "triton_python_backend_stub"
        if not (backend / stub.name).exists() or (backend / stub.name).stat().st_size != stub.stat().st_size:
            shutil.copy(stub, backend / stub.name)
        for model in models:
            place = folder / "models" / model.name / "1"
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(HERE / "triton_model.py", place / "model.py")
            (place.parent / "config.pbtxt").write_text(self.configuration(model))
        python = Path(subprocess.run(
            [ENVIRONMENTS / "triton" / "bin" / "python", "-c", "import sysconfig; print(sysconfig.get_config_var('LIBDIR'))"],
            check=True, capture_output=True, text=True).stdout.strip())
        libraries = [site / "nvidia_pytriton.libs", root / "external_libs", root / "lib", python]
        self.start(
            [root / "bin" / "tritonserver", "--model-repository", folder / "models", "--backend-directory", root / "backends",
             "--http-address", "127.0.0.1", "--http-port", self.http.split(":")[1], "--grpc-address", "127.0.0.1",
             "--grpc-port", self.grpc.split(":")[1], "--allow-metrics", "false"],
            {"LD_LIBRARY_PATH": ":".join(map(str, libraries)), "PYTHONPATH": str(site),
             "PATH": f"{ENVIRONMENTS / 'triton' / 'bin'}:{os.environ['PATH']}"})

    @staticmethod
    def configuration(model):
        def tensor(kind, name, datatype, shape):
            return f'{kind} {{ name: "{name}" data_type: TYPE_{datatype} dims: {json.dumps(shape)} }}\n'

        path = "identity" if model.name == "identity" else model.path
        text = f'name: "{model.name}"\nbackend: "python"\nmax_batch_size: 0\n'
        text += tensor("input", "INPUT0", model.datatype, model.shape)
        for index, output in enumerate(model.outputs):
            text += tensor("output", f"OUTPUT{index}", output["datatype"], output["shape"])
        text += "instance_group { count: 1 kind: KIND_CPU }\n"
        return text + f'parameters {{ key: "path" value {{ string_value: "{path}" }} }}\n'

    def input_name(self, model):
        return "INPUT0"


class MLServer(Server):
    """MLServer 1.7 with a custom runtime, in one process."""

    name = "mlserver"
    has_binary_rest = False
    has_configuration = False

    def __init__(self, folder, models):
        super().__init__(folder)
        (folder / "settings.json").write_text(json.dumps({
            "debug": False, "parallel_workers": 0, "host": "127.0.0.1", "http_port": int(self.http.split(":")[1]),
            "grpc_port": int(self.grpc.split(":")[1]), "metrics_port": free_port(), "cache_enabled": False}))
        for model in models:
            place = folder / model.name
            place.mkdir(exist_ok=True)
            path = "identity" if model.name == "identity" else str(model.path)
            (place / "model-settings.json").write_text(json.dumps({
                "name": model.name, "implementation": "mlserver_model.LiteRTModel", "parameters": {"uri": path}}))
        self.start([ENVIRONMENTS / "mlserver" / "bin" / "mlserver", "start", folder], {"PYTHONPATH": str(HERE)})

    def input_name(self, model):
        return "INPUT0"


ALL = {"apus": Apus, "triton": Triton, "mlserver": MLServer}
