// SPDX-License-Identifier: Apache-2.0

/// How a depthwise convolution is laid out for the generated products.
///
/// The input is gathered into a *plane* of rows with padding around them. Where channels do not fill a block, neighboring
/// output pixels are taken together as one with more channels; with strides, the plane keeps columns of equal phase side
/// by side, so that this works for any stride. Where rows of all channels would not stay in the cache, a plane has a
/// *chunk* of them, some blocks.
final class DepthwisePlan: Sendable {
  /// The most pixels that a generated function takes at once.
  static let mostPixels = 4

  let convolution: DepthwiseConvolution
  let laneByteCount: Int
  let tapsPerGroup: Int

  let channels: Int
  /// Neighboring columns of the output, of one block, that lack the same pixels of the input.
  struct ColumnRun {
    let first: Int
    /// Columns of a block.
    let columns: Int
    var blockCount: Int
    /// Pixels in the padding: those of the first column, and of the last.
    let missingFirst: Int
    let missingLast: Int
  }

  /// Where the input is read in place, without padding: the columns; otherwise empty.
  let runs: [ColumnRun]
  /// The channels of its last block, where they fill none.
  let tailCount: Int
  /// Output pixels that are taken as one.
  let pixelsTogether: Int
  /// Vectors, and channels, of a block.
  let vectorCount: Int
  let blockChannels: Int
  /// The channel, within a block, that each lane of weights stands for, and each lane of sums at the end.
  let weightColumns: LaneOrder
  let columns: LaneOrder
  let blockCount: Int
  /// Pixels taken together, in a row.
  let columnCount: Int
  /// Pixels of the last of them.
  let lastColumnPixels: Int

  /// The most columns of a block, of which a row of taps is taken at a time, or a few rows of bytes; zero where groups are
  /// taken one by one.
  let mostColumns: Int
  /// Why they are.
  let singleTaps: SingleTaps?
  /// Whether bytes are read in place, as words.
  let widensInPlace: Bool
  /// Of other bytes, the columns of the output that are read in place, while those at the edges are gathered, as they need
  /// padding; empty where all are gathered.
  let interior: Range<Int>

  let phases: Int
  let phaseWidth: Int
  let planeWidth: Int
  /// Blocks, and their channels, that are gathered at a time.
  let chunkBlocks: Int
  let chunkChannels: Int
  /// About how long all takes on one thread.
  let nanoseconds: Int
  /// Whether chunks, not lines, are what threads share.
  private let sharesChannels: Bool
  /// The most lines of a tile.
  let mostLines: Int
  let planeRows: Int

  /// Rows that are gathered take about this many bytes at most: a part of the second-level cache.
  private static let planeBytes = 128 << 10

