// SPDX-License-Identifier: Apache-2.0

/// A depthwise convolution by generated products.
final class GeneratedDepthwise: PreparedConvolution, @unchecked Sendable {
  let scheme: GeneratedScheme
  let plan: GeneratedDepthwisePlan
  private let gathering: GeneratedGathering
  let weightPacking: GeneratedDepthwisePacking
  let factors: UnsafeMutableRawPointer
  let factorByteCount: Int
  /// The offsets of all taps, group by group; where columns are read in place, those of
  /// ``InteriorList``, too.
  let taps: UnsafeMutablePointer<Int>
  let tapListLength: Int
  /// Gathers the pixels of one column.
  let edgeGathering: GeneratedGathering
  /// A worker's memory: the gathered part of the input, then taps with room for extra groups, then sums.
  let tapListOffset: Int
  let sumsOffset: Int
  /// After them, a row of padding.
  let paddingRowOffset: Int
  private let workerByteCount: Int
  /// Columns that one function takes at most.
  private let blockColumns: Int
  /// Whether functions take a row of taps at a time, and whether whole lines.
  private let takesRows: Bool
  private let takesLines: Bool
  /// The functions that write finished outputs, and those that write sums, of which few weights have need; their rows are
  /// pixels.
  let outputs: GeneratedFunctions
  private var sums: GeneratedFunctions?
  private let target: any GeneratedTarget
  /// Functions for the runs of columns of an input that is read in place, by the runs' numbers.
  let runFunctions: GeneratedFunctions

  /// Prepares a convolution; throws where the target has no code for it, or none can be placed.
  ///
  /// `bytes` says how bytes are multiplied, of the products for unsigned ones.
  init(
    _ convolution: DepthwiseConvolution, target: any GeneratedTarget, bytes: GeneratedProduct,
    placement: CodePlacement = { $0.place() }
  ) throws(Decline) {
    let target = target.depthwiseTarget(convolution.operands)
    let scheme = try GeneratedScheme(
      convolution.operands, convolution.epilogue, batches: convolution.batches,
      inputCount: convolution.inputCount, outputChannels: convolution.outputChannels,
      outputsPerChannel: convolution.batches * convolution.outputHeight * convolution.outputWidth,
      depth: convolution.filterHeight * convolution.filterWidth,
      target: target, bytes: convolution.operands.isHybrid ? .words : bytes)
    let plan = try GeneratedDepthwisePlan(convolution, product: scheme.product, target: target)
    self.scheme = scheme
    self.plan = plan
    gathering = plan.gathering(scheme.lanes, width: plan.planeWidth)
    edgeGathering = plan.gathering(scheme.lanes, width: plan.reachWidth)
    weightPacking = GeneratedDepthwisePacking(
      plan: plan, terms: GeneratedWeights(scheme, target: target, areCentered: !plan.widensInPlace))

    let mostColumns = plan.mostColumns
    takesRows = mostColumns > 0
    let takesLines = plan.groupsAreColumns && plan.runs.isEmpty
    self.takesLines = takesLines
    blockColumns = plan.blocks(plan.columnCount).columns
    func rowShape(columns: Int, channels: Int, step: Int) -> GeneratedRowShape {
      GeneratedRowShape(
        columnCount: columns, channelCount: channels, columnStep: step, tapStep: convolution.dilationWidth,
        tapRows: convolution.filterHeight, tapColumns: convolution.filterWidth)
    }
    let shapes =
      takesLines ? plan.lineShapes : plan.shapes(most: blockColumns)
    outputs = try GeneratedFunctions(
      scheme.canFinish ? shapes : [], placement: placement,
      generator: {
        guard mostColumns > 0 else {
          return target.depthwiseGenerator(
            scheme.gatheredProduct, convolution.operands, scheme.epilogue, $0)
        }
        var shape = rowShape(columns: $0.rowCount, channels: $0.columnCount, step: plan.columnStep)
        if takesLines, let part = GeneratedDepthwisePlan.LinePart(rawValue: $0.rowCount) {
          (shape.columnCount, _, shape.restCount) = plan.blocks(plan.columns(part))
          shape.readsInPlace = part == .whole && !plan.interior.isEmpty
        }
        return target.rowGenerator(
          shape.readsInPlace ? scheme.product : scheme.gatheredProduct, convolution.operands,
          scheme.epilogue, shape)
      })
    runFunctions = try GeneratedFunctions(
      plan.runs.indices.map { GeneratedShape(rowCount: $0, vectorCount: 1, columnCount: 0) },
      placement: placement,
      generator: {
        let run = plan.runs[$0.rowCount]
        var shape = rowShape(
          columns: run.columns, channels: target.lanes, step: convolution.strideWidth)
        shape.place = .init(
          missingFirst: run.missingFirst, missingLast: run.missingLast, tailCount: plan.tailCount)
        return target.rowGenerator(scheme.gatheredProduct, convolution.operands, scheme.epilogue, shape)
      })
    self.target = target

    let tapCount = plan.groupCount * plan.tapsPerGroup
    tapListOffset = plan.planeByteCount
    sumsOffset = tapListOffset + roundedUp(tapCount * 3 * 8, to: 64)
    paddingRowOffset = roundedUp(
      sumsOffset + scheme.sumByteCount(GeneratedDepthwisePlan.mostPixels * plan.blockChannels), to: 64)
    workerByteCount = paddingRowOffset + plan.paddingRowByteCount
    tapListLength = tapCount
    unsafe taps = .allocate(
      capacity: (plan.interior.isEmpty ? 1 : 1 + InteriorList.allCases.count) * tapCount)
    for tap in 0..<tapCount {
      let (group, index) = tap.quotientAndRemainder(dividingBy: plan.tapsPerGroup)
      unsafe taps[tap] = plan.tapOffset(group: group, index: index)
    }
    factorByteCount = target.factorByteCount
    // Where bytes are read in place, two blocks share factors.
    let factorBlockCount = ceilingQuotient(plan.blockCount, plan.widensInPlace ? 2 : 1)
    unsafe factors = .allocate(byteCount: factorBlockCount * factorByteCount, alignment: 64)
    unsafe target.fillFactors(
      factors, convolution.operands, scheme.epilogue, blockCount: factorBlockCount, lanes: plan.lanes)
    if !plan.interior.isEmpty { fillInteriorTaps() }
    if scheme.needsSumsAtOnce { sums = try sumFunctions(placement) }
  }

