// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

/// A depthwise convolution in generated code.
@safe final class DepthwiseKernel: PreparedConvolution, @unchecked Sendable {
  // @unchecked: `general` is created under a lock, and read only by its creator's callers.

  let scheme: ConvolutionScheme
  let plan: DepthwisePlan
  private let gathering: TileGathering
  let weightPacking: DepthwisePacking
  /// The offsets of all taps, group by group; then the lists of ``InteriorList``, if columns are read in
  /// place.
  let taps: UnsafeMutablePointer<Int>
  let tapListLength: Int
  /// Gathers the pixels of one column at an edge.
  let edgeGathering: TileGathering
  /// A worker's scratch memory: the gathered plane, then the tap list with room for extra groups.
  let tapListOffset: Int
  /// After the tap list: a row of padding.
  let paddingRowOffset: Int
  private let workerByteCount: Int
  /// The maximum number of columns in a block.
  private let blockColumns: Int
  /// Whether a function multiplies a row of taps at a time, and whether it computes whole lines.
  private let takesRows: Bool
  private let takesLines: Bool
  /// The functions with the usual epilogue, and those that are exact for any sum, which few weights need. A
  /// row of their shapes is a pixel.
  private let code: EpilogueCode
  private var general: EpilogueCode?
  private let target: any CodeTarget

  /// Prepares a convolution; throws if the target has no code for it, or no memory for code is left.
  ///
  /// - Parameters:
  ///   - bytes: how unsigned bytes are multiplied.
  ///   - machine: the machine to lay the convolution out for.
  init(
    _ convolution: Convolution, target: any CodeTarget, bytes: ProductKind, machine: MachineModel,
    placement: CodePlacement
  ) throws(Decline) {
    let scheme = try ConvolutionScheme(
      convolution.operands, convolution.epilogue, batches: convolution.batches,
      inputCount: convolution.inputCount, outputChannels: convolution.outputChannels,
      outputsPerChannel: convolution.rowCount,
      depth: convolution.taps,
      target: target, bytes: convolution.operands.isHybrid ? .words : bytes)
    let plan = try DepthwisePlan(
      convolution, product: scheme.product, target: target, machine: machine)
    self.scheme = scheme
    self.plan = plan
    gathering = plan.gathering(scheme.lanes, width: plan.planeWidth)
    edgeGathering = plan.gathering(scheme.lanes, width: convolution.reachWidth)
    weightPacking = DepthwisePacking(
      plan: plan, terms: WeightTerms(scheme, target: target, areCentered: !plan.widensInPlace))

    let maximumColumns = plan.maximumColumns
    takesRows = maximumColumns > 0
    takesLines = plan.groupsAreColumns && plan.runs.isEmpty
    blockColumns = plan.blocks(plan.columnCount).columns
    code = try unsafe Self.code(scheme.epilogue, plan, scheme, target, placement)
    if let epilogue = scheme.general, !ExecutableMemory.growsFreely {
      // Later there might be no executable memory for it.
      general = unsafe try Self.code(epilogue, plan, scheme, target, placement)
    }
    self.target = target

    let tapCount = plan.groupCount * plan.tapsPerGroup
    tapListOffset = plan.planeByteCount
    paddingRowOffset = tapListOffset + roundedUp(tapCount * 3 * 8, to: 64)
    workerByteCount = paddingRowOffset + plan.paddingRowByteCount
    tapListLength = tapCount
    unsafe taps = .allocate(
      capacity: (plan.interior.isEmpty ? 1 : 1 + InteriorList.allCases.count) * tapCount)
    for tap in 0..<tapCount {
      let (group, index) = tap.quotientAndRemainder(dividingBy: plan.tapsPerGroup)
      unsafe taps[tap] = plan.tapOffset(group: group, index: index)
    }
    if !plan.interior.isEmpty { fillInteriorTaps() }
  }

  var convolution: Convolution { plan.convolution }

