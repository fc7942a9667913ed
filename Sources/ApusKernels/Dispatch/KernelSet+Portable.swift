extension KernelSet {
  /// Plain Swift: runs anything anywhere.
  package static let portable = KernelSet(
    name: "portable", requires: [],
    convolution: { convolution in
      PortableByteConvolution(convolution) ?? PortableFloatConvolution(convolution)
        ?? PortableWordConvolution(convolution)
    },
    depthwiseConvolution: { convolution in
      PortableByteDepthwise(convolution) ?? PortableFloatDepthwise(convolution)
        ?? PortableWordDepthwise(convolution)
    })
}
