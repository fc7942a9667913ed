// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One thread at a time: a second one is refused instead of kept waiting, as it breaks the API's promise.
final class Exclusion: Sendable {
  private let isTaken = Atomic(false)

  /// Runs a function that no other thread may run meanwhile.
  func run<R>(_ body: () throws(Refusal) -> R) throws(Refusal) -> R {
    guard isTaken.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
      throw Refusal("the interpreter is in use by another call: use one interpreter for each thread")
    }
    defer { isTaken.store(false, ordering: .releasing) }
    return try body()
  }

  /// Runs a function that no other thread may run meanwhile; nil if another thread is in one.
  func runIfFree<R>(_ body: () -> R) -> R? {
    guard isTaken.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
      return nil
    }
    defer { isTaken.store(false, ordering: .releasing) }
    return body()
  }
}
