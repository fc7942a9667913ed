// SPDX-License-Identifier: Apache-2.0

/// How a thread waits for a GPU, in ``MetalDelegate/Options``.
public enum ThreadWaitType: Equatable, Hashable, Sendable {
  /// Not at all.
  case none
  /// Asleep.
  case passive
  /// Awake, for the shortest delay.
  case active
  /// Awake, and keeping the GPU awake.
  case aggressive
}
