# SPDX-License-Identifier: Apache-2.0
"""Operators that repeat, mirror, reverse and rearrange elements."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import RARE, operator
from model_builder import ModelBuilder

TYPES = ("uint8", "int8", "float32", "int16", "int32", "int64", "bool")
SPACES = ("uint8", "int8", "float32", "int32", "int64")


def finish(draw, model, name, values, operands, options=None):
    quantization = draw.quantization("both")
    operand = model.input(values, quantization)
    output = model.output(draw.type, quantization)
    return model.operator(name, [operand, *operands], [output], options)


@operator("TILE", TYPES, rare=RARE)
def tile(draw):
    rank = draw.pick("rank", [1, 2, 3, 4, 5])
    draw.tag(f"rank{rank}")
    index_type = draw.pick("index type", ["int32", "int64"])
    dynamic = draw.flag("dynamic_multiples", 5)
    multiples = [draw.choice([1, 1, 2, 3]) for _ in range(rank)]
    if draw.flag("empty", 8):
        multiples[0] = 0
    model = ModelBuilder()
    operand = model.index_operand(np.array(multiples, index_type), dynamic)
    return finish(draw, model, "TILE", draw.values(draw.shape(rank)), [operand], schema.TileOptionsT())


# The reference shuffles the elements of packed types.
@operator(
    "BROADCAST_TO", TYPES, versions={name: 2 for name in TYPES + RARE} | {"int8": 3, "int16": 3}, rare=RARE
)
def broadcast_to(draw):
    rank = draw.pick("rank", [1, 2, 3, 4, 5])
    target = draw.shape(rank)
    kept = draw.integer(0, rank)
    shape = [1 if draw.chance(0.5) else size for size in target[rank - kept :]]
    draw.tag(f"rank{kept}_to_rank{rank}")
    index_type = draw.pick("index type", ["int32", "int64"])
    dynamic = draw.flag("dynamic_shape", 5)
    model = ModelBuilder()
    operand = model.index_operand(np.array(target, index_type), dynamic)
    return finish(draw, model, "BROADCAST_TO", draw.values(shape), [operand], schema.BroadcastToOptionsT())


@operator("REVERSE_V2", TYPES, versions={"int8": 3, "int16": 2, "bool": 2}, rare=("float16", "bfloat16"))
def reverse(draw):
    rank = draw.pick("rank", [1, 2, 3, 4, 5])
    count = draw.integer(1, min(rank, 2))
    first = draw.integer(0, rank - count)
    axes = [axis - rank if draw.chance(0.3) else axis for axis in range(first, first + count)]
    draw.tag(f"rank{rank}", f"{count}_axes")
    dynamic = draw.flag("dynamic_axes", 6)
    model = ModelBuilder()
    operand = model.index_operand(np.array(axes, np.int32), dynamic)
    return finish(draw, model, "REVERSE_V2", draw.values(draw.shape(rank)), [operand], schema.ReverseV2OptionsT())


@operator("SPACE_TO_DEPTH", SPACES, versions={"int8": 2})
def space_to_depth(draw):
    block = draw.pick("block", [1, 2, 3, 4])
    draw.tag(f"block{block}")
    shape = [draw.choice([1, 2]), block * draw.integer(1, 3), block * draw.integer(1, 3), draw.choice([1, 3, 4])]
    options = schema.SpaceToDepthOptionsT(blockSize=block)
    return finish(draw, ModelBuilder(), "SPACE_TO_DEPTH", draw.values(shape), [], options)


@operator("DEPTH_TO_SPACE", SPACES)
def depth_to_space(draw):
    block = draw.pick("block", [1, 2, 3, 4])
    draw.tag(f"block{block}")
    shape = [draw.choice([1, 2]), draw.integer(1, 3), draw.integer(1, 4), block * block * draw.choice([1, 3, 4])]
    options = schema.DepthToSpaceOptionsT(blockSize=block)
    return finish(draw, ModelBuilder(), "DEPTH_TO_SPACE", draw.values(shape), [], options)


def blocks(name, is_to_batch):
    def case(draw):
        axes = draw.pick("axes", [2, 1, 2])
        block = [draw.choice([1, 2, 3]) for _ in range(axes)]
        amounts = [[draw.choice([0, 0, 1, 2]), draw.choice([0, 1, 3])] for _ in range(axes)]
        if draw.flag("nothing", 4):
            amounts = [[0, 0]] * axes
        small = [draw.integer(2, 4) for _ in range(axes)]
        sizes = []
        for axis in range(axes):
            whole = small[axis] * block[axis]
            if is_to_batch:
                left = whole - sum(amounts[axis])
                sizes.append(left if left > 0 else whole)
                amounts[axis] = amounts[axis] if left > 0 else [0, 0]
            else:
                sizes.append(small[axis])
                amounts[axis] = amounts[axis] if sum(amounts[axis]) < whole else [0, 0]
        batch = draw.choice([1, 2]) * (1 if is_to_batch else int(np.prod(block)))
        draw.tag(f"{axes}_axes", "block" + "x".join(map(str, block)))
        dynamic = draw.flag("dynamic", 6)
        model = ModelBuilder()
        operands = [
            model.index_operand(np.array(block, np.int32), dynamic),
            model.index_operand(np.array(amounts, np.int32), dynamic),
        ]
        values = draw.values([batch, *sizes, draw.choice([1, 3, 4])])
        return finish(draw, model, name, values, operands)

    types = ("uint8", "int8", "float32", "int16", "int32", "int64")
    return operator(name, types, versions={"int8": 2}, rare=(*RARE, "bool"))(case)


blocks("SPACE_TO_BATCH_ND", True)
blocks("BATCH_TO_SPACE_ND", False)


@operator("MIRROR_PAD", TYPES, versions={"int8": 2, "int16": 3}, rare=RARE)
def mirror_pad(draw):
    rank = draw.pick("rank", [1, 2, 3, 4, 4])
    mode = draw.pick("mode", ["reflect", "symmetric"])
    index_type = draw.pick("index type", ["int32", "int64"])
    draw.tag(f"rank{rank}", mode)
    dynamic = draw.flag("dynamic_paddings", 5)
    shape = draw.shape(rank)
    limits = [size - (mode == "reflect") for size in shape]
    paddings = [[draw.integer(0, min(limit, 3)), draw.integer(0, min(limit, 3))] for limit in limits]
    model = ModelBuilder()
    operand = model.index_operand(np.array(paddings, index_type), dynamic)
    options = schema.MirrorPadOptionsT(mode=int(mode == "symmetric"))
    return finish(draw, model, "MIRROR_PAD", draw.values(shape), [operand], options)


@operator("SPLIT_V", tuple(name for name in TYPES if name != "bool"), versions={"int8": 2, "int16": 2})
def split_v(draw):
    rank = draw.pick("rank", [1, 2, 3, 4])
    count = draw.pick("count", [1, 2, 3, 5])
    axis = draw.integer(-rank, rank - 1)
    draw.tag(f"rank{rank}", f"{count}_parts", f"axis{axis}".replace("-", "m"))
    lengths = [draw.integer(1, 3) for _ in range(count)]
    shape = draw.shape(rank, draw.limit // count)
    shape[axis] = sum(lengths)
    if draw.flag("open_length", 2):
        lengths[draw.integer(0, count - 1)] = -1
    dynamic = draw.flag("dynamic_lengths", 6)
    quantization = draw.quantization("all")
    model = ModelBuilder()
    operands = [
        model.input(draw.values(shape), quantization),
        model.index_operand(np.array(lengths, np.int32), dynamic),
        model.constant(np.array(axis, np.int32)),
    ]
    outputs = [model.output(draw.type, quantization) for _ in range(count)]
    return model.operator("SPLIT_V", operands, outputs, schema.SplitVOptionsT(numSplits=count))


@operator("BITCAST", ("float32", "int32", "uint8", "int8", "int64", "int16"))
def bitcast(draw):
    target = draw.pick("target", ["float32", "uint32", "int8", "int64", "uint16"])
    widths = [np.dtype(name).itemsize for name in (draw.type, target)]
    rank = draw.pick("rank", [1, 2, 3])
    shape = draw.shape(rank)
    if widths[0] < widths[1]:
        shape[-1] = widths[1] // widths[0]
    draw.tag(f"to_{target}")
    model = ModelBuilder()
    values = draw.values(shape, magnitude=100 if target == "float32" else None)
    return model.operator("BITCAST", [model.input(values)], [model.output(target)], schema.BitcastOptionsT())


