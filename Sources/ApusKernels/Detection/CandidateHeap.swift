// SPDX-License-Identifier: Apache-2.0

/// Candidates by descending score; of equal scores the lower index comes first.
@safe struct CandidateHeap {
  private let keys: UnsafeMutablePointer<UInt64>
  private(set) var count: Int

  /// Makes a heap of `count` keys in place.
  init(_ keys: UnsafeMutablePointer<UInt64>, count: Int) {
    unsafe self.keys = keys
    self.count = count
    var parent = count / 2
    while parent > 0 {
      parent &-= 1
      siftDown(parent)
    }
  }

  /// Keys that are a heap already.
  init(heaped keys: UnsafeMutablePointer<UInt64>, count: Int) {
    unsafe self.keys = keys
    self.count = count
  }

  /// The first candidate's key; the heap must not be empty.
  var first: UInt64 { unsafe keys[0] }

  /// A key whose order is that of scores and indices; NaN comes last.
  @inline(__always)
  static func key(score: Float, number: Int) -> UInt64 {
    // Adding 0 makes both zeros equal. The bits of negative numbers have reverse order.
    let bits = (score + 0).bitPattern
    let ordered = score.isNaN ? 0 : bits >> 31 == 0 ? bits | 1 << 31 : ~bits
    return UInt64(ordered) << 32 | UInt64(~UInt32(truncatingIfNeeded: number))
  }

  /// The number in a key.
  static func number(_ key: UInt64) -> Int { Int(~UInt32(truncatingIfNeeded: key)) }

  /// Takes out the number of the first candidate.
  mutating func removeFirst() -> Int {
    let first = first
    count &-= 1
    replaceFirst(with: unsafe keys[count])
    return Self.number(first)
  }

  /// Replaces the first candidate.
  func replaceFirst(with key: UInt64) {
    unsafe keys[0] = key
    siftDown(0)
  }

  private func siftDown(_ start: Int) {
    var parent = start
    let key = unsafe keys[parent]
    while true {
      var child = 2 &* parent &+ 1
      guard child < count else { break }
      if child &+ 1 < count, unsafe keys[child &+ 1] > keys[child] { child &+= 1 }
      guard unsafe keys[child] > key else { break }
      unsafe keys[parent] = keys[child]
      parent = child
    }
    unsafe keys[parent] = key
  }
}
