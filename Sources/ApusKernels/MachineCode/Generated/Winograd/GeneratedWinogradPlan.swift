/// How a convolution with a 3×3 filter is cut for Winograd's way: squares of 4×4 outputs, panels of channels, batches.
///
/// A *square* of outputs is computed from 6×6 pixels; of their transforms, 36 *points*, each is a matrix product by itself:
/// squares are its rows, input channels its terms. A *batch* is as many squares as have their points in the second-level
/// cache at once. Docs/Kernels.md has the arithmetic.
struct GeneratedWinogradPlan {
  /// Outputs of a square, in each direction.
  static let side = 4
  /// Pixels that a square reads, in each direction, and the points of both.
  static let reach = side + 2
  static let points = reach * reach

  let convolution: Convolution
  /// Squares of an image, in each direction.
  let down: Int
  let across: Int
  /// Steps of two channels, and vectors of all channels as words.
  let stepCount: Int
  let channelVectors: Int
  let panels: [GeneratedConvolutionPlan.Panel]
  /// The vectors of a full panel.
  private let mostVectors: Int
  /// The column, within a panel, that each lane stands for, by the vectors of the panel.
  private let columns: [[Int]]
  /// The most rows of a block, by the vectors of a panel.
  private let mostRows: [Int]
  let vectorByteCount: Int
  /// The most squares of a batch.
  private let batchLength: Int
  /// Lines of squares: for one thread, and for more.
  let alone: GeneratedConvolutionPlan.Tiling
  let shared: GeneratedConvolutionPlan.Tiling
  private var batches: Set<Int> = []
  /// Bytes of a square's words at one point.
  private(set) var rowByteCount = 0
  /// Bytes between the matrices of neighboring points.
  private(set) var inputPointStride = 0
  private(set) var weightPointStride = 0
  private(set) var sumPointStride = 0
  let isSmall: Bool
  /// About how long all takes on one thread.
  let nanoseconds: Int

  /// Plans a convolution; nil where another way serves it, or is faster.
  init?(_ convolution: Convolution, bytes: GeneratedProduct, target: any GeneratedTarget) {
    let c = convolution
    guard c.filterHeight == 3, c.filterWidth == 3, c.strideHeight == 1, c.strideWidth == 1,
      c.dilationHeight == 1, c.dilationWidth == 1, c.groups == 1, c.operands.bytes != nil,
      case .fixedPoint = c.epilogue, target.canFinish(c.epilogue), let cost = target.winogradCost(bytes),
      c.inputChannels <= 512, c.outputChannels < 1 << 15, c.outputWidth < 1 << 15, c.outputHeight < 1 << 15,
      c.rowCount > 0, c.paddingTop < 1 << 15, c.paddingLeft < 1 << 15
    else { return nil }
    self.convolution = c
    (down, across) = (ceilingQuotient(c.outputHeight, Self.side), ceilingQuotient(c.outputWidth, Self.side))
    let lanes = target.lanes
    vectorByteCount = 4 * lanes
    stepCount = ceilingQuotient(c.inputChannels, 2)
    channelVectors = ceilingQuotient(c.inputChannels, 2 * lanes)
    mostVectors = 2
    panels = GeneratedConvolutionPlan.panels(
      columns: c.outputChannels, lanes: lanes, most: mostVectors * lanes)
    columns = (0...mostVectors).map { target.byteColumns(vectorCount: $0) }
    mostRows = (0...mostVectors).map { $0 == 0 ? 0 : target.mostRows(.words, vectorCount: $0) }

    let squares = down * across
    // Points of inputs and sums of a square.
    let squareByteCount = Self.points * (channelVectors + mostVectors) * vectorByteCount
    batchLength = max(8, min(Self.batchByteCount / squareByteCount, 96))
    let lineByteCount = (Self.side * across + 2) * c.inputChannels
    let mostLines = max(1, (Self.planeByteCount / lineByteCount - 2) / Self.side)
    guard lineByteCount * Self.reach <= 8 * Self.planeByteCount else { return nil }

    let products = Double(c.outputCount) * Double(c.depth)
    isSmall = products <= 0x1p17
    nanoseconds = Int(min(products, 0x1p40)) >> 6
    let wanted = max(1, min(8, Int(min(products, 0x1p30)) >> 18 * 2))
    let (down, panelCount) = (down, panels.count)
    func cut(_ leastCount: Int) -> GeneratedConvolutionPlan.Tiling {
      var parts = ceilingQuotient(down, mostLines)
      // Each part transforms all weights again: not for a few squares.
      if leastCount > 1 { parts = max(parts, min(leastCount, down, squares / 16)) }
      let panelTiles = max(1, min(panelCount, ceilingQuotient(leastCount, c.batches * parts)))
      return .init(
        length: down, unit: 1, tilesPerImage: parts, panelCount: panelCount, panelTiles: panelTiles,
        count: c.batches * parts * panelTiles)
    }
    alone = cut(1)
    shared = cut(wanted)
    guard cost.pays(self) else { return nil }
    // All that runs ask for is stored.
    batches = batchLengths
    let mostSquares = batches.max() ?? 0
    rowByteCount = channelVectors * vectorByteCount
    inputPointStride = Self.pointStride(mostSquares * rowByteCount)
    weightPointStride = Self.pointStride(stepCount * mostVectors * vectorByteCount)
    sumPointStride = Self.pointStride(mostSquares * mostVectors * vectorByteCount)
  }

