# SPDX-License-Identifier: Apache-2.0
"""The elementwise operators of floats: models, what they compute with 64 bits, and how many units they may be off."""

import math
from dataclasses import dataclass
from typing import Callable

import numpy as np

from limit_model import LimitModel
from random_graphs.model import options
from random_graphs.weaver import MIXED

FLOAT = "float32"
GREATEST, LEAST, UNIT = float(np.finfo(np.float32).max), 2.0**-149, 2.0**-24
# Pairs of operands that a sweep of an operator with two operands takes.
PAIRS = 60_000


@dataclass
class Case:
    name: str
    # Builds the operators, given a model and its inputs, and returns the output.
    build: Callable
    exact: Callable
    # Units in the last place, or a function of the exact results.
    tolerance: object = 4
    operands: int = 1
    # By how much more results may be off, a function of the operands: what an error in between makes of them.
    slack: Callable = None
    # Whether the reference's result is as good, where it defines another function.
    takes_reference: bool = False
    # For functions of rows: elements of each.
    columns: int = 0
    is_mixed: bool = False
    # Whether no divisor may be zero.
    divides: bool = False

    def inputs(self, values, chooser):
        if self.columns:
            rows = np.zeros((values.size, self.columns), np.float32)
            rows[:, self.columns // 2] = values
            return [rows]
        if self.operands == 1:
            return [values]
        # Each number with some other, and some with their neighbors, which cancel.
        pairs = [chooser.choice(values, PAIRS) for _ in range(self.operands)]
        near = np.nextafter(pairs[0][:2000], pairs[1][:2000])
        pairs[1][:2000] = np.where(np.arange(2000) % 2, near, -near)
        if self.divides:
            pairs[-1][pairs[-1] == 0] = 1
        return pairs

    def model(self, shapes):
        m = LimitModel()
        inputs = [m.input(FLOAT, shape) for shape in shapes]
        return m.bytes(self.build(m, *inputs))


def rounded(values):
    """As a float between two operators."""
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(np.float32).astype(np.float64)


def _sigmoid(x):
    return np.where(x < 0, np.exp(np.minimum(x, 0)), 1.0) / (1 + np.exp(-np.abs(x)))


def _logistic(x):
    """As the reference defines it, which takes eˣ for it below −9."""
    return np.where(x < -9, np.exp(np.minimum(x, 0)), _sigmoid(x))


_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def _gelu(x):
    return x * 0.5 * _erfc(-x / math.sqrt(2))


def _approximate_gelu(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    # 0.5·(1 + tanh(y)) without cancellation
    return x * _sigmoid(2 * inner)


def _hard_swish(x):
    # The product comes before the quotient, and may be infinite.
    return rounded(x * np.clip(x + 3, 0, 6)) / 6


def clamped(function):
    """As sums and products of the reference are: no more than the greatest float, no less than the least."""
    return lambda *operands: _clamped(function(*operands))


def _clamped(values):
    return np.where(np.isnan(values), values, np.clip(values, -GREATEST, GREATEST))


def _log_softmax(rows):
    distances = rows - rows.max(-1, keepdims=True)
    return distances - np.log(np.exp(distances).sum(-1, keepdims=True))


def _softmax(rows):
    powers = np.exp(rounded(rows - rows.max(-1, keepdims=True)))
    return powers / powers.sum(-1, keepdims=True)


def unary(name, opts=None, version=None):
    return lambda m, x: m.add(name, [x], FLOAT, opts, version)


def binary(name, opts=None, version=None):
    return lambda m, x, y: m.add(name, [x, y], FLOAT, opts, version)


def gated(m, x):
    return m.add("MUL", [x, m.add("LOGISTIC", [x], FLOAT)], FLOAT, options("Mul"))


def then(first, second):
    return lambda m, x: second(m, first(m, x))


def _tail(exact):
    """The error of erfc grows with the square of its argument."""
    return np.where(np.abs(exact) < 0.2, 120, 6)


def _by_constant(name, value, opts, is_first=False):
    def build(m, x):
        y = m.constant(np.float32(value))
        return m.add(name, [y, x] if is_first else [x, y], FLOAT, opts)

    return build


FUNCTIONS = [
    Case("ABS", unary("ABS"), np.abs, 0),
    Case("NEG", unary("NEG", options("Neg")), np.negative, 0),
    Case("SQUARE", unary("SQUARE", options("Square")), np.square, 0.5),
    Case("SQRT", unary("SQRT"), np.sqrt, 0.51),
    Case("RSQRT", unary("RSQRT"), lambda x: 1 / np.sqrt(x), 2),
    Case("EXP", unary("EXP", options("Exp")), np.exp),
    Case("LOG", unary("LOG"), np.log),
    Case("SIN", unary("SIN"), np.sin),
    Case("COS", unary("COS", options("Cos")), np.cos),
    Case("TANH", unary("TANH"), np.tanh),
    Case("LOGISTIC", unary("LOGISTIC"), _logistic),
    Case("ELU", unary("ELU"), lambda x: np.where(x < 0, np.expm1(np.minimum(x, 0)), x)),
    Case("GELU", unary("GELU", options("Gelu")), _gelu, _tail),
    Case("GELU approximate", unary("GELU", options("Gelu", approximate=True)), _approximate_gelu, slack=lambda x: 4 * UNIT * np.abs(x)),
    Case("HARD_SWISH", unary("HARD_SWISH", options("HardSwish")), _hard_swish),
    Case("RELU", unary("RELU"), lambda x: np.maximum(x, 0), 0),
    Case("RELU6", unary("RELU6"), lambda x: np.clip(x, 0, 6), 0),
    Case("RELU_N1_TO_1", unary("RELU_N1_TO_1"), lambda x: np.clip(x, -1, 1), 0),
    Case("RELU_0_TO_1", unary("RELU_0_TO_1"), lambda x: np.clip(x, 0, 1), 0),
    Case("LEAKY_RELU", unary("LEAKY_RELU", options("LeakyRelu", alpha=0.1)), lambda x: np.where(x > 0, x, x * float(np.float32(0.1))), 0.51),
    Case("CEIL", unary("CEIL"), np.ceil, 0),
    Case("FLOOR", unary("FLOOR"), np.floor, 0),
    Case("ROUND", unary("ROUND"), np.rint, 0),
    Case("SIGN", unary("SIGN", options("Sign")), np.sign, 0),
    *[Case(f"SOFTMAX of rows of {columns}", unary("SOFTMAX", options("Softmax", beta=1.0)), _softmax, 8 + columns // 8,
           columns=columns) for columns in (2, 5, 16, 64)],
    *[Case(f"LOG_SOFTMAX of rows of {columns}", unary("LOG_SOFTMAX", options("LogSoftmax")), _log_softmax, columns=columns,
           slack=lambda rows: 4 * UNIT * np.maximum(np.abs(rows), 1)) for columns in (2, 16)],
]
PRODUCTS = [
    Case("x·LOGISTIC(x)", gated, lambda x: _clamped(x * rounded(_logistic(x))), 6, slack=lambda x: 4 * LEAST * np.abs(x)),
    Case("LOG(LOGISTIC(x))", then(unary("LOGISTIC"), unary("LOG")), lambda x: np.log(rounded(_logistic(x))),
         slack=lambda x: 4 * np.maximum(UNIT, LEAST / np.maximum(_logistic(x), LEAST))),
    *[Case(f"{name} with {value:g}", _by_constant(name, value, opts, is_first), clamped(exact(value)), 0.51)
      for value in (2.0**-100, 3.0, 1e30, -1e-38) for name, opts, is_first, exact in (
          ("MUL", options("Mul"), False, lambda c: lambda x: x * float(np.float32(c))),
          ("ADD", options("Add"), False, lambda c: lambda x: x + float(np.float32(c))),
          ("SUB", options("Sub"), True, lambda c: lambda x: float(np.float32(c)) - x),
          ("DIV", options("Div"), False, lambda c: lambda x: x / float(np.float32(c))),
          ("DIV", options("Div"), True, lambda c: lambda x: float(np.float32(c)) / x))],
]
BINARY = [
    Case("ADD", binary("ADD", options("Add")), clamped(np.add), 0.51, 2),
    Case("SUB", binary("SUB", options("Sub")), clamped(np.subtract), 0.51, 2),
    Case("MUL", binary("MUL", options("Mul")), clamped(np.multiply), 0.51, 2),
    Case("DIV", binary("DIV", options("Div")), clamped(np.divide), 0.51, 2),
    Case("MAXIMUM", binary("MAXIMUM", options("MaximumMinimum")), np.maximum, 0, 2, takes_reference=True),
    Case("MINIMUM", binary("MINIMUM", options("MaximumMinimum")), np.minimum, 0, 2, takes_reference=True),
    Case("SQUARED_DIFFERENCE", binary("SQUARED_DIFFERENCE", options("SquaredDifference")), lambda x, y: np.square(rounded(x - y)), 0.51, 2),
    Case("POW", binary("POW", options("Pow")), np.power, 4, 2),
    Case("FLOOR_DIV", binary("FLOOR_DIV", options("FloorDiv")), np.floor_divide, 0.51, 2, takes_reference=True, divides=True),
    Case("FLOOR_MOD", binary("FLOOR_MOD", options("FloorMod")), np.mod, 0.51, 2, takes_reference=True),
    Case("ATAN2", binary("ATAN2", options("ATan2"), 1), np.arctan2, 4, 2),
    Case("PRELU", binary("PRELU"), lambda x, y: np.where(x >= 0, x, x * y), 0.51, 2),
]
CASES = FUNCTIONS + PRODUCTS + BINARY
for case in CASES:
    case.is_mixed = any(case.name.startswith(name) for name in MIXED)
