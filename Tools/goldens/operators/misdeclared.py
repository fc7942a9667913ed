# SPDX-License-Identifier: Apache-2.0
"""Results whose type in the file is not theirs: these operators of the reference set it while they prepare."""

from catalogue import OPERATORS, operator
from model_builder import TENSOR_TYPES

NAMES = """ADD ADD_N BITWISE_XOR BUCKETIZE CEIL DENSIFY DEQUANTIZE DIV DYNAMIC_UPDATE_SLICE EQUAL EXP EXPAND_DIMS FAKE_QUANT
    FILL FLOOR FLOOR_DIV FLOOR_MOD GATHER GATHER_ND GREATER GREATER_EQUAL LESS LESS_EQUAL LOGICAL_AND LOGICAL_OR
    MATRIX_DIAG MATRIX_SET_DIAG MAXIMUM MINIMUM NEG NOT_EQUAL ONE_HOT POW PRELU RANGE RANK RESIZE_BILINEAR
    RESIZE_NEAREST_NEIGHBOR RFFT2D RIGHT_SHIFT ROUND SCATTER_ND SELECT SELECT_V2 SPARSE_TO_DENSE SPLIT SPLIT_V
    SQUARED_DIFFERENCE STABLEHLO_SHIFT_LEFT SUB WHERE ZEROS_LIKE
    ARG_MAX ARG_MIN NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 SHAPE""".split()
# All results of these have a type of their own; the first one alone of others.
EACH = ("SPLIT", "SPLIT_V", "NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5")
# How many of these take the type.
COUNTS = {"float32": 51, "uint8": 36, "int8": 43, "int16": 35, "int32": 43, "bool": 19}


@operator("MISDECLARED", tuple(COUNTS), more=COUNTS)
def misdeclared(draw):
    names = [name for name in NAMES if draw.type in OPERATORS[name].types]
    name = names[draw.index % len(names)]
    draw.tag(name)
    case = OPERATORS[name]
    model = case.case(draw)
    model.version = model.version or case.version(draw.type)
    parts = model._output_indices if name in EACH else model._output_indices[:1]
    for index in parts:
        tensor = model._tensors[index]
        others = {TENSOR_TYPES["float32"]: "int64"}
        if name.startswith("ARG_") or name == "SHAPE":
            # Indices of the other width, or floats.
            widths = {TENSOR_TYPES["int32"]: "int64", TENSOR_TYPES["int64"]: "int32"}
            others = widths if draw.chance(0.7) else others
        tensor.type = TENSOR_TYPES[others.get(tensor.type, "float32")]
    return model
