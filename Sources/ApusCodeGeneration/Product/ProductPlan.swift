// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

/// How a convolution becomes a matrix product for generated code: its strategy, then panels, lines and tiles.
///
/// ```
///                N: output channels of a group
///              ┌─ panel 0 ─┬─ panel 1 ─┬ last ┐   block: some rows × one panel; its sums stay in registers
///   ┐  block 0 │ registers │           │      │   panel: neighboring columns, packed K-step by K-step
///   │  block 1 │           │           │      │   tile:  what one thread computes at a time
/// tile  …      │           │           │      │
///   ┘  rest    │           │           │      │   M: output pixels      K: filter height × width × channels
/// ```
/// A *line* is a run of output pixels at equal distances in the input: a row of the image, or all pixels if
/// the filter is 1×1 or the output has one row. A *tap* is a run of K that is contiguous in the input
/// (``TapLayout``).
///
/// An example: an int8 convolution with a 1×1 filter, 56×56×64 → 128, by `x86-avx2` on one thread.
/// ```
/// shape     M = 56 · 56 = 3,136, N = 128, K = 64; one line of 3,136 pixels, one tap of 64 values
/// product   int16, as AVX2 has no exact product of bytes; a K-step is 2 values of K, so K is 32 K-steps
/// panels    8 of 16 columns = 2 vectors of 8 lanes; packed, 32 K-steps · 16 columns · 4 bytes = 2 KiB each
/// blocks    6 rows × 2 vectors = 12 accumulators, ymm0–11; ymm12–13 for weights, ymm14–15 for products
/// tiles     8 of 348 pixels, one of 352. A tile gathers its plane: 348 rows of 64 int16, the bytes minus their
///           zero point, 43.5 KiB; then it runs 8 panels × 58 blocks (the last tile has a block of 4 rows more)
///
/// K-step s of the first block, with the panel's weights at w and the plane at x:
///   vmovdqu      ymm12 = w[64s ..< 64s + 32]            columns 0–3 and 8–11, 2 values of K each
///   vmovdqu      ymm13 = w[64s + 32 ..< 64s + 64]       columns 4–7 and 12–15
///   for row in 0..<6:
///     vpbroadcastd ymm14 = x[128·row + 4s ..< 128·row + 4s + 4]   2 values of the row, in all lanes
///     vpmaddwd     ymm15 = ymm14 · ymm12, ymm14 = ymm14 · ymm13   2 products per lane, added
///     vpaddd       ymm(2·row) += ymm15, ymm(2·row + 1) += ymm14
///
/// Epilogue, after 32 K-steps: the accumulators, which started from the offsets, are rescaled to int32. Per pair of
/// rows, vpackssdw joins each row's two vectors and vpacksswb both rows: the order of columns in lanes makes the bytes
/// come out as columns 0–15. Each row stores 16 bytes at output + 128·pixel + 16·panel.
/// ```
final class ProductPlan: Sendable {
  typealias Panel = PanelLayout.Panel

  let convolution: Convolution
  /// Whether it always runs on one thread, and so needs no functions for the tiles of several.
  let isForOneThread: Bool
  /// The kind of product in a K-step.
  let product: ProductKind
  /// Bytes per value of K in the rows that the product reads.
  let operandByteCount: Int
  let strategy: ProductStrategy
  /// Why faster strategies declined.
  let declined: [Decline]
  /// The values per row that accumulators start from, beside the offsets per column; nil if there are none.
  let rowTerms: RowTerms?

  let tapRows: Int
  let tapColumns: Int
  /// Values of K per tap.
  let depthPerTap: Int
  /// Values of K per K-step.
  let depthPerStep: Int
  let stepsPerTap: Int
  /// The width of a full panel, in vectors.
  let maximumVectors: Int
  let panels: [Panel]
  /// The maximum height of a block, indexed by the panel's width in vectors.
  private let maximumRows: [Int]