  init(
    _ convolution: DepthwiseConvolution, product: ProductKind, target: any CodeTarget
  ) throws(Decline) {
    self.convolution = convolution
    let c = convolution
    // Beyond these sizes, products below might overflow; other kernels take such shapes.
    let sizes = [
      c.filterHeight, c.filterWidth, c.strideHeight, c.strideWidth, c.dilationHeight, c.dilationWidth,
    ]
    try Decline.require(
      sizes.max() ?? 0, below: 1 << 15, "the greatest size, stride or dilation of the filter")
    try Decline.require(c.outputChannels, below: 1 << 26, "the number of output channels")
    try Decline.require(c.outputWidth, below: 1 << 26, "the output's width")
    guard c.outputHeight > 0, c.outputWidth > 0 else {
      throw Decline("the output, \(c.outputHeight)×\(c.outputWidth), is empty")
    }
    laneByteCount = product.laneByteCount
    tapsPerGroup = product.lanesPerStep
    channels = c.outputChannels
    widensInPlace = Self.canWidenInPlace(c, product, target)
    runs = product == .floats || widensInPlace ? Self.runs(c, product, target) : []
    vectorCount = runs.isEmpty ? target.depthwiseVectors(product) : 1
    blockChannels = vectorCount * target.lanes
    let inOrder = LaneOrder(count: blockChannels)
    switch product {
    case .floats: weightColumns = inOrder
    case .words: weightColumns = LaneOrder(quartersOf: vectorCount, lanes: target.lanes)
    case .unsignedBytes, .signedBytes: weightColumns = target.byteColumns(vectorCount: vectorCount)
    }
    columns = c.operands.isHybrid ? inOrder : weightColumns
    var best = (cost: Int.max, count: 1)
    // With strides, columns of equal phase would be gathered one by one, which costs more than lanes without channels,
    // unless taps are many; a depth multiplier asks for that anyway.
    let isFilter = Self.isFilter(c)
    let mostTogether =
      isFilter ? 16 : !runs.isEmpty || c.strideWidth > 1 && c.depthMultiplier == 1 ? 1 : 8
    for count in [1, 2, 4, 8, 16] where count == 1 || count <= mostTogether && channels * count <= 1024 {
      let cost = ceilingQuotient(c.outputWidth, count) * ceilingQuotient(channels * count, blockChannels)
      if cost < best.cost { best = (cost, count) }
    }
    pixelsTogether = best.count
    blockCount = ceilingQuotient(channels * best.count, blockChannels)
    columnCount = ceilingQuotient(c.outputWidth, best.count)
    lastColumnPixels = c.outputWidth - (columnCount - 1) * best.count
    phases = best.count > 1 ? c.strideWidth : 1
    mostColumns =
      phases > 1 || product == .words && !widensInPlace
      ? 0
      : target.depthwiseRows?.mostColumns(
        product, columnStep: best.count * c.strideWidth, tapStep: c.dilationWidth, tapRows: c.filterHeight,
        tapColumns: c.filterWidth) ?? 0
    singleTaps =
      mostColumns > 0
      ? nil
      : phases > 1
        ? .phases : product == .words && !widensInPlace ? .words : .shape
    let reachHeight = (c.filterHeight - 1) * c.dilationHeight + 1
    let reachWidth = (c.filterWidth - 1) * c.dilationWidth + 1
    planeWidth = runs.isEmpty ? (c.outputWidth - 1) * c.strideWidth + reachWidth : c.inputWidth
    phaseWidth = ceilingQuotient(planeWidth, phases)
    try Decline.require(phases, below: 9, "the stride of pixels taken together")
    try Decline.require(planeWidth, below: 1 << 22, "the pixels that a line of outputs reaches")
    try Decline.require(reachHeight, below: 1 << 10, "the rows that an output reaches")
    let columnByteCount = max(1, phases * phaseWidth * laneByteCount)
    var chunkBlocks = blockCount
    if runs.isEmpty, best.count == 1, reachHeight * columnByteCount * channels > Self.planeBytes {
      let fitting = Self.planeBytes / (2 * reachHeight * columnByteCount * blockChannels)
      chunkBlocks = max(1, min(fitting, blockCount))
    }
    interior =
      product.laneByteCount == 1 && runs.isEmpty && best.count == 1 && mostColumns > 0
        && !c.operands.isHybrid && (target.depthwiseRows?.readsBytesInPlace ?? false)
      ? Self.interior(c, product, reach: reachWidth, planeWidth: planeWidth) : 0..<0
    // Few lines, which are no equal parts, or of which each part would gather most rows: threads share channels instead.
    let products = Double(c.outputCount) * Double(c.taps)
    nanoseconds = Int(min(products, 0x1p40)) >> (laneByteCount == 1 ? 6 : laneByteCount == 2 ? 5 : 4)
    let hasFewLines =
      c.outputHeight < 16 && !c.outputHeight.isMultiple(of: 2)
      || c.outputHeight * c.strideHeight < 4 * (reachHeight - 1) && runs.isEmpty
    tailCount = runs.isEmpty ? 0 : channels % blockChannels
    sharesChannels =
      best.count == 1 && products > 0x1p16 && blockCount > 3 && hasFewLines && tailCount == 0
    // Two vectors share a block of factors.
    if sharesChannels { chunkBlocks = min(chunkBlocks, roundedUp(ceilingQuotient(blockCount, 2), to: 2)) }
    self.chunkBlocks = chunkBlocks
    chunkChannels = chunkBlocks == blockCount ? channels : chunkBlocks * blockChannels
    let rowByteCount = columnByteCount * chunkChannels
    if runs.isEmpty {
      try Decline.require(
        reachHeight * rowByteCount, below: ProductPlan.planeLimit + 1,
        "the bytes that a tile gathers")
    }
    let fitting = (Self.planeBytes / rowByteCount - reachHeight) / c.strideHeight + 1
    mostLines = max(1, min(fitting, c.outputHeight))
    planeRows = (mostLines - 1) * c.strideHeight + reachHeight
  }

