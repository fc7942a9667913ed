/// How a convolution is laid out for the generated products: taps, panels, lines and tiles.
///
/// A *line* is a row of output pixels whose inputs lie equally far apart: a row of the image, or all pixels at once
/// where the filter has one tap. A *tap* is a run of terms that lie side by side: a row of the filter, or one of its
/// places where dilation or groups part them.
struct X86ConvolutionPlan {
  /// A panel of output channels of one group.
  struct Panel {
    let vectorCount: Int
    let firstColumn: Int
    /// The columns that exist; the rest is padding.
    let columnCount: Int
    /// Columns with padding, of this panel and of all before it.
    let paddedCount: Int
    let paddedBefore: Int
  }

  /// How the work is cut into tiles.
  struct Tiling {
    /// Dense: all pixels. Otherwise: the lines of an image.
    let length: Int
    /// Pixels that stay together; one line.
    let unit: Int
    let tilesPerImage: Int
    let panelsPerTile: Int
    let panelTiles: Int
    let count: Int

    /// The pixels or lines of a tile: equal parts, so that each thread gets the same rows of one layer and the next.
    func range(_ tile: Int) -> Range<Int> {
      if tilesPerImage == 1 { return 0..<length }
      let units = share(of: ceilingQuotient(length, unit), tile: tile, of: tilesPerImage)
      return units.lowerBound &* unit..<min(units.upperBound &* unit, length)
    }

    /// The lengths that tiles may have.
    var lengths: [Int] {
      guard tilesPerImage > 0 else { return [] }
      let units = ceilingQuotient(length, unit)
      return [
        units / tilesPerImage * unit, ceilingQuotient(units, tilesPerImage) * unit,
        range(tilesPerImage - 1).count,
      ]
    }
  }

  let convolution: Convolution
  let target: X86Target
  let product: X86ProductGenerator.Product
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
  /// For one thread: as much in a tile as the second-level cache holds.
  let alone: Tiling
  /// For more threads: the same, or less, so that there are tiles for all.
  let shared: Tiling

  /// Whether all is done in about the time that it takes to call another thread.
  let isSmall: Bool

  /// Whether weights that are multiplied as `int16` are packed as bytes: where few rows meet them, reading them takes the
  /// time.
  let hasNarrowWeights: Bool
  /// How often sums are kept: see ``X86ProductGenerator``.
  let sumSets: Int

  /// The gathered part of the input: columns of a row, and rows for a tile.
  let planeWidth: Int
  let planeRows: Int

  /// Tiles that need more gathered memory than this are left to other kernels.
  static let planeLimit = 1_700_000

