// SPDX-License-Identifier: Apache-2.0

/// Sums of bytes that are signed or not, as is known only at run time.
package enum ByteSum {
  /// `result` plus the `count` bytes of a row.
  package static func combine(
    _ result: Int32, _ row: UnsafeRawPointer, count: Int, isSigned: Bool
  ) -> Int32 {
    isSigned
      ? unsafe SumOfBytes<Int8>.combine(result, row.assumingMemoryBound(to: Int8.self), count: count)
      : unsafe SumOfBytes<UInt8>.combine(result, row.assumingMemoryBound(to: UInt8.self), count: count)
  }

  /// Adds the bytes of each column to its result; rows are `stride` bytes apart.
  package static func combineColumns(
    _ results: UnsafeMutablePointer<Int32>, _ rows: UnsafeRawPointer, stride: Int, rows count: Int,
    columns: Int, isSigned: Bool
  ) {
    if isSigned {
      unsafe SumOfBytes<Int8>.combineColumns(
        results, rows.assumingMemoryBound(to: Int8.self), stride: stride, rows: count, columns: columns)
    } else {
      unsafe SumOfBytes<UInt8>.combineColumns(
        results, rows.assumingMemoryBound(to: UInt8.self), stride: stride, rows: count, columns: columns)
    }
  }
}
