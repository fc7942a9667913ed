# SPDX-License-Identifier: Apache-2.0
"""SLICE and STRIDED_SLICE."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import RARE, operator
from model_builder import ModelBuilder

KINDS = ("plain", "masks", "shrink", "ellipsis", "new_axis", "mixed", "negative", "offset", "empty")
TYPES = ("uint8", "int8", "float32", "int16", "int32", "int64", "bool")


@operator("SLICE", TYPES, versions={"int8": 2, "bool": 1, "int16": 4}, rare=(*RARE, "int4"))
def slice_(draw):
    rank = draw.pick("rank", [1, 2, 3, 4, 5])
    draw.tag(f"rank{rank}")
    index_type = draw.pick("index type", ["int32", "int64"])
    draw.tag(f"by_{index_type}")
    dynamic = draw.flag("dynamic_bounds", 5)
    shape = draw.shape(rank)
    begin = [draw.integer(0, size - 1) for size in shape]
    size = [draw.integer(1, length - start) for length, start in zip(shape, begin)]
    if draw.flag("to_the_end", 2):
        size[draw.integer(0, rank - 1)] = -1
    if draw.flag("empty", 10):
        size[0] = 0
    quantization = draw.maybe_quantization("both")
    model = ModelBuilder()
    operands = [
        model.input(draw.values(shape), quantization),
        model.index_operand(np.array(begin, index_type), dynamic),
        model.index_operand(np.array(size, index_type), dynamic),
    ]
    output = model.output(draw.type, quantization)
    return model.operator("SLICE", operands, [output], schema.SliceOptionsT())


@operator("STRIDED_SLICE", TYPES, cases=14, versions={"int8": 2, "bool": 3, "int16": 4}, rare=RARE)
def strided_slice(draw):
    rank = draw.pick("rank", [1, 2, 3, 4, 4, 5])
    kind = draw.pick("kind", KINDS)
    draw.tag(f"rank{rank}", kind)
    dynamic = draw.flag("dynamic_bounds", 6)
    shape = draw.shape(rank)
    # Fewer specifications than dimensions leave the last dimensions whole.
    specified = draw.integer(1, rank) if kind != "offset" and draw.chance(0.3) else rank
    spans = [_span(draw, size, kind == "negative") for size in shape[:specified]]
    begin, end, strides = (list(column) for column in zip(*spans))
    masks = dict.fromkeys(("beginMask", "endMask", "ellipsisMask", "newAxisMask", "shrinkAxisMask"), 0)
    if kind in ("masks", "mixed", "negative"):
        masks["beginMask"] = draw.integer(0, 2**specified - 1)
        masks["endMask"] = draw.integer(0, 2**specified - 1)
    if kind in ("shrink", "mixed"):
        for position in draw.sample(range(specified), draw.integer(1, max(specified - 1, 1))):
            masks["shrinkAxisMask"] |= 1 << position
            begin[position] = draw.integer(-shape[position], shape[position] - 1)
            end[position], strides[position] = begin[position] + 1, 1
            # A shrunk axis is one element, wherever it begins: masks do not go with it.
            masks["beginMask"] &= ~(1 << position)
            masks["endMask"] &= ~(1 << position)
    if kind == "empty":
        end[0] = begin[0]
    if kind == "offset":
        masks["offset"] = True
        begin = [draw.integer(0, size - 1) for size in shape[:specified]]
        end = [draw.integer(1, size - start) for size, start in zip(shape, begin)]
        strides = [1] * specified
    if kind == "ellipsis":
        masks["ellipsisMask"] = 1 << draw.integer(0, specified - 1)
    if kind == "new_axis":
        position = draw.integer(0, specified)
        masks["newAxisMask"] = 1 << position
        for column, value in ((begin, 0), (end, 1), (strides, 1)):
            column.insert(position, value)
    if kind in ("plain", "masks", "shrink") and specified == rank and draw.flag("surplus", 4):
        # Numbers beyond the last axis have no meaning, even those that no axis takes.
        for column in (begin, end, strides):
            column += [draw.integer(-3, 3) for _ in range(2)]
    quantization = draw.maybe_quantization("both")
    model = ModelBuilder()
    operands = [model.input(draw.values(shape), quantization)]
    operands += [
        model.index_operand(np.array(begin, np.int32), dynamic),
        # Relative to the begin, the end is a size, which must be known beforehand.
        model.index_operand(np.array(end, np.int32), dynamic and kind != "offset"),
        model.constant(np.array(strides, np.int32)),
    ]
    output = model.output(draw.type, quantization)
    return model.operator("STRIDED_SLICE", operands, [output], schema.StridedSliceOptionsT(**masks))


def _span(draw, size, backwards):
    """Begin, end and stride along one dimension; in bounds, beyond them, or counted from the end."""
    stride = draw.choice([1, 1, 2, 3])
    first, last = draw.integer(0, size - 1), draw.integer(0, size - 1)
    first, last = min(first, last), max(first, last)
    if backwards and draw.chance(0.7):
        begin = draw.choice([last, last - size])
        end = first - 1 if first > 0 else -size - 1
        return begin, end, -stride
    begin = draw.choice([first, first - size, first if first else -size - 2])
    end = draw.choice([last + 1, size + 3, last - size + 1 if last + 1 < size else size])
    return begin, end, stride
