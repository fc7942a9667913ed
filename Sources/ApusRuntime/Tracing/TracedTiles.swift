// SPDX-License-Identifier: Apache-2.0

import ApusSystem

/// Records the tiles that a thread computes, one after the other.
///
/// Reading the clock takes as long as a small tile, so tiles that are short are recorded several at once.
struct TracedTiles {
  private let ring: TraceRing
  private let label: Int32
  private var start = monotonicNanoseconds()
  private var first: Int32 = 0
  private var count: Int32 = 0
  /// How many tiles an event has.
  private var group: Int32 = 1

  /// An event is not much shorter, where it has several tiles.
  private static let minimumNanoseconds = 12_000
  private static let maximumTiles: Int32 = 1 << 16

  /// The tiles of work with a label, from now on.
  init(_ ring: TraceRing, label: Int32) {
    self.ring = ring
    self.label = label
  }

  /// Counts a tile that was just computed.
  mutating func add(_ tile: Int) {
    if count == 0 { first = Int32(truncatingIfNeeded: tile) }
    count += 1
    if count == group { end() }
  }

  /// Records the tiles that were counted.
  mutating func end() {
    guard count > 0 else { return }
    let now = monotonicNanoseconds()
    ring.append(.tile, label: label, number: first, count: count, from: start, to: now)
    let duration = now &- start
    if duration < Self.minimumNanoseconds {
      group = min(2 &* group, Self.maximumTiles)
    } else if duration > 4 &* Self.minimumNanoseconds {
      group = max(group / 2, 1)
    }
    (start, count) = (now, 0)
  }
}
