// SPDX-License-Identifier: Apache-2.0

/// A way to call a subgraph by names.
package struct SignatureEntry: Hashable, Sendable {
  /// One named input or output.
  package struct Tensor: Hashable, Sendable {
    /// The name within the signature.
    package let name: String
    /// The tensor of the subgraph, in range.
    package let tensor: Int
  }

  /// The name of the signature: `serving_default`.
  package let key: String
  /// The subgraph, in range.
  package let subgraph: Int
  /// The inputs in the order of the file.
  package let inputs: [Tensor]
  /// The outputs in the order of the file.
  package let outputs: [Tensor]
}
