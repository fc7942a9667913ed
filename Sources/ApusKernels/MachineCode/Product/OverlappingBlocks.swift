// SPDX-License-Identifier: Apache-2.0

/// Products of bytes of few steps, of which a block is summed while the sums of the block before become outputs.
///
/// Products keep two of the processor's vector pipes busy, multiplying and rounding the others; either alone would leave half
/// of the processor idle. Weights are packed as for all blocks.
enum OverlappingBlocks {
  /// The shortest line that is worth it.
  private static let leastLength = 16

  /// The strategy for a convolution; nil where lines are short, or the target has no such code.
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
