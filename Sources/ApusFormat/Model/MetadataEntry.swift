// SPDX-License-Identifier: Apache-2.0

/// A named buffer that runs nothing: converter versions, model metadata.
package struct MetadataEntry: Hashable, Sendable {
  /// The name.
  package let name: String
  /// The buffer's index, in range.
  package let buffer: Int
}
