// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// The memory of a graph's tensors, as an operator sees it while it runs.
///
/// Spans borrow the table. An operator never writes bytes that it also reads, unless its output is a view of
/// an input or may overwrite one.
@safe struct TensorTable: ~Copyable {
  private let buffers: UnsafeMutablePointer<TensorBuffer>

  /// The threads that kernels may use.
  let threads: ThreadTeam

  /// Wraps buffers that outlive the table, one for each tensor slot.
  init(_ buffers: UnsafeMutablePointer<TensorBuffer>, threads: ThreadTeam) {
    unsafe self.buffers = unsafe buffers
    self.threads = threads
  }

  /// Another view of the same memory, which must not outlive it.
  init(sharing other: borrowing TensorTable) {
    unsafe buffers = unsafe other.buffers
    threads = other.threads
  }

  /// A view of the same memory for other threads, which must not outlive it.
  init(sharing other: borrowing TensorTable, threads: ThreadTeam) {
    unsafe buffers = unsafe other.buffers
    self.threads = threads
  }

  /// Runs each tile of work on the table's threads.
  @inline(__always)
  func forEachTile<Work: TableWork>(_ count: Int, _ work: Work) {
    let tiles = unsafe Tiles(buffers: buffers, work: work)
    unsafe withUnsafePointer(to: tiles) { tiles in
      threads.runCalls(
        tiles: count,
        unsafe TileCalls(tiles) { tiles, tile in
          unsafe tiles.assumingMemoryBound(to: Tiles<Work>.self).pointee.run(tile)
        })
    }
  }

  @safe private struct Tiles<Work: TableWork> {
    let buffers: UnsafeMutablePointer<TensorBuffer>
    let work: Work

    func run(_ tile: Int) { unsafe work.run(tile: tile, TensorTable(buffers, threads: ThreadTeam(count: 1))) }
  }

  /// A tensor's elements. Preparation has fixed the type and the count.
  @_lifetime(borrow self)
  func read<T: TensorElement>(_ slot: TensorSlot, as type: T.Type = T.self) -> Span<T> {
    let buffer = unsafe buffers[slot.index]
    precondition(slot.type.isReadable(as: T.elementType), "the slot's type was checked at preparation")
    let pointer = unsafe UnsafeRawPointer(buffer.base)?.assumingMemoryBound(to: T.self)
    let elements = unsafe UnsafeBufferPointer(
      start: pointer, count: pointer == nil ? 0 : buffer.byteCount / MemoryLayout<T>.stride)
    return unsafe _overrideLifetime(Span(_unsafeElements: elements), borrowing: self)
  }

  /// A tensor's elements, for writing.
  @_lifetime(borrow self)
  func write<T: TensorElement>(_ slot: TensorSlot, as type: T.Type = T.self) -> MutableSpan<T> {
    let buffer = unsafe buffers[slot.index]
    precondition(slot.type.isReadable(as: T.elementType), "the slot's type was checked at preparation")
    let pointer = unsafe buffer.base?.assumingMemoryBound(to: T.self)
    let elements = unsafe UnsafeMutableBufferPointer(
      start: pointer, count: pointer == nil ? 0 : buffer.byteCount / MemoryLayout<T>.stride)
    return unsafe _overrideLifetime(MutableSpan(_unsafeElements: elements), borrowing: self)
  }

  /// Some of a tensor's elements, for writing.
  @_lifetime(borrow self)
  func write<T: TensorElement>(_ slot: TensorSlot, _ range: Range<Int>, as type: T.Type = T.self)
    -> MutableSpan<T>
  {
    let buffer = unsafe buffers[slot.index]
    precondition(slot.type.isReadable(as: T.elementType), "the slot's type was checked at preparation")
    let count = unsafe buffer.base == nil ? 0 : buffer.byteCount / MemoryLayout<T>.stride
    precondition(
      range.lowerBound >= 0 && range.upperBound <= count, "the slot's shape was checked at preparation")
    let pointer = unsafe buffer.base?.assumingMemoryBound(to: T.self)
    let elements = unsafe UnsafeMutableBufferPointer(
      start: pointer.map { unsafe $0 + range.lowerBound }, count: range.count)
    return unsafe _overrideLifetime(MutableSpan(_unsafeElements: elements), borrowing: self)
  }

  /// The bytes of a tensor of any type.
  @_lifetime(borrow self)
  @inline(__always)
  func readBytes(_ slot: TensorSlot) -> RawSpan { readBytes(at: slot.index) }

  /// The bytes of the tensor at an index of the table.
  @_lifetime(borrow self)
  @inline(__always)
  func readBytes(at index: Int) -> RawSpan {
    let buffer = unsafe buffers[index]
    let bytes = unsafe UnsafeRawBufferPointer(
      start: buffer.base, count: buffer.base == nil ? 0 : buffer.byteCount)
    return unsafe _overrideLifetime(RawSpan(_unsafeBytes: bytes), borrowing: self)
  }

  /// The bytes of a tensor of any type, for writing.
  @_lifetime(borrow self)
  @inline(__always)
  func writeBytes(_ slot: TensorSlot) -> MutableRawSpan { writeBytes(at: slot.index) }

  /// The bytes of the tensor at an index of the table, for writing.
  @_lifetime(borrow self)
  @inline(__always)
  func writeBytes(at index: Int) -> MutableRawSpan {
    let buffer = unsafe buffers[index]
    let bytes = unsafe UnsafeMutableRawBufferPointer(
      start: buffer.base, count: buffer.base == nil ? 0 : buffer.byteCount)
    return unsafe _overrideLifetime(MutableRawSpan(_unsafeBytes: bytes), borrowing: self)
  }

  /// A part of a tensor's bytes, for writing. The range must lie within them.
  @_lifetime(borrow self)
  func writeBytes(_ slot: TensorSlot, in range: Range<Int>) -> MutableRawSpan {
    let buffer = unsafe buffers[slot.index]
    precondition(
      range.lowerBound >= 0 && range.upperBound <= buffer.byteCount, "the part lies within the tensor")
    let bytes = unsafe UnsafeMutableRawBufferPointer(
      start: buffer.base.map { unsafe $0 + range.lowerBound },
      count: unsafe buffer.base == nil ? 0 : range.count)
    return unsafe _overrideLifetime(MutableRawSpan(_unsafeBytes: bytes), borrowing: self)
  }
}

/// Work on tensors, shared by several threads.
protocol TableWork {
  /// Runs a tile; the table is for one thread.
  func run(tile: Int, _ tensors: borrowing TensorTable)
}
