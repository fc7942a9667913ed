/// One implementation of the dispatched kernels, for one instruction set or library.
package struct KernelSet: Sendable {
  /// The name by which people choose the set.
  package let name: String
  /// What the machine must have.
  package let requires: CPUFeatures
  /// What is missing beside that, a library; nil if nothing is. Asking may load it.
  package var missing: @Sendable () -> String? = { nil }
  /// Prepares a convolution; nil where this set has no kernel for it.
  package let convolution: @Sendable (Convolution) -> (any PreparedConvolution)?
  /// Prepares a depthwise convolution; nil where this set has no kernel for it.
  package let depthwiseConvolution: @Sendable (DepthwiseConvolution) -> (any PreparedConvolution)?
  /// Prepares a sum of bytes, signed or not; nil where this set has no kernel for it.
  package var sum: @Sendable (QuantizedSum, Bool, BroadcastShapes) -> (any BinaryKernel)? = { _, _, _ in nil }
  /// Prepares a product of bytes, signed or not; nil where this set has no kernel for it.
  package var product: @Sendable (QuantizedProduct, Bool, BroadcastShapes) -> (any BinaryKernel)? = {
    _, _, _ in
    nil
  }
  /// Prepares an operation of floats; nil where this set has no kernel for it.
  package var floats: @Sendable (FloatOperation, BroadcastShapes) -> (any BinaryKernel)? = { _, _ in nil }
  /// What maps bytes by a table of 256; nil where this set has no code for it.
  package var byteMapping: @Sendable ([UInt8]) -> ByteMapping? = { _ in nil }
  /// What applies a function to floats; nil where this set has no code for it.
  package var floatMapping: @Sendable (FloatFunction) -> FloatMapping? = { _ in nil }
  /// Softmax, with this factor, of rows of so many floats; nil where this set has no code for it. Counts are of whole rows.
  package var floatSoftmax: @Sendable (_ beta: Float, _ depth: Int) -> FloatMapping? = { _, _ in nil }
  /// What finishes floats that a convolution computed; nil where this set has no code for it.
  var finishing: @Sendable (FloatFinishing) -> FinishingCode? = { _ in nil }
  /// Code for the resize of a picture; plain Swift where this set has none.
  package var pictures: @Sendable (PictureCode.Shape) -> PictureCode = { _ in .portable }
  /// Whether what is prepared never runs on more than one thread.
  package var isForOneThread = false
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

  /// Prepares a convolution with this set, or with the next supported one that has a kernel for it.
  ///
  /// Nil only if operands and epilogue do not fit each other.
  package func prepare(_ convolution: Convolution) -> (any PreparedConvolution)? {
    var convolution = convolution.alongRows
    convolution.isForOneThread = isForOneThread
    return firstResult { [convolution] in $0.convolution(convolution) }
  }

  /// Prepares a depthwise convolution with this set, or with the next supported one that has a kernel for it.
  ///
  /// Nil only if operands and epilogue do not fit each other.
  package func prepare(_ convolution: DepthwiseConvolution) -> (any PreparedConvolution)? {
    let convolution = convolution.alongRows
    return firstResult { $0.depthwiseConvolution(convolution) }
  }

  /// Prepares a sum of bytes with this set, or with the next supported one that has a kernel for it.
  package func prepare(_ sum: QuantizedSum, isSigned: Bool, _ shapes: BroadcastShapes) -> any BinaryKernel {
    firstResult { $0.sum(sum, isSigned, shapes) } ?? sum.bytes(isSigned: isSigned, shapes)
  }

  /// Prepares a product of bytes with this set, or with the next supported one that has a kernel for it.
  package func prepare(
    _ product: QuantizedProduct, isSigned: Bool, _ shapes: BroadcastShapes
  ) -> any BinaryKernel {
    firstResult { $0.product(product, isSigned, shapes) } ?? product.bytes(isSigned: isSigned, shapes)
  }

  /// Prepares an operation of floats with this set, or with the next supported one that has a kernel for it.
  package func prepare(_ operation: FloatOperation, _ shapes: BroadcastShapes) -> any BinaryKernel {
    firstResult { $0.floats(operation, shapes) } ?? operation.kernel(shapes)
  }

  private func firstResult<Kernel>(_ prepare: (KernelSet) -> Kernel?) -> Kernel? {
    if let result = prepare(self) { return result }
    let position = Self.supported.firstIndex { $0.name == name } ?? -1
    for set in Self.supported[(position + 1)...] {
      if let result = prepare(set) { return result }
    }
    return nil
  }
}
