// SPDX-License-Identifier: Apache-2.0

/// The facts about a processor's vector units that decide how products are laid out.
package struct VectorPipes: Hashable, Sendable {
  /// Whether multiply instructions use all vector ports, so that other vector work takes time from them.
  package var areShared: Bool
  /// Whether a multiplication of half a vector takes as long as one of a whole vector.
  package var areFullWidth: Bool
  /// Whether an instruction that multiplies pairs of bfloat16 is faster than two that multiply floats.
  package var multiplyBFloat16: Bool
  /// Whether there are tile registers, which multiply matrices of bfloat16.
  package var haveTiles: Bool

  /// Describes a processor.
  package init(
    areShared: Bool, areFullWidth: Bool, multiplyBFloat16: Bool = false, haveTiles: Bool = false
  ) {
    self.areShared = areShared
    self.areFullWidth = areFullWidth
    self.multiplyBFloat16 = multiplyBFloat16
    self.haveTiles = haveTiles
  }
}
