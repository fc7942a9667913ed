// SPDX-License-Identifier: Apache-2.0

/// Products of floats that were quantized to unsigned bytes: the share of their zero point, which differs from image to
/// image, is what sums begin with.
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

  /// Moves on to the rows of the next block, which are images; by way of `rcx`.
  func nextZeroPoints(_ a: inout X86Assembler) {
    a.load(.rcx, .init(.rdi, A.offset(\.zeroPoints)))
    a.add(.rcx, 4 * rowCount)
    a.store(.init(.rdi, A.offset(\.zeroPoints)), .rcx)
  }
}
