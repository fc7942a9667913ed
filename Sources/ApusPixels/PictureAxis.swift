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
  var mostTaps: Int { tapRange.upperBound }

  /// The number of results.
  package var count: Int { starts.count }

  /// The number of source pixels that taps reach.
  let sourceCount: Int

  /// Creates an axis from taps whose weights are positive and add up to 32,768 for each result.
  package init(starts: [Int], offsets: [Int], weights: [UInt16]) {
    precondition(offsets.count == starts.count + 1 && offsets.first == 0 && offsets.last == weights.count)
    var (fewest, most, reach) = (Int.max, 1, 0)
    for index in starts.indices {
      let taps = offsets[index + 1] - offsets[index]
      precondition(taps > 0 && starts[index] >= 0)
      (fewest, most) = (min(fewest, taps), max(most, taps))
      reach = max(reach, starts[index] + taps)
    }
    self.starts = starts
    self.offsets = offsets
    self.weights = weights.map { Int16(truncatingIfNeeded: -Int32($0)) }
    tapRange = min(fewest, most)...most
    sourceCount = reach
  }

  /// Two consecutive weights in one 32-bit word; zero for a missing second one.
  func pair(_ index: Int, of result: Int) -> UInt32 {
    let first = offsets[result] + 2 * index
    guard first < offsets[result + 1] else { return 0 }
    let second = first + 1 < offsets[result + 1] ? weights[first + 1] : 0
    return UInt32(UInt16(bitPattern: weights[first])) | UInt32(UInt16(bitPattern: second)) << 16
  }
}
