// SPDX-License-Identifier: Apache-2.0

/// One implementation of the dispatched kernels, for one instruction set or library.
package struct KernelSet: Sendable {
  /// The name by which people choose the set.
  package let name: String
  /// What the machine must have.
  package let requires: CPUFeatures
  /// What is missing beside that, a library; nil if nothing is. Asking may load it.
  package var missing: @Sendable () -> String? = { nil }
  /// Prepares a convolution; throws where this set has no kernel for it.
  package let convolution: @Sendable (Convolution) throws(Decline) -> any PreparedConvolution
  /// Prepares a depthwise convolution; throws where this set has no kernel for it.
  package let depthwiseConvolution:
    @Sendable (DepthwiseConvolution) throws(Decline) -> any PreparedConvolution
  /// Prepares a sum of bytes, signed or not; throws where this set has no kernel for it.
  package var sum: @Sendable (QuantizedSum, Bool, BroadcastShapes) throws(Decline) -> any BinaryKernel = {
    (_, _, _) throws(Decline) in
    throw .noElementwise
  }
  /// Prepares a product of bytes, signed or not; throws where this set has no kernel for it.
  package var product:
    @Sendable (QuantizedProduct, Bool, BroadcastShapes) throws(Decline) -> any BinaryKernel = {
      (_, _, _) throws(Decline) in
      throw .noElementwise
    }
  /// Prepares an operation of floats; throws where this set has no kernel for it.
  package var floats: @Sendable (FloatOperation, BroadcastShapes) throws(Decline) -> any BinaryKernel = {
    (_, _) throws(Decline) in
    throw .noElementwise
  }
  /// What maps bytes by a table of 256; throws where this set has no code for it.
  package var byteMapping: @Sendable ([UInt8]) throws(Decline) -> ByteMapping = { _ throws(Decline) in
    throw .noElementwise
  }
  /// What applies a function to floats; throws where this set has no code for it.
  package var floatMapping: @Sendable (FloatFunction) throws(Decline) -> FloatMapping = { _ throws(Decline) in
    throw .noElementwise
  }
  /// Softmax, with this factor, of rows of so many floats; throws where this set has no code for it. Counts are of whole rows.
  package var floatSoftmax: @Sendable (_ beta: Float, _ depth: Int) throws(Decline) -> FloatMapping = {
    (_, _) throws(Decline) in
    throw .noElementwise
  }
  /// What finishes floats that a convolution computed; nil where this set has no code for it.
  var postOperation: @Sendable (PostOperationCode.Kind) -> PostOperationCode? = { _ in nil }
  /// Code for the resize of a picture; plain Swift where this set has none.
  package var pictures: @Sendable (PictureCode.Shape) -> PictureCode = { _ in .portable }
  /// Whether what is prepared never runs on more than one thread.
  package var isForOneThread = false
}

extension Decline {
  /// The set consists of convolutions.
  fileprivate static let noElementwise = Decline("the set has no elementwise kernels")
}

extension KernelSet {
  /// Every set in this build, the preferred one first; the last runs anything anywhere.
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
