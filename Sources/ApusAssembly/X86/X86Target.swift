// SPDX-License-Identifier: Apache-2.0

/// An x86 target, by its vector instructions.
@usableFromInline package enum X86Target: Hashable, Sendable {
  /// AVX-512 with VNNI.
  case avx512
  /// AVX2 with FMA.
  case avx2

  /// The widest vectors.
  @inlinable package var width: X86Assembler.Width {
    switch self {
    case .avx512: .zmm
    case .avx2: .ymm
    }
  }
  /// The number of 32-bit lanes in a vector.
  @inlinable package var lanes: Int { width.byteCount / 4 }
}
