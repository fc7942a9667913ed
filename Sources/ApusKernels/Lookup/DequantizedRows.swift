// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Rows of integers, looked up by index and multiplied by scales: one of the whole table, one per row, or one
/// per block of a row.
package struct DequantizedRows: Sendable {
  private let rows: Int
  private let columns: Int
  private let scales: [Float]
  /// The number of elements that share a scale, and of scales per row; no blocks if the table has one scale.
  private let blockSize: Int
  private let blocks: Int
  private let isHalf: Bool

  /// `scales` has one element, one per row, or one per block of `blockSize` elements of a row. The result is
  /// `float16` if `isHalf`.
  package init(rows: Int, columns: Int, scales: [Float], blockSize: Int, isHalf: Bool) {
    let isUniform = scales.count == 1
    precondition(
      rows > 0 && columns > 0 && blockSize > 0
        && (isUniform || columns.isMultiple(of: blockSize) && scales.count == rows * (columns / blockSize)))
    self.rows = rows
    self.columns = columns
    self.scales = scales
    self.blockSize = isUniform ? columns : blockSize
    blocks = isUniform ? 0 : columns / blockSize
    self.isHalf = isHalf
  }

  /// Writes a row for each index; returns the first index that is outside the table, if any.
  package func run(
    _ table: RawSpan, by indices: Span<Int32>, to output: inout MutableRawSpan, threads: ThreadTeam
  ) -> Int32? {
    let width = isHalf ? 2 : 4
    precondition(table.byteCount >= rows * columns && output.byteCount >= indices.count * columns * width)
    var poll = StopPoll(threads)
    for place in indices.indices {
      if poll.mustStop(before: 2 &* columns) { return nil }
      let row = Int(indices[place])
      guard (0..<rows).contains(row) else { return indices[place] }
      for column in 0..<columns {
        let scale = scales[row &* blocks &+ (blocks == 0 ? 0 : column / blockSize)]
        let value =
          Float(unsafe table.unsafeLoad(fromByteOffset: row &* columns &+ column, as: Int8.self)) * scale
        let offset = (place &* columns &+ column) &* width
        if isHalf {
          output.storeBytes(of: Half(value).bits, toByteOffset: offset, as: UInt16.self)
        } else {
          output.storeBytes(of: value, toByteOffset: offset, as: Float.self)
        }
      }
    }
    return nil
  }
}
