// SPDX-License-Identifier: Apache-2.0

/// How a convolution is laid out for the generated products: taps, panels, lines and tiles.
///
/// A *line* is a row of output pixels whose inputs lie equally far apart: a row of the image, or all pixels at once
/// where the filter has one tap or the output one row. A *tap* is a run of terms that lie side by side: a row of the filter, or one of its
/// places where dilation or groups part them.
final class ProductPlan: Sendable {
  /// A panel of output channels of one group.
  struct Panel {
    let vectorCount: Int
    /// The column that each lane stands for.
    let columns: LaneOrder
    let firstColumn: Int
    /// The columns that exist; the rest is padding.
    let columnCount: Int
    /// Columns with padding, of this panel and of all before it.
    let paddedCount: Int
    let paddedBefore: Int
  }

  let convolution: Convolution
  /// Whether it never runs on more than one thread, and so has no functions for tiles of several.
  let isForOneThread: Bool
  /// Bytes of a term in the rows that the product reads.
  let laneByteCount: Int

  let tapRows: Int
  let tapColumns: Int
  /// Terms that one step multiplies.
  let lanesPerStep: Int
  /// Whether rows are multiplied with each column apart: see ``InnerProduct``.
  let isInner: Bool
  /// Whether a step multiplies two terms of floats: see ``TermPairs``.
  let isPaired: Bool
  /// Terms of a tap.
  let lanesPerTap: Int
  let stepsPerTap: Int
  /// The vectors of a full panel.
  let mostVectors: Int
  let panels: [Panel]
  /// The most rows of a block, by the vectors of a panel.
  private let mostRows: [Int]

  /// Whether one line holds all pixels: those of a matrix, or of an output of one row.
  let isDense: Bool
  /// Whether rows are read where they are in the input.
  let isInPlace: Bool
  /// Why rows are gathered; nil where they are not.
  private let gatheringReason: String?
  /// Whether tiles are pixels, not lines: those of the only line, or of the only one of each image.
  let takesPixels: Bool
  let lineCount: Int
  let lineLength: Int
  /// For one thread: as much in a tile as the second-level cache holds.
  let alone: Tiling
  /// For more threads: the same, or less, so that there are tiles for all.
  let shared: Tiling

  /// Where there are so few steps that blocks are summed while those before them are finished: these.
  private let overlapping: ProductSteps?
  /// The shortest line that is worth that.
  private static let overlappingLength = 16

  /// About how long all takes on one thread.
  let nanoseconds: Int

  /// Whether weights that are multiplied as `int16` are packed as bytes: where few rows meet them, or they are many,
  /// reading them takes the time.
  let hasNarrowWeights: Bool
  /// How often sums are kept: see ``BlockShape``.
  let sumSets: Int
  /// Whether weights have to be read from beyond the second-level cache.
  private let hasFarWeights: Bool
  /// Lines of the next panel's weights that four steps fetch ahead.
  private let fetches: Int
  /// Whether all rows are one block, and panels follow each other in one call.
  let movesAlongPanels: Bool

  /// The gathered part of the input: columns of a row, and rows for a tile.
  let planeWidth: Int
  let planeRows: Int

  /// Tiles that need more gathered memory than this are left to other kernels.
  static let planeLimit = 1_700_000
  /// So long may rows be computed again to do without a function for the last of them: a hundredth of what making one takes.
  static let repeatedNanoseconds = 100
  /// From so many weights on, words are packed as bytes.
  static let narrowCount = 1 << 16
  /// Weights of so many bytes are not in the second-level cache when they are needed.
  static let farByteCount = 1 << 19
  /// Pixels of so many bytes may stay there while such weights pass by.
  private static let nearByteCount = 3 << 18
  /// And the weights of a panel.
  private static let panelByteCount = 1 << 20
  /// Where a panel meets more blocks of rows, to read it the first time takes little of the whole.
  private static let mostPasses = 48
  /// The most steps of which some may be extra ones: a list of all stays small beside the first-level cache's weights.
  static let stepLimit = 8192

