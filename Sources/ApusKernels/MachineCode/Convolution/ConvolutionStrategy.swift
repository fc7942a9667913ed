// SPDX-License-Identifier: Apache-2.0

/// A way of generated code to compute a convolution. The cases are in the order in which they are tried.
package enum ConvolutionStrategy: CaseIterable, Hashable, Sendable {
  /// A long filter of one channel is a depthwise convolution, whose code does many pixels at once: ``DepthwiseKernel``.
  case filter
  /// A dense 3×3 filter of stride 1 with fewer products, where that is reckoned to be faster: ``WinogradKernel``.
  case winograd
  /// A matrix product of pixels and weights, which serves all others: ``ProductKernel``.
  case product

  /// The strategy in the reason why it was passed over.
  var name: StaticString {
    switch self {
    case .filter: "as a depthwise convolution"
    case .winograd: "Winograd's way"
    case .product: "as a product"
    }
  }
}
