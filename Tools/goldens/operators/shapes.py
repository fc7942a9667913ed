# SPDX-License-Identifier: Apache-2.0
"""Operators that change only the shape: RESHAPE, SQUEEZE and EXPAND_DIMS."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import PACKED, RARE, operator
from model_builder import ModelBuilder

ANY = (*RARE, *PACKED, "complex128")
TYPES = ("uint8", "int8", "float32", "int16", "int32", "int64", "bool")


def finish(draw, model, name, shape, operands, options):
    quantization = draw.maybe_quantization("both")
    operand = model.input(draw.values(shape), quantization)
    output = model.output(draw.type, quantization)
    return model.operator(name, [operand, *operands], [output], options)


@operator("RESHAPE", TYPES, rare=ANY)
def reshape(draw):
    rank = draw.pick("rank", [1, 2, 3, 4, 5])
    shape = [0, *draw.shape(rank)[1:]] if draw.flag("empty", 8) else draw.shape(rank)
    target = _factors(draw, shape)
    if 0 not in shape and draw.flag("inferred", 3):
        target[draw.integer(0, len(target) - 1)] = -1
    if np.prod(shape) == 1 and draw.chance(0.5):
        target = []
    draw.tag(f"rank{rank}_to_rank{len(target)}")
    model = ModelBuilder()
    target = np.array(target, np.int32)
    # The shape may be an operand or an option; where both are there, the operand counts.
    source = draw.pick("source", ["operand", "both", "option", "dynamic", "operand"])
    draw.tag(f"{source}_shape")
    operands = [] if source == "option" else [model.index_operand(target, source == "dynamic")]
    options = None if source in ("operand", "dynamic") else schema.ReshapeOptionsT(newShape=target)
    return finish(draw, model, "RESHAPE", shape, operands, options)


def _factors(draw, shape):
    """Another shape with as many elements."""
    if 0 in shape:
        return draw.sample([0, *draw.shape(draw.integer(1, 3))], 10)
    target = []
    rest = int(np.prod(shape))
    while rest > 1 and len(target) < 4:
        target.append(draw.choice([d for d in range(1, rest + 1) if rest % d == 0]))
        rest //= target[-1]
    target.append(rest)
    return draw.sample(target, len(target))


@operator("SQUEEZE", TYPES, rare=ANY)
def squeeze(draw):
    rank = draw.pick("rank", [1, 2, 3, 4, 5])
    ones = draw.sample(range(rank), draw.integer(1, min(rank, 3)))
    shape = [1 if axis in ones else draw.choice([0, 1, 2, 3, 5, 7, 2, 3, 5]) for axis in range(rank)]
    axes = []
    if draw.pick("named", [True, False]):
        axes = ones[: draw.integer(1, len(ones))]
        axes = [axis - rank if draw.chance(0.4) else axis for axis in axes]
    named = "axes" + "".join(str(axis).replace("-", "m") for axis in axes) if axes else "all"
    draw.tag(f"rank{rank}", named)
    options = schema.SqueezeOptionsT(squeezeDims=np.array(axes, np.int32))
    return finish(draw, ModelBuilder(), "SQUEEZE", shape, [], options)


# The reference crashes on some models with packed types.
@operator("EXPAND_DIMS", TYPES, rare=(*RARE, "complex128"))
def expand_dims(draw):
    rank = draw.pick("rank", [0, 1, 2, 3, 4])
    shape = draw.shape(rank)
    if rank and draw.flag("empty", 8):
        shape[draw.integer(0, rank - 1)] = 0
    axis = draw.integer(-rank - 1, rank)
    draw.tag(f"rank{rank}", f"axis{axis}".replace("-", "m"))
    dynamic = draw.flag("dynamic_axis", 5)
    model = ModelBuilder()
    axis = np.array(axis if draw.chance(0.5) else [axis], draw.choice(["int32", "int64"]))
    operands = [model.index_operand(axis, dynamic)]
    return finish(draw, model, "EXPAND_DIMS", shape, operands, schema.ExpandDimsOptionsT())
