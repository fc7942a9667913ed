// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// A reduction of a tensor along some axes.
package struct Reduction: Sendable {
  /// How values are combined.
  package enum Kind: Sendable {
    /// Wrapping sum; "or" for Booleans.
    case sum
    /// Wrapping product; "and" for Booleans.
    case product
    case maximum
    case minimum
  }

  /// Neighboring axes that are all kept or all reduced, merged into one; reduced ones have an output stride
  /// of 0.
  struct Axis: Sendable {
    var count: Int
    let isFolded: Bool
    var inputStride = 1
    var outputStride = 0
  }

  /// The axes, outermost first; elements of the last are contiguous.
  let axes: [Axis]
  private let inputCount: Int
  /// The number of results.
  package let outputCount: Int
  private let tiles: Int
  /// The number of parts of the rows that are summed separately, if all rows are summed into one.
  package let rowParts: Int

  /// Plans the reduction of a tensor along the axes marked in `isFolded`.
  package init(dimensions: [Int], isFolded: [Bool]) {
    precondition(dimensions.count == isFolded.count)
    var axes: [Axis] = []
    for (count, folds) in zip(dimensions, isFolded) where count != 1 {
      if let last = axes.last, last.isFolded == folds {
        axes[axes.count - 1].count &*= count
      } else {
        axes.append(Axis(count: count, isFolded: folds))
      }
    }
    if axes.isEmpty { axes.append(Axis(count: 1, isFolded: false)) }
    var (input, output) = (1, 1)
    for index in axes.indices.reversed() {
      axes[index].inputStride = input
      input &*= axes[index].count
      guard !axes[index].isFolded else { continue }
      axes[index].outputStride = output
      output &*= axes[index].count
    }
    self.axes = axes
    inputCount = input
    outputCount = output
    // If the first axis is reduced, threads share the columns of the second, unless there are more axes.
    let parts = !axes[0].isFolded ? axes[0].count : axes.count == 2 ? axes[1].count / 64 : 1
    tiles = max(1, min(parts, input >> 15))
    let isColumns = axes.count == 2 && axes[0].isFolded
    rowParts = isColumns ? max(1, min(axes[0].count, 8, (input >> 15) * 2)) : 1
  }

  /// The number of sums that ``sum(_:_:to:threads:)`` writes: the results, followed by partial sums.
  package var sumCount: Int { outputCount * rowParts }

  /// Reduces values to results of equal type.
  ///
  /// - Parameter startsWithFirst: starts a maximum or minimum from the first value, which then need not be
  ///   finite.
  package func run(
    _ kind: Kind, _ elements: ScalarType, _ input: RawSpan, to output: inout MutableRawSpan,
    startsWithFirst: Bool,
    threads: ThreadTeam
  ) {
    switch elements {
    case .float32: run(kind, FloatFolding.self, input, &output, startsWithFirst, threads)
    case .int32: run(kind, IntegerFolding<Int32>.self, input, &output, startsWithFirst, threads)
    case .int64: run(kind, IntegerFolding<Int64>.self, input, &output, startsWithFirst, threads)
    case .uint8: run(kind, IntegerFolding<UInt8>.self, input, &output, startsWithFirst, threads)
    case .int8: run(kind, IntegerFolding<Int8>.self, input, &output, startsWithFirst, threads)
    case .int16: run(kind, IntegerFolding<Int16>.self, input, &output, startsWithFirst, threads)
    case .bool:
      // Booleans are bytes of 0 or 1: "or" is their maximum, "and" their minimum.
      let kind: Kind = kind == .sum ? .maximum : kind == .product ? .minimum : kind
      run(kind, BooleanFolding.self, input, &output, startsWithFirst, threads)
    default: elements.isNotTaken()
    }
  }

  /// Sums values: 8- and 16-bit integers as int32, wider ones as int64, floats as float32. `sums` has room
  /// for ``sumCount`` of them.
  package func sum(
    _ elements: ScalarType, _ input: RawSpan, to sums: inout MutableRawSpan, threads: ThreadTeam
  ) {
    switch elements {
    case .float32: sum(SumOfFloats.self, input, &sums, threads)
    case .int32: sum(WrappingSum<Int32, Int64>.self, input, &sums, threads)
    case .int64: sum(WrappingSum<Int64, Int64>.self, input, &sums, threads)
    case .uint8, .bool: sum(SumOfBytes<UInt8>.self, input, &sums, threads)
    case .int8: sum(SumOfBytes<Int8>.self, input, &sums, threads)
    case .int16: sum(WrappingSum<Int16, Int32>.self, input, &sums, threads)
    default: elements.isNotTaken()
    }
  }

  /// Sums parts of the rows, each on one thread, and then the partial sums. Parts depend on the shape only,
  /// and so do roundings.
  @inline(__always)
  private func sum<C: Summation>(
    _ combination: C.Type, _ input: RawSpan, _ sums: inout MutableRawSpan, _ threads: ThreadTeam
  ) {
    fold(combination, input, &sums, initial: C.zero, parts: rowParts, threads)
    guard rowParts > 1, !threads.mustStop else { return }
    unsafe sums.withUnsafeMutableBytes { sums in
      guard let sums = unsafe sums.baseAddress?.assumingMemoryBound(to: C.Result.self) else { return }
      for part in 1..<rowParts {
        for index in 0..<outputCount {
          unsafe sums[index] = C.join(sums[index], sums[part &* outputCount &+ index])
        }
      }
    }
  }

  /// The size of an input.
  func inputByteCount(_ elements: ScalarType) -> Int { inputCount * elements.byteCount }

  /// Calls `body` with the index of each value and of its result, in the input's order, until the run must
  /// end.
  func forEachPair(threads: ThreadTeam, _ body: (_ input: Int, _ output: Int) -> Void) {
    guard inputCount > 0 else { return }
    var poll = StopPoll(threads)
    func walk(_ depth: Int, _ input: Int, _ output: Int) {
      let axis = axes[depth]
      for index in 0..<axis.count {
        if poll.mustStop(before: 2) { return }
        let from = input &+ index &* axis.inputStride
        let to = output &+ index &* axis.outputStride
        if depth == axes.count &- 1 { body(from, to) } else { walk(depth &+ 1, from, to) }
      }
    }
    walk(0, 0, 0)
  }

  @inline(__always)
  private func run<F: Folding>(
    _ kind: Kind, _ folding: F.Type, _ input: RawSpan, _ output: inout MutableRawSpan,
    _ startsWithFirst: Bool,
    _ threads: ThreadTeam
  ) {
    var initial = kind == .maximum ? F.least : F.greatest
    if startsWithFirst, inputCount > 0 {
      initial = unsafe input.withUnsafeBytes { unsafe $0.loadUnaligned(as: F.Element.self) }
    }
    switch kind {
    case .sum: fold(F.Sum.self, input, &output, initial: F.zero, threads)
    case .product: fold(F.Product.self, input, &output, initial: F.one, threads)
    case .maximum: fold(Maximum<F.Element>.self, input, &output, initial: initial, threads)
    case .minimum: fold(Minimum<F.Element>.self, input, &output, initial: initial, threads)
    }
  }

  /// Walks the input once and combines each value with its result, or with its part's own result.
  @inline(__always)
  func fold<C: Combination>(
    _ combination: C.Type, _ input: RawSpan, _ output: inout MutableRawSpan, initial: C.Result,
    parts: Int = 1, _ threads: ThreadTeam
  ) {
    precondition(
      input.byteCount >= inputCount * MemoryLayout<C.Element>.stride
        && output.byteCount >= outputCount * parts * MemoryLayout<C.Result>.stride)
    unsafe input.withUnsafeBytes { input in
      unsafe output.withUnsafeMutableBytes { output in
        unsafe axes.withUnsafeBufferPointer { axes in
          guard let to = unsafe output.baseAddress?.assumingMemoryBound(to: C.Result.self) else { return }
          for index in 0..<outputCount &* parts { unsafe to[index] = initial }
          guard inputCount > 0, let from = input.baseAddress else { return }
          let work = unsafe FoldingWork(
            axes: axes, tiles: parts > 1 ? parts : tiles, areParts: parts > 1, input: from,
            output: UnsafeMutableRawPointer(to), threads: threads
          ) { work, tile in
            work.fold(combination, tile: tile)
          }
          threads.run(tiles: work.tiles, work)
        }
      }
    }
  }
}

