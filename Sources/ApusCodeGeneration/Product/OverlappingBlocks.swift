// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// Products of bytes with a small K: a block's sums are computed while the epilogue of the previous block
/// runs.
///
/// Multiplications keep two of the processor's vector ports busy, and rounding keeps the others busy; either
/// alone would leave half of the processor idle. Weights are packed as for blocks that do not overlap.
enum OverlappingBlocks {
  /// Shorter lines have too few blocks to overlap.
  private static let leastLength = 16

  /// The strategy for a convolution; nil if its lines are short, or the target has no such code.
  static func strategy(
    _ convolution: Convolution, _ epilogue: LoweredEpilogue, _ product: ProductKind, _ target: any CodeTarget,
    _ taps: TapLayout, lineLength: Int
  ) -> ProductStrategy? {
    guard lineLength >= leastLength else { return nil }
    let steps = ProductSteps(
      taps: taps.count, perTap: ceilingQuotient(taps.lanesPerTap, product.lanesPerStep))
    let rows = target.mostOverlappingRows(product, steps, convolution.operands, epilogue)
    return rows.map { .overlapping(steps, mostRows: $0) }
  }
}
