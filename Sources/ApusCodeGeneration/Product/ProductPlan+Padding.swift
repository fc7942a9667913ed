// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// Lines at an image's edge can skip the rows of the filter that see only padding. That is two of seven lines
/// of a small image, and more with dilated filters.
extension ProductPlan {
  /// Whether lines can skip such rows: padding must contribute nothing to sums, and nothing to the offsets
  /// either.
  static func leavesOutPadding(
    _ convolution: Convolution, _ strategy: ProductStrategy, _ product: ProductKind, _ target: any CodeTarget
  ) -> Bool {
    let c = convolution
    // Sums of bfloat16 multiply the zeros of the padding, too.
    guard !product.isBFloat16 else { return false }
    // Overlapping blocks have their taps unrolled.
    guard c.filterHeight > 1, !c.operands.isHybrid, !strategy.isInner, strategy.overlappingSteps == nil else {
      return false
    }
    if let operands = c.operands.generatedBytes, product != .words,
      operands.lhsZeroPoint != target.activationOffset
    {
      return false
    }
    // Each line must keep at least one row, and some line must skip one.
    guard c.outputHeight < 1 << 16 else { return false }
    var least = c.filterHeight
    for line in 0..<c.outputHeight { least = min(least, filterRows(c, line: line).count) }
    return least > 0 && least < c.filterHeight
  }

  /// The rows of the filter that overlap the image at an output line.
  static func filterRows(_ convolution: Convolution, line: Int) -> Range<Int> {
    let top = line &* convolution.strideHeight &- convolution.paddingTop
    let dilation = convolution.dilationHeight
    let first = top < 0 ? (dilation &- 1 &- top) / dilation : 0
    let end = min((convolution.inputHeight &- top &+ dilation &- 1) / dilation, convolution.filterHeight)
    return first..<max(first, end)
  }
}
