// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// Bytes that are read in place, except for the columns at the edges of the image, which need padding and are
/// gathered.
extension DepthwiseKernel {
  /// Computes lines of some blocks of channels. Rows in the padding are read from a row of zero points.
  func runInterior(
    _ work: Work, _ packed: PackedWeights, _ code: EpilogueCode, image: Int, lines: Range<Int>,
    blocks: Range<Int>,
    scratch: UnsafeMutableRawPointer
  ) {
    let c = convolution
    let (channels, first) = (plan.channels, blocks.lowerBound)
    let inside = plan.linesInside(lines)
    let paddingRow = unsafe scratch + paddingRowOffset
    if inside != lines {
      unsafe paddingRow.initializeMemory(
        as: UInt8.self, repeating: paddingByte, count: plan.paddingRowByteCount)
    }
    let edgeByteCount = plan.planeRows &* plan.edgeRowByteCount
    for edge in 0..<plan.edgeCount {
      let column = plan.edgeColumn(edge) &* c.strideWidth
      unsafe edgeGathering.gather(
        work.memory.input, image: image, lines: lines, columns: column..<column &+ convolution.reachWidth,
        firstChannel: first &* plan.blockChannels, to: scratch + edge &* edgeByteCount)
    }
    let list = unsafe (scratch + tapListOffset).assumingMemoryBound(to: Int.self)
    let rowByteCount = c.inputWidth &* channels
    let start = plan.interior.lowerBound &* c.strideWidth &- c.paddingLeft
    for block in blocks {
      let record = WeightTerms.record(packed, block)
      let byte = block &* plan.blockChannels
      let valid = plan.validChannels(block: block, pixels: 1)
      var arguments = arguments(
        record, packed, code, block: block, rowStride: channels, outputStride: channels)
      arguments.tapCount = plan.groupCount &+ record.extraCount
      arguments.lineStride = c.strideHeight &* rowByteCount
      arguments.outputLineStride = c.outputWidth &* channels
      func output(line: Int, column: Int) -> Int {
        let pixel = (image &* c.outputHeight &+ line) &* c.outputWidth &+ column
        return unsafe Int(bitPattern: work.memory.output + pixel &* channels + byte)
      }

      var line = lines.lowerBound
      while line < lines.upperBound {
        let isInside = inside.contains(line)
        let top = line &* c.strideHeight &- c.paddingTop
        let origin = ((image &* c.inputHeight &+ top) &* c.inputWidth &+ start) &* channels
        arguments.rows = unsafe Int(bitPattern: work.memory.input) &+ origin &+ byte
        arguments.output = output(line: line, column: plan.interior.lowerBound)
        if isInside {
          arguments.taps = unsafe tapAddress(record, packed, interior(.input), list: list)
        } else {
          let away = unsafe Int(bitPattern: paddingRow) &- Int(bitPattern: work.memory.input) &- origin
          unsafe listTaps(top: top, padding: away, to: list)
          arguments.taps = unsafe tapAddress(record, packed, list, list: list)
        }
        let count = isInside ? inside.upperBound &- line : 1
        runLines(&arguments, code, count, .whole, valid: valid)
        line &+= count
      }

      guard plan.edgeCount > 0 else { continue }
      arguments.rowStride = plan.chunkChannels
      arguments.lineStride = c.strideHeight &* plan.edgeRowByteCount
      arguments.taps = unsafe tapAddress(record, packed, interior(.edge), list: list)
      for edge in 0..<plan.edgeCount {
        arguments.rows =
          unsafe Int(bitPattern: scratch + edge &* edgeByteCount) &+ (block &- first) &* plan.blockChannels
        arguments.output = output(line: lines.lowerBound, column: plan.edgeColumn(edge))
        runLines(&arguments, code, lines.count, .last, valid: valid)
      }
    }
  }

  /// The address of a tap list: `taps`, or if the block has extra groups, a copy in `list` with theirs at the
  /// end.
  private func tapAddress(
    _ record: WeightTerms.Record, _ packed: PackedWeights, _ taps: UnsafePointer<Int>,
    list: UnsafeMutablePointer<Int>
  ) -> Int {
    guard record.extraCount > 0 else { return Int(bitPattern: taps) }
    unsafe listTaps(record, packed, taps, to: list)
    return Int(bitPattern: list)
  }

  /// The lists about taps that reading in place needs.
  enum InteriorList: Int, CaseIterable {
    /// The offsets of taps in the input, and in the gathered pixels of a column at an edge.
    case input, edge
    /// The row of each tap below a line's first row, and the offset of each tap in its row.
    case row, place
  }

  private func interior(_ list: InteriorList) -> UnsafeMutablePointer<Int> {
    unsafe taps + (1 &+ list.rawValue) &* tapListLength
  }

  /// Fills the lists about taps. A group's missing taps have weight 0 and are in no row of the input.
  func fillInteriorTaps() {
    let c = convolution
    for index in 0..<tapListLength {
      let (group, part) = index.quotientAndRemainder(dividingBy: plan.tapsPerGroup)
      let tap = plan.tap(group: group, index: part)
      let (row, column) = (tap ?? 0).quotientAndRemainder(dividingBy: c.filterWidth)
      let (y, x) = (row * c.dilationHeight, column * c.dilationWidth)
      unsafe interior(.input)[index] = (y * c.inputWidth + x) * plan.channels
      unsafe interior(.edge)[index] = y * plan.edgeRowByteCount + x * plan.chunkChannels
      unsafe interior(.row)[index] = tap == nil ? 1 << 40 : y
      unsafe interior(.place)[index] = x * plan.channels
    }
  }

  /// Lists the offsets of all taps for a line whose first row is row `top` of the input. Taps in rows outside
  /// the image get offsets in the row of padding, which is `padding` bytes after the line's first row.
  private func listTaps(top: Int, padding: Int, to list: UnsafeMutablePointer<Int>) {
    let rows = 0..<convolution.inputHeight
    for index in 0..<tapListLength {
      let exists = unsafe rows.contains(top &+ interior(.row)[index])
      unsafe list[index] = exists ? interior(.input)[index] : padding &+ interior(.place)[index]
    }
  }
}