  var convolution: DepthwiseConvolution { plan.convolution }

  /// The functions that write sums.
  private func sumFunctions(_ placement: CodePlacement) throws(Decline) -> GeneratedFunctions {
    let shapes = plan.shapes(most: GeneratedDepthwisePlan.mostPixels)
    return try GeneratedFunctions(
      shapes.map { $0.ofSums(lanes: target.lanes) }, placement: placement,
      generator: { target.depthwiseGenerator(scheme.gatheredProduct, convolution.operands, nil, $0) })
  }

  deinit {
    unsafe taps.deallocate()
    unsafe factors.deallocate()
  }

  // MARK: Reading

  var implementation: String {
    let form =
      scheme.canFinish ? target.form(convolution.operands, scheme.epilogue) : convolution.epilogue.name
    return "generated depthwise products of \(scheme.product.text), \(plan.text), \(form)"
  }

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
    if !scheme.makesOutputs(packed) { GeneratedFunctions.make(&sums, sumFunctions) }
    ExecutableMemory.seal()
    let threads = plan.isSmall ? threads.alone : threads.fitting(nanoseconds: plan.nanoseconds)
    let tilesPerImage = plan.tilesPerImage(threads: threads.count)
    scheme.run(input, &output, &scratch, threads: threads) { memory in
      let work = Work(
        owner: .passUnretained(self), packed: .passUnretained(packed), tilesPerImage: tilesPerImage,
        memory: memory)
      threads.run(tiles: convolution.batches * tilesPerImage * plan.chunkCount, work)
    }
  }

  /// One run: pointers that live as long as its call.
  struct Work: TileWork {
    static var mayStop: Bool { true }

    let owner: Unmanaged<GeneratedDepthwise>
    let packed: Unmanaged<PackedWeights>
    let tilesPerImage: Int
    let memory: GeneratedScheme.Memory

    func run(tile: Int, worker: Int) {
      unsafe owner._withUnsafeGuaranteedRef { owner in
        unsafe packed._withUnsafeGuaranteedRef { packed in
          unsafe owner.run(
            self, packed, tile: tile, scratch: memory.scratch + worker &* owner.workerByteCount)
        }
      }
    }
  }

  private func run(_ work: Work, _ packed: PackedWeights, tile: Int, scratch: UnsafeMutableRawPointer) {
    let (lineTile, chunk) = tile.quotientAndRemainder(dividingBy: plan.chunkCount)
    let (image, tileOfImage) = lineTile.quotientAndRemainder(dividingBy: work.tilesPerImage)
    let lines = share(of: convolution.outputHeight, tile: tileOfImage, of: work.tilesPerImage)
    let blocks = plan.blocks(chunk: chunk)
    guard plan.runs.isEmpty else {
      return unsafe runInPlace(work, packed, image: image, lines: lines, blocks: blocks, scratch: scratch)
    }
    if !plan.interior.isEmpty, scheme.makesOutputs(packed) {
      return unsafe runInterior(work, packed, image: image, lines: lines, blocks: blocks, scratch: scratch)
    }
    unsafe gathering.gather(
      work.memory.input, image: image, lines: lines, firstChannel: chunk &* plan.chunkChannels,
      to: scratch)
    let list = unsafe (scratch + tapListOffset).assumingMemoryBound(to: Int.self)
    let memory = unsafe scratch + sumsOffset
    let makesOutputs = scheme.makesOutputs(packed)
    let elementByteCount = scheme.elementByteCount
    let outputPixelByteCount = plan.channels &* elementByteCount
    let outputStride = plan.pixelsTogether &* outputPixelByteCount
    let lineStride = convolution.strideHeight &* plan.rowByteCount

    let firstBlock = blocks.lowerBound
    for block in blocks {
      let record = GeneratedWeights.record(packed, block)
      var arguments = arguments(
        record, packed, block: block, rowStride: takesRows ? plan.pixelByteCount : plan.columnByteCount,
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
      // Columns that have all channels of the block that any has; the last may have fewer.
      let fullColumns = lastValid == valid ? plan.columnCount : plan.columnCount &- 1
      if takesLines, makesOutputs {
        let pixel =
          (image &* convolution.outputHeight &+ lines.lowerBound) &* convolution.outputWidth
        arguments.rows = unsafe Int(
          bitPattern: scratch + (block &- firstBlock) &* plan.blockChannels &* plan.laneByteCount)
        arguments.output = unsafe Int(
          bitPattern: work.memory.output + pixel &* outputPixelByteCount + block &* plan.blockChannels
            &* elementByteCount)
        arguments.lineStride = lineStride
        arguments.outputLineStride = convolution.outputWidth &* outputPixelByteCount
        runLines(&arguments, lines.count, valid: valid, lastValid: lastValid)
        continue
      }
      for line in lines {
        let pixel = (image &* convolution.outputHeight &+ line) &* convolution.outputWidth
        let rows =
          unsafe scratch + (line &- lines.lowerBound) &* lineStride
          + (block &- firstBlock) &* plan.blockChannels &* plan.laneByteCount
        let output =
          unsafe work.memory.output + pixel &* outputPixelByteCount + block &* plan.blockChannels
          &* elementByteCount
        unsafe runColumns(
          &arguments, rows: rows, output: output, columns: fullColumns, valid: valid, block: block,
          memory: memory,
          makesOutputs: makesOutputs)
        if fullColumns < plan.columnCount, lastValid > 0 {
          unsafe runColumns(
            &arguments, rows: rows + fullColumns &* plan.columnByteCount,
            output: output + fullColumns &* outputStride, columns: 1, valid: lastValid, block: block,
            memory: memory, makesOutputs: makesOutputs)
        }
      }
    }
  }

  /// What all functions of a block of channels are told; taps, rows and outputs are still to be said.
  func arguments(
    _ record: GeneratedWeights.Record, _ packed: PackedWeights, block: Int, rowStride: Int, outputStride: Int
  ) -> GeneratedArguments {
    unsafe GeneratedArguments(
      rowStride: rowStride, weights: Int(bitPattern: packed.address + record.weights),
      offsets: Int(bitPattern: packed.address + weightPacking.offsets(block: block)),
      factors: Int(bitPattern: factors + block &* factorByteCount), outputStride: outputStride)
  }

  /// Copies the offsets of all taps, and after them those of extra groups.
  func listTaps(
    _ record: GeneratedWeights.Record, _ packed: PackedWeights, _ taps: UnsafePointer<Int>,
    to list: UnsafeMutablePointer<Int>
  ) {
    let count = plan.tapsPerGroup
    unsafe list.update(from: taps, count: plan.groupCount &* count)
    for extra in 0..<record.extraCount {
      let group = unsafe packed.address.load(fromByteOffset: record.extras &+ 8 &* extra, as: Int.self)
      unsafe (list + (plan.groupCount &+ extra) &* count).update(from: taps + group &* count, count: count)
    }
  }

  /// Runs a block of channels, of which `valid` exist, over neighboring columns of a line.
  private func runColumns(
    _ arguments: inout GeneratedArguments, rows: UnsafeRawPointer, output: UnsafeMutableRawPointer,
    columns: Int,
    valid: Int,
    block: Int, memory: UnsafeMutableRawPointer, makesOutputs: Bool
  ) {
    guard columns > 0 else { return }
    if makesOutputs {
      let most = blockColumns
      arguments.rows = Int(bitPattern: rows)
      arguments.output = Int(bitPattern: output)
      arguments.blocks = columns / most
      if columns >= most { outputs.call(rows: most, columns: valid, &arguments) }
      let rest = plan.rest(columns, most: most)
      if rest > 0 {
        let done = columns &- rest
        arguments.rows &+= done &* plan.columnByteCount
        arguments.output &+= done &* arguments.outputStride
        arguments.blocks = 1
        outputs.call(rows: rest, columns: valid, &arguments)
      }
      return
    }
    // By way of memory: sums that the generated code cannot finish.
    let most = GeneratedDepthwisePlan.mostPixels
    let outputStride = arguments.outputStride
    arguments.rowStride = plan.columnByteCount
    var column = 0
    while column < columns {
      let isRest = columns &- column < most
      let count = isRest ? plan.rest(columns, most: most) : most
      if isRest { column = columns &- count }
      arguments.rows = Int(bitPattern: rows + column &* arguments.rowStride)
      arguments.output = Int(bitPattern: memory)
      arguments.outputStride = plan.blockChannels &* 4
      arguments.blocks = 1
      sums?.call(rows: count, columns: plan.blockChannels, &arguments)
      unsafe scheme.finish(
        memory, rows: count, columns: plan.columns, offsets: arguments.offsets,
        channel: block &* plan.blockChannels, channels: plan.channels, count: valid,
        to: output + column &* outputStride, outputStride: outputStride)
      arguments.outputStride = outputStride
      column &+= count
    }
  }
}

