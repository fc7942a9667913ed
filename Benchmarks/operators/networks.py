#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small networks of common kinds with random weights, as floats, int8 and uint8, for `Benchmarks/compare/compare.py`; those
of floats as hybrid ones, too: with weights of int8.

.build/python/bin/python Benchmarks/operators/networks.py FOLDER
"""

import argparse
import pathlib

import numpy as np

from models import TYPES, Quantization, floats, options
import attention_networks  # noqa: F401, its networks are added
from network_builder import NETWORKS, Network, network

# Of EfficientNets: channels, expanded channels, window and stride of each block.
EFFICIENT_BLOCKS = (
    (16, 32, 3, 1),
    (24, 96, 3, 2),
    (24, 144, 3, 1),
    (40, 144, 5, 2),
    (80, 240, 3, 2),
    (80, 480, 3, 1),
    (112, 480, 5, 1),
    (192, 672, 5, 2),
)


@network(*TYPES)
def yolo5(net):
    """YOLOv5: SiLU, a spatial pyramid, and rows of all anchors."""
    x = net.input(1, 160, 160, 3)
    x = net.silu(net.convolution(x, 16, 6, 2, 0))
    x = net.silu(net.convolution(x, 32, 3, 2, 0))
    a = net.silu(net.convolution(x, 16, 1, 1, 0))
    b = net.silu(net.convolution(x, 16, 1, 1, 0))
    c = net.silu(net.convolution(net.silu(net.convolution(a, 16, 1, 1, 0)), 16, 3, 1, 0))
    a = net.add(a, c)
    x = net.silu(net.convolution(net.joined([a, b]), 32, 1, 1, 0))
    x = net.silu(net.convolution(x, 64, 3, 2, 0))
    y = x
    x = net.silu(net.convolution(x, 128, 3, 2, 0))
    p = net.pool(x, 5, 1)
    p2 = net.pool(p, 5, 1)
    p3 = net.pool(p2, 5, 1)
    x = net.joined([x, p, p2, p3])
    x = net.silu(net.convolution(x, 64, 1, 1, 0))
    x = net.joined([net.resized(x, 2), y])
    x = net.silu(net.convolution(x, 64, 3, 1, 0))
    x = net.convolution(x, 85 * 3, 1, 1, 0)
    x = net.sigmoid(x)
    b, h, w, c = net.shapes[x]
    x = net.reshape(x, 1, h * w, 3, 85)
    return net.reshape(net.transpose(x, 0, 2, 1, 3), 1, 3 * h * w, 85)


@network(*TYPES)
def yolo_tiny(net):
    """YOLOv3 tiny: convolutions, LEAKY_RELU and pools."""
    x = net.input(1, 208, 208, 3)
    for c in (16, 32, 64, 128, 256):
        x = net.pool(net.leaky(net.convolution(x, c, 3, 1, 0)), 2, 2)
    x = net.leaky(net.convolution(x, 256, 3, 1, 0))
    y = net.leaky(net.convolution(x, 128, 1, 1, 0))
    return net.convolution(y, 255, 1, 1, 0)


@network(*TYPES)
def unet(net):
    """U-Net whose way up is transposed convolutions."""
    x = net.input(1, 128, 128, 3)
    sk = []
    for c in (16, 32, 64):
        x = net.convolution(net.convolution(x, c, 3), c, 3)
        sk.append(x)
        x = net.pool(x, 2, 2)
    x = net.convolution(x, 128, 3)
    for c in (64, 32, 16):
        x = net.transposed(x, c, 2, 2)
        x = net.joined([x, sk.pop()])
        x = net.convolution(x, c, 3)
    return net.sigmoid(net.convolution(x, 1, 1, 1, 0))


@network(*TYPES)
def unet_up(net):
    """U-Net whose way up is bilinear."""
    x = net.input(1, 128, 128, 3)
    sk = []
    for c in (16, 32, 64):
        x = net.convolution(x, c, 3)
        sk.append(x)
        x = net.pool(x, 2, 2)
    for c in (64, 32, 16):
        x = net.resized(x, 2, "RESIZE_BILINEAR")
        x = net.joined([x, sk.pop()])
        x = net.convolution(x, c, 3)
    return net.sigmoid(net.convolution(x, 1, 1, 1, 0))


@network(*TYPES)
def mobilenet3(net):
    """MobileNetV3: HARD_SWISH and gates of channels."""
    x = net.input(1, 224, 224, 3)
    x = net.hard_swish(net.convolution(x, 16, 3, 2, 0))
    for c, e, k, s, se, hs in (
        (16, 16, 3, 2, 1, 0),
        (24, 72, 3, 2, 0, 0),
        (24, 88, 3, 1, 0, 0),
        (40, 96, 5, 2, 1, 1),
        (40, 240, 5, 1, 1, 1),
        (48, 120, 5, 1, 1, 1),
        (96, 288, 5, 2, 1, 1),
        (96, 576, 5, 1, 1, 1),
    ):
        y = net.convolution(x, e, 1, 1, 0 if hs else 1)
        y = net.hard_swish(y) if hs else y
        y = net.depthwise(y, k, s, 0 if hs else 1)
        y = net.hard_swish(y) if hs else y
        if se:
            m = net.mean(y)
            m = net.convolution(m, max(8, e // 4), 1)
            m = net.convolution(m, e, 1, 1, 0)
            m = net.sigmoid(m)
            y = net.mul(y, m)
        y = net.convolution(y, c, 1, 1, 0)
        x = net.add(x, y) if net.shapes[x] == net.shapes[y] else y
    x = net.hard_swish(net.convolution(x, 576, 1, 1, 0))
    x = net.mean(x)
    x = net.hard_swish(net.convolution(x, 1024, 1, 1, 0))
    x = net.reshape(x, 1, 1024)
    return net.softmax(net.dense(x, 1000))


@network(*TYPES)
def efficientnet(net):
    """EfficientNet-Lite."""
    x = net.input(1, 160, 160, 3)
    x = net.convolution(x, 32, 3, 2, 3)
    for c, e, k, s in EFFICIENT_BLOCKS:
        y = net.convolution(x, e, 1, 1, 3)
        y = net.depthwise(y, k, s, 3)
        y = net.convolution(y, c, 1, 1, 0)
        x = net.add(x, y) if net.shapes[x] == net.shapes[y] else y
    x = net.convolution(x, 640, 1, 1, 3)
    x = net.pool(x, 5, 1, "AVERAGE_POOL_2D", 1)
    x = net.reshape(x, 1, 640)
    return net.softmax(net.dense(x, 1000))


@network(*TYPES)
def efficientnet_swish(net):
    """EfficientNet with SiLU and gates."""
    x = net.input(1, 112, 112, 3)
    x = net.silu(net.convolution(x, 32, 3, 2, 0))
    for c, e, k, s in EFFICIENT_BLOCKS[:6]:
        y = net.silu(net.convolution(x, e, 1, 1, 0))
        y = net.silu(net.depthwise(y, k, s, 0))
        m = net.mean(y)
        m = net.silu(net.convolution(m, 8, 1, 1, 0))
        m = net.sigmoid(net.convolution(m, e, 1, 1, 0))
        y = net.mul(y, m)
        y = net.convolution(y, c, 1, 1, 0)
        x = net.add(x, y) if net.shapes[x] == net.shapes[y] else y
    return net.softmax(net.dense(net.mean(x, keep=False), 1000))


@network(*TYPES)
def shuffle(net):
    """ShuffleNetV2: channels are shuffled by transposing."""
    x = net.input(1, 224, 224, 3)
    x = net.convolution(x, 24, 3, 2)
    x = net.pool(x, 3, 2)
    b = net.convolution(net.depthwise(x, 3, 2, 0), 58, 1)
    a = net.convolution(net.depthwise(net.convolution(x, 58, 1), 3, 2, 0), 58, 1)
    x = net.joined([a, b])
    for _ in range(3):
        _, h, w, c = net.shapes[x]
        x = net.reshape(net.transpose(net.reshape(x, 1, h, w, 2, c // 2), 0, 1, 2, 4, 3), 1, h, w, c)
        a, b = net.split(x, 2)
        b = net.convolution(net.depthwise(net.convolution(b, 58, 1), 3, 1, 0), 58, 1)
        x = net.joined([a, b])
    return net.dense(net.mean(x, keep=False), 1000)


@network(*TYPES)
def dense(net):
    """DenseNet."""
    x = net.input(1, 112, 112, 3)
    x = net.convolution(x, 32, 7, 2)
    x = net.pool(x, 3, 2)
    for _ in range(6):
        y = net.convolution(net.convolution(x, 64, 1), 16, 3)
        x = net.joined([x, y])
    x = net.pool(net.convolution(x, 64, 1), 2, 2, "AVERAGE_POOL_2D")
    return net.dense(net.mean(x, keep=False), 100)


@network(*TYPES)
def resnet(net):
    """ResNet of basic blocks."""
    x = net.input(1, 112, 112, 3)
    x = net.convolution(x, 32, 7, 2)
    x = net.pool(x, 3, 2)
    for c, s in ((32, 1), (32, 1), (64, 2), (64, 1), (128, 2), (128, 1)):
        y = net.convolution(net.convolution(x, c, 3, s), c, 3, 1, 0)
        x = x if net.shapes[x] == net.shapes[y] else net.convolution(x, c, 1, s, 0)
        x = net.add(x, y, 1)
    return net.softmax(net.dense(net.mean(x, keep=False), 100))


@network(*TYPES)
def bottleneck(net):
    """ResNet of bottlenecks."""
    x = net.input(1, 56, 56, 64)
    for c, s in ((64, 1), (64, 1), (128, 2), (128, 1)):
        y = net.convolution(net.convolution(net.convolution(x, c, 1), c, 3, s), c * 2, 1, 1, 0)
        x = net.add(x, y, 1) if net.shapes[x] == net.shapes[y] else net.add(net.convolution(x, c * 2, 1, s, 0), y, 1)
    return net.dense(net.mean(x, keep=False), 10)


@network(*TYPES)
def inception(net):
    """Inception: branches that are joined."""
    x = net.input(1, 56, 56, 64)
    for _ in range(2):
        a = net.convolution(x, 32, 1)
        b = net.convolution(net.convolution(x, 32, 1), 48, 3)
        c = net.convolution(net.convolution(net.convolution(x, 32, 1), 48, 3), 48, 3)
        d = net.convolution(net.pool(x, 3, 1, "AVERAGE_POOL_2D"), 32, 1)
        e = net.convolution(net.convolution(x, 32, (1, 7)), 32, (7, 1))
        x = net.joined([a, b, c, d, e])
    return net.dense(net.mean(x, keep=False), 10)


@network(*TYPES)
def espcn(net):
    """ESPCN: super resolution by DEPTH_TO_SPACE."""
    x = net.input(1, 96, 96, 3)
    x = net.convolution(x, 32, 5)
    x = net.convolution(x, 32, 3)
    x = net.convolution(x, 27, 3, 1, 0)
    b, h, w, c = net.shapes[x]
    return net.operator(
        "DEPTH_TO_SPACE",
        [x],
        (1, h * 3, w * 3, 3),
        options("DepthToSpace", blockSize=3),
        quantization=net.quantizations[x],
        version=1,
    )


@network(*TYPES)
def fsrcnn(net):
    """FSRCNN: super resolution by a transposed convolution."""
    x = net.input(1, 96, 96, 1)
    x = net.convolution(x, 32, 5)
    x = net.convolution(x, 8, 1)
    for _ in range(3):
        x = net.convolution(x, 8, 3)
    x = net.convolution(x, 32, 1)
    return net.transposed(x, 1, 9, 2)


@network(*TYPES)
def aspp(net):
    """DeepLab: dilated convolutions side by side."""
    x = net.input(1, 33, 33, 96)
    a = net.convolution(x, 64, 1)
    b = net.convolution(x, 64, 3, 1, 1, 0, 6)
    c = net.convolution(x, 64, 3, 1, 1, 0, 12)
    d = net.convolution(net.depthwise(x, 3, 1, 1, 6), 64, 1)
    m = net.convolution(net.mean(x), 64, 1)
    m = net.resized(m, 33, "RESIZE_BILINEAR", False)
    x = net.joined([a, b, c, d, m])
    x = net.convolution(x, 64, 1)
    x = net.convolution(x, 21, 1, 1, 0)
    return net.resized(x, 4, "RESIZE_BILINEAR", False)


@network(*TYPES)
def blaze(net):
    """BlazeFace: blocks whose channels are padded."""
    x = net.input(1, 128, 128, 3)
    x = net.convolution(x, 24, 5, 2)
    for c, s in ((24, 1), (28, 1), (32, 2), (36, 1), (42, 1), (48, 2), (56, 1), (64, 1)):
        y = net.convolution(net.depthwise(x, 3, s, 0), c, 1, 1, 0)
        z = net.pool(x, 2, 2) if s == 2 else x
        d = c - net.shapes[z][3]
        z = net.pad(z, [[0, 0], [0, 0], [0, 0], [0, d]]) if d else z
        x = net.add(z, y, 1)
    a = net.convolution(x, 2, 1, 1, 0)
    b = net.convolution(x, 32, 1, 1, 0)
    return (net.reshape(a, 1, 512, 1), net.reshape(b, 1, 512, 16))


@network(*TYPES)
def prelu_face(net):
    """MobileFaceNet: PRELU after each layer."""
    x = net.input(1, 112, 112, 3)

    def prelu(x):
        channels = net.shapes[x][-1]
        factors = floats(1, 1, channels, spread=0.4)
        quantization = None
        if net.type_name != "float32":
            zero = 1 if net.type_name == "int8" else 129
            factors = np.round(factors / 0.0032 + zero).astype(net.type_name)
            quantization = Quantization.per_tensor(0.0032, zero)
        return net.operator("PRELU", [x, net.graph.constant(factors, quantization)], net.shapes[x], version=1)

    x = prelu(net.convolution(x, 64, 3, 2, 0))
    x = prelu(net.depthwise(x, 3, 1, 0))
    for c, s in ((64, 2), (64, 1), (128, 2), (128, 1)):
        y = prelu(net.convolution(x, 2 * c, 1, 1, 0))
        y = prelu(net.depthwise(y, 3, s, 0))
        y = net.convolution(y, c, 1, 1, 0)
        x = net.add(x, y) if net.shapes[x] == net.shapes[y] else y
    x = net.depthwise(x, 14, 14, 0)
    x = net.reshape(x, 1, 128)
    return net.dense(x, 128)


@network("float32", "int8")
def vit(net):
    """A vision transformer."""
    x = net.input(1, 196, 192)
    D = 192
    H = 3
    for _ in range(2):
        q, k, v = [
            net.transpose(net.reshape(net.dense(x, D, keep=True), 1, 196, H, D // H), 0, 2, 1, 3) for _ in range(3)
        ]
        a = net.softmax(net.product(q, k, True))
        o = net.product(a, v)
        o = net.reshape(net.transpose(o, 0, 2, 1, 3), 1, 196, D)
        x = net.add(x, net.dense(o, D, keep=True))
        f = net.dense(x, 4 * D, keep=True)
        f = net.unary("GELU", f, options("Gelu", approximate=False))
        x = net.add(x, net.dense(f, D, keep=True))
    return net.dense(net.mean(x, (1,), False), 100)


@network("float32")
def bert_norm(net):
    """BERT, with norms as converters write them."""
    x = net.input(1, 128, 128)
    for _ in range(3):
        D = 128
        H = 4
        q, k, v = [
            net.transpose(net.reshape(net.dense(x, D, keep=True), 1, 128, H, D // H), 0, 2, 1, 3) for _ in range(3)
        ]
        s = net.product(q, k, True)
        sc = net.number(0.177)
        s = net.mul(s, sc)
        mask = net.constant(1, 1, 1, 128)
        s = net.add(s, mask)
        a = net.softmax(s)
        o = net.reshape(net.transpose(net.product(a, v), 0, 2, 1, 3), 1, 128, D)
        x = net.normalized(net.add(x, net.dense(o, D, keep=True)))
        f = net.dense(x, 512, 1, keep=True)
        x = net.normalized(net.add(x, net.dense(f, D, keep=True)))
    return x


@network(*TYPES)
def kws_1d(net):
    """Keyword spotting by convolutions of one axis."""
    x = net.input(1, 1, 98, 40)
    x = net.convolution(x, 16, (1, 3), 1)
    for c, s in ((24, 2), (32, 2), (48, 2)):
        y = net.convolution(x, c, (1, 9), s)
        y = net.convolution(y, c, (1, 9), 1, 0)
        z = net.convolution(x, c, 1, s)
        x = net.add(y, z, 1)
    return net.softmax(net.dense(net.reshape(net.mean(x), 1, 48), 12))


@network(*TYPES)
def nchw(net):
    """What was converted from NCHW: transposes between layers."""
    x = net.input(1, 3, 96, 96)
    x = net.transpose(x, 0, 2, 3, 1)
    for c, s in ((16, 2), (32, 2), (64, 2)):
        x = net.convolution(net.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]]), c, 3, s, 1, 1)
        x = net.transpose(net.transpose(x, 0, 3, 1, 2), 0, 2, 3, 1)
    x = net.transpose(x, 0, 3, 1, 2)
    return net.reshape(x, 1, int(np.prod(net.shapes[x])))


@network(*TYPES)
def fpn(net):
    """A feature pyramid with heads of detectors."""
    x = net.input(1, 80, 80, 32)
    a = net.convolution(x, 64, 3, 2)
    b = net.convolution(a, 96, 3, 2)
    c = net.convolution(b, 128, 3, 2)
    p3 = net.convolution(c, 64, 1, 1, 0)
    p2 = net.add(net.convolution(b, 64, 1, 1, 0), net.resized(p3, 2))
    p1 = net.add(net.convolution(a, 64, 1, 1, 0), net.resized(p2, 2))
    o = []
    for p in (p1, p2, p3):
        h = net.convolution(net.depthwise(p, 3, 1, 0), 64, 1, 1, 3)
        h = net.convolution(net.depthwise(h, 3, 1, 0), 64, 1, 1, 3)
        k = net.convolution(net.depthwise(h, 3, 1, 0), 36, 1, 1, 0)
        _, hh, w, c = net.shapes[k]
        o.append(net.reshape(k, 1, hh * w * 9, 4))
    return net.sigmoid(net.joined(o, 1))


@network(*TYPES)
def bifpn(net):
    """EfficientDet: a pyramid that goes down and up."""
    x = net.input(1, 40, 40, 64)
    b = net.pool(x, 3, 2)
    c = net.pool(b, 3, 2)
    for _ in range(2):
        bu = net.convolution(net.depthwise(net.hard_swish(net.add(b, net.resized(c, 2))), 3, 1, 0), 64, 1, 1, 0)
        au = net.convolution(net.depthwise(net.hard_swish(net.add(x, net.resized(bu, 2))), 3, 1, 0), 64, 1, 1, 0)
        b = net.convolution(
            net.depthwise(net.hard_swish(net.add(net.add(b, bu), net.pool(au, 3, 2))), 3, 1, 0), 64, 1, 1, 0
        )
        c = net.convolution(net.depthwise(net.add(c, net.pool(b, 3, 2)), 3, 1, 0), 64, 1, 1, 0)
        x = au
    return (x, b, c)


@network(*TYPES)
def style(net):
    """Style transfer: residual blocks with instance norms."""
    x = net.input(1, 64, 64, 3)
    x = net.convolution(x, 16, 9)
    x = net.convolution(x, 32, 3, 2)
    for _ in range(2):
        y = net.convolution(x, 32, 3, 1, 0)
        if net.type_name == "float32":
            m = net.mean(y)
            d = net.binary("Sub", y, m)
            v = net.mean(net.mul(d, d))
            e = net.number(1e-3)
            y = net.mul(d, net.unary("RSQRT", net.add(v, e)))
        x = net.add(x, net.unary("RELU", y) if net.type_name == "float32" else y)
    x = net.resized(x, 2)
    x = net.convolution(x, 16, 3)
    x = net.convolution(x, 3, 9, 1, 0)
    return net.unary("TANH", x, quantization=net.quantization(0, 1 / 128))


@network(*TYPES)
def autoenc(net):
    """An autoencoder of dense layers."""
    x = net.input(1, 640)
    for c in (128, 128, 8, 128, 128):
        x = net.dense(x, c, 1)
    return net.dense(x, 640)


@network(*TYPES)
def tiny_mlp(net):
    """Dense layers of a microcontroller."""
    x = net.input(1, 16)
    x = net.dense(x, 32, 1)
    x = net.dense(x, 32, 1)
    return net.softmax(net.dense(x, 4))


@network(*TYPES)
def lenet(net):
    """LeNet."""
    x = net.input(1, 28, 28, 1)
    x = net.pool(net.convolution(x, 6, 5), 2, 2)
    x = net.pool(net.convolution(x, 16, 5, 1, 1, 1), 2, 2)
    x = net.reshape(x, 1, 400)
    x = net.dense(x, 120, 1)
    x = net.dense(x, 84, 1)
    return net.softmax(net.dense(x, 10))


@network(*TYPES)
def deconv4(net):
    """A generator of transposed convolutions."""
    x = net.input(1, 8, 8, 128)
    for c in (64, 32, 16):
        x = net.transposed(x, c, 4, 2)
        x = net.leaky(x)
    return net.unary("TANH", net.transposed(x, 3, 4, 2), quantization=net.quantization(0, 1 / 128))


@network(*TYPES)
def dilated_tcn(net):
    """A temporal network of dilated convolutions."""
    x = net.input(1, 1, 256, 32)
    for d in (1, 2, 4, 8):
        y = net.operator(
            "CONV_2D",
            [x] + net.weights((32, 1, 3, 32), 0, x, 32),
            (1, 1, 256, 32),
            options(
                "Conv2D",
                strideW=1,
                strideH=1,
                dilationWFactor=d,
                dilationHFactor=1,
                padding=0,
                fusedActivationFunction=1,
            ),
            version=3,
        )
        x = net.add(x, net.convolution(y, 32, 1, 1, 0))
    return x


@network(*TYPES)
def crop_slice(net):
    """Slices, strides and SPACE_TO_DEPTH."""
    x = net.input(1, 96, 96, 16)
    b = net.integers([0, 8, 8, 0])
    z = net.integers([1, 80, 80, 16])
    y = net.operator("SLICE", [x, b, z], (1, 80, 80, 16), options("Slice"), quantization=net.quantizations[x])
    y = net.operator(
        "STRIDED_SLICE",
        [y, net.integers([0, 0, 0, 0]), net.integers([1, 80, 80, 16]), net.integers([1, 2, 2, 1])],
        (1, 40, 40, 16),
        options("StridedSlice", beginMask=0, endMask=0, ellipsisMask=0, newAxisMask=0, shrinkAxisMask=0),
        quantization=net.quantizations[x],
    )
    y = net.convolution(y, 32, 3)
    return net.operator(
        "SPACE_TO_DEPTH",
        [y],
        (1, 20, 20, 128),
        options("SpaceToDepth", blockSize=2),
        quantization=net.quantizations[y],
        version=1,
    )

@network("float32")
def convnext(net):
    """ConvNeXt: large windows, norms over channels, and GELU."""
    x = net.convolution(net.input(1, 128, 128, 3), 48, 4, 4, 0)
    for channels in (48, 96):
        if channels > 48:
            x = net.convolution(x, channels, 2, 2, 0)
        for _ in range(2):
            y = net.normalized(net.depthwise(x, 7, 1, 0))
            y = net.convolution(y, 4 * channels, 1, 1, 0)
            y = net.unary("GELU", y, options("Gelu", approximate=False))
            y = net.mul(net.convolution(y, channels, 1, 1, 0), net.constant(channels))
            x = net.add(x, y)
    return net.dense(net.mean(x, (1, 2), False), 100)


@network("float32", "int8")
def mixer(net):
    """An MLP mixer: dense layers across places, and across channels."""
    x = net.input(1, 196, 128)
    for _ in range(3):
        y = net.transpose(x, 0, 2, 1)
        y = net.dense(net.unary("GELU", net.dense(y, 64, keep=True), options("Gelu", approximate=True)), 196, keep=True)
        x = net.add(x, net.transpose(y, 0, 2, 1))
        y = net.unary("GELU", net.dense(x, 512, keep=True), options("Gelu", approximate=True))
        x = net.add(x, net.dense(y, 128, keep=True))
    return net.dense(net.mean(x, (1,), False), 100)


@network(*TYPES)
def wav2letter(net):
    """Speech: long windows along one axis."""
    x = net.input(1, 1, 296, 39)
    x = net.convolution(x, 125, (1, 48), 2)
    for _ in range(2):
        x = net.convolution(x, 125, (1, 7))
    x = net.convolution(x, 250, (1, 32))
    return net.convolution(x, 29, 1, 1, 0)


@network(*TYPES)
def squeezenet(net):
    """SqueezeNet: few channels, and their expansions joined."""
    x = net.pool(net.convolution(net.input(1, 128, 128, 3), 64, 3, 2), 3, 2)
    for few, many in ((16, 64), (16, 64), (32, 128), (32, 128)):
        y = net.convolution(x, few)
        x = net.joined([net.convolution(y, many), net.convolution(y, many, 3)])
        if many == 64 and net.shapes[x][1] == 32:
            x = net.pool(x, 3, 2)
    return net.mean(net.convolution(x, 100), (1, 2), False)


@network(*TYPES)
def repvgg(net):
    """RepVGG: nothing but windows of three by three."""
    x = net.input(1, 112, 112, 3)
    for channels, stride in ((48, 2), (48, 2), (48, 1), (96, 2), (96, 1), (192, 2), (192, 1)):
        x = net.convolution(x, channels, 3, stride)
    return net.dense(net.mean(x, (1, 2), False), 100)


@network("float32", "int8")
def mobilevit(net):
    """MobileViT: attention between the places of patches."""
    x = net.convolution(net.input(1, 128, 128, 3), 16, 3, 2)
    x = net.convolution(net.depthwise(net.convolution(x, 64), 3, 2), 32, 1, 1, 0)
    x = net.convolution(net.depthwise(net.convolution(x, 128), 3, 2), 48, 1, 1, 0)
    y = net.convolution(net.convolution(x, 48, 3), 64, 1, 1, 0)
    # Patches of two by two: the same place of each is a sequence.
    y = net.reshape(net.transpose(net.reshape(y, 8, 2, 8, 128), 0, 2, 1, 3), 64, 4, 64)
    y = net.transpose(y, 1, 0, 2)
    for _ in range(2):
        q, k, v = [
            net.transpose(net.reshape(net.dense(y, 64, keep=True), 4, 64, 4, 16), 0, 2, 1, 3) for _ in range(3)
        ]
        a = net.product(net.softmax(net.product(q, k, True)), v)
        a = net.reshape(net.transpose(a, 0, 2, 1, 3), 4, 64, 64)
        y = net.add(y, net.dense(a, 64, keep=True))
        y = net.add(y, net.dense(net.dense(y, 128, 1, keep=True), 64, keep=True))
    y = net.reshape(net.transpose(y, 1, 0, 2), 8, 8, 2, 128)
    y = net.reshape(net.transpose(y, 0, 2, 1, 3), 1, 16, 16, 64)
    y = net.joined([x, net.convolution(y, 48)])
    return net.dense(net.mean(net.convolution(y, 64, 3), (1, 2), False), 100)


@network(*TYPES)
def hrnet(net):
    """HRNet: branches of several resolutions, which are exchanged."""
    x = net.convolution(net.convolution(net.input(1, 128, 128, 3), 32, 3, 2), 32, 3, 2)
    fine, coarse = x, net.convolution(x, 64, 3, 2)
    for _ in range(2):
        fine = net.add(fine, net.convolution(net.convolution(fine, 32, 3), 32, 3, 1, 0), 1)
        coarse = net.add(coarse, net.convolution(net.convolution(coarse, 64, 3), 64, 3, 1, 0), 1)
        up = net.resized(net.convolution(coarse, 32, 1, 1, 0), 2, "RESIZE_BILINEAR")
        fine, coarse = net.add(fine, up, 1), net.add(coarse, net.convolution(fine, 64, 3, 2, 0), 1)
    return net.convolution(fine, 17, 1, 1, 0)


@network(*TYPES)
def ghost(net):
    """GhostNet: half of the channels are made of the other half."""
    x = net.convolution(net.input(1, 128, 128, 3), 16, 3, 2)
    for channels, stride in ((24, 2), (24, 1), (40, 2), (40, 1), (80, 2), (80, 1)):
        y = net.convolution(x, 3 * channels // 2)
        y = net.joined([y, net.depthwise(y)])
        if stride == 2:
            y = net.depthwise(y, 3, 2, 0)
        z = net.convolution(y, channels // 2, 1, 1, 0)
        z = net.joined([z, net.depthwise(z, 3, 1, 0)])
        x = z if stride == 2 else net.add(x, z)
    return net.dense(net.mean(x, (1, 2), False), 100)


@network("float32", "int8")
def resnext(net):
    """ResNeXt: convolutions of groups."""
    x = net.convolution(net.input(1, 56, 56, 3), 64, 3)
    for _ in range(3):
        y = net.convolution(net.convolution(x, 64), 64, 3, groups=8)
        x = net.add(x, net.convolution(y, 64, 1, 1, 0), 1)
    return net.dense(net.mean(x, (1, 2), False), 100)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for function, type_name in NETWORKS:
        builder = Network(type_name)
        results = function(builder)
        graph = builder.graph.done(*(results if isinstance(results, tuple) else (results,)))
        (folder / f"{function.__name__}_{type_name}.tflite").write_bytes(graph.bytes())


if __name__ == "__main__":
    main()
