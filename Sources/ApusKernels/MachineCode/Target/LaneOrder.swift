// SPDX-License-Identifier: Apache-2.0

/// The column, within a panel or block, that each lane of its vectors stands for, vector by vector.
struct LaneOrder: RandomAccessCollection {
  /// How many lanes there are.
  let endIndex: Int
  private let vectorCount: Int
  /// The binary logarithm of a vector's lanes.
  private let vectorShift: Int

  /// Columns in order.
  init(count: Int) { (endIndex, vectorCount, vectorShift) = (count, 1, Int.bitWidth - 1) }

  /// Columns such that, of vectors of 32-bit lanes, packed by quarters of 128 bits, the bytes come out in order; `lanes` is
  /// a power of two.
  init(quartersOf vectorCount: Int, lanes: Int) {
    (endIndex, self.vectorCount) = (vectorCount * lanes, vectorCount)
    vectorShift = lanes.trailingZeroBitCount
  }

  var startIndex: Int { 0 }

  subscript(lane: Int) -> Int {
    let (vector, place) = (lane &>> vectorShift, lane & ((1 &<< vectorShift) &- 1))
    return 4 &* (place / 4 &* vectorCount &+ vector) &+ place % 4
  }
}