  /// Whether one line holds all pixels.
  let isDense: Bool
  /// Whether rows are read in place, from the input.
  let isInPlace: Bool
  /// Why rows are gathered; nil if they are read in place.
  private let gatheringReason: GatheringReason?
  /// Whether tiles are ranges of pixels rather than of lines: if there is one line, or one line per image.
  let takesPixels: Bool
  let lineCount: Int
  let lineLength: Int
  /// The tiles for one thread: as large as the second-level cache allows.
  let singleThreadTiling: Tiling
  /// The tiles for several threads: no larger than ``singleThreadTiling``, and enough for all threads.
  let sharedTiling: Tiling

  /// The estimated duration on one thread.
  let nanoseconds: Int

  /// Whether weights that are multiplied as `int16` are packed as bytes: with few rows or many weights,
  /// loading them limits the speed.
  let hasNarrowWeights: Bool
  /// Accumulators per output; see ``BlockShape/sumSets``.
  let sumSets: Int
  /// Cache lines of the next panel's weights to prefetch in each four K-steps.
  private let fetches: Int
  /// Whether all rows are one block, so that one call computes consecutive panels.
  let movesAlongPanels: Bool

  /// The size of the gathered plane: columns per row, and rows per tile.
  let planeWidth: Int
  let planeRows: Int
  /// Whether rows of the filter that see only padding may be skipped, and the gathered rows for them with it.
  let mayLeaveOutPadding: Bool

  /// The maximum gathered memory of a tile; other kernels compute layers that need more.
  static let planeLimit = 1_700_000
  /// Rows may be computed twice to save generating a function for the last block, if that takes at most this
  /// long: a hundredth of the time to generate one.
  static let repeatedNanoseconds = 100
  /// From this many weights on, weights for `int16` products are packed as bytes.
  static let narrowCount = 1 << 16
  /// With more passes over a panel, its first load is negligible, and it is not prefetched.
  private static let maximumPasses = 48
  /// The maximum number of K-steps if some may need extra ones: their list must stay small in the first-level
  /// cache.
  static let stepLimit = 8192

