// SPDX-License-Identifier: Apache-2.0

import ApusRuntime
import ApusSystem
import Synchronization

/// A flag that stops a run of an ``Interpreter`` from any thread: before its next operator, or in the middle of a long one.
///
/// ```swift
/// let cancellation = Cancellation()
/// // on another thread: cancellation.cancel()
/// try interpreter.invoke(cancellation: cancellation)  // throws an error with the code .cancelled
/// ```
public final class Cancellation: Sendable {
  private struct Handlers {
    var waiting: [Int: @Sendable () -> Void] = [:]
    var count = 0
  }

  let signal = StopSignal()
  private let handlers = Mutex(Handlers())
  /// When the flag sets itself; nil means never.
  package let deadline: Moment?

  /// Makes a flag that is not set.
  public init() { deadline = nil }

  @usableFromInline
  init(after delay: Duration?) { deadline = delay.map { .now + $0 } }

  /// Sets the flag. It stays set, so that every later run with it is cancelled, too.
  public func cancel() {
    signal.set()
    for handler in handlers.withLock({ Array($0.waiting.values) }) { handler() }
  }

  /// Calls `body`, and `handler` on the thread that sets the flag meanwhile: at once if it is set already, and not for a
  /// deadline that passes.
  package func withHandler<R, E: Error>(
    _ handler: @escaping @Sendable () -> Void, _ body: () throws(E) -> R
  ) throws(E) -> R {
    let number = handlers.withLock { handlers in
      handlers.count += 1
      handlers.waiting[handlers.count] = handler
      return handlers.count
    }
    defer { handlers.withLock { _ = $0.waiting.removeValue(forKey: number) } }
    if signal.isSet { handler() }
    return try body()
  }

  /// Whether the flag is set, or its deadline has passed.
  public var isCancelled: Bool {
    if signal.isSet { return true }
    guard let deadline, Moment.now >= deadline else { return false }
    signal.set()
    return true
  }
}

extension Cancellation {
  // `ContinuousClock` is part of Swift's concurrency library, with all of libdispatch. As code of callers, it is linked into their
  // programs alone.
  /// Makes a flag that sets itself.
  ///
  /// - Parameter deadline: When it sets itself; nil means never.
  @_alwaysEmitIntoClient
  public convenience init(deadline: ContinuousClock.Instant?) {
    self.init(after: deadline.map { ContinuousClock.now.duration(to: $0) })
  }
}
