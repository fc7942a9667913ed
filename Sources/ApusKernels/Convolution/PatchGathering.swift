// SPDX-License-Identifier: Apache-2.0

/// Gathers the input elements under the filter into rows of a matrix (im2col), converted to lanes.
struct PatchGathering<Conversion: LaneConversion> {
  private let convolution: Convolution
  private let conversion: Conversion
  /// Whether a whole filter row is contiguous in the input.
  private let runsAreFilterRows: Bool

  init(_ convolution: Convolution, _ conversion: Conversion) {
    self.convolution = convolution
    self.conversion = conversion
    runsAreFilterRows = convolution.dilationWidth == 1 && convolution.groups == 1
  }

  /// Writes the range `depth` of K of each of `rows` to `lanes`, one row every `stride` lanes; the lanes
  /// between a row's end and the next row's start become zero.
  func gather(
    rows: Range<Int>, depth: Range<Int>, group: Int, from input: UnsafeRawPointer,
    to lanes: UnsafeMutablePointer<Conversion.Lane>, stride: Int, zero: Conversion.Lane
  ) {
    let width = convolution.outputWidth
    let height = convolution.outputHeight
    var column = rows.lowerBound % width
    var line = rows.lowerBound / width % height
    var batch = rows.lowerBound / width / height
    var destination = unsafe lanes
    for _ in rows {
      unsafe gatherRow(
        batch: batch, line: line, column: column, depth: depth, group: group, from: input, to: destination)
      var index = depth.count
      while index < stride {
        unsafe destination[index] = zero
        index &+= 1
      }
      unsafe destination += stride
      column &+= 1
      if column == width {
        column = 0
        line &+= 1
        if line == height {
          line = 0
          batch &+= 1
        }
      }
    }
  }

  @inline(__always)
  private func gatherRow(
    batch: Int, line: Int, column: Int, depth: Range<Int>, group: Int, from input: UnsafeRawPointer,
    to lanes: UnsafeMutablePointer<Conversion.Lane>
  ) {
    let channels = convolution.channelsPerGroup
    let runsPerLine = runsAreFilterRows ? 1 : convolution.filterWidth
    let runTaps = runsAreFilterRows ? convolution.filterWidth : 1
    let runCount = runTaps &* channels
    let x0 = column &* convolution.strideWidth &- convolution.paddingLeft
    let y0 = line &* convolution.strideHeight &- convolution.paddingTop
    // Updated incrementally from run to run, without divisions: runs are often short.
    let firstRun = depth.lowerBound == 0 ? 0 : depth.lowerBound / runCount
    var runInLine = firstRun == 0 ? 0 : firstRun % runsPerLine
    var y = y0 &+ (firstRun == 0 ? 0 : firstRun / runsPerLine) &* convolution.dilationHeight
    var base = firstRun &* runCount
    var position = depth.lowerBound
    while position < depth.upperBound {
      let start = position &- base
      let end = min(runCount, depth.upperBound &- base)
      let x = x0 &+ runInLine &* convolution.dilationWidth
      let destination = unsafe lanes + (position &- depth.lowerBound)
      // The part of this run inside the input.
      var first = start
      var last = start
      if y >= 0, y < convolution.inputHeight {
        let inside = max(0, min(runTaps, convolution.inputWidth &- x)) &* channels
        first = min(max(start, max(0, min(runTaps, 0 &- x)) &* channels), end)
        last = max(first, min(end, inside))
      }
      unsafe fill(destination, count: first &- start)
      if last > first {
        let line = (batch &* convolution.inputHeight &+ y) &* convolution.inputWidth
        let offset =
          line &* convolution.inputChannels &+ x &* convolution.inputChannels &+ group &* channels &+ first
        unsafe conversion.convert(
          input + offset &* Conversion.elementByteCount, to: destination + (first &- start),
          count: last &- first)
      }
      unsafe fill(destination + (last &- start), count: end &- last)
      position = base &+ end
      base &+= runCount
      runInLine &+= 1
      if runInLine == runsPerLine {
        runInLine = 0
        y &+= convolution.dilationHeight
      }
    }
  }

  @inline(__always)
  private func fill(_ lanes: UnsafeMutablePointer<Conversion.Lane>, count: Int) {
    var index = 0
    while index < count {
      unsafe lanes[index] = conversion.padding
      index &+= 1
    }
  }
}
