// SPDX-License-Identifier: Apache-2.0

/// How generated code computes a convolution. Strategies are tried in the order of the cases.
package enum ConvolutionStrategy: CaseIterable, Hashable, Sendable {
  /// A long filter of one channel becomes a depthwise convolution, whose code computes many pixels at once:
  /// ``DepthwiseKernel``.
  case filter
  /// A dense 3×3 filter of stride 1 by Winograd's method, if that is estimated to be faster:
  /// ``WinogradKernel``.
  case winograd
  /// A matrix product of pixels and weights, for all other layers: ``ProductKernel``.
  case product

  /// The strategy's name in the reason why it declined.
  var name: StaticString {
    switch self {
    case .filter: "as a depthwise convolution"
    case .winograd: "Winograd convolution"
    case .product: "as a product"
    }
  }
}
