// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// A transform of a Winograd convolution.
enum WinogradTransform {
  /// From pixels, perhaps signed bytes, to points.
  case inputs(WinogradVariant, isSigned: Bool)
  /// From 3×3 weights to points.
  case weights(WinogradVariant, isSigned: Bool)
  /// From sums at points to outputs; the shape's rows are neighboring pixels.
  case outputs(MatrixOperands, LoweredEpilogue, BlockShape)
}
