# SPDX-License-Identifier: Apache-2.0
"""Functions of one value and of two, alone and in the patterns that engines look for."""

import numpy as np

from random_graphs import numeric
from random_graphs.model import QUANTIZED, Quantization, options
from random_graphs.moves import move
from random_graphs.weaver import Abandoned, is_real, version_of

FIXED = {
    "LOGISTIC": {"uint8": (1 / 256, 0), "int8": (1 / 256, -128), "int16": (1 / 32768, 0)},
    "TANH": {"uint8": (1 / 128, 128), "int8": (1 / 128, 0), "int16": (1 / 32768, 0)},
    "SOFTMAX": {"uint8": (1 / 256, 0), "int8": (1 / 256, -128), "int16": (1 / 32768, 0)},
    "L2_NORMALIZATION": {"uint8": (1 / 128, 128), "int8": (1 / 128, 0)},
    "LOG_SOFTMAX": {"uint8": (16 / 256, 255), "int8": (16 / 256, 127)},
}
BYTES = ("float32", "uint8", "int8")
ALL = (*BYTES, "int16")

# Name: types, function, where it may be used, options, how often.
UNARY = {
    "RELU": (ALL, lambda x: np.maximum(x, 0), None, None, 5),
    "RELU6": (ALL, lambda x: np.clip(x, 0, 6), None, None, 4),
    "RELU_N1_TO_1": (BYTES, lambda x: np.clip(x, -1, 1), None, None, 1),
    "RELU_0_TO_1": (BYTES, lambda x: np.clip(x, 0, 1), None, None, 1),
    "LOGISTIC": (ALL, numeric.logistic, None, None, 4),
    "TANH": (ALL, np.tanh, None, None, 3),
    "HARD_SWISH": (BYTES, numeric.hard_swish, None, None, 4),
    "GELU": (ALL, numeric.gelu, None, lambda w: options("Gelu", approximate=w.chance(0.5)), 2),
    "LEAKY_RELU": (
        ALL, lambda x: np.where(x > 0, x, 0.1 * x), None, lambda w: options("LeakyRelu", alpha=0.1), 3),
    "ABS": (("float32", "int8", "int16"), np.abs, None, None, 2),
    "NEG": (("float32", "int8"), np.negative, None, None, 2),
    "SQUARE": (("float32",), np.square, lambda x: np.abs(x).max() < 30, None, 1),
    "SIN": (("float32",), np.sin, lambda x: np.abs(x).max() < 50, None, 1),
    "COS": (("float32",), np.cos, lambda x: np.abs(x).max() < 50, None, 1),
    "EXP": (("float32", "int8", "int16"), np.exp, lambda x: x.max() < 5, None, 1),
    "SIGN": (("float32",), np.sign, None, None, 0.3),
    "FLOOR": (("float32",), np.floor, None, None, 0.4),
    "CEIL": (("float32",), np.ceil, None, None, 0.1),
    "ROUND": (("float32",), np.rint, None, None, 0.1),
    "ELU": (("float32",), lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), None, None, 0.2),
}


def unary(w, x, name=None, rescale=0.5):
    """Applies a function, drawn among those that take the tensor."""
    if name is None:
        names = {
            each: row[4] for each, row in UNARY.items()
            if x.type in row[0] and (row[2] is None or not x.size or row[2](x.value)) and w.allows(each)
        }
        if not names:
            raise Abandoned
        name = w.weighted(names)
    types, function, _, make, _ = UNARY[name]
    if x.type not in types:
        raise Abandoned
    fixed = FIXED.get(name, {}).get(x.type)
    quantization = "fit"
    if fixed:
        quantization = Quantization.per_tensor(*fixed)
    elif x.type in QUANTIZED and not w.chance(rescale) and name in ("RELU", "RELU6", "ABS", "LEAKY_RELU"):
        quantization = x.quantization
    value = function(np.asarray(x.value, np.float32)) if x.size else np.asarray(x.value)
    return w.emit(name, [x], value, x.type, quantization, make(w) if make else None)


@move(images=6, vectors=6, batch=8, mixed=6, odd=6, control=6, special=8)
def function(w):
    unary(w, w.find(is_real, ALL, loose=w.chance(0.5)))


@move(images=2, vectors=2, batch=2, mixed=2, control=1, special=2)
def functions(w):
    """Several functions, one after the other."""
    x = w.find(is_real, ALL)
    for _ in range(w.integer(2, 4)):
        x = unary(w, x)


# Operators of two values

