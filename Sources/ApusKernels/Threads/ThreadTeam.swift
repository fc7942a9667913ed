// SPDX-License-Identifier: Apache-2.0

/// How many threads of the process-wide pool one caller asks for.
@safe package struct ThreadTeam: Sendable {
  /// The most threads a team can ask for, the calling one among them.
  package static let maximumCount = 64

  /// The number of threads asked for, the calling one among them.
  package let count: Int
  /// Whether threads that sleep are woken.
  private let wakes: Bool
  /// What ends work early; uncounted, as teams are copied into everything.
  private let signal: Unmanaged<StopSignal>?

  /// Asks for `count` threads, brought into `1...maximumCount`; none is started before it is needed.
  ///
  /// - Parameter signal: What ends work early; it outlives every copy of the team.
  package init(count: Int, stoppedBy signal: StopSignal? = nil) {
    unsafe self.init(
      min(max(count, 1), Self.maximumCount), wakes: true, signal.map { unsafe .passUnretained($0) })
  }

  private init(_ count: Int, wakes: Bool, _ signal: Unmanaged<StopSignal>?) {
    self.count = count
    self.wakes = wakes
    unsafe self.signal = signal
  }

  /// One thread, with what ends work early.
  package var alone: ThreadTeam { unsafe ThreadTeam(1, wakes: false, signal) }

  /// Whether work has to end; looks at the clock if there is a deadline.
  package var mustStop: Bool {
    guard let signal = unsafe signal else { return false }
    return unsafe signal._withUnsafeGuaranteedRef { $0.mustStop }
  }

  /// The same, which wakes threads that sleep, or does not.
  func waking(_ wakes: Bool) -> ThreadTeam { unsafe ThreadTeam(count, wakes: wakes, signal) }

  /// Does every tile exactly once and returns when all are done.
  ///
  /// Each thread begins with an equal share of neighboring tiles and then helps the others. With one thread or one
  /// tile, with a busy pool, or inside another run, the calling thread does them all as worker 0.
  package func run<W: TileWork>(tiles: Int, _ work: W) {
    // What is one tile is short, or asks itself.
    let stops = unsafe W.mayStop && signal != nil && tiles > 1
    if count > 1, tiles > 1, tiles <= TileShares.mostTiles {
      let isDone = unsafe withUnsafePointer(to: work) { address in
        unsafe ThreadPool.shared.run(
          W.self, at: UnsafeRawPointer(address), tiles: tiles, threads: min(count, tiles), wakes: wakes,
          signal: stops ? signal : nil)
      }
      if isDone { return }
    }
    var tile = 0
    while tile < tiles {
      if stops, mustStop { return }
      work.run(tile: tile, worker: 0)
      tile += 1
    }
  }

  /// The length of tiles of `count` like things, `most` at most: for several threads, two equal tiles for each, but no
  /// fewer things than `least`. A multiple of 64 if `most` is one, so that tiles share no cache line.
  func tileLength(_ count: Int, least: Int, most: Int) -> Int {
    guard self.count > 1 else { return most }
    return min(most, roundedUp(max(least, ceilingQuotient(count, 2 &* self.count)), to: 64))
  }

  /// The tiles to cut `rows` rows into, with `bytes` bytes of work in all: `alone` for one thread, else at least two for
  /// each if that leaves some kilobytes for each.
  package func tileCount(rows: Int, bytes: Int, alone: Int) -> Int {
    guard count > 1 else { return alone }
    return max(1, min(rows, max(alone, min(2 &* count, bytes >> 14))))
  }
}