  /// The functions and factors for an epilogue.
  private static func code(
    _ epilogue: LoweredEpilogue, _ plan: DepthwisePlan, _ scheme: ConvolutionScheme,
    _ target: any CodeTarget, _ placement: CodePlacement
  ) throws(Decline) -> EpilogueCode {
    let c = plan.convolution
    let takesLines = plan.groupsAreColumns && plan.runs.isEmpty
    func rowShape(columns: Int, channels: Int, step: Int) -> DepthwiseRowShape {
      DepthwiseRowShape(
        columnCount: columns, channelCount: channels, columnStep: step, tapStep: c.dilationWidth,
        tapRows: c.filterHeight, tapColumns: c.filterWidth)
    }
    let functions = try unsafe BlockFunctions(
      takesLines ? plan.lineShapes : plan.shapes(most: plan.blocks(plan.columnCount).columns),
      placement: placement,
      generator: {
        guard plan.maximumColumns > 0 else {
          return target.depthwiseGenerator(scheme.gatheredProduct, c.operands, epilogue, $0)
        }
        var shape = rowShape(columns: $0.rowCount, channels: $0.columnCount, step: plan.columnStep)
        if takesLines, let part = DepthwisePlan.LinePart(rawValue: $0.rowCount) {
          (shape.columnCount, _, shape.restCount) = plan.blocks(plan.columns(part))
          shape.readsInPlace = part == .whole && !plan.interior.isEmpty
        }
        return target.depthwiseRows?.generator(
          shape.readsInPlace ? scheme.product : scheme.gatheredProduct, c.operands, epilogue, shape)
      })
    let runFunctions = try unsafe BlockFunctions(
      plan.runs.indices.map { BlockShape(rowCount: $0, vectorCount: 1, columnCount: 0) },
      placement: unsafe placement,
      generator: {
        let run = plan.runs[$0.rowCount]
        var shape = rowShape(columns: run.columns, channels: target.lanes, step: c.strideWidth)
        shape.inPlace = .init(
          missingFirst: run.missingFirst, missingLast: run.missingLast, tailCount: plan.tailCount,
          repeats: c.inputChannels == 1 && c.depthMultiplier > 1
            ? target.lanes : c.depthMultiplier,
          hasOneChannel: c.inputChannels == 1)
        return target.depthwiseRows?.generator(scheme.gatheredProduct, c.operands, epilogue, shape)
      })
    // If bytes are read in place, two blocks share one layout of factors.
    return EpilogueCode(
      epilogue, c.operands, target: target,
      blockCount: ceilingQuotient(plan.blockCount, plan.widensInPlace ? 2 : 1), lanes: plan.lanes,
      functions: functions, runFunctions: runFunctions)
  }

  /// The functions and factors that are exact for any sum.
  private func generalCode(_ epilogue: LoweredEpilogue) -> EpilogueCode {
    unsafe EpilogueCode.made(&general) { placement throws(Decline) in
      try unsafe Self.code(epilogue, plan, scheme, target, placement)
    }
  }

  deinit { unsafe taps.deallocate() }

  // MARK: Reading

  var implementation: String {
    let epilogue = target.epilogueText(convolution.operands, scheme.epilogue)
    return "generated depthwise products of \(scheme.product.text), \(plan.text), \(epilogue)"
  }

  /// Nothing of the plan that touches sums depends on how many images there are.
  var summation: String? { "\(target.name), depthwise, of \(scheme.product.text)" }

  func notes(_ packed: PackedWeights?) -> [String] { plan.notes + scheme.notes(packed) }

  // MARK: Packing

  var packing: WeightLayout {
    scheme.layout(
      "depthwise",
      [
        plan.tapCount, plan.channels, plan.pixelsTogether, plan.vectorCount,
        plan.groupsAreColumns ? convolution.filterHeight : 0,
      ])
  }

  var packedByteCount: Int { weightPacking.byteCount }

