// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Weighted sums of rows of a table, one for each position of a sparse tensor's leading axes.
package struct EmbeddingSums: Sendable {
  /// The divisor of a sum.
  package enum Combiner: Sendable {
    case sum
    /// The sum of weights.
    case mean
    /// The root of the sum of the squares of weights.
    case squareRoot
  }

  /// An error in the data.
  package enum Failure: Hashable, Sendable {
    /// The lookup with this index names a row outside the table.
    case row(Int)
    /// The lookup with this index names a position outside the result.
    case place(Int)
  }

  private let sizes: [Int]
  private let tableRows: Int
  private let width: Int
  private let combiner: Combiner
  private let places: Int

  /// Describes sums for the positions of a shape, of rows with `width` numbers.
  package init(sizes: [Int], tableRows: Int, width: Int, combiner: Combiner) {
    self.sizes = sizes
    self.tableRows = tableRows
    self.width = width
    self.combiner = combiner
    // The product wraps only if some size is zero.
    places = sizes.reduce(1, &*)
  }

  /// Writes the sums. Lookups of one position are consecutive; `indices` has one column more than the result
  /// has axes.
  package func run(
    ids: Span<Int32>, indices: Span<Int32>, weights: Span<Float>, table: Span<Float>,
    to output: inout MutableSpan<Float>, threads: ThreadTeam
  ) -> Failure? {
    let columns = sizes.count + 1
    precondition(
      indices.count >= ids.count * columns && weights.count >= ids.count && table.count >= tableRows * width
        && output.count >= places * width)
    for index in output.indices { output[index] = 0 }
    var current = 0
    var total: Float = 0
    var squares: Float = 0
    var isEmpty = true
    func finish(_ output: inout MutableSpan<Float>) {
      guard !isEmpty, combiner != .sum else { return }
      let divisor = combiner == .mean ? total : squares.squareRoot()
      for index in current &* width..<(current &+ 1) &* width { output[index] /= divisor }
    }
    var poll = StopPoll(threads)
    for lookup in ids.indices {
      if poll.mustStop(before: width) { return nil }
      let row = Int(ids[lookup])
      guard row >= 0, row < tableRows else { return .row(lookup) }
      var place = 0
      for axis in sizes.indices {
        // An index far outside may wrap; the result is checked anyway.
        place = place &* sizes[axis] &+ Int(indices[lookup &* columns &+ axis])
      }
      guard place >= 0, place < places else { return .place(lookup) }
      if place != current {
        finish(&output)
        (current, total, squares, isEmpty) = (place, 0, 0, true)
      }
      let weight = weights[lookup]
      isEmpty = false
      squares += weight * weight
      total += weight
      for index in 0..<width { output[place &* width &+ index] += table[row &* width &+ index] * weight }
    }
    finish(&output)
    return nil
  }
}
