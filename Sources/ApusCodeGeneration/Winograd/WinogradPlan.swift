// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

/// How a convolution with a 3×3 filter is cut for Winograd's method: Winograd tiles of outputs, panels of
/// channels, batches.
///
/// A Winograd tile of 4×4 outputs is computed from 6×6 pixels. Its transform has 36 *points*, and each point
/// is a matrix product of its own: M counts Winograd tiles, K input channels, N output channels. A *batch* is
/// the Winograd tiles that are transformed together. In the code a Winograd tile is a *square*, since a tile
/// there is a thread's part of the work. Docs/Kernels.md has the arithmetic.
struct WinogradPlan {
  typealias Panel = ProductPlan.Panel
  typealias Tiling = ProductPlan.Tiling

  let convolution: Convolution
  let variant: WinogradVariant
  /// Winograd tiles per line of an image.
  let across: Int
  /// K-steps of all input channels, and vectors of K-steps.
  let stepCount: Int
  let channelVectors: Int
  let vectorByteCount: Int
  let panels: [Panel]
  /// Rows of large blocks, and of small ones, which are two thirds as high.
  let largeRows: Int
  let smallRows: Int
  /// The maximum number of Winograd tiles in a batch.
  private let batchLength: Int
  /// Bytes of one Winograd tile at one point.
  let rowByteCount: Int
  /// How the work is cut, indexed by the number of threads minus one.
  private var cuts: [Cut] = []
  /// The estimated duration on one thread.
  let nanoseconds: Int

  /// The lines and panels of each tile for a number of threads, and the layout of each thread's memory.
  struct Cut {
    let tiling: Tiling
    // The gathered plane comes first, then points of inputs, weights and sums, then room for one Winograd
    // tile.
    let inputs: Int
    let weights: Int
    let sums: Int
    let spare: Int
    let byteCount: Int
    // Bytes between the matrices of consecutive points.
    let inputStride: Int
    let weightStride: Int
    let sumStride: Int

    fileprivate init(_ plan: WinogradPlan, _ tiling: Tiling) {
      self.tiling = tiling
      let variant = plan.variant
      var (lines, rows) = (0, 0)
      tiling.forEachLength { length in
        guard length > 0 else { return }
        lines = max(lines, length)
        // A tile with fewer lines may have fewer and so larger batches.
        rows = max(rows, plan.blockRows(plan.maximumSquares(lines: length)))
      }
      // An odd number of cache lines, so that one Winograd tile's points do not compete for a few sets of the
      // first-level cache.
      func stride(_ count: Int, _ byteCount: Int) -> Int { roundedUp(count * byteCount, to: 128) + 64 }
      let panelByteCount = WinogradPlan.maximumVectors * plan.vectorByteCount
      inputStride = stride(rows, plan.rowByteCount)
      weightStride = stride(plan.stepCount, panelByteCount)
      sumStride = stride(rows, panelByteCount)
      // With room to read a vector beyond the end.
      inputs = roundedUp((variant.side * lines + 2) * plan.lineByteCount, to: 64) + 64
      weights = inputs + variant.points * inputStride
      sums = weights + variant.points * weightStride
      spare = sums + variant.points * sumStride
      byteCount = spare + variant.points * panelByteCount
    }
  }

  /// The width of a full panel, in vectors.
  private static let maximumVectors = 2
  /// The size of a batch in the caches, beside the weights of a panel.
  private static let batchByteCount = 384 << 10
  /// The usual size of a tile's plane, unless one line of Winograd tiles needs more, and the maximum.
  private static let usualPlane = 192 << 10
  private static let planeLimit = 512 << 10

