// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime
import ApusSystem

/// A copy of elements between two tensors, each with its own strides.
///
/// Transposing, slicing, splitting, concatenating, tiling, broadcasting and reversing are such copies: a
/// stride of zero repeats, a negative one reverses. Dimensions that are contiguous on both sides are merged,
/// and a run of bytes that is contiguous on both sides is copied as a whole.
package final class StridedCopy: Sendable {
  /// One loop of the copy; strides in bytes.
  struct Loop: Sendable {
    var count: Int
    var source: Int
    var destination: Int
  }

  /// Bytes that are contiguous on both sides.
  private let run: Int
  /// The loops, outermost first.
  private let loops: [Loop]
  private let sourceOffset: Int
  private let destinationOffset: Int
  private let sourceEnd: Int
  private let destinationEnd: Int
  private let isEmpty: Bool
  /// The number of tiles on one thread.
  private let tiles: Int
  /// How many runs are copied between two questions whether to stop: some megabytes.
  private var unitsAtOnce: Int { max(1, (1 << 22) / run) }
  /// Iterations of the first loop that stay in one tile.
  private let unit: Int
  private let byteCount: Int
  /// Code that transposes the two inner loops; nil for plain Swift.
  private let transposition: TranspositionCode?
  /// How the code of a transposition was chosen; nil for a copy that is none.
  package let choice: KernelChoice?
  /// Copies up to this size run on the calling thread, and are transposed in plain Swift.
  private static let smallByteCount = 1 << 12

  /// Copies a block of `dimensions`; strides and offsets are in elements. nil if an address would be negative
  /// or overflow. A kernel set may have code for transpositions.
  package init?(
    elementByteCount: Int, dimensions: [Int], sourceStrides: [Int], sourceOffset: Int = 0,
    destinationStrides: [Int], destinationOffset: Int = 0, using set: KernelSet = .portable
  ) {
    guard elementByteCount > 0, dimensions.count == sourceStrides.count,
      dimensions.count == destinationStrides.count, dimensions.allSatisfy({ $0 >= 0 })
    else { return nil }
    isEmpty = dimensions.contains(0)
    var loops: [Loop] = []
    var run = elementByteCount
    guard !isEmpty else {
      (self.run, self.loops, self.sourceOffset, self.destinationOffset) = (run, loops, 0, 0)
      (sourceEnd, destinationEnd, tiles, unit, byteCount) = (0, 0, 0, 1, 0)
      (transposition, choice) = (nil, nil)
      return
    }
    guard
      let source = Self.reach(dimensions, sourceStrides, from: sourceOffset, width: elementByteCount),
      let destination = Self.reach(
        dimensions, destinationStrides, from: destinationOffset, width: elementByteCount)
    else { return nil }
    // The products below cannot overflow, since the whole reach does not.
    (sourceEnd, destinationEnd) = (source, destination)
    self.sourceOffset = sourceOffset * elementByteCount
    self.destinationOffset = destinationOffset * elementByteCount
    for axis in dimensions.indices.reversed() where dimensions[axis] > 1 {
      let loop = Loop(
        count: dimensions[axis], source: sourceStrides[axis] * elementByteCount,
        destination: destinationStrides[axis] * elementByteCount)
      if loops.isEmpty, loop.source == run, loop.destination == run {
        run *= loop.count
      } else if let inner = loops.last, loop.source == inner.source * inner.count,
        loop.destination == inner.destination * inner.count
      {
        loops[loops.count - 1].count *= loop.count
      } else {
        loops.append(loop)
      }
    }
    loops.reverse()
    // If single elements are gathered, the loop that reads the source contiguously becomes the second
    // innermost, so that small blocks of both sides stay in the cache.
    if let last = loops.last, last.source != run, loops.count > 2,
      let walk = loops.dropLast().firstIndex(where: { $0.source == run })
    {
      let loop = loops.remove(at: walk)
      loops.insert(loop, at: loops.count - 1)
    }
    self.run = run
    self.loops = loops
    byteCount = loops.reduce(run) { $0 * $1.count }
    if byteCount > Self.smallByteCount, TranspositionCode.serves(loops, width: run) {
      let chosen = set.choose(otherwise: nil as TranspositionCode?) { [run] set throws(Decline) in
        try set.generatedKernels().transposition(width: run)
      }
      (transposition, choice) = (chosen.kernel, chosen.choice)
    } else {
      (transposition, choice) = (nil, nil)
    }
    // One thread transposes a matrix as one tile. For several, tiles are whole cache lines, because sharing
    // those costs more than it gains. In other copies, gathered elements cost more than long runs.
    let isMatrix =
      loops.count == 2 && run <= 16 && loops[0].source == run && loops[1].source > run
    let lines = 64 / max(1, min(run, 64))
    unit = isMatrix && loops[0].count >= 4 * lines ? lines : 1
    tiles =
      loops.isEmpty || isMatrix ? 1 : max(1, min(loops[0].count, byteCount >> (run < 64 ? 16 : 18)))
  }

  /// One past the last byte that is accessed; nil if it overflows or goes below zero.
  private static func reach(_ dimensions: [Int], _ strides: [Int], from offset: Int, width: Int) -> Int? {
    var least = offset
    var most = offset
    for (count, stride) in zip(dimensions, strides) {
      let (span, overflow) = stride.multipliedReportingOverflow(by: count - 1)
      guard !overflow else { return nil }
      let (sum, carry) = (span < 0 ? least : most).addingReportingOverflow(span)
      guard !carry else { return nil }
      if span < 0 { least = sum } else { most = sum }
    }
    let (end, overflow) = most.multipliedReportingOverflow(by: width)
    guard least >= 0, !overflow, end <= .max / 2 else { return nil }
    return end + width
  }

  /// Copies; both spans must cover all accessed bytes.
  ///
  /// - Parameter shift: bytes by which the destination is moved.
  package func run(
    _ source: RawSpan, to destination: inout MutableRawSpan, shift: Int = 0, threads: ThreadTeam
  ) {
    guard !isEmpty else { return }
    precondition(
      shift >= 0 && source.byteCount >= sourceEnd && destination.byteCount - shift >= destinationEnd)
    if transposition != nil { ExecutableMemory.seal() }
    unsafe withAddresses(source, &destination) { source, destination in
      if loops.isEmpty, byteCount <= Self.smallByteCount {
        unsafe (destination + (destinationOffset &+ shift)).copyMemory(
          from: source + sourceOffset, byteCount: run)
        return
      }
      unsafe loops.withUnsafeBufferPointer { loops in
        // A single run is cut between cache lines.
        let rows = loops.isEmpty ? run / 64 : unsafe ceilingQuotient(loops[0].count, unit)
        let tiles = threads.tileCount(rows: rows, bytes: byteCount, alone: tiles)
        let work = unsafe Work(
          loops: loops, run: run, unitsAtOnce: unitsAtOnce, transposition: transposition, tiles: tiles,
          unit: unit, threads: threads, source: source + sourceOffset,
          destination: destination + (destinationOffset + shift))
        threads.run(tiles: tiles, work)
      }
    }
  }

  /// The number of rows if there is exactly one loop; otherwise nil.
  package var rowCount: Int? { loops.count == 1 ? loops[0].count : nil }
  /// The bytes of a row.
  package var rowByteCount: Int { run }

  /// Copies some of ``rowCount`` rows, on the calling thread.
  package func run(_ source: RawSpan, rows: Range<Int>, to destination: inout MutableRawSpan) {
    guard !isEmpty, let count = rowCount else { return }
    precondition(rows.lowerBound >= 0 && rows.upperBound <= count)
    precondition(source.byteCount >= sourceEnd && destination.byteCount >= destinationEnd)
    var loop = loops[0]
    loop.count = rows.count
    unsafe withAddresses(source, &destination) { source, destination in
      unsafe copyUnits(
        loop, run: run, source + (sourceOffset &+ rows.lowerBound &* loop.source),
        destination + (destinationOffset &+ rows.lowerBound &* loop.destination))
    }
  }

  /// The tiles of one run; its pointers are valid during that call only.
  @safe private struct Work: TileWork {
    static var mayStop: Bool { true }

    let loops: UnsafeBufferPointer<Loop>
    let run: Int
    let unitsAtOnce: Int
    let transposition: TranspositionCode?
    let tiles: Int
    let unit: Int
    let threads: ThreadTeam
    let source: UnsafeRawPointer
    let destination: UnsafeMutableRawPointer

    func run(tile: Int, worker: Int) {
      var poll = StopPoll(threads)
      guard tiles > 1 else { return unsafe copy(0, source, destination, &poll) }
      guard unsafe !loops.isEmpty else {
        let lines = share(of: run / 64, tile: tile, of: tiles)
        let first = lines.lowerBound &* 64
        let end = tile == tiles &- 1 ? run : lines.upperBound &* 64
        return unsafe copyBytes(end &- first, source + first, destination + first, &poll)
      }
      let outer = unsafe loops[0]
      let units = share(of: ceilingQuotient(outer.count, unit), tile: tile, of: tiles)
      let range = units.lowerBound &* unit..<min(units.upperBound &* unit, outer.count)
      unsafe copy(
        0, source + outer.source &* range.lowerBound, destination + outer.destination &* range.lowerBound,
        count: range.count, &poll)
    }

    private func copy(
      _ depth: Int, _ source: UnsafeRawPointer, _ destination: UnsafeMutableRawPointer, _ poll: inout StopPoll
    ) {
      guard unsafe depth < loops.count else { return unsafe copyBytes(run, source, destination, &poll) }
      unsafe copy(depth, source, destination, count: loops[depth].count, &poll)
    }

    private func copy(
      _ depth: Int, _ source: UnsafeRawPointer, _ destination: UnsafeMutableRawPointer, count: Int,
      _ poll: inout StopPoll
    ) {
      let loop = unsafe Loop(
        count: count, source: loops[depth].source, destination: loops[depth].destination)
      if unsafe depth == loops.count &- 1 {
        return unsafe copyLoop(loop, source, destination, &poll)
      }
      if unsafe depth == loops.count &- 2, unsafe loop.source == run && loops[depth &+ 1].source != run {
        return unsafe transpose(loop, loops[depth &+ 1], source, destination, &poll)
      }
      for index in 0..<count {
        if poll.mustStop(before: 1) { return }
        unsafe copy(
          depth &+ 1, source + index &* loop.source, destination + index &* loop.destination, &poll)
      }
    }

    /// Copies bytes that are contiguous on both sides.
    private func copyBytes(
      _ count: Int, _ source: UnsafeRawPointer, _ destination: UnsafeMutableRawPointer, _ poll: inout StopPoll
    ) {
      var first = 0
      while first < count {
        if poll.mustStop(before: (count &- first) / 16) { return }
        // Large parts, which are copied past the caches.
        let part = min(count &- first, 1 << 26)
        unsafe (destination + first).copyMemory(from: source + first, byteCount: part)
        first &+= part
      }
    }

    /// Copies units along the innermost loop, some at a time.
    private func copyLoop(
      _ loop: Loop, _ source: UnsafeRawPointer, _ destination: UnsafeMutableRawPointer, _ poll: inout StopPoll
    ) {
      if loop.count <= unitsAtOnce, unitsAtOnce > 1 {
        if poll.mustStop(before: loop.count) { return }
        return unsafe copyUnits(loop, run: run, source, destination)
      }
      var first = 0
      while first < loop.count {
        let (from, to) = unsafe (source + first &* loop.source, destination + first &* loop.destination)
        if unitsAtOnce == 1 {
          unsafe copyBytes(run, from, to, &poll)
          first &+= 1
          if poll.mustStop(before: 1) { return }
          continue
        }
        if poll.mustStop(before: unitsAtOnce) { return }
        var part = loop
        part.count = min(unitsAtOnce, loop.count &- first)
        unsafe copyUnits(part, run: run, from, to)
        first &+= part.count
      }
    }

    /// Copies units along the two inner loops, a part of some millions at a time.
    private func transpose(
      _ outer: Loop, _ inner: Loop, _ source: UnsafeRawPointer, _ destination: UnsafeMutableRawPointer,
      _ poll: inout StopPoll
    ) {
      let most = 1 << 22
      if outer.count &* inner.count <= most {
        if poll.mustStop(before: outer.count &* inner.count) { return }
        return unsafe transposeUnits(outer, inner, run: run, transposition, source, destination)
      }
      // Parts are wide on both sides, and but for the last made up of whole lines.
      let columns = min(inner.count, max(1 << 10, most / outer.count & ~63))
      let rows = min(outer.count, max(64, most / columns & ~63))
      var (outerPart, innerPart) = (outer, inner)
      for row in stride(from: 0, to: outer.count, by: rows) {
        outerPart.count = min(rows, outer.count &- row)
        for column in stride(from: 0, to: inner.count, by: columns) {
          if poll.mustStop(before: most) { return }
          innerPart.count = min(columns, inner.count &- column)
          unsafe transposeUnits(
            outerPart, innerPart, run: run, transposition,
            source + (row &* outer.source &+ column &* inner.source),
            destination + (row &* outer.destination &+ column &* inner.destination))
        }
      }
    }
  }
}

