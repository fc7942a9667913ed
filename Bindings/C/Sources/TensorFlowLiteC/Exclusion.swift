// SPDX-License-Identifier: Apache-2.0

import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// One thread at a time: a second one is refused instead of kept waiting, as it breaks the API's promise.
final class Exclusion: Sendable {
  /// Which thread is in a call.
  enum User: Int32 {
    case nobody = 0
    case anotherThread = 1
    case thisThread = 2
  }

  /// The number of the thread that is in a call; 0 if none is.
  private let thread = Atomic<UInt>(0)

  private static var thisThread: UInt {
    #if canImport(Glibc)
      UInt(pthread_self())
    #else
      UInt(bitPattern: pthread_self())
    #endif
  }

  /// Which thread is in a call at this moment.
  var user: User {
    switch thread.load(ordering: .acquiring) {
    case 0: .nobody
    case Self.thisThread: .thisThread
    default: .anotherThread
    }
  }

  /// Runs a function that no other thread may run meanwhile.
  func run<R>(_ body: () throws(Refusal) -> R) throws(Refusal) -> R {
    guard take() else {
      throw Refusal("the interpreter is in use by another call: use one interpreter for each thread")
    }
    defer { thread.store(0, ordering: .releasing) }
    return try body()
  }

  /// Runs a function that no other thread may run meanwhile; nil if a thread is in one.
  @inline(__always)
  func runIfFree<R>(_ body: () -> R) -> R? {
    guard take() else { return nil }
    defer { thread.store(0, ordering: .releasing) }
    return body()
  }

  @inline(__always)
  private func take() -> Bool {
    thread.compareExchange(expected: 0, desired: Self.thisThread, ordering: .acquiring).exchanged
  }
}
