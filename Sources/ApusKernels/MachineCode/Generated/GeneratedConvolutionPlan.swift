/// How a convolution is laid out for the generated products: taps, panels, lines and tiles.
///
/// A *line* is a row of output pixels whose inputs lie equally far apart: a row of the image, or all pixels at once
/// where the filter has one tap. A *tap* is a run of terms that lie side by side: a row of the filter, or one of its
/// places where dilation or groups part them.
struct GeneratedConvolutionPlan {
  /// A panel of output channels of one group.
  struct Panel {
    let vectorCount: Int
    let firstColumn: Int
    /// The columns that exist; the rest is padding.
    let columnCount: Int
    /// Columns with padding, of this panel and of all before it.
    let paddedCount: Int
    let paddedBefore: Int

    var isPartial: Bool { columnCount < paddedCount }
  }

  let convolution: Convolution
  let target: any GeneratedTarget
  let product: GeneratedProduct
  /// Bytes of a term in the rows that the product reads.
  let laneByteCount: Int
  /// Terms that one step multiplies.
  let lanesPerStep: Int

  let tapRows: Int
  let tapColumns: Int
  /// Terms of a tap.
  let lanesPerTap: Int
  let stepsPerTap: Int
  let panels: [Panel]

  /// Whether one line holds all pixels.
  let isDense: Bool
  /// Whether rows are read where they are in the input.
  let isInPlace: Bool
  let lineCount: Int
  let lineLength: Int
  /// Dense: pixels of a tile. Otherwise: lines of a tile, all of one image.
  let tileLength: Int
  let tilesPerImage: Int
  let panelsPerTile: Int

  /// The gathered part of the input: columns of a row, and rows for a tile.
  let planeWidth: Int
  let planeRows: Int

  /// Tiles that need more gathered memory than this are left to other kernels.
  static let planeLimit = 1_700_000

  init?(_ convolution: Convolution, target: any GeneratedTarget, product: GeneratedProduct) {
    self.convolution = convolution
    self.target = target
    self.product = product
    laneByteCount = product == .floats ? 4 : product == .words ? 2 : 1
    lanesPerStep = 4 / laneByteCount
    let c = convolution
    let runsAreRows = c.dilationWidth == 1 && c.groups == 1
    tapRows = c.filterHeight
    tapColumns = runsAreRows ? 1 : c.filterWidth
    lanesPerTap = (runsAreRows ? c.filterWidth : 1) * c.channelsPerGroup
    stepsPerTap = ceilingQuotient(lanesPerTap, lanesPerStep)
    panels = Self.panels(columns: c.columnCount, target: target)

    isDense = c.readsInputInPlace
    // Beyond these sizes, products below might overflow; other kernels take such shapes.
    let sizes = [
      c.filterHeight, c.filterWidth, c.strideHeight, c.strideWidth, c.dilationHeight, c.dilationWidth,
    ]
    guard sizes.allSatisfy({ $0 < 1 << 15 }), c.inputChannels < 1 << 26, c.outputWidth < 1 << 26 else {
      return nil
    }
    let reachHeight = (c.filterHeight - 1) * c.dilationHeight + 1
    let reachWidth = (c.filterWidth - 1) * c.dilationWidth + 1
    let needsNoPadding =
      c.paddingTop == 0 && c.paddingLeft == 0
      && (c.outputHeight - 1) * c.strideHeight + reachHeight <= c.inputHeight
      && (c.outputWidth - 1) * c.strideWidth + reachWidth <= c.inputWidth
    isInPlace = product != .words && lanesPerTap % lanesPerStep == 0 && needsNoPadding
    lineCount = isDense ? 1 : c.batches * c.outputHeight
    lineLength = isDense ? c.rowCount : c.outputWidth
    planeWidth = isDense ? 1 : max(0, c.outputWidth - 1) * c.strideWidth + reachWidth
    guard planeWidth < 1 << 22, reachHeight < 1 << 10 || isInPlace else { return nil }

    // Tiles depend on shapes alone: a tile's rows stay in the second-level cache while panels pass by.
    let bytesPerRow = max(
      1, isDense ? c.depth * laneByteCount : planeWidth * c.channelsPerGroup * laneByteCount)
    if isDense {
      let wanted = min(max((96 << 10) / bytesPerRow, 12), 384) / 12 * 12
      let shared = roundedUp(max(1, ceilingQuotient(lineLength, 8)), to: 12)
      tileLength = max(1, min(wanted, max(shared, 24), lineLength))
      tilesPerImage = ceilingQuotient(lineLength, tileLength)
      planeRows = isInPlace ? 0 : tileLength
    } else {
      let lines = ((160 << 10) / bytesPerRow - reachHeight) / c.strideHeight + 1
      let shared = max(1, ceilingQuotient(c.outputHeight, 8))
      tileLength = max(1, min(lines, shared, c.outputHeight))
      tilesPerImage = ceilingQuotient(c.outputHeight, tileLength)
      planeRows = isInPlace ? 0 : (tileLength - 1) * c.strideHeight + reachHeight
    }
    guard isInPlace || planeRows * bytesPerRow <= Self.planeLimit else { return nil }
    let images = isDense ? 1 : c.batches
    let rowTiles = max(1, images * tilesPerImage * c.groups)
    // Few rows: panels are shared out as well.
    panelsPerTile = max(1, ceilingQuotient(panels.count, rowTiles >= 8 ? 1 : ceilingQuotient(8, rowTiles)))
  }