/// The size from which a repeated unit is copied rather than stored again and again.
private let repeatedByteCount = 1 << 12

/// Copies units of `run` bytes along one loop.
func copyUnits(
  _ loop: StridedCopy.Loop, run: Int, _ source: UnsafeRawPointer, _ destination: UnsafeMutableRawPointer
) {
  switch run {
  case 1 where loop.source == 0 && loop.destination == 1:
    unsafe memset(destination, Int32(source.load(as: UInt8.self)), loop.count)
  case 1: unsafe copyUnits(UInt8.self, loop, source, destination)
  case 2: unsafe copyUnits(UInt16.self, loop, source, destination)
  case 4: unsafe copyUnits(UInt32.self, loop, source, destination)
  case 8: unsafe copyUnits(UInt64.self, loop, source, destination)
  case 12:
    unsafe copyUnits(UInt64.self, loop, source, destination)
    unsafe copyUnits(UInt32.self, loop, source + 8, destination + 8)
  case 16: unsafe copyUnits(SIMD2<UInt64>.self, loop, source, destination)
  case 32...256 where run & 15 == 0:
    // A call for each unit would cost more than the copy.
    for index in 0..<loop.count {
      let (from, to) = unsafe (source + index &* loop.source, destination + index &* loop.destination)
      var offset = 0
      while offset < run {
        let part = unsafe from.loadUnaligned(fromByteOffset: offset, as: SIMD2<UInt64>.self)
        unsafe to.storeBytes(of: part, toByteOffset: offset, as: SIMD2<UInt64>.self)
        offset &+= 16
      }
    }
  default:
    for index in 0..<loop.count {
      unsafe (destination + index &* loop.destination).copyMemory(
        from: source + index &* loop.source, byteCount: run)
    }
  }
}