extension GeneratedDepthwisePlan {
  /// The shapes of functions that runs will ask for; their rows are pixels.
  fileprivate func shapes(most: Int) -> [GeneratedShape] {
    guard runs.isEmpty else { return [] }
    var shapes: [GeneratedShape] = []
    shapes.reserveCapacity(16)
    func add(pixels: Int, channels: Int) {
      guard pixels > 0, channels > 0 else { return }
      shapes.append(GeneratedShape(rowCount: pixels, vectorCount: vectorCount, columnCount: channels))
    }
    func add(columns: Int, channels: Int) {
      if columns >= most { add(pixels: most, channels: channels) }
      let rest = rest(columns, most: most)
      if rest != most { add(pixels: rest, channels: channels) }
    }
    func add(channels: Int) {
      add(columns: columnCount, channels: channels)
      guard lastColumnPixels != pixelsTogether else { return }
      // The last column may be one of its own.
      add(columns: columnCount - 1, channels: channels)
      add(columns: 1, channels: channels)
    }
    forEachChannelCount { add(channels: $0) }
    return shapes
  }

  /// How tiles are gathered.
  fileprivate func gathering(_ lanes: GeneratedGathering.Lanes, width: Int) -> GeneratedGathering {
    GeneratedGathering(
      lanes: lanes, inputHeight: convolution.inputHeight, inputWidth: convolution.inputWidth,
      inputChannels: convolution.inputChannels, paddingTop: convolution.paddingTop,
      paddingLeft: convolution.paddingLeft, strideHeight: convolution.strideHeight,
      reachHeight: (convolution.filterHeight - 1) * convolution.dilationHeight + 1, isDense: false,
      planeWidth: width, channels: chunkChannels, phases: phases, phaseWidth: ceilingQuotient(width, phases),
      depthMultiplier: convolution.depthMultiplier)
  }
}
