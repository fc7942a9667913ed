extension KernelSet {
  /// Matrix products by OpenBLAS, or by Accelerate on Apple platforms; what has none is left to later sets.
  package static let blas = KernelSet(
    name: "blas", requires: [], missing: { BLAS.isAvailable ? nil : "OpenBLAS" },
    convolution: { convolution in
      BLASByteConvolution(convolution) ?? BLASFloatConvolution(convolution)
    },
    depthwiseConvolution: { _ in nil })
}
