// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// Packing of floats as bfloat16.
extension ProductPacking {
  /// The K-steps that are packed for 16 columns, a cache line each, before the next ones.
  private static let stepsTogether = 64

  /// Rounds a panel's weights: a K-step has values `k` and `k + 1` of each column, `k` in the lower half of its lane.
  /// Lanes without a column keep their zeros.
  func packBFloat16(
    _ weights: UnsafeRawPointer, group: Int, panel: ProductPlan.Panel, at start: Int,
    into packed: PackedWeights
  ) {
    // Taps have an even number of values, so pairs are adjacent in a column.
    let (stepCount, stepByteCount) = (plan.stepCount, panel.paddedCount &* plan.weightByteCount)
    let together = Self.stepsTogether
    for firstColumn in stride(from: 0, to: panel.columnCount, by: 16) {
      for first in stride(from: 0, to: stepCount, by: together) {
        if first & 0x3FFF == 0, packed.mustStop { return }
        for column in firstColumn..<min(firstColumn &+ 16, panel.columnCount) {
          let source = position(group: group, column: panel.firstColumn &+ column, tap: 0)
          let place = unsafe packed.address + (start &+ column &* plan.weightByteCount)
          for step in first..<min(first &+ together, stepCount) {
            let pair = unsafe weights.loadUnaligned(
              fromByteOffset: (source &+ 2 &* step) &* 4, as: SIMD2<UInt32>.self)
            let rounded = BFloat16Rounding.rounded(SIMD4(lowHalf: pair, highHalf: SIMD2()))
            unsafe place.storeBytes(
              of: rounded[0] &>> 16 | rounded[1], toByteOffset: step &* stepByteCount, as: UInt32.self)
          }
        }
      }
    }
  }
}