  init(
    _ convolution: Convolution, _ epilogue: Epilogue, product: ProductKind, target: any CodeTarget,
    sharesPipes: Bool, isForOneThread: Bool
  ) throws(Decline) {
    self.convolution = convolution
    self.isForOneThread = isForOneThread
    laneByteCount = product.laneByteCount
    let c = convolution
    let products = Double(c.outputCount) * Double(c.depth)
    // Weights are read from beyond the first-level cache.
    let reading = Double(c.weightCount) * Double(laneByteCount) / 96
    nanoseconds = Int(min(max(products / target.rate(product), reading), 0x1p40))
    let isSmall = nanoseconds < ThreadPolicy.leastNanoseconds
    let runsAreRows = c.dilationWidth == 1 && c.groups == 1
    tapRows = c.filterHeight
    tapColumns = runsAreRows ? 1 : c.filterWidth
    lanesPerTap = (runsAreRows ? c.filterWidth : 1) * c.channelsPerGroup
    let innerRows = Self.innerRows(
      c, product, target, tapCount: tapRows * tapColumns, lanesPerTap: lanesPerTap)
    isInner = innerRows > 0
    isPaired =
      !isInner && sharesPipes
      && Self.pairs(c, product, target, tapCount: tapRows * tapColumns, lanesPerTap: lanesPerTap)
    lanesPerStep = isInner ? target.lanes : isPaired ? 2 : product.lanesPerStep
    stepsPerTap = ceilingQuotient(lanesPerTap, lanesPerStep)
    // Images that are quantized at run time have scales of their own: rows of several images are no line, unless each
    // is one.
    let pixels = c.outputHeight * c.outputWidth
    let isMatrix = c.readsInputInPlace && (!c.operands.isHybrid || c.batches == 1 || pixels == 1)
    lineLength = isMatrix ? c.rowCount : c.outputWidth
    let steps = ProductSteps(taps: tapRows * tapColumns, perTap: stepsPerTap)
    let overlappingRows =
      lineLength >= Self.overlappingLength && !sharesPipes
      ? target.mostOverlappingRows(product, steps, c.operands, epilogue) : []
    overlapping = overlappingRows.isEmpty ? nil : steps
    hasFarWeights =
      c.weightCount * (product == .floats ? 4 : 1) >= Self.farByteCount && !isInner
      && overlappingRows.isEmpty
    mostVectors =
      if isInner {
        1
      } else if !overlappingRows.isEmpty {
        overlappingRows.count
      } else if hasFarWeights {
        Self.vectors(
          byteCount: steps.taps * steps.perTap * target.lanes * 4, lineLength: lineLength,
          isMatrix: isMatrix, product, target)
      } else {
        target.mostVectors
      }
    let panels =
      isInner
      ? [Panel(innerColumns: c.columnCount, lanes: target.lanes)]
      : Self.panels(
        columns: c.columnCount, mostVectors: mostVectors, target: target,
        areInOrder: product == .floats || c.operands.isHybrid)
    self.panels = panels
    let vectorCounts = 0...mostVectors
    let mostRows =
      [0]
      + (isInner
        ? [innerRows]
        : overlappingRows.isEmpty
          ? vectorCounts.dropFirst().map { target.mostRows(product, vectorCount: $0) } : overlappingRows)
    self.mostRows = mostRows

    // Beyond these sizes, products below might overflow; other kernels take such shapes.
    let sizes = [
      c.filterHeight, c.filterWidth, c.strideHeight, c.strideWidth, c.dilationHeight, c.dilationWidth,
    ]
    try Decline.require(
      sizes.max() ?? 0, below: 1 << 15, "the greatest size, stride or dilation of the filter")
    try Decline.require(c.inputChannels, below: 1 << 26, "the number of input channels")
    try Decline.require(c.outputWidth, below: 1 << 26, "the output's width")
    let reachHeight = (c.filterHeight - 1) * c.dilationHeight + 1
    let reachWidth = (c.filterWidth - 1) * c.dilationWidth + 1
    let needsNoPadding =
      c.paddingTop == 0 && c.paddingLeft == 0
      && (c.outputHeight - 1) * c.strideHeight + reachHeight <= c.inputHeight
      && (c.outputWidth - 1) * c.strideWidth + reachWidth <= c.inputWidth
    // Quantized floats are words or bytes already, and there is room to read beyond them.
    let areRowsReady = c.operands.isHybrid || product != .words && lanesPerTap % product.lanesPerStep == 0
    // Signs are turned once rather than for each panel, where that takes time from products or there are few steps. A small
    // layer may copy more than it reads: others have its functions then.
    let readsAll = c.strideWidth <= c.filterWidth && c.strideHeight <= c.filterHeight || isSmall
    let paysFlips =
      sharesPipes
      ? lineLength > 4 && c.columnCount >= target.lanes && readsAll : overlapping != nil && stepsPerTap <= 16
    let needsFlips = paysFlips && target.gathered(product) != product
    isInPlace = areRowsReady && needsNoPadding && !needsFlips
    gatheringReason =
      isInPlace
      ? nil
      : !needsNoPadding
        ? "padding"
        : !areRowsReady
          ? product == .words ? "bytes become 16-bit integers" : "taps are no whole steps"
          : "signs are turned"
    isDense = isMatrix || isInPlace && c.batches == 1 && c.outputHeight == 1
    takesPixels = isDense || !isInPlace && c.outputHeight == 1
    lineCount = isDense ? 1 : c.batches * c.outputHeight
    let hasFewRows = target.hasFunctionsForFewRows && isDense && lineLength <= 4
    let hasSignedWeights = c.operands.generatedBytes.map { $0.rhsZeroPoint == 128 } ?? false
    let isLarge = c.weightCount >= Self.narrowCount && tapRows * tapColumns * stepsPerTap <= Self.stepLimit
    hasNarrowWeights =
      product == .words && target.hasFunctionsForFewRows && (isLarge || hasFewRows && hasSignedWeights)
    // By the whole shape: the order of a float's sum is the same for all tiles.
    sumSets = !hasFewRows || product == .words || isInner ? 1 : lineLength == 1 ? 4 : lineLength == 2 ? 2 : 1
    let isOneBlock = isDense && panels.allSatisfy { [lineLength] in lineLength <= mostRows[$0.vectorCount] }
    movesAlongPanels = target.hasFunctionsForFewRows && isOneBlock
    // A panel is read once for each block of rows: each fetches its part of the next one.
    let passes = lineCount * ceilingQuotient(max(lineLength, 1), mostRows[mostVectors])
    let linesOfFourSteps = mostVectors * (hasNarrowWeights ? 2 : isPaired ? 8 : 4) * target.lanes * 4 / 64
    fetches =
      hasFarWeights && target.fetchesAhead && !movesAlongPanels && panels.count > 1
        && passes <= Self.mostPasses
      ? ceilingQuotient(linesOfFourSteps, passes) : 0
    let lineWidth = isDense ? 1 : max(0, c.outputWidth - 1) * c.strideWidth + reachWidth
    try Decline.require(lineWidth, below: 1 << 22, "the pixels that a line of outputs reaches")
    if !isInPlace { try Decline.require(reachHeight, below: 1 << 10, "the rows that an output reaches") }

    // A tile's rows stay in the second-level cache while panels pass by.
    // In place, strides may pass by pixels and rows.
    let columns = isInPlace ? min(lineWidth, c.outputWidth * c.filterWidth) : lineWidth
    let lanesPerRow =
      if isDense {
        min(c.depth, c.strideWidth * c.inputChannels)
      } else if takesPixels {
        reachHeight * c.strideWidth * c.channelsPerGroup
      } else {
        columns * c.channelsPerGroup
      }
    let bytesPerRow = max(1, lanesPerRow * laneByteCount)
    let rowsPerLine = isInPlace ? min(c.strideHeight, c.filterHeight) : c.strideHeight
    // Tiles for several threads: an even count, each of as much work as pays.
    let wanted = max(isSmall ? 1 : 2, min(8, Int(min(products, 0x1p30)) >> 18 * 2))
    let most: Int
    let part: Int
    if takesPixels {
      let fitting = min(max((96 << 10) / bytesPerRow, 12), 384) / 12 * 12
      // What lies far away is read once for each tile.
      let isWhole = hasFarWeights && lineLength * bytesPerRow <= Self.nearByteCount
      most = max(1, isWhole ? lineLength : min(fitting, lineLength))
      // At least 24 rows.
      let parts = min(wanted, max(1, lineLength / 48 * 2))
      part = max(24, ceilingQuotient(lineLength, parts))
      planeRows = isInPlace ? 0 : isDense ? most : reachHeight
    } else {
      let firstRows = isInPlace ? min(reachHeight, c.filterHeight) : reachHeight
      let fitting = ((160 << 10) / bytesPerRow - firstRows) / rowsPerLine + 1
      let isWhole = hasFarWeights && c.outputHeight * rowsPerLine * bytesPerRow <= Self.nearByteCount
      most = max(1, isWhole ? c.outputHeight : min(fitting, c.outputHeight))
      part = max(1, ceilingQuotient(c.outputHeight, wanted))
      planeRows = isInPlace ? 0 : (most - 1) * c.strideHeight + reachHeight
    }
    // No part is longer than `most`, but where it ends at a multiple of pixels.
    planeWidth =
      isDense || !takesPixels
      ? lineWidth : min(lineWidth, (roundedUp(most, to: 12) + 12) * c.strideWidth + reachWidth)
    let planeBytes =
      isDense ? most * bytesPerRow : planeRows * planeWidth * c.channelsPerGroup * laneByteCount
    if !isInPlace {
      try Decline.require(planeBytes, below: Self.planeLimit + 1, "the bytes that a tile gathers")
    }
    let (panelCount, length) = (panels.count, takesPixels ? lineLength : c.outputHeight)
    let isEmpty = lineLength == 0
    let planes = (isDense ? 1 : c.batches) * c.groups
    let unitIsPixels = takesPixels
    func cut(_ tileLength: Int, leastCount: Int) -> Tiling {
      let unit = unitIsPixels ? (tileLength < 96 ? 6 : 12) : 1
      var tilesPerImage = ceilingQuotient(length, tileLength)
      // Several threads: an even count, and a multiple of four where there are many.
      let step = leastCount == 1 || tilesPerImage <= 1 ? 1 : tilesPerImage < 8 ? 2 : 4
      tilesPerImage = min(roundedUp(tilesPerImage, to: step), ceilingQuotient(length, unit))
      let rowTiles = max(1, planes * tilesPerImage)
      // Few rows: panels are shared out as well.
      let panelTiles = max(1, min(panelCount, ceilingQuotient(leastCount, rowTiles)))
      return Tiling(
        length: length, unit: unit, tilesPerImage: tilesPerImage, panelCount: panelCount,
        panelTiles: panelTiles, count: isEmpty ? 0 : planes * tilesPerImage * panelTiles)
    }
    alone = cut(most, leastCount: 1)
    // Where weights outweigh pixels, each thread reads a part of the weights rather than of the pixels.
    let sharesPanels =
      (takesPixels || hasFarWeights) && length <= most && panelCount > 3
      && c.weightCount > 2 * (c.inputCount + c.outputCount)
    // Each part gathers all pixels again.
    shared =
      sharesPanels
      ? cut(most, leastCount: isInPlace ? wanted : min(wanted, 4)) : cut(min(most, part), leastCount: wanted)
  }

