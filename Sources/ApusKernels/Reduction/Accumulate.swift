// SPDX-License-Identifier: Apache-2.0

/// Adds float32 or (wrapping) int32 values to as many others.
package func accumulate(_ values: RawSpan, _ elements: ScalarType, in sums: inout MutableRawSpan) {
  precondition(sums.byteCount >= values.byteCount)
  unsafe values.withUnsafeBytes { values in
    unsafe sums.withUnsafeMutableBytes { sums in
      if elements == .float32 {
        let (from, to) = unsafe (
          values.assumingMemoryBound(to: Float.self), sums.assumingMemoryBound(to: Float.self)
        )
        let largest = Float.greatestFiniteMagnitude
        for index in 0..<from.count {
          let sum = unsafe to[index] + from[index]
          // Infinities become the largest numbers, as in the reference; NaN stays.
          unsafe to[index] = sum > largest ? largest : sum < -largest ? -largest : sum
        }
      } else {
        let (from, to) = unsafe (
          values.assumingMemoryBound(to: Int32.self), sums.assumingMemoryBound(to: Int32.self)
        )
        for index in 0..<from.count { unsafe to[index] &+= from[index] }
      }
    }
  }
}
