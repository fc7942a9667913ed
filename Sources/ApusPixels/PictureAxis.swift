// SPDX-License-Identifier: Apache-2.0

/// The taps of one axis of a resize: the source pixels of each result and their weights.
///
/// Weights are stored negated, −32,768 to 0: that range fits in `int16`, the positive one does not. Two
/// negated weights multiply a value, one after the other, so the signs cancel out.
package struct PictureAxis: Sendable {
  /// The first source pixel of each result.
  let starts: [Int]
  /// The index of each result's first weight; one more entry than results.
  let offsets: [Int]
  /// The negated weights, result by result; those of a result add up to −32,768.
  let weights: [Int16]
  /// The minimum and maximum number of taps per result.
  let tapRange: ClosedRange<Int>

  /// The maximum number of taps per result.
  var maximumTaps: Int { tapRange.upperBound }

  /// The number of results.
  package var count: Int { starts.count }

  /// The number of source pixels that taps reach.
  let sourceCount: Int

  /// Creates an axis from taps whose weights are positive and add up to 32,768 for each result.
  package init(starts: [Int], offsets: [Int], weights: [UInt16]) {
    precondition(offsets.count == starts.count + 1 && offsets.first == 0 && offsets.last == weights.count)
    var (fewest, most, reach) = (Int.max, 1, 0)
    for index in starts.indices {
      let (start, taps) = (starts[index], offsets[index + 1] - offsets[index])
      precondition(taps > 0 && start >= 0)
      if taps < fewest { fewest = taps }
      if taps > most { most = taps }
      if start + taps > reach { reach = start + taps }
    }
    self.starts = starts
    self.offsets = offsets
    self.weights = Self.negated(weights)
    tapRange = min(fewest, most)...most
    sourceCount = reach
  }

  /// The weights, negated. A loop without a closure, which a debug build would call for each weight.
  private static func negated(_ weights: [UInt16]) -> [Int16] {
    unsafe [Int16](unsafeUninitializedCapacity: weights.count) { result, initialized in
      initialized = weights.count
      unsafe weights.withUnsafeBufferPointer { weights in
        guard let to = result.baseAddress, let from = weights.baseAddress else { return }
        var index = 0
        while index < weights.count {
          unsafe to[index] = Int16(bitPattern: 0 &- from[index])
          index &+= 1
        }
      }
    }
  }

  /// All weights in pairs, `count` for each result, the first of a pair in the lower half; zero for missing ones.
  func pairs(_ count: Int) -> [UInt32] {
    var pairs = [UInt32](repeating: 0, count: self.count * count)
    unsafe pairs.withUnsafeMutableBytes { pairs in
      unsafe weights.withUnsafeBytes { weights in
        guard let to = pairs.baseAddress, let from = weights.baseAddress else { return }
        for result in starts.indices {
          let first = offsets[result]
          unsafe (to + 4 * count * result).copyMemory(
            from: from + 2 * first, byteCount: 2 * (offsets[result + 1] - first))
        }
      }
    }
    return pairs
  }

  /// Two consecutive weights in one 32-bit word; zero for a missing second one.
  func pair(_ index: Int, of result: Int) -> UInt32 {
    let first = offsets[result] + 2 * index
    guard first < offsets[result + 1] else { return 0 }
    let second = first + 1 < offsets[result + 1] ? weights[first + 1] : 0
    return UInt32(UInt16(bitPattern: weights[first])) | UInt32(UInt16(bitPattern: second)) << 16
  }
}
