// SPDX-License-Identifier: Apache-2.0

extension KernelSet {
  /// A convolution by generated code; throws where there is none for it. Winograd's way is taken where it is reckoned to be
  /// faster, or wherever it serves.
  static func generatedConvolution(
    _ convolution: Convolution, target: any CodeTarget, bytes: ProductKind,
    reckons: Bool = true, placement: @escaping CodePlacement = { $0.place() }
  ) throws(Decline) -> any PreparedConvolution {
    var passedOver: Decline?
    if target.mostInnerRows(columnCount: 1) == 0, let filter = convolution.filter {
      do throws(Decline) {
        return try DepthwiseKernel(filter, target: target, bytes: bytes, placement: placement)
      } catch { passedOver = error.of("as a depthwise convolution") }
    }
    if convolution.filterHeight == 3, convolution.filterWidth == 3 {
      do throws(Decline) {
        return try WinogradKernel(
          convolution, target: target, bytes: bytes, reckons: reckons, placement: placement)
      } catch { passedOver = error.of("Winograd's way") }
    }
    return try ProductKernel(
      convolution, target: target, bytes: bytes, passedOver: passedOver, placement: placement)
  }
}
