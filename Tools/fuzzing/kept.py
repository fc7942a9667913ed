#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of Fuzzing/Kept again: small models that stand for what mutants, fuzzers and random graphs once found.

`KeptTests` prepares and runs each, and `Scripts/fuzz.sh` replays them under AddressSanitizer. What each one found is in
Fuzzing/Kept/README.md. A finding of libFuzzer is put there as it is.
"""

import pathlib

import numpy as np

from corpus import B, BIG, F, I, T, calling, conv, empty_graph, empty_model, made, one, operator, pack, tensor

KEPT = pathlib.Path(__file__).parents[2] / "Fuzzing/Kept"


def recurrent(steps):
    """A recurrent layer of one unit over so many steps."""
    model = empty_model()
    graph = empty_graph(model)
    reads = [tensor(model, graph, T.FLOAT32, (1, steps, 1)), tensor(model, graph, T.FLOAT32, (1, 1), [0.5]),
             tensor(model, graph, T.FLOAT32, (1, 1), [0.5]), tensor(model, graph, T.FLOAT32, (1,), [0.0]),
             tensor(model, graph, T.FLOAT32, (1, 1))]
    graph.tensors[-1].isVariable = True
    graph.inputs = reads[:1]
    graph.outputs = [tensor(model, graph, T.FLOAT32, (1, steps, 1))]
    operator(model, graph, B.UNIDIRECTIONAL_SEQUENCE_RNN, reads, graph.outputs, made("SequenceRNN"))
    return pack(model)


def names_with_controls():
    model = empty_model()
    graph = empty_graph(model)
    first = tensor(model, graph, T.FLOAT32, (2,), [1.0], name="\x1b[2J\x07\r\nerror: \x9b31m")
    last = tensor(model, graph, T.FLOAT32, (2,))
    graph.outputs = [last]
    operator(model, graph, B.RELU, [first], [last])
    return pack(model)


def view_of_constant():
    """A constant that nothing reads but a RESHAPE, whose memory must outlive it."""
    return one(B.RESHAPE, [(T.FLOAT32, (4096,), np.arange(4096)), I([64, 64])], [F(64, 64)], made("Reshape"))


def depthwise(dilation, stride):
    return one(B.DEPTHWISE_CONV_2D, [F(1, 9, 9, 2), (T.FLOAT32, (1, 3, 3, 2), np.ones((1, 3, 3, 2))), None], [F(1, 9, 9, 2)],
               made("DepthwiseConv2D", strideW=stride, strideH=stride, dilationWFactor=dilation, dilationHFactor=dilation,
                    depthMultiplier=1))


def remainder():
    """FULLY_CONNECTED whose input is no whole number of rows."""
    return one(B.FULLY_CONNECTED, [F(1, 7), (T.FLOAT32, (2, 4), np.ones((2, 4))), None], [F(1, 2)], made("FullyConnected"))


def sum_of_thousands():
    """One tensor of 16 million floats, 4,096 times."""
    model = empty_model()
    graph = empty_graph(model)
    graph.inputs = [tensor(model, graph, T.FLOAT32, (1 << 24,))]
    graph.outputs = [tensor(model, graph, T.FLOAT32, (1 << 24,))]
    operator(model, graph, B.ADD_N, graph.inputs * 4096, graph.outputs, made("AddN"))
    return pack(model)


def filled(model, graph, shape, type, value):
    size, number = tensor(model, graph, T.INT32, (len(shape),), shape), tensor(model, graph, type, (), [value])
    result = tensor(model, graph, type, shape)
    operator(model, graph, B.FILL, [size, number], [result], made("Fill"))
    return result


def unique_of_nans():
    model = empty_model()
    graph = empty_graph(model)
    values = filled(model, graph, (1 << 18,), T.FLOAT32, np.nan)
    graph.outputs = [tensor(model, graph, T.FLOAT32, (1 << 18,)), tensor(model, graph, T.INT32, (1 << 18,))]
    operator(model, graph, B.UNIQUE, [values], graph.outputs, made("Unique", idxOutType=T.INT32))
    return pack(model)


def sorted_by_top_k():
    """All of 33 million random values in order."""
    model = empty_model()
    graph = empty_graph(model)
    count = 1 << 25
    size, most = tensor(model, graph, T.INT32, (1,), [count]), tensor(model, graph, T.INT32, (), [count])
    values = tensor(model, graph, T.FLOAT32, (count,))
    operator(model, graph, B.RANDOM_UNIFORM, [size], [values], made("Random", seed=1, seed2=2))
    graph.outputs = [tensor(model, graph, T.FLOAT32, (count,)), tensor(model, graph, T.INT32, (count,))]
    operator(model, graph, B.TOPK_V2, [values, most], graph.outputs, made("TopKV2"))
    return pack(model)


def volume_of_skipped_rows():
    """Windows as deep as the volume, whose strides skip most of what is gathered."""
    return one(B.CONV_3D, [F(1, 4096, 64, 64, 1), (T.FLOAT32, (4096, 1, 1, 1, 1), np.ones(4096)), None], [F(1, 4096, 1, 1, 1)],
               made("Conv3D", strideD=1, strideH=64, strideW=64, dilationDFactor=1, dilationHFactor=1, dilationWFactor=1))


def empty_rows(code):
    """A layer over two thousand million rows without elements."""
    model = empty_model()
    graph = empty_graph(model)
    count = (1 << 31) - 1
    if code == B.SVDF:
        shapes, options = [(count, 0), (0, 0), (0, 1), None, (0,)], made("SVDF", rank=1)
        outputs = [(count, 0)]
    else:
        shapes, outputs = [(count, 0), (count, 0), (0, 0), (0,), (count, 0)], [(count, 0)] * 4
        options = made("LSTM", kernelType=1)
    reads = [-1 if shape is None else tensor(model, graph, T.FLOAT32, shape) for shape in shapes]
    if code == B.SVDF:
        graph.tensors[reads[4]].isVariable = True
    graph.inputs = [read for read in reads if read >= 0 and not graph.tensors[read].isVariable]
    graph.outputs = [tensor(model, graph, T.FLOAT32, shape) for shape in outputs]
    operator(model, graph, code, reads, graph.outputs, options)
    return pack(model)


def chain_of_constants():
    """Functions of 67 million constants, one after the other."""
    model = empty_model()
    graph = empty_graph(model)
    last = filled(model, graph, (1 << 26,), T.FLOAT32, 1.0)
    for _ in range(9):
        next = tensor(model, graph, T.FLOAT32, (1 << 26,))
        operator(model, graph, B.ABS, [last], [next], made("Abs"))
        last = next
    graph.outputs = [last]
    return pack(model)


def rectifier_of_many_channels():
    model = empty_model()
    graph = empty_graph(model)
    x, above, below, sum = (tensor(model, graph, T.FLOAT32, (1 << 25,)) for _ in range(4))
    operator(model, graph, B.RELU, [x], [above])
    operator(model, graph, B.NEG, [x], [below], made("Neg"))
    operator(model, graph, B.ADD, [above, below], [sum], made("Add"))
    graph.inputs, graph.outputs = [x], [sum]
    return pack(model)


def pool_of_a_picture():
    """Windows of 4096 × 4096 over a larger picture, of which each is read whole."""
    return one(B.L2_POOL_2D, [F(1, 4096, 8192, 1)], [F(1, 1, 4097, 1)],
               made("Pool2D", padding=1, strideW=1, strideH=1, filterWidth=4096, filterHeight=4096))


def convolution(pixels, filter, **options):
    width = pixels[2] - (filter[2] - 1) * options.get("dilationWFactor", 1)
    return one(B.CONV_2D, [F(*pixels), F(*filter), None], [F(1, pixels[1] - filter[1] + 1, width, filter[0])],
               made("Conv2D", padding=1, strideW=1, strideH=1, **{"dilationWFactor": 1, "dilationHFactor": 1, **options}))


def many(code, options, shape, result, constants, count, kind=T.FLOAT32):
    """One operator on the same tensors, so many times."""
    model = empty_model()
    graph = empty_graph(model)
    reads = [tensor(model, graph, kind, shape)] + [
        tensor(model, graph, T.INT32, np.shape(values), values) for values in constants]
    graph.inputs = reads[:1]
    for _ in range(count):
        graph.outputs = [tensor(model, graph, T.COMPLEX64 if code == B.RFFT2D else kind, result)]
        operator(model, graph, code, reads, graph.outputs, options)
    return pack(model)


CASES = {
    "pool-of-windows-as-large-as-pictures": pool_of_a_picture,
    "convolution-along-a-line-of-160000": lambda: convolution((1, 1, 160_000, 1), (512, 1, 32_767, 1)),
    "convolution-of-two-million-groups": lambda: convolution((1, 1, 1, 1 << 21), (1 << 21, 1, 1, 1)),
    "convolution-of-twenty-million-taps": lambda: convolution((1, 4096, 9999, 1), (1, 4096, 5000, 1), dilationWFactor=2),
    "depthwise-of-900-million-taps": lambda: one(
        B.DEPTHWISE_CONV_2D, [(T.INT8, (1, 1, 1, 1), None, 0.5), (T.INT8, (1, 1, 900_000_000, 1), None, 0.5), None],
        [(T.INT8, (1, 1, 1, 1), None, 0.5)],
        made("DepthwiseConv2D", strideW=1, strideH=1, dilationWFactor=1, dilationHFactor=1, depthMultiplier=1)),
    "transforms-of-four-million": lambda: many(
        B.RFFT2D, made("Rfft2d"), (1, 1), (1 << 22, 2), [[1 << 22, 2]], 30),
    "blocks-of-16384-places": lambda: many(
        B.SPACE_TO_BATCH_ND, made("SpaceToBatchND"), (2, 256, 256, 2), (32_768, 2, 2, 2),
        [[128, 128], [[0, 0], [0, 0]]], 300),
    "chain-of-67-million-constants": chain_of_constants,
    "rectifier-of-33-million-channels": rectifier_of_many_channels,
    "sum-of-thousands-of-inputs": sum_of_thousands,
    "unique-of-many-nans": unique_of_nans,
    "top-33-million-of-as-many": sorted_by_top_k,
    "volume-of-skipped-rows": volume_of_skipped_rows,
    "filters-over-rows-without-elements": lambda: empty_rows(B.SVDF),
    "cells-over-rows-without-elements": lambda: empty_rows(B.LSTM),
    "fill-of-22000-dimensions": lambda: one(B.FILL, [I([0] * 22000), (T.FLOAT32, (), 1.0)], [F(1)], made("Fill")),
    "recurrent-over-200000-steps": lambda: recurrent(200_000),
    "control-characters-in-names": names_with_controls,
    "constant-behind-a-view": view_of_constant,
    "convolution-of-huge-stride": lambda: conv("Conv2D", B.CONV_2D, width=BIG, height=BIG),
    "convolution-of-huge-dilation": lambda: conv("Conv2D", B.CONV_2D, dilation=(BIG, BIG), filter=(1, 2, 2, 1)),
    "depthwise-of-huge-dilation": lambda: depthwise(BIG, 1),
    "depthwise-of-huge-stride": lambda: depthwise(1, BIG),
    "depthwise-without-bias-index": lambda: one(
        B.DEPTHWISE_CONV_2D, [F(1, 4, 4, 1), (T.FLOAT32, (1, 1, 1, 1), [1.0])], [F(1, 4, 4, 1)],
        made("DepthwiseConv2D", strideW=1, strideH=1, depthMultiplier=1)),
    "convolution-without-weights": lambda: one(
        B.CONV_2D, [F(1, 4, 4, 1), None, None], [F(1, 4, 4, 1)], made("Conv2D", strideW=1, strideH=1)),
    "fully-connected-with-remainder": remainder,
    "loop-without-end": lambda: calling((B.WHILE, 1, 2), (None, 0, 0), (None, 0, 0)),
}


def main():
    folder = KEPT / "run"
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in CASES.items():
        (folder / f"{name}.tflite").write_bytes(make())
    print(f"{len(CASES)} files in {folder}")


if __name__ == "__main__":
    main()