  /// What a batch takes of the second-level cache, beside the weights of a panel.
  private static let batchByteCount = 192 << 10
  /// What a tile gathers, if that is more than one line of squares.
  private static let planeByteCount = 96 << 10

  // MARK: Batches and blocks

  /// How many batches a tile's squares are cut into, as equal as can be.
  func batchCount(_ squares: Int) -> Int { ceilingQuotient(squares, batchLength) }

  /// Cuts squares into blocks: whole ones, and the rest.
  func blocks(_ squares: Int, vectorCount: Int) -> (rows: Int, count: Int, rest: Int) {
    let most = mostRows[vectorCount]
    if squares <= most { return (squares, 1, 0) }
    let rows = ceilingQuotient(squares, ceilingQuotient(squares, most))
    return (rows, squares / rows, squares % rows)
  }

  /// How many squares batches may have.
  private var batchLengths: Set<Int> {
    var lengths: Set<Int> = []
    for lines in Set((alone.lengths + shared.lengths).filter { $0 > 0 }) {
      let squares = lines * across
      let count = batchCount(squares)
      lengths.formUnion([squares / count, ceilingQuotient(squares, count)])
    }
    return lengths
  }

  func tiling(threads: Int) -> GeneratedConvolutionPlan.Tiling { threads > 1 ? shared : alone }

  // MARK: Functions

  /// All panels but the last are alike.
  private var panelKinds: [GeneratedConvolutionPlan.Panel] { panels.prefix(1) + panels.suffix(1) }

  /// The shapes of the products that runs will ask for; some come more than once.
  var productShapes: [GeneratedShape] {
    panelKinds.flatMap { panel in
      batches.flatMap { squares in
        let (rows, _, rest) = blocks(squares, vectorCount: panel.vectorCount)
        return [rows, rest].filter { $0 > 0 }.map {
          GeneratedShape(
            rowCount: $0, vectorCount: panel.vectorCount, columnCount: panel.paddedCount)
        }
      }
    }
  }

  /// The same of what makes outputs: pixels of a square's line, and columns.
  var outputShapes: [GeneratedShape] {
    let width = convolution.outputWidth
    return panelKinds.flatMap { panel in
      [min(width, Self.side), width % Self.side].filter { $0 > 0 }.map {
        GeneratedShape(rowCount: $0, vectorCount: panel.vectorCount, columnCount: panel.columnCount)
      }
    }
  }

  // MARK: Columns

  /// The column that each lane of a panel stands for, vector by vector.
  func columns(_ panel: GeneratedConvolutionPlan.Panel) -> [Int] { columns[panel.vectorCount] }

  /// The output channel of a panel's lane, where it has one.
  func channel(panel index: Int, lane: Int) -> Int? {
    let panel = panels[index]
    let columns = columns(panel)
    guard lane < columns.count, columns[lane] < panel.columnCount else { return nil }
    return panel.firstColumn + columns[lane]
  }

  /// Columns of all panels with padding.
  var paddedColumnCount: Int { panels.last.map { $0.paddedBefore + $0.paddedCount } ?? 0 }

  // MARK: Memory

  /// Bytes between the matrices of neighboring points. An odd number of lines, so that they do not all fall on the same few
  /// lines of the first-level cache.
  private static func pointStride(_ byteCount: Int) -> Int { roundedUp(byteCount, to: 128) + 64 }

  /// Pixels of a gathered line.
  var planeWidth: Int { Self.side * across + 2 }
  /// Bytes that a tile gathers, with room to read a vector beyond.
  var planeByteCount: Int {
    let lines = (alone.lengths + shared.lengths).max() ?? 0
    return roundedUp((Self.side * lines + 2) * planeWidth * convolution.inputChannels, to: 64) + 64
  }
}

/// What Winograd's way takes on a machine, in the time of one product of a vector of words.
struct WinogradCost {
  /// Steps of the direct way in the time of one here.
  let directSteps: Double
  /// What it takes to transform a vector of channels of a square, of weights, and of a square's outputs.
  let input: Double
  let weights: Double
  let output: Double
  /// How much faster it must be by this reckoning.
  let margin: Double

  /// Whether a convolution is to be done so.
  func pays(_ plan: GeneratedWinogradPlan) -> Bool {
    let c = plan.convolution
    let images = Double(c.batches)
    let squares = images * Double(plan.down * plan.across)
    let lanes = plan.vectorByteCount / 4
    let columns = Double(ceilingQuotient(c.outputChannels, lanes))
    let steps = Double(plan.stepCount) * columns
    let direct = Double(c.rowCount) * 9 * steps / directSteps
    let batches =
      images
      * Double(
        plan.alone.tilesPerImage
          * plan.batchCount(
            ceilingQuotient(plan.down, plan.alone.tilesPerImage) * plan.across))
    let own =
      squares * (36 * steps + Double(plan.channelVectors) * input + columns * output)
      + batches * steps * weights
    return own * margin < direct
  }
}
