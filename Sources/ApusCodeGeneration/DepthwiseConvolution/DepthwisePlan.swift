// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

/// How a depthwise convolution is laid out for generated code.
///
/// ```
///   channels ──►   block 0   block 1   …          block: as many channels as fill some vectors
///   pixel 0      [ lanes   ][ lanes   ]           chunk: blocks that are gathered together
///   pixel 1      [ lanes   ][ lanes   ]           plane: the gathered rows of a tile, with padding
/// ```
/// The input is gathered into a *plane* of rows with padding around them, or read in place where that is
/// faster. If channels do not fill a block, neighboring output pixels are merged into one with more channels.
/// With strides, the plane then keeps columns of equal phase (index modulo stride) side by side. If rows of
/// all channels would not stay in the cache, a plane has only a *chunk* of the channels: some blocks.
final class DepthwisePlan: Sendable {
  /// The maximum number of pixels that a generated function computes at once.
  static let maximumPixels = 4

  let convolution: Convolution
  /// Bytes per value in the rows that the code reads.
  let operandByteCount: Int
  let tapsPerGroup: Int

  let channels: Int
  /// Blocks of neighboring output columns with the same number of pixels in the padding.
  struct ColumnRun {
    let first: Int
    /// Columns per block.
    let columns: Int
    var blockCount: Int
    /// Pixels in the padding: of the block's first column, and of its last.
    let missingFirst: Int
    let missingLast: Int
  }

  /// The blocks of columns if the whole input is read in place; otherwise empty.
  let runs: [ColumnRun]
  /// The channels of the last block if they do not fill it, otherwise 0.
  let tailCount: Int
  /// The number of output pixels that are merged into one.
  let pixelsTogether: Int
  /// Vectors per block, and channels per block.
  let vectorCount: Int
  let blockChannels: Int
  /// The channel in its block of each lane, for weights and for the final sums.
  let weightColumns: LaneOrder
  let columns: LaneOrder
  let blockCount: Int
  /// Merged pixels per row.
  let columnCount: Int
  /// Output pixels in the last merged pixel.
  let lastColumnPixels: Int

  /// The maximum number of columns in a block, if functions multiply rows of taps; 0 if they multiply groups
  /// of taps one by one.
  let maximumColumns: Int
  /// Why groups of taps are multiplied one by one; nil if they are not.
  let singleTaps: SingleTaps?
  /// Whether bytes are read in place and widened to `int16`.
  let widensInPlace: Bool
  /// The output columns that are read in place, for bytes that are not widened. The columns at the edges,
  /// which need padding, are gathered. Empty if all columns are gathered.
  let interior: Range<Int>
  /// Why the input is gathered; nil if it is read in place.
  let gathered: Decline?

  let phases: Int
  let phaseWidth: Int
  let planeWidth: Int
  /// Blocks per chunk, and channels per chunk.
  let chunkBlocks: Int
  let chunkChannels: Int
  /// The estimated duration on one thread.
  let nanoseconds: Int
  /// Whether threads share chunks rather than lines.
  private let sharesChannels: Bool
  /// The maximum number of lines in a tile.
  let maximumLines: Int
  let planeRows: Int

