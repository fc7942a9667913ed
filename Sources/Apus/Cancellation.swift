// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A flag by which any thread stops a run of an ``Interpreter`` before its next operator.
///
/// ```swift
/// let cancellation = Cancellation()
/// // on another thread: cancellation.cancel()
/// try interpreter.invoke(cancellation: cancellation)  // throws an error with the code .cancelled
/// ```
public final class Cancellation: Sendable {
  private let flag = Atomic<Bool>(false)

  /// Makes a flag that is not set.
  public init() {}

  /// Sets the flag; it stays set.
  public func cancel() {
    flag.store(true, ordering: .releasing)
  }

  /// Whether the flag is set.
  public var isCancelled: Bool {
    flag.load(ordering: .acquiring)
  }
}
