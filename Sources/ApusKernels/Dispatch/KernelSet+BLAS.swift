// SPDX-License-Identifier: Apache-2.0

extension KernelSet {
  /// Matrix products by OpenBLAS, or by Accelerate on Apple platforms; what has none is left to later sets.
  package static let blas = KernelSet(
    name: "blas", requires: [], missing: { BLAS.isAvailable ? nil : "OpenBLAS" },
    convolution: { convolution throws(Decline) in
      switch convolution.operands {
      case .float32: try BLASFloatConvolution(convolution)
      case .uint8, .int8: try BLASByteConvolution(convolution)
      case .uint8ToInt16, .int8Sums, .int16, .hybrid:
        throw Decline("operands of \(convolution.operands.name) are neither float32 nor bytes")
      }
    },
    depthwiseConvolution: { _ throws(Decline) in
      throw Decline("a depthwise convolution is no matrix product")
    })
}
