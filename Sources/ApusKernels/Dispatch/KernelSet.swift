// SPDX-License-Identifier: Apache-2.0

/// One implementation of the dispatched kernels, for one instruction set or library. Immutable.
///
/// It is a class, so that passing it on costs little.
package final class KernelSet: Sendable {
  /// The name, as in `--kernels NAME`.
  package let name: String
  /// The features that the machine must have.
  package let requires: CPUFeatures
  /// The convolutions and products of the set.
  package let convolutions: any ConvolutionKernels
  /// Generated code for elementwise operators and pictures; nil for a set that leaves them to plain Swift.
  package let elementwise: (any ElementwiseKernels)?

  /// Creates a set.
  package init(
    name: String, requires: CPUFeatures, convolutions: any ConvolutionKernels,
    elementwise: (any ElementwiseKernels)? = nil
  ) {
    self.name = name
    self.requires = requires
    self.convolutions = convolutions
    self.elementwise = elementwise
  }
}

extension KernelSet {
  /// Every set in this build, the preferred one first; the last supports every description on every machine.
  package static let all: [KernelSet] = generated + [.blas, .portable]

  #if arch(x86_64)
    private static let generated: [KernelSet] = [.x86AVX512VNNI, .x86AVXVNNI, .x86AVX2]
  #elseif arch(arm64)
    private static let generated: [KernelSet] = [.arm64DotProduct, .arm64Neon]
  #else
    private static let generated: [KernelSet] = []
  #endif

  /// The sets whose instructions this machine has, the preferred one first.
  package static let supported: [KernelSet] = all.filter {
    CPUFeatures.current.isSuperset(of: $0.requires)
  }

  /// The set of that name, whether or not this machine can run it.
  package static func named(_ name: String) -> KernelSet? {
    all.first { $0.name == name }
  }
}