  init(
    _ convolution: Convolution, product: ProductKind, target: any CodeTarget, machine: MachineModel
  ) throws(Decline) {
    self.convolution = convolution
    let c = convolution
    // Larger sizes might overflow the arithmetic below; other kernels compute such shapes.
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
    operandByteCount = product.operandByteCount
    tapsPerGroup = product.depthPerStep
    channels = c.outputChannels
    var runs: [ColumnRun] = []
    var gathered: Decline?
    do throws(Decline) {
      switch product {
      case .floats, .bfloat16, .bfloat16AsFloats, .bfloat16Tiles: runs = try Self.runs(c, product, target)
      case .words: runs = try Self.widenedRuns(c, target)
      case .unsignedBytes, .signedBytes: break
      }
    } catch { gathered = error }
    self.runs = runs
    widensInPlace = product == .words && !runs.isEmpty
    vectorCount = runs.isEmpty ? target.depthwiseVectors(product) : 1
    blockChannels = vectorCount * target.lanes
    let inOrder = LaneOrder(count: blockChannels)
    switch product {
    case .floats, .bfloat16, .bfloat16AsFloats, .bfloat16Tiles: weightColumns = inOrder
    case .words: weightColumns = LaneOrder(quartersOf: vectorCount, lanes: target.lanes)
    case .unsignedBytes, .signedBytes: weightColumns = target.byteColumns(vectorCount: vectorCount)
    }
    columns = c.operands.isHybrid ? inOrder : weightColumns
    var best = (cost: Int.max, count: 1)
    // Gathering columns by phase costs more than lanes without channels, unless there are many taps; a depth
    // multiplier needs such gathering anyway.
    let isFilter = Self.isFilter(c)
    let maximumTogether =
      isFilter ? 16 : !runs.isEmpty || c.strideWidth > 1 && c.depthMultiplier == 1 ? 1 : 8
    for count in [1, 2, 4, 8, 16] where count == 1 || count <= maximumTogether && channels * count <= 1024 {
      let cost = ceilingQuotient(c.outputWidth, count) * ceilingQuotient(channels * count, blockChannels)
      if cost < best.cost { best = (cost, count) }
    }
    pixelsTogether = best.count
    blockCount = ceilingQuotient(channels * best.count, blockChannels)
    columnCount = ceilingQuotient(c.outputWidth, best.count)
    lastColumnPixels = c.outputWidth - (columnCount - 1) * best.count
    phases = best.count > 1 ? c.strideWidth : 1
    maximumColumns =
      phases > 1 || product == .words && !widensInPlace
      ? 0
      : target.depthwiseRows?.maximumColumns(
        product, columnStep: best.count * c.strideWidth, tapStep: c.dilationWidth, tapRows: c.filterHeight,
        tapColumns: c.filterWidth) ?? 0
    singleTaps =
      maximumColumns > 0
      ? nil
      : phases > 1
        ? .phases : product == .words && !widensInPlace ? .words : .shape
    let reachHeight = c.reachHeight
    planeWidth = runs.isEmpty ? (c.outputWidth - 1) * c.strideWidth + c.reachWidth : c.inputWidth
    phaseWidth = ceilingQuotient(planeWidth, phases)
    try Decline.require(phases, below: 9, "the stride of pixels taken together")
    try Decline.require(planeWidth, below: 1 << 22, "the pixels that a line of outputs reaches")
    try Decline.require(reachHeight, below: 1 << 10, "the rows that an output reaches")
    let columnByteCount = max(1, phases * phaseWidth * operandByteCount)
    var chunkBlocks = blockCount
    if runs.isEmpty, best.count == 1, reachHeight * columnByteCount * channels > machine.depthwisePlane {
      let fitting = machine.depthwisePlane / (2 * reachHeight * columnByteCount * blockChannels)
      chunkBlocks = max(1, min(fitting, blockCount))
    }
    var interior = 0..<0
    if product.operandByteCount == 1 {
      do throws(Decline) {
        let together = best.count
        guard together == 1 else { throw Decline("\(together) pixels are taken as one") }
        guard maximumColumns > 0, target.depthwiseRows?.readsBytesInPlace ?? false else {
          throw Decline("there is no code for rows of such a filter")
        }
        guard !c.operands.isHybrid else { throw Decline("activations are quantized at run time") }
        interior = try Self.interior(c, product, planeWidth: planeWidth)
      } catch { gathered = error }
    }
    self.interior = interior
    self.gathered = gathered
    // With few lines that cannot be shared evenly, or whose parts would each gather most rows, threads share
    // channels.
    let products = Double(c.outputCount) * Double(c.taps)
    nanoseconds = Int(min(products, 0x1p40)) >> (operandByteCount == 1 ? 6 : operandByteCount == 2 ? 5 : 4)
    let hasFewLines =
      c.outputHeight < 16 && !c.outputHeight.isMultiple(of: 2)
      || c.outputHeight * c.strideHeight < 4 * (reachHeight - 1) && runs.isEmpty
    tailCount = runs.isEmpty ? 0 : channels % blockChannels
    sharesChannels =
      best.count == 1 && products > 0x1p16 && blockCount > 3 && hasFewLines && tailCount == 0
    // Two blocks of one vector share one layout of factors.
    if sharesChannels { chunkBlocks = min(chunkBlocks, roundedUp(ceilingQuotient(blockCount, 2), to: 2)) }
    self.chunkBlocks = chunkBlocks
    chunkChannels = chunkBlocks == blockCount ? channels : chunkBlocks * blockChannels
    let rowByteCount = columnByteCount * chunkChannels
    if runs.isEmpty {
      try Decline.require(
        reachHeight * rowByteCount, below: ProductPlan.planeLimit + 1,
        "the bytes that a tile gathers")
    }
    let fitting = (machine.depthwisePlane / rowByteCount - reachHeight) / c.strideHeight + 1
    maximumLines = max(1, min(fitting, c.outputHeight))
    planeRows = (maximumLines - 1) * c.strideHeight + reachHeight
  }

