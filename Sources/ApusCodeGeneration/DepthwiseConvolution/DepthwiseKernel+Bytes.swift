// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// Bytes that are read in place and widened to `int16` as they are loaded.
extension DepthwiseKernel {
  /// Computes lines of some blocks of channels. Rows and pixels in the padding are read from a row of zero
  /// points.
  func runBytesInPlace(
    _ work: Work, _ packed: PackedWeights, _ code: EpilogueCode, image: Int, lines: Range<Int>,
    blocks: Range<Int>,
    scratch: UnsafeMutableRawPointer
  ) {
    let c = convolution
    let isInside = plan.linesInside(lines) == lines
    unsafe scratch.initializeMemory(
      as: UInt8.self, repeating: paddingByte, count: isInside ? 8 : plan.rowByteCount)
    let rows = unsafe (scratch + tapListOffset).assumingMemoryBound(to: Int.self)
    unsafe rows[c.filterHeight] = Int(bitPattern: scratch)

    let first = blocks.lowerBound
    let (pixelByteCount, firstByte) = (plan.pixelByteCount, first &* plan.blockChannels)
    var arguments = unsafe ConvolutionArguments(
      rows: 0, rowStride: pixelByteCount, taps: Int(bitPattern: rows), tapCount: 0,
      weights: Int(bitPattern: packed.address + WeightTerms.record(packed, first).weights),
      offsets: Int(bitPattern: packed.address + weightPacking.offsets(block: first)),
      factors: code.factors(first / 2), output: 0,
      outputStride: pixelByteCount, blocks: 0, scales: 0, vectors: blocks.count)
    let runs = plan.runs
    for line in lines {
      for row in 0..<c.filterHeight {
        let y = line &* c.strideHeight &- c.paddingTop &+ row &* c.dilationHeight
        let place = (image &* c.inputHeight &+ y) &* plan.rowByteCount
        unsafe rows[row] =
          y >= 0 && y < c.inputHeight
          ? Int(bitPattern: work.memory.input) &+ place : Int(bitPattern: scratch)
      }
      let result = (image &* c.outputHeight &+ line) &* c.outputWidth
      let output = unsafe work.memory.output + result &* pixelByteCount
      for index in runs.indices {
        let run = runs[index]
        let column = run.first &* c.strideWidth &- c.paddingLeft
        arguments.rows = column &* pixelByteCount &+ firstByte
        arguments.output = unsafe Int(bitPattern: output + run.first &* pixelByteCount + firstByte)
        arguments.blocks = run.blockCount
        code.runFunctions.call(rows: index, columns: 0, &arguments)
      }
    }
  }

  var paddingByte: UInt8 {
    guard let operands = scheme.operands else { return 0 }
    return UInt8(truncatingIfNeeded: operands.lhsZeroPoint) ^ operands.signFlip
  }
}
