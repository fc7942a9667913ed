"""FULLY_CONNECTED."""

from ai_edge_litert import schema_py_generated as schema

import numpy as np

from catalogue import operator
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


@operator(
    "FULLY_CONNECTED",
    ("uint8", "int8", "float32", "int16", "hybrid", "int4", "wide", "sparse"),
    cases=14,
    versions={"int8": 4, "int16": 7, "hybrid": 9, "int4": 10, "wide": 2, "sparse": 8},
)
def fully_connected(draw):
    if draw.type == "sparse":
        return sparse_fully_connected(draw)
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
