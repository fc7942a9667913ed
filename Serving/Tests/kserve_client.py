# SPDX-License-Identifier: Apache-2.0
"""Asks a server by KServe's own client: `kserve_client.py HOST:PORT`."""

import asyncio
import sys

import numpy as np
from kserve import InferenceRESTClient, InferInput, InferRequest, RESTConfig

A = np.arange(16, dtype=np.int32).reshape(1, 16)
B = np.full((1, 16), -3, np.int32)


async def main():
    client = InferenceRESTClient(RESTConfig(protocol="v2", retries=0, timeout=30))
    base = f"http://{sys.argv[1]}"
    assert await client.is_server_live(base) and await client.is_server_ready(base)
    assert await client.is_model_ready(base, "simple")
    for binary in (False, True):
        tensors = [InferInput(f"INPUT{k}", [1, 16], "INT32") for k in (0, 1)]
        for tensor, values in zip(tensors, (A, B)):
            tensor.set_data_from_numpy(values, binary_data=binary)
        request = InferRequest(model_name="simple", infer_inputs=tensors)
        answer = await client.infer(base, request, model_name="simple")
        np.testing.assert_array_equal(answer.outputs[0].as_numpy(), A + B)
    await client.close()


asyncio.run(main())
