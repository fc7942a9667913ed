/// A convolution of bytes with a 3×3 filter by exact integer Winograd, F(4×4, 3×3): a quarter of the products.
///
/// Where weights or biases are such that sums might not be exact, the direct way serves.
final class GeneratedWinograd: PreparedConvolution, @unchecked Sendable {
  private let convolution: Convolution
  private let plan: GeneratedWinogradPlan
  private let operands: ByteOperands
  private let weightPacking: GeneratedWinogradPacking
  private let direct: GeneratedConvolution
  private let gathering: GeneratedGathering
  private let inputs: GeneratedFunction
  private let weights: GeneratedFunction
  private let products: GeneratedFunctions
  private let outputs: GeneratedFunctions
  /// A block of factors for each panel.
  private let factors: UnsafeMutableRawPointer
  private let factorByteCount: Int
  /// The one tap of all products: its offset and its count of steps.
  private let tap: UnsafeMutablePointer<Int>
  /// A worker's memory: the gathered part of the input; points of inputs, weights and sums; room for one square.
  private let layout: Layout

  private struct Layout {
    let inputs: Int
    let weights: Int
    let sums: Int
    let spare: Int
    let byteCount: Int

    init(_ plan: GeneratedWinogradPlan) {
      let points = GeneratedWinogradPlan.points
      inputs = plan.planeByteCount
      weights = inputs + points * plan.inputPointStride
      sums = weights + points * plan.weightPointStride
      spare = sums + points * plan.sumPointStride
      byteCount = spare + 2 * points * plan.vectorByteCount
    }
  }

  /// Prepares a convolution; nil where this is not the way to do it.
  init?(
    _ convolution: Convolution, target: any GeneratedTarget, bytes: GeneratedProduct,
    placement: CodePlacement
  ) {
    guard let plan = GeneratedWinogradPlan(convolution, bytes: bytes, target: target),
      let operands = convolution.operands.bytes,
      let direct = GeneratedConvolution(convolution, target: target, bytes: bytes, placement: placement),
      let inputs = GeneratedFunction(
        target.winogradGenerator(.inputs(isSigned: operands.signFlip != 0)), placement: placement),
      let weights = GeneratedFunction(
        target.winogradGenerator(.weights(isSigned: operands.signFlip != 0)), placement: placement),
      let products = GeneratedFunctions(
        plan.productShapes, placement: placement,
        generator: { target.generator(.words, convolution.operands, nil, $0) }),
      let outputs = GeneratedFunctions(
        plan.outputShapes, placement: placement,
        generator: { target.winogradGenerator(.outputs(convolution.operands, convolution.epilogue, $0)) })
    else { return nil }
    self.convolution = convolution
    self.plan = plan
    self.operands = operands
    self.direct = direct
    self.inputs = inputs
    self.weights = weights
    self.products = products
    self.outputs = outputs
    layout = Layout(plan)
    weightPacking = GeneratedWinogradPacking(
      plan: plan, operands: operands, sumLimit: target.sumLimit ?? .max)
    gathering = GeneratedGathering(
      lanes: .bytes(padding: UInt8(truncatingIfNeeded: operands.lhsZeroPoint) ^ operands.signFlip),
      inputHeight: convolution.inputHeight, inputWidth: convolution.inputWidth,
      inputChannels: convolution.inputChannels, paddingTop: convolution.paddingTop,
      paddingLeft: convolution.paddingLeft, strideHeight: 1, reachHeight: 3, isDense: false,
      planeWidth: plan.planeWidth, channels: convolution.inputChannels, phases: 1,
      phaseWidth: plan.planeWidth, depthMultiplier: 1)
    unsafe tap = .allocate(capacity: 2)
    unsafe tap[0] = 0
    unsafe tap[1] = plan.stepCount
    factorByteCount = target.factorByteCount
    unsafe factors = .allocate(byteCount: plan.panels.count * factorByteCount, alignment: 64)
    unsafe target.fillFactors(
      factors, convolution.operands, convolution.epilogue, blockCount: plan.panels.count,
      laneCount: target.mostVectors * target.lanes
    ) { plan.channel(panel: $0, lane: $1) }
  }

  deinit {
    unsafe tap.deallocate()
    unsafe factors.deallocate()
  }

  // MARK: Packing

  var packing: String { "winograd or \(direct.packing)" }

  var packedByteCount: Int { max(weightPacking.byteCount, direct.packedByteCount) }

