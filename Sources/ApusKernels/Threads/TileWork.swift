/// Work that is cut into numbered tiles, each of which any thread may do.
///
/// A conformer is a struct of pointers and counts on its caller's stack: it is shared by address, never copied.
package protocol TileWork {
  /// Does one tile; `worker` is below the team's count, and no two calls of one run share it at the same time.
  func run(tile: Int, worker: Int)
}

extension TileWork {
  /// Calls `run` on the value at `address`: an entry that needs no closure, and so no allocation.
  static func run(at address: UnsafeRawPointer, tile: Int, worker: Int) {
    unsafe address.assumingMemoryBound(to: Self.self).pointee.run(tile: tile, worker: worker)
  }
}
