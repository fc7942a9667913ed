// SPDX-License-Identifier: Apache-2.0

/// The taps of one axis of a resize: which source pixels make each result, and with what weight.
///
/// Weights are stored negated, −32,768 to 0: that range is one of `int16`, its positive counterpart is not. Two
/// negated weights multiply a value twice, in turn, so that signs cancel out.
package struct PictureAxis: Sendable {
  /// The first source pixel of each result.
  let starts: [Int]
  /// Where the weights of each result begin; one more entry than results.
  let offsets: [Int]
  /// The negated weights, result by result; those of a result add up to −32,768.
  let weights: [Int16]
  /// The fewest and the most taps of a result.
  let tapRange: ClosedRange<Int>

  /// The most taps of a result.
  var mostTaps: Int { tapRange.upperBound }

  /// How many results there are.
  package var count: Int { starts.count }

  /// How many source pixels the taps reach.
  let sourceCount: Int

  /// Takes taps whose weights are positive and add up to 32,768 for each result.
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

  /// Two weights side by side, as they meet two neighboring words; zero for the second where there is none.
  func pair(_ index: Int, of result: Int) -> UInt32 {
    let first = offsets[result] + 2 * index
    guard first < offsets[result + 1] else { return 0 }
    let second = first + 1 < offsets[result + 1] ? weights[first + 1] : 0
    return UInt32(UInt16(bitPattern: weights[first])) | UInt32(UInt16(bitPattern: second)) << 16
  }
}
