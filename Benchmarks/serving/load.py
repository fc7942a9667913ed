# SPDX-License-Identifier: Apache-2.0
"""Load for one server: wrk over REST, perf_analyzer over gRPC; both on the second processor."""

import csv
import json
import os
import subprocess
import sys

import servers

PROTOCOLS = ["REST, JSON", "REST, binary", "gRPC"]
ENVIRONMENT = servers.ENVIRONMENTS / "load"


def measure(protocol, server, model, clients, seconds, folder):
    """Requests, the microseconds that they took, p50, p99, and the server's processor time for each request in
    microseconds; None where the server lacks the protocol."""
    if protocol == "REST, binary" and not server.has_binary_rest:
        return None
    before, count = server.processor_seconds(), server.answered(model)
    if protocol == "gRPC":
        found = grpc(server, model, clients, seconds, folder)
    else:
        found = rest(server, model, clients, seconds, folder, binary=protocol == "REST, binary")
    answered = found["requests"] if count is None else server.answered(model) - count
    found["processor"] = (server.processor_seconds() - before) / max(1, answered) * 1e6
    return found


def rest(server, model, clients, seconds, folder, binary):
    """wrk, with one request again and again."""
    tensor = {"name": server.input_name(model), "datatype": model.datatype, "shape": model.shape}
    header, tail = {"inputs": [tensor]}, b""
    if binary:
        tail = model.values.tobytes()
        tensor["parameters"] = {"binary_data_size": len(tail)}
        header["parameters"] = {"binary_data_output": True}
    else:
        tensor["data"] = model.values.ravel().tolist()
    text = json.dumps(header).encode()
    body = folder / "body"
    body.write_bytes(text + tail)
    done = subprocess.run(
        ["taskset", "-c", "1", "wrk", "-t1", f"-c{clients}", f"-d{seconds}s", "--timeout", "30s",
         "-s", servers.HERE / "request.lua", f"http://{server.http}/v2/models/{model.name}/infer",
         "--", body, str(len(text) if binary else 0)],
        capture_output=True, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def grpc(server, model, clients, seconds, folder):
    """perf_analyzer in three windows; Python threads where the server has no configuration to ask for."""
    if not server.has_configuration:
        done = subprocess.run(
            ["taskset", "-c", "1", sys.executable, servers.HERE / "grpc_load.py", server.grpc, model.name,
             server.input_name(model), model.datatype, json.dumps(model.shape), str(clients), str(seconds)],
            capture_output=True, text=True, check=True)
        return json.loads(done.stdout.strip().splitlines()[-1])
    site, = (ENVIRONMENT / "lib").glob("python3*/site-packages")
    # Beside the program there is a script of the same name.
    analyzer = max(ENVIRONMENT.rglob("perf_analyzer"), key=lambda path: path.stat().st_size)
    table = folder / "perf.csv"
    done = subprocess.run(
        ["taskset", "-c", "1", analyzer, "-m", model.name, "-u", server.grpc, "-i", "grpc", "--async",
         "--concurrency-range", str(clients), "-p", str(seconds * 1000 // 3), "-r", "3", "-s", "999", "--percentile", "99",
         "-f", table],
        capture_output=True, text=True,
        env={**os.environ, "LD_LIBRARY_PATH": str(next(site.glob("nvidia/cuda_runtime/lib")))})
    if done.returncode != 0 or not table.exists():
        raise SystemExit(f"error: perf_analyzer: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    row = list(csv.DictReader(table.open()))[-1]
    return {"requests": float(row["Inferences/Second"]) * seconds, "microseconds": seconds * 1e6,
            "p50": float(row["p50 latency"]), "p99": float(row["p99 latency"]), "failed": 0}
