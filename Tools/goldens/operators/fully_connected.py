# SPDX-License-Identifier: Apache-2.0
"""FULLY_CONNECTED."""

from ai_edge_litert import schema_py_generated as schema

import numpy as np

from catalogue import operator
from graph_builder import GraphBuilder
from model_builder import ABSENT, ModelBuilder, Quantization
from operators.multiply_accumulate import draw_products
from operators.sparse import sparse


MIXES = {
    "int16": [
        "int8 per_channel",
        "int8",
        "int8 narrow",
        "int16",
        "int8 per_channel narrow",
        "int16 per_channel",
        "int4 per_channel",
    ],
    "hybrid": ["int8", "int8 per_channel", "uint8", "int4", "int2", "int4 per_channel"],
    "int4": ["int4 per_channel", "int4", "int2", "int2 per_channel"],
    "wide": ["uint8 unsigned wide", "uint8 unsigned wide", "int8 wide"],
}


def sparse_fully_connected(draw):
    """Sparse weights as the reference takes them: floats, and bytes in blocks of 1 by 16."""
    kind = draw.pick("kind", ["float32", "int8", "hybrid", "int8 per_channel"])
    block = draw.pick("block", [None, (1, 4)]) if kind == "float32" else (1, 16)
    draw.tag(*kind.split(), "block{}x{}".format(*block) if block else "")
    rows, units, tiles = draw.integer(1, 3), draw.integer(1, 9), draw.integer(1, 4)
    depth = tiles * (block or (1, 7))[1]
    is_float, is_byte = kind == "float32", kind.startswith("int8")
    weights = draw.values((units, depth), "float32") if is_float else draw.values((units, depth), "int8", 127)
    kept = draw.values((units, tiles), "float32", 1) > 0
    weights = np.where(np.repeat(kept, depth // tiles, axis=1), weights, 0).astype(weights.dtype)
    weights[0, 0] = 1
    scales = [draw.power(-8, -5) for _ in range(units if "per_channel" in kind else 1)]
    weight_quantization = None if is_float else Quantization(tuple(scales), (0,) * len(scales), 0)
    input_quantization = output_quantization = bias_quantization = None
    if is_byte:
        input_quantization = Quantization.per_tensor(draw.power(-6, -3), draw.integer(-128, 127))
        unit = input_quantization.scale * scales[0]
        output_quantization = Quantization.per_tensor(unit * 100 * depth**0.5, draw.integer(-128, 127))
        products = tuple(input_quantization.scale * scale for scale in scales)
        bias_quantization = Quantization(products, (0,) * len(products))
    model = ModelBuilder()
    name = "int8" if is_byte else "float32"
    operands = [
        model.input(draw.values((rows, depth), name), input_quantization),
        model.constant(weights, weight_quantization, sparsity=sparse(draw, weights, block)),
        model.constant(draw.values((units,), "int32" if is_byte else "float32"), bias_quantization),
    ]
    options = schema.FullyConnectedOptionsT(fusedActivationFunction=draw.activation())
    return model.operator("FULLY_CONNECTED", operands, [model.output(name, output_quantization)], options)


def shuffled_fully_connected(draw):
    """One row of bytes around 128 times weights in blocks of 4 by 16; more rows crash the reference."""
    units, depth = 4 * draw.integer(1, 5), 16 * draw.integer(1, 5)
    weights = draw.values((units, depth), "uint8")
    blocks = weights.reshape(units // 4, 4, depth // 16, 16).transpose(0, 2, 1, 3) ^ 0x80
    scale = draw.power(-9, -6)
    bias = Quantization.per_tensor(scale / 128, 0)
    output = Quantization.per_tensor(2.0 ** draw.integer(-13, -11), 0)
    model = GraphBuilder()
    operands = [
        model.input(draw.values((1, depth), "uint8"), Quantization.per_tensor(1 / 128, 128)),
        model.constant(blocks.reshape(units, depth).copy(), Quantization.per_tensor(scale, 128)),
        model.constant(draw.values((units,), "int32", 20000), bias),
    ]
    outputs = [model.output("int16", output), model.tensor("uint8", (1, depth), Quantization.per_tensor(1 / 128, 128))]
    options = schema.FullyConnectedOptionsT(fusedActivationFunction=draw.activation(), weightsFormat=1)
    return model.add("FULLY_CONNECTED", operands, outputs, options, main=True)


def blockwise_fully_connected(draw):
    """Weights with a scale for each block, which only the optimized kernel reads; it knows no activation."""
    size = draw.pick("block size", [32, 16, 64])
    units, depth = draw.integer(4, 9), 64 * draw.integer(1, 2)
    draw.tag(f"block{size}")
    weights = draw.values((units, depth), "int8", 7)
    weights[0, 0] = -8
    model = ModelBuilder(optimized=True)
    operands = [
        model.input(draw.values((draw.integer(1, 3), depth), "float32")),
        model.constant(weights, type_name="int4"),
    ]
    scales = model.constant(np.abs(draw.values((units, depth // size), "float16", 0.05)) + np.float16(0.001))
    model.set_blocks(operands[1], scales, size)
    operands.append(model.constant(draw.values((units,), "float32")) if draw.chance(0.7) else ABSENT)
    return model.operator("FULLY_CONNECTED", operands, [model.output("float32")], schema.FullyConnectedOptionsT())


FORMS = {
    "sparse": sparse_fully_connected,
    "shuffled": shuffled_fully_connected,
    "blockwise": blockwise_fully_connected,
}


@operator(
    "FULLY_CONNECTED",
    ("uint8", "int8", "float32", "int16", "hybrid", "int4", "wide", "sparse", "shuffled", "blockwise"),
    cases=14,
    more={"int16": 40, "hybrid": 20},
    versions={"int8": 4, "int16": 7, "hybrid": 9, "int4": 10, "wide": 2, "sparse": 8, "shuffled": 2, "blockwise": 13},
)
def fully_connected(draw):
    if draw.type in FORMS:
        return FORMS[draw.type](draw)
    rank = draw.pick("rank", [2, 3, 4, 1, 2])
    keeps = draw.flag("keep_num_dims", 3)
    draw.tag(f"rank{rank}")
    outer = [draw.choice([1, 2, 3]) for _ in range(rank - 1)]
    long = draw.flag("long", 7)
    if long:
        outer, depth, units = [1] * (rank - 1), draw.integer(1025, 1200), draw.integer(1, 3)
    else:
        depth = draw.choice([1, 3, 7, 8, 15, 16, 17, 33, 40])
        units = draw.channels(4 * draw.limit // depth)
    if outer and not long and draw.flag("empty", 14):
        outer[0] = 0
    input_shape = (*outer, depth)
    # Without keep_num_dims, rows may span several dimensions.
    if rank > 2 and not keeps and draw.flag("flattened", 2):
        depth *= outer[-1]

    products = draw_products(draw, (units, depth), 0, depth, MIXES, has_weight_zero_points=True)
    options = schema.FullyConnectedOptionsT(
        fusedActivationFunction=draw.activation(), keepNumDims=keeps, **products.bias_options
    )
    if draw.type == "hybrid":
        options.asymmetricQuantizeInputs = draw.flag("asymmetric", 2)
    model = ModelBuilder()
    operands = [
        model.input(products.inputs(input_shape), products.input_quantization),
        model.constant(products.weights, products.weight_quantization, products.weight_type),
    ]
    bias = "present" if draw.type == "wide" else draw.pick("bias", ["present"] * 4 + ["absent", "omitted"])
    if bias == "present":
        operands.append(model.constant(*products.bias()))
    else:
        draw.tag("no_bias")
        operands += [ABSENT] if bias == "absent" else []
    output = model.output(products.output_type, products.output_quantization)
    return model.operator("FULLY_CONNECTED", operands, [output], options)