@inline(__always)
private func copyUnits<T: BitwiseCopyable>(
  _ type: T.Type, _ loop: StridedCopy.Loop, _ source: UnsafeRawPointer,
  _ destination: UnsafeMutableRawPointer
) {
  let width = MemoryLayout<T>.size
  if loop.source == 0, loop.destination == width {
    // Copies are fast in debug builds, too, whose code calls functions for each element.
    if loop.count &* width >= repeatedByteCount {
      return unsafe fillMemory(destination, byteCount: loop.count &* width, with: source, width: width)
    }
    let value = unsafe source.loadUnaligned(as: T.self)
    for index in 0..<loop.count {
      unsafe destination.storeBytes(of: value, toByteOffset: index &* width, as: T.self)
    }
  } else if loop.destination == width {
    for index in 0..<loop.count {
      let value = unsafe source.loadUnaligned(fromByteOffset: index &* loop.source, as: T.self)
      unsafe destination.storeBytes(of: value, toByteOffset: index &* width, as: T.self)
    }
  } else {
    for index in 0..<loop.count {
      let value = unsafe source.loadUnaligned(fromByteOffset: index &* loop.source, as: T.self)
      unsafe destination.storeBytes(of: value, toByteOffset: index &* loop.destination, as: T.self)
    }
  }
}

