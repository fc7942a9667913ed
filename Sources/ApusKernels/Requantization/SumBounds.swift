// SPDX-License-Identifier: Apache-2.0

/// Which sums packed weights can have: what tells whether the fastest code makes the right outputs of them.
enum SumBounds: Int {
  /// Some sum may be beyond the target's limit.
  case exceeded = 0
  /// All are within it.
  case kept = 1
  /// A channel of ``FaintChannels`` may make several outputs.
  case severalOutputs = 2
}