  init(
    _ convolution: Convolution, _ epilogue: LoweredEpilogue, product: ProductKind, target: any CodeTarget,
    machine: MachineModel, isForOneThread: Bool
  ) throws(Decline) {
    self.convolution = convolution
    self.isForOneThread = isForOneThread
    self.product = product
    operandByteCount = product.operandByteCount
    let c = convolution
    if product.isBFloat16 { try c.requirePairs() }
    if case .bfloat16(.parts(let pairs)) = c.operands, !(c.runDepth / 2).isMultiple(of: pairs) || pairs > 16 {
      throw Decline("runs of \(counted(c.runDepth / 2, "pair")) are no whole parts of \(pairs)")
    }
    nanoseconds = Self.nanoseconds(c, product, target)
    let isSmall = nanoseconds < ThreadPolicy.minimumNanoseconds
    // Images that are quantized at run time have their own scales, so rows of several images form a line only
    // if each row is an image.
    let pixels = c.outputHeight * c.outputWidth
    let isMatrix = c.readsInputInPlace && (!c.operands.isHybrid || c.batches == 1 || pixels == 1)
    lineLength = isMatrix ? c.rowCount : c.outputWidth

    // The strategy, and the K-step.
    let taps = TapLayout(c)
    (tapRows, tapColumns, depthPerTap) = (taps.rows, taps.columns, taps.depthPerTap)
    rowTerms = isMatrix ? RowTerms(c, product, target) : nil
    (strategy, declined) = ProductStrategy.choose(
      c, epilogue, product, target, taps: taps, lineLength: lineLength, pipes: machine.pipes,
      hasRowTerms: rowTerms != nil)
    depthPerStep = strategy.depthPerStep(product, target)
    stepsPerTap = ceilingQuotient(depthPerTap, depthPerStep)
    let stepCount = taps.count * stepsPerTap

    // The panels.
    let layout = PanelLayout(
      c, strategy, product, target, stepCount: stepCount, lineLength: lineLength, isMatrix: isMatrix)
    (maximumVectors, panels, maximumRows) = (layout.maximumVectors, layout.panels, layout.maximumRows)

    // Larger sizes might overflow the arithmetic below; other kernels compute such shapes.
    let sizes = [
      c.filterHeight, c.filterWidth, c.strideHeight, c.strideWidth, c.dilationHeight, c.dilationWidth,
    ]
    try Decline.require(
      sizes.max() ?? 0, below: 1 << 15, "the greatest size, stride or dilation of the filter")
    try Decline.require(c.inputChannels, below: 1 << 26, "the number of input channels")
    try Decline.require(c.outputWidth, below: 1 << 26, "the output's width")

    // The lines.
    gatheringReason = Self.gatheringReason(
      c, strategy, product, target, depthPerTap: depthPerTap, stepsPerTap: stepsPerTap,
      lineLength: lineLength, pipes: machine.pipes, isSmall: isSmall)
    isInPlace = gatheringReason == nil
    isDense = isMatrix || isInPlace && c.batches == 1 && c.outputHeight == 1
    takesPixels = isDense || !isInPlace && c.outputHeight == 1
    lineCount = isDense ? 1 : c.batches * c.outputHeight
    let lineWidth = isDense ? 1 : max(0, c.outputWidth - 1) * c.strideWidth + c.reachWidth

    // Functions for few rows, and weights from beyond the caches.
    let hasFewRows = target.hasFunctionsForFewRows && isDense && lineLength <= 4
    let hasSignedWeights = c.operands.generatedBytes.map { $0.rhsZeroPoint == 128 } ?? false
    let isLarge = c.weightCount >= Self.narrowCount && stepCount <= Self.stepLimit
    hasNarrowWeights =
      product == .words && target.hasFunctionsForFewRows && (isLarge || hasFewRows && hasSignedWeights)
    // Decided by the whole shape, not by a tile's: the order of additions of floats must not depend on tiles.
    sumSets =
      !hasFewRows || product == .words || product.isBFloat16 || strategy.isInner
      ? 1 : lineLength == 1 ? 4 : lineLength == 2 ? 2 : 1
    let isOneBlock =
      isDense
      && layout.panels.allSatisfy { [lineLength] in lineLength <= layout.maximumRows[$0.vectorCount] }
    movesAlongPanels = target.hasFunctionsForFewRows && isOneBlock && product != .bfloat16Tiles
    // A panel is read once per block of rows; each pass prefetches its share of the next panel.
    let passes = lineCount * ceilingQuotient(max(lineLength, 1), maximumRows[maximumVectors])
    let bytesPerLane = hasNarrowWeights ? 2 : strategy.isPaired ? 8 : 4
    fetches =
      layout.hasFarWeights && target.fetchesAhead && !movesAlongPanels && panels.count > 1
        && product != .bfloat16Tiles
        && passes <= Self.maximumPasses
      ? ceilingQuotient(maximumVectors * bytesPerLane * target.lanes * 4 / 64, max(passes, 1)) : 0

    try Decline.require(lineWidth, below: 1 << 22, "the pixels that a line of outputs reaches")
    if !isInPlace { try Decline.require(c.reachHeight, below: 1 << 10, "the rows that an output reaches") }

    // The tiles.
    mayLeaveOutPadding =
      !isInPlace && !takesPixels && Self.leavesOutPadding(c, strategy, product, target)
    let lengths = TileLengths(
      c, machine, operandByteCount: operandByteCount, lineLength: lineLength, lineWidth: lineWidth,
      isDense: isDense, isInPlace: isInPlace, takesPixels: takesPixels,
      leavesOutPadding: mayLeaveOutPadding, hasFarWeights: layout.hasFarWeights, isSmall: isSmall)
    (planeWidth, planeRows) = (lengths.planeWidth, lengths.planeRows)
    if !isInPlace {
      try Decline.require(
        lengths.planeByteCount, below: Self.planeLimit + 1, "the bytes that a tile gathers")
    }
    let length = takesPixels ? lineLength : c.outputHeight
    let cutter = TileCutter(
      length: length, takesPixels: takesPixels, planes: (isDense ? 1 : c.batches) * c.groups,
      panelCount: panels.count, isEmpty: lineLength == 0)
    singleThreadTiling = cutter.cut(lengths.most, minimumCount: 1)
    // If weights are larger than activations, each thread reads a part of the weights rather than of the
    // pixels.
    let sharesPanels =
      (takesPixels || layout.hasFarWeights) && length <= lengths.most && panels.count > 3
      && c.weightCount > 2 * (c.inputCount + c.outputCount)
    // Each thread gathers all pixels.
    sharedTiling =
      sharesPanels
      ? cutter.cut(lengths.most, minimumCount: isInPlace ? lengths.wanted : min(lengths.wanted, 4))
      : cutter.cut(min(lengths.most, lengths.part), minimumCount: lengths.wanted)
  }

