// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

extension KernelSet {
  /// Plain Swift: runs anything anywhere.
  package static let portable = KernelSet(name: "portable", requires: [], convolutions: PortableKernels())
}

/// Convolutions in plain Swift.
private struct PortableKernels: ConvolutionKernels {
  func convolution(
    _ convolution: Convolution, isForOneThread: Bool
  ) throws(Decline) -> any PreparedConvolution {
    guard !convolution.isDepthwise else { return try depthwise(convolution) }
    return switch convolution.operands {
    case .float32, .bfloat16: try PortableFloatConvolution(convolution)
    case .uint8, .int8: try PortableByteConvolution(convolution)
    case .uint8ToInt16, .int8Sums, .int16, .hybrid: try PortableWordConvolution(convolution)
    }
  }

  private func depthwise(_ convolution: Convolution) throws(Decline) -> any PreparedConvolution {
    switch convolution.operands {
    case .float32: try PortableFloatDepthwise(convolution)
    case .bfloat16: throw Decline("depthwise convolutions stay in float32")
    case .uint8, .int8: try PortableByteDepthwise(convolution)
    case .uint8ToInt16, .int8Sums, .int16, .hybrid: try PortableWordDepthwise(convolution)
    }
  }
}