  /// The vectors of panels, each of so many bytes: fewer where full panels would not stay in the second-level cache, and where
  /// fewer take all pixels of a line at once, but full ones would be read twice for each line.
  private static func vectors(
    byteCount: Int, lineLength: Int, isMatrix: Bool, _ product: ProductKind,
    _ target: any CodeTarget
  ) -> Int {
    var most = target.mostVectors
    guard lineLength > target.mostRows(product, vectorCount: most) else { return most }
    while most > 2, most * byteCount > Self.panelByteCount { most -= 1 }
    guard !isMatrix, lineLength > target.mostRows(product, vectorCount: most) else { return most }
    return (2..<most).last { lineLength <= target.mostRows(product, vectorCount: $0) } ?? most
  }

  /// Full panels, then one for the rest; the lanes of bytes may be out of order.
  static func panels(
    columns: Int, mostVectors: Int, target: any CodeTarget, areInOrder: Bool
  ) -> [Panel] {
    let lanes = target.lanes
    let most = mostVectors * lanes
    var panels: [Panel] = []
    panels.reserveCapacity(ceilingQuotient(columns, most))
    var first = 0
    var padded = 0
    while first < columns {
      let count = min(columns - first, most)
      let vectors = ceilingQuotient(count, lanes)
      panels.append(
        Panel(
          vectorCount: vectors,
          columns: areInOrder ? LaneOrder(count: vectors * lanes) : target.byteColumns(vectorCount: vectors),
          firstColumn: first, columnCount: count, paddedCount: vectors * lanes, paddedBefore: padded))
      first += count
      padded += vectors * lanes
    }
    return panels
  }

