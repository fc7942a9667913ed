// SPDX-License-Identifier: Apache-2.0

/// The taps of all output rows or columns of a pooling layer that lie inside the input; computed when asked for, as there may be
/// millions of rows.
struct PoolingTaps: RandomAccessCollection, Sendable {
  /// The taps of one output row or column.
  struct Taps {
    let first: Int
    let count: Int
  }

  /// The layer's window, whose dilation is 1.
  let axis: WindowAxis

  var startIndex: Int { 0 }
  var endIndex: Int { axis.places }

  @inline(__always)
  subscript(position: Int) -> Taps {
    let origin = position &* axis.stride &- axis.padding
    let first = Swift.max(0, origin)
    return Taps(first: first, count: Swift.min(axis.size, origin &+ axis.taps) &- first)
  }

  /// Whether there is a tap for each row or column: the first or the last has the fewest.
  var areAllSome: Bool { isEmpty || self[0].count > 0 && self[endIndex - 1].count > 0 }

  /// The numbers of taps, without repetitions of neighbors: they rise and then fall, so each is here twice at most.
  ///
  /// An array, since the first set of a program costs some 0.3 million instructions.
  var counts: [Int] {
    var found: [Int] = []
    for taps in self where taps.count != found.last { found.append(taps.count) }
    return found
  }

  /// The maximum number of taps.
  var most: Int { reduce(0) { Swift.max($0, $1.count) } }
}
