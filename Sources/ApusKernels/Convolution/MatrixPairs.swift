// SPDX-License-Identifier: Apache-2.0

/// The pairs of matrices that a batched product multiplies: the leading dimensions of two tensors, broadcast.
///
/// Pairs are computed on demand: there may be as many as a tensor has elements.
package struct MatrixPairs: Sendable {
  /// The indices of a left and a right matrix.
  package typealias Pair = (lhs: Int, rhs: Int)

  private struct Axis: Sendable {
    let count: Int
    /// The stride of the axis, in matrices.
    let lhs: Int
    let rhs: Int
  }

  /// The axes, innermost first.
  private let axes: [Axis]
  /// The number of pairs.
  package let count: Int
  /// The number of matrices on each side.
  package let lhsCount: Int
  package let rhsCount: Int
  /// The number of consecutive pairs, from each multiple of it on, with one right matrix.
  package let together: Int

  /// Pairs of matrices for these leading dimensions: equally many on both sides, each two equal or one of
  /// them 1, and products that do not overflow.
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

  /// The pair with an index below ``count``.
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
