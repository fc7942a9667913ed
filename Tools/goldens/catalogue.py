# SPDX-License-Identifier: Apache-2.0
"""The operators that have random cases."""

from dataclasses import dataclass
from typing import Callable

OPERATORS = {}

# Types that operators take which do not look at their elements, besides the common ones; and of fewer than 8 bits.
RARE = ("float16", "bfloat16", "float64", "uint16", "uint32", "uint64", "complex64")
PACKED = ("int4", "int2", "uint4")


@dataclass(frozen=True)
class Operator:
    name: str
    types: tuple
    case: Callable
    cases: int
    versions: dict
    more: dict
    rare: tuple
    keeps_state: bool

    def goldens(self, type_name):
        """How many goldens a type gets."""
        if type_name in self.more:
            return self.more[type_name]
        if type_name in self.rare:
            return 3
        return self.cases if type_name in ("uint8", "int8", "float32") else 10

    def version(self, type_name):
        return self.versions.get(type_name, 1)


def operator(name, types, cases=10, versions=None, more=None, rare=(), keeps_state=False):
    """Registers a function from a `Draw` to a `ModelBuilder` as the random case of an operator.

    `types` are the kinds of operands it can draw; `cases` is how many goldens the main types get;
    `versions` gives the operator's version for the types that need more than 1, `more` the number of goldens of
    types that stand for many mixes; `rare` types get few goldens. `keeps_state` says that what one step quantizes is what
    the next ones begin with.
    """

    def register(function):
        OPERATORS[name] = Operator(
            name, (*types, *rare), function, cases, versions or {}, more or {}, tuple(rare), keeps_state
        )
        return function

    return register
