// SPDX-License-Identifier: Apache-2.0

/// The maximum size of a model, whatever its file's size.
package struct Limits: Hashable, Sendable {
  /// The subgraphs of a model.
  package var maximumSubgraphs = 4096
  /// The operator codes of a model.
  package var maximumOperatorCodes = 65_536
  /// The buffers of a model.
  package var maximumBuffers = 1 << 20
  /// The tensors of all subgraphs together.
  package var maximumTensors = 1 << 18
  /// The operators of all subgraphs together.
  package var maximumOperators = 1 << 18
  /// The signatures of a model.
  package var maximumSignatures = 65_536
  /// The dimensions of a tensor.
  package var maximumRank = 8
  /// The elements of a tensor, dimensions of zero or unknown size left out: what 32-bit indices reach.
  package var maximumElements = Int(Int32.max)

  /// Makes the default limits.
  package init() {}

  /// Limits that no published model comes near.
  package static let `default` = Limits()
}
