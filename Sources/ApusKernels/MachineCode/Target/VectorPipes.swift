// SPDX-License-Identifier: Apache-2.0

/// What the pipes of a machine's vectors are like, as far as it decides how products are laid out.
package struct VectorPipes: Hashable, Sendable {
  /// Whether those of products are all that there are, so that whatever is done beside products takes time from them.
  package var areShared: Bool
  /// Whether a product of half a vector takes as long as one of a whole vector.
  package var areFullWidth: Bool

  /// States both.
  package init(areShared: Bool, areFullWidth: Bool) {
    self.areShared = areShared
    self.areFullWidth = areFullWidth
  }
}