  /// The estimated duration of a convolution on one thread.
  private static func nanoseconds(_ c: Convolution, _ product: ProductKind, _ target: any CodeTarget) -> Int {
    let products = Double(c.outputCount) * Double(c.depth)
    // A lower bound: the time to load the weights from beyond the first-level cache.
    let reading = Double(c.weightCount) * Double(product.weightByteCount) / 96
    return Int(min(max(products / target.rate(product), reading), 0x1p40))
  }

  /// Why rows are gathered; nil if they are read in place.
  private static func gatheringReason(
    _ c: Convolution, _ strategy: ProductStrategy, _ product: ProductKind, _ target: any CodeTarget,
    depthPerTap: Int, stepsPerTap: Int, lineLength: Int, pipes: VectorPipes, isSmall: Bool
  ) -> GatheringReason? {
    guard !product.isBFloat16 else { return .rounding }
    let needsNoPadding =
      c.paddingTop == 0 && c.paddingLeft == 0
      && (c.outputHeight - 1) * c.strideHeight + c.reachHeight <= c.inputHeight
      && (c.outputWidth - 1) * c.strideWidth + c.reachWidth <= c.inputWidth
    guard needsNoPadding else { return .padding }
    // Activations quantized at run time already have the right type, and there is room to read beyond them.
    let areRowsReady = c.operands.isHybrid || product != .words && depthPerTap % product.depthPerStep == 0
    guard areRowsReady else { return product == .words ? .widening : .partialSteps }
    // Flipping signs while gathering pays if flips take time from products, or if K is small. A small layer
    // may copy more than it reads, so that it can use the functions of other layers.
    let readsAll = c.strideWidth <= c.filterWidth && c.strideHeight <= c.filterHeight || isSmall
    let paysFlips =
      pipes.areShared
      ? lineLength > 4 && c.columnCount >= target.lanes && readsAll
      : strategy.overlappingSteps != nil && stepsPerTap <= 16
    return paysFlips && target.gathered(product) != product ? .signs : nil
  }

  /// The output channels of a panel; `block` counts the panels of all groups.
  func lanes(block: Int) -> ChannelLanes {
    let panel = panels[block % panels.count]
    return ChannelLanes(
      columns: panel.columns, columnCount: panel.columnCount,
      firstChannel: block / panels.count * convolution.columnCount + panel.firstColumn,
      channelCount: convolution.outputChannels)
  }

  /// The number of panels among the first `count` that are as wide as the first: all, or all but the last.
  func alikeCount(_ count: Int) -> Int {
    panels[count &- 1].columnCount == panels[0].columnCount ? count : count &- 1
  }

  /// Bytes per column in a K-step of packed weights.
  var weightByteCount: Int { hasNarrowWeights ? 2 : strategy.isPaired ? 8 : 4 }

  /// Whether the zero point of the activations differs from image to image. Its share of the sums is then
  /// computed at run time from the column sums, which follow each panel's offsets.
  var hasColumnSums: Bool { convolution.operands.isHybrid && operandByteCount == 1 }
  /// Bytes per column for offsets and column sums.
  var offsetByteCount: Int { hasColumnSums ? 8 : 4 }