  /// Full panels, then one for the rest.
  private static func panels(columns: Int, target: any GeneratedTarget) -> [Panel] {
    var panels: [Panel] = []
    var first = 0
    var padded = 0
    while first < columns {
      let count = min(columns - first, target.mostVectors * target.lanes)
      let vectors = target.vectorCount(columns: count)
      panels.append(
        Panel(
          vectorCount: vectors, firstColumn: first, columnCount: count, paddedCount: vectors * target.lanes,
          paddedBefore: padded))
      first += count
      padded += vectors * target.lanes
    }
    return panels
  }

  var tapCount: Int { tapRows * tapColumns }
  /// Steps of a whole sum.
  var stepCount: Int { tapCount * stepsPerTap }
  var images: Int { isDense ? 1 : convolution.batches }
  var panelTiles: Int { ceilingQuotient(panels.count, panelsPerTile) }
  var tileCount: Int { lineLength == 0 ? 0 : images * tilesPerImage * convolution.groups * panelTiles }
  /// Columns with padding of one group.
  var paddedColumnCount: Int { panels.last.map { $0.paddedBefore + $0.paddedCount } ?? 0 }

  /// Bytes between neighboring rows of the product.
  var rowStride: Int {
    if isDense { return (isInPlace ? convolution.inputChannels : convolution.depth) * laneByteCount }
    return convolution.strideWidth * pixelByteCount
  }

  /// Bytes between neighboring pixels of what the product reads.
  var pixelByteCount: Int {
    (isInPlace ? convolution.inputChannels : convolution.channelsPerGroup) * laneByteCount
  }

  /// Bytes between the rows of the image that the product reads.
  var imageRowByteCount: Int { (isInPlace ? convolution.inputWidth : planeWidth) * pixelByteCount }

  /// Bytes of the gathered part of a tile, with room to read a little beyond.
  var planeByteCount: Int {
    guard !isInPlace else { return 0 }
    let count = isDense ? planeRows * rowStride : planeRows * imageRowByteCount
    return roundedUp(count, to: 64) + 64
  }

  /// The offset of a tap from its row's start.
  func tapOffset(_ tap: Int) -> Int {
    tap / tapColumns * convolution.dilationHeight * imageRowByteCount
      + tap % tapColumns * convolution.dilationWidth * pixelByteCount
  }

  /// Cuts `length` rows into blocks as equal as can be: whole ones, and the rest.
  func blocks(_ length: Int, vectorCount: Int) -> (rows: Int, count: Int, rest: Int) {
    let most = target.mostRows(product, vectorCount: vectorCount)
    let rows = ceilingQuotient(length, max(1, ceilingQuotient(length, most)))
    return rows == 0 ? (0, 0, 0) : (rows, length / rows, length % rows)
  }

  /// The heights of blocks that runs will ask for.
  func neededRowCounts(vectorCount: Int) -> Set<Int> {
    var lengths: Set<Int> = [lineLength]
    if isDense { lengths = [tileLength, lineLength - (tilesPerImage - 1) * tileLength] }
    var heights: Set<Int> = []
    for length in lengths {
      let (rows, _, rest) = blocks(length, vectorCount: vectorCount)
      heights.formUnion([rows, rest])
    }
    return heights.filter { $0 > 0 }
  }
}
