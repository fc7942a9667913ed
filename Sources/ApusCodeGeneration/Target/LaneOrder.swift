// SPDX-License-Identifier: Apache-2.0

/// The order of a panel's columns in its lanes: the column of each lane, vector by vector.
struct LaneOrder: RandomAccessCollection {
  /// The number of lanes.
  let endIndex: Int
  private let vectorCount: Int
  /// The binary logarithm of the number of lanes in a vector.
  private let vectorShift: Int

  /// Lane `i` is column `i`.
  init(count: Int) { (endIndex, vectorCount, vectorShift) = (count, 1, Int.bitWidth - 1) }

  /// The order that makes packed bytes come out sorted, where `vpackssdw` and its like pack within quarters
  /// of 128 bits.
  ///
  /// - Parameter lanes: the number of 32-bit lanes in a vector, a power of two.
  init(quartersOf vectorCount: Int, lanes: Int) {
    (endIndex, self.vectorCount) = (vectorCount * lanes, vectorCount)
    vectorShift = lanes.trailingZeroBitCount
  }

  var startIndex: Int { 0 }

  subscript(lane: Int) -> Int {
    let (vector, place) = (lane &>> vectorShift, lane & ((1 &<< vectorShift) &- 1))
    return 4 &* (place &>> 2 &* vectorCount &+ vector) &+ place & 3
  }
}
