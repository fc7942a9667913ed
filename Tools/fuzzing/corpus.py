#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes Tests/Corpus/corpus.zip: small broken models, one for each rule of the format and each class of known
vulnerabilities × operator, with the kind of error that each must give.

`CorpusTests` reads each, prepares and runs it, and compares the error with `errors.tsv`, where its text stands. The kind
of error is decided here, the text there.
"""

import copy
import io
import pathlib
import zipfile

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

TESTS = pathlib.Path(__file__).parents[2] / "Tests"
B, T = schema.BuiltinOperator, schema.TensorType
MALFORMED, UNSUPPORTED, LIMIT, DATA, RUNS = "malformedModel", "unsupportedOperator", "resourceLimit", "invalidData", "runs"
WIDTHS = {T.FLOAT32: "<f4", T.INT32: "<i4", T.INT64: "<i8", T.UINT8: "u1", T.INT8: "i1", T.INT16: "<i2", T.BOOL: "?"}
BIG = (1 << 31) - 1


def pack(model):
    builder = flatbuffers.Builder(1 << 12)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def tensor(model, graph, type, shape, values=None, scale=None, zero=0, name=None):
    entry = schema.TensorT()
    entry.name = name or f"t{len(graph.tensors)}"
    entry.type, entry.shape, entry.buffer = type, np.array(shape, np.int32), 0
    if values is not None:
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(np.asarray(values, WIDTHS[type]).tobytes(), np.uint8)
        model.buffers.append(buffer)
        entry.buffer = len(model.buffers) - 1
    if scale is not None:
        entry.quantization = schema.QuantizationParametersT()
        entry.quantization.scale = np.atleast_1d(np.array(scale, np.float32))
        entry.quantization.zeroPoint = np.full(len(entry.quantization.scale), zero, np.int64)
    graph.tensors.append(entry)
    return len(graph.tensors) - 1


def empty_model():
    model = schema.ModelT()
    model.version, model.buffers, model.operatorCodes, model.subgraphs = 3, [schema.BufferT()], [], []
    return model


def empty_graph(model):
    graph = schema.SubGraphT()
    graph.tensors, graph.operators, graph.inputs, graph.outputs = [], [], [], []
    model.subgraphs.append(graph)
    return graph


def operator(model, graph, code, inputs, outputs, options=None, version=1, custom=None, custom_options=None):
    entry = schema.OperatorCodeT()
    entry.builtinCode, entry.deprecatedBuiltinCode, entry.version = code, min(code, 127), version
    entry.customCode = custom
    model.operatorCodes.append(entry)
    node = schema.OperatorT()
    node.opcodeIndex = len(model.operatorCodes) - 1
    node.inputs, node.outputs = np.array(inputs, np.int32), np.array(outputs, np.int32)
    if options is not None:
        node.builtinOptions = options
        node.builtinOptionsType = getattr(schema.BuiltinOptions, type(options).__name__.removesuffix("T"))
    if custom_options is not None:
        node.customOptions = np.frombuffer(custom_options, np.uint8)
    graph.operators.append(node)
    return node


def one(code, inputs, outputs, options=None, version=1, custom=None, custom_options=None):
    """A model of one operator. Inputs are (type, shape), (type, shape, values) or (type, shape, values, scale[, zero])."""
    model = empty_model()
    graph = empty_graph(model)
    reads = []
    for entry in inputs:
        if entry is None:
            reads.append(-1)
            continue
        index = tensor(model, graph, *entry)
        reads.append(index)
        if len(entry) < 3 or entry[2] is None:
            graph.inputs.append(index)
    writes = [tensor(model, graph, *entry) for entry in outputs]
    graph.outputs = writes
    operator(model, graph, code, reads, writes, options, version, custom, custom_options)
    return pack(model)


def made(name, **fields):
    table = getattr(schema, f"{name}OptionsT")()
    for key, value in fields.items():
        assert hasattr(table, key), (name, key)
        setattr(table, key, value)
    return table


F, I, Q = (lambda *shape: (T.FLOAT32, shape)), (lambda values: (T.INT32, np.shape(values), values)), \
    (lambda *shape: (T.UINT8, shape, None, 0.5, 128))


# MARK: Every operator with a golden, in ways that crashed others

def general_cases():
    for archive in sorted((TESTS / "Goldens").glob("*.zip")):
        with zipfile.ZipFile(archive) as contents:
            names = [name for name in contents.namelist() if name.endswith("model.tflite")]
            smallest = min(names, key=lambda name: contents.getinfo(name).file_size)
            base = schema.ModelT.InitFromPackedBuf(contents.read(smallest), 0)
        if len(base.subgraphs) > 1 or len(base.subgraphs[0].operators) != 1:
            continue
        name = archive.stem
        node = base.subgraphs[0].operators[0]
        if node.inputs is not None and len(node.inputs):
            changed = copy.deepcopy(base)
            changed.subgraphs[0].operators[0].inputs[0] = -1
            yield f"absent_input/{name}", MALFORMED, pack(changed)
            changed = copy.deepcopy(base)
            changed.subgraphs[0].operators[0].inputs = np.array([], np.int32)
            yield f"no_inputs/{name}", MALFORMED, pack(changed)
            changed = copy.deepcopy(base)
            changed.subgraphs[0].tensors[int(node.inputs[0])].type = T.VARIANT
            yield f"wrong_type/{name}", None, pack(changed)
            changed = copy.deepcopy(base)
            graph = changed.subgraphs[0]
            graph.inputs = np.array([int(index) for index in graph.inputs if index != node.inputs[0]], np.int32)
            graph.operators[0].inputs[0] = graph.operators[0].outputs[0]
            # The output may be of a type that the input cannot be.
            yield f"reads_its_output/{name}", None, pack(changed)


# MARK: Division by zero, and sizes that are none

def conv(name, code, width=1, height=1, dilation=(1, 1), channels=1, filter=(1, 1, 1, 1), **extra):
    return one(code, [F(1, 4, 4, channels), (T.FLOAT32, filter, np.zeros(filter)), (T.FLOAT32, (filter[0],), np.zeros(filter[0]))],
               [F(1, 4, 4, filter[0])],
               made(name, strideW=width, strideH=height, dilationWFactor=dilation[0], dilationHFactor=dilation[1], **extra))


def division_cases():
    for field, values in {"width": (0, -1, 1 << 30), "height": (0, -1, 1 << 30)}.items():
        for value in values:
            # A stride beyond the picture leaves one place.
            kind = MALFORMED if value < 1 else RUNS
            yield f"division/CONV_2D_{field}_{value}", kind, conv("Conv2D", B.CONV_2D, **{field: value})
            yield (f"division/DEPTHWISE_CONV_2D_{field}_{value}", kind,
                   conv("DepthwiseConv2D", B.DEPTHWISE_CONV_2D, depthMultiplier=1, **{field: value}))
    for value in (0, -1):
        yield f"division/CONV_2D_dilation_{value}", MALFORMED, conv("Conv2D", B.CONV_2D, dilation=(value, 1))
        yield (f"division/DEPTHWISE_CONV_2D_dilation_{value}", MALFORMED,
               conv("DepthwiseConv2D", B.DEPTHWISE_CONV_2D, dilation=(1, value), depthMultiplier=1))
    yield "division/CONV_2D_no_channels", MALFORMED, conv("Conv2D", B.CONV_2D, channels=0, filter=(1, 1, 1, 0))
    yield "division/CONV_2D_other_channels", MALFORMED, conv("Conv2D", B.CONV_2D, channels=3, filter=(1, 1, 1, 2))
    yield "division/CONV_2D_no_filter", MALFORMED, conv("Conv2D", B.CONV_2D, filter=(1, 0, 0, 1))
    yield "division/DEPTHWISE_no_channels", MALFORMED, conv("DepthwiseConv2D", B.DEPTHWISE_CONV_2D, channels=0)
    for code in (B.AVERAGE_POOL_2D, B.MAX_POOL_2D, B.L2_POOL_2D):
        name = {B.AVERAGE_POOL_2D: "AVERAGE", B.MAX_POOL_2D: "MAX", B.L2_POOL_2D: "L2"}[code]
        for field in ("strideW", "strideH", "filterWidth", "filterHeight"):
            for value in (0, -1):
                fields = {"strideW": 1, "strideH": 1, "filterWidth": 1, "filterHeight": 1, field: value}
                yield (f"division/{name}_POOL_2D_{field}_{value}", MALFORMED,
                       one(code, [F(1, 4, 4, 1)], [F(1, 4, 4, 1)], made("Pool2D", **fields)))
    for value in (0, -1, 3, BIG):
        yield (f"division/SPACE_TO_DEPTH_{value}", MALFORMED,
               one(B.SPACE_TO_DEPTH, [F(1, 4, 4, 1)], [F(1, 2, 2, 4)], made("SpaceToDepth", blockSize=value)))
        yield (f"division/DEPTH_TO_SPACE_{value}", MALFORMED,
               one(B.DEPTH_TO_SPACE, [F(1, 4, 4, 4)], [F(1, 8, 8, 1)], made("DepthToSpace", blockSize=value)))
        yield (f"division/SPLIT_{value}", MALFORMED,
               one(B.SPLIT, [I(0), F(4)], [F(2), F(2)], made("Split", numSplits=value)))
    for block in ([0, 1], [1, 0], [-1, 1], [3, 3], [BIG, BIG]):
        text = "_".join(map(str, block))
        yield (f"division/BATCH_TO_SPACE_{text}", MALFORMED,
               one(B.BATCH_TO_SPACE_ND, [F(1, 4, 4, 1), I(block), I([[0, 0], [0, 0]])], [F(1, 4, 4, 1)],
                   made("BatchToSpaceND")))
        yield (f"division/SPACE_TO_BATCH_{text}", MALFORMED,
               one(B.SPACE_TO_BATCH_ND, [F(1, 4, 4, 1), I(block), I([[0, 0], [0, 0]])], [F(1, 4, 4, 1)],
                   made("SpaceToBatchND")))
    for name, code in (("DIV", B.DIV), ("FLOOR_DIV", B.FLOOR_DIV), ("FLOOR_MOD", B.FLOOR_MOD)):
        options = made("Div") if name == "DIV" else None
        yield f"division/{name}_by_zero", DATA, one(code, [(T.INT32, (2,)), I([1, 0])], [(T.INT32, (2,))], options)
    yield ("division/STRIDED_SLICE_0", MALFORMED,
           one(B.STRIDED_SLICE, [F(4), I([0]), I([4]), I([0])], [F(4)], made("StridedSlice")))
    for start, end, step in ((0, 5, 0), (0, 5, -1), (5, 0, 1)):
        yield (f"division/RANGE_{start}_{end}_{step}", None,
               one(B.RANGE, [I(start), I(end), I(step)], [(T.INT32, (5,))], made("Range")))
    for size in ([0, 4], [-1, 4], [BIG, BIG]):
        for name, code in (("BILINEAR", B.RESIZE_BILINEAR), ("NEAREST", B.RESIZE_NEAREST_NEIGHBOR)):
            options = made("ResizeBilinear") if name == "BILINEAR" else made("ResizeNearestNeighbor")
            yield (f"division/RESIZE_{name}_{size[0]}_{size[1]}", None,
                   one(code, [F(1, 4, 4, 1), I(size)], [F(1, 4, 4, 1)], options))
    for shape in ((0, 4), (4, 0)):
        yield (f"division/FULLY_CONNECTED_{shape[0]}_{shape[1]}", None,
               one(B.FULLY_CONNECTED, [F(1, 4), (T.FLOAT32, shape, np.zeros(shape)), None], [F(1, 4)], made("FullyConnected")))
    yield ("division/FULLY_CONNECTED_rest", None,
           one(B.FULLY_CONNECTED, [F(1, 7), (T.FLOAT32, (2, 4), np.zeros((2, 4))), None], [F(1, 2)], made("FullyConnected")))
    for field in ("strideD", "strideW", "strideH", "dilationDFactor", "dilationWFactor", "dilationHFactor"):
        fields = {name: 1 for name in ("strideD", "strideW", "strideH", "dilationDFactor", "dilationWFactor", "dilationHFactor")}
        yield (f"division/CONV_3D_{field}", MALFORMED,
               one(B.CONV_3D, [F(1, 2, 2, 2, 1), (T.FLOAT32, (1, 1, 1, 1, 1), np.zeros(1)), None], [F(1, 2, 2, 2, 1)],
                   made("Conv3D", **{**fields, field: 0})))
    for field in ("strideW", "strideH"):
        fields = {"strideW": 1, "strideH": 1, field: 0}
        yield (f"division/TRANSPOSE_CONV_{field}", MALFORMED,
               one(B.TRANSPOSE_CONV, [I([1, 4, 4, 1]), (T.FLOAT32, (1, 1, 1, 1), np.zeros(1)), F(1, 4, 4, 1)], [F(1, 4, 4, 1)],
                   made("TransposeConv", **fields)))
    for rank in (0, -1, 3):
        yield (f"division/SVDF_{rank}", MALFORMED,
               one(B.SVDF, [F(1, 2), (T.FLOAT32, (4, 2), np.zeros(8)), (T.FLOAT32, (4, 3), np.zeros(12)), None, F(1, 12)],
                   [F(1, 2)], made("SVDF", rank=rank)))
    yield ("division/ONE_HOT_depth", MALFORMED,
           one(B.ONE_HOT, [I([0, 1]), I(-1), (T.FLOAT32, (), 1.0), (T.FLOAT32, (), 0.0)], [F(2, 2)], made("OneHot", axis=-1)))


# MARK: Indices and axes from the model and from data

def index_cases():
    for indices in ([4], [-1], [BIG], [-(1 << 31)]):
        text = indices[0]
        yield f"index/GATHER_{text}", DATA, one(B.GATHER, [F(4), I(indices)], [F(1)], made("Gather"))
        yield f"index/GATHER_ND_{text}", DATA, one(B.GATHER_ND, [F(4), I([indices])], [F(1)], made("GatherNd"))
        yield (f"index/SCATTER_ND_{text}", DATA,
               one(B.SCATTER_ND, [I([indices]), (T.FLOAT32, (1,), [1.0]), I([4])], [F(4)], made("ScatterNd")))
        yield (f"index/EMBEDDING_LOOKUP_{text}", DATA,
               one(B.EMBEDDING_LOOKUP, [I(indices), F(4, 2)], [F(1, 2)]))
        yield (f"index/SPARSE_TO_DENSE_{text}", DATA,
               one(B.SPARSE_TO_DENSE, [I([indices]), I([4]), F(1), (T.FLOAT32, (), 0.0)], [F(4)], made("SparseToDense")))
        yield (f"index/UNSORTED_SEGMENT_SUM_{text}", None,
               one(B.UNSORTED_SEGMENT_SUM, [F(1), I(indices), I(4)], [F(4)], made("UnsortedSegmentSum")))
        yield f"index/SEGMENT_SUM_{text}", None, one(B.SEGMENT_SUM, [F(1), I(indices)], [F(4)], made("SegmentSum"))
    yield "index/SEGMENT_SUM_falling", MALFORMED, one(B.SEGMENT_SUM, [F(2), I([1, 0])], [F(2)], made("SegmentSum"))
    for axis in (2, -3, BIG, -(1 << 31)):
        for name, code in (("SUM", B.SUM), ("MEAN", B.MEAN), ("REDUCE_PROD", B.REDUCE_PROD), ("REDUCE_MAX", B.REDUCE_MAX),
                           ("REDUCE_MIN", B.REDUCE_MIN)):
            yield f"axis/{name}_{axis}", MALFORMED, one(code, [F(2, 2), I([axis])], [F(2)], made("Reducer"))
        yield f"axis/ARG_MAX_{axis}", MALFORMED, one(B.ARG_MAX, [F(2, 2), I(axis)], [(T.INT32, (2,))], made("ArgMax", outputType=T.INT32))
        yield f"axis/CUMSUM_{axis}", MALFORMED, one(B.CUMSUM, [F(2, 2), I(axis)], [F(2, 2)], made("Cumsum"))
        yield f"axis/CONCATENATION_{axis}", MALFORMED, one(B.CONCATENATION, [F(2, 2), F(2, 2)], [F(4, 2)], made("Concatenation", axis=axis))
        yield f"axis/SPLIT_{axis}", MALFORMED, one(B.SPLIT, [I(axis), F(2, 2)], [F(1, 2), F(1, 2)], made("Split", numSplits=2))
        yield f"axis/UNPACK_{axis}", MALFORMED, one(B.UNPACK, [F(2, 2)], [F(2), F(2)], made("Unpack", num=2, axis=axis))
        yield f"axis/GATHER_{axis}", MALFORMED, one(B.GATHER, [F(2, 2), I([0])], [F(1, 2)], made("Gather", axis=axis))
        yield f"axis/REVERSE_V2_{axis}", MALFORMED, one(B.REVERSE_V2, [F(2, 2), I([axis])], [F(2, 2)], made("ReverseV2"))
        yield f"axis/SQUEEZE_{axis}", MALFORMED, one(B.SQUEEZE, [F(1, 1)], [F(1)], made("Squeeze", squeezeDims=[axis]))
    for axis in (4, -5, BIG):
        yield f"axis/EXPAND_DIMS_{axis}", MALFORMED, one(B.EXPAND_DIMS, [F(2, 2), I(axis)], [F(1, 2, 2)], made("ExpandDims"))
        yield f"axis/PACK_{axis}", MALFORMED, one(B.PACK, [F(2), F(2)], [F(2, 2)], made("Pack", valuesCount=2, axis=axis))
        yield (f"axis/ONE_HOT_{axis}", MALFORMED,
               one(B.ONE_HOT, [I([0, 1]), I(2), (T.FLOAT32, (), 1.0), (T.FLOAT32, (), 0.0)], [F(2, 2)], made("OneHot", axis=axis)))
    for order in ([0, 0], [0, 2], [-3, 0], [0], [0, 1, 2]):
        yield (f"axis/TRANSPOSE_{'_'.join(map(str, order))}", MALFORMED,
               one(B.TRANSPOSE, [F(2, 2), I(order)], [F(2, 2)], made("Transpose")))
    for begin, size in (([0, 0], [3, 2]), ([-1, 0], [1, 1]), ([2, 2], [1, 1]), ([0, 0], [-2, 1]), ([BIG, 0], [BIG, 1])):
        yield (f"axis/SLICE_{begin}_{size}".replace(" ", "").replace("[", "").replace("]", "").replace(",", "_"), MALFORMED,
               one(B.SLICE, [F(2, 2), I(begin), I(size)], [F(2, 2)], made("Slice")))
    for paddings in ([[-1, 0], [0, 0]], [[0, 0], [0, -1]], [[0, 0]], [[BIG, BIG], [0, 0]]):
        for name, code in (("PAD", B.PAD), ("MIRROR_PAD", B.MIRROR_PAD)):
            options = made("Pad") if name == "PAD" else made("MirrorPad")
            yield (f"axis/{name}_{np.ravel(paddings).tolist()}".replace(" ", "").strip("]").replace("[", "").replace(",", "_"), None,
                   one(code, [F(2, 2), I(paddings)], [F(2, 2)], options))
    for count in (3, -1, BIG):
        yield (f"axis/TOPK_V2_{count}", None,
               one(B.TOPK_V2, [F(2), I(count)], [F(2), (T.INT32, (2,))], made("TopKV2")))


# MARK: Sizes that overflow, and sizes that nobody has

def size_cases():
    for shape in ([BIG, BIG], [65536, 65536], [1 << 30, 4, 4, 4], [-2, 1], [-1, -1], [1 << 30]):
        text = "x".join(map(str, shape))
        yield f"size/FILL_{text}", None, one(B.FILL, [I(shape), (T.FLOAT32, (), 1.0)], [F(1)], made("Fill"))
        yield f"size/BROADCAST_TO_{text}", None, one(B.BROADCAST_TO, [F(1), I(shape)], [F(1)], made("BroadcastTo"))
        yield f"size/RESHAPE_{text}", None, one(B.RESHAPE, [F(2, 2), I(shape)], [F(2, 2)], made("Reshape"))
        yield (f"size/TILE_{text}", None, one(B.TILE, [F(*[1] * len(shape)), I(shape)], [F(1)], made("Tile")))
        yield (f"size/RANDOM_UNIFORM_{text}", None, one(B.RANDOM_UNIFORM, [I(shape)], [F(1)], made("Random")))
        yield (f"size/SCATTER_ND_{text}", None,
               one(B.SCATTER_ND, [I([[0] * len(shape)]), F(1), I(shape)], [F(1)], made("ScatterNd")))
    yield ("size/ONE_HOT", LIMIT,
           one(B.ONE_HOT, [(T.INT32, (1 << 10,)), I(BIG), (T.FLOAT32, (), 1.0), (T.FLOAT32, (), 0.0)], [F(1)], made("OneHot", axis=-1)))
    yield "size/FILL_rank_33", LIMIT, one(B.FILL, [I([0] * 33), (T.FLOAT32, (), 1.0)], [F(1)], made("Fill"))
    yield "size/RANGE", UNSUPPORTED, one(B.RANGE, [I(0), I(BIG), I(1)], [(T.INT32, (5,))], made("Range"))
    yield "size/MATRIX_DIAG", LIMIT, one(B.MATRIX_DIAG, [F(1 << 20)], [F(1)], made("MatrixDiag"))
    yield "size/RFFT2D", None, one(B.RFFT2D, [F(4, 4), I([1 << 30, 1 << 30])], [(T.COMPLEX64, (1,))], made("Rfft2d"))
    for width in (1 << 14, 1 << 15):
        yield (f"size/BATCH_MATMUL_{width}", None,
               one(B.BATCH_MATMUL, [F(width, width), F(width, width)], [F(width, width)], made("BatchMatMul")))
    yield "size/inputs", LIMIT, one(B.ADD, [F(1 << 15, 1 << 15), F(1 << 15, 1 << 15)], [F(1 << 15, 1 << 15)], made("Add"))
    yield ("size/MUL_broadcast", None,
           one(B.MUL, [F(1 << 16, 1), F(1, 1 << 16)], [F(1)], made("Mul")))
    yield ("size/outer_product_of_bytes", None,
           one(B.ADD, [(T.INT8, (1 << 16, 1), None, 1.0), (T.INT8, (1, 1 << 16), None, 1.0)], [(T.INT8, (1, 1), None, 1.0)], made("Add")))


# MARK: Tables, and values that preparation reads, beyond the limit on memory of the tests

def table_cases():
    yield ("tables/MAX_POOL_2D", LIMIT,
           one(B.MAX_POOL_2D, [(T.UINT8, (1, 1 << 23, 1, 1), None, 0.5, 0)], [(T.UINT8, (1, 1 << 23, 1, 1), None, 0.5, 0)],
               made("Pool2D", strideW=1, strideH=1, filterWidth=1, filterHeight=1)))
    for kind in ("BILINEAR", "NEAREST_NEIGHBOR"):
        name = "ResizeBilinear" if kind == "BILINEAR" else "ResizeNearestNeighbor"
        yield (f"tables/RESIZE_{kind}", LIMIT,
               one(getattr(B, f"RESIZE_{kind}"), [(T.UINT8, (1, 1, 1, 1), None, 0.5, 0), I([1 << 24, 1])],
                   [(T.UINT8, (1, 1 << 24, 1, 1), None, 0.5, 0)], made(name)))
    yield ("tables/RESIZE_NEAREST_NEIGHBOR_batches", LIMIT,
           one(B.RESIZE_NEAREST_NEIGHBOR, [(T.UINT8, (1 << 25, 1, 1, 1)), I([1, 1])], [(T.UINT8, (1 << 25, 1, 1, 1))],
               made("ResizeNearestNeighbor")))
    yield ("tables/MIRROR_PAD", LIMIT,
           one(B.MIRROR_PAD, [(T.UINT8, (1 << 23,)), I([[(1 << 23) - 1] * 2])], [(T.UINT8, (1,))], made("MirrorPad", mode=0)))
    for name, reads in {"REVERSE_SEQUENCE": 1, "UNIQUE": 0, "WHERE": 0}.items():
        model = empty_model()
        graph = empty_graph(model)
        count = 1 << 20 if reads else 1 << 22
        size, value = tensor(model, graph, T.INT32, (1,), [count]), tensor(model, graph, T.INT32, (), [2])
        filled = tensor(model, graph, T.INT32, (count,))
        operator(model, graph, B.FILL, [size, value], [filled], made("Fill"))
        if name == "REVERSE_SEQUENCE":
            graph.inputs = [tensor(model, graph, T.UINT8, (count, 2))]
            graph.outputs = [tensor(model, graph, T.UINT8, (count, 2))]
            operator(model, graph, B.REVERSE_SEQUENCE, graph.inputs + [filled], graph.outputs,
                     made("ReverseSequence", seqDim=1, batchDim=0))
        elif name == "UNIQUE":
            graph.outputs = [tensor(model, graph, T.INT32, (1,)), tensor(model, graph, T.INT32, (count,))]
            operator(model, graph, B.UNIQUE, [filled], graph.outputs, made("Unique", idxOutType=T.INT32))
        else:
            shape = tensor(model, graph, T.INT32, (6,), [count >> 1, 2, 1, 1, 1, 1])
            wide = tensor(model, graph, T.INT32, (count >> 1, 2, 1, 1, 1, 1))
            operator(model, graph, B.RESHAPE, [filled, shape], [wide], made("Reshape"))
            graph.outputs = [tensor(model, graph, T.INT64, (1, 6))]
            operator(model, graph, B.WHERE, [wide], graph.outputs)
        yield f"tables/{name}", LIMIT, pack(model)
    yield "tables/RANGE", LIMIT, one(B.RANGE, [I(0), I(1 << 24), I(1)], [(T.INT32, (1,))], made("Range"))
    yield ("tables/FULLY_CONNECTED_channels", LIMIT,
           one(B.FULLY_CONNECTED, [F(1, 1), F(1 << 23, 1), None], [F(1, 1 << 23)], made("FullyConnected")))


# MARK: What is stored once and named often

def repeated_cases():
    # Not all alike, as archives of what is are refused.
    random = np.random.default_rng(1)
    model = empty_model()
    graph = empty_graph(model)
    first = tensor(model, graph, T.INT8, (10_000,), None, random.random(10_000) + 0.5)
    graph.inputs, graph.outputs = [first] * 100, [tensor(model, graph, T.INT8, (10_000,), None, 0.5)]
    operator(model, graph, B.RELU, [first], graph.outputs)
    yield "repeated/inputs_with_scales", MALFORMED, pack(model)
    model = empty_model()
    graph = empty_graph(model)
    graph.inputs = [tensor(model, graph, T.FLOAT32, (1,))]
    graph.outputs = [tensor(model, graph, T.FLOAT32, (1,))]
    operator(model, graph, 32, graph.inputs, graph.outputs, custom="".join(map(chr, random.integers(97, 123, 100_000))))
    graph.operators = graph.operators * 100
    yield "repeated/custom_name", MALFORMED, pack(model)
    model = empty_model()
    graph, branch = empty_graph(model), empty_graph(model)
    graph.inputs = [tensor(model, graph, T.INT32, (), None)]
    graph.outputs = [tensor(model, graph, T.FLOAT32, (1,))]
    branch.outputs = [tensor(model, branch, T.FLOAT32, (1,), [1.0])]
    node = operator(model, graph, B.STABLEHLO_CASE, graph.inputs, graph.outputs)
    node.builtinOptions2Type, node.builtinOptions2 = schema.BuiltinOptions2.StablehloCaseOptions, schema.StablehloCaseOptionsT()
    node.builtinOptions2.branchSubgraphIndices = random.integers(1, 200, 65_536).astype(np.int32)
    yield "repeated/branches", MALFORMED, pack(model)


# MARK: Quantization

def quantization_cases():
    bad = {"none": None, "zero": 0.0, "negative": -1.0, "nan": np.nan, "infinite": np.inf}
    for text, scale in bad.items():
        byte = lambda *shape: (T.UINT8, shape, None, scale, 0) if scale is not None else (T.UINT8, shape)
        constant = lambda *shape: (T.UINT8, shape, np.zeros(shape), 1.0, 0)
        good = lambda *shape: (T.UINT8, shape, None, 1.0, 0)
        yield f"quantization/CONV_2D_{text}", None, one(
            B.CONV_2D, [byte(1, 2, 2, 1), constant(1, 1, 1, 1), None], [good(1, 2, 2, 1)], made("Conv2D", strideW=1, strideH=1))
        yield f"quantization/CONV_2D_output_{text}", None, one(
            B.CONV_2D, [good(1, 2, 2, 1), constant(1, 1, 1, 1), None], [byte(1, 2, 2, 1)], made("Conv2D", strideW=1, strideH=1))
        yield f"quantization/FULLY_CONNECTED_{text}", None, one(
            B.FULLY_CONNECTED, [byte(1, 2), constant(1, 2), None], [good(1, 1)], made("FullyConnected"))
        for name, code, options in (("ADD", B.ADD, made("Add")), ("MUL", B.MUL, made("Mul")), ("SUB", B.SUB, made("Sub"))):
            yield f"quantization/{name}_{text}", None, one(code, [byte(2), good(2)], [good(2)], options)
        for name, code in (("LOGISTIC", B.LOGISTIC), ("TANH", B.TANH), ("HARD_SWISH", B.HARD_SWISH), ("PRELU", B.PRELU)):
            inputs = [byte(1, 2)] + ([constant(1, 2)] if name == "PRELU" else [])
            yield f"quantization/{name}_{text}", None, one(code, inputs, [good(1, 2)])
        yield f"quantization/SOFTMAX_{text}", None, one(B.SOFTMAX, [byte(1, 2)], [good(1, 2)], made("Softmax", beta=1.0))
        yield f"quantization/QUANTIZE_{text}", None, one(B.QUANTIZE, [F(2)], [byte(2)], made("Quantize"))
        yield f"quantization/DEQUANTIZE_{text}", None, one(B.DEQUANTIZE, [byte(2)], [F(2)], made("Dequantize"))
        yield f"quantization/CONCATENATION_{text}", None, one(
            B.CONCATENATION, [byte(2), good(2)], [good(4)], made("Concatenation"))
        yield f"quantization/MEAN_{text}", None, one(B.MEAN, [byte(2, 2), I([0])], [good(2)], made("Reducer"))
        yield f"quantization/RESIZE_{text}", None, one(
            B.RESIZE_BILINEAR, [byte(1, 2, 2, 1), I([4, 4])], [byte(1, 4, 4, 1)], made("ResizeBilinear"))
    for zero in (256, -1, 1 << 40):
        wrong = lambda *shape: (T.UINT8, shape, None, 1.0, zero)
        good = lambda *shape: (T.UINT8, shape, None, 1.0, 0)
        yield f"quantization/ADD_zero_point_{zero}", None, one(B.ADD, [wrong(2), good(2)], [good(2)], made("Add"))
        yield f"quantization/DEQUANTIZE_zero_point_{zero}", None, one(B.DEQUANTIZE, [wrong(2)], [F(2)], made("Dequantize"))


# MARK: Calls, loops and circles

def calling(*graphs, chain=None):
    """Subgraphs of the named calls: each is (code, first subgraph, second)."""
    model = empty_model()
    for code, first, second in graphs:
        graph = empty_graph(model)
        value = tensor(model, graph, T.BOOL, (1,))
        graph.inputs, graph.outputs = [value], [value]
        if code is None:
            continue
        output = tensor(model, graph, T.BOOL, (1,))
        graph.outputs = [output]
        if code == B.WHILE:
            operator(model, graph, code, [value], [output], made("While", condSubgraphIndex=first, bodySubgraphIndex=second))
        elif code == B.IF:
            operator(model, graph, code, [value, value], [output], made("If", thenSubgraphIndex=first, elseSubgraphIndex=second))
        else:
            operator(model, graph, code, [], [], made("CallOnce", initSubgraphIndex=first))
            graph.outputs = [value]
    return pack(model)


def call_cases():
    leaf = (None, 0, 0)
    yield "calls/WHILE_itself", MALFORMED, calling((B.WHILE, 0, 0), leaf)
    yield "calls/WHILE_one_graph", MALFORMED, calling((B.WHILE, 1, 1), leaf)
    yield "calls/IF_itself", MALFORMED, calling((B.IF, 0, 1), leaf)
    yield "calls/IF_each_other", MALFORMED, calling((B.IF, 1, 1), (B.IF, 0, 0))
    yield "calls/CALL_ONCE_itself", MALFORMED, calling((B.CALL_ONCE, 0, 0))
    for index in (2, -1, BIG):
        yield f"calls/WHILE_missing_{index}", MALFORMED, calling((B.WHILE, 1, index), leaf)
        yield f"calls/IF_missing_{index}", MALFORMED, calling((B.IF, index, 1), leaf)
    yield "calls/deep", LIMIT, calling(*[(B.IF, n + 1, n + 1) for n in range(40)], leaf)
    yield "calls/ways", None, calling(*[(B.IF, n + 1, n + 2) for n in range(30)], leaf, leaf)
    yield "calls/WHILE_ever", LIMIT, calling((B.WHILE, 1, 2), leaf, leaf)
    nested = [(B.WHILE, 3, 1), (B.WHILE, 3, 2), (B.WHILE, 3, 4), leaf, leaf]
    yield "calls/WHILE_in_WHILE", LIMIT, calling(*nested)


# MARK: Detection

def detection_cases():
    from flatbuffers import flexbuffers
    usual = {"max_detections": 2, "max_classes_per_detection": 1, "num_classes": 2, "nms_score_threshold": 0.5,
             "nms_iou_threshold": 0.5, "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0,
             "use_regular_nms": False}
    def model(**changes):
        builder = flexbuffers.Builder()
        values = {**usual, **changes}
        with builder.Map():
            for key in sorted(values):
                builder.Key(key)
                builder.Add(values[key])
        return one(B.CUSTOM, [F(1, 3, 4), F(1, 3, 3), (T.FLOAT32, (3, 4), np.ones((3, 4)))],
                   [F(1, 2, 4), F(1, 2), F(1, 2), F(1)], custom="TFLite_Detection_PostProcess",
                   custom_options=bytes(builder.Finish()))
    for key in ("max_detections", "max_classes_per_detection", "num_classes"):
        for value in (0, -1, BIG, 1 << 40):
            yield f"detection/{key}_{value}", None, model(**{key: value})
    yield "detection/both", MALFORMED, model(max_detections=65536, max_classes_per_detection=65536)
    for key in ("y_scale", "x_scale", "h_scale", "w_scale"):
        for text, value in (("0", 0.0), ("nan", float("nan")), ("infinite", float("inf"))):
            yield f"detection/{key}_{text}", MALFORMED, model(**{key: value})
    for text, value in (("0", 0.0), ("2", 2.0), ("nan", float("nan"))):
        yield f"detection/iou_{text}", MALFORMED, model(nms_iou_threshold=value)
    yield "detection/score_nan", MALFORMED, model(nms_score_threshold=float("nan"))
    yield "detection/regular_0", MALFORMED, model(use_regular_nms=True, detections_per_class=0)
    for length in (0, 1, 5, 20):
        whole = schema.ModelT.InitFromPackedBuf(model(), 0)
        node = whole.subgraphs[0].operators[0]
        node.customOptions = np.array(node.customOptions, np.uint8)[:length]
        yield f"detection/options_of_{length}_bytes", None, pack(whole)


# MARK: The format

def format_cases():
    def changed(change):
        model = empty_model()
        graph = empty_graph(model)
        first = tensor(model, graph, T.FLOAT32, (2,), name="x")
        weights = tensor(model, graph, T.FLOAT32, (2,), [1.0, 2.0], name="w")
        last = tensor(model, graph, T.FLOAT32, (2,), name="y")
        graph.inputs, graph.outputs = [first], [last]
        operator(model, graph, B.ADD, [first, weights], [last], made("Add"))
        change(model, graph)
        return pack(model)

    def field(index, name, value):
        def change(model, graph):
            setattr(graph.tensors[index], name, value)
        return change

    def operands(name, value):
        def change(model, graph):
            setattr(graph.operators[0], name, value)
        return change

    def table(**fields):
        entry = schema.QuantizationParametersT()
        for key, value in fields.items():
            setattr(entry, key, value)
        return entry

    whole = changed(lambda model, graph: None)
    yield "format/whole", RUNS, whole
    for length in (0, 1, 7, 8, 12, 20, len(whole) // 2, len(whole) - 20):
        yield f"format/first_{length}", MALFORMED, whole[:length]
    yield "format/identifier", MALFORMED, whole[:4] + b"TFL2" + whole[8:]
    yield "format/root_outside", MALFORMED, b"\xff\xff\xff\x7f" + whole[4:]
    yield "format/root_0", MALFORMED, bytes(4) + whole[4:]
    changes = {
        "version": lambda model, graph: setattr(model, "version", 2),
        "no_subgraphs": lambda model, graph: setattr(model, "subgraphs", []),
        "no_operator_codes": lambda model, graph: setattr(model, "operatorCodes", []),
        "rank_9": field(0, "shape", [1] * 9),
        "negative": field(0, "shape", [-2]),
        "overflow": field(0, "shape", [BIG, BIG, BIG]),
        "overflow_behind_zero": field(0, "shape", [0, BIG, BIG, BIG]),
        "signature_length": field(0, "shapeSignature", [-1, -1]),
        "type": field(0, "type", 99),
        "type_negative": field(0, "type", -1),
        "buffer": field(0, "buffer", 9),
        "buffer_maximum": field(0, "buffer", (1 << 32) - 1),
        "few_bytes": field(1, "shape", [3]),
        "many_bytes": field(1, "shape", [1]),
        "open_constant": field(1, "shape", [-1]),
        "variable_constant": field(1, "isVariable", True),
        "scales_without_points": field(1, "quantization", table(scale=[1.0, 2.0], zeroPoint=[0])),
        "quantized_dimension": field(1, "quantization", table(scale=[1.0, 2.0], zeroPoint=[0, 0], quantizedDimension=1)),
        "quantized_dimension_negative": field(1, "quantization", table(scale=[1.0, 2.0], zeroPoint=[0, 0], quantizedDimension=-1)),
        "other_scales": field(1, "quantization", table(scale=[1.0] * 3, zeroPoint=[0] * 3)),
        "opcode": operands("opcodeIndex", 1),
        "opcode_maximum": operands("opcodeIndex", (1 << 32) - 1),
        "input": operands("inputs", [0, 3]),
        "input_negative": operands("inputs", [0, -2]),
        "input_missing": operands("inputs", [0, -1]),
        "output": operands("outputs", [3]),
        "output_missing": operands("outputs", [-1]),
        "output_is_input": operands("outputs", [0]),
        "output_is_constant": operands("outputs", [1]),
        "no_outputs": operands("outputs", []),
        "two_outputs": operands("outputs", [2, 2]),
        "intermediate": operands("intermediates", [7]),
        "reads_itself": operands("inputs", [2, 1]),
        "graph_input": lambda model, graph: setattr(graph, "inputs", [3]),
        "graph_input_negative": lambda model, graph: setattr(graph, "inputs", [-1]),
        "graph_output": lambda model, graph: setattr(graph, "outputs", [5]),
        "graph_output_unwritten": lambda model, graph: (tensor(model, graph, T.FLOAT32, (1,)), setattr(graph, "outputs", [3])),
        "negative_code": lambda model, graph: (setattr(model.operatorCodes[0], "builtinCode", -9),
                                               setattr(model.operatorCodes[0], "deprecatedBuiltinCode", -9)),
        "unknown_code": lambda model, graph: setattr(model.operatorCodes[0], "builtinCode", 9999),
        "unknown_version": lambda model, graph: setattr(model.operatorCodes[0], "version", 99),
        "nameless_custom": lambda model, graph: (setattr(model.operatorCodes[0], "builtinCode", B.CUSTOM),
                                                 setattr(model.operatorCodes[0], "deprecatedBuiltinCode", B.CUSTOM)),
        "unknown_custom": lambda model, graph: (setattr(model.operatorCodes[0], "builtinCode", B.CUSTOM),
                                                setattr(model.operatorCodes[0], "deprecatedBuiltinCode", B.CUSTOM),
                                                setattr(model.operatorCodes[0], "customCode", "FlexSomething")),
        "placeholder": lambda model, graph: (setattr(model.operatorCodes[0], "builtinCode", B.PLACEHOLDER_FOR_GREATER_OP_CODES),
                                             setattr(model.operatorCodes[0], "deprecatedBuiltinCode", 127)),
        "producers": lambda model, graph: graph.operators.append(graph.operators[0]),
        "sparsity_nothing": field(1, "sparsity", schema.SparsityParametersT()),
    }
    kinds = {"overflow": LIMIT, "overflow_behind_zero": LIMIT, "unknown_code": UNSUPPORTED, "unknown_version": UNSUPPORTED,
             "unknown_custom": UNSUPPORTED, "placeholder": UNSUPPORTED,
             "signature_length": RUNS, "many_bytes": RUNS}
    for name, change in changes.items():
        yield f"format/{name}", kinds.get(name, MALFORMED), changed(change)

    def sparse(order, block, levels):
        entry = schema.SparsityParametersT()
        entry.traversalOrder, entry.blockMap, entry.dimMetadata = order, block, []
        for level in levels:
            dimension = schema.DimensionMetadataT()
            if isinstance(level, int):
                dimension.format, dimension.denseSize = 0, level
            else:
                dimension.format = 1
                for prefix, values in zip(("arraySegments", "arrayIndices"), level):
                    vector = schema.Uint8VectorT()
                    vector.values = np.array(values, np.uint8)
                    setattr(dimension, prefix, vector)
                    setattr(dimension, f"{prefix}Type", schema.SparseIndexVector.Uint8Vector)
            entry.dimMetadata.append(dimension)
        return entry

    sparsities = {
        "order": sparse([0, 0], [], [2, 1]), "order_long": sparse([0, 1, 2, 3], [], [2, 1, 1, 1]),
        "size": sparse([0], [], [3]), "negative": sparse([0], [], [-1]), "block": sparse([0, 1], [0], [2, 0]),
        "block_map": sparse([0, 1], [5], [2, 1]), "segments": sparse([0], [], [([0, 5], [0, 1])]),
        "falling": sparse([0], [], [([2, 0], [0, 1])]), "index": sparse([0], [], [([0, 2], [0, 9])]),
        "count": sparse([0], [], [([0, 1], [0])]), "no_parents": sparse([0], [], [([], [])]),
    }
    for name, entry in sparsities.items():
        yield f"sparsity/{name}", MALFORMED, changed(field(1, "sparsity", entry))
    # Two thousand million levels without a value.
    model = empty_model()
    graph = empty_graph(model)
    graph.inputs = [tensor(model, graph, T.FLOAT32, (1,))]
    graph.outputs = [tensor(model, graph, T.FLOAT32, (1,))]
    operator(model, graph, B.RELU, graph.inputs, graph.outputs)
    graph.tensors[tensor(model, graph, T.INT8, (32768, 65535, 0), [])].sparsity = sparse([0, 1, 2], [], [32768, 65535, 0])
    yield "sparsity/levels_without_values", RUNS, pack(model)


def main():
    target = TESTS / "Corpus"
    target.mkdir(exist_ok=True)
    lines = []
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as files:
        for cases in (format_cases, call_cases, division_cases, index_cases, size_cases, table_cases, repeated_cases, quantization_cases, detection_cases,
                      general_cases):
            for name, kind, contents in cases():
                files.writestr(zipfile.ZipInfo(f"{name}.tflite", (1980, 1, 1, 0, 0, 0)), contents,
                               zipfile.ZIP_DEFLATED, 9)
                lines.append(f"{name}\t{kind or '?'}")
    (target / "corpus.zip").write_bytes(archive.getvalue())
    (target / "kinds.tsv").write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} files, {len(archive.getvalue())} bytes")


if __name__ == "__main__":
    main()
