// SPDX-License-Identifier: Apache-2.0

import ApusRuntime
import ApusSystem

/// A sequence of random numbers from two seeds, equal to TensorFlow's.
package struct PhiloxStream: Sendable {
  private let key: SIMD2<UInt32>
  private var counter: SIMD4<UInt32>

  /// The stream of two seeds.
  package init(seed: UInt64, seed2: UInt64) {
    key = SIMD2(truncatingIfNeeded: SIMD2(seed, seed >> 32))
    let high = SIMD2<UInt32>(truncatingIfNeeded: SIMD2(seed2, seed2 >> 32))
    counter = SIMD4(0, 0, high[0], high[1])
  }

  /// The next four words.
  mutating func next() -> SIMD4<UInt32> {
    let bits = CounterBasedBits.philox(key: key, counter: counter)
    skip(1)
    return bits
  }

  /// Skips groups of four words.
  mutating func skip(_ count: UInt64) {
    for axis in stride(from: 0, to: 4, by: 2) {
      let half = UInt64(counter[axis]) | UInt64(counter[axis + 1]) << 32
      let (sum, carry) = half.addingReportingOverflow(axis == 0 ? count : 1)
      counter[axis] = UInt32(truncatingIfNeeded: sum)
      counter[axis + 1] = UInt32(truncatingIfNeeded: sum >> 32)
      guard carry else { return }
    }
  }

  /// Writes numbers of 0 up to 1, all equally likely.
  package mutating func fillUniform(_ numbers: inout MutableSpan<Float>) {
    fill(&numbers) { bits in
      SIMD4(Self.unit(bits[0]), Self.unit(bits[1]), Self.unit(bits[2]), Self.unit(bits[3]))
    }
  }

  /// Writes numbers of the normal distribution with mean 0 and deviation 1 (Box and Muller).
  package mutating func fillNormal(_ numbers: inout MutableSpan<Float>) {
    func pair(_ first: UInt32, _ second: UInt32) -> SIMD2<Float> {
      let angle = Float(2 * Double.pi * Double(Self.unit(second)))
      let radius = (-2 * logf(max(Self.unit(first), 1e-7))).squareRoot()
      return SIMD2(sinf(angle), cosf(angle)) * radius
    }
    fill(&numbers) { bits in
      SIMD4(lowHalf: pair(bits[0], bits[1]), highHalf: pair(bits[2], bits[3]))
    }
  }

  private mutating func fill(
    _ numbers: inout MutableSpan<Float>, _ values: (SIMD4<UInt32>) -> SIMD4<Float>
  ) {
    var first = 0
    while first < numbers.count {
      let group = values(next())
      for index in 0..<min(4, numbers.count &- first) { numbers[first &+ index] = group[index] }
      first &+= 4
    }
  }

  /// Draws `count` classes for each row of unnormalized log probabilities; logits that are not finite are
  /// never drawn.
  ///
  /// Skips as many words as TensorFlow does, which is far more than it uses.
  ///
  /// - Parameters:
  ///   - scratch: eight bytes per class.
  ///   - write: receives the index in the output, row by row, and the class.
  package mutating func drawClasses(
    _ logits: Span<Float>, rows: Int, classes: Int, count: Int, scratch: inout MutableRawSpan,
    threads: ThreadTeam, write: (Int, Int) -> Void
  ) {
    precondition(logits.count >= rows * classes && scratch.byteCount >= 8 * classes)
    var stream = self
    skip(UInt64(rows) &* ((UInt64(count) &+ 3) / 4 &* 4) &* 512)
    unsafe scratch.withUnsafeMutableBytes { scratch in
      let sums = unsafe scratch.bindMemory(to: Double.self)
      var bits = SIMD4<UInt32>()
      var used = 4
      var poll = StopPoll(threads)
      for row in 0..<rows {
        if poll.mustStop(before: classes &* 8) { return }
        var greatest = -Float.greatestFiniteMagnitude
        for index in row &* classes..<(row &+ 1) &* classes where logits[index].isFinite {
          greatest = max(greatest, logits[index])
        }
        var total = 0.0
        for index in 0..<classes {
          let logit = logits[row &* classes &+ index]
          if logit.isFinite { total += exp(Double(logit) - Double(greatest)) }
          unsafe sums[index] = total
        }
        for place in 0..<count {
          if poll.mustStop(before: 16) { return }
          if used == 4 { (bits, used) = (stream.next(), 0) }
          let wanted = Self.unit(bits[used], bits[used &+ 1]) * total
          used &+= 2
          var (low, high) = (0, classes)
          while low < high {
            let middle = (low &+ high) / 2
            if unsafe wanted < sums[middle] { high = middle } else { low = middle &+ 1 }
          }
          write(row &* count &+ place, low)
        }
      }
    }
  }

  /// A number of 0 up to 1 of 23 bits.
  private static func unit(_ bits: UInt32) -> Float {
    Float(bitPattern: 127 << 23 | bits & 0x7F_FFFF) - 1
  }

  /// A number of 0 up to 1 of 52 bits.
  private static func unit(_ high: UInt32, _ low: UInt32) -> Double {
    Double(bitPattern: 1023 << 52 | UInt64(high & 0xF_FFFF) << 32 | UInt64(low)) - 1
  }
}