def table_of(name, activation):
    if name == "ADD":
        return options("Add", fusedActivationFunction=activation, potScaleInt16=False)
    if name == "SUB":
        return options("Sub", fusedActivationFunction=activation, potScaleInt16=False)
    if name in ("MUL", "DIV"):
        return options(name.capitalize(), fusedActivationFunction=activation)
    return options("MaximumMinimum") if name in ("MAXIMUM", "MINIMUM") else None


FUNCTIONS = {
    "ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "DIV": np.divide, "MAXIMUM": np.maximum,
    "MINIMUM": np.minimum, "SQUARED_DIFFERENCE": lambda a, b: np.square(a - b),
}


def binary(w, name, a, b, activation=0, quantization="fit"):
    """ADD, MUL and their like of two tensors that broadcast."""
    if name in ("MAXIMUM", "MINIMUM"):
        if a.type in QUANTIZED:
            b = w.rescaled(b, a.quantization) if not b.is_constant else b
            quantization = a.quantization
        activation = 0
    if name == "SQUARED_DIFFERENCE":
        activation = 0
        if a.type not in ("float32", "int8", "int32"):
            raise Abandoned
    if name == "MUL" and a.type not in ("float32", *QUANTIZED, "int32", "int64"):
        raise Abandoned
    value = numeric.activated(FUNCTIONS[name](a.value, b.value), activation)
    result = w.emit(name, [a, b], value, a.type, quantization, table_of(name, activation))
    if name in ("ADD", "SUB") and a.type == "int16" and result.quantization:
        greatest = max(a.quantization.scale, b.quantization.scale)
        if 2 * greatest >= (1 << 15) * result.quantization.scale:
            # The reference shifts sums by a negative number.
            raise Abandoned
    return result


def operand(w, x, name):
    """A second operand for a tensor: another, itself, or a constant of any shape that broadcasts."""
    kind = w.weighted({"constant": 4, "other": 4, "same": 1, "narrow": 1})
    if kind == "same":
        return x
    if kind == "other":
        others = [t for t in w.pool if t.type == x.type and t.shape == x.shape and not t.loose and is_real(t)]
        if others:
            return w.choice(others)
        kind = "narrow"
    if kind == "narrow":
        others = [t for t in w.pool if t.type == x.type and t is not x and not t.loose and is_real(t)
                  and broadcasts(t.shape, x.shape)]
        if others and not w.is_flexible:
            return w.choice(others)
    shape = constant_shape(w, x)
    real = w.numbers.normal(0, w.random.choice((0.3, 1, 2)), shape)
    if name == "DIV":
        real = np.where(real < 0, -1, 1) * (np.abs(real) + 0.3)
    same = name in ("MAXIMUM", "MINIMUM") and x.type in QUANTIZED
    return w.real_constant(real, x, x.quantization if same else None)


def broadcasts(narrow, wide):
    if len(narrow) > len(wide):
        return False
    return all(n in (1, m) for n, m in zip(narrow[::-1], wide[::-1])) and narrow != wide


def constant_shape(w, x):
    """A shape that broadcasts to that of a tensor, and not to more."""
    kind = w.weighted({"scalar": 2, "one": 1, "channels": 4, "full": 1, "some": 1})
    first = 1 if w.is_flexible else 0
    if kind == "scalar" or not x.rank or 0 in x.shape:
        return ()
    if kind == "one":
        return (1,) * w.integer(1, x.rank)
    if kind == "channels":
        return x.shape[-1:] if w.chance(0.6) and x.rank > first else (1,) * (x.rank - 1) + x.shape[-1:]
    if kind == "full" and not w.is_flexible:
        return x.shape
    begin = w.integer(first, x.rank - 1) if x.rank > first else 0
    return tuple(size if w.chance(0.6) else 1 for size in x.shape[begin:]) if x.rank > first else ()


def draw_binary(w, x):
    names = {"ADD": 6, "MUL": 5, "SUB": 3, "MAXIMUM": 1.5, "MINIMUM": 1.5}
    if x.type == "float32":
        names |= {"DIV": 1, "SQUARED_DIFFERENCE": 1}
    if x.type == "int8":
        names |= {"SQUARED_DIFFERENCE": 1}
    return w.weighted(names)


@move(images=6, vectors=6, batch=6, mixed=5, odd=6, control=8, special=8)
def arithmetic(w):
    x = w.find(is_real, ALL)
    name = draw_binary(w, x)
    y = operand(w, x, name)
    if name == "DIV" and not y.is_constant:
        if w.chance(0.5):
            raise Abandoned
        y = binary(w, "ADD", unary(w, y, "ABS"), w.constant(np.float32(0.5)))
    if w.chance(0.4) and name != "DIV":
        x, y = y, x
    if x.is_constant and y.is_constant:
        raise Abandoned
    binary(w, name, x, y, w.activation())


