// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// A flag that stops a run of an ``Interpreter`` from any thread: before its next operator, or in the middle of a long one.
///
/// ```swift
/// let cancellation = Cancellation()
/// // on another thread: cancellation.cancel()
/// try interpreter.invoke(cancellation: cancellation)  // throws an error with the code .cancelled
/// ```
public final class Cancellation: Sendable {
  let signal = StopSignal()
  /// When the flag sets itself; nil means never.
  public let deadline: ContinuousClock.Instant?

  /// Makes a flag that is not set.
  ///
  /// - Parameter deadline: When it sets itself; nil means never.
  public init(deadline: ContinuousClock.Instant? = nil) { self.deadline = deadline }

  /// Sets the flag. It stays set, so that every later run with it is cancelled, too.
  public func cancel() {
    signal.set()
  }

  /// Whether the flag is set, or its deadline has passed.
  public var isCancelled: Bool {
    if signal.isSet { return true }
    guard let deadline, ContinuousClock.now >= deadline else { return false }
    signal.set()
    return true
  }
}