  /// The output channels of a panel; panels are counted through all groups.
  func lanes(block: Int) -> ChannelLanes {
    let panel = panels[block % panels.count]
    return ChannelLanes(
      columns: panel.columns, columnCount: panel.columnCount,
      firstChannel: block / panels.count * convolution.columnCount + panel.firstColumn,
      channelCount: convolution.outputChannels)
  }

  /// How many of the first `count` panels are as wide as the first: all, or all but the last.
  func alikeCount(_ count: Int) -> Int {
    panels[count &- 1].columnCount == panels[0].columnCount ? count : count &- 1
  }

  /// Bytes of a step's weights for one column.
  var weightByteCount: Int { hasNarrowWeights ? 2 : isPaired ? 8 : 4 }

  /// Whether sums are of bytes whose zero point differs from image to image: they begin with its share, for which the
  /// offsets of each panel are followed by the sums of its columns.
  var hasColumnSums: Bool { convolution.operands.isHybrid && laneByteCount == 1 }
  /// Bytes of what is kept for one column beside its weights.
  var offsetByteCount: Int { hasColumnSums ? 8 : 4 }

  /// Whether each row is a quantized image, which has a scale of its own.
  var areRowsImages: Bool { isDense && convolution.operands.isHybrid && convolution.batches > 1 }