  /// Whether each row is an image with its own scale.
  var areRowsImages: Bool { isDense && convolution.operands.isHybrid && convolution.batches > 1 }

  /// The order of products of bfloat16; nil for others.
  var bfloat16Order: BFloat16Order? {
    if case .bfloat16(let order) = convolution.operands { order } else { nil }
  }

  /// The pairs of a part if tile registers multiply; nil otherwise.
  var tilePairs: Int? {
    guard product == .bfloat16Tiles, case .bfloat16(.parts(let pairs)) = convolution.operands else {
      return nil
    }
    return pairs
  }

  var tapCount: Int { tapRows * tapColumns }
  /// The number of K-steps in a sum.
  var stepCount: Int { tapCount * stepsPerTap }
  /// The number of lanes of one group, padding included.
  var paddedColumnCount: Int { panels.last.map { $0.paddedBefore + $0.paddedCount } ?? 0 }

  /// Bytes between consecutive rows of M.
  var rowStride: Int {
    isDense && !isInPlace
      ? convolution.depth * operandByteCount : convolution.strideWidth * pixelByteCount
  }

  /// Bytes between neighboring pixels of the input, or of the plane if rows are gathered.
  var pixelByteCount: Int {
    (isInPlace ? convolution.inputChannels : convolution.channelsPerGroup) * operandByteCount
  }

  /// Bytes between the image rows of the input, or of the plane if rows are gathered.
  var imageRowByteCount: Int { (isInPlace ? convolution.inputWidth : planeWidth) * pixelByteCount }

  /// The size of the plane, with room to read beyond its end.
  var planeByteCount: Int {
    guard !isInPlace else { return 0 }
    let count = isDense ? planeRows * rowStride : planeRows * imageRowByteCount
    return roundedUp(count, to: 64) + 64
  }

  /// The byte offset of a tap from the start of its row.
  func tapOffset(_ tap: Int) -> Int {
    tap / tapColumns * convolution.dilationHeight * imageRowByteCount
      + tap % tapColumns * convolution.dilationWidth * pixelByteCount
  }

  /// The plan in the output of `apus inspect --plan`: panels, blocks and how rows are read.
  var text: String {
    let panel = panels.first
    let columns = panels.count > 1 ? panel?.paddedCount ?? 0 : panel?.columnCount ?? 0
    let length = takesPixels ? singleThreadTiling.length : lineLength
    let rows = panel.map { blocks(length, vectorCount: $0.vectorCount).rows } ?? 0
    let details =
      strategy.isInner
      ? [strategy.text].compactMap(\.self)
      : [
        strategy.text,
        movesAlongPanels ? "panels in one call" : nil, hasNarrowWeights ? "weights as bytes" : nil,
        sumSets > 1 ? "\(sumSets) accumulators per output" : nil, fetches > 0 ? "weights fetched ahead" : nil,
      ].compactMap(\.self)
    return
      ([
        "\(counted(panels.count, "panel")) of \(counted(columns, "column"))",
        "blocks of \(counted(rows, "row")) × \(counted(panel?.vectorCount ?? 0, "vector"))",
      ] + details + [gatheringReason.map { "rows gathered (\($0.text))" } ?? "rows in place"])
      .joined(separator: ", ")
  }

  /// A text that fixes the order of a sum's terms (``PreparedConvolution/summation``), whatever the blocks.
  var summation: String {
    let half = strategy.isPaired ? ", in panels of \(panels.map(\.columnCount))" : ""
    let padding = mayLeaveOutPadding ? ", without padding" : ""
    return "\(strategy.text ?? "products")\(half)\(padding), \(counted(sumSets, "set"))"
  }

