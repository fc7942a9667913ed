# SPDX-License-Identifier: Apache-2.0
"""Load over gRPC for a server that perf_analyzer cannot ask, for want of a model configuration:
`grpc_load.py ADDRESS MODEL INPUT TYPE SHAPE CLIENTS SECONDS`. Prints what `request.lua` prints."""

import json
import sys
import threading
import time

import numpy as np
import tritonclient.grpc as triton

address, model, name, kind, shape, clients, seconds = sys.argv[1:]
values = np.zeros(json.loads(shape), {"UINT8": np.uint8, "FP32": np.float32, "INT8": np.int8}[kind])
times, failures, barrier = [], [], threading.Barrier(int(clients) + 1)


def run():
    with triton.InferenceServerClient(address) as client:
        tensor = triton.InferInput(name, list(values.shape), kind)
        tensor.set_data_from_numpy(values)
        client.infer(model, [tensor])
        barrier.wait()
        end = time.perf_counter() + float(seconds)
        while (start := time.perf_counter()) < end:
            try:
                client.infer(model, [tensor])
                times.append(time.perf_counter() - start)
            except Exception as error:
                failures.append(error)


threads = [threading.Thread(target=run) for _ in range(int(clients))]
for thread in threads:
    thread.start()
barrier.wait()
start = time.perf_counter()
for thread in threads:
    thread.join()
took = time.perf_counter() - start
times.sort()
print(json.dumps({"requests": len(times), "microseconds": took * 1e6, "p50": times[len(times) // 2] * 1e6,
                  "p99": times[min(len(times) - 1, int(len(times) * 0.99))] * 1e6, "failed": len(failures)}))
