// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Rows of bytes, found by ascending keys.
package struct KeyedRows: Sendable {
  private let count: Int
  private let rowByteCount: Int

  /// Describes `count` rows of `rowByteCount` bytes each.
  package init(count: Int, rowByteCount: Int) {
    self.count = count
    self.rowByteCount = rowByteCount
  }

  /// Copies the row of each wanted key, or zeros if it is not found; `hits` says which were found.
  package func look(
    up wanted: Span<Int32>, in keys: Span<Int32>, _ rows: RawSpan, to output: inout MutableRawSpan,
    hits: inout MutableSpan<UInt8>, threads: ThreadTeam
  ) {
    precondition(
      keys.count >= count && rows.byteCount >= count * rowByteCount && hits.count >= wanted.count
        && output.byteCount >= wanted.count * rowByteCount)
    unsafe rows.withUnsafeBytes { rows in
      unsafe output.withUnsafeMutableBytes { output in
        var poll = StopPoll(threads)
        for place in wanted.indices {
          if poll.mustStop(before: 64 &+ rowByteCount / 16) { return }
          let row = find(wanted[place], in: keys)
          hits[place] = row == nil ? 0 : 1
          guard rowByteCount > 0, let from = rows.baseAddress, let to = output.baseAddress else { continue }
          let target = unsafe to + place &* rowByteCount
          if let row {
            unsafe target.copyMemory(from: from + row &* rowByteCount, byteCount: rowByteCount)
          } else {
            unsafe target.initializeMemory(as: UInt8.self, repeating: 0, count: rowByteCount)
          }
        }
      }
    }
  }

  private func find(_ key: Int32, in keys: Span<Int32>) -> Int? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low &+ high) / 2
      if keys[middle] == key { return middle }
      if key < keys[middle] { high = middle } else { low = middle &+ 1 }
    }
    return nil
  }
}
