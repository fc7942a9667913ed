# SPDX-License-Identifier: Apache-2.0
"""The seeded choices of one random case."""

import zlib

import ml_dtypes  # noqa: F401  (NumPy then knows bfloat16 and int4)
import numpy as np

from model_builder import Quantization

ACTIVATIONS = {"": 0, "relu": 1, "relu_n1_to_1": 2, "relu6": 3}
CHANNELS = (1, 3, 7, 8, 15, 16, 17, 33)
WIDE = ("int32", "int64", "uint32", "uint64")
INTEGERS = ("uint8", "int8", "int16", "uint16", *WIDE)
QUANTIZED = ("uint8", "int8", "int16")
RANGES = {name: (int(np.iinfo(name).min), int(np.iinfo(name).max)) for name in INTEGERS} | {
    "int4": (-8, 7),
    "int2": (-2, 1),
    "uint4": (0, 15),
}


class Draw:
    """Draws everything that varies in case number `index` of an operator and a type.

    `pick` is stratified: over consecutive indices it goes through all options, shuffled, before any
    repeats, so that even few cases cover each option. All else is plain chance. `limit` bounds the
    elements of a typical tensor: small in committed goldens, larger in sweeps.
    """

    def __init__(self, operator, type_name, index, seed=0, limit=72):
        self.type = type_name
        self.index = index
        self.limit = limit
        self.tags = []
        self._is_golden = seed == 0
        self._strata = (seed, zlib.crc32(operator.encode()), zlib.crc32(type_name.encode()))
        self._random = np.random.default_rng([*self._strata, index])

    # What the case is

    def tag(self, *words):
        """Says in the case's name what is special about it; empty words say nothing."""
        self.tags += [word for word in words if word]

    @property
    def name(self):
        return "_".join([self.type, *self.tags, f"{self.index:02d}"])

    # Choices

    def pick(self, topic, options):
        options = list(options)
        block, position = divmod(self.index, len(options))
        shuffle = np.random.default_rng([*self._strata, zlib.crc32(topic.encode()), block])
        return options[shuffle.permutation(len(options))[position]]

    def flag(self, topic, one_in):
        """True for one of `one_in` consecutive cases; then the topic is in the case's name."""
        chosen = self.pick(topic, [True] + [False] * (one_in - 1))
        self.tag(topic if chosen else "")
        return chosen

    def activation(self):
        name = self.pick("activation", ACTIVATIONS)
        self.tag(name)
        return ACTIVATIONS[name]

    def choice(self, options):
        options = list(options)
        return options[int(self._random.integers(len(options)))]

    def chance(self, probability):
        return bool(self._random.random() < probability)

    def integer(self, low, high):
        """An integer in `low ... high`, both included."""
        return int(self._random.integers(low, high + 1))

    def real(self, low, high):
        return float(self._random.uniform(low, high))

    def power(self, low, high):
        """A number in `2 ** low ..< 2 ** high`, even in its logarithm."""
        return float(2 ** self._random.uniform(low, high))

    def sample(self, options, count):
        options = list(options)
        return [options[i] for i in self._random.permutation(len(options))[:count]]

    # Shapes

    def shape(self, rank, limit=None, sizes=(1, 2, 3, 4, 5, 7, 8, 11, 13, 17)):
        """Odd sizes, ones and primes, with at most `limit` elements."""
        limit = limit or self.limit
        shape = [self.choice(sizes) for _ in range(rank)]
        while np.prod(shape, dtype=np.int64) > limit:
            shape[self.integer(0, rank - 1)] = self.choice([1, 2, 3])
        return shape

    def batch(self):
        """Mostly one picture, sometimes two, rarely none."""
        if self.flag("empty", 16):
            return 0
        return self.pick("batch", [1, 1, 2])

    def channels(self, limit=33):
        return self.choice([count for count in CHANNELS if count <= max(limit, 1)])

    # Values

    def zero_point(self, topic, type_name=None):
        type_name = type_name or self.type
        low, high = RANGES[type_name]
        if type_name == "int16":
            return 0
        middle = (low + high + 1) // 2
        kind = self.pick(topic + " zero point", ["any", "low", "any", "high", "middle"])
        return {"low": low, "high": high, "middle": middle, "any": self.integer(low, high)}[kind]

    def quantization(self, topic, scale=None, type_name=None):
        """Per-tensor parameters, or None for types that are not quantized."""
        type_name = type_name or self.type
        if type_name not in QUANTIZED:
            return None
        if scale is None:
            scale = self.power(-9, -2) / (256 if type_name == "int16" else 1)
        return Quantization.per_tensor(scale, self.zero_point(topic, type_name))

    def maybe_quantization(self, topic):
        """Like `quantization`, but now and then none: plain bytes, which data movers take as well."""
        if self.type in QUANTIZED and self.flag("plain", 5):
            return None
        return self.quantization(topic)

    def extremes(self, shape):
        """Nearly only the ends of the type's range, mostly the upper one: products as large as can be."""
        low, high = RANGES[self.type]
        values = self._random.choice([high, low, (low + high) // 2 + 1], tuple(shape), p=[0.94, 0.04, 0.02])
        return values.astype(self.type)

    def specials(self, values):
        """In some cases of sweeps, floats with a few that are no usual numbers."""
        if self._is_golden or "float" not in values.dtype.name or not values.size or not self.chance(0.15):
            return values
        self.tag("special")
        pool = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 65504, 1e38, -1e38, 2.5, -0.5]
        values = values.copy()
        for _ in range(self.integer(1, 4)):
            with np.errstate(over="ignore"):
                values.flat[self.integer(0, values.size - 1)] = self.choice(pool)
        return values

    def values(self, shape, type_name=None, magnitude=None):
        """Values over the whole range of 8- and 16-bit types; moderate ones for wider types."""
        type_name = type_name or self.type
        shape = tuple(shape)
        if type_name == "bool":
            return self._random.integers(0, 2, shape).astype(bool)
        if type_name.startswith("complex"):
            parts = self.values([*shape, 2], "float32" if type_name == "complex64" else "float64", magnitude)
            return parts.view(type_name)[..., 0]
        if "float" in type_name:
            # Half-precision values: as varied as needed, and they compress.
            values = self._random.normal(0, magnitude or self.power(-1, 3), shape)
            return np.asarray(values).astype(np.float16).astype(type_name)
        low, high = RANGES[type_name]
        if magnitude is not None:
            low, high = max(low, -magnitude), min(high, magnitude)
        elif type_name in WIDE:
            low, high = max(low, -1000), 1000
        values = np.asarray(self._random.integers(low, high, shape, endpoint=True)).astype(type_name)
        for extreme in (low, high):
            if values.size > 2 and self.chance(0.5):
                values.flat[self.integer(0, values.size - 1)] = extreme
        return values
