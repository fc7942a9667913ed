/// How a depthwise convolution is laid out for the generated products.
///
/// The input is gathered into a *plane* of rows with padding around them. Where channels do not fill a block, neighboring
/// output pixels are taken together as one with more channels; with strides, the plane keeps columns of equal phase side
/// by side, so that this works for any stride.
struct GeneratedDepthwisePlan {
  /// The most pixels that a generated function takes at once.
  static let mostPixels = 4

  let convolution: DepthwiseConvolution
  let target: any GeneratedTarget
  let product: GeneratedProduct
  let laneByteCount: Int
  let tapsPerGroup: Int

  let channels: Int
  /// Output pixels that are taken as one.
  let pixelsTogether: Int
  /// Channels of a block.
  let blockChannels: Int
  let blockCount: Int
  /// Pixels taken together, in a row.
  let columnCount: Int
  /// Pixels of the last of them.
  let lastColumnPixels: Int

  let phases: Int
  let phaseWidth: Int
  let planeWidth: Int
  let linesPerTile: Int
  let tilesPerImage: Int
  let planeRows: Int

  init?(_ convolution: DepthwiseConvolution, target: any GeneratedTarget, product: GeneratedProduct) {
    self.convolution = convolution
    self.target = target
    self.product = product
    let c = convolution
    // Beyond these sizes, products below might overflow; other kernels take such shapes.
    let sizes = [
      c.filterHeight, c.filterWidth, c.strideHeight, c.strideWidth, c.dilationHeight, c.dilationWidth,
    ]
    guard sizes.allSatisfy({ $0 < 1 << 15 }), c.outputChannels < 1 << 26, c.outputWidth < 1 << 26,
      c.outputHeight > 0, c.outputWidth > 0
    else { return nil }
    laneByteCount = product == .floats ? 4 : product == .words ? 2 : 1
    tapsPerGroup = product.tapsPerGroup
    channels = c.outputChannels
    blockChannels = target.depthwiseVectors * target.lanes
    var best = (cost: Int.max, count: 1)
    for count in [1, 2, 4, 8] where count == 1 || channels * count <= 1024 {
      let cost = ceilingQuotient(c.outputWidth, count) * ceilingQuotient(channels * count, blockChannels)
      if cost < best.cost { best = (cost, count) }
    }
    pixelsTogether = best.count
    blockCount = ceilingQuotient(channels * best.count, blockChannels)
    columnCount = ceilingQuotient(c.outputWidth, best.count)
    lastColumnPixels = c.outputWidth - (columnCount - 1) * best.count
    phases = best.count > 1 ? c.strideWidth : 1
    let reachHeight = (c.filterHeight - 1) * c.dilationHeight + 1
    let reachWidth = (c.filterWidth - 1) * c.dilationWidth + 1
    planeWidth = (c.outputWidth - 1) * c.strideWidth + reachWidth
    phaseWidth = ceilingQuotient(planeWidth, phases)
    let rowByteCount = max(1, phases * phaseWidth * channels * laneByteCount)
    guard phases <= 8, planeWidth < 1 << 22, reachHeight < 1 << 10,
      reachHeight * rowByteCount <= GeneratedConvolutionPlan.planeLimit
    else { return nil }
    let fitting = ((128 << 10) / rowByteCount - reachHeight) / c.strideHeight + 1
    linesPerTile = max(1, min(fitting, max(1, ceilingQuotient(c.outputHeight, 8)), c.outputHeight))
    tilesPerImage = ceilingQuotient(c.outputHeight, linesPerTile)
    planeRows = (linesPerTile - 1) * c.strideHeight + reachHeight
  }

  var tapCount: Int { convolution.filterHeight * convolution.filterWidth }
  var groupCount: Int { ceilingQuotient(tapCount, tapsPerGroup) }
  var tileCount: Int { columnCount == 0 ? 0 : convolution.batches * tilesPerImage }
  var pixelByteCount: Int { channels * laneByteCount }
  var rowByteCount: Int { phases * phaseWidth * pixelByteCount }
  /// Room to read a block beyond the last pixel, and pixels beyond the last of those taken together.
  var planeByteCount: Int {
    roundedUp(planeRows * rowByteCount + pixelsTogether * pixelByteCount + 256, to: 64)
  }
  /// Bytes between pixels taken together.
  var columnByteCount: Int {
    pixelsTogether * (phases > 1 ? 1 : convolution.strideWidth) * pixelByteCount
  }

  /// The offset of a tap from its pixel's start; taps beyond the last repeat the first and have no weight.
  func tapOffset(_ tap: Int) -> Int {
    guard tap < tapCount else { return 0 }
    let y = tap / convolution.filterWidth * convolution.dilationHeight
    let x = tap % convolution.filterWidth * convolution.dilationWidth
    return y * rowByteCount + (x % phases * phaseWidth + x / phases) * pixelByteCount
  }

  /// Channels of a block that exist in a column of `pixels` pixels.
  func validChannels(block: Int, pixels: Int) -> Int {
    max(0, min(blockChannels, pixels * channels - block * blockChannels))
  }
}