  /// Plans a convolution; throws if Winograd's method cannot compute it, or with `comparesCost` is estimated to be
  /// slower than direct convolution.
  init(
    _ convolution: Convolution, target: any CodeTarget, bytes: ProductKind, comparesCost: Bool
  ) throws(Decline) {
    let c = convolution
    let variant = try WinogradVariant(c.operands, c.epilogue)
    try target.requireCode(for: .stated(c.epilogue))
    let product = try ProductKind(c.operands, c.epilogue, bytes: bytes)
    guard let cost = target.winograd?.cost(product) else {
      throw Decline("there is none for \(product.text), or it never pays")
    }
    try Self.requireShape(c)
    try c.epilogue.requireFit(c.operands, channels: c.outputChannels)
    self.variant = variant
    self.convolution = c
    let lanes = target.lanes
    vectorByteCount = 4 * lanes
    stepCount = ceilingQuotient(c.inputChannels, variant.channelsPerStep)
    channelVectors = ceilingQuotient(stepCount, lanes)
    panels = PanelLayout.panels(
      columns: c.outputChannels, maximumVectors: Self.maximumVectors, target: target,
      areInOrder: variant == .floats
    )
    largeRows = target.maximumRows(variant.product, vectorCount: Self.maximumVectors) / 3 * 3
    smallRows = largeRows / 3 * 2
    // The points of one Winograd tile: inputs and sums.
    let squareByteCount = variant.points * (channelVectors + Self.maximumVectors) * vectorByteCount
    batchLength = max(16, min(Self.batchByteCount / squareByteCount, 96))
    let products = Double(c.outputCount) * Double(c.depth)
    nanoseconds = Int(min(products, 0x1p40)) >> 6

    let down = ceilingQuotient(c.outputHeight, variant.side)
    across = ceilingQuotient(c.outputWidth, variant.side)
    rowByteCount = channelVectors * vectorByteCount
    try Decline.require(
      variant.reach * lineByteCount, below: Self.planeLimit + 1, "the bytes that a line of squares gathers")
    let minimumParts = ceilingQuotient(
      down, max(1, (Self.usualPlane / lineByteCount - 2) / variant.side))
    let columnVectors = ceilingQuotient(c.outputChannels, lanes)
    let (across, batchLength, panelCount) = (across, batchLength, panels.count)
    let (channelVectors, stepCount) = (channelVectors, stepCount)
    /// The estimated time of `threads` threads for all tiles.
    func time(_ parts: Int, _ panelTiles: Int, threads: Int) -> Double {
      let squares = ceilingQuotient(down, parts) * across
      let tile = cost.own(
        points: variant.points, squares: squares, batches: ceilingQuotient(squares, batchLength),
        channelVectors: channelVectors, stepCount: stepCount,
        columnVectors: ceilingQuotient(columnVectors, panelTiles))
      return tile * Double(ceilingQuotient(c.batches * parts * panelTiles, threads))
    }
    if comparesCost {
      let own = time(minimumParts, 1, threads: 1) * cost.margin
      let direct = cost.direct(rows: c.rowCount, stepCount: stepCount, columnVectors: columnVectors)
      guard own < direct else {
        throw Decline("estimated to take \(hundredths(own / direct)) times as long as the direct method")
      }
    }
    // Each part of the lines transforms all weights; each part of the panels transforms all inputs.
    let tilings = (1...8).map { threads in
      var best = (parts: minimumParts, panelTiles: 1, time: Double.infinity)
      for parts in minimumParts...min(down, minimumParts + threads - 1) {
        for panelTiles in 1...min(panelCount, threads) {
          let time = time(parts, panelTiles, threads: threads)
          if time < best.time { best = (parts, panelTiles, time) }
        }
      }
      return Tiling(
        length: down, unit: 1, tilesPerImage: best.parts, panelCount: panelCount,
        panelTiles: best.panelTiles, count: c.batches * best.parts * best.panelTiles)
    }
    cuts = tilings.map { Cut(self, $0) }
  }