  func packedByteCount(for weights: RawSpan) -> Int { weightPacking.byteCount(for: weights) }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    weightPacking.pack(weights: weights, bias: bias, into: packed)
  }

  // MARK: Running

  func scratchByteCount(threads: Int) -> Int { scheme.sharedByteCount + threads * workerByteCount }

  func run(
    _ packed: PackedWeights, input: RawSpan, output: inout MutableRawSpan, scratch: inout MutableRawSpan,
    threads: ThreadTeam
  ) {
    precondition(
      input.byteCount >= convolution.inputCount * scheme.elementByteCount
        && output.byteCount >= convolution.outputCount * scheme.elementByteCount
        && scratch.byteCount >= scratchByteCount(threads: threads.count))
    if scheme.needsGeneral(packed), let epilogue = scheme.general {
      return run(generalCode(epilogue), packed, input, &output, &scratch, threads)
    }
    run(code, packed, input, &output, &scratch, threads)
  }

  private func run(
    _ code: EpilogueCode, _ packed: PackedWeights, _ input: RawSpan, _ output: inout MutableRawSpan,
    _ scratch: inout MutableRawSpan, _ threads: ThreadTeam
  ) {
    ExecutableMemory.seal()
    let threads = threads.fitting(nanoseconds: plan.nanoseconds)
    let tilesPerImage = plan.tilesPerImage(threads: threads.count)
    scheme.run(input, &output, &scratch, threads: threads) { memory in
      let work = unsafe Work(
        owner: .passUnretained(self), packed: .passUnretained(packed), code: .passUnretained(code),
        tilesPerImage: tilesPerImage, memory: memory)
      withExtendedLifetime(code) {
        threads.run(tiles: convolution.batches * tilesPerImage * plan.chunkCount, work)
      }
    }
  }

  /// The tiles of one run; its pointers are valid during that call only.
  @safe struct Work: TileWork {
    static var mayStop: Bool { true }

    let owner: Unmanaged<DepthwiseKernel>
    let packed: Unmanaged<PackedWeights>
    let code: Unmanaged<EpilogueCode>
    let tilesPerImage: Int
    let memory: ConvolutionScheme.Memory

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
    let (lineTile, chunk) = tile.quotientAndRemainder(dividingBy: plan.chunkCount)
    let (image, tileOfImage) = lineTile.quotientAndRemainder(dividingBy: work.tilesPerImage)
    let lines = share(of: convolution.outputHeight, tile: tileOfImage, of: work.tilesPerImage)
    let blocks = plan.blocks(chunk: chunk)
    guard plan.runs.isEmpty else {
      return unsafe runInPlace(
        work, packed, code, image: image, lines: lines, blocks: blocks, scratch: scratch)
    }
    if !plan.interior.isEmpty {
      return unsafe runInterior(
        work, packed, code, image: image, lines: lines, blocks: blocks, scratch: scratch)
    }
    unsafe gathering.gather(
      work.memory.input, image: image, lines: lines, firstChannel: chunk &* plan.chunkChannels,
      to: scratch)
    let list = unsafe (scratch + tapListOffset).assumingMemoryBound(to: Int.self)
    let elementByteCount = scheme.elementByteCount
    let outputPixelByteCount = plan.channels &* elementByteCount
    let outputStride = plan.pixelsTogether &* outputPixelByteCount
    let lineStride = convolution.strideHeight &* plan.rowByteCount

    let firstBlock = blocks.lowerBound
    for block in blocks {
      let record = WeightTerms.record(packed, block)
      var arguments = arguments(
        record, packed, code, block: block, rowStride: takesRows ? plan.pixelByteCount : plan.columnByteCount,
        outputStride: outputStride)
      arguments.taps = unsafe Int(bitPattern: taps)
      arguments.tapCount = takesRows && !takesLines ? convolution.filterHeight : plan.groupCount
      arguments.scales = unsafe Int(bitPattern: work.memory.scales + 4 &* image)
      if record.extraCount > 0 {
        unsafe listTaps(record, packed, taps, to: list)
        arguments.taps = Int(bitPattern: list)
        arguments.tapCount = plan.groupCount &+ record.extraCount
      }
      let valid = plan.validChannels(block: block, pixels: plan.pixelsTogether)
      let lastValid = plan.validChannels(block: block, pixels: plan.lastColumnPixels)
      // Columns with the maximum number of the block's channels; the last column may have fewer.
      let fullColumns = lastValid == valid ? plan.columnCount : plan.columnCount &- 1
      if takesLines {
        let pixel =
          (image &* convolution.outputHeight &+ lines.lowerBound) &* convolution.outputWidth
        arguments.rows = unsafe Int(
          bitPattern: scratch + (block &- firstBlock) &* plan.blockChannels &* plan.operandByteCount)
        arguments.output = unsafe Int(
          bitPattern: work.memory.output + pixel &* outputPixelByteCount + block &* plan.blockChannels
            &* elementByteCount)
        arguments.lineStride = lineStride
        arguments.outputLineStride = convolution.outputWidth &* outputPixelByteCount
        runLines(&arguments, code, lines.count, valid: valid, lastValid: lastValid)
        continue
      }
      for line in lines {
        let pixel = (image &* convolution.outputHeight &+ line) &* convolution.outputWidth
        let rows =
          unsafe scratch + (line &- lines.lowerBound) &* lineStride
          + (block &- firstBlock) &* plan.blockChannels &* plan.operandByteCount
        let output =
          unsafe work.memory.output + pixel &* outputPixelByteCount + block &* plan.blockChannels
          &* elementByteCount
        unsafe runColumns(
          &arguments, code, rows: rows, output: output, columns: fullColumns, valid: valid)
        if fullColumns < plan.columnCount, lastValid > 0 {
          unsafe runColumns(
            &arguments, code, rows: rows + fullColumns &* plan.columnByteCount,
            output: output + fullColumns &* outputStride, columns: 1, valid: lastValid)
        }
      }
    }
  }

  /// The arguments for a block of channels, without taps, rows and outputs.
  func arguments(
    _ record: WeightTerms.Record, _ packed: PackedWeights, _ code: EpilogueCode, block: Int,
    rowStride: Int, outputStride: Int
  ) -> ConvolutionArguments {
    unsafe ConvolutionArguments(
      rowStride: rowStride, weights: Int(bitPattern: packed.address + record.weights),
      offsets: Int(bitPattern: packed.address + weightPacking.offsets(block: block)),
      factors: code.factors(block), outputStride: outputStride)
  }

  /// Copies the tap list and appends the taps of extra groups.
  func listTaps(
    _ record: WeightTerms.Record, _ packed: PackedWeights, _ taps: UnsafePointer<Int>,
    to list: UnsafeMutablePointer<Int>
  ) {
    let count = plan.tapsPerGroup
    unsafe list.update(from: taps, count: plan.groupCount &* count)
    for extra in 0..<record.extraCount {
      let group = unsafe packed.address.load(fromByteOffset: record.extras &+ 8 &* extra, as: Int.self)
      unsafe (list + (plan.groupCount &+ extra) &* count).update(from: taps + group &* count, count: count)
    }
  }

  /// Computes neighboring columns of a line for a block with `valid` channels.
  private func runColumns(
    _ arguments: inout ConvolutionArguments, _ code: EpilogueCode, rows: UnsafeRawPointer,
    output: UnsafeMutableRawPointer, columns: Int, valid: Int
  ) {
    guard columns > 0 else { return }
    let most = blockColumns
    arguments.rows = Int(bitPattern: rows)
    arguments.output = Int(bitPattern: output)
    arguments.blocks = columns / most
    if columns >= most { code.functions.call(rows: most, columns: valid, &arguments) }
    let rest = plan.rest(columns, most: most)
    if rest > 0 {
      let done = columns &- rest
      arguments.rows &+= done &* plan.columnByteCount
      arguments.output &+= done &* arguments.outputStride
      arguments.blocks = 1
      code.functions.call(rows: rest, columns: valid, &arguments)
    }
  }
}

