// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

/// A convolution as a matrix product in generated code: rows are read in place or gathered, and the epilogue
/// runs on sums in registers.
@safe final class ProductKernel: PreparedConvolution, @unchecked Sendable {
  // @unchecked: `general` is created under a lock, and read only by its creator's callers.

  private let scheme: ConvolutionScheme
  private let plan: ProductPlan
  private let gathering: TileGathering
  private let weightPacking: ProductPacking
  /// The tap list: a byte offset and a number of K-steps for each tap.
  private let taps: UnsafeMutablePointer<Int>
  /// The functions with the usual epilogue, and those that are exact for any sum. Few weights need the second
  /// kind, so it is created on demand.
  private let code: EpilogueCode
  private var general: EpilogueCode?
  private let target: any CodeTarget
  /// Whether one call computes consecutive panels.
  private let movesAlongPanels: Bool
  /// Whether lines at an image's edge skip the rows of the filter that see only padding.
  private let leavesOutPadding: Bool
  /// A worker's scratch memory: the gathered plane, then the tap list with room for all extra K-steps.
  private let tapListOffset: Int
  /// After the tap list: the row terms of a tile, if the product has them.
  private let rowTermsOffset: Int
  /// After the row terms: the sums of a block, if tile registers multiply.
  private let sumsOffset: Int
  private let tiles: X86Tiles?
  private let workerByteCount: Int
  /// Whether a tile is long enough to check for cancellation.
  private let hasLongTiles: Bool
  /// Bytes between consecutive rows of M.
  private let rowStride: Int
  /// The calls of a run on one thread, if there are only one or two.
  private let directCalls: DirectCalls?

  /// Why faster strategies declined this convolution.
  private let passedOver: [Decline]

  /// Prepares a convolution; throws if the target has no code for it, or no memory for code is left.
  ///
  /// - Parameters:
  ///   - bytes: how unsigned bytes are multiplied.
  ///   - machine: the machine to lay the product out for.
  ///   - isForOneThread: whether it always runs on one thread.
  ///   - passedOver: why faster strategies declined.
  init(
    _ convolution: Convolution, target: any CodeTarget, bytes: ProductKind, machine: MachineModel,
    isForOneThread: Bool, passedOver: [Decline] = [], placement: CodePlacement
  ) throws(Decline) {
    var passedOver = passedOver
    var bfloat16: ProductKind?
    if case .bfloat16(let order) = convolution.operands {
      let chosen = try target.bfloat16(order, machine.pipes)
      bfloat16 = chosen.product
      if let declined = chosen.declined { passedOver.append(declined) }
    }
    let scheme = try ConvolutionScheme(
      convolution.operands, convolution.epilogue, batches: convolution.batches,
      inputCount: convolution.inputCount, outputChannels: convolution.outputChannels,
      outputsPerChannel: convolution.rowCount, depth: convolution.depth, target: target, bytes: bytes,
      bfloat16: bfloat16)
    let plan = try ProductPlan(
      convolution, scheme.epilogue, product: scheme.product, target: target,
      machine: machine, isForOneThread: isForOneThread)
    self.passedOver = passedOver + plan.declined
    self.scheme = scheme
    self.plan = plan
    weightPacking = ProductPacking(
      plan: plan,
      terms: WeightTerms(
        scheme, target: target, areNarrow: plan.hasNarrowWeights, rowTerms: plan.rowTerms))
    let mayHaveExtras = weightPacking.terms.mayHaveExtras
    guard !mayHaveExtras || plan.stepCount <= ProductPlan.stepLimit else {
      let (count, limit) = (plan.stepCount, ProductPlan.stepLimit)
      throw Decline(
        "weights with such a zero point may take extra steps, and \(count) steps are over \(limit)")
    }
    movesAlongPanels = plan.movesAlongPanels && !mayHaveExtras
    leavesOutPadding = plan.mayLeaveOutPadding && !mayHaveExtras
    gathering = plan.gathering(scheme.lanes, leavesOutPadding: leavesOutPadding)
    rowStride = plan.rowStride
    tapListOffset = roundedUp(plan.planeByteCount, to: 64)
    rowTermsOffset =
      tapListOffset + roundedUp((plan.tapCount + (mayHaveExtras ? 2 * plan.stepCount : 0)) * 16, to: 64)
    sumsOffset = rowTermsOffset + (plan.rowTerms == nil ? 0 : roundedUp(plan.longestTile * 4, to: 64))
    tiles =
      if let pairs = plan.tilePairs { try unsafe X86Tiles(pairs: pairs, placement: placement) } else { nil }
    workerByteCount = sumsOffset + (tiles == nil ? 0 : X86Tiles.sumByteCount)
    hasLongTiles = plan.longestTileProducts > Self.longTile

    let shapes = plan.shapes(movesAlongPanels: movesAlongPanels)
    code = try unsafe Self.code(scheme.epilogue, shapes, plan, scheme, target, placement)
    if let general = scheme.general, !ExecutableMemory.growsFreely {
      // Later there might be no executable memory for it.
      self.general = unsafe try Self.code(
        general, shapes.map(\.withoutOverlap), plan, scheme, target, unsafe placement)
    }
    self.target = target

    unsafe taps = .allocate(capacity: 2 * plan.tapCount)
    for tap in 0..<plan.tapCount {
      unsafe taps[2 * tap] = plan.tapOffset(tap)
      unsafe taps[2 * tap + 1] = plan.listedStepsPerTap
    }
    directCalls = unsafe DirectCalls(
      plan, code, weightPacking, taps: Int(bitPattern: taps), elementByteCount: scheme.elementByteCount)
  }

