# SPDX-License-Identifier: Apache-2.0
"""Measures servers side by side; `run.sh` says how it is called.

Each server runs on the first processor and the load on the second. For each model, protocol and number of clients the
servers are measured in turn, so that what disturbs the machine disturbs all of them.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import tritonclient.grpc as triton

import load
import report
import servers

FILES = {
    "coco_ssd": "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29.tflite",
    "mobilenet_v2": "mobilenet_v2_1.0_224_quant.tflite",
}


@dataclass
class Model:
    name: str
    path: Path
    input_name: str = ""
    datatype: str = ""
    shape: list = field(default_factory=list)
    outputs: list = field(default_factory=list)

    def describe(self):
        from ai_edge_litert.interpreter import Interpreter

        names = {np.uint8: "UINT8", np.int8: "INT8", np.float32: "FP32", np.int32: "INT32"}
        interpreter = Interpreter(str(self.path))
        interpreter.allocate_tensors()
        found, = interpreter.get_input_details()
        self.input_name, self.datatype = found["name"], names[found["dtype"]]
        self.shape = found["shape"].tolist()
        interpreter.invoke()
        self.outputs = [{"datatype": names[output["dtype"]],
                         "shape": list(interpreter.get_tensor(output["index"]).shape)}
                        for output in interpreter.get_output_details()]
        self.values = np.random.default_rng(25).integers(0, 256, self.shape).astype(
            {"UINT8": np.uint8, "INT8": np.int8, "FP32": np.float32}[self.datatype])
        return self


def in_process(model):
    """Inferences per second of the engine alone, on the processor that the servers use."""
    done = subprocess.run(
        ["taskset", "-c", "0", os.environ["APUS_BENCHMARK"], model.path, "--threads", "1", "--runs", "100", "--json"],
        capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    return 1000 / (found[0] if isinstance(found, list) else found)["median_ms"]


def check(running, models):
    """All servers give about the same answer, so that all do the same work."""
    for model in models:
        expected = None
        for server in running:
            with triton.InferenceServerClient(server.grpc) as client:
                tensor = triton.InferInput(server.input_name(model), model.shape, model.datatype)
                tensor.set_data_from_numpy(model.values)
                answer = client.infer(model.name, [tensor])
                found = [answer.as_numpy(output.name).astype(float) for output in answer.get_response().outputs]
            if expected is None:
                expected = found
            # MLServer's codec writes a vector as a column, so it is the numbers of values that are compared.
            sizes = [array.size for array in found], [array.size for array in expected]
            assert sizes[0] == sizes[1], (server.name, model.name, sizes)
            if model.name == "identity":
                assert np.array_equal(found[0], model.values), server.name
            else:
                largest = max(range(len(found)), key=lambda index: found[index].size)
                both = np.corrcoef(found[largest].ravel(), expected[largest].ravel())[0, 1]
                if not both > 0.9:
                    print(f"note: {server.name} and {running[0].name} correlate by {both:.3f} on {model.name}",
                          file=sys.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=int, default=3, help="for each measurement")
    parser.add_argument("--clients", default="1,8,64")
    parser.add_argument("--servers", default="apus,triton,mlserver")
    parser.add_argument("--models", default="identity,coco_ssd,mobilenet_v2")
    parser.add_argument("--docs", type=Path)
    parser.add_argument("--note", default="")
    options = parser.parse_args()
    if (os.cpu_count() or 1) < 2:
        raise SystemExit("error: the server and the load need a processor each")
    busy = " ".join(f"{value:.1f}" for value in os.getloadavg())
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        subprocess.run([sys.executable, "Serving/Tests/make_models.py", folder / "small"], check=True)
        models = [Model(name, folder / "small" / "identity.tflite" if name == "identity"
                        else (options.folder / FILES[name]).resolve()).describe() for name in options.models.split(",")]
        names = options.servers.split(",")
        alone = {model.name: in_process(model) for model in models if model.name != "identity"}
        running = []
        try:
            for name in names:
                running.append(servers.ALL[name](folder / name, models))
            check(running, models)
            rows = []
            for model in models:
                for protocol in load.PROTOCOLS if model.name == "identity" else load.PROTOCOLS[1:]:
                    for clients in map(int, options.clients.split(",")):
                        found = {server.name: load.measure(protocol, server, model, clients, options.seconds, folder)
                                 for server in running}
                        rows.append({"model": model.name, "protocol": protocol, "clients": clients, "found": found})
                        print(model.name, protocol, clients, *(f"{name}: {report.cell(found[name])};" for name in names),
                              file=sys.stderr, flush=True)
        finally:
            for server in running:
                server.stop()
    text = report.table(rows, names, alone, options, busy)
    results = Path("Benchmarks/results")
    results.mkdir(exist_ok=True)
    (results / "serving.md").write_text(text)
    (results / "serving.json").write_text(json.dumps({"rows": rows, "in_process": alone, "load": busy}, indent=1) + "\n")
    print(text)
    if options.docs:
        page = options.docs.read_text()
        start, end = "<!-- serving -->\n", "<!-- end of serving -->"
        before, after = page.split(start)
        options.docs.write_text(before + start + text + end + after.split(end)[1])
    print(f"{time.monotonic() - begin:.0f} seconds", file=sys.stderr)


if __name__ == "__main__":
    main()