extension DepthwisePlan {
  /// The shapes of the functions that runs call; a row of a shape is a pixel.
  fileprivate func shapes(most: Int) -> [BlockShape] {
    guard runs.isEmpty else { return [] }
    var shapes: [BlockShape] = []
    shapes.reserveCapacity(16)
    func add(pixels: Int, channels: Int) {
      guard pixels > 0, channels > 0 else { return }
      shapes.append(BlockShape(rowCount: pixels, vectorCount: vectorCount, columnCount: channels))
    }
    func add(columns: Int, channels: Int) {
      if columns >= most { add(pixels: most, channels: channels) }
      let rest = rest(columns, most: most)
      if rest != most { add(pixels: rest, channels: channels) }
    }
    func add(channels: Int) {
      add(columns: columnCount, channels: channels)
      guard lastColumnPixels != pixelsTogether else { return }
      // The last column may need its own function.
      add(columns: columnCount - 1, channels: channels)
      add(columns: 1, channels: channels)
    }
    forEachChannelCount { add(channels: $0) }
    return shapes
  }

  /// How tiles are gathered.
  fileprivate func gathering(_ lanes: TileGathering.Lanes, width: Int) -> TileGathering {
    TileGathering(
      convolution, lanes, planeWidth: width, channels: chunkChannels, phases: phases,
      depthMultiplier: convolution.depthMultiplier)
  }
}
