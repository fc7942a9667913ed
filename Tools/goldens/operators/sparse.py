# SPDX-License-Identifier: Apache-2.0
"""DENSIFY: constants that are stored without most of their zeros."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from catalogue import operator
from model_builder import ModelBuilder


def sparse(draw, values, block=None):
    """The sparsity of a matrix by compressed rows, in blocks of a size or of single values, and what it stores."""
    rows, columns = values.shape
    block_rows, block_columns = block or (1, 1)
    tiles = values.reshape(rows // block_rows, block_rows, columns // block_columns, block_columns)
    tiles = tiles.transpose(0, 2, 1, 3)
    segments, indices, stored = kept_tiles(tiles)
    table = schema.SparsityParametersT()
    dimensions = [_dense(rows // block_rows), _compressed(draw, segments, indices)]
    order = [0, 1]
    # A block of one row has one dimension.
    blocked = [axis for axis in (0, 1) if block and (axis == 1 or block_rows > 1)]
    dimensions += [_dense(block[axis]) for axis in blocked]
    order += range(2, 2 + len(blocked))
    if blocked:
        table.blockMap = blocked
    table.traversalOrder = order
    table.dimMetadata = dimensions
    stored = np.array(stored, values.dtype).reshape(-1)
    return table, stored


def kept_tiles(lines):
    """The tiles with a value other than zero, line by line: where each line ends, their columns, and the tiles."""
    segments, indices, stored = [0], [], []
    for line in lines:
        kept = [index for index, tile in enumerate(line) if tile.any()]
        indices += kept
        stored += [line[index] for index in kept]
        segments.append(len(indices))
    return segments, indices, stored


def _dense(size):
    metadata = schema.DimensionMetadataT()
    metadata.format = schema.DimensionType.DENSE
    metadata.denseSize = size
    return metadata


def _compressed(draw, segments, indices):
    metadata = schema.DimensionMetadataT()
    metadata.format = schema.DimensionType.SPARSE_CSR
    kinds = [("Int32Vector", np.int32), ("Uint16Vector", np.uint16), ("Uint8Vector", np.uint8)]
    for name, values in (("arraySegments", segments), ("arrayIndices", indices)):
        kind, dtype = draw.pick(name, kinds)
        vector = getattr(schema, kind + "T")()
        vector.values = np.array(values, dtype)
        setattr(metadata, name, vector)
        setattr(metadata, name + "Type", getattr(schema.SparseIndexVector, kind))
    return metadata


@operator("DENSIFY", ("float32", "int8", "float16"), cases=10)
def densify(draw):
    block = draw.pick("block", [None, (1, 4), (2, 2), (1, 16), (4, 1)])
    draw.tag("block{}x{}".format(*block) if block else "")
    size = [draw.integer(1, 5) * extent for extent in (block or (1, 1))]
    values = draw.values(size)
    tiles = np.ones([side // extent for side, extent in zip(size, block or (1, 1))])
    keep = np.where(draw.values(tiles.shape, "float32") > draw.real(-1, 3), tiles, 0)
    values = (values * np.kron(keep, np.ones(block or (1, 1)))).astype(values.dtype)
    if not values.any():
        values.flat[0] = 1
    model = ModelBuilder()
    # A model needs an input; it is not the operator's.
    model.input(np.zeros(1, np.float32))
    constant = model.constant(values, sparsity=sparse(draw, values, block))
    return model.operator("DENSIFY", [constant], [model.output(draw.type)])
