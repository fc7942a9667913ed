extension GeneratedDepthwise {
  /// Lines of an input that is read where it lies: rows and columns in the padding are left out.
  func runInPlace(_ work: Work, _ packed: PackedWeights, image: Int, lines: Range<Int>, blocks: Range<Int>) {
    let c = convolution
    let weights = unsafe Int(
      bitPattern: packed.address + GeneratedWeights.record(packed, blocks.lowerBound).weights)
    var arguments = unsafe GeneratedArguments(
      rows: 0, rowStride: plan.pixelByteCount, taps: 0, tapCount: 0, weights: 0, offsets: 0,
      factors: Int(bitPattern: factors), output: 0, outputStride: plan.pixelByteCount, blocks: 0, scales: 0,
      vectors: blocks.count,
      firstOffsets: Int(bitPattern: packed.address + weightPacking.offsets(block: blocks.lowerBound)))
    let firstByte = blocks.lowerBound &* plan.blockChannels &* 4
    for line in lines {
      let top = line &* c.strideHeight &- c.paddingTop
      let rows = plan.tapRows(top: top)
      guard !rows.isEmpty else { continue }
      let skipped = rows.lowerBound &* c.filterWidth
      arguments.tapCount = rows.count
      arguments.taps = unsafe Int(bitPattern: taps + skipped)
      arguments.firstWeights = weights &+ skipped &* plan.blockChannels &* 4
      for (index, run) in plan.runs.enumerated() {
        let column = run.first &* c.strideWidth &- c.paddingLeft
        let pixel = (image &* c.inputHeight &+ top) &* c.inputWidth &+ column
        let result = (image &* c.outputHeight &+ line) &* c.outputWidth &+ run.first
        arguments.rows = Int(bitPattern: work.memory.input) &+ firstByte &+ pixel &* plan.pixelByteCount
        arguments.output = Int(bitPattern: work.memory.output) &+ firstByte &+ result &* plan.pixelByteCount
        arguments.blocks = run.blockCount
        runFunctions.call(rows: index, columns: 0, &arguments)
      }
    }
  }
}