/// Copies units of `run` bytes along two loops, in blocks that keep both sides in the first-level cache.
private func transposeUnits(
  _ outer: StridedCopy.Loop, _ inner: StridedCopy.Loop, run: Int, _ transposition: TranspositionCode?,
  _ source: UnsafeRawPointer, _ destination: UnsafeMutableRawPointer
) {
  // A few long walks cost less than many short ones.
  if inner.count < 8, outer.count > inner.count {
    for index in 0..<inner.count {
      unsafe copyUnits(
        outer, run: run, source + index &* inner.source, destination + index &* inner.destination)
    }
    return
  }
  if let transposition,
    unsafe transposition.transpose(outer, inner, source, destination)
  {
    return
  }
  if outer.source == run, inner.destination == run,
    unsafe transposeSquares(outer, inner, width: run, source, destination)
  {
    return
  }
  let block = 32
  var row = 0
  while row < outer.count {
    let rows = min(block, outer.count &- row)
    var column = 0
    while column < inner.count {
      let columns = min(block, inner.count &- column)
      let loop = StridedCopy.Loop(count: columns, source: inner.source, destination: inner.destination)
      for index in row..<row &+ rows {
        unsafe copyUnits(
          loop, run: run, source + (index &* outer.source &+ column &* inner.source),
          destination + (index &* outer.destination &+ column &* inner.destination))
      }
      column &+= columns
    }
    row &+= rows
  }
}
