// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The tiles of a run that each worker has still to do.
///
/// Each gets neighboring tiles, and those of one run lie in the tensor where those of the next do: what a worker has
/// written it mostly reads again, from its own cache. Who is done early takes tiles from the ends of the other shares.
@safe struct TileShares: @unchecked Sendable {
  // @unchecked: the memory is of atomic values, and never freed: the process has one pool.
  private let shares: UnsafeMutablePointer<Atomic<UInt64>>
  /// Shares lie in cache lines of their own, and apart from the lines that are fetched with them.
  private static let spacing = 16

  /// The most tiles of a run.
  static let mostTiles = 1 << 31

  init() {
    let count = ThreadTeam.maximumCount * Self.spacing
    unsafe shares = .allocate(capacity: count)
    for index in 0..<count { unsafe (shares + index).initialize(to: Atomic(0)) }
  }

  /// Deals `tiles` tiles, ``mostTiles`` at most, to the first `count` workers, while none of them is at work.
  func deal(tiles: Int, to count: Int) {
    for worker in 0..<count {
      let range = share(of: tiles, tile: worker, of: count)
      unsafe shares[worker &* Self.spacing].store(
        Self.word(range.lowerBound, range.upperBound), ordering: .relaxed)
    }
  }

  /// The next tile of a worker's own share; nil where none is left.
  func takeFirst(of worker: Int) -> Int? { take(worker) { first, end in (first, first &+ 1, end) } }

  /// The last tile of another worker's share; nil where none is left.
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
