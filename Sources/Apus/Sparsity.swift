// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// How a file stores a constant with few elements that are not zero. The engine reads such constants as dense ones.
public struct Sparsity: Hashable, Sendable {
  /// How the indices along one dimension are stored.
  public enum Dimension: Hashable, Sendable {
    /// All indices from zero to the size.
    case dense(size: Int)
    /// Compressed rows: under entry `k` of the dimension before, the indices `indices[segments[k]..<segments[k + 1]]`.
    case sparse(segments: [Int], indices: [Int])
  }

  /// The order in which dimensions are stored: those of the shape by their index, then those of a block, counted on from the rank.
  public let traversalOrder: [Int]
  /// The dimension of the shape that each dimension of a block divides; empty without blocks.
  public let blockMap: [Int]
  /// The dimensions as they are stored, one for each element of ``traversalOrder``.
  public let dimensions: [Dimension]

  init(_ entry: SparsityEntry) {
    traversalOrder = entry.traversalOrder
    blockMap = entry.blockMap
    dimensions = entry.dimensions.map { dimension in
      switch dimension.format {
      case .dense(let size): .dense(size: size)
      case .sparseCSR(let segments, let indices): .sparse(segments: segments, indices: indices)
      }
    }
  }
}
