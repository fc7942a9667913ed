#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a float classifier that is as slow as it is deep, for newest_frame.py.

    .build/python/bin/python Benchmarks/live/slow_model.py LAYERS FILE

Each layer is a 3 × 3 convolution of 128 channels at 56 × 56: 462 million products. How many layers take 100 ms depends on the machine:
`apus run FILE --threads 1 --runs 20` tells.
"""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Tools/goldens"))
from example_models import RELU, Network  # noqa: E402


def main(layers, file):
    random = np.random.default_rng(1)
    network = Network()
    here = network.mean(network.picture(224, 224), 4)
    channels = 3
    for _ in range(layers):
        weights = random.normal(0, (2 / (9 * channels)) ** 0.5, (128, 3, 3, channels))
        here, channels = network.conv(here, weights, np.zeros(128), RELU), 128
    network.result(network.softmax(network.reshape(network.mean(here, 56), (1, 128))))
    pathlib.Path(file).write_bytes(network.bytes())


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(int(sys.argv[1]), sys.argv[2])