  /// Whether it has many taps and one channel, so that many pixels are taken together.
  private static func isFilter(_ c: DepthwiseConvolution) -> Bool {
    c.inputChannels == 1 && c.taps >= Convolution.leastFilterTaps
  }

  /// Whether bytes of this shape become words as they are read.
  private static func canWidenInPlace(
    _ c: DepthwiseConvolution, _ product: ProductKind, _ target: any CodeTarget
  ) -> Bool {
    guard product == .words, !c.operands.isHybrid, case .fixedPoint = c.epilogue,
      c.inputWidth * c.inputChannels <= ProductPlan.planeLimit
    else { return false }
    return !runs(c, product, target).isEmpty
  }

  /// The columns that need no padding, where to read them in place takes less time: input is gathered once for all its columns
  /// and rows, and signs are turned then.
  private static func interior(
    _ c: DepthwiseConvolution, _ product: ProductKind, reach: Int, planeWidth: Int
  ) -> Range<Int> {
    let first = ceilingQuotient(c.paddingLeft, c.strideWidth)
    let last = c.inputWidth + c.paddingLeft - reach
    let end = max(first, last < 0 ? 0 : min(c.outputWidth, last / c.strideWidth + 1))
    let (count, edgeCount) = (end - first, c.outputWidth - (end - first))
    let isWide = c.strideWidth > 1 ? count >= 6 : count >= 24 && edgeCount * 8 <= count
    let turnsFew = product != .signedBytes || c.filterHeight <= 4 && c.inputChannels >= 24
    guard c.depthMultiplier == 1, isWide, turnsFew, edgeCount * reach <= planeWidth,
      c.inputWidth * c.inputChannels <= ProductPlan.planeLimit
    else { return 0..<0 }
    return first..<end
  }

  /// The columns of a convolution whose input is read in place; empty where it cannot.
  private static func runs(
    _ c: DepthwiseConvolution, _ product: ProductKind, _ target: any CodeTarget
  ) -> [ColumnRun] {
    let lastTop = (c.outputHeight - 1) * c.strideHeight - c.paddingTop
    guard let code = target.depthwiseRows else { return [] }
    let most = code.mostColumns(
      product, columnStep: c.strideWidth, tapStep: c.dilationWidth, tapRows: c.filterHeight,
      tapColumns: c.filterWidth)
    // Every line has a row of the input.
    guard
      c.outputChannels.isMultiple(of: target.lanes)
        || product == .floats && code.readsRows(channels: c.outputChannels)
    else { return [] }
    let repeatsInPlace =
      product == .floats && !isFilter(c)
      && code.readsRepeatedly(depthMultiplier: c.depthMultiplier, inputChannels: c.inputChannels)
    guard c.depthMultiplier == 1 || repeatsInPlace, most > 0,
      c.paddingTop <= (c.filterHeight - 1) * c.dilationHeight, lastTop < c.inputHeight,
      c.dilationHeight == 1 || c.paddingTop == 0 || c.inputHeight > c.dilationHeight
    else { return [] }
    // Blocks as equal as can be; of seven where that divides the widths of a whole network, for the sake of fewer functions.
    let isOfSevens = most > 7 && c.outputWidth.isMultiple(of: 7)
    let columns = ceilingQuotient(c.outputWidth, ceilingQuotient(c.outputWidth, isOfSevens ? 7 : most))
    var runs: [ColumnRun] = []
    var first = 0
    while first < c.outputWidth {
      let count = min(columns, c.outputWidth - first)
      let origin = first * c.strideWidth - c.paddingLeft
      let last = origin + (count - 1) * c.strideWidth + (c.filterWidth - 1) * c.dilationWidth
      let run = ColumnRun(
        first: first, columns: count, blockCount: 1, missingFirst: max(0, -origin),
        missingLast: max(0, last - (c.inputWidth - 1)))
      if let before = runs.last, before.columns == count, before.missingFirst == run.missingFirst,
        before.missingLast == run.missingLast
      {
        runs[runs.count - 1].blockCount += 1
      } else {
        guard runs.count < 8 else { return [] }
        runs.append(run)
      }
      first += count
    }
    return runs
  }