@move(images=1, vectors=1, mixed=1, special=2)
def joined(w):
    """Two tensors of any shapes, one fitted to the other."""
    if w.is_flexible:
        raise Abandoned
    x = w.find(lambda t: is_real(t) and t.size > 0, ALL)
    y = w.find(lambda t: t.type == x.type and is_real(t) and t is not x and t.size > 0, recent=0.2)
    binary(w, w.choice(["ADD", "MUL", "SUB", "MAXIMUM"]), x, w.fitted(y, x.shape), w.activation())


@move(images=0.7, vectors=0.7, mixed=0.7, odd=1)
def both_broadcast(w):
    """Two tensors each of which has the size one where the other has more."""
    x = w.find(lambda t: is_real(t) and 1 < t.rank < 5 and t.size > 0, ALL)
    if w.is_flexible:
        raise Abandoned
    first, second = w.random.sample(range(x.rank), 2)
    parts = []
    for axis in (first, second):
        parts.append(w.emit(
            "REDUCE_MAX", [x, w.indices([axis])], x.value.max(axis, keepdims=True), x.type, x.quantization,
            options("Reducer", keepDims=True), version_of("REDUCE_MAX", x.type)))
    binary(w, w.choice(["ADD", "MUL", "SUB"]), *parts, w.activation())


@move(images=3, vectors=3, batch=3, mixed=2, control=1, special=4)
def gated(w):
    """`x · σ(x)` and its like: what a function makes of a tensor, times the tensor."""
    x = w.find(lambda t: is_real(t) and t.size > 0, ALL)
    kind = w.weighted({"LOGISTIC": 4, "TANH": 1, "HARD": 2, "RELU6": 1, "HARD_SWISH": 1, "SQUARE": 0.3, "GELU": 0.5})
    if kind == "HARD":
        shifted = binary(w, "ADD", x, w.real_constant(np.float32(3), x), w.choice([0, 3, 3]))
        gate = shifted
        if w.chance(0.5):
            gate = unary(w, shifted, "RELU6")
        gate = binary(w, "MUL", gate, w.real_constant(np.float32(1 / 6), gate))
    else:
        gate = unary(w, x, kind)
    a, b = (x, gate) if w.chance(0.6) else (gate, x)
    if w.chance(0.1):
        unary(w, gate)  # another reader
    result = binary(w, w.choice(["MUL", "MUL", "MUL", "ADD", "SUB"]), a, b, w.choice([0, 0, 0, 1]))
    if w.chance(0.3) and result.type in UNARY["HARD_SWISH"][0]:
        unary(w, result, "HARD_SWISH")


@move(images=1, vectors=1, batch=1, mixed=1, special=2)
def product_then_function(w):
    x = w.find(is_real, ALL)
    y = binary(w, w.choice(["MUL", "ADD", "SUB"]), x, operand(w, x, "MUL"))
    unary(w, y, w.choice(["HARD_SWISH", "RELU", "RELU6", "LEAKY_RELU"]))


@move(images=1, vectors=1, batch=1, mixed=1, special=2)
def prelu(w):
    x = w.find(lambda t: is_real(t) and t.rank > 0 and t.size > 0, ALL)
    shape = w.choice([x.shape[-1:], (1,) * (x.rank - 1) + x.shape[-1:], (1,) * x.rank])
    if x.rank == 4 and w.chance(0.3):
        shape = (1, 1, x.shape[3])
    real = w.numbers.normal(0.2, 0.2, shape).astype(np.float32)
    if x.type == "int16":
        quantization = w.fit(real, "int8")
        alpha = w.constant(np.clip(np.rint(real / quantization.scale) + quantization.zero_point, -128, 127)
                           .astype(np.int8), "int8", quantization)
    else:
        alpha = w.real_constant(real, x)
    w.emit("PRELU", [x, alpha], np.where(x.value > 0, x.value, x.value * alpha.value), x.type)


@move(special=3, vectors=0.5, images=0.5)
def rectified(w):
    """PRELU as several operators: what is above zero, and what is below times a factor."""
    x = w.find(lambda t: t.rank > 0 and t.size > 0, ("float32",))
    factor = w.constant(w.numbers.normal(0, 0.5, w.choice([(), x.shape[-1:]])).astype(np.float32))
    above = unary(w, x, "RELU")
    below = unary(w, x, w.choice(["NEG", "ABS"]))
    if w.chance(0.8):
        below = unary(w, below, "RELU")
    if w.chance(0.3):
        below = unary(w, below, "NEG")
    binary(w, "ADD", above, binary(w, "MUL", below, factor))


