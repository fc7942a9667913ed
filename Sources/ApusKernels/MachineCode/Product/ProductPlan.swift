// SPDX-License-Identifier: Apache-2.0

/// How a convolution is laid out for the generated products: a strategy, panels for it, lines and tiles.
///
/// A *line* is a row of output pixels whose inputs lie equally far apart: a row of the image, or all pixels at once
/// where the filter has one tap or the output one row. A *tap* is a run of terms that lie side by side: see ``TapLayout``.
final class ProductPlan: Sendable {
  typealias Panel = PanelLayout.Panel

  let convolution: Convolution
  /// Whether it never runs on more than one thread, and so has no functions for tiles of several.
  let isForOneThread: Bool
  /// Bytes of a term in the rows that the product reads.
  let laneByteCount: Int
  let strategy: ProductStrategy
  /// What sums begin with beside the offsets of columns; nil for nothing.
  let rowTerms: RowTerms?

  let tapRows: Int
  let tapColumns: Int
  /// Terms of a tap.
  let lanesPerTap: Int
  /// Terms that one step multiplies.
  let lanesPerStep: Int
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
  private let gatheringReason: GatheringReason?
  /// Whether tiles are pixels, not lines: those of the only line, or of the only one of each image.
  let takesPixels: Bool
  let lineCount: Int
  let lineLength: Int
  /// For one thread: as much in a tile as the second-level cache holds.
  let alone: Tiling
  /// For more threads: the same, or less, so that there are tiles for all.
  let shared: Tiling

  /// About how long all takes on one thread.
  let nanoseconds: Int

  /// Whether weights that are multiplied as `int16` are packed as bytes: where few rows meet them, or they are many,
  /// reading them takes the time.
  let hasNarrowWeights: Bool
  /// How often sums are kept: see ``BlockShape``.
  let sumSets: Int
  /// Lines of the next panel's weights that four steps fetch ahead.
  private let fetches: Int
  /// Whether all rows are one block, and panels follow each other in one call.
  let movesAlongPanels: Bool

  /// The gathered part of the input: columns of a row, and rows for a tile.
  let planeWidth: Int
  let planeRows: Int
  /// Whether rows of the filter that meet padding alone may be left out, and so gathered rows of it.
  let mayLeaveOutPadding: Bool

  /// Tiles that need more gathered memory than this are left to other kernels.
  static let planeLimit = 1_700_000
  /// So long may rows be computed again to do without a function for the last of them: a hundredth of what making one takes.
  static let repeatedNanoseconds = 100
  /// From so many weights on, words are packed as bytes.
  static let narrowCount = 1 << 16
  /// Where a panel meets more blocks of rows, to read it the first time takes little of the whole.
  private static let mostPasses = 48
  /// The most steps of which some may be extra ones: a list of all stays small beside the first-level cache's weights.
  static let stepLimit = 8192

