// SPDX-License-Identifier: Apache-2.0

/// What a Winograd convolution does beside its products.
enum WinogradStep {
  /// From pixels to points; whether they are signed bytes.
  case inputs(WinogradForm, isSigned: Bool)
  /// From 3×3 weights to points.
  case weights(WinogradForm, isSigned: Bool)
  /// From points of sums to outputs, as many side by side as the shape has rows.
  case outputs(MatrixOperands, LoweredEpilogue, BlockShape)
}
