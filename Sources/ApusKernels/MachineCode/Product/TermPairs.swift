// SPDX-License-Identifier: Apache-2.0

/// Products of floats whose last columns fill no more than half of a vector: these have two lanes each, for every second term.
///
/// Where half a vector takes as long as a whole one (``VectorPipes/areFullWidth``), the last columns of two terms take the time
/// of those of one. A step is two terms: weights of whole vectors for the first, those for the second, then the others'. At
/// the end the two lanes of each sum are added.
struct TermPairs: Hashable {
  /// Vectors of a panel of which each lane is a column.
  let wholeCount: Int
  /// Whether one with two lanes for each column follows.
  let hasHalf: Bool

  init(columnCount: Int, lanes: Int) {
    let (whole, rest) = columnCount.quotientAndRemainder(dividingBy: lanes)
    hasHalf = rest > 0 && 2 * rest <= lanes
    wholeCount = hasHalf || rest == 0 ? whole : whole + 1
  }

  /// Bytes of a term's weights for the whole vectors.
  var wholeByteCount: Int { wholeCount * 64 }
  /// Bytes of a step's weights.
  var stepByteCount: Int { 2 * wholeByteCount + (hasHalf ? 64 : 0) }
}

extension TermPairs {
  /// The fewest terms of which the additions at the end take little.
  private static let leastDepth = 24

  /// Whether such products are made for a convolution.
  static func serve(
    _ convolution: Convolution, _ product: ProductKind, _ target: any CodeTarget, _ taps: TapLayout
  ) -> Bool {
    product == .floats && taps.lanesPerTap.isMultiple(of: 2) && taps.count * taps.lanesPerTap >= leastDepth
      && TermPairs(columnCount: convolution.columnCount, lanes: target.lanes).hasHalf
  }
}

extension ProductPlan {
  /// What functions for a panel must know of such products; nil where they are others.
  func pairs(_ panel: Panel) -> TermPairs? {
    strategy.isPaired
      ? TermPairs(columnCount: panel.columnCount, lanes: panel.paddedCount / panel.vectorCount) : nil
  }

  /// Bytes of a step's weights.
  func stepByteCount(_ panel: Panel) -> Int {
    pairs(panel)?.stepByteCount ?? panel.paddedCount &* weightByteCount
  }
}

extension ProductPacking {
  /// Writes the weights of columns with two lanes: two terms of each side by side. Lanes without a column are zero already.
  func packHalf(
    _ weights: UnsafeRawPointer, _ pairs: TermPairs, group: Int,
    panel: ProductPlan.Panel, to target: UnsafeMutableRawPointer
  ) {
    let wholeColumns = pairs.wholeByteCount / 4
    for column in wholeColumns..<panel.columnCount {
      let source = unsafe weights + 4 * position(group: group, column: panel.firstColumn + column, tap: 0)
      let place = unsafe target + 2 * pairs.wholeByteCount + 8 * (column - wholeColumns)
      for step in 0..<plan.stepCount {
        let pair = unsafe source.loadUnaligned(fromByteOffset: 8 &* step, as: UInt64.self)
        unsafe place.storeBytes(of: pair, toByteOffset: step &* pairs.stepByteCount, as: UInt64.self)
      }
    }
  }

  /// Writes the weights of a step, of which two rows have the two terms.
  func packRows(
    _ rows: UnsafeRawPointer, _ pairs: TermPairs, columnCount: Int,
    to target: UnsafeMutableRawPointer
  ) {
    let rowByteCount = convolution.columnCount * 4
    for term in 0..<2 {
      let row = unsafe rows + term * rowByteCount
      let whole = min(pairs.wholeByteCount, columnCount * 4)
      unsafe (target + term * pairs.wholeByteCount).copyMemory(from: row, byteCount: whole)
      let half = unsafe target + 2 * pairs.wholeByteCount + 4 * term
      for column in whole / 4..<columnCount {
        let bits = unsafe row.loadUnaligned(fromByteOffset: 4 &* column, as: UInt32.self)
        unsafe half.storeBytes(of: bits, toByteOffset: 8 &* (column &- whole / 4), as: UInt32.self)
      }
    }
  }
}