  init(
    _ convolution: Convolution, _ epilogue: LoweredEpilogue, product: ProductKind, target: any CodeTarget,
    pipes: VectorPipes, isForOneThread: Bool
  ) throws(Decline) {
    self.convolution = convolution
    self.isForOneThread = isForOneThread
    laneByteCount = product.laneByteCount
    let c = convolution
    nanoseconds = Self.nanoseconds(c, product, target)
    let isSmall = nanoseconds < ThreadPolicy.leastNanoseconds
    // Images that are quantized at run time have scales of their own: rows of several images are no line, unless each
    // is one.
    let pixels = c.outputHeight * c.outputWidth
    let isMatrix = c.readsInputInPlace && (!c.operands.isHybrid || c.batches == 1 || pixels == 1)
    lineLength = isMatrix ? c.rowCount : c.outputWidth

    // The strategy, and what a step multiplies.
    let taps = TapLayout(c)
    (tapRows, tapColumns, lanesPerTap) = (taps.rows, taps.columns, taps.lanesPerTap)
    rowTerms = isMatrix ? RowTerms(c, product, target) : nil
    strategy = ProductStrategy(
      c, epilogue, product, target, taps: taps, lineLength: lineLength, pipes: pipes,
      hasRowTerms: rowTerms != nil)
    lanesPerStep = strategy.lanesPerStep(product, target)
    stepsPerTap = ceilingQuotient(lanesPerTap, lanesPerStep)
    let stepCount = taps.count * stepsPerTap

    // The panels.
    let layout = PanelLayout(
      c, strategy, product, target, stepCount: stepCount, lineLength: lineLength, isMatrix: isMatrix)
    (mostVectors, panels, mostRows) = (layout.mostVectors, layout.panels, layout.mostRows)

    // Beyond these sizes, products below might overflow; other kernels take such shapes.
    let sizes = [
      c.filterHeight, c.filterWidth, c.strideHeight, c.strideWidth, c.dilationHeight, c.dilationWidth,
    ]
    try Decline.require(
      sizes.max() ?? 0, below: 1 << 15, "the greatest size, stride or dilation of the filter")
    try Decline.require(c.inputChannels, below: 1 << 26, "the number of input channels")
    try Decline.require(c.outputWidth, below: 1 << 26, "the output's width")

    // The lines.
    let reachHeight = (c.filterHeight - 1) * c.dilationHeight + 1
    let reachWidth = (c.filterWidth - 1) * c.dilationWidth + 1
    gatheringReason = Self.gatheringReason(
      c, strategy, product, target, lanesPerTap: lanesPerTap, stepsPerTap: stepsPerTap,
      lineLength: lineLength, pipes: pipes, isSmall: isSmall)
    isInPlace = gatheringReason == nil
    isDense = isMatrix || isInPlace && c.batches == 1 && c.outputHeight == 1
    takesPixels = isDense || !isInPlace && c.outputHeight == 1
    lineCount = isDense ? 1 : c.batches * c.outputHeight
    let lineWidth = isDense ? 1 : max(0, c.outputWidth - 1) * c.strideWidth + reachWidth

    // Functions for few rows, and weights that lie far away.
    let hasFewRows = target.hasFunctionsForFewRows && isDense && lineLength <= 4
    let hasSignedWeights = c.operands.generatedBytes.map { $0.rhsZeroPoint == 128 } ?? false
    let isLarge = c.weightCount >= Self.narrowCount && stepCount <= Self.stepLimit
    hasNarrowWeights =
      product == .words && target.hasFunctionsForFewRows && (isLarge || hasFewRows && hasSignedWeights)
    // By the whole shape: the order of a float's sum is the same for all tiles.
    sumSets =
      !hasFewRows || product == .words || strategy.isInner
      ? 1 : lineLength == 1 ? 4 : lineLength == 2 ? 2 : 1
    let isOneBlock =
      isDense
      && layout.panels.allSatisfy { [lineLength] in lineLength <= layout.mostRows[$0.vectorCount] }
    movesAlongPanels = target.hasFunctionsForFewRows && isOneBlock
    // A panel is read once for each block of rows: each fetches its part of the next one.
    let passes = lineCount * ceilingQuotient(max(lineLength, 1), mostRows[mostVectors])
    let bytesPerLane = hasNarrowWeights ? 2 : strategy.isPaired ? 8 : 4
    fetches =
      layout.hasFarWeights && target.fetchesAhead && !movesAlongPanels && panels.count > 1
        && passes <= Self.mostPasses
      ? ceilingQuotient(mostVectors * bytesPerLane * target.lanes * 4 / 64, max(passes, 1)) : 0

    try Decline.require(lineWidth, below: 1 << 22, "the pixels that a line of outputs reaches")
    if !isInPlace { try Decline.require(reachHeight, below: 1 << 10, "the rows that an output reaches") }

    // The tiles.
    mayLeaveOutPadding =
      !isInPlace && !takesPixels && Self.leavesOutPadding(c, strategy, product, target)
    let lengths = TileLengths(
      c, laneByteCount: laneByteCount, lineLength: lineLength, lineWidth: lineWidth, isDense: isDense,
      isInPlace: isInPlace, takesPixels: takesPixels, leavesOutPadding: mayLeaveOutPadding,
      hasFarWeights: layout.hasFarWeights, isSmall: isSmall)
    (planeWidth, planeRows) = (lengths.planeWidth, lengths.planeRows)
    if !isInPlace {
      try Decline.require(
        lengths.planeByteCount, below: Self.planeLimit + 1, "the bytes that a tile gathers")
    }
    let length = takesPixels ? lineLength : c.outputHeight
    let cutter = TileCutter(
      length: length, takesPixels: takesPixels, planes: (isDense ? 1 : c.batches) * c.groups,
      panelCount: panels.count, isEmpty: lineLength == 0)
    alone = cutter.cut(lengths.most, leastCount: 1)
    // Where weights outweigh pixels, each thread reads a part of the weights rather than of the pixels.
    let sharesPanels =
      (takesPixels || layout.hasFarWeights) && length <= lengths.most && panels.count > 3
      && c.weightCount > 2 * (c.inputCount + c.outputCount)
    // Each part gathers all pixels again.
    shared =
      sharesPanels
      ? cutter.cut(lengths.most, leastCount: isInPlace ? lengths.wanted : min(lengths.wanted, 4))
      : cutter.cut(min(lengths.most, lengths.part), leastCount: lengths.wanted)
  }

