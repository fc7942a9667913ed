// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// A copy of rows, each with padding of one value before and after it, in one pass.
package struct RowPadding: UnaryKernel {
  private let rows: Int
  private let byteCount: Int
  private let before: Int
  private let after: Int
  private let value: UInt32

  /// Pads rows of `count` elements of 32 bits with copies of `value`; nil if sizes overflow.
  package init?(rows: Int, count: Int, before: Int, after: Int, value: UInt32) {
    guard rows >= 0, [count, before, after].allSatisfy({ (0...1 << 40).contains($0) }),
      !rows.multipliedReportingOverflow(by: 4 * (count + before + after)).overflow
    else { return nil }
    self.rows = rows
    byteCount = 4 * count
    self.before = before
    self.after = after
    self.value = value
  }

  private var rowByteCount: Int { byteCount &+ 4 &* (before &+ after) }

  /// Copies; the spans must be as large as the rows.
  package func run(_ source: RawSpan, to destination: inout MutableRawSpan, threads: ThreadTeam) {
    precondition(
      source.byteCount >= rows &* byteCount && destination.byteCount >= rows &* rowByteCount)
    guard rows > 0 else { return }
    unsafe withAddresses(source, &destination) { source, destination in
      let tiles = threads.tileCount(rows: rows, bytes: rows &* rowByteCount, alone: 1)
      let work = unsafe Work(padding: self, tiles: tiles, source: source, destination: destination)
      threads.run(tiles: tiles, work)
    }
  }

  @safe private struct Work: TileWork {
    let padding: RowPadding
    let tiles: Int
    let source: UnsafeRawPointer
    let destination: UnsafeMutableRawPointer

    func run(tile: Int, worker: Int) {
      let (count, value) = (padding.byteCount, padding.value)
      for row in share(of: padding.rows, tile: tile, of: tiles) {
        var target = unsafe destination + row &* padding.rowByteCount
        for index in 0..<padding.before {
          unsafe target.storeBytes(of: value, toByteOffset: 4 &* index, as: UInt32.self)
        }
        unsafe target += 4 &* padding.before
        unsafe copyRow(source + row &* count, to: target, byteCount: count)
        unsafe target += count
        for index in 0..<padding.after {
          unsafe target.storeBytes(of: value, toByteOffset: 4 &* index, as: UInt32.self)
        }
      }
    }

    /// Copies a short row faster than a call would.
    @inline(__always)
    private func copyRow(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, byteCount: Int) {
      guard (16...1024).contains(byteCount) else {
        return unsafe target.copyMemory(from: source, byteCount: byteCount)
      }
      var offset = 0
      while offset < byteCount {
        // The last 16 bytes may overlap the ones before.
        offset = min(offset, byteCount &- 16)
        let bytes = unsafe source.loadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self)
        unsafe target.storeBytes(of: bytes, toByteOffset: offset, as: SIMD16<UInt8>.self)
        offset &+= 16
      }
    }
  }
}
