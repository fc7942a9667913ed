// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// Corrections per row that replace subtracting the weights' zero point, for products of two tensors of
/// bytes.
///
/// With activations `x`, weights `w` and their zero point `z`: Σ x·(w − z) = Σ x·w − z·Σ x. The accumulators
/// of a row start from −z·Σ x, and weights are packed as they are. `w − z` may need extra K-steps, and as
/// these weights come with each run, packing those takes longer than summing the rows.
struct RowTerms {
  private let isSigned: Bool
  private let depth: Int
  /// Minus the zero point of the weights, as signed bytes.
  private let factor: Int32

  /// Nil if the weights are constant or need no zero point subtracted, or the target has no code for row
  /// terms.
  init?(_ convolution: Convolution, _ product: ProductKind, _ target: any CodeTarget) {
    guard convolution.hasTransientWeights, convolution.groups == 1, target.hasRowTerms,
      product == .unsignedBytes || product == .signedBytes, let operands = convolution.operands.bytes,
      operands.rhsZeroPoint != 128
    else { return nil }
    isSigned = operands.signFlip != 0
    depth = convolution.depth
    factor = 128 &- operands.rhsZeroPoint
  }

  /// The operands that weights are packed with: their zero point is left in.
  func packed(_ operands: ByteOperands) -> ByteOperands {
    ByteOperands(signFlip: operands.signFlip, lhsZeroPoint: operands.lhsZeroPoint, rhsZeroPoint: 128)
  }

  /// Writes the terms of consecutive rows. Signed bytes are multiplied as unsigned ones, which are larger by
  /// 128.
  func fill(_ terms: UnsafeMutableRawPointer, from rows: UnsafeRawPointer, rows count: Int) {
    for row in 0..<count {
      let bytes = unsafe rows + row &* depth
      let excess = isSigned ? 128 &* Int32(truncatingIfNeeded: depth) : 0
      let sum = unsafe ByteSum.combine(excess, bytes, count: depth, isSigned: isSigned)
      unsafe terms.storeBytes(of: sum &* factor, toByteOffset: 4 &* row, as: Int32.self)
    }
  }
}
