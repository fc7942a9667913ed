# SPDX-License-Identifier: Apache-2.0
"""What networks for pictures are made of: convolutions with what stands around them."""

import numpy as np

from random_graphs import numeric
from random_graphs.model import QUANTIZED, Quantization, Tensor, options, quantized
from random_graphs.moves import move
from random_graphs.moves.elementwise import binary, unary
from random_graphs.weaver import Abandoned, is_real, version_of

IMAGES = ("float32", "int8", "uint8", "int16")
# Filters of TRANSPOSE_CONV that operators compute from constants.
AVOIDS_COMPUTED_FILTERS = False


def weights_for(w, x, name, shape, channel_axis, terms, allowed=()):
    """A filter for floats or bytes: its tensor, its real values, and the kind of operands for the version.

    `allowed` has the mixes that the operator takes: "hybrid", "int4", "hybrid_int4".
    """
    key = (x.type, tuple(shape), channel_axis)
    known = w.filters.get(key)
    if known and w.chance(0.4):
        return w.choice(known)
    channels = shape[channel_axis]
    real = (w.numbers.standard_normal(shape) * w.random.uniform(0.7, 1.4) / np.sqrt(max(terms, 1))).astype(np.float32)
    if w.chance(0.03):
        real[..., : max(shape[-1] // 2, 1)] = 0
    made = _float_weights(w, real, channel_axis, allowed) if x.type == "float32" else _byte_weights(
        w, x, real, channels, channel_axis, allowed)
    w.filters.setdefault(key, []).append(made)
    return made


def per_channel(real, axis, steps, extra=1.0):
    largest = np.abs(real).max(tuple(a for a in range(real.ndim) if a != axis))
    scales = np.where(largest > 0, largest, 1.0).astype(np.float32) / np.float32(steps) * np.float32(extra)
    return Quantization(tuple(float(np.float32(s)) for s in scales), (0,) * len(scales), axis)


def symmetric(real, steps):
    return Quantization.per_tensor(max(float(np.abs(real).max()), 1e-3) / steps, 0)


def _float_weights(w, real, axis, allowed):
    kinds = {kind: weight for kind, weight in w.weight_kinds.items() if kind != "hybrid" or "hybrid" in allowed}
    if "hybrid_int4" in allowed and "hybrid" in kinds:
        kinds["hybrid_int4"] = kinds["hybrid"] / 2
    kind = w.weighted(kinds)
    if w.parent is None and not w.is_flexible and w.chance(0.03):
        # Not known before a run.
        return w.input([real, (real * np.float32(0.7)).astype(np.float32)]), real, "float32"
    if kind == "plain":
        return w.constant(real), real, "float32"
    if kind == "half":
        stored = w.constant(real.astype(np.float16))
        value = stored.value.astype(np.float32)
        return w.emit("DEQUANTIZE", [stored], value, "float32", version=3, pooled=w.chance(0.05)), value, "float32"
    if kind == "bytes":
        name = w.weighted({"int8": 3, "int4": 2, "uint8": 1})
        if name == "uint8":
            quantization = w.fit(real, "uint8")
        else:
            steps = 7 if name == "int4" else 127
            quantization = per_channel(real, axis, steps) if w.chance(0.5) else symmetric(real, steps)
        stored = w.constant(quantized(real, name, quantization), name, quantization)
        return (
            w.emit("DEQUANTIZE", [stored], stored.value, "float32", version=version_of("DEQUANTIZE", name), pooled=False),
            stored.value, "float32")
    if kind in ("hybrid", "hybrid_int4"):
        steps, name = (7, "int4") if kind == "hybrid_int4" else (127, "int8")
        single = w.chance(0.4) and name == "int8"
        quantization = symmetric(real, steps) if single else per_channel(real, axis, steps)
        stored = w.constant(quantized(real, name, quantization), name, quantization)
        return stored, stored.value, "hybrid"
    return _made_weights(w, real), real, "float32"


def _made_weights(w, real):
    """Weights that operators compute from constants."""
    kind = w.choice(["reshape", "transpose", "product", "sum", "concatenation", "quantized", "slice"])
    if kind == "reshape":
        flat = w.constant(real.reshape(-1))
        return w.emit("RESHAPE", [flat, w.indices(real.shape)], real, version=1, pooled=False)
    if kind == "transpose":
        order = list(range(real.ndim))
        w.random.shuffle(order)
        stored = w.constant(np.ascontiguousarray(real.transpose(order)))
        back = np.argsort(order)
        return w.emit("TRANSPOSE", [stored, w.indices(back)], real, pooled=w.chance(0.05))
    if kind == "product":
        half = w.constant(real / 2)
        return w.emit("MUL", [half, w.constant(np.float32(2))], real, opts=options("Mul"), pooled=w.chance(0.05))
    if kind == "sum":
        return w.emit("ADD", [w.constant(real - 1), w.constant(np.ones(1, np.float32))], real, opts=options("Add"), pooled=False)
    if kind == "concatenation" and real.shape[0] > 1:
        cut = w.integer(1, real.shape[0] - 1)
        parts = [w.constant(np.ascontiguousarray(real[:cut])), w.constant(np.ascontiguousarray(real[cut:]))]
        return w.emit("CONCATENATION", parts, real, opts=options("Concatenation", axis=0), pooled=False)
    if kind == "quantized":
        quantization = w.fit(real, "int8")
        stored = w.emit("QUANTIZE", [w.constant(real)], real, "int8", quantization, options("Quantize"), pooled=False)
        return w.emit("DEQUANTIZE", [stored], real, "float32", version=2, pooled=False)
    if kind == "slice":
        wide = np.concatenate([real, real[:1]], 0)
        return w.emit("SLICE", [w.constant(wide), w.indices([0] * real.ndim), w.indices(real.shape)], real, pooled=False)
    return w.constant(real)


def _byte_weights(w, x, real, channels, axis, allowed):
    if x.type == "uint8":
        quantization = w.fit(real, "uint8")
        stored = w.constant(quantized(real, "uint8", quantization), "uint8", quantization)
        return stored, stored.value, "uint8"
    name, steps, kind = "int8", 127, x.type
    if x.type == "int8" and "int4" in allowed and w.chance(0.2):
        name, steps, kind = "int4", 7, "int4"
    quantization = per_channel(real, axis, steps) if w.chance(0.65) else symmetric(real, steps)
    stored = w.constant(quantized(real, name, quantization), name, quantization)
    return stored, stored.value, kind


def bias_for(w, x, weights, channels, spread=0.3):
    """A bias: floats, or integers with the scale of the products."""
    real = (w.numbers.standard_normal(channels) * spread).astype(np.float32)
    if x.type == "float32":
        if w.chance(0.2) and w.weight_kinds.get("half"):
            stored = w.constant(real.astype(np.float16))
            return w.emit("DEQUANTIZE", [stored], stored.value.astype(np.float32), "float32", version=3, pooled=False)
        return w.constant(real)
    scales = tuple(float(np.float32(x.quantization.scale * s)) for s in weights.quantization.scales)
    quantization = Quantization(scales, (0,) * len(scales))
    stored = np.rint(real / np.array(scales)).clip(-2**30, 2**30)
    tensor = Tensor("int64" if x.type == "int16" else "int32", real.shape, quantization,
                    data=stored.astype(np.int64 if x.type == "int16" else np.int32), value=real)
    return tensor


def with_bias(w, inputs, x, weights, channels, omit=0.1):
    """Appends a bias, or nothing, or the sign for nothing; returns its real values."""
    if w.chance(omit):
        return np.float32(0)
    key = ("bias", x.type, id(x) if x.type != "float32" else 0, id(weights) if x.type != "float32" else 0, channels)
    known = w.filters.get(key)
    bias = known if known is not None and w.chance(0.3) else bias_for(w, x, weights, channels)
    w.filters[key] = bias
    inputs.append(bias)
    return bias.value


def conv(w, x, outputs=None, taps=None, strides=None, same=None, activation=None, dilations=None, groups=1):
    """CONV_2D."""
    n, h, wd, c = x.shape
    taps = taps or w.choice([(1, 1), (1, 1), (3, 3), (3, 3), (2, 2), (1, 3), (3, 1), (5, 5), (3, 2)])
    strides = strides or w.choice([(1, 1), (1, 1), (1, 1), (2, 2), (2, 1), (1, 3)])
    dilations = dilations or (w.choice([(2, 2), (1, 2), (3, 1)]) if w.chance(0.12) else (1, 1))
    if dilations != (1, 1):
        strides = (1, 1)
    same = w.chance(0.7) if same is None else same
    outputs = outputs or w.choice([16, 17, 24, 32, 32, 48, 64] if w.is_large and w.chance(0.6) else [1, 2, 3, 4, 5, 7, 8, 8, 12, 16, 17, 24])
    activation = w.activation() if activation is None else activation
    if c % groups or outputs % groups:
        raise Abandoned
    shape = (outputs, *taps, c // groups)
    terms = taps[0] * taps[1] * shape[3]
    sizes = [numeric.window_size(size, tap, stride, dilation, same)[0]
             for size, tap, stride, dilation in zip((h, wd), taps, strides, dilations)]
    if min(sizes) < 1 or n * sizes[0] * sizes[1] * outputs > 3 * w.limit:
        raise Abandoned
    w.spend(n * sizes[0] * sizes[1] * outputs * terms)
    # Hybrid convolutions of groups are not what the reference computes.
    allowed = ("hybrid", "int4", "hybrid_int4") if groups == 1 else ()
    weights, real, kind = weights_for(w, x, "CONV_2D", shape, 0, terms, allowed)
    value = numeric.conv2d(x.value, real, strides, dilations, same)
    inputs = [x, weights]
    value = numeric.activated(value + with_bias(w, inputs, x, weights, outputs, 0), activation)
    opts = options("Conv2D", padding=0 if same else 1, strideH=strides[0], strideW=strides[1],
                   dilationHFactor=dilations[0], dilationWFactor=dilations[1], fusedActivationFunction=activation)
    return w.emit("CONV_2D", inputs, value, x.type, "fit", opts, version_of("CONV_2D", kind))


def depthwise(w, x, multiplier=None, taps=None, strides=None, same=None, activation=None):
    n, h, wd, c = x.shape
    multiplier = multiplier or w.choice([1, 1, 1, 2, 3])
    taps = taps or w.choice([(3, 3), (3, 3), (1, 1), (2, 2), (5, 5), (1, 4), (3, 1)])
    strides = strides or w.choice([(1, 1), (1, 1), (2, 2), (1, 2)])
    dilations = w.choice([(2, 2), (1, 3)]) if w.chance(0.12) else (1, 1)
    if dilations != (1, 1):
        strides = (1, 1)
    same = w.chance(0.7) if same is None else same
    activation = w.activation() if activation is None else activation
    outputs = c * multiplier
    sizes = [numeric.window_size(size, tap, stride, dilation, same)[0]
             for size, tap, stride, dilation in zip((h, wd), taps, strides, dilations)]
    if min(sizes) < 1 or n * sizes[0] * sizes[1] * outputs > 3 * w.limit:
        raise Abandoned
    terms = taps[0] * taps[1]
    w.spend(n * sizes[0] * sizes[1] * outputs * terms)
    weights, real, kind = weights_for(w, x, "DEPTHWISE_CONV_2D", (1, *taps, outputs), 3, terms, ("int4", "hybrid"))
    if kind == "hybrid" and len(weights.quantization.scales) == 1 and outputs > 1:
        raise Abandoned
    value = numeric.depthwise(x.value, real, multiplier, strides, dilations, same)
    inputs = [x, weights]
    value = numeric.activated(value + with_bias(w, inputs, x, weights, outputs), activation)
    opts = options("DepthwiseConv2D", padding=0 if same else 1, strideH=strides[0], strideW=strides[1],
                   dilationHFactor=dilations[0], dilationWFactor=dilations[1], fusedActivationFunction=activation,
                   depthMultiplier=multiplier)
    version = 6 if kind == "int4" else version_of("DEPTHWISE_CONV_2D", kind)
    return w.emit("DEPTHWISE_CONV_2D", inputs, value, x.type, "fit", opts, version)


def transposed(w, x, taps=None, strides=None):
    """TRANSPOSE_CONV."""
    n, h, wd, c = x.shape
    strides = strides or w.choice([(2, 2), (2, 2), (1, 1), (3, 2), (1, 2)])
    taps = taps or w.choice([(2, 2), (3, 3), (4, 4), (1, 1), (3, 2), (5, 4)])
    same = w.chance(0.6)
    outputs = w.choice([1, 2, 3, 4, 8, 9])
    sizes = [(size - 1) * step + 1 + w.integer(0, step - 1) if same else (size - 1) * step + tap + w.integer(0, step - 1)
             for size, tap, step in zip((h, wd), taps, strides)]
    if same and w.chance(0.7):
        sizes = [size * step for size, step in zip((h, wd), strides)]
    if n * sizes[0] * sizes[1] * outputs > 3 * w.limit or w.is_flexible:
        raise Abandoned
    w.spend(n * h * wd * c * outputs * taps[0] * taps[1])
    terms = max(taps[0] // strides[0], 1) * max(taps[1] // strides[1], 1) * c
    weights, real, kind = weights_for(w, x, "TRANSPOSE_CONV", (outputs, *taps, c), 0, terms, ("hybrid",))
    if AVOIDS_COMPUTED_FILTERS and kind == "float32" and not weights.is_constant and weights not in w.subgraph.inputs:
        raise Abandoned
    activation = w.choice([0, 0, 1, 3])
    value = numeric.transpose_conv(x.value, real, sizes, strides, same)
    inputs = [w.indices([n, *sizes, outputs]), weights, x]
    value = numeric.activated(value + with_bias(w, inputs, x, weights, outputs, 0.5), activation)
    opts = options("TransposeConv", padding=0 if same else 1, strideH=strides[0], strideW=strides[1],
                   fusedActivationFunction=activation)
    return w.emit("TRANSPOSE_CONV", inputs, value, x.type, "fit", opts, version_of("TRANSPOSE_CONV", kind))


def pooled(w, x, kind=None, taps=None, strides=None, same=None):
    kinds = ["AVERAGE_POOL_2D", "MAX_POOL_2D", "MAX_POOL_2D"] + (["L2_POOL_2D"] if x.type == "float32" else [])
    name = kind or w.choice(kinds)
    taps = taps or w.choice([(2, 2), (3, 3), (1, 2), (3, 1), (5, 5)])
    strides = strides or w.choice([(1, 1), (2, 2), (2, 1)])
    same = w.chance(0.6) if same is None else same
    activation = w.choice([0, 0, 0, 1, 3])
    which = {"AVERAGE_POOL_2D": "mean", "MAX_POOL_2D": "max", "L2_POOL_2D": "l2"}[name]
    value = numeric.pool(x.value, taps, strides, same, which)
    if value is None:
        raise Abandoned
    opts = options("Pool2D", padding=0 if same else 1, strideH=strides[0], strideW=strides[1], filterHeight=taps[0],
                   filterWidth=taps[1], fusedActivationFunction=activation)
    return w.emit(name, [x], numeric.activated(value, activation), x.type, x.quantization, opts)


@move(images=12, batch=6, mixed=3, odd=3, control=1)
def convolution(w):
    x = w.image()
    groups = 1
    if x.type in ("float32", "int8") and w.chance(0.08):
        groups = next((g for g in (2, 3, 4) if x.shape[3] % g == 0), 1)
    conv(w, x, groups=groups, outputs=groups * w.integer(1, 4) if groups > 1 else None)


@move(images=8, batch=4, mixed=2, odd=2)
def depthwise_convolution(w):
    depthwise(w, w.image())


@move(images=4, mixed=1.5)
def upsampling(w):
    y = transposed(w, w.image())
    if w.chance(0.3):
        unary(w, y, w.choice(["RELU", "LEAKY_RELU", "TANH"]))


@move(images=4, batch=3, mixed=1, odd=1)
def pool(w):
    pooled(w, w.image())


@move(images=3, batch=2, mixed=1)
def separable(w):
    y = depthwise(w, w.image())
    conv(w, y, taps=(1, 1))


@move(images=4, batch=3, mixed=1)
def residual(w):
    """A block beside which its input goes on, and the sum of both."""
    x = w.image()
    y = x
    for _ in range(w.integer(1, 3)):
        y = conv(w, y, strides=(1, 1), same=True, outputs=x.shape[3]) if w.chance(0.7) else depthwise(
            w, y, 1, strides=(1, 1), same=True)
    if y.shape != x.shape:
        x = conv(w, x, taps=(1, 1), strides=(1, 1), outputs=y.shape[3])
    a, b = (x, y) if w.chance(0.5) else (y, x)
    total = binary(w, w.weighted({"ADD": 8, "SUB": 1, "MUL": 1}), a, b, w.activation())
    finish(w, total)


def finish(w, x):
    """A function after a sum, or nothing."""
    name = w.weighted({"nothing": 3, "RELU": 3, "RELU6": 1, "LEAKY_RELU": 1, "HARD_SWISH": 1, "PRELU": 1})
    if name == "PRELU" and is_real(x) and x.type == "float32":
        alpha = w.constant(w.numbers.normal(0.2, 0.1, (1, 1, x.shape[-1])).astype(np.float32))
        w.emit("PRELU", [x, alpha], np.where(x.value > 0, x.value, x.value * alpha.value), x.type)
    elif name not in ("nothing", "PRELU"):
        try:
            unary(w, x, name)
        except Abandoned:
            pass


@move(images=3, batch=3, mixed=1)
def convolution_and_function(w):
    y = conv(w, w.image(), activation=0) if w.chance(0.7) else depthwise(w, w.image(), activation=0)
    if w.chance(0.2):
        finish(w, y)
    finish(w, y)


@move(images=3, batch=2, mixed=1)
def sum_of_convolutions(w):
    """Two convolutions of one image or of two, and their sum: one of them has to wait for the other."""
    x = w.image()
    a = conv(w, x, strides=(1, 1), same=True, activation=0)
    other = w.find(lambda t: t.shape[:3] == x.shape[:3] and is_real(t) and t.type == x.type, rank=(4,), recent=0.1)
    b = conv(w, other, strides=(1, 1), same=True, outputs=a.shape[3])
    if w.chance(0.15):
        b = a
    total = binary(w, "ADD", *((a, b) if w.chance(0.5) else (b, a)), w.activation())
    if w.chance(0.3):
        c = conv(w, x, strides=(1, 1), same=True, outputs=a.shape[3], activation=0)
        total = binary(w, "ADD", total, c)
    finish(w, total)


@move(images=4, batch=3, mixed=1)
def padded_convolution(w):
    """PAD before a window that does not pad, or does; sometimes others read the padded image, too."""
    x = w.image()
    amounts = np.array([[0, 0], [w.integer(0, 3), w.integer(0, 3)], [w.integer(0, 3), w.integer(0, 3)], [0, 0]])
    if w.chance(0.1) and not w.is_flexible:
        amounts[w.choice([0, 3])] = [0, 1]
    y = w.emit("PAD", [x, w.indices(amounts)], np.pad(x.value, amounts), x.type, x.quantization, options("Pad"),
               version_of("PAD", x.type))
    window = conv if w.chance(0.6) else depthwise
    window(w, y, same=w.chance(0.25))
    if w.chance(0.2):
        window(w, y)
    elif w.chance(0.1):
        unary(w, y)


@move(images=3, batch=2, mixed=1)
def squeeze_and_excite(w):
    x = w.image()
    c = x.shape[3]
    keeps = w.chance(0.6)
    if w.chance(0.2) and keeps:
        y = pooled(w, x, "AVERAGE_POOL_2D", x.shape[1:3], (1, 1), False)
    else:
        y = w.emit("MEAN", [x, w.indices([1, 2])], x.value.mean((1, 2), keepdims=keeps), x.type,
                   "fit" if w.chance(0.7) or x.type not in QUANTIZED else x.quantization,
                   options("Reducer", keepDims=keeps), version_of("MEAN", x.type))
    from random_graphs.moves.vectors import dense

    if keeps:
        y = conv(w, y, taps=(1, 1), outputs=max(c // 2, 1), activation=1, strides=(1, 1), dilations=(1, 1))
        y = conv(w, y, taps=(1, 1), outputs=c, activation=0, strides=(1, 1), dilations=(1, 1))
    else:
        y = dense(w, y, max(c // 2, 1), activation=1)
        y = dense(w, y, c, activation=0)
        shape = [-1 if w.is_flexible else y.shape[0], 1, 1, c]
        y = w.emit("RESHAPE", [y, w.indices(shape)], y.value.reshape(-1, 1, 1, c), y.type, y.quantization, version=1)
    if w.chance(0.7):
        gate = unary(w, y, "LOGISTIC")
    else:
        gate = binary(w, "MUL", unary(w, binary(w, "ADD", y, w.real_constant(np.float32(3), y)), "RELU6"),
                      w.real_constant(np.float32(1 / 6), y))
    binary(w, "MUL", *((x, gate) if w.chance(0.5) else (gate, x)))


@move(images=2, batch=1.5, mixed=0.7)
def inception(w):
    """Several windows over one image, side by side."""
    x = w.image()
    parts = []
    for _ in range(w.integer(2, 3)):
        kind = w.weighted({"conv": 4, "depthwise": 1, "pool": 1, "as is": 0.5})
        if kind == "conv":
            parts.append(conv(w, x, strides=(1, 1), same=True, outputs=w.integer(1, 6)))
        elif kind == "depthwise":
            parts.append(depthwise(w, x, 1, strides=(1, 1), same=True))
        elif kind == "pool":
            parts.append(pooled(w, x, None, (3, 3), (1, 1), True))
        else:
            parts.append(x)
    if x.quantization:
        parts = [w.rescaled(p, parts[0].quantization) for p in parts]
    w.emit("CONCATENATION", parts, np.concatenate([p.value for p in parts], 3), x.type, parts[0].quantization,
           options("Concatenation", axis=3), version_of("CONCATENATION", x.type))


@move(images=2, batch=2, mixed=1)
def normalized(w):
    """What is left of batch normalization: a product and a sum with a number for each channel."""
    x = w.image()
    c = x.shape[3]
    a = w.real_constant(w.numbers.normal(1, 0.3, (c,)), x)
    b = w.real_constant(w.numbers.normal(0, 0.5, (c,)), x)
    y = binary(w, "ADD", binary(w, "MUL", x, a), b, w.activation())
    finish(w, y)


@move(images=2, batch=1, mixed=1, odd=1)
def resized(w):
    x = w.image()
    n, h, wd, c = x.shape
    sizes = w.choice([(2 * h, 2 * wd), (h, 2 * wd), (max(h // 2, 1), max(wd // 2, 1)), (w.integer(1, 9), w.integer(1, 9))])
    name = w.choice(["RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"])
    centers = w.weighted({"plain": 2, "align": 1, "half": 2})
    opts = options("ResizeBilinear" if name == "RESIZE_BILINEAR" else "ResizeNearestNeighbor",
                   alignCorners=centers == "align", halfPixelCenters=centers == "half")
    y = w.emit(name, [x, w.indices(sizes)], numeric.resize(x.value, sizes), x.type, x.quantization, opts)
    if w.chance(0.4):
        conv(w, y)


@move(images=1, batch=1)
def global_pool_and_classes(w):
    from random_graphs.moves.vectors import dense

    x = w.image()
    y = w.emit("MEAN", [x, w.indices([1, 2])], x.value.mean((1, 2)), x.type, "fit", options("Reducer", keepDims=False),
               version_of("MEAN", x.type))
    dense(w, y, w.integer(2, 12))


@move(images=0.7, mixed=0.5)
def volumes(w):
    """CONV_3D, of a picture with one more dimension."""
    x = w.image(("float32",))
    n, h, wd, c = x.shape
    if w.is_flexible:
        raise Abandoned
    y = w.view(x, (1, n, h, wd, c)) if w.chance(0.5) else w.view(x, (n, 1, h, wd, c))
    taps = w.choice([(1, 1, 1), (1, 2, 2), (1, 3, 3), (2, 1, 1)])
    outputs = w.integer(1, 6)
    w.spend(y.size * outputs * int(np.prod(taps)))
    real = (w.numbers.standard_normal((*taps, c, outputs)) / np.sqrt(np.prod(taps) * c)).astype(np.float32)
    shape = y.shape[:4]
    flat = np.tensordot(y.value, real.sum((0, 1, 2)), axes=((4,), (0,)))
    inputs = [y, w.constant(real)]
    if w.chance(0.6):
        inputs.append(w.constant((w.numbers.standard_normal(outputs) * 0.2).astype(np.float32)))
    opts = options("Conv3D", padding=0, strideD=1, strideH=1, strideW=1, fusedActivationFunction=w.activation(),
                   dilationDFactor=1, dilationHFactor=1, dilationWFactor=1)
    z = w.emit("CONV_3D", inputs, flat.reshape(*shape, outputs), "float32", None, opts, 1)
    w.view(z, (n, h, wd, outputs))