  /// Whether the convolution has many taps and one channel, so that many pixels are merged.
  private static func isFilter(_ c: Convolution) -> Bool {
    c.inputChannels == 1 && c.taps >= Convolution.minimumFilterTaps
  }

  /// The blocks of columns of bytes that are widened to `int16` as they are loaded; throws if they must be gathered.
  private static func widenedRuns(_ c: Convolution, _ target: any CodeTarget) throws(Decline) -> [ColumnRun] {
    guard !c.operands.isHybrid else { throw Decline("activations are quantized at run time") }
    guard case .fixedPoint = c.epilogue else { throw Decline("\(c.epilogue.name) have no such code") }
    try Decline.require(
      c.inputWidth * c.inputChannels, below: ProductPlan.planeLimit + 1, "the bytes of an input row")
    return try runs(c, .words, target)
  }

  /// The columns that need no padding; throws if gathering them is faster than reading them in place.
  ///
  /// Gathering copies each pixel once for all columns and rows that use it, and flips signs on the way.
  private static func interior(
    _ c: Convolution, _ product: ProductKind, planeWidth: Int
  ) throws(Decline) -> Range<Int> {
    let first = ceilingQuotient(c.paddingLeft, c.strideWidth)
    let last = c.inputWidth + c.paddingLeft - c.reachWidth
    let end = max(first, last < 0 ? 0 : min(c.outputWidth, last / c.strideWidth + 1))
    let (count, edgeCount) = (end - first, c.outputWidth - (end - first))
    let isWide = c.strideWidth > 1 ? count >= 6 : count >= 24 && edgeCount * 8 <= count
    guard c.depthMultiplier == 1 else { throw Decline("the depth multiplier is \(c.depthMultiplier)") }
    guard isWide, edgeCount * c.reachWidth <= planeWidth else {
      throw Decline("\(count) of \(c.outputWidth) columns need no padding, which are too few")
    }
    guard product != .signedBytes || c.filterHeight <= 4 && c.inputChannels >= 24 else {
      throw Decline(
        "\(c.filterHeight) rows of taps would turn the signs of \(c.inputChannels) channels each time")
    }
    try Decline.require(
      c.inputWidth * c.inputChannels, below: ProductPlan.planeLimit + 1, "the bytes of an input row")
    return first..<end
  }