  /// Cuts `length` rows into `count` blocks of equal height, and one of the last `rest` rows if any remain.
  ///
  /// The last block may be a whole one that overlaps with the one before it, if computing rows twice takes
  /// next to no time: that saves a function. Tile registers are configured for all blocks of a line, so there it always is.
  func blocks(_ length: Int, vectorCount: Int) -> (rows: Int, count: Int, rest: Int) {
    let most = maximumRows[vectorCount]
    if length <= most { return (length, min(length, 1), 0) }
    let rows = ceilingQuotient(length, ceilingQuotient(length, most))
    let (count, rest) = length.quotientAndRemainder(dividingBy: rows)
    let isWhole =
      rest > 0 && repeatsRows
      && (tilePairs != nil || (rows &- rest) &* nanoseconds <= length &* Self.repeatedNanoseconds)
    return (rows, count, isWhole ? rows : rest)
  }

  /// The lines that a tile gathers, and the columns of the padded image.
  func gathered(_ range: Range<Int>) -> (lines: Range<Int>, columns: Range<Int>) {
    guard takesPixels, !isDense else { return (range, 0..<planeWidth) }
    let first = range.lowerBound &* convolution.strideWidth
    let width = max(0, range.count &- 1) &* convolution.strideWidth &+ convolution.reachWidth
    return (0..<1, first..<first &+ width)
  }

  /// The pixels or lines of the longest tile.
  var longestTile: Int { max(singleThreadTiling.longest, isForOneThread ? 0 : sharedTiling.longest) }

  /// The multiply-accumulates of the longest tile, with all panels.
  var longestTileProducts: Double {
    let pixels = Double(longestTile) * (takesPixels ? 1 : Double(lineLength))
    return pixels * Double(convolution.depth) * Double(convolution.columnCount)
  }

  func tiling(threads: Int) -> Tiling { threads > 1 && !isForOneThread ? sharedTiling : singleThreadTiling }

  /// Whether rows may be computed twice. Functions with a scale per row may not: they advance the scales in
  /// memory.
  private var repeatsRows: Bool { !convolution.operands.isHybrid }

  /// The shapes of the functions that runs call, possibly with duplicates.
  func shapes(movesAlongPanels: Bool) -> [BlockShape] {
    var shapes: [BlockShape] = []
    shapes.reserveCapacity(16)
    func add(_ panel: Panel, rows: Int, isRest: Bool) {
      guard rows > 0 else { return }
      let shape = BlockShape(
        rowCount: rows, vectorCount: panel.vectorCount, columnCount: panel.columnCount,
        isPerRow: areRowsImages, hasNarrowWeights: hasNarrowWeights, sumSets: sumSets,
        movesAlongPanels: movesAlongPanels, hasRowTerms: rowTerms != nil, fetches: fetches,
        innerLoop: innerLoop(panel))
      shapes.append(isRest ? shape.withoutOverlap : shape)
    }
    func add(_ panel: Panel, length: Int) {
      let (rows, _, rest) = blocks(length, vectorCount: panel.vectorCount)
      add(panel, rows: rows, isRest: false)
      if rest != rows { add(panel, rows: rest, isRest: true) }
    }
    // All panels but the last have equal shapes: take the first and the last.
    for index in stride(from: 0, to: panels.count, by: max(1, panels.count - 1)) {
      guard takesPixels else {
        add(panels[index], length: lineLength)
        continue
      }
      singleThreadTiling.forEachLength { add(panels[index], length: $0) }
      if sharedTiling != singleThreadTiling, !isForOneThread {
        sharedTiling.forEachLength { add(panels[index], length: $0) }
      }
    }
    return shapes
  }

  /// The inner loop for a panel.
  private func innerLoop(_ panel: Panel) -> BlockShape.InnerLoop {
    switch strategy {
    case .inner: .inner(InnerProduct(rest: depthPerTap % depthPerStep))
    case .pairs: pairs(panel).map { .pairs($0) } ?? .plain
    case .overlapping(let steps, _): .overlapping(steps)
    case .blocks: tilePairs.map { .tiles(pairs: $0) } ?? .plain
    }
  }
}
