// SPDX-License-Identifier: Apache-2.0

/// What a kernel set computes convolutions and matrix products with.
package protocol ConvolutionKernels: Sendable {
  /// What this machine lacks beside features of the processor, such as a library; nil if nothing. Asking may load it.
  func missing() -> String?

  /// Prepares a convolution; throws where there is no kernel for it. One that never runs on more than one thread may go
  /// without what several threads need.
  func convolution(
    _ convolution: Convolution, isForOneThread: Bool
  ) throws(Decline) -> any PreparedConvolution

  /// Prepares a depthwise convolution; throws where there is no kernel for it.
  func depthwiseConvolution(_ convolution: DepthwiseConvolution) throws(Decline) -> any PreparedConvolution

  /// Code for products of few rows of floats with a `depth × columns` matrix as it lies; throws where there is none for them.
  func thinProduct(rows: Int, depth: Int, columns: Int) throws(Decline) -> ThinProductCode
}

extension ConvolutionKernels {
  package func missing() -> String? { nil }
  package func thinProduct(rows: Int, depth: Int, columns: Int) throws(Decline) -> ThinProductCode {
    throw Decline("the set packs each matrix")
  }
}
