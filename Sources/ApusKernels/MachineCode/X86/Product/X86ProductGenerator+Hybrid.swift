// SPDX-License-Identifier: Apache-2.0

/// What sums begin with where rows have something of their own: of floats that were quantized to unsigned bytes, the share of their
/// zero point, which differs from image to image; of other bytes, ``RowTerms``.
extension X86ProductGenerator {
  private var vectorCount: Int { shape.vectorCount }

  /// Whether the offsets of a panel are followed by the sums of its columns.
  var hasColumnSums: Bool {
    if case .scaledFloats = epilogue { product == .unsignedBytes } else { false }
  }

  /// Sets sums to those of the columns times the zero point, negated, of the row or of all rows; by way of `rcx` and `rsi`.
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

  /// Adds what the sums of each row begin with, see ``RowTerms``; by way of `rcx`.
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

  /// Moves on to the rows of the next block; by way of `rcx`.
  func nextZeroPoints(_ a: inout X86Assembler) {
    a.load(.rcx, .init(.rdi, A.offset(\.zeroPoints)))
    a.add(.rcx, 4 * rowCount)
    a.store(.init(.rdi, A.offset(\.zeroPoints)), .rcx)
  }
}
