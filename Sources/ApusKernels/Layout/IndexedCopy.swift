// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// A copy in which a table per axis maps each destination coordinate to a source coordinate.
///
/// Mirrored padding, nearest-neighbor resizing and clamped windows are such copies.
package struct IndexedCopy: Sendable {
  /// For each axis, the source's byte offset for each destination coordinate.
  private let offsets: [[Int]]
  /// For each axis, the bytes of the destination per coordinate.
  private let blocks: [Int]
  /// Bytes copied together.
  private let run: Int
  private let sourceEnd: Int
  private let destinationByteCount: Int
  private let tiles: Int

  /// Copies blocks of `run` bytes; `tables[axis][i]` is the source coordinate, `strides[axis]` bytes each.
  ///
  /// nil if a coordinate is negative or an address overflows.
  package init?(tables: [[Int]], strides: [Int], run: Int) {
    guard tables.count == strides.count, run >= 0 else { return nil }
    var offsets: [[Int]] = []
    var end = run
    for (table, stride) in zip(tables, strides) {
      var most = 0
      var scaled: [Int] = []
      scaled.reserveCapacity(table.count)
      for coordinate in table {
        let (offset, overflow) = coordinate.multipliedReportingOverflow(by: stride)
        guard coordinate >= 0, stride >= 0, !overflow else { return nil }
        most = max(most, offset)
        scaled.append(offset)
      }
      let (sum, overflow) = end.addingReportingOverflow(most)
      guard !overflow else { return nil }
      end = sum
      offsets.append(scaled)
    }
    var blocks: [Int] = []
    var total = run
    for table in tables.reversed() {
      blocks.append(total)
      let (product, overflow) = total.multipliedReportingOverflow(by: table.count)
      guard !overflow else { return nil }
      total = product
    }
    self.offsets = offsets
    self.blocks = blocks.reversed()
    self.run = run
    sourceEnd = end
    destinationByteCount = total
    // Tiles are cut along the first two axes.
    let rows = (tables.first?.count ?? 1) * (tables.count > 1 ? tables[1].count : 1)
    tiles = max(1, min(rows, total >> 16))
  }

  /// Copies; the spans must be as large as the tables say.
  package func run(_ source: RawSpan, to destination: inout MutableRawSpan, threads: ThreadTeam) {
    guard destinationByteCount > 0 else { return }
    precondition(source.byteCount >= sourceEnd && destination.byteCount >= destinationByteCount)
    unsafe source.withUnsafeBytes { source in
      unsafe destination.withUnsafeMutableBytes { destination in
        guard let from = source.baseAddress, let to = destination.baseAddress else { return }
        unsafe withUnsafePointer(to: self) { owner in
          threads.run(tiles: tiles, unsafe Work(owner: owner, source: from, destination: to))
        }
      }
    }
  }

  /// The tiles of one run; its pointers are valid during that call only.
  @safe private struct Work: TileWork {
    static var mayStop: Bool { true }

    let owner: UnsafePointer<IndexedCopy>
    let source: UnsafeRawPointer
    let destination: UnsafeMutableRawPointer

    func run(tile: Int, worker: Int) {
      unsafe owner.pointee.copy(self, tile: tile)
    }
  }

  private func copy(_ work: Work, tile: Int) {
    guard offsets.count > 1 else {
      guard let first = offsets.first else {
        return unsafe work.destination.copyMemory(from: work.source, byteCount: run)
      }
      return unsafe copyAxis(0, work.source, work.destination, share(of: first.count, tile: tile, of: tiles))
    }
    let inner = offsets[1].count
    for row in share(of: offsets[0].count &* inner, tile: tile, of: tiles) {
      let (first, second) = (row / inner, row % inner)
      unsafe copyBlock(
        2, work.source + (offsets[0][first] &+ offsets[1][second]), work.destination + row &* blocks[1])
    }
  }

  private func copyBlock(_ axis: Int, _ source: UnsafeRawPointer, _ destination: UnsafeMutableRawPointer) {
    guard axis < offsets.count else {
      return unsafe destination.copyMemory(from: source, byteCount: run)
    }
    unsafe copyAxis(axis, source, destination, 0..<offsets[axis].count)
  }

  private func copyAxis(
    _ axis: Int, _ source: UnsafeRawPointer, _ destination: UnsafeMutableRawPointer, _ range: Range<Int>
  ) {
    if axis < offsets.count &- 1 {
      for index in range {
        unsafe copyBlock(axis &+ 1, source + offsets[axis][index], destination + index &* blocks[axis])
      }
      return
    }
    unsafe offsets[axis].withUnsafeBufferPointer { table in
      switch run {
      case 1: unsafe copyUnits(UInt8.self, table, range, source, destination)
      case 2: unsafe copyUnits(UInt16.self, table, range, source, destination)
      case 4: unsafe copyUnits(UInt32.self, table, range, source, destination)
      case 8: unsafe copyUnits(UInt64.self, table, range, source, destination)
      case 16: unsafe copyUnits(SIMD2<UInt64>.self, table, range, source, destination)
      default:
        for index in range {
          unsafe (destination + index &* run).copyMemory(from: source + table[index], byteCount: run)
        }
      }
    }
  }

  @inline(__always)
  private func copyUnits<T: BitwiseCopyable>(
    _ type: T.Type, _ table: UnsafeBufferPointer<Int>, _ range: Range<Int>, _ source: UnsafeRawPointer,
    _ destination: UnsafeMutableRawPointer
  ) {
    for index in range {
      let value = unsafe source.loadUnaligned(fromByteOffset: table[index], as: T.self)
      unsafe destination.storeBytes(of: value, toByteOffset: index &* MemoryLayout<T>.size, as: T.self)
    }
  }
}
