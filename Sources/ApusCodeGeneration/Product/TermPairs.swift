// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Products of floats whose last vector of columns is at most half full: each of its columns gets two lanes,
/// one for even and one for odd `k`.
///
/// If half a vector takes as long as a whole one (``VectorPipes/areFullWidth``), the last columns then take
/// half the time. A K-step is two values of K: the whole vectors of the first, the whole vectors of the
/// second, then the shared vector of both. At the end the two lanes of each sum are added.
struct TermPairs: Hashable {
  /// Vectors of a panel with one lane per column.
  let wholeCount: Int
  /// Whether a vector with two lanes per column follows.
  let hasHalf: Bool

  init(columnCount: Int, lanes: Int) {
    let (whole, rest) = columnCount.quotientAndRemainder(dividingBy: lanes)
    hasHalf = rest > 0 && 2 * rest <= lanes
    wholeCount = hasHalf || rest == 0 ? whole : whole + 1
  }

  /// The size of the whole vectors' weights for one value of K.
  var wholeByteCount: Int { wholeCount * 64 }
  /// The size of a K-step's weights.
  var stepByteCount: Int { 2 * wholeByteCount + (hasHalf ? 64 : 0) }
}

extension TermPairs {
  /// The smallest K for which the final horizontal add is negligible.
  private static let minimumDepth = 24

  /// Throws unless a convolution of floats gains from this strategy.
  static func requireGain(
    _ convolution: Convolution, _ target: any CodeTarget, _ taps: TapLayout
  ) throws(Decline) {
    let (length, depth) = (taps.depthPerTap, taps.count * taps.depthPerTap)
    guard length.isMultiple(of: 2) else {
      throw Decline("taps of \(length) values have no pairs of their own")
    }
    guard depth >= minimumDepth else { throw Decline("K is \(depth), below \(minimumDepth)") }
    let columns = convolution.columnCount
    guard TermPairs(columnCount: columns, lanes: target.lanes).hasHalf else {
      throw Decline("the last of \(columns) columns fill more than half a vector")
    }
  }
}

extension ProductPlan {
  /// The pairs of a panel; nil if the plan has another strategy.
  func pairs(_ panel: Panel) -> TermPairs? {
    strategy.isPaired
      ? TermPairs(columnCount: panel.columnCount, lanes: panel.paddedCount / panel.vectorCount) : nil
  }

  /// The size of a K-step's weights.
  func stepByteCount(_ panel: Panel) -> Int {
    pairs(panel)?.stepByteCount ?? panel.paddedCount &* weightByteCount
  }
}

extension ProductPacking {
  /// Packs the columns with two lanes: values `k` and `k + 1` are adjacent. Lanes without a column keep their
  /// zeros.
  func packHalf(
    _ weights: UnsafeRawPointer, _ pairs: TermPairs, group: Int,
    panel: ProductPlan.Panel, at start: Int, into packed: PackedWeights
  ) {
    let target = unsafe packed.address + start
    let wholeColumns = pairs.wholeByteCount / 4
    for column in wholeColumns..<panel.columnCount {
      let source = unsafe weights + 4 * position(group: group, column: panel.firstColumn + column, tap: 0)
      let place = unsafe target + 2 * pairs.wholeByteCount + 8 * (column - wholeColumns)
      for step in 0..<plan.stepCount {
        if step & 0xFFFF == 0xFFFF, packed.mustStop { return }
        let pair = unsafe source.loadUnaligned(fromByteOffset: 8 &* step, as: UInt64.self)
        unsafe place.storeBytes(of: pair, toByteOffset: step &* pairs.stepByteCount, as: UInt64.self)
      }
    }
  }

  /// Packs one K-step from two consecutive rows of a K×N matrix.
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
