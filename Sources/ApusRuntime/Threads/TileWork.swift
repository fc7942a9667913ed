// SPDX-License-Identifier: Apache-2.0

/// Work that is cut into numbered tiles, each of which any thread may run.
///
/// A conformer is a struct of pointers and counts on its caller's stack: it is shared by address, never
/// copied.
@usableFromInline package protocol TileWork {
  /// Runs one tile; `worker` is below the team's count, and no two concurrent calls of one run share it.
  func run(tile: Int, worker: Int)
  /// Whether tiles may be skipped once a ``StopSignal`` is set. They may if they compute values only, never
  /// offsets or counts that later code of the operator relies on.
  static var mayStop: Bool { get }
}

extension TileWork {
  @inlinable package static var mayStop: Bool { false }
}

extension TileWork {
  /// Calls `run` on the value at `address`; unlike a closure, this needs no allocation.
  static func run(at address: UnsafeRawPointer, tile: Int, worker: Int) {
    unsafe address.assumingMemoryBound(to: Self.self).pointee.run(tile: tile, worker: worker)
  }
}

/// Work of another module as a function and a context, since generic code here is not specialized for its
/// type.
@safe package struct TileCalls: TileWork {
  private let context: UnsafeRawPointer
  private let body: (UnsafeRawPointer, Int) -> Void

  /// Work at `context`, which must stay valid during the run; `body` runs one tile.
  package init(_ context: UnsafeRawPointer, _ body: @escaping (UnsafeRawPointer, Int) -> Void) {
    unsafe self.context = context
    unsafe self.body = unsafe body
  }

  package func run(tile: Int, worker: Int) { unsafe body(context, tile) }
}

extension ThreadTeam {
  /// Runs every tile of another module's work.
  package func runCalls(tiles: Int, _ calls: TileCalls) { run(tiles: tiles, calls) }
}