  /// Cuts columns into blocks as equal as can be: whole ones, and the rest.
  func blocks(_ count: Int) -> (columns: Int, count: Int, rest: Int) {
    guard mostColumns > 0, count > 0 else { return (Self.mostPixels, 0, 0) }
    let columns = ceilingQuotient(count, ceilingQuotient(count, mostColumns))
    return (columns, count / columns, count % columns)
  }

  /// The columns of the last block, after whole ones of `most`: a whole one as well where that takes next to no time, which
  /// saves a function.
  func rest(_ columns: Int, most: Int) -> Int {
    let rest = columns % most
    guard rest > 0, columns > most,
      (most &- rest) &* nanoseconds <= columns &* ProductPlan.repeatedNanoseconds
    else { return rest }
    return most
  }

  /// The rows of taps that lie in the input for a line of the output, whose first would be row `top` of it.
  func tapRows(top: Int) -> Range<Int> {
    let step = convolution.dilationHeight
    let first = top < 0 ? ceilingQuotient(-top, step) : 0
    let end = min(convolution.filterHeight, ceilingQuotient(convolution.inputHeight &- top, step))
    return first..<max(first, end)
  }

  var tapCount: Int { convolution.filterHeight * convolution.filterWidth }
  /// Whether groups are up to four rows of a column of the filter, or two of words, as far as those go; other taps follow each
  /// other.
  var groupsAreColumns: Bool { mostColumns > 0 && tapsPerGroup > 1 }
  var groupCount: Int {
    columnGroupCount + ceilingQuotient(tapCount - rowsInColumns * convolution.filterWidth, tapsPerGroup)
  }
  private var rowsInColumns: Int {
    groupsAreColumns
      ? DepthwiseRowShape.rowsInColumns(convolution.filterHeight, perGroup: tapsPerGroup) : 0
  }
  private var columnGroupCount: Int { ceilingQuotient(rowsInColumns, tapsPerGroup) * convolution.filterWidth }

  /// The taps of a group; nil where it has fewer.
  func taps(group: Int) -> [Int?] { (0..<tapsPerGroup).map { tap(group: group, index: $0) } }

  /// A tap of a group; nil where it has fewer.
  func tap(group: Int, index: Int) -> Int? {
    let width = convolution.filterWidth
    if group < columnGroupCount {
      let row = group / width * tapsPerGroup + index
      return row < rowsInColumns ? row * width + group % width : nil
    }
    let tap = rowsInColumns * width + (group - columnGroupCount) * tapsPerGroup + index
    return tap < tapCount ? tap : nil
  }
  var chunkCount: Int { ceilingQuotient(blockCount, chunkBlocks) }
  /// The blocks of a chunk.
  func blocks(chunk: Int) -> Range<Int> {
    chunk &* chunkBlocks..<min((chunk &+ 1) &* chunkBlocks, blockCount)
  }
  /// Bytes of a pixel of the plane, or of the input that is read in place.
  var pixelByteCount: Int {
    runs.isEmpty
      ? chunkChannels * laneByteCount : convolution.inputChannels * (widensInPlace ? 1 : laneByteCount)
  }
  var rowByteCount: Int { phases * phaseWidth * pixelByteCount }
  /// Room to read a block beyond the last pixel, and pixels beyond the last of those taken together. Where bytes are read in
  /// place, a row of padding.
  var planeByteCount: Int {
    guard runs.isEmpty else { return widensInPlace ? roundedUp(rowByteCount, to: 64) : 0 }
    return roundedUp(planeRows * rowByteCount + pixelsTogether * pixelByteCount + 256, to: 64)
  }
  /// Bytes between pixels taken together.
  var columnByteCount: Int {
    pixelsTogether * (phases > 1 ? 1 : convolution.strideWidth) * pixelByteCount
  }

