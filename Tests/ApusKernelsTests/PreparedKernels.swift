// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels

// Kernels without the reasons why they were chosen.

extension KernelSet {
  func prepare(_ convolution: Convolution, isForOneThread: Bool = false) -> (any PreparedConvolution)? {
    choose(convolution, isForOneThread: isForOneThread)?.kernel
  }

  func prepare(_ sum: QuantizedSum, isSigned: Bool, _ shapes: BroadcastShapes) -> any BinaryKernel {
    choose(sum, isSigned: isSigned, shapes).kernel
  }

  func prepare(_ product: QuantizedProduct, isSigned: Bool, _ shapes: BroadcastShapes) -> any BinaryKernel {
    choose(product, isSigned: isSigned, shapes).kernel
  }

  func prepare(_ operation: FloatOperation, _ shapes: BroadcastShapes) -> any BinaryKernel {
    choose(operation, shapes).kernel
  }
}

extension FloatFunction {
  func kernel(count: Int, using set: KernelSet = .portable) -> any UnaryKernel {
    choose(count: count, using: set).kernel
  }
}

extension ByteTable {
  func kernel(count: Int, using set: KernelSet = .portable) -> any UnaryKernel {
    choose(count: count, using: set).kernel
  }
}

extension FloatQuantization {
  func bytes(count: Int, using set: KernelSet = .portable) -> any UnaryKernel {
    chooseBytes(count: count, using: set).kernel
  }
}

extension Dequantization {
  func bytes(isSigned: Bool, count: Int, using set: KernelSet = .portable) -> any UnaryKernel {
    chooseBytes(isSigned: isSigned, count: count, using: set).kernel
  }
}

extension LogSoftmax {
  static func floats(rows: Int, depth: Int, using set: KernelSet = .portable) -> any UnaryKernel {
    chooseFloats(rows: rows, depth: depth, using: set).kernel
  }
}

extension Softmax {
  static func floats(
    beta: Float, isHalf: Bool, rows: Int, depth: Int, using set: KernelSet = .portable
  ) -> any UnaryKernel {
    chooseFloats(beta: beta, isHalf: isHalf, rows: rows, depth: depth, using: set).kernel
  }
}
