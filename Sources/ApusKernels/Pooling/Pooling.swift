// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// A pooling layer: one value per channel for each position of a window over an NHWC tensor.
package struct Pooling: Sendable {
  /// How the values in a window are combined.
  package enum Kind: Sendable {
    /// Mean; for integers rounded to nearest, halves away from zero.
    case average
    /// Maximum.
    case maximum
    /// The square root of the mean of squares; floats only.
    case l2
  }

  /// The type of the values, and the bounds of the result.
  package enum Elements: Sendable {
    case float32(minimum: Float, maximum: Float)
    case integer(ScalarType, minimum: Int32, maximum: Int32)
  }

  let kind: Kind
  let elements: Elements
  let channels: Int
  let vertical: WindowAxis
  let horizontal: WindowAxis
  private let inputCount: Int
  private let outputCount: Int
  private let rows: Int
  /// The number of tiles on one thread.
  private let tiles: Int
  /// The size of the input.
  private let inputByteCount: Int
  private let width: Int
  /// Generated code; nil for plain Swift.
  private var generated: GeneratedPooling?
  /// Which kernel set was chosen, and why.
  package private(set) var choice = KernelChoice.plain

  /// The maximum number of rows or columns of the output.
  package static let maximumSize = 1 << 24

  /// Plans a pooling layer with a kernel set's code, or plain Swift if it has none. nil if a window contains
  /// no value, or there are too many windows.
  package init?(
    kind: Kind, elements: Elements, batches: Int, vertical: WindowAxis, horizontal: WindowAxis,
    channels: Int, using set: KernelSet = .portable
  ) {
    self.kind = kind
    self.elements = elements
    self.channels = channels
    self.vertical = vertical
    self.horizontal = horizontal
    outputCount = batches &* vertical.places &* horizontal.places &* channels
    guard vertical.places <= Self.maximumSize, horizontal.places <= Self.maximumSize else { return nil }
    let (rowTaps, columnTaps) = (PoolingTaps(axis: vertical), PoolingTaps(axis: horizontal))
    guard rowTaps.areAllSome, columnTaps.areAllSome else { return nil }
    switch elements {
    case .float32: width = 4
    case .integer(let type, _, _): width = type.byteCount
    }
    // The tensor's element count, which wraps only if a size is zero.
    inputCount = batches &* vertical.size &* horizontal.size &* channels
    rows = batches &* vertical.places
    let work = Double(outputCount) * Double(rowTaps.first?.count ?? 0) * Double(columnTaps.first?.count ?? 0)
    tiles = outputCount == 0 ? 0 : work > 200_000 ? rows : 1
    inputByteCount = Int(min(max(work, 0), 0x1p40)) * width
    // If one size is zero, the others are unlimited.
    guard batches > 0, tiles > 0 else { return }
    (generated, choice) = set.choose(otherwise: nil) { [self] set throws(Decline) in
      try GeneratedPooling(self, using: set.generatedKernels())
    }
  }

  /// The implementation in the output of `apus inspect --plan`.
  package var implementation: String { generated?.implementation ?? "portable loops over each window" }

  /// The scratch memory that a run needs.
  package func scratchByteCount(threads: Int) -> Int { threads * (generated?.scratchByteCount ?? 0) }

  /// Pools; the spans must be as large as the tensors, and as ``scratchByteCount(threads:)`` says.
  package func run(
    _ input: RawSpan, to output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam
  ) {
    precondition(scratch.byteCount >= scratchByteCount(threads: threads.count))
    unsafe scratch.withUnsafeMutableBytes { memory in
      unsafe run(input, to: &output, memory.baseAddress, threads)
    }
  }

  /// Pools without scratch memory, if ``scratchByteCount(threads:)`` is 0.
  package func run(_ input: RawSpan, to output: inout MutableRawSpan, threads: ThreadTeam) {
    precondition(scratchByteCount(threads: 1) == 0)
    unsafe run(input, to: &output, nil, threads)
  }

  private func run(
    _ input: RawSpan, to output: inout MutableRawSpan, _ scratch: UnsafeMutableRawPointer?,
    _ threads: ThreadTeam
  ) {
    precondition(input.byteCount >= inputCount * width && output.byteCount >= outputCount * width)
    guard tiles > 0 else { return }
    if generated != nil { ExecutableMemory.seal() }
    unsafe withAddresses(input, &output) { input, output in
      unsafe withUnsafePointer(to: self) { owner in
        let tiles = threads.tileCount(rows: rows, bytes: inputByteCount, alone: tiles)
        unsafe threads.run(
          tiles: tiles,
          Work(
            owner: owner, tiles: tiles, threads: threads, input: input, output: output,
            scratch: scratch ?? output))
      }
    }
  }

  /// The tiles of one run; its pointers are valid during that call only.
  @safe private struct Work: TileWork {
    static var mayStop: Bool { true }

    let owner: UnsafePointer<Pooling>
    let tiles: Int
    let threads: ThreadTeam
    let input: UnsafeRawPointer
    let output: UnsafeMutableRawPointer
    /// Without scratch memory, no code writes to it.
    let scratch: UnsafeMutableRawPointer

    func run(tile: Int, worker: Int) {
      let range = unsafe share(of: owner.pointee.rows, tile: tile, of: tiles)
      guard let generated = unsafe owner.pointee.generated else {
        return unsafe owner.pointee.poolRows(self, range)
      }
      unsafe generated.run(
        input, to: output, rows: range, scratch: scratch + worker &* generated.scratchByteCount,
        threads: threads)
    }
  }

  /// The taps of each row of the output.
  var rowTaps: PoolingTaps { PoolingTaps(axis: vertical) }
  /// The taps of each column of the output.
  var columnTaps: PoolingTaps { PoolingTaps(axis: horizontal) }

  /// The image of a row of the output, and the rows of the input in its windows.
  func window(row: Int) -> (image: Int, taps: PoolingTaps.Taps) {
    let (image, line) = row.quotientAndRemainder(dividingBy: vertical.places)
    return (image, rowTaps[line])
  }

  private func poolRows(_ work: Work, _ range: Range<Int>) {
    var poll = StopPoll(work.threads)
    for row in range {
      let (batch, rowTaps) = window(row: row)
      for column in 0..<horizontal.places {
        let columnTaps = columnTaps[column]
        let line = batch &* vertical.size &+ rowTaps.first
        let first = (line &* horizontal.size &+ columnTaps.first) &* channels
        let source = unsafe work.input + first &* width
        let destination = unsafe work.output + (row &* horizontal.places &+ column) &* channels &* width
        let window = PoolingWindow(
          rows: rowTaps.count, columns: columnTaps.count, rowStride: horizontal.size &* channels,
          channels: channels)
        if poll.mustStop(before: window.count &* channels) { return }
        switch elements {
        case .float32(let minimum, let maximum):
          unsafe window.poolFloats(kind, source, to: destination, minimum: minimum, maximum: maximum)
        case .integer(.int16, let minimum, let maximum):
          unsafe window.poolWords(kind, source, to: destination, minimum: minimum, maximum: maximum)
        case .integer(let integer, let minimum, let maximum):
          unsafe window.poolBytes(
            kind, source, to: destination, isSigned: integer == .int8, minimum: minimum, maximum: maximum)
        }
      }
    }
  }
}
