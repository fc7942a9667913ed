// SPDX-License-Identifier: Apache-2.0

/// The facts about a processor's vector units that decide how products are laid out.
package struct VectorPipes: Hashable, Sendable {
  /// Whether multiply instructions use all vector ports, so that other vector work takes time from them.
  package var areShared: Bool
  /// Whether a multiplication of half a vector takes as long as one of a whole vector.
  package var areFullWidth: Bool

  /// Describes a processor.
  package init(areShared: Bool, areFullWidth: Bool) {
    self.areShared = areShared
    self.areFullWidth = areFullWidth
  }
}