  var convolution: Convolution { plan.convolution }

  /// The functions and factors for an epilogue.
  private static func code(
    _ epilogue: LoweredEpilogue, _ shapes: [BlockShape], _ plan: ProductPlan,
    _ scheme: ConvolutionScheme, _ target: any CodeTarget, _ placement: CodePlacement
  ) throws(Decline) -> EpilogueCode {
    let operands = plan.convolution.operands
    let product = plan.isInPlace ? scheme.product : scheme.gatheredProduct
    return unsafe EpilogueCode(
      epilogue, operands, target: target, blockCount: plan.convolution.groups * plan.panels.count,
      lanes: plan.lanes,
      functions: try BlockFunctions(
        shapes, placement: placement, generator: { target.generator(product, operands, epilogue, $0) }),
      runFunctions: .none)
  }

  /// The functions and factors that are exact for any sum.
  private func generalCode(_ epilogue: LoweredEpilogue) -> EpilogueCode {
    unsafe EpilogueCode.made(&general) { placement throws(Decline) in
      let shapes = plan.shapes(movesAlongPanels: movesAlongPanels).map(\.withoutOverlap)
      return try unsafe Self.code(epilogue, shapes, plan, scheme, target, placement)
    }
  }

  deinit { unsafe taps.deallocate() }

  // MARK: Reading

  var implementation: String {
    let epilogue = target.epilogueText(convolution.operands, scheme.epilogue)
    let order = plan.bfloat16Order.map { ", \($0.name)" } ?? ""
    return "generated products of \(scheme.product.text)\(order), \(plan.text), \(epilogue)"
  }

  var summation: String? {
    "\(target.name), \(scheme.product == .floats ? plan.summation : plan.bfloat16Order.map { "of bfloat16, \($0.name)" } ?? "of integers")"
  }

  func notes(_ packed: PackedWeights?) -> [String] {
    passedOver.map(\.description) + scheme.notes(packed)
  }

  // MARK: Packing

  var packing: WeightLayout {
    scheme.layout(
      "columns",
      [
        plan.tapRows, plan.tapColumns, plan.depthPerTap, convolution.columnCount, convolution.groups,
        plan.hasNarrowWeights ? 1 : 0, plan.maximumVectors, plan.depthPerStep,
      ])
  }

  var packedByteCount: Int { weightPacking.byteCount }

