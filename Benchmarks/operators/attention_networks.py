# SPDX-License-Identifier: Apache-2.0
"""More networks for `networks.py`: of gates, attention and sequences."""

from models import TYPES, options
from network_builder import network


def attention(net, x, heads):
    """Attention between the rows of each matrix of a batch."""
    batch, rows, depth = net.shapes[x]
    q, k, v = [
        net.transpose(net.reshape(net.dense(x, depth, keep=True), batch, rows, heads, depth // heads), 0, 2, 1, 3)
        for _ in range(3)
    ]
    scores = net.softmax(net.mul(net.product(q, k, True), net.number((depth // heads) ** -0.5)))
    joined = net.transpose(net.product(scores, v), 0, 2, 1, 3)
    return net.dense(net.reshape(joined, batch, rows, depth), depth, keep=True)


@network(*TYPES)
def cbam(net):
    """CBAM: gates of channels, and of places, by means and extremes."""
    x = net.convolution(net.input(1, 112, 112, 3), 32, 3, 2)
    for channels, stride in ((32, 1), (64, 2), (64, 1), (96, 2)):
        y = net.convolution(net.convolution(x, channels, 3, stride), channels, 3, 1, 0)
        greatest = net.extreme(y, (1, 2))
        gates = [net.convolution(net.convolution(z, 8), channels, 1, 1, 0) for z in (net.mean(y), greatest)]
        y = net.mul(y, net.sigmoid(net.add(*gates)))
        places = net.joined([net.mean(y, (3,)), net.extreme(y, (3,))])
        y = net.mul(y, net.sigmoid(net.convolution(places, 1, 7, 1, 0)))
        x = y if stride == 2 or net.shapes[x] != net.shapes[y] else net.add(x, y, 1)
    return net.dense(net.mean(x, keep=False), 100)


@network("float32", "int8")
def swin(net):
    """Swin: attention within windows, which are cut out by transposing."""
    x = net.convolution(net.input(1, 112, 112, 3), 64, 4, 4, 0, 1)
    for _ in range(2):
        y = net.normalized(x)
        y = net.transpose(net.reshape(y, 4, 7, 4, 7, 64), 0, 2, 1, 3, 4)
        y = attention(net, net.reshape(y, 16, 49, 64), 2)
        y = net.transpose(net.reshape(y, 4, 4, 7, 7, 64), 0, 2, 1, 3, 4)
        x = net.add(x, net.reshape(y, 1, 28, 28, 64))
        y = net.unary("GELU", net.dense(net.normalized(x), 256, keep=True), options("Gelu", approximate=False))
        x = net.add(x, net.dense(y, 64, keep=True))
    return net.dense(net.mean(x, keep=False), 100)


@network(*TYPES)
def wavenet(net):
    """WaveNet: dilated convolutions, a hyperbolic tangent times a gate, and what skips the rest."""
    x = net.convolution(net.input(1, 1, 512, 16), 32, 1, 1, 0)
    skipped = None
    for dilation in (1, 2, 4, 8, 16):
        wide = net.convolution(net.pad(x, [[0, 0], [0, 0], [dilation, 0], [0, 0]]), 64, (1, 2), 1, 0, 1, dilation)
        a, b = net.split(net.cut(wide, net.shapes[x][2]), 2)
        y = net.mul(net.tanh(a), net.sigmoid(b))
        z = net.convolution(y, 32, 1, 1, 0)
        skipped = z if skipped is None else net.add(skipped, z)
        x = net.add(x, net.convolution(y, 32, 1, 1, 0))
    return net.convolution(net.convolution(skipped, 64, 1), 256, 1, 1, 0)


@network(*TYPES)
def text_cnn(net):
    """Sentences: windows of several lengths over embeddings, and the greatest of each."""
    x = net.input(1, 1, 64, 128)
    parts = [net.extreme(net.convolution(x, 64, (1, length)), (1, 2)) for length in (3, 4, 5)]
    return net.softmax(net.dense(net.reshape(net.joined(parts), 1, 192), 10))


@network(*TYPES)
def psp(net):
    """PSPNet: means of regions, enlarged again."""
    x = net.convolution(net.convolution(net.input(1, 96, 96, 3), 32, 3, 2), 64, 3, 2)
    x = net.convolution(x, 64, 3)
    parts = [x]
    for size in (24, 12, 8, 4):
        y = net.convolution(net.pool(x, size, size, "AVERAGE_POOL_2D", 1), 16)
        parts.append(net.resized(y, size, "RESIZE_BILINEAR", aligned=True))
    return net.resized(net.convolution(net.convolution(net.joined(parts), 64, 3), 19, 1, 1, 0), 4, "RESIZE_BILINEAR", aligned=True)


@network("float32", "int8")
def conformer(net):
    """Conformer: attention, and long windows along the time, with gates."""
    x = net.input(1, 100, 144)
    for _ in range(2):
        y = net.silu(net.dense(net.normalized(x), 576, keep=True))
        x = net.add(x, net.mul(net.dense(y, 144, keep=True), net.number(0.5)))
        x = net.add(x, attention(net, net.normalized(x), 4))
        a, b = net.split(net.dense(net.normalized(x), 288, keep=True), 2, 2)
        y = net.reshape(net.mul(a, net.sigmoid(b)), 1, 100, 1, 144)
        y = net.silu(net.depthwise(y, (31, 1), 1, 0))
        x = net.add(x, net.dense(net.reshape(y, 1, 100, 144), 144, keep=True))
        x = net.normalized(x)
    return net.dense(x, 128, keep=True)


@network("int8")
def bert_bytes(net):
    """BERT whose norms are of bytes, too."""
    x = net.input(1, 128, 128)
    for _ in range(2):
        x = net.normalized(net.add(x, attention(net, x, 4)))
        x = net.normalized(net.add(x, net.dense(net.dense(x, 512, 1, keep=True), 128, keep=True)))
    return x


@network("float32", "int8")
def decoder(net):
    """One step of a decoder of text: rows times matrices, and what it remembers."""
    x = net.input(1, 1, 256)
    for _ in range(2):
        y = net.normalized(x)
        q, k, v = [net.reshape(net.dense(y, 256, keep=True), 1, 8, 1, 32) for _ in range(3)]
        keys = net.joined([net.input(1, 8, 127, 32), k], 2)
        values = net.joined([net.input(1, 8, 127, 32), v], 2)
        y = net.product(net.softmax(net.product(q, keys, True)), values)
        x = net.add(x, net.dense(net.reshape(y, 1, 1, 256), 256, keep=True))
        y = net.normalized(x)
        y = net.mul(net.silu(net.dense(y, 768, keep=True)), net.dense(y, 768, keep=True))
        x = net.add(x, net.dense(y, 256, keep=True))
    return net.dense(x, 4096, keep=True)


@network(*TYPES)
def srgan(net):
    """SRGAN: residual blocks with PRELU, pixels from channels."""
    x = net.prelu(net.convolution(net.input(1, 48, 48, 3), 32, 9, 1, 0))
    first = x
    for _ in range(3):
        x = net.add(x, net.convolution(net.prelu(net.convolution(x, 32, 3, 1, 0)), 32, 3, 1, 0))
    x = net.convolution(net.add(x, first), 128, 3, 1, 0)
    _, height, width, _ = net.shapes[x]
    x = net.operator(
        "DEPTH_TO_SPACE", [x], (1, 2 * height, 2 * width, 32), options("DepthToSpace", blockSize=2),
        quantization=net.quantizations[x], version=1,
    )
    return net.tanh(net.convolution(net.prelu(x), 3, 9, 1, 0))


@network(*TYPES)
def ds_cnn(net):
    """Keyword spotting by separable convolutions."""
    x = net.convolution(net.input(1, 49, 10, 1), 64, (10, 4), 2)
    for _ in range(4):
        x = net.convolution(net.depthwise(x), 64)
    return net.softmax(net.dense(net.mean(x, keep=False), 12))


@network(*TYPES)
def hourglass(net):
    """Hourglass: down and up again, with what skips it."""
    x = net.convolution(net.input(1, 128, 128, 3), 32, 7, 2)

    def residual(x):
        y = net.convolution(net.convolution(net.convolution(x, 16), 16, 3), 32, 1, 1, 0)
        return net.add(x, y, 1)

    def level(x, depth):
        below = residual(net.pool(x, 2, 2))
        below = level(below, depth - 1) if depth > 1 else residual(below)
        return net.add(residual(x), net.resized(residual(below), 2, half=False))

    return net.convolution(level(x, 3), 16, 1, 1, 0)


@network(*TYPES)
def lcnet(net):
    """PP-LCNet: HARD_SWISH after each layer, large windows, wide last layers."""
    x = net.hard_swish(net.convolution(net.input(1, 128, 128, 3), 16, 3, 2, 0))
    for channels, window, stride in ((32, 3, 1), (64, 3, 2), (64, 3, 1), (128, 3, 2), (128, 5, 1), (256, 5, 2), (256, 5, 1)):
        x = net.hard_swish(net.depthwise(x, window, stride, 0))
        x = net.hard_swish(net.convolution(x, channels, 1, 1, 0))
    x = net.hard_swish(net.convolution(net.mean(x), 1280, 1, 1, 0))
    return net.softmax(net.dense(net.reshape(x, 1, 1280), 1000))
