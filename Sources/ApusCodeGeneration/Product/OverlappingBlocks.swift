// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

/// Products of bytes with a small K: a block's sums are computed while the epilogue of the previous block
/// runs.
///
/// Multiplications keep two of the processor's vector ports busy, and rounding keeps the others busy; either
/// alone would leave half of the processor idle. Weights are packed as for blocks that do not overlap.
enum OverlappingBlocks {
  /// Shorter lines have too few blocks to overlap.
  private static let minimumLength = 16

  /// The strategy for a convolution of bytes; throws if its lines are short, or the target has no such code.
  static func strategy(
    _ convolution: Convolution, _ epilogue: LoweredEpilogue, _ product: ProductKind, _ target: any CodeTarget,
    _ taps: TapLayout, lineLength: Int
  ) throws(Decline) -> ProductStrategy {
    guard lineLength >= minimumLength else {
      throw Decline("lines of \(lineLength) pixels are shorter than \(minimumLength)")
    }
    let steps = ProductSteps(
      taps: taps.count, perTap: ceilingQuotient(taps.depthPerTap, product.depthPerStep))
    return .overlapping(
      steps, maximumRows: try target.maximumOverlappingRows(steps, convolution.operands, epilogue))
  }
}