/// One run of a reduction; its pointers are valid during that call only.
///
/// The type is concrete and the reduction a function value, so that threads run code that was specialized
/// here.
@safe private struct FoldingWork: TileWork {
  static var mayStop: Bool { true }

  let axes: UnsafeBufferPointer<Reduction.Axis>
  let tiles: Int
  /// Whether each tile reduces some of the rows into its own results.
  let areParts: Bool
  let input: UnsafeRawPointer
  let output: UnsafeMutableRawPointer
  let threads: ThreadTeam
  let body: (borrowing FoldingWork, Int) -> Void

  func run(tile: Int, worker: Int) { body(self, tile) }

  @inline(__always)
  func fold<C: Combination>(_ combination: C.Type, tile: Int) {
    let first = unsafe axes[0]
    let from = unsafe input.assumingMemoryBound(to: C.Element.self)
    let to = unsafe output.assumingMemoryBound(to: C.Result.self)
    var poll = StopPoll(threads)
    if areParts {
      let (rows, columns) = unsafe (share(of: first.count, tile: tile, of: tiles), axes[1].count)
      return unsafe combineColumns(
        combination, to + tile &* columns, from + rows.lowerBound &* first.inputStride,
        stride: first.inputStride, rows: rows.count, columns: columns, &poll)
    }
    if first.isFolded, tiles > 1 {
      let columns = unsafe share(of: axes[1].count, tile: tile, of: tiles)
      return unsafe combineColumns(
        combination, to + columns.lowerBound, from + columns.lowerBound, stride: first.inputStride,
        rows: first.count, columns: columns.count, &poll)
    }
    let range = share(of: first.count, tile: tile, of: tiles)
    unsafe walk(
      combination, 0, from + range.lowerBound &* first.inputStride,
      to + range.lowerBound &* first.outputStride,
      count: range.count, &poll)
  }

