#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One peer engine with one model in a process of its own, driven by lines on standard input.

The argument is a JSON object: engine, model, threads, inputs (path, dtype, shape, name) and outputs (names). Lines and
answers are those of `apus-benchmark serve`: `run N`, `outputs FOLDER`, `memory`; each answer is a line of JSON.
"""

import json
import pathlib
import sys
import time

import numpy as np


def status(field):
    """A field of this process's memory in MB, or 0 where the system does not tell."""
    try:
        for line in pathlib.Path("/proc/self/status").read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0


class LiteRT:
    """LiteRT's interpreter: with its default delegate, XNNPACK, or with its builtin kernels alone."""

    def __init__(self, builtin):
        from ai_edge_litert import interpreter

        self._module = interpreter
        resolvers = interpreter.OpResolverType
        self._resolver = resolvers.BUILTIN_WITHOUT_DEFAULT_DELEGATES if builtin else resolvers.AUTO

    def load(self, model, threads, inputs, _):
        self._interpreter = self._module.Interpreter(
            model_path=model, num_threads=threads, experimental_op_resolver_type=self._resolver
        )
        for detail, (name, data) in zip(self._interpreter.get_input_details(), inputs, strict=True):
            if list(detail["shape"]) != list(data.shape):
                self._interpreter.resize_tensor_input(detail["index"], data.shape)
        self._interpreter.allocate_tensors()
        for detail, (name, data) in zip(self._interpreter.get_input_details(), inputs, strict=True):
            self._interpreter.set_tensor(detail["index"], data)

    def times(self, count):
        invoke = self._interpreter.invoke
        result = []
        for _ in range(count):
            start = time.perf_counter_ns()
            invoke()
            result.append((time.perf_counter_ns() - start) / 1e6)
        return result

    def outputs(self):
        for detail in self._interpreter.get_output_details():
            yield detail["name"], self._interpreter.get_tensor(detail["index"])


class OpenVINO:
    """OpenVINO on the processor; latencies are those that it measures itself, without Python's share."""

    def __init__(self, precision):
        import openvino

        self._openvino = openvino
        self._precision = precision

    def load(self, model, threads, inputs, names):
        core = self._openvino.Core()
        graph = core.read_model(model)
        ports = [self._port(graph.inputs, name, place) for place, (name, _) in enumerate(inputs)]
        if any(port.partial_shape.is_dynamic for port in ports):
            graph.reshape({port: list(data.shape) for port, (_, data) in zip(ports, inputs)})
        options = {
            "PERFORMANCE_HINT": "LATENCY",
            "NUM_STREAMS": 1,
            "INFERENCE_NUM_THREADS": threads,
        }
        if self._precision:
            options["INFERENCE_PRECISION_HINT"] = self._precision
        compiled = core.compile_model(graph, "CPU", options)
        self._request = compiled.create_infer_request()
        for place, (name, data) in enumerate(inputs):
            port = self._port(compiled.inputs, name, place)
            tensor = self._openvino.Tensor(port.get_element_type(), data.shape)
            tensor.data[...] = data
            self._request.set_tensor(port, tensor)
        self._outputs = [
            (name, self._port(compiled.outputs, name, place)) for place, name in enumerate(names)
        ]

    @staticmethod
    def _port(ports, name, place):
        named = [port for port in ports if name in port.get_names()]
        return named[0] if len(named) == 1 else ports[place]

    def times(self, count):
        result = []
        for _ in range(count):
            self._request.infer()
            result.append(self._request.latency)
        return result

    def outputs(self):
        for name, port in self._outputs:
            yield name, np.array(self._request.get_tensor(port).data)


ENGINES = {
    "litert": lambda: LiteRT(builtin=False),
    "litert-builtin": lambda: LiteRT(builtin=True),
    "openvino-f32": lambda: OpenVINO("f32"),
    "openvino-default": lambda: OpenVINO(None),
}


def answer(value):
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def memory():
    return {"resident_mb": status("VmRSS:"), "peak_mb": status("VmHWM:")}


def write_outputs(engine, folder):
    files = []
    for place, (name, value) in enumerate(engine.outputs()):
        path = f"{folder}/output_{place}.bin"
        np.ascontiguousarray(value).tofile(path)
        files.append({"name": name, "type": value.dtype.name, "shape": list(value.shape), "file": path})
    return files


def main():
    task = json.loads(sys.argv[1])
    engine = ENGINES[task["engine"]]()
    inputs = []
    for entry in task["inputs"]:
        data = np.fromfile(entry["path"], entry["dtype"]).reshape(entry["shape"])
        inputs.append((entry["name"], data))
    try:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass
    before = status("VmRSS:")
    start = time.perf_counter()
    engine.load(task["model"], task["threads"], inputs, task["outputs"])
    loaded = time.perf_counter()
    engine.times(1)
    first = time.perf_counter()
    answer(
        {
            "load_ms": (loaded - start) * 1e3,
            "first_ms": (first - loaded) * 1e3,
            "before_mb": before,
            **memory(),
        }
    )
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        if command == "run":
            answer(engine.times(int(argument)))
        elif command == "outputs":
            answer(write_outputs(engine, argument))
        elif command == "memory":
            answer(memory())
        else:
            raise SystemExit(f"error: '{line.strip()}' is no command")


if __name__ == "__main__":
    main()
