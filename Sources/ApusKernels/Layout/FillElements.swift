// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// How many bytes are filled or copied before the clock is looked at again.
private let polledByteCount = 4 << 20
/// How many bytes are copied at once to fill memory.
private let cachedByteCount = 1 << 13

/// Fills `byteCount` bytes, a multiple of `width`, with copies of an element of `width` bytes.
package func fillMemory(
  _ destination: UnsafeMutableRawPointer, byteCount: Int, with element: UnsafeRawPointer, width: Int
) {
  guard byteCount > 0 else { return }
  unsafe destination.copyMemory(from: element, byteCount: width)
  // Copies double up to a size that stays in the first-level cache.
  let most = max(width, cachedByteCount / width &* width)
  var filled = width
  while filled < byteCount {
    let next = min(filled, most, byteCount &- filled)
    unsafe (destination + filled).copyMemory(from: destination, byteCount: next)
    filled &+= next
  }
}

/// Fills memory with copies of an element of `pattern.count` bytes. Ends early if the run must end.
package func fillElements(_ destination: inout MutableRawSpan, with pattern: RawSpan, threads: ThreadTeam) {
  unsafe destination.withUnsafeMutableBytes { destination in
    unsafe pattern.withUnsafeBytes { pattern in
      guard let to = destination.baseAddress, let from = pattern.baseAddress else { return }
      let width = pattern.count
      let (count, part) = (destination.count / width, max(1, polledByteCount / width))
      var poll = StopPoll(threads)
      for start in stride(from: 0, to: count, by: part) {
        let length = min(part, count &- start)
        if poll.mustStop(before: length &* width) { return }
        unsafe fillMemory(to + start &* width, byteCount: length &* width, with: from, width: width)
      }
    }
  }
}

/// Fills memory with the low `width` bytes of a value, least significant first; `width` is 1, 2, 4, 8 or 16. Ends early if the run
/// must end.
package func fillElements(
  _ destination: inout MutableRawSpan, with value: Int64, width: Int, threads: ThreadTeam
) {
  withElement(value, width: width) { fillElements(&destination, with: $0, threads: threads) }
}

/// Calls `body` with the low `width` bytes of a value, least significant first; `width` is 1, 2, 4, 8 or 16.
package func withElement(_ value: Int64, width: Int, _ body: (RawSpan) -> Void) {
  var bytes = (value.littleEndian, value < 0 ? Int64(-1) : 0)
  unsafe withUnsafeBytes(of: &bytes) { bytes in
    body(unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: bytes[..<width])))
  }
}

/// Maps rows of bytes through a table of 256, from contiguous rows to rows `stride` bytes apart.
package func mapRows(
  _ source: RawSpan, rows: Int, rowByteCount: Int, table: Span<UInt8>, to destination: inout MutableRawSpan,
  offset: Int, stride: Int
) {
  guard rows > 0, rowByteCount > 0 else { return }
  precondition(
    table.count == 256 && source.byteCount >= rows * rowByteCount && offset >= 0 && stride >= rowByteCount
      && destination.byteCount >= offset + (rows - 1) * stride + rowByteCount)
  unsafe source.withUnsafeBytes { source in
    unsafe destination.withUnsafeMutableBytes { destination in
      unsafe table.withUnsafeBufferPointer { table in
        for row in 0..<rows {
          for index in 0..<rowByteCount {
            let value = unsafe table[Int(source[row &* rowByteCount &+ index])]
            unsafe destination[offset &+ row &* stride &+ index] = value
          }
        }
      }
    }
  }
}

/// Copies all bytes of `source`, for which `destination` has room.
package func copyBytes(_ source: RawSpan, to destination: inout MutableRawSpan) {
  precondition(destination.byteCount >= source.byteCount)
  unsafe source.withUnsafeBytes { source in
    unsafe destination.withUnsafeMutableBytes { unsafe $0.copyMemory(from: source) }
  }
}

/// Copies all bytes of `source`, for which `destination` has room. Ends early if the run must end.
package func copyBytes(_ source: RawSpan, to destination: inout MutableRawSpan, threads: ThreadTeam) {
  precondition(destination.byteCount >= source.byteCount)
  unsafe source.withUnsafeBytes { source in
    unsafe destination.withUnsafeMutableBytes { destination in
      guard let from = source.baseAddress, let to = destination.baseAddress else { return }
      var poll = StopPoll(threads)
      for start in stride(from: 0, to: source.count, by: polledByteCount) {
        let length = min(polledByteCount, source.count &- start)
        if poll.mustStop(before: length) { return }
        unsafe (to + start).copyMemory(from: from + start, byteCount: length)
      }
    }
  }
}