  init?(_ convolution: Convolution, target: X86Target, product: X86ProductGenerator.Product) {
    self.convolution = convolution
    self.target = target
    self.product = product
    laneByteCount = product == .floats ? 4 : product == .words ? 2 : 1
    lanesPerStep = 4 / laneByteCount
    let c = convolution
    isSmall = Double(c.outputCount) * Double(c.depth) <= 0x1p17
    let runsAreRows = c.dilationWidth == 1 && c.groups == 1
    tapRows = c.filterHeight
    tapColumns = runsAreRows ? 1 : c.filterWidth
    lanesPerTap = (runsAreRows ? c.filterWidth : 1) * c.channelsPerGroup
    stepsPerTap = ceilingQuotient(lanesPerTap, lanesPerStep)
    panels = Self.panels(columns: c.columnCount, target: target)

    // Images that are quantized at run time have scales of their own: rows of several images are no line, unless each
    // is one.
    let pixels = c.outputHeight * c.outputWidth
    isDense = c.readsInputInPlace && (!c.operands.isHybrid || c.batches == 1 || pixels == 1)
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
    // Quantized floats are words already, and there is room to read beyond them.
    let areRowsReady = c.operands.isHybrid || product != .words && lanesPerTap % lanesPerStep == 0
    isInPlace = areRowsReady && needsNoPadding
    lineCount = isDense ? 1 : c.batches * c.outputHeight
    lineLength = isDense ? c.rowCount : c.outputWidth
    let hasFewRows = isDense && lineLength <= 4
    let hasSignedWeights = c.operands.generatedBytes.map { $0.rhsZeroPoint == 128 } ?? false
    hasNarrowWeights = hasFewRows && product == .words && hasSignedWeights
    // By the whole shape: the order of a float's sum is the same for all tiles.
    sumSets = !hasFewRows || product == .words ? 1 : lineLength == 1 ? 4 : lineLength == 2 ? 2 : 1
    planeWidth = isDense ? 1 : max(0, c.outputWidth - 1) * c.strideWidth + reachWidth
    guard planeWidth < 1 << 22, reachHeight < 1 << 10 || isInPlace else { return nil }

    // A tile's rows stay in the second-level cache while panels pass by.
    let bytesPerRow = max(
      1, isDense ? c.depth * laneByteCount : planeWidth * c.channelsPerGroup * laneByteCount)
    let most: Int
    let part: Int
    if isDense {
      let fitting = min(max((96 << 10) / bytesPerRow, 12), 384) / 12 * 12
      most = max(1, min(fitting, lineLength))
      // An even count of tiles, of at least 24 rows.
      let parts = min(8, max(1, lineLength / 48 * 2))
      part = max(24, ceilingQuotient(lineLength, parts))
      planeRows = isInPlace ? 0 : most
    } else {
      let fitting = ((160 << 10) / bytesPerRow - reachHeight) / c.strideHeight + 1
      most = max(1, min(fitting, c.outputHeight))
      part = max(1, ceilingQuotient(c.outputHeight, 8))
      planeRows = isInPlace ? 0 : (most - 1) * c.strideHeight + reachHeight
    }
    guard isInPlace || planeRows * bytesPerRow <= Self.planeLimit else { return nil }
    let (panelCount, length) = (panels.count, isDense ? lineLength : c.outputHeight)
    let isEmpty = lineLength == 0
    let planes = (isDense ? 1 : c.batches) * c.groups
    let takesPixels = isDense
    func cut(_ tileLength: Int, leastCount: Int) -> Tiling {
      let unit = takesPixels ? (tileLength < 96 ? 6 : 12) : 1
      let tilesPerImage = ceilingQuotient(length, tileLength)
      let rowTiles = max(1, planes * tilesPerImage)
      // Few rows: panels are shared out as well.
      let panelsPerTile = max(1, ceilingQuotient(panelCount, ceilingQuotient(leastCount, rowTiles)))
      let panelTiles = ceilingQuotient(panelCount, panelsPerTile)
      return Tiling(
        length: length, unit: unit, tilesPerImage: tilesPerImage, panelsPerTile: panelsPerTile,
        panelTiles: panelTiles,
        count: isEmpty ? 0 : planes * tilesPerImage * panelTiles)
    }
    alone = cut(most, leastCount: 1)
    shared = cut(min(most, part), leastCount: 8)
  }

  /// Full panels, then one for the rest.
  private static func panels(columns: Int, target: X86Target) -> [Panel] {
    let most = target == .avx512 ? 4 : 2
    var panels: [Panel] = []
    var first = 0
    var padded = 0
    while first < columns {
      let count = min(columns - first, most * target.lanes)
      let vectors = ceilingQuotient(count, target.lanes)
      panels.append(
        Panel(
          vectorCount: vectors, firstColumn: first, columnCount: count, paddedCount: vectors * target.lanes,
          paddedBefore: padded))
      first += count
      padded += vectors * target.lanes
    }
    return panels
  }

  /// How many of the first `count` panels are as wide as the first: all, or all but the last.
  func alikeCount(_ count: Int) -> Int {
    panels[count &- 1].columnCount == panels[0].columnCount ? count : count &- 1
  }

  func panel(_ index: Int) -> Panel? { panels.indices.contains(index) ? panels[index] : nil }

  /// Whether all rows are one block, so that panels may follow each other in one call.
  var isOneBlock: Bool {
    isDense
      && panels.allSatisfy {
        lineLength <= X86ProductGenerator.maximumRows(target, vectorCount: $0.vectorCount)
      }
  }

  /// Whether columns lie in the order that packing them into bytes wants.
  var interleavesColumns: Bool { product != .floats && !convolution.operands.isHybrid }
  /// Bytes of a step's weights for one column.
  var weightByteCount: Int { hasNarrowWeights ? 2 : 4 }

  var tapCount: Int { tapRows * tapColumns }
  /// Steps of a whole sum.
  var stepCount: Int { tapCount * stepsPerTap }
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
    let most = X86ProductGenerator.maximumRows(target, vectorCount: vectorCount)
    let rows = ceilingQuotient(length, max(1, ceilingQuotient(length, most)))
    return rows == 0 ? (0, 0, 0) : (rows, length / rows, length % rows)
  }

  func tiling(threads: Int) -> Tiling { threads > 1 ? shared : alone }

  /// The heights of blocks that runs will ask for.
  func neededRowCounts(vectorCount: Int) -> [Int] {
    var lengths = [lineLength]
    if isDense {
      lengths = [alone, shared].flatMap(\.lengths)
    }
    var heights: [Int] = []
    for length in lengths {
      let (rows, _, rest) = blocks(length, vectorCount: vectorCount)
      for height in [rows, rest] where height > 0 && !heights.contains(height) { heights.append(height) }
    }
    return heights
  }
}
