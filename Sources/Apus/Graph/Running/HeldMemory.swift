// SPDX-License-Identifier: Apache-2.0

/// The memory that the graphs of one interpreter take together, with resource variables and values of loops.
/// It outlives each of them.
final class HeldMemory {
  /// The size in bytes.
  var byteCount = 0
}
