// SPDX-License-Identifier: Apache-2.0

/// An x86 target, by its vector instructions.
package enum X86Target: Hashable, Sendable {
  /// AVX-512 with VNNI.
  case avx512
  /// AVX2 with FMA.
  case avx2

  /// The widest vectors.
  @inlinable package var width: X86Assembler.Width { self == .avx512 ? .zmm : .ymm }
  /// The number of 32-bit lanes in a vector.
  @inlinable package var lanes: Int { self == .avx512 ? 16 : 8 }
}