  /// Combines columns, some rows at a time, unless the run has to end. Not inlined, because copies in the callers
  /// for each of many combinations were an eighth of what the module's optimizer has to do.
  @inline(never)
  private func combineColumns<C: Combination>(
    _ combination: C.Type, _ results: UnsafeMutablePointer<C.Result>, _ elements: UnsafePointer<C.Element>,
    stride: Int, rows: Int, columns: Int, _ poll: inout StopPoll
  ) {
    // Columns of bytes are summed 256 rows at a time.
    let length = max(256, Self.stretch / max(1, columns) & ~255)
    var row = 0
    while row < rows {
      let count = min(length, rows &- row)
      if poll.mustStop(before: count &* columns) { return }
      unsafe C.combineColumns(
        results, elements + row &* stride, stride: stride, rows: count, columns: columns)
      row &+= count
    }
  }

  /// Elements between two questions whether the run has to end.
  private static var stretch: Int { 1 << 20 }

  @inline(__always)
  private func walk<C: Combination>(
    _ combination: C.Type, _ depth: Int, _ input: UnsafePointer<C.Element>,
    _ output: UnsafeMutablePointer<C.Result>, count: Int, _ poll: inout StopPoll
  ) {
    switch unsafe axes.count &- depth {
    case 1: unsafe walkRow(combination, input, output, count: count, isFolded: axes[depth].isFolded, &poll)
    case 2: unsafe walkRows(combination, depth, input, output, count: count, &poll)
    default: unsafe walkPlanes(combination, depth, input, output, count: count, &poll)
    }
  }

  private func walkPlanes<C: Combination>(
    _ combination: C.Type, _ depth: Int, _ input: UnsafePointer<C.Element>,
    _ output: UnsafeMutablePointer<C.Result>, count: Int, _ poll: inout StopPoll
  ) {
    let axis = unsafe axes[depth]
    let next = unsafe axes[depth &+ 1].count
    for index in 0..<count {
      let (from, to) = unsafe (input + index &* axis.inputStride, output + index &* axis.outputStride)
      if unsafe axes.count &- depth == 3 {
        unsafe walkRows(combination, depth &+ 1, from, to, count: next, &poll)
      } else {
        unsafe walkPlanes(combination, depth &+ 1, from, to, count: next, &poll)
      }
    }
  }

  @inline(never)
  private func walkRows<C: Combination>(
    _ combination: C.Type, _ depth: Int, _ input: UnsafePointer<C.Element>,
    _ output: UnsafeMutablePointer<C.Result>, count: Int, _ poll: inout StopPoll
  ) {
    let (axis, row) = unsafe (axes[depth], axes[depth &+ 1])
    if axis.isFolded, !row.isFolded {
      return unsafe combineColumns(
        combination, output, input, stride: axis.inputStride, rows: count, columns: row.count, &poll)
    }
    for index in 0..<count {
      unsafe walkRow(
        combination, input + index &* axis.inputStride, output + index &* axis.outputStride, count: row.count,
        isFolded: row.isFolded, &poll)
    }
  }

  @inline(__always)
  private func walkRow<C: Combination>(
    _ combination: C.Type, _ input: UnsafePointer<C.Element>, _ output: UnsafeMutablePointer<C.Result>,
    count: Int, isFolded: Bool, _ poll: inout StopPoll
  ) {
    if poll.mustStop(before: count) { return }
    if isFolded {
      guard count > Self.stretch, C.takesParts else {
        unsafe output[0] = C.combine(output[0], input, count: count)
        return
      }
      var first = 0
      while first < count {
        let part = min(Self.stretch, count &- first)
        if poll.mustStop(before: part) { return }
        unsafe output[0] = C.combine(output[0], input + first, count: part)
        first &+= part
      }
    } else {
      for index in 0..<count { unsafe output[index] = C.combine(output[index], input[index]) }
    }
  }
}