@move(images=1, vectors=2, batch=1, mixed=1)
def roots(w):
    """SQRT, RSQRT and LOG of what is above zero."""
    x = w.find(is_real, ("float32", "int8", "int16"))
    positive = unary(w, x, "ABS")
    name = w.choice(["SQRT", "RSQRT", "LOG"])
    if x.type == "float32":
        positive = binary(w, "ADD", positive, w.constant(np.float32(0.5)))
        value = positive.value
    else:
        if name != "SQRT":
            raise Abandoned
        value = np.maximum(positive.value, 0.01)
    compute = {"SQRT": np.sqrt, "RSQRT": lambda v: 1 / np.sqrt(v), "LOG": np.log}[name]
    w.emit(name, [positive], compute(value), x.type)


@move(vectors=2, images=0.5, batch=1.5, mixed=1.5)
def softmax(w):
    x = w.find(lambda t: is_real(t) and 0 < t.rank <= 4 and t.size > 0, ALL)
    name = w.weighted({"SOFTMAX": 4, "LOG_SOFTMAX": 1, "L2_NORMALIZATION": 1})
    fixed = FIXED[name].get(x.type)
    if x.type != "float32" and not fixed:
        raise Abandoned
    v = x.value.astype(np.float32)
    value = {
        "SOFTMAX": numeric.softmax,
        "LOG_SOFTMAX": lambda v: np.log(numeric.softmax(v) + 1e-30),
        "L2_NORMALIZATION": lambda v: v / np.sqrt(np.square(v).sum(-1, keepdims=True) + 1e-6),
    }[name](v)
    beta = w.choice([1.0, 1.0, 0.5, 2.0])
    opts = options("Softmax", beta=beta) if name == "SOFTMAX" else options("L2Norm") if name[0:2] == "L2" else None
    w.emit(name, [x], value, x.type, Quantization.per_tensor(*fixed) if fixed else None, opts)


