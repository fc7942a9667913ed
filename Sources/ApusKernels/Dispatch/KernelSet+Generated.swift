extension KernelSet {
  /// A convolution by generated code; nil where there is none for it. Winograd's way is taken where it is reckoned to be
  /// faster, or wherever it serves.
  static func generatedConvolution(
    _ convolution: Convolution, target: any GeneratedTarget, bytes: GeneratedProduct,
    reckons: Bool = true, placement: @escaping CodePlacement = { $0.place() }
  ) -> (any PreparedConvolution)? {
    if target.mostInnerRows(columnCount: 1) == 0, let filter = convolution.filter,
      let prepared = GeneratedDepthwise(filter, target: target, bytes: bytes, placement: placement)
    {
      return prepared
    }
    return GeneratedWinograd(
      convolution, target: target, bytes: bytes, reckons: reckons, placement: placement)
      ?? GeneratedConvolution(convolution, target: target, bytes: bytes, placement: placement)
  }
}
