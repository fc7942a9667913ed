// SPDX-License-Identifier: Apache-2.0

/// How the elements of a sparse constant are arranged.
///
/// The dimensions are those of the shape followed by those of a block, in traversal order. The counts of
/// segments and indices fit each other, and each index fits its dimension.
package struct SparsityEntry: Hashable, Sendable {
  /// The order in which dimensions are stored: a permutation of the shape's, then one of the block's.
  package let traversalOrder: [Int]
  /// The dimension of the shape that each dimension of the block divides.
  package let blockMap: [Int]
  /// One level of storage for each entry of ``traversalOrder``.
  package let dimensions: [DimensionEntry]
}

/// One level of a sparse constant's storage.
package struct DimensionEntry: Hashable, Sendable {
  /// How a level is stored.
  package enum Format: Hashable, Sendable {
    /// All indices from zero to the size are there.
    case dense(size: Int)
    /// Only some are: those of the k-th parent are `indices[segments[k]..<segments[k + 1]]`.
    case sparseCSR(segments: [Int], indices: [Int])
  }

  /// How this level is stored.
  package let format: Format
}
