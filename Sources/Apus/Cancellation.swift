// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// A flag by which any thread stops a run of an ``Interpreter``: before its next operator, and within long ones.
///
/// ```swift
/// let cancellation = Cancellation()
/// // on another thread: cancellation.cancel()
/// try interpreter.invoke(cancellation: cancellation)  // throws an error with the code .cancelled
/// ```
public final class Cancellation: Sendable {
  let signal = StopSignal()
  /// When the flag sets itself; nil for never.
  public let deadline: ContinuousClock.Instant?

  /// Makes a flag that is not set.
  ///
  /// - Parameter deadline: When it sets itself; nil for never.
  public init(deadline: ContinuousClock.Instant? = nil) { self.deadline = deadline }

  /// Sets the flag; it stays set.
  public func cancel() {
    signal.set()
  }

  /// Whether the flag is set.
  public var isCancelled: Bool {
    if signal.isSet { return true }
    guard let deadline, ContinuousClock.now >= deadline else { return false }
    signal.set()
    return true
  }
}
