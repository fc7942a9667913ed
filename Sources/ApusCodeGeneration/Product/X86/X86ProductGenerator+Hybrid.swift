// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Initial values of accumulators that differ from row to row: for hybrid bytes, the share of each image's
/// zero point; for other bytes, ``RowTerms``.
extension X86ProductGenerator {
  private var vectorCount: Int { shape.vectorCount }

  /// Whether the column sums follow the offsets of a panel.
  var hasColumnSums: Bool {
    if case .scaledFloats = epilogue { product == .unsignedBytes } else { false }
  }

  /// Sets accumulators to column sum × negated zero point, which is per row or one for all; clobbers `rcx`
  /// and `rsi`.
  func beginWithZeroPoints(_ a: inout X86Assembler) {
    let zeroPoint = end.free(0)
    let isPerRow = if case .scaledFloats(isPerRow: true, _) = epilogue { true } else { false }
    a.load(.rcx, .init(.rdi, A.offset(\.zeroPoints)))
    a.load(.rsi, .init(.rdi, A.offset(\.offsets)))
    for row in 0..<rowCount {
      if row == 0 || isPerRow { a.vector(.vpbroadcastd, width, zeroPoint, 0, .init(.rcx, 4 * row)) }
      for vector in 0..<vectorCount {
        let sum = end.sum(row, vector)
        if row == 0 || isPerRow {
          a.vector(.vpmulld, width, sum, zeroPoint, .init(.rsi, (vectorCount + vector) * width.byteCount))
        } else {
          a.vector(.vmovdqu, width, sum, 0, end.sum(0, vector))
        }
      }
    }
  }

  /// Adds the row terms to the accumulators, see ``RowTerms``; clobbers `rcx`.
  func addRowTerms(_ a: inout X86Assembler) {
    let term = end.free(0)
    a.load(.rcx, .init(.rdi, A.offset(\.zeroPoints)))
    for row in 0..<rowCount {
      a.vector(.vpbroadcastd, width, term, 0, .init(.rcx, 4 * row))
      for vector in 0..<vectorCount {
        let sum = end.sum(row, vector)
        a.vector(.vpaddd, width, sum, sum, term)
      }
    }
  }

  /// Advances to the next block's rows; clobbers `rcx`.
  func nextZeroPoints(_ a: inout X86Assembler) {
    a.load(.rcx, .init(.rdi, A.offset(\.zeroPoints)))
    a.add(.rcx, 4 * rowCount)
    a.store(.init(.rdi, A.offset(\.zeroPoints)), .rcx)
  }
}