  /// Throws unless the filter is 3×3, strides and dilations are 1, and sizes are within limits.
  private static func requireShape(_ c: Convolution) throws(Decline) {
    guard c.filterHeight == 3, c.filterWidth == 3 else {
      throw Decline("a filter of \(c.filterHeight)×\(c.filterWidth) is not 3×3")
    }
    guard c.strideHeight == 1, c.strideWidth == 1 else {
      throw Decline("strides of \(c.strideHeight)×\(c.strideWidth) are not 1×1")
    }
    guard c.dilationHeight == 1, c.dilationWidth == 1 else {
      throw Decline("dilations of \(c.dilationHeight)×\(c.dilationWidth) are not 1×1")
    }
    guard c.groups == 1 else { throw Decline("there are \(c.groups) groups, not one") }
    guard c.rowCount > 0 else { throw Decline("there are no outputs") }
    try Decline.require(c.inputChannels, below: 513, "the number of input channels")
    let sizes = [c.outputChannels, c.outputHeight, c.outputWidth, c.paddingTop, c.paddingLeft, c.batches]
    try Decline.require(sizes.max() ?? 0, below: 1 << 15, "the greatest size of output and padding")
  }

  /// The plan in the output of `apus inspect --plan`.
  var text: String {
    let columns = panels.count > 1 ? panels[0].paddedCount : convolution.outputChannels
    let squares = across * ceilingQuotient(convolution.outputHeight, variant.side)
    return [
      "Winograd's F(\(variant.side)×\(variant.side), 3×3) of \(variant.product.text)",
      "\(counted(panels.count, "panel")) of \(counted(columns, "column"))",
      "blocks of \(largeRows) and \(smallRows) rows",
      "\(counted(squares, "square")) in batches of up to \(batchLength)",
    ].joined(separator: ", ")
  }

  func cut(threads: Int) -> Cut { cuts[min(threads, cuts.count) &- 1] }

  /// Bytes of a gathered line.
  var lineByteCount: Int { planeWidth &* convolution.inputChannels &* variant.elementByteCount }

  /// Pixels of a gathered line.
  var planeWidth: Int { variant.side &* across &+ 2 }

  /// The number of batches of equal size that a tile's Winograd tiles are cut into.
  func batchCount(_ squares: Int) -> Int { ceilingQuotient(squares, batchLength) }

  /// The size of the largest batch in a tile of `lines` lines.
  private func maximumSquares(lines: Int) -> Int {
    ceilingQuotient(lines * across, batchCount(lines * across))
  }

  /// Cuts Winograd tiles into large blocks, then small ones; the last may have unused rows.
  func blocks(_ squares: Int) -> (large: Int, small: Int) {
    let thirds = max(2, ceilingQuotient(squares, largeRows / 3))
    let small = (3 &- thirds % 3) % 3
    return ((thirds &- 2 &* small) / 3, small)
  }

  /// The rows of the blocks for a number of Winograd tiles, unused ones included.
  func blockRows(_ squares: Int) -> Int {
    let (large, small) = blocks(squares)
    return large &* largeRows &+ small &* smallRows
  }

  /// The panels with different shapes: the first, and the last if it is narrower.
  private var panelKinds: [Panel] { panels.prefix(1) + panels.suffix(1) }

  /// The shapes of the products that runs call, possibly with duplicates.
  var productShapes: [BlockShape] {
    panelKinds.flatMap { panel in
      [largeRows, smallRows].map {
        BlockShape(rowCount: $0, vectorCount: panel.vectorCount, columnCount: panel.paddedCount)
      }
    }
  }

  /// The shapes of the output transforms: the outputs in a line of a Winograd tile, and columns.
  var outputShapes: [BlockShape] {
    let width = convolution.outputWidth
    return panelKinds.flatMap { panel in
      [min(width, variant.side), width % variant.side].filter { $0 > 0 }.map {
        BlockShape(rowCount: $0, vectorCount: panel.vectorCount, columnCount: panel.columnCount)
      }
    }
  }

  // MARK: Columns

  /// The output channels of a panel.
  func lanes(panel index: Int) -> ChannelLanes {
    let panel = panels[index]
    return ChannelLanes(
      columns: panel.columns, columnCount: panel.columnCount, firstChannel: panel.firstColumn,
      channelCount: convolution.outputChannels)
  }

  /// The number of lanes of all panels, padding included.
  var paddedColumnCount: Int { panels.last.map { $0.paddedBefore + $0.paddedCount } ?? 0 }
}

/// A ratio rounded to two decimals.
private func hundredths(_ ratio: Double) -> Double { (ratio * 100).rounded() / 100 }
