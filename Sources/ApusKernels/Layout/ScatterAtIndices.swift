// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Writes an element at each index along the middle one of three axes; other elements stay.
///
/// Indices are truncated to 32 bits, as in the reference; those outside the axis are ignored.
package func scatterAtIndices(
  _ indices: RawSpan, indexByteCount: Int, outer: Int, depth: Int, with element: RawSpan,
  in output: inout MutableRawSpan, threads: ThreadTeam
) {
  let count = indices.byteCount / indexByteCount
  guard outer > 0, count > 0 else { return }
  let inner = count / outer
  let width = element.byteCount
  precondition(output.byteCount >= count * depth * width)
  unsafe element.withUnsafeBytes { element in
    unsafe output.withUnsafeMutableBytes { output in
      guard let from = element.baseAddress, let to = output.baseAddress else { return }
      var poll = StopPoll(threads)
      for place in 0..<count {
        if poll.mustStop(before: 4) { return }
        let index = Int(Int32(truncatingIfNeeded: indices.integer(at: place, byteCount: indexByteCount)))
        guard index >= 0, index < depth else { continue }
        let position = (place / inner &* depth &+ index) &* inner &+ place % inner
        unsafe copyRun(from, to + position &* width, byteCount: width)
      }
    }
  }
}