  func packedByteCount(for weights: RawSpan) -> Int {
    max(weightPacking.byteCount, direct.packedByteCount(for: weights))
  }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    if weightPacking.pack(weights: weights, bias: bias, into: packed) { return }
    direct.pack(weights: weights, bias: bias, into: packed)
  }

  // MARK: Running

  func scratchByteCount(threads: Int) -> Int {
    max(64 + threads * layout.byteCount, direct.scratchByteCount(threads: threads))
  }

  func run(
    _ packed: PackedWeights, input: RawSpan, output: inout MutableRawSpan, scratch: inout MutableRawSpan,
    threads: ThreadTeam
  ) {
    guard GeneratedWinogradPacking.isPacked(packed) else {
      return direct.run(packed, input: input, output: &output, scratch: &scratch, threads: threads)
    }
    precondition(
      input.byteCount >= convolution.inputCount && output.byteCount >= convolution.outputCount
        && scratch.byteCount >= scratchByteCount(threads: threads.count))
    let threads = plan.isSmall ? ThreadTeam(count: 1) : threads.fitting(nanoseconds: plan.nanoseconds)
    let tiling = plan.tiling(threads: threads.count)
    unsafe withAddresses(input, &output, &scratch) { input, output, scratch in
      let work = unsafe Work(
        owner: .passUnretained(self), packed: packed.address, tiling: tiling, input: input, output: output,
        scratch: scratch.alignedUp(toMultipleOf: 64))
      threads.run(tiles: tiling.count, work)
    }
  }

  /// One run: pointers that live as long as its call.
  private struct Work: TileWork {
    let owner: Unmanaged<GeneratedWinograd>
    let packed: UnsafeMutableRawPointer
    let tiling: GeneratedConvolutionPlan.Tiling
    let input: UnsafeRawPointer
    let output: UnsafeMutableRawPointer
    let scratch: UnsafeMutableRawPointer

    func run(tile: Int, worker: Int) {
      unsafe owner._withUnsafeGuaranteedRef {
        unsafe $0.run(self, tile: tile, scratch: scratch + worker &* $0.layout.byteCount)
      }
    }
  }

  private func run(_ work: Work, tile: Int, scratch: UnsafeMutableRawPointer) {
    let tiling = work.tiling
    let (imageTile, panelTile) = tile.quotientAndRemainder(dividingBy: tiling.panelTiles)
    let (image, tileOfImage) = imageTile.quotientAndRemainder(dividingBy: tiling.tilesPerImage)
    let lines = tiling.range(tileOfImage)
    let side = GeneratedWinogradPlan.side
    unsafe gathering.gather(
      work.input, image: image, lines: lines.lowerBound &* side..<lines.upperBound &* side, firstChannel: 0,
      to: scratch)
    let squares = lines.count &* plan.across
    let batches = plan.batchCount(squares)
    for index in 0..<batches {
      let batch = Batch(
        squares: share(of: squares, tile: index, of: batches), image: image, firstLine: lines.lowerBound)
      unsafe transformInputs(batch, scratch)
      for panel in tiling.panels(panelTile) {
        unsafe transformWeights(plan.panels[panel], work.packed, scratch)
        unsafe multiply(batch, plan.panels[panel], scratch)
        unsafe transformOutputs(batch, panel, work, scratch)
      }
    }
  }

  /// Squares of a tile, counted line by line.
  private struct Batch {
    let squares: Range<Int>
    let image: Int
    /// The tile's first line of squares.
    let firstLine: Int
  }

  /// Runs of a batch's squares that lie side by side: the first one, its line in the tile and place in it, and how many.
  @inline(__always)
  private func forEachRun(
    _ batch: Batch, _ body: (_ square: Int, _ line: Int, _ column: Int, _ count: Int) -> Void
  ) {
    var square = batch.squares.lowerBound
    while square < batch.squares.upperBound {
      let (line, column) = square.quotientAndRemainder(dividingBy: plan.across)
      let count = min(plan.across &- column, batch.squares.upperBound &- square)
      body(square &- batch.squares.lowerBound, line, column, count)
      square &+= count
    }
  }

  private func transformInputs(_ batch: Batch, _ scratch: UnsafeMutableRawPointer) {
    let (side, channels) = (GeneratedWinogradPlan.side, convolution.inputChannels)
    var arguments = GeneratedArguments()
    arguments.rowStride = channels
    arguments.lineStride = plan.planeWidth &* channels
    arguments.pointStride = plan.inputPointStride
    arguments.vectors = plan.channelVectors
    arguments.squareStride = side &* channels &- plan.channelVectors &* plan.vectorByteCount / 2
    unsafe arguments.spare = Int(bitPattern: scratch + layout.spare)
    arguments.constant =
      Int(operands.signFlip == 0 ? operands.lhsZeroPoint : operands.lhsZeroPoint &- 128) &* 6
    forEachRun(batch) { square, line, column, count in
      unsafe arguments.rows = Int(
        bitPattern: scratch + (line &* side &* plan.planeWidth &+ column &* side) &* channels)
      unsafe arguments.output = Int(bitPattern: scratch + layout.inputs + square &* plan.rowByteCount)
      arguments.blocks = count
      inputs.call(&arguments)
    }
  }

  private func transformWeights(
    _ panel: GeneratedConvolutionPlan.Panel, _ packed: UnsafeMutableRawPointer,
    _ scratch: UnsafeMutableRawPointer
  ) {
    let zeroPoint = operands.signFlip == 0 ? operands.rhsZeroPoint : operands.rhsZeroPoint &- 128
    var arguments = GeneratedArguments()
    unsafe arguments.rows = Int(bitPattern: packed + weightPacking.weights(panel))
    unsafe arguments.output = Int(bitPattern: scratch + layout.weights)
    arguments.pointStride = plan.weightPointStride
    arguments.blocks = weightPacking.units(panel)
    arguments.constant = 6 << 16 | Int(zeroPoint) & 0xFFFF
    weights.call(&arguments)
  }

  private func multiply(
    _ batch: Batch, _ panel: GeneratedConvolutionPlan.Panel, _ scratch: UnsafeMutableRawPointer
  ) {
    let (large, small) = plan.blocks(batch.squares.count)
    var arguments = GeneratedArguments()
    arguments.rowStride = plan.rowByteCount
    unsafe arguments.taps = Int(bitPattern: tap)
    arguments.tapCount = 1
    arguments.outputStride = panel.vectorCount &* plan.vectorByteCount
    for point in 0..<GeneratedWinogradPlan.points {
      unsafe arguments.rows = Int(bitPattern: scratch + layout.inputs + point &* plan.inputPointStride)
      unsafe arguments.weights = Int(bitPattern: scratch + layout.weights + point &* plan.weightPointStride)
      unsafe arguments.output = Int(bitPattern: scratch + layout.sums + point &* plan.sumPointStride)
      if large > 0 {
        arguments.blocks = large
        products.call(rows: plan.largeRows, columns: panel.paddedCount, &arguments)
        arguments.rows &+= large &* plan.largeRows &* arguments.rowStride
        arguments.output &+= large &* plan.largeRows &* arguments.outputStride
      }
      if small > 0 {
        arguments.blocks = small
        products.call(rows: plan.smallRows, columns: panel.paddedCount, &arguments)
      }
    }
  }

  private func transformOutputs(
    _ batch: Batch, _ index: Int, _ work: Work, _ scratch: UnsafeMutableRawPointer
  ) {
    let panel = plan.panels[index]
    let side = GeneratedWinogradPlan.side
    let (width, height, channels) = (
      convolution.outputWidth, convolution.outputHeight, convolution.outputChannels
    )
    let rowByteCount = panel.vectorCount &* plan.vectorByteCount
    var arguments = GeneratedArguments()
    arguments.pointStride = plan.sumPointStride
    arguments.outputStride = channels
    arguments.outputLineStride = width &* channels
    unsafe arguments.offsets = Int(
      bitPattern: work.packed + weightPacking.offsets + panel.paddedBefore &* 4)
    unsafe arguments.factors = Int(bitPattern: factors + index &* factorByteCount)
    unsafe arguments.spare = Int(bitPattern: scratch + layout.spare)
    // The inverse of 9 modulo 2³².
    arguments.constant = 0x38E3_8E39
    forEachRun(batch) { square, line, column, count in
      let (y, x) = ((batch.firstLine &+ line) &* side, column &* side)
      let pixel = (batch.image &* height &+ y) &* width &+ x
      unsafe arguments.rows = Int(bitPattern: scratch + layout.sums + square &* rowByteCount)
      unsafe arguments.output = Int(bitPattern: work.output + pixel &* channels + panel.firstColumn)
      arguments.lines = min(side, height &- y)
      // The last square of a line may be cut off.
      let whole = min(count, (width &- x) / side)
      arguments.blocks = whole
      if whole > 0 { outputs.call(rows: side, columns: panel.columnCount, &arguments) }
      if whole < count {
        arguments.rows &+= whole &* rowByteCount
        arguments.output &+= whole &* side &* channels
        arguments.blocks = 1
        outputs.call(rows: width % side, columns: panel.columnCount, &arguments)
      }
    }
  }
}
