// SPDX-License-Identifier: Apache-2.0

/// A 4×4 transposition: packing turns rows of four columns into four lanes per K-step.
struct Transposed<Lane: SIMDScalar> {
  private let rows: (SIMD4<Lane>, SIMD4<Lane>, SIMD4<Lane>, SIMD4<Lane>)

  /// Row `i` has lane `i` of each vector.
  @inline(__always)
  init(_ a: SIMD4<Lane>, _ b: SIMD4<Lane>, _ c: SIMD4<Lane>, _ d: SIMD4<Lane>) {
    rows = (
      SIMD4(a[0], b[0], c[0], d[0]), SIMD4(a[1], b[1], c[1], d[1]), SIMD4(a[2], b[2], c[2], d[2]),
      SIMD4(a[3], b[3], c[3], d[3])
    )
  }

  /// Row `index`, from 0 to 3.
  @inline(__always)
  subscript(_ index: Int) -> SIMD4<Lane> {
    switch index {
    case 0: rows.0
    case 1: rows.1
    case 2: rows.2
    default: rows.3
    }
  }
}
