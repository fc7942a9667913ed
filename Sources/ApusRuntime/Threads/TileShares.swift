// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The remaining tiles of each worker in a run.
///
/// A worker gets neighboring tiles, at the same positions in consecutive runs. So it mostly reads what it
/// wrote itself, from its own cache. Workers that finish early take tiles from the ends of other shares.
@safe struct TileShares: @unchecked Sendable {
  // @unchecked: the memory has atomic values and is never freed; the process has one pool.
  private let shares: UnsafeMutablePointer<Atomic<UInt64>>
  /// Each share has its own cache line, and the line that is prefetched with it.
  private static let spacing = 16

  /// The maximum number of tiles in a run.
  static let maximumTiles = 1 << 31

  init() {
    let count = ThreadTeam.maximumCount * Self.spacing
    unsafe shares = .allocate(capacity: count)
    for index in 0..<count { unsafe (shares + index).initialize(to: Atomic(0)) }
  }

  /// Deals up to ``maximumTiles`` tiles to the first `count` workers, while none of them is at work.
  func deal(tiles: Int, to count: Int) {
    for worker in 0..<count {
      let range = share(of: tiles, tile: worker, of: count)
      unsafe shares[worker &* Self.spacing].store(
        Self.word(range.lowerBound, range.upperBound), ordering: .relaxed)
    }
  }

  /// The next tile of a worker's own share; nil if none is left.
  func takeFirst(of worker: Int) -> Int? { take(worker) { first, end in (first, first &+ 1, end) } }

  /// The last tile of another worker's share; nil if none is left.
  func takeLast(of worker: Int) -> Int? { take(worker) { first, end in (end &- 1, first, end &- 1) } }

  @inline(__always)
  private func take(_ worker: Int, _ choose: (Int, Int) -> (tile: Int, first: Int, end: Int)) -> Int? {
    var word = unsafe shares[worker &* Self.spacing].load(ordering: .relaxed)
    while true {
      let (first, end) = (Int(word >> 32), Int(word & 0xFFFF_FFFF))
      guard first < end else { return nil }
      let choice = choose(first, end)
      let (isTaken, found) = unsafe shares[worker &* Self.spacing].compareExchange(
        expected: word, desired: Self.word(choice.first, choice.end), ordering: .relaxed)
      if isTaken { return choice.tile }
      word = found
    }
  }

  private static func word(_ first: Int, _ end: Int) -> UInt64 { UInt64(first) << 32 | UInt64(end) }
}
