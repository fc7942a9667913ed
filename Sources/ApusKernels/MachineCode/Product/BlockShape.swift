// SPDX-License-Identifier: Apache-2.0

/// The shape of a generated function: a block of rows and a panel.
struct BlockShape: Hashable {
  let rowCount: Int
  let vectorCount: Int
  /// The columns that are written: the first ones of the vectors' lanes.
  var columnCount: Int
  /// Whether each row is an image with a scale of its own.
  var isPerRow = false
  /// Whether weights that are multiplied as `int16` lie as bytes.
  var hasNarrowWeights = false
  /// Sums are kept this many times, for every second step or fourth, and added at the end: a sum need not wait for the
  /// product before it where rows are few.
  var sumSets = 1
  /// Whether blocks are panels side by side, full ones, of the same rows.
  var movesAlongPanels = false
  /// Whether sums begin with a number for each row.
  var hasRowTerms = false

  /// Lines of the next panel's weights that four steps fetch ahead.
  var fetches = 0
  /// How the block multiplies.
  var way = Way.plain

  /// How a block multiplies.
  enum Way: Hashable {
    /// Rows with a panel of columns.
    case plain
    /// Each column apart, for few columns of floats.
    case inner(InnerProduct)
    /// Steps of two terms of floats.
    case pairs(TermPairs)
    /// So few steps that blocks are summed while those before them are finished.
    case overlapping(ProductSteps)
  }

  /// The same block where what finishes it takes its own time.
  var alone: BlockShape {
    var shape = self
    if case .overlapping = way { shape.way = .plain }
    return shape
  }
}

extension BlockShape {
  var inner: InnerProduct? { if case .inner(let inner) = way { inner } else { nil } }
  var pairs: TermPairs? { if case .pairs(let pairs) = way { pairs } else { nil } }
  var overlapping: ProductSteps? { if case .overlapping(let steps) = way { steps } else { nil } }
}