@move(mixed=4, vectors=1, odd=2)
def comparison(w):
    """A comparison, and what it selects."""
    x = w.find(lambda t: is_real(t) and t.size > 0, BYTES)
    name = w.choice(["LESS", "GREATER", "LESS_EQUAL", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL"])
    y = operand(w, x, "ADD")
    if any(t.quantization and t.quantization.scale >= 0.9 for t in (x, y)):
        # The reference shifts by a negative number.
        raise Abandoned
    relation = {"LESS": np.less, "GREATER": np.greater, "LESS_EQUAL": np.less_equal,
                "GREATER_EQUAL": np.greater_equal, "EQUAL": np.equal, "NOT_EQUAL": np.not_equal}[name]
    found = w.emit(name, [x, y], relation(x.value, y.value), "bool", version=version_of(name, x.type))
    if w.chance(0.3):
        found = w.emit("LOGICAL_NOT", [found], ~found.value, "bool")
    if w.chance(0.3):
        other = w.find(lambda t: t.shape == found.shape, ("bool",), recent=0.2)
        name = w.choice(["LOGICAL_AND", "LOGICAL_OR"])
        combine = np.logical_and if name == "LOGICAL_AND" else np.logical_or
        found = w.emit(name, [found, other], combine(found.value, other.value), "bool")
    kind = w.choice(["select", "select", "cast", "nothing"])
    if kind == "cast":
        w.emit("CAST", [found], found.value.astype(np.float32), "float32")
    if kind == "select" and found.shape == x.shape:
        other = x if w.chance(0.2) else w.fitted(w.find(lambda t: t.type == x.type and t.size > 0 and is_real(t)), x.shape)
        if x.type in QUANTIZED:
            other = w.rescaled(other, x.quantization)
        value = np.where(found.value, x.value, other.value)
        w.emit(w.choice(["SELECT", "SELECT_V2"]), [found, x, other], value, x.type, x.quantization,
               version=version_of("SELECT", x.type))


@move(mixed=4, odd=3, shapes=3, control=2)
def integers(w):
    """Arithmetic of integers that stand for themselves."""
    x = w.find(lambda t: not t.is_quantized, ("int32", "int64"), loose=w.chance(0.3))
    name = w.weighted({"ADD": 3, "SUB": 2, "MUL": 1, "MAXIMUM": 1, "MINIMUM": 1, "NEG": 1, "ABS": 0.7, "CAST": 1.5,
                       "FLOOR_DIV": 0.7, "FLOOR_MOD": 0.7, "SIGN": 0.3, "RELATION": 0.8})
    if name in ("ABS", "SIGN") and x.type != "int32":
        raise Abandoned
    if name == "NEG":
        return w.emit(name, [x], -x.value, x.type)
    if name == "ABS":
        return w.emit(name, [x], np.abs(x.value), x.type)
    if name == "SIGN":
        return w.emit(name, [x], np.sign(x.value), x.type)
    if name == "CAST":
        target = w.choice(["float32", "int64" if x.type == "int32" else "int32", "float32", "int8", "uint8", "bool", "int16"])
        if target in QUANTIZED:
            return w.emit(name, [x], np.asarray(x.value).astype(target), target, None)
        return w.emit(name, [x], x.value.astype(target), target)
    if name in ("FLOOR_DIV", "FLOOR_MOD"):
        if name == "FLOOR_DIV" and x.type != "int32":
            raise Abandoned
        y = w.constant(np.array(w.choice([2, 3, -3, 5, 7]), x.type))
        value = x.value // y.value if name == "FLOOR_DIV" else x.value % y.value
        return w.emit(name, [x, y], np.asarray(value), x.type, version=1)
    if x.loose:
        y = w.constant(np.array(w.integer(-9, 9), x.type))
    else:
        y = w.choice([x, w.constant(w.numbers.integers(-9, 9, w.choice([(), x.shape, x.shape[-1:]])).astype(x.type))])
        others = [t for t in w.pool if t.type == x.type and t.shape == x.shape and not t.loose]
        if others and w.chance(0.4):
            y = w.choice(others)
    if 0 in y.shape and y.is_constant:
        raise Abandoned
    if name == "RELATION":
        return w.emit("LESS", [x, y], np.asarray(x.value < y.value), "bool", version=1)
    value = FUNCTIONS[name](x.value, y.value)
    w.emit(name, [x, y], np.asarray(value), x.type, None, table_of(name, w.choice([0, 0, 0, 1]) if name in ("ADD", "SUB") else 0)
           if name not in ("MAXIMUM", "MINIMUM") or w.chance(0.5) else None)


@move(mixed=4, images=0.7, vectors=0.7, odd=1.5, batch=1)
def requantized(w):
    """Between floats and integers, and between integers of different scales."""
    x = w.find(lambda t: is_real(t) and not (t.is_quantized and t.quantization is None), ALL)
    if x.type == "float32":
        target = w.choice(["int8", "uint8", "int16", "int8"])
        y = w.emit("QUANTIZE", [x], x.value, target, "fit", options("Quantize"), version_of("QUANTIZE", f"float32_to_{target}"))
        if w.chance(0.5):
            w.emit("DEQUANTIZE", [y], x.value, "float32", version=version_of("DEQUANTIZE", target))
        return
    if w.chance(0.5):
        w.emit("DEQUANTIZE", [x], x.value, "float32", version=version_of("DEQUANTIZE", x.type))
        return
    targets = {"uint8": ["uint8", "int8", "int16"], "int8": ["uint8", "int8", "int16"], "int16": ["int8", "int16"]}
    target = w.choice(targets[x.type])
    w.emit("QUANTIZE", [x], x.value, target, "fit", options("Quantize"), version_of("QUANTIZE", f"{x.type}_to_{target}"))


@move(mixed=1, vectors=0.3)
def fake_quantized(w):
    x = w.find(lambda t: t.size > 0, ("float32",))
    low, high = min(float(x.value.min()), -0.1), max(float(x.value.max()), 0.1)
    w.emit("FAKE_QUANT", [x], np.asarray(x.value), opts=options("FakeQuant", min=low, max=high, numBits=w.choice([8, 16, 4])))


@move(mixed=1.5, images=0.3, vectors=0.5)
def cast_around(w):
    """To another type and back."""
    x = w.find(None, ("float32", "int32"))
    target = w.choice(["float16", "int32", "int64", "int16", "float32", "uint8"])
    if target == x.type or target in ("uint8",) and x.type == "float32":
        raise Abandoned
    if target == "int32" and x.type == "float32" and not np.isfinite(x.value).all():
        raise Abandoned
    y = w.emit("CAST", [x], np.asarray(x.value).astype(target), target, None, version=version_of("CAST", target))
    if target in ("float16", "int16") or w.chance(0.5):
        w.emit("CAST", [y], y.value.astype(x.type), x.type, None, version=1)
