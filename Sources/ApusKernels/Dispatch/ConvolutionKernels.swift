// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// A kernel set's convolutions and matrix products.
package protocol ConvolutionKernels: Sendable {
  /// The library that this machine lacks, if the set needs one; nil if nothing is missing. The query may load
  /// it.
  func missing() -> String?

  /// Prepares a convolution; throws if there is no kernel for it. With `isForOneThread`, parts that only
  /// several threads need may be omitted.
  func convolution(
    _ convolution: Convolution, isForOneThread: Bool
  ) throws(Decline) -> any PreparedConvolution

  /// The order in which the set adds the products of a convolution of bfloat16 fastest, if it is another than
  /// ``BFloat16Order/pairs``; throws if it is that one.
  func bfloat16Order(_ convolution: Convolution) throws(Decline) -> BFloat16Order

  /// Code for products of a few rows of floats with an unpacked K×N matrix; throws if there is none.
  func thinProduct(rows: Int, depth: Int, columns: Int) throws(Decline) -> ThinProductCode
}

extension ConvolutionKernels {
  package func missing() -> String? { nil }
  package func bfloat16Order(_ convolution: Convolution) throws(Decline) -> BFloat16Order {
    throw Decline("the set adds one product after the other")
  }
  package func thinProduct(rows: Int, depth: Int, columns: Int) throws(Decline) -> ThinProductCode {
    throw Decline("the set packs each matrix")
  }
}