  /// The tiles of an image, of lines in equal parts: more of them for more than one thread, so that there are some for all;
  /// but each tile gathers rows that its neighbors gather as well, so that there are no more than a few for each thread.
  func tilesPerImage(threads: Int) -> Int {
    let least = ceilingQuotient(convolution.outputHeight, mostLines)
    let products = Double(convolution.outputHeight * convolution.outputWidth * channels) * Double(tapCount)
    let isShared = sharesChannels && (convolution.batches * chunkCount).isMultiple(of: threads)
    guard threads > 1, !isShared else { return least }
    let tiles = max(least, min(max(Int(min(products, 0x1p40)) >> 17, threads), 4 * threads))
    return min(convolution.outputHeight, roundedUp(tiles, to: threads))
  }

  /// How far apart neighboring columns of output lie in the plane, in pixels, where all columns lie in order.
  var columnStep: Int { pixelsTogether * convolution.strideWidth }

  /// The offset of a tap from its pixel's start; those that a group lacks repeat the first and have no weight.
  func tapOffset(group: Int, index: Int) -> Int {
    guard let tap = tap(group: group, index: index) else { return 0 }
    let y = tap / convolution.filterWidth * convolution.dilationHeight
    let x = tap % convolution.filterWidth * convolution.dilationWidth
    return y * rowByteCount + (x % phases * phaseWidth + x / phases) * pixelByteCount
  }

  // MARK: In place, but for the edges

  /// Pixels that an output has part in, side by side.
  var reachWidth: Int { (convolution.filterWidth - 1) * convolution.dilationWidth + 1 }
  /// Columns that are gathered beside ``interior``, each with its own pixels.
  var edgeCount: Int { interior.isEmpty ? 0 : convolution.outputWidth - interior.count }
  func edgeColumn(_ index: Int) -> Int {
    index < interior.lowerBound ? index : index &+ interior.count
  }
  /// Bytes of a row of what is gathered for a column.
  var edgeRowByteCount: Int { reachWidth * chunkChannels }
  /// A row of padding, as long as one of the input.
  var paddingRowByteCount: Int {
    interior.isEmpty ? 0 : roundedUp(convolution.inputWidth * channels, to: 64) + 64
  }
  /// The lines of a tile whose rows all exist.
  func linesInside(_ lines: Range<Int>) -> Range<Int> {
    let c = convolution
    let last = c.inputHeight &+ c.paddingTop &- (c.filterHeight &- 1) &* c.dilationHeight &- 1
    let first = ceilingQuotient(c.paddingTop, c.strideHeight)
    return (first..<max(first, last < 0 ? 0 : last / c.strideHeight &+ 1)).clamped(to: lines)
  }

  /// The channels of a block's sums, with those of pixels taken together; of two blocks in order where bytes are read in
  /// place.
  func lanes(block: Int) -> ChannelLanes {
    guard !widensInPlace else {
      let count = 2 * blockChannels
      return ChannelLanes(
        columns: LaneOrder(count: count), columnCount: channels - block * count, firstChannel: block * count,
        channelCount: channels)
    }
    return ChannelLanes(
      columns: columns, columnCount: validChannels(block: block, pixels: pixelsTogether),
      firstChannel: block * blockChannels, channelCount: channels)
  }

  /// The channel at a place of a block; nil for padding.
  func channel(block: Int, column: Int) -> Int? {
    let index = block * blockChannels + column
    return index < channels * pixelsTogether ? index % channels : nil
  }

  /// Calls `body` for each count of channels that blocks may have; it may be zero.
  func forEachChannelCount(_ body: (Int) -> Void) {
    func visit(_ pixels: Int) {
      body(min(pixels * channels, blockChannels))
      if pixels * channels > blockChannels { body(pixels * channels % blockChannels) }
    }
    visit(pixelsTogether)
    if lastColumnPixels != pixelsTogether { visit(lastColumnPixels) }
  }

  /// Channels of a block that exist in a column of `pixels` pixels.
  func validChannels(block: Int, pixels: Int) -> Int {
    max(0, min(blockChannels, pixels * channels - block * blockChannels))
  }
}
