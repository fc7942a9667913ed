// SPDX-License-Identifier: Apache-2.0

/// Rows of a filter that meet nothing but padding: lines at the edge of an image leave them out. These are two of seven lines of
/// a small image, and many where filters are dilated.
extension ProductPlan {
  /// Whether lines may leave them out: padding adds nothing to sums, neither as such nor by what offsets have for it.
  static func leavesOutPadding(
    _ convolution: Convolution, _ strategy: ProductStrategy, _ product: ProductKind, _ target: any CodeTarget
  ) -> Bool {
    let c = convolution
    // Blocks that overlap have their taps written out.
    guard c.filterHeight > 1, !c.operands.isHybrid, !strategy.isInner, strategy.overlappingSteps == nil else {
      return false
    }
    if let operands = c.operands.generatedBytes, product != .words,
      operands.lhsZeroPoint != target.activationOffset
    {
      return false
    }
    // Each line has one row at least, and some have not all.
    guard c.outputHeight < 1 << 16 else { return false }
    var least = c.filterHeight
    for line in 0..<c.outputHeight { least = min(least, filterRows(c, line: line).count) }
    return least > 0 && least < c.filterHeight
  }

  /// The rows of the filter that meet the image from a line of the output.
  static func filterRows(_ convolution: Convolution, line: Int) -> Range<Int> {
    let top = line &* convolution.strideHeight &- convolution.paddingTop
    let dilation = convolution.dilationHeight
    let first = top < 0 ? (dilation &- 1 &- top) / dilation : 0
    let end = min((convolution.inputHeight &- top &+ dilation &- 1) / dilation, convolution.filterHeight)
    return first..<max(first, end)
  }
}
