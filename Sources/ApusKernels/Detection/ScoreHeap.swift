// SPDX-License-Identifier: Apache-2.0

/// A queue of items by descending score.
///
/// Equal scores leave in the order of GCC's `std::priority_queue`, which is the references' order.
@safe struct ScoreHeap {
  /// A score and its item.
  struct Entry {
    var score: Float
    var item: Int32
  }

  private let entries: UnsafeMutablePointer<Entry>
  private(set) var count = 0

  /// An empty queue in memory for `capacity` entries.
  init(_ memory: UnsafeMutableRawPointer, capacity: Int) {
    unsafe entries = memory.bindMemory(to: Entry.self, capacity: capacity)
  }

  /// Adds an item.
  mutating func insert(_ entry: Entry) {
    count &+= 1
    siftUp(entry, from: count &- 1)
  }

  /// Removes an item with the maximum score; the queue must not be empty.
  mutating func removeFirst() -> Entry {
    let first = unsafe entries[0]
    count &-= 1
    guard count > 0 else { return first }
    let last = unsafe entries[count]
    // The hole moves down to a leaf, and the last entry moves up from there.
    var hole = 0
    while 2 &* hole &+ 2 < count {
      var child = 2 &* hole &+ 2
      if unsafe entries[child].score < entries[child &- 1].score { child &-= 1 }
      unsafe entries[hole] = entries[child]
      hole = child
    }
    if 2 &* hole &+ 2 == count {
      unsafe entries[hole] = entries[2 &* hole &+ 1]
      hole = 2 &* hole &+ 1
    }
    siftUp(last, from: hole)
    return first
  }

  private func siftUp(_ entry: Entry, from start: Int) {
    var hole = start
    while hole > 0 {
      let parent = (hole &- 1) / 2
      guard unsafe entries[parent].score < entry.score else { break }
      unsafe entries[hole] = entries[parent]
      hole = parent
    }
    unsafe entries[hole] = entry
  }
}
