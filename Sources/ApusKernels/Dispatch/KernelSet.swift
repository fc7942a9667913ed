// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

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
  /// Generated code for everything but convolutions; nil for a set that leaves it to plain Swift.
  package let generated: (any GeneratedKernels)?

  /// Creates a set.
  package init(
    name: String, requires: CPUFeatures, convolutions: any ConvolutionKernels,
    generated: (any GeneratedKernels)? = nil
  ) {
    self.name = name
    self.requires = requires
    self.convolutions = convolutions
    self.generated = generated
  }
}
