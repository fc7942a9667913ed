// SPDX-License-Identifier: Apache-2.0

import ApusKernels

extension DepthwiseKernel {
  /// Computes lines of an input that is read in place. For floats, taps in the padding are skipped.
  func runInPlace(
    _ work: Work, _ packed: PackedWeights, _ code: EpilogueCode, image: Int, lines: Range<Int>,
    blocks: Range<Int>,
    scratch: UnsafeMutableRawPointer
  ) {
    if plan.widensInPlace {
      return unsafe runBytesInPlace(
        work, packed, code, image: image, lines: lines, blocks: blocks, scratch: scratch)
    }
    let c = convolution
    let outputPixelByteCount = plan.channels &* 4
    let weights = unsafe Int(
      bitPattern: packed.address + WeightTerms.record(packed, blocks.lowerBound).weights)
    var arguments = unsafe ConvolutionArguments(
      rows: 0, rowStride: plan.pixelByteCount, taps: 0, tapCount: 0, weights: 0, offsets: 0,
      factors: code.factors(0), output: 0, outputStride: outputPixelByteCount, blocks: 0, scales: 0,
      vectors: blocks.count &- (plan.tailCount > 0 ? 1 : 0),
      firstOffsets: Int(bitPattern: packed.address + weightPacking.offsets(block: blocks.lowerBound)))
    let firstByte = blocks.lowerBound &* plan.blockChannels &* 4
    let firstInputByte = c.inputChannels == 1 ? 0 : firstByte / c.depthMultiplier
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
        arguments.rows =
          unsafe Int(bitPattern: work.memory.input) &+ firstInputByte &+ pixel &* plan.pixelByteCount
        arguments.output =
          unsafe Int(bitPattern: work.memory.output) &+ firstByte &+ result &* outputPixelByteCount
        arguments.blocks = run.blockCount
        code.runFunctions.call(rows: index, columns: 0, &arguments)
      }
    }
  }

  /// Computes lines of bytes for a block with `valid` channels, or `lastValid` in the last column.
  func runLines(
    _ arguments: inout ConvolutionArguments, _ code: EpilogueCode, _ count: Int, valid: Int, lastValid: Int
  ) {
    guard valid != lastValid else { return runLines(&arguments, code, count, .whole, valid: valid) }
    let (rows, output) = (arguments.rows, arguments.output)
    runLines(&arguments, code, count, .butLast, valid: valid)
    guard lastValid > 0 else { return }
    let columns = plan.columns(.butLast)
    arguments.rows = rows &+ columns &* plan.columnByteCount
    arguments.output = output &+ columns &* arguments.outputStride
    runLines(&arguments, code, count, .last, valid: lastValid)
  }

  func runLines(
    _ arguments: inout ConvolutionArguments, _ code: EpilogueCode, _ count: Int,
    _ part: DepthwisePlan.LinePart, valid: Int
  ) {
    let columns = plan.columns(part)
    guard columns > 0, count > 0 else { return }
    arguments.lines = count
    arguments.blocks = plan.blocks(columns).count
    code.functions.call(rows: part.rawValue, columns: valid, &arguments)
  }
}

extension DepthwisePlan {
  /// The part of each line that a function computes.
  enum LinePart: Int, CaseIterable {
    /// All columns, or those that are read in place.
    case whole
    /// All columns but the last one.
    case butLast
    /// The last column, or one that is gathered.
    case last
  }

  func columns(_ part: LinePart) -> Int {
    switch part {
    case .whole: interior.isEmpty ? columnCount : interior.count
    case .butLast: columnCount - 1
    case .last: 1
    }
  }

  /// The shapes of functions that compute lines; `rowCount` is the ``LinePart``.
  var lineShapes: [BlockShape] {
    let parts: [LinePart] =
      lastColumnPixels != pixelsTogether ? LinePart.allCases : edgeCount > 0 ? [.whole, .last] : [.whole]
    var shapes: [BlockShape] = []
    forEachChannelCount { count in
      for part in parts where columns(part) > 0 && count > 0 {
        shapes.append(
          BlockShape(rowCount: part.rawValue, vectorCount: vectorCount, columnCount: count))
      }
    }
    return shapes
  }
}
