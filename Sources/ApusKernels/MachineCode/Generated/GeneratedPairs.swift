/// Products of floats for columns that fill no more than half of a vector: each has two lanes, for every second term.
///
/// Where all pipes have 512 bits, a vector of half as many columns takes as long as a whole one; so two terms take the time
/// of one. At the end the two lanes of each sum are added.
extension GeneratedConvolutionPlan {
  /// The fewest terms of which the additions at the end take little.
  private static let leastDepth = 24

  /// Whether such products are made for a convolution.
  static func pairs(
    _ convolution: Convolution, _ product: GeneratedProduct, _ target: any GeneratedTarget, tapCount: Int,
    lanesPerTap: Int
  ) -> Bool {
    product == .floats && 2 * convolution.columnCount <= target.lanes && lanesPerTap.isMultiple(of: 2)
      && tapCount * lanesPerTap >= leastDepth
  }
}

extension GeneratedWeightPacking {
  /// Writes weights two terms of a column side by side; lanes without a column are zero already.
  func packPairs(
    _ weights: UnsafeRawPointer, group: Int, panel: GeneratedConvolutionPlan.Panel,
    to target: UnsafeMutableRawPointer
  ) {
    let stepByteCount = panel.paddedCount * plan.weightByteCount
    for column in 0..<panel.columnCount {
      let source = unsafe weights + 4 * position(group: group, column: panel.firstColumn + column, tap: 0)
      for step in 0..<plan.stepCount {
        let pair = unsafe source.loadUnaligned(fromByteOffset: 8 &* step, as: UInt64.self)
        unsafe target.storeBytes(
          of: pair, toByteOffset: step &* stepByteCount &+ 8 &* column, as: UInt64.self)
      }
    }
  }
}

extension X86ProductGenerator {
  /// Adds the two lanes of each sum, and moves the sums side by side.
  func addPairs(_ a: inout X86Assembler) {
    for row in 0..<rowCount {
      let spare = end.free(row % 2)
      a.vector(.vmovshdup, width, spare, 0, row)
      a.vector(.vaddps, width, spare, spare, row)
      a.vector(.vpmovqd, width, spare, 0, row)
    }
  }
}