  var tapCount: Int { tapRows * tapColumns }
  /// Steps of a whole sum.
  var stepCount: Int { tapCount * stepsPerTap }
  /// Columns with padding of one group.
  var paddedColumnCount: Int { panels.last.map { $0.paddedBefore + $0.paddedCount } ?? 0 }

  /// Bytes between neighboring rows of the product.
  var rowStride: Int {
    isDense && !isInPlace
      ? convolution.depth * laneByteCount : convolution.strideWidth * pixelByteCount
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

  /// Panels, blocks and what rows are read from, for people to read.
  var text: String {
    let panel = panels.first
    let columns = panels.count > 1 ? panel?.paddedCount ?? 0 : panel?.columnCount ?? 0
    let length = takesPixels ? alone.length : lineLength
    let rows = panel.map { blocks(length, vectorCount: $0.vectorCount).rows } ?? 0
    let way =
      isInner
      ? ["each column apart"]
      : [
        isPaired ? "terms in pairs" : nil, overlapping == nil ? nil : "blocks overlapping",
        movesAlongPanels ? "panels in one call" : nil, hasNarrowWeights ? "weights as bytes" : nil,
        sumSets > 1 ? "\(sumSets) sets of sums" : nil, fetches > 0 ? "weights fetched ahead" : nil,
      ].compactMap(\.self)
    return
      ([
        "\(counted(panels.count, "panel")) of \(counted(columns, "column"))",
        "blocks of \(counted(rows, "row")) × \(counted(panel?.vectorCount ?? 0, "vector"))",
      ] + way + [gatheringReason.map { "rows gathered (\($0))" } ?? "rows in place"])
      .joined(separator: ", ")
  }

  /// Cuts `length` rows into blocks as equal as can be: `count` whole ones, and one of the last `rest` rows, if any.
  ///
  /// Where that takes next to no time, the last is a whole block as well, and computes some rows again: a function less.
  func blocks(_ length: Int, vectorCount: Int) -> (rows: Int, count: Int, rest: Int) {
    let most = mostRows[vectorCount]
    if length <= most { return (length, min(length, 1), 0) }
    let rows = ceilingQuotient(length, ceilingQuotient(length, most))
    let (count, rest) = length.quotientAndRemainder(dividingBy: rows)
    let isWhole =
      rest > 0 && repeatsRows && (rows &- rest) &* nanoseconds <= length &* Self.repeatedNanoseconds
    return (rows, count, isWhole ? rows : rest)
  }

  /// What is gathered for a tile: lines, and columns of the padded image.
  func gathered(_ range: Range<Int>) -> (lines: Range<Int>, columns: Range<Int>) {
    guard takesPixels, !isDense else { return (range, 0..<planeWidth) }
    let reach = (convolution.filterWidth &- 1) &* convolution.dilationWidth &+ 1
    let first = range.lowerBound &* convolution.strideWidth
    return (0..<1, first..<first &+ max(0, range.count &- 1) &* convolution.strideWidth &+ reach)
  }

  func tiling(threads: Int) -> Tiling { threads > 1 && !isForOneThread ? shared : alone }

  /// Whether rows may be computed twice: functions count scales of rows as they go.
  private var repeatsRows: Bool { !convolution.operands.isHybrid }

  /// The shapes of functions that runs will ask for; some come more than once.
  func shapes(movesAlongPanels: Bool) -> [BlockShape] {
    var shapes: [BlockShape] = []
    shapes.reserveCapacity(16)
    func add(_ panel: Panel, rows: Int, isRest: Bool) {
      guard rows > 0 else { return }
      shapes.append(
        BlockShape(
          rowCount: rows, vectorCount: panel.vectorCount, columnCount: panel.columnCount,
          isPerRow: areRowsImages, hasNarrowWeights: hasNarrowWeights, sumSets: sumSets,
          movesAlongPanels: movesAlongPanels, fetches: fetches, overlapping: isRest ? nil : overlapping,
          inner: inner, pairs: pairs(panel)))
    }
    func add(_ panel: Panel, length: Int) {
      let (rows, _, rest) = blocks(length, vectorCount: panel.vectorCount)
      add(panel, rows: rows, isRest: false)
      if rest != rows { add(panel, rows: rest, isRest: true) }
    }
    // All panels but the last are alike.
    for index in stride(from: 0, to: panels.count, by: max(1, panels.count - 1)) {
      guard takesPixels else {
        add(panels[index], length: lineLength)
        continue
      }
      alone.forEachLength { add(panels[index], length: $0) }
      if shared != alone, !isForOneThread {
        shared.forEachLength { add(panels[index], length: $0) }
      }
    }
    return shapes
  }
}