  /// The blocks of columns of a convolution whose input is read in place; throws if it cannot be.
  private static func runs(
    _ c: Convolution, _ product: ProductKind, _ target: any CodeTarget
  ) throws(Decline) -> [ColumnRun] {
    let lastTop = (c.outputHeight - 1) * c.strideHeight - c.paddingTop
    guard let code = target.depthwiseRows else { throw Decline("the target has no code for rows of taps") }
    let most = code.maximumColumns(
      product, columnStep: c.strideWidth, tapStep: c.dilationWidth, tapRows: c.filterHeight,
      tapColumns: c.filterWidth)
    guard
      c.outputChannels.isMultiple(of: target.lanes)
        || product == .floats && code.readsRows(channels: c.outputChannels)
    else {
      let lanes = target.lanes
      throw Decline("\(c.outputChannels) channels do not fill vectors of \(lanes)")
    }
    let repeatsInPlace =
      product == .floats && !isFilter(c)
      && code.readsRepeatedly(depthMultiplier: c.depthMultiplier, inputChannels: c.inputChannels)
    guard c.depthMultiplier == 1 || repeatsInPlace else {
      throw Decline("the depth multiplier is \(c.depthMultiplier)")
    }
    guard most > 0 else { throw Decline("there is no code for rows of such a filter") }
    guard c.paddingTop < c.reachHeight, lastTop < c.inputHeight,
      c.dilationHeight == 1 || c.paddingTop == 0 || c.inputHeight > c.dilationHeight
    else { throw Decline("some lines of outputs do not overlap the input") }
    // Blocks of equal width. Seven columns divide the widths of whole networks, which then need fewer
    // functions.
    let isOfSevens = most > 7 && c.outputWidth.isMultiple(of: 7)
    let columns = ceilingQuotient(c.outputWidth, ceilingQuotient(c.outputWidth, isOfSevens ? 7 : most))
    var runs: [ColumnRun] = []
    var first = 0
    while first < c.outputWidth {
      let count = min(columns, c.outputWidth - first)
      let origin = first * c.strideWidth - c.paddingLeft
      let last = origin + (count - 1) * c.strideWidth + c.reachWidth - 1
      let run = ColumnRun(
        first: first, columns: count, blockCount: 1, missingFirst: max(0, -origin),
        missingLast: max(0, last - (c.inputWidth - 1)))
      if let before = runs.last, before.columns == count, before.missingFirst == run.missingFirst,
        before.missingLast == run.missingLast
      {
        runs[runs.count - 1].blockCount += 1
      } else {
        guard runs.count < 8 else { throw Decline("columns have more than 8 kinds of padding") }
        runs.append(run)
      }
      first += count
    }
    return runs
  }

  /// Cuts `count` columns into blocks of equal width, and the rest.
  func blocks(_ count: Int) -> (columns: Int, count: Int, rest: Int) {
    guard maximumColumns > 0, count > 0 else { return (Self.maximumPixels, 0, 0) }
    let columns = ceilingQuotient(count, ceilingQuotient(count, maximumColumns))
    return (columns, count / columns, count % columns)
  }

  /// The columns of the last block, after whole ones of `most` columns. The last one is a whole one too if
  /// computing columns twice takes next to no time: that saves a function.
  func rest(_ columns: Int, most: Int) -> Int {
    let rest = columns % most
    guard rest > 0, columns > most,
      (most &- rest) &* nanoseconds <= columns &* ProductPlan.repeatedNanoseconds
    else { return rest }
    return most
  }

  /// The rows of taps inside the input for a line whose first tap is in row `top`.
  func tapRows(top: Int) -> Range<Int> {
    let step = convolution.dilationHeight
    let first = top < 0 ? ceilingQuotient(-top, step) : 0
    let end = min(convolution.filterHeight, ceilingQuotient(convolution.inputHeight &- top, step))
    return first..<max(first, end)
  }

  var tapCount: Int { convolution.taps }
  /// Whether a group is a column of up to four taps, or two for `int16`, of the filter; taps of the remaining
  /// rows are grouped consecutively.
  var groupsAreColumns: Bool { maximumColumns > 0 && tapsPerGroup > 1 }
  var groupCount: Int {
    columnGroupCount + ceilingQuotient(tapCount - rowsInColumns * convolution.filterWidth, tapsPerGroup)
  }
  private var rowsInColumns: Int {
    groupsAreColumns
      ? DepthwiseRowShape.rowsInColumns(convolution.filterHeight, perGroup: tapsPerGroup) : 0
  }
  private var columnGroupCount: Int { ceilingQuotient(rowsInColumns, tapsPerGroup) * convolution.filterWidth }

  /// The taps of a group; nil for missing ones.
  func taps(group: Int) -> [Int?] { (0..<tapsPerGroup).map { tap(group: group, index: $0) } }

