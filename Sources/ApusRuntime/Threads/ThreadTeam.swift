// SPDX-License-Identifier: Apache-2.0

/// The number of threads of the process-wide pool that one caller may use, and its stop signal.
@safe @usableFromInline package struct ThreadTeam: Sendable {
  /// The maximum number of threads in a team, the calling one included.
  package static let maximumCount = 64

  /// The number of threads, the calling one included.
  @usableFromInline package let count: Int
  /// Whether sleeping threads are woken.
  private let wakes: Bool
  /// The signal that ends work early; not reference counted, because teams are copied everywhere.
  private let signal: Unmanaged<StopSignal>?

  /// Asks for `count` threads, clamped to `1...maximumCount`; threads start when first needed.
  ///
  /// - Parameter signal: ends work early; it must outlive every copy of the team.
  package init(count: Int, stoppedBy signal: StopSignal? = nil) {
    unsafe self.init(
      min(max(count, 1), Self.maximumCount), wakes: true, signal.map { unsafe .passUnretained($0) })
  }

  private init(_ count: Int, wakes: Bool, _ signal: Unmanaged<StopSignal>?) {
    self.count = count
    self.wakes = wakes
    unsafe self.signal = signal
  }

  /// A team of one thread with this team's signal.
  package var alone: ThreadTeam { unsafe ThreadTeam(1, wakes: false, signal) }

  /// Whether work must end; reads the clock if there is a deadline.
  @usableFromInline package var mustStop: Bool {
    guard let signal = unsafe signal else { return false }
    return unsafe signal._withUnsafeGuaranteedRef { $0.mustStop }
  }

  /// This team, waking sleeping threads or not.
  func waking(_ wakes: Bool) -> ThreadTeam { unsafe ThreadTeam(count, wakes: wakes, signal) }

  /// Runs every tile exactly once and returns when all are done.
  ///
  /// Each thread begins with an equal share of neighboring tiles and then helps the others. With one thread
  /// or one tile, with a busy pool, or inside another run, the calling thread runs them all as worker 0.
  @inlinable package func run<W: TileWork>(tiles: Int, _ work: W) {
    // A single tile is short, or checks itself.
    let stops = W.mayStop && tiles > 1 && hasSignal
    if count > 1, tiles > 1 {
      let isDone = unsafe withUnsafePointer(to: work) { address in
        unsafe runInPool(W.self, at: UnsafeRawPointer(address), tiles: tiles, stops: stops)
      }
      if isDone { return }
    }
    if Trace.isOn, tiles > 1 {
      unsafe withUnsafePointer(to: work) { address in
        unsafe runTraced(W.self, at: UnsafeRawPointer(address), tiles: tiles, stops: stops)
      }
      return
    }
    var tile = 0
    while tile < tiles {
      if stops, mustStop { return }
      work.run(tile: tile, worker: 0)
      tile += 1
    }
  }

  /// Runs all tiles on the calling thread, and records them.
  @usableFromInline @inline(never)
  func runTraced(_ work: any TileWork.Type, at address: UnsafeRawPointer, tiles: Int, stops: Bool) {
    let ring = Trace.ring
    var traced = ring.map { TracedTiles($0, label: $0.label) }
    for tile in 0..<tiles {
      if stops, mustStop { break }
      unsafe work.run(at: address, tile: tile, worker: 0)
      traced?.add(tile)
    }
    traced?.end()
  }

  @usableFromInline var hasSignal: Bool { unsafe signal != nil }

  /// Runs all tiles on several threads; returns false and does nothing if the pool is in use.
  @usableFromInline func runInPool(
    _ work: any TileWork.Type, at address: UnsafeRawPointer, tiles: Int, stops: Bool
  ) -> Bool {
    guard tiles <= TileShares.maximumTiles else { return false }
    return unsafe ThreadPool.shared.run(
      work, at: address, tiles: tiles, threads: min(count, tiles), wakes: wakes, signal: stops ? signal : nil)
  }

  /// The length of tiles for `count` equal items, up to `most`. Several threads get two equal tiles each, of
  /// at least `least` items. It is a multiple of 64 if `most` is one, so that tiles share no cache line.
  package func tileLength(_ count: Int, least: Int, most: Int) -> Int {
    guard self.count > 1 else { return most }
    return min(most, roundedUp(max(least, ceilingQuotient(count, 2 &* self.count)), to: 64))
  }

  /// The number of tiles for `rows` rows with `bytes` bytes of work: `alone` on one thread, otherwise at
  /// least two per thread if each then has some kilobytes.
  package func tileCount(rows: Int, bytes: Int, alone: Int) -> Int {
    guard count > 1 else { return alone }
    return max(1, min(rows, max(alone, min(2 &* count, bytes >> 14))))
  }
}
