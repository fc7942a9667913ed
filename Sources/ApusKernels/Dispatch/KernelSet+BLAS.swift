// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

extension KernelSet {
  /// Matrix products by OpenBLAS, or by Accelerate on Apple platforms; declines everything else.
  package static let blas = KernelSet(name: "blas", requires: [], convolutions: BLASKernels())
}

/// Convolutions as matrix products of a library.
private struct BLASKernels: ConvolutionKernels {
  func missing() -> String? { BLAS.isAvailable ? nil : "OpenBLAS" }

  func convolution(
    _ convolution: Convolution, isForOneThread: Bool
  ) throws(Decline) -> any PreparedConvolution {
    guard !convolution.isDepthwise else { throw Decline("a depthwise convolution is no matrix product") }
    switch convolution.operands {
    case .float32: return try BLASFloatConvolution(convolution)
    case .uint8, .int8: return try BLASByteConvolution(convolution)
    case .bfloat16, .uint8ToInt16, .int8Sums, .int16, .hybrid:
      throw Decline("operands of \(convolution.operands.name) are neither float32 nor bytes")
    }
  }
}