  /// A tap of a group; nil if the group has fewer.
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
  /// Bytes per pixel of the plane, or of the input if it is read in place.
  var pixelByteCount: Int {
    runs.isEmpty
      ? chunkChannels * operandByteCount : convolution.inputChannels * (widensInPlace ? 1 : operandByteCount)
  }
  var rowByteCount: Int { phases * phaseWidth * pixelByteCount }
  /// The size of the plane, with room to read a block and merged pixels beyond the last one. If bytes are
  /// widened in place, the size of a row of padding.
  var planeByteCount: Int {
    guard runs.isEmpty else { return widensInPlace ? roundedUp(rowByteCount, to: 64) : 0 }
    return roundedUp(planeRows * rowByteCount + pixelsTogether * pixelByteCount + 256, to: 64)
  }
  /// Bytes between consecutive merged pixels.
  var columnByteCount: Int {
    pixelsTogether * (phases > 1 ? 1 : convolution.strideWidth) * pixelByteCount
  }

  /// The number of tiles per image; each has the same number of lines.
  ///
  /// Several threads need more tiles, but only a few per thread, because a tile gathers rows that its
  /// neighbors gather too.
  func tilesPerImage(threads: Int) -> Int {
    let least = ceilingQuotient(convolution.outputHeight, maximumLines)
    let products = Double(convolution.outputHeight * convolution.outputWidth * channels) * Double(tapCount)
    let isShared = sharesChannels && (convolution.batches * chunkCount).isMultiple(of: threads)
    guard threads > 1, !isShared else { return least }
    let tiles = max(least, min(max(Int(min(products, 0x1p40)) >> 17, threads), 4 * threads))
    return min(convolution.outputHeight, roundedUp(tiles, to: threads))
  }

  /// The distance of consecutive merged columns in the plane, in pixels, if there is one phase.
  var columnStep: Int { pixelsTogether * convolution.strideWidth }

  /// The offset of a tap from the start of its pixel; 0 for a group's missing taps, which have weight 0.
  func tapOffset(group: Int, index: Int) -> Int {
    guard let tap = tap(group: group, index: index) else { return 0 }
    let y = tap / convolution.filterWidth * convolution.dilationHeight
    let x = tap % convolution.filterWidth * convolution.dilationWidth
    return y * rowByteCount + (x % phases * phaseWidth + x / phases) * pixelByteCount
  }

  // MARK: In place, but for the edges

  /// The number of gathered columns, left and right of ``interior``.
  var edgeCount: Int { interior.isEmpty ? 0 : convolution.outputWidth - interior.count }
  func edgeColumn(_ index: Int) -> Int {
    index < interior.lowerBound ? index : index &+ interior.count
  }
  /// Bytes per row of the pixels gathered for one column.
  var edgeRowByteCount: Int { convolution.reachWidth * chunkChannels }
  /// The size of a row of padding, as long as a row of the input.
  var paddingRowByteCount: Int {
    interior.isEmpty ? 0 : roundedUp(convolution.inputWidth * channels, to: 64) + 64
  }
  /// The lines that need no row of padding.
  func linesInside(_ lines: Range<Int>) -> Range<Int> {
    let c = convolution
    let last = c.inputHeight &+ c.paddingTop &- c.reachHeight
    let first = ceilingQuotient(c.paddingTop, c.strideHeight)
    return (first..<max(first, last < 0 ? 0 : last / c.strideHeight &+ 1)).clamped(to: lines)
  }

  /// The channel of each lane of a block, merged pixels included. If bytes are widened in place, those of two
  /// blocks in order.
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

  /// The channel of a column in a block; nil for padding.
  func channel(block: Int, column: Int) -> Int? {
    let index = block * blockChannels + column
    return index < channels * pixelsTogether ? index % channels : nil
  }

  /// Calls `body` with each number of channels that a block may have, possibly zero.
  func forEachChannelCount(_ body: (Int) -> Void) {
    func visit(_ pixels: Int) {
      body(min(pixels * channels, blockChannels))
      if pixels * channels > blockChannels { body(pixels * channels % blockChannels) }
    }
    visit(pixelsTogether)
    if lastColumnPixels != pixelsTogether { visit(lastColumnPixels) }
  }

  /// The number of a block's channels in a merged pixel of `pixels` output pixels.
  func validChannels(block: Int, pixels: Int) -> Int {
    max(0, min(blockChannels, pixels * channels - block * blockChannels))
  }
}