  func packedByteCount(for weights: RawSpan) -> Int { weightPacking.byteCount(for: weights) }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    weightPacking.pack(weights: weights, bias: bias, into: packed)
  }

  var packingRows: (any RowPackingConvolution)? { weightPacking.packsRows ? self : nil }

  // MARK: Running

  func scratchByteCount(threads: Int) -> Int { scheme.sharedByteCount + threads * workerByteCount }

  func run(
    _ packed: PackedWeights, input: RawSpan, output: inout MutableRawSpan, scratch: inout MutableRawSpan,
    threads: ThreadTeam
  ) {
    unsafe run(
      packed, input: input, postOperations: nil, other: nil, output: &output, scratch: &scratch,
      threads: threads)
  }

  /// Runs the convolution and then the post-operations, which may read `other`, a second tensor of the
  /// output's size.
  func run(
    _ packed: PackedWeights, input: RawSpan, postOperations: PostOperations?, other: UnsafePointer<Float>?,
    output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam
  ) {
    precondition(
      input.byteCount >= convolution.inputCount * scheme.elementByteCount
        && output.byteCount >= convolution.outputCount * scheme.elementByteCount
        && scratch.byteCount >= scratchByteCount(threads: threads.count))
    if scheme.needsGeneral(packed), let epilogue = scheme.general {
      return unsafe run(
        generalCode(epilogue), nil, packed, input: input, postOperations: postOperations, other: other,
        output: &output, scratch: &scratch, threads: threads)
    }
    unsafe run(
      code, directCalls, packed, input: input, postOperations: postOperations, other: other, output: &output,
      scratch: &scratch, threads: threads)
  }

  private func run(
    _ code: EpilogueCode, _ directCalls: DirectCalls?, _ packed: PackedWeights, input: RawSpan,
    postOperations: PostOperations?,
    other: UnsafePointer<Float>?, output: inout MutableRawSpan, scratch: inout MutableRawSpan,
    threads: ThreadTeam
  ) {
    ExecutableMemory.seal()
    let threads =
      plan.isForOneThread
      ? threads.alone : threads.fitting(nanoseconds: plan.nanoseconds)
    let tiling = plan.tiling(threads: threads.count)
    scheme.run(input, &output, &scratch, threads: threads) { memory in
      if let directCalls, threads.count == 1, postOperations == nil { return directCalls.run(packed, memory) }
      let work = unsafe Work(
        owner: .passUnretained(self), packed: .passUnretained(packed), code: .passUnretained(code),
        tiling: tiling, threads: threads, memory: memory,
        postOperations: postOperations.map { unsafe .passUnretained($0) },
        other: other)
      withExtendedLifetime(code) { threads.run(tiles: tiling.count, work) }
    }
  }

  /// The tiles of one run; its pointers are valid during that call only.
  @safe struct Work: TileWork {
    static var mayStop: Bool { true }

    let owner: Unmanaged<ProductKernel>
    let packed: Unmanaged<PackedWeights>
    let code: Unmanaged<EpilogueCode>
    let tiling: ProductPlan.Tiling
    let threads: ThreadTeam
    let memory: ConvolutionScheme.Memory
    let postOperations: Unmanaged<PostOperations>?
    let other: UnsafePointer<Float>?

    func run(tile: Int, worker: Int) {
      unsafe owner._withUnsafeGuaranteedRef { owner in
        unsafe packed._withUnsafeGuaranteedRef { packed in
          unsafe code._withUnsafeGuaranteedRef { code in
            unsafe owner.run(
              self, packed, code, tile: tile, scratch: memory.scratch + worker &* owner.workerByteCount)
          }
        }
      }
    }
  }

  private func run(
    _ work: Work, _ packed: PackedWeights, _ code: EpilogueCode, tile: Int, scratch: UnsafeMutableRawPointer
  ) {
    let tiling = work.tiling
    let (rest, panelTile) = tile.quotientAndRemainder(dividingBy: tiling.panelTiles)
    let (imageTile, group) = rest.quotientAndRemainder(dividingBy: convolution.groups)
    let (image, tileOfImage) = imageTile.quotientAndRemainder(dividingBy: tiling.tilesPerImage)
    let range = tiling.range(tileOfImage)
    let (first, end) = (range.lowerBound, range.upperBound)

    let rows: UnsafeRawPointer
    if plan.isInPlace {
      let elements =
        plan.isDense
        ? first &* convolution.strideWidth &* convolution.inputChannels
        : (image &* convolution.inputHeight &+ first &* convolution.strideHeight) &* convolution.inputWidth
          &* convolution.inputChannels
      unsafe rows =
        unsafe work.memory.input + (elements &+ group &* convolution.channelsPerGroup)
        &* plan.operandByteCount
    } else {
      let (lines, columns) = plan.gathered(range)
      unsafe gathering.gather(
        work.memory.input, image: image, lines: lines, columns: columns,
        firstChannel: group &* convolution.channelsPerGroup,
        zeroPoint: plan.hasColumnSums ? work.memory.zeroPoint(image: image) : 0, to: scratch)
      unsafe rows = UnsafeRawPointer(scratch)
    }
    let list = unsafe (scratch + tapListOffset).assumingMemoryBound(to: Int.self)
    // All rows of a line belong to one image, or each is an image.
    let firstImage = plan.areRowsImages ? first : image
    let scales = unsafe work.memory.scales + 4 &* firstImage
    var zeroPoints = unsafe work.memory.zeroPoints + 4 &* firstImage
    if let rowTerms = plan.rowTerms {
      unsafe rowTerms.fill(
        scratch + rowTermsOffset, from: work.memory.input + first &* convolution.depth, rows: end &- first)
      unsafe zeroPoints = UnsafeRawPointer(scratch + rowTermsOffset)
    }
    let outputStride = convolution.outputChannels &* scheme.elementByteCount
    if let tiles {
      let length = plan.takesPixels ? end &- first : plan.lineLength
      tiles.prepare(rowCount: plan.blocks(length, vectorCount: 1).rows)
    }
    defer { tiles?.release() }

    var poll = StopPoll(work.threads)
    let panels = tiling.panels(panelTile)
    var next = panels.lowerBound
    let lastPanel = panels.upperBound
    while next < lastPanel {
      let index = next
      let panel = plan.panels[index]
      let together = movesAlongPanels ? max(1, plan.alikeCount(lastPanel) &- index) : 1
      next &+= together
      let record = weightPacking.record(packed, group: group, panel: index)
      let columns = group &* convolution.columnCount &+ panel.firstColumn
      var call = unsafe Call(
        arguments: ConvolutionArguments(
          rows: 0, rowStride: rowStride, taps: Int(bitPattern: taps), tapCount: plan.tapCount,
          weights: Int(bitPattern: packed.address + record.weights),
          offsets: Int(
            bitPattern: packed.address + weightPacking.offsets(group: group) + panel.paddedBefore
              &* plan.offsetByteCount),
          factors: code.factors(group &* plan.panels.count &+ index),
          output: 0, outputStride: outputStride, blocks: together, scales: Int(bitPattern: scales),
          zeroPoints: Int(bitPattern: zeroPoints), spare: Int(bitPattern: scratch + sumsOffset)),
        panel: panel)
      // The panel after the last is the first one, of the next tile.
      let following = weightPacking.record(
        packed, group: group, panel: next < lastPanel ? next : panels.lowerBound)
      call.arguments.nextWeights = Int(bitPattern: unsafe packed.address + following.weights)
      if record.extraCount > 0 {
        unsafe listTaps(record, packed, to: list)
        call.arguments.taps = Int(bitPattern: list)
        call.arguments.tapCount = plan.tapCount &+ record.extraCount
      }
      let columnOffset = columns &* scheme.elementByteCount
      if plan.takesPixels {
        let pixel = plan.isDense ? first : image &* convolution.outputWidth &+ first
        let output = unsafe work.memory.output + pixel &* outputStride + columnOffset
        unsafe runLine(&call, code, rows: rows, output: output, length: end &- first, &poll)
      } else {
        let lineStride = convolution.strideHeight &* plan.imageRowByteCount
        for line in first..<end {
          let pixel = (image &* convolution.outputHeight &+ line) &* convolution.outputWidth
          let output = unsafe work.memory.output + pixel &* outputStride + columnOffset
          if leavesOutPadding {
            unsafe call.take(ProductPlan.filterRows(convolution, line: line), of: plan, taps: taps)
          }
          unsafe runLine(
            &call, code, rows: rows + (line &- first) &* lineStride, output: output, length: plan.lineLength,
            &poll)
        }
      }
    }
    if let postOperations = unsafe work.postOperations {
      let firstColumn = plan.panels[panels.lowerBound].firstColumn
      let endColumn =
        lastPanel < plan.panels.count ? plan.panels[lastPanel].firstColumn : convolution.columnCount
      let width = plan.takesPixels ? 1 : plan.lineLength
      let before = plan.isDense ? 0 : image &* convolution.outputHeight &* plan.lineLength
      let channel = group &* convolution.columnCount
      unsafe postOperations._withUnsafeGuaranteedRef {
        unsafe $0.apply(
          to: work.memory.output.assumingMemoryBound(to: Float.self), other: work.other,
          pixels: before &+ first &* width..<before &+ end &* width,
          channels: channel &+ firstColumn..<channel &+ endColumn, of: convolution.outputChannels)
      }
    }
  }

  /// The arguments of the calls for one panel.
  private struct Call {
    var arguments: ConvolutionArguments
    let panel: ProductPlan.Panel
    /// The start of the panel's weights.
    let weights: Int

    init(arguments: ConvolutionArguments, panel: ProductPlan.Panel) {
      (self.arguments, self.panel, weights) = (arguments, panel, arguments.weights)
    }

    /// Restricts the product to some rows of the filter.
    mutating func take(_ rows: Range<Int>, of plan: ProductPlan, taps: UnsafeMutablePointer<Int>) {
      let first = rows.lowerBound &* plan.tapColumns
      arguments.taps = Int(bitPattern: unsafe taps + 2 &* first)
      arguments.tapCount = rows.count &* plan.tapColumns
      arguments.weights = weights &+ first &* plan.stepsPerTap &* plan.stepByteCount(panel)
    }
  }

  private func listTaps(
    _ record: WeightTerms.Record, _ packed: PackedWeights, to list: UnsafeMutablePointer<Int>
  ) {
    unsafe list.update(from: taps, count: 2 &* plan.tapCount)
    for extra in 0..<record.extraCount {
      let entry = record.extras &+ extra &* 16
      let tap = unsafe packed.address.load(fromByteOffset: entry, as: Int.self)
      let step = unsafe packed.address.load(fromByteOffset: entry &+ 8, as: Int.self)
      let place = 2 &* (plan.tapCount &+ extra)
      unsafe list[place] = taps[2 &* tap] &+ 4 &* step
      unsafe list[place &+ 1] = 1
    }
  }

  /// Multiplies one panel with a line of rows, block by block; consecutive rows are `rowStride` bytes apart.
  private func runLine(
    _ call: inout Call, _ code: EpilogueCode, rows: UnsafeRawPointer, output: UnsafeMutableRawPointer,
    length: Int, _ poll: inout StopPoll
  ) {
    let (rowCount, count, rest) = plan.blocks(length, vectorCount: call.panel.vectorCount)
    guard rowCount > 0 else { return }
    let (columns, zeroPoints) = (call.panel.columnCount, call.arguments.zeroPoints)
    call.arguments.rows = Int(bitPattern: rows)
    call.arguments.output = Int(bitPattern: output)
    if !movesAlongPanels { call.arguments.blocks = count }
    if hasLongTiles {
      callInPieces(&call, code, rowCount: rowCount, &poll)
    } else {
      code.functions.call(rows: rowCount, columns: columns, &call.arguments)
    }
    if rest > 0 {
      let row = length &- rest
      unsafe call.arguments.rows = Int(bitPattern: rows + row &* rowStride)
      unsafe call.arguments.output = Int(bitPattern: output + row &* call.arguments.outputStride)
      if plan.rowTerms != nil { call.arguments.zeroPoints = zeroPoints &+ 4 &* row }
      call.arguments.blocks = 1
      code.functions.call(rows: rest, columns: columns, &call.arguments)
    }
  }

  /// The multiply-accumulates of a long tile, which takes some milliseconds.
  private static let longTile = 0x1p28
  /// The maximum duration of a call, in the units of ``StopPoll``, unless a single block takes longer.
  private static let maximumSteps = 1 << 22

  /// Calls a function for some blocks at a time, and checks for cancellation in between.
  @inline(never)
  private func callInPieces(_ call: inout Call, _ code: EpilogueCode, rowCount: Int, _ poll: inout StopPoll) {
    let columns = call.panel.columnCount
    // Sixteen K-steps of a block take about as long as one unit.
    let stepsPerBlock = 1 &+ (call.arguments.tapCount &* plan.stepsPerTap) >> 4
    guard !movesAlongPanels else {
      if poll.mustStop(before: call.arguments.blocks &* stepsPerBlock) { return }
      return code.functions.call(rows: rowCount, columns: columns, &call.arguments)
    }
    let (start, most) = (call.arguments, max(1, Self.maximumSteps / stepsPerBlock))
    var first = 0
    while first < start.blocks {
      let count = min(start.blocks &- first, most)
      if poll.mustStop(before: count &* stepsPerBlock) { return }
      let row = first &* rowCount
      call.arguments.rows = start.rows &+ row &* rowStride
      call.arguments.output = start.output &+ row &* start.outputStride
      if plan.rowTerms != nil { call.arguments.zeroPoints = start.zeroPoints &+ 4 &* row }
      call.arguments.blocks = count
      code.functions.call(rows: rowCount, columns: columns, &call.arguments)
      first &+= count
    }
  }
}

extension ProductPlan {
  /// How tiles are gathered if they cannot be read in place.
  fileprivate func gathering(_ lanes: TileGathering.Lanes, leavesOutPadding: Bool) -> TileGathering {
    TileGathering(
      convolution, lanes, planeWidth: planeWidth, channels: convolution.channelsPerGroup, isDense: isDense,
      leavesOutPadding: leavesOutPadding)
  }
}

extension ProductKernel: RowPackingConvolution {
  func pack(rows: RawSpan, into packed: PackedWeights) { weightPacking.pack(rows: rows, into: packed) }
}
