/// How many threads of the process-wide pool one caller asks for.
package struct ThreadTeam: Sendable {
  /// The most threads a team can ask for, the calling one among them.
  package static let maximumCount = 64

  /// The number of threads asked for, the calling one among them.
  package let count: Int

  /// Asks for `count` threads, brought into `1...maximumCount`; none is started before it is needed.
  package init(count: Int) {
    self.count = min(max(count, 1), Self.maximumCount)
  }

  /// Does every tile exactly once and returns when all are done.
  ///
  /// Tiles are handed out in order, to whichever thread is free. With one thread or one tile, with a busy pool,
  /// or inside another run, the calling thread does them all as worker 0.
  package func run<W: TileWork>(tiles: Int, _ work: W) {
    if count > 1, tiles > 1 {
      let isDone = unsafe withUnsafePointer(to: work) { address in
        unsafe ThreadPool.shared.run(
          W.self, at: UnsafeRawPointer(address), tiles: tiles, threads: min(count, tiles))
      }
      if isDone { return }
    }
    var tile = 0
    while tile < tiles {
      work.run(tile: tile, worker: 0)
      tile += 1
    }
  }
}
