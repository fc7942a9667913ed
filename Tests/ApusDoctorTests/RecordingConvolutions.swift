// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import Synchronization

/// A set's convolutions, which keep what is said about each kernel that they prepare.
final class RecordingConvolutions: ConvolutionKernels {
  private let kernels: any ConvolutionKernels
  private let found = Mutex<[String]>([])

  init(_ kernels: any ConvolutionKernels) { self.kernels = kernels }

  /// The implementations of the kernels so far.
  var implementations: [String] { found.withLock { $0 } }

  func missing() -> String? { kernels.missing() }

  func convolution(
    _ convolution: Convolution, isForOneThread: Bool
  ) throws(Decline) -> any PreparedConvolution {
    recorded(try kernels.convolution(convolution, isForOneThread: isForOneThread))
  }

  func thinProduct(rows: Int, depth: Int, columns: Int) throws(Decline) -> ThinProductCode {
    try kernels.thinProduct(rows: rows, depth: depth, columns: columns)
  }

  private func recorded(_ kernel: any PreparedConvolution) -> any PreparedConvolution {
    found.withLock { $0.append(kernel.implementation) }
    return kernel
  }
}