  /// About how long a convolution takes on one thread.
  private static func nanoseconds(_ c: Convolution, _ product: ProductKind, _ target: any CodeTarget) -> Int {
    let products = Double(c.outputCount) * Double(c.depth)
    // Weights are read from beyond the first-level cache.
    let reading = Double(c.weightCount) * Double(product.laneByteCount) / 96
    return Int(min(max(products / target.rate(product), reading), 0x1p40))
  }

  /// Why rows are gathered; nil where they are read in place.
  private static func gatheringReason(
    _ c: Convolution, _ strategy: ProductStrategy, _ product: ProductKind, _ target: any CodeTarget,
    lanesPerTap: Int, stepsPerTap: Int, lineLength: Int, pipes: VectorPipes, isSmall: Bool
  ) -> GatheringReason? {
    let reachHeight = (c.filterHeight - 1) * c.dilationHeight + 1
    let reachWidth = (c.filterWidth - 1) * c.dilationWidth + 1
    let needsNoPadding =
      c.paddingTop == 0 && c.paddingLeft == 0
      && (c.outputHeight - 1) * c.strideHeight + reachHeight <= c.inputHeight
      && (c.outputWidth - 1) * c.strideWidth + reachWidth <= c.inputWidth
    guard needsNoPadding else { return .padding }
    // Quantized floats are words or bytes already, and there is room to read beyond them.
    let areRowsReady = c.operands.isHybrid || product != .words && lanesPerTap % product.lanesPerStep == 0
    guard areRowsReady else { return product == .words ? .widening : .partialSteps }
    // Signs are turned once rather than for each panel, where that takes time from products or there are few steps. A small
    // layer may copy more than it reads: others have its functions then.
    let readsAll = c.strideWidth <= c.filterWidth && c.strideHeight <= c.filterHeight || isSmall
    let paysFlips =
      pipes.areShared
      ? lineLength > 4 && c.columnCount >= target.lanes && readsAll
      : strategy.overlappingSteps != nil && stepsPerTap <= 16
    return paysFlips && target.gathered(product) != product ? .signs : nil
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
  var weightByteCount: Int { hasNarrowWeights ? 2 : strategy.isPaired ? 8 : 4 }

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
      strategy.isInner
      ? [strategy.text].compactMap(\.self)
      : [
        strategy.text,
        movesAlongPanels ? "panels in one call" : nil, hasNarrowWeights ? "weights as bytes" : nil,
        sumSets > 1 ? "\(sumSets) sets of sums" : nil, fetches > 0 ? "weights fetched ahead" : nil,
      ].compactMap(\.self)
    return
      ([
        "\(counted(panels.count, "panel")) of \(counted(columns, "column"))",
        "blocks of \(counted(rows, "row")) × \(counted(panel?.vectorCount ?? 0, "vector"))",
      ] + way + [gatheringReason.map { "rows gathered (\($0.text))" } ?? "rows in place"])
      .joined(separator: ", ")
  }

  /// What the order of a sum's terms depends on: see ``PreparedConvolution/summation``. The rows of a block do not matter.
  var summation: String {
    let half = strategy.isPaired ? ", in panels of \(panels.map(\.columnCount))" : ""
    let padding = mayLeaveOutPadding ? ", without padding" : ""
    return "\(strategy.text ?? "products")\(half)\(padding), \(counted(sumSets, "set"))"
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

  /// The pixels or lines of the longest tile.
  var longestTile: Int { max(alone.longest, isForOneThread ? 0 : shared.longest) }

  /// Its multiply-accumulates, with all panels.
  var longestTileProducts: Double {
    let pixels = Double(longestTile) * (takesPixels ? 1 : Double(lineLength))
    return pixels * Double(convolution.depth) * Double(convolution.columnCount)
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
      let shape = BlockShape(
        rowCount: rows, vectorCount: panel.vectorCount, columnCount: panel.columnCount,
        isPerRow: areRowsImages, hasNarrowWeights: hasNarrowWeights, sumSets: sumSets,
        movesAlongPanels: movesAlongPanels, hasRowTerms: rowTerms != nil, fetches: fetches, way: way(panel))
      shapes.append(isRest ? shape.alone : shape)
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

  /// How blocks with a panel multiply.
  private func way(_ panel: Panel) -> BlockShape.Way {
    switch strategy {
    case .inner: .inner(InnerProduct(rest: lanesPerTap % lanesPerStep))
    case .pairs: pairs(panel).map { .pairs($0) } ?? .plain
    case .overlapping(let steps, _): .overlapping(steps)
    case .blocks: .plain
    }
  }
}
