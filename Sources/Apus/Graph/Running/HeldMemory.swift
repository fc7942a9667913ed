// SPDX-License-Identifier: Apache-2.0

/// How many bytes the graphs of one interpreter take together, with resource variables and values of loops. It outlives each of them.
final class HeldMemory {
  /// The bytes.
  var byteCount = 0
}
