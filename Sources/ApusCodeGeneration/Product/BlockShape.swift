// SPDX-License-Identifier: Apache-2.0

/// The shape of a generated product function: a block of rows times one panel.
struct BlockShape: Hashable {
  let rowCount: Int
  let vectorCount: Int
  /// The number of columns that are stored: the first ones in the panel's lane order.
  var columnCount: Int
  /// Whether each row is an image with its own scale.
  var isPerRow = false
  /// Whether weights are stored as bytes and widened to `int16` as they are loaded.
  var hasNarrowWeights = false
  /// The number of accumulators per output. K-steps use them in turn, and they are added at the end: with few
  /// rows, one accumulator would make each K-step wait for the one before.
  var sumSets = 1
  /// Whether one call computes consecutive full panels of the same rows, rather than consecutive blocks of
  /// rows.
  var movesAlongPanels = false
  /// Whether accumulators start from a value per row; see ``RowTerms``.
  var hasRowTerms = false

  /// Cache lines of the next panel's weights to prefetch in each four K-steps.
  var fetches = 0
  /// The inner loop.
  var innerLoop = InnerLoop.plain

  /// The inner loop of a block.
  enum InnerLoop: Hashable {
    /// A K-step broadcasts a part of each row and multiplies it with the panel's columns.
    case plain
    /// Vectors run along K; each column has its own sum. For few columns of floats.
    case inner(InnerProduct)
    /// A K-step is two floats, and columns of the last half vector have two lanes.
    case pairs(TermPairs)
    /// K is unrolled, and a block's sums are computed while the previous block's epilogue runs.
    case overlapping(ProductSteps)
    /// Tile registers multiply bfloat16, in parts of `pairs` pairs.
    case tiles(pairs: Int)
  }

  /// The block's shape when its epilogue does not overlap with the next block.
  var withoutOverlap: BlockShape {
    var shape = self
    if case .overlapping = innerLoop { shape.innerLoop = .plain }
    return shape
  }
}

extension BlockShape {
  var inner: InnerProduct? { if case .inner(let inner) = innerLoop { inner } else { nil } }
  var pairs: TermPairs? { if case .pairs(let pairs) = innerLoop { pairs } else { nil } }
  var tilePairs: Int? { if case .tiles(let pairs) = innerLoop { pairs } else { nil } }
  var overlapping: ProductSteps? { if case .overlapping(let steps) = innerLoop { steps } else { nil } }
}
