// SPDX-License-Identifier: Apache-2.0

/// Bytes that become words as they are read where they lie.
extension GeneratedDepthwise {
  /// Lines of some blocks of channels. Rows and pixels in the padding are read from a row of zero points.
  func runBytesInPlace(
    _ work: Work, _ packed: PackedWeights, image: Int, lines: Range<Int>, blocks: Range<Int>,
    scratch: UnsafeMutableRawPointer
  ) {
    let c = convolution
    let isInside = plan.linesInside(lines) == lines
    unsafe scratch.initializeMemory(
      as: UInt8.self, repeating: paddingByte, count: isInside ? 8 : plan.rowByteCount)
    let rows = unsafe (scratch + tapListOffset).assumingMemoryBound(to: Int.self)
    unsafe rows[c.filterHeight] = Int(bitPattern: scratch)

    let first = blocks.lowerBound
    let makesOutputs = scheme.makesOutputs(packed)
    let (pixelByteCount, firstByte) = (plan.pixelByteCount, first &* plan.blockChannels)
    var arguments = unsafe GeneratedArguments(
      rows: 0, rowStride: pixelByteCount, taps: Int(bitPattern: rows), tapCount: 0,
      weights: Int(bitPattern: packed.address + GeneratedWeights.record(packed, first).weights),
      offsets: Int(bitPattern: packed.address + weightPacking.offsets(block: first)),
      factors: Int(bitPattern: factors + first / 2 &* factorByteCount), output: 0,
      outputStride: pixelByteCount, blocks: 0, scales: 0, vectors: blocks.count)
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
      guard makesOutputs else {
        unsafe finishInSwift(packed, rows: rows, blocks: blocks, sums: scratch + sumsOffset, to: output)
        continue
      }
      for (index, run) in plan.runs.enumerated() {
        let column = run.first &* c.strideWidth &- c.paddingLeft
        arguments.rows = column &* pixelByteCount &+ firstByte
        arguments.output = unsafe Int(bitPattern: output + run.first &* pixelByteCount + firstByte)
        arguments.blocks = run.blockCount
        runFunctions.call(rows: index, columns: 0, &arguments)
      }
    }
  }

  var paddingByte: UInt8 {
    guard let operands = scheme.operands else { return 0 }
    return UInt8(truncatingIfNeeded: operands.lhsZeroPoint) ^ operands.signFlip
  }

  /// A line whose sums may be too great for generated code, which hardly any model has.
  private func finishInSwift(
    _ packed: PackedWeights, rows: UnsafePointer<Int>, blocks: Range<Int>, sums: UnsafeMutableRawPointer,
    to output: UnsafeMutableRawPointer
  ) {
    let c = convolution
    let isSigned = scheme.operands?.signFlip != 0
    let lanes = unsafe sums.assumingMemoryBound(to: Int32.self)
    for block in blocks {
      let channel = block &* 8
      let weights = unsafe packed.address + GeneratedWeights.record(packed, block).weights
      for column in 0..<c.outputWidth {
        unsafe lanes.update(repeating: 0, count: 8)
        for tap in 0..<plan.tapCount {
          let (row, tapColumn) = tap.quotientAndRemainder(dividingBy: c.filterWidth)
          let x = column &* c.strideWidth &- c.paddingLeft &+ tapColumn &* c.dilationWidth
          // The last of the rows is a pixel of padding.
          let isInside = x >= 0 && x < c.inputWidth
          let place =
            unsafe isInside ? rows[row] &+ x &* plan.pixelByteCount &+ channel : rows[c.filterHeight]
          guard let pixel = UnsafePointer<UInt8>(bitPattern: place) else { continue }
          let group = unsafe weights + (row / 2 &* c.filterWidth &+ tapColumn) &* 32 + row % 2 &* 2
          for lane in 0..<8 {
            let byte = unsafe pixel[lane]
            let value = isSigned ? Int32(Int8(bitPattern: byte)) : Int32(byte)
            let weight = unsafe group.load(fromByteOffset: 4 &* lane, as: Int16.self)
            unsafe lanes[lane] &+= value &* Int32(weight)
          }
        }
        unsafe scheme.finish(
          sums, rows: 1, columns: plan.columns,
          offsets: Int(bitPattern: packed.address + weightPacking.offsets(block: block)), channel: channel,
          channels: plan.channels, count: 8, to: output + column &* plan.pixelByteCount + channel,
          outputStride: plan.pixelByteCount)
      }
    }
  }
}
