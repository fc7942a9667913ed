// SPDX-License-Identifier: Apache-2.0

/// Work that is cut into numbered tiles, each of which any thread may do.
///
/// A conformer is a struct of pointers and counts on its caller's stack: it is shared by address, never copied.
package protocol TileWork {
  /// Does one tile; `worker` is below the team's count, and no two calls of one run share it at the same time.
  func run(tile: Int, worker: Int)
  /// Whether tiles may be left out once a ``StopSignal`` is set: only where they compute values, never what later code of
  /// the same operator takes for places or counts.
  static var mayStop: Bool { get }
}

extension TileWork {
  package static var mayStop: Bool { false }
}

extension TileWork {
  /// Calls `run` on the value at `address`: an entry that needs no closure, and so no allocation.
  static func run(at address: UnsafeRawPointer, tile: Int, worker: Int) {
    unsafe address.assumingMemoryBound(to: Self.self).pointee.run(tile: tile, worker: worker)
  }
}

/// Work of another module: a function and what it is called with, as generic code of this one does not know its type there.
@safe package struct TileCalls: TileWork {
  private let context: UnsafeRawPointer
  private let body: (UnsafeRawPointer, Int) -> Void

  /// Work that lies at `context` for as long as it runs; `body` does a tile of it.
  package init(_ context: UnsafeRawPointer, _ body: @escaping (UnsafeRawPointer, Int) -> Void) {
    unsafe self.context = context
    unsafe self.body = unsafe body
  }

  package func run(tile: Int, worker: Int) { unsafe body(context, tile) }
}

extension ThreadTeam {
  /// Does every tile of work of another module.
  package func runCalls(tiles: Int, _ calls: TileCalls) { run(tiles: tiles, calls) }
}
