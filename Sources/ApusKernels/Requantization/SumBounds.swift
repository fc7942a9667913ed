// SPDX-License-Identifier: Apache-2.0

/// Whether the sums of packed weights are within the limits of the fastest code.
package enum SumBounds: Int, Sendable {
  /// Some sum may exceed the target's limit.
  case exceeded = 0
  /// All sums are within the limit.
  case kept = 1
  /// A channel of ``FaintChannels`` may have several outputs.
  case severalOutputs = 2
}
