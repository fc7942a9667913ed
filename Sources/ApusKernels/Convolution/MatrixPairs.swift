// SPDX-License-Identifier: Apache-2.0

/// Which matrices of two tensors are multiplied with each other: their leading dimensions are broadcast against each other.
///
/// Pairs are computed when they are asked for: there may be as many as a tensor has elements.
package struct MatrixPairs: Sendable {
  /// The numbers of a matrix on the left and of one on the right.
  package typealias Pair = (lhs: Int, rhs: Int)

  private struct Axis: Sendable {
    let count: Int
    /// How many matrices further the next index is.
    let lhs: Int
    let rhs: Int
  }

  /// Innermost first.
  private let axes: [Axis]
  /// How many pairs there are.
  package let count: Int
  /// How many matrices there are on either side.
  package let lhsCount: Int
  package let rhsCount: Int
  /// How many neighbors, from each multiple of it on, have the same matrix on the right.
  package let together: Int

  /// Pairs of matrices in tensors with such leading dimensions, as many on both sides, of which each two are equal or one of them is
  /// 1. Their products do not overflow.
  package init(lhs: [Int], rhs: [Int]) {
    precondition(lhs.count == rhs.count)
    var axes: [Axis] = []
    var (count, lhsCount, rhsCount, together) = (1, 1, 1, 1)
    for (left, right) in zip(lhs, rhs).reversed() {
      precondition(left == right || left == 1 || right == 1)
      let length = left == 1 ? right : left
      axes.append(Axis(count: length, lhs: left == 1 ? 0 : lhsCount, rhs: right == 1 ? 0 : rhsCount))
      if rhsCount == 1, right == 1 { together *= length }
      count *= length
      lhsCount *= left
      rhsCount *= right
    }
    (self.axes, self.count, self.lhsCount, self.rhsCount) = (axes, count, lhsCount, rhsCount)
    self.together = max(together, 1)
  }

  /// A pair by its number, below ``count``.
  package subscript(number: Int) -> Pair {
    var (rest, pair) = (number, (lhs: 0, rhs: 0))
    for axis in axes {
      let (outer, index) = rest.quotientAndRemainder(dividingBy: axis.count)
      pair.lhs &+= index &* axis.lhs
      pair.rhs &+= index &* axis.rhs
      rest = outer
    }
    return pair
  }
}
