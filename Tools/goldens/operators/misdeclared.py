# SPDX-License-Identifier: Apache-2.0
"""Results whose type in the file is not theirs: these operators of the reference set it while they prepare."""

from catalogue import OPERATORS, operator
from model_builder import TENSOR_TYPES

NAMES = """ADD ADD_N BITWISE_XOR BUCKETIZE CEIL DENSIFY DEQUANTIZE DIV DYNAMIC_UPDATE_SLICE EQUAL EXP EXPAND_DIMS FAKE_QUANT
    FILL FLOOR FLOOR_DIV FLOOR_MOD GATHER GATHER_ND GREATER GREATER_EQUAL LESS LESS_EQUAL LOGICAL_AND LOGICAL_OR
    MATRIX_DIAG MATRIX_SET_DIAG MAXIMUM MINIMUM NEG NOT_EQUAL ONE_HOT POW PRELU RANGE RANK RESIZE_BILINEAR
    RESIZE_NEAREST_NEIGHBOR RFFT2D RIGHT_SHIFT ROUND SCATTER_ND SELECT SELECT_V2 SPARSE_TO_DENSE SPLIT SPLIT_V
    SQUARED_DIFFERENCE STABLEHLO_SHIFT_LEFT SUB WHERE ZEROS_LIKE""".split()
# How many of these take the type.
COUNTS = {"float32": 46, "uint8": 33, "int8": 40, "int16": 34, "int32": 40, "bool": 16}


@operator("MISDECLARED", tuple(COUNTS), more=COUNTS)
def misdeclared(draw):
    names = [name for name in NAMES if draw.type in OPERATORS[name].types]
    name = names[draw.index % len(names)]
    draw.tag(name)
    case = OPERATORS[name]
    model = case.case(draw)
    model.version = model.version or case.version(draw.type)
    parts = model._output_indices if name.startswith("SPLIT") else model._output_indices[:1]
    for index in parts:
        tensor = model._tensors[index]
        tensor.type = TENSOR_TYPES["int64" if tensor.type == TENSOR_TYPES["float32"] else "float32"]
    return model
