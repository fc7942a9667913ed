// SPDX-License-Identifier: Apache-2.0

import ApusPixels

/// The weights of one axis of a resize: which source pixels make which result.
struct ResizeAxis {
  /// The sum of the weights of every result.
  static let one = 32_768

  /// The first source pixel of each result.
  private(set) var starts: [Int] = []
  /// Where the weights of each result begin in `weights`; one more entry than results.
  private(set) var offsets: [Int] = [0]
  /// The weights, result by result.
  private(set) var weights: [UInt16] = []

  /// How many results there are.
  var count: Int { starts.count }

  /// The weights that turn `source` pixels into `target` pixels; both are at most 32,768, so no product
  /// below exceeds 2⁴⁷.
  init(source: Int, target: Int, _ resampling: Resampling) {
    precondition(source > 0 && target > 0 && source <= 1 << 20 && target <= 1 << 20)
    starts.reserveCapacity(target)
    offsets.reserveCapacity(target + 1)
    let usesArea = resampling == .area || (resampling == .automatic && source > 2 * target)
    for index in 0..<target {
      if resampling == .nearest {
        append(start: (2 * index + 1) * source / (2 * target), [Self.one])
      } else if resampling == .mediaPipe {
        appendFromCorner(index, source: source, target: target)
      } else if usesArea {
        appendArea(index, source: source, target: target)
      } else {
        appendBilinear(index, source: source, target: target)
      }
    }
  }

  private mutating func append(start: Int, _ values: [Int]) {
    starts.append(start)
    for value in values { weights.append(UInt16(value)) }
    offsets.append(weights.count)
  }

  private mutating func appendBilinear(_ index: Int, source: Int, target: Int) {
    let position = (2 * index + 1) * source - target
    guard position > 0 else { return append(start: 0, [Self.one]) }
    let (start, fraction) = position.quotientAndRemainder(dividingBy: 2 * target)
    let second = (fraction * Self.one + target) / (2 * target)
    if start >= source - 1 || second == 0 {
      append(start: min(start, source - 1), [Self.one])
    } else if second == Self.one {
      append(start: start + 1, [Self.one])
    } else {
      append(start: start, [Self.one - second, second])
    }
  }

  /// Positions are in 1/32 pixels, from the first pixel's.
  private mutating func appendFromCorner(_ index: Int, source: Int, target: Int) {
    let (whole, rest) = (32 * index * source).quotientAndRemainder(dividingBy: target)
    let isUp = 2 * rest > target || 2 * rest == target && !whole.isMultiple(of: 2)
    let (start, fraction) = (whole + (isUp ? 1 : 0)).quotientAndRemainder(dividingBy: 32)
    if start >= source - 1 || fraction == 0 {
      append(start: min(start, source - 1), [Self.one])
    } else {
      let second = fraction * (Self.one / 32)
      append(start: start, [Self.one - second, second])
    }
  }

  /// Result `index` covers `index · source ..< (index + 1) · source` in units of `1 / target` pixels. Rounding
  /// the running total instead of each weight keeps the sum exact.
  private mutating func appendArea(_ index: Int, source: Int, target: Int) {
    let begin = index * source
    let end = begin + source
    let first = begin / target
    var total = 0
    starts.append(first)
    var pixel = first
    while pixel * target < end {
      let covered = min(end, (pixel + 1) * target) - begin
      let rounded = (2 * covered * Self.one + source) / (2 * source)
      weights.append(UInt16(rounded - total))
      total = rounded
      pixel += 1
    }
    offsets.append(weights.count)
  }

  /// The taps in the kernels' form.
  var taps: PictureAxis { PictureAxis(starts: starts, offsets: offsets, weights: weights) }

  /// This axis read from the other end: results and sources are both reversed.
  func reversed(source: Int) -> ResizeAxis {
    var result = self
    result.starts = []
    result.offsets = [0]
    result.weights = []
    for index in stride(from: count - 1, through: 0, by: -1) {
      let range = offsets[index]..<offsets[index + 1]
      result.starts.append(source - starts[index] - range.count)
      for weight in range.reversed() { result.weights.append(weights[weight]) }
      result.offsets.append(result.weights.count)
    }
    return result
  }
}
