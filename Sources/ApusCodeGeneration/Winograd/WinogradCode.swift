// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// A target's code for the transforms of Winograd's method.
protocol WinogradCode {
  /// The cost, compared with direct convolution by `product`; nil if Winograd's method never pays.
  func cost(_ product: ProductKind) -> WinogradCost?
  /// The generator of a transform.
  func generator(_ transform: WinogradTransform) -> any CodeGenerator
}
