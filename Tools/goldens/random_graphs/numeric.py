# SPDX-License-Identifier: Apache-2.0
"""What operators compute, about: in NumPy, so that the generator knows shapes and ranges without a reference."""

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def window_size(size, taps, stride, dilation, same):
    """The outputs along one axis, and the padding before and after."""
    extent = (taps - 1) * dilation + 1
    if not same:
        return (size - extent) // stride + 1, 0, 0
    count = -(-size // stride)
    padding = max((count - 1) * stride + extent - size, 0)
    return count, padding // 2, padding - padding // 2


def windows(x, taps, strides, dilations, same, fill=0.0):
    """[n, h, w, c] as [n, oh, ow, c, kh, kw]; None where no window fits."""
    sizes = [window_size(x.shape[1 + axis], taps[axis], strides[axis], dilations[axis], same) for axis in range(2)]
    if min(sizes[0][0], sizes[1][0]) < 1:
        return None
    if same:
        x = np.pad(x, ((0, 0), sizes[0][1:], sizes[1][1:], (0, 0)), constant_values=fill)
    extents = [(tap - 1) * step + 1 for tap, step in zip(taps, dilations)]
    views = sliding_window_view(x, extents, axis=(1, 2))
    return views[:, :: strides[0], :: strides[1], :, :: dilations[0], :: dilations[1]]


def conv2d(x, weights, strides, dilations, same):
    """`weights` is [outputs, kh, kw, inputs / groups]."""
    views = windows(x, weights.shape[1:3], strides, dilations, same)
    if views is None:
        return None
    groups = x.shape[3] // weights.shape[3]
    if groups == 1:
        return np.tensordot(views, weights, axes=((3, 4, 5), (3, 1, 2)))
    depth, each = weights.shape[3], weights.shape[0] // groups
    return np.concatenate([
        np.tensordot(views[:, :, :, g * depth:(g + 1) * depth], weights[g * each:(g + 1) * each],
                     axes=((3, 4, 5), (3, 1, 2)))
        for g in range(groups)], axis=3)


def depthwise(x, weights, multiplier, strides, dilations, same):
    """`weights` is [1, kh, kw, channels · multiplier]."""
    views = windows(x, weights.shape[1:3], strides, dilations, same)
    if views is None:
        return None
    if multiplier > 1:
        views = np.repeat(views, multiplier, axis=3)
    return np.einsum("nhwckl,klc->nhwc", views, weights[0])


def transpose_conv(x, weights, sizes, strides, same):
    """`weights` is [outputs, kh, kw, inputs]."""
    n, h, w, _ = x.shape
    outputs, kh, kw, _ = weights.shape
    full = np.zeros((n, (h - 1) * strides[0] + kh, (w - 1) * strides[1] + kw, outputs), np.float32)
    for i in range(kh):
        for j in range(kw):
            full[:, i:i + (h - 1) * strides[0] + 1:strides[0], j:j + (w - 1) * strides[1] + 1:strides[1]] += (
                x @ weights[:, i, j].T)
    result = np.zeros((n, *sizes, outputs), np.float32)
    starts = [max(full.shape[1 + axis] - sizes[axis], 0) // 2 if same else 0 for axis in range(2)]
    cut = full[:, starts[0]:starts[0] + sizes[0], starts[1]:starts[1] + sizes[1]]
    result[:, :cut.shape[1], :cut.shape[2]] = cut
    return result


def pool(x, taps, strides, same, kind):
    views = windows(x, taps, strides, (1, 1), same, -np.inf if kind == "max" else 0.0)
    if views is None:
        return None
    if kind == "max":
        return views.max((4, 5))
    if kind == "l2":
        return np.sqrt(np.square(views).mean((4, 5)))
    return views.mean((4, 5))


def resize(x, sizes):
    rows = np.arange(sizes[0]) * x.shape[1] // sizes[0]
    columns = np.arange(sizes[1]) * x.shape[2] // sizes[1]
    return x[:, rows][:, :, columns]


def activated(x, activation):
    """`activation` as the schema numbers it."""
    if activation == 1:
        return np.maximum(x, 0)
    if activation == 2:
        return np.clip(x, -1, 1)
    if activation == 3:
        return np.clip(x, 0, 6)
    return x


def logistic(x):
    return 1 / (1 + np.exp(-np.clip(x, -80, 80)))


def hard_swish(x):
    return x * np.clip(x + 3, 0, 6) / 6


def gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def softmax(x, beta=1.0):
    e = np.exp(np.clip((x - x.max(-1, keepdims=True)) * beta, -80, 0)) if x.size else x
    return e / e.sum(-1, keepdims=True) if x.size else x
