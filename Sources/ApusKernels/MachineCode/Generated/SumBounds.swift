// SPDX-License-Identifier: Apache-2.0

/// Whether generated code makes the right outputs of all sums that packed weights can have.
enum SumBounds: Int {
  /// Some sum may be beyond the target's limit.
  case exceeded = 0
  /// It does.
  case kept = 1
  /// A channel of ``FaintChannels`` may make several outputs.
  case severalOutputs = 2
}
