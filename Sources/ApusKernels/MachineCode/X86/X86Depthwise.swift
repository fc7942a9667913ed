/// A depthwise convolution by generated products.
final class X86Depthwise: PreparedConvolution, @unchecked Sendable {
  let convolution: DepthwiseConvolution
  let plan: X86DepthwisePlan
  let operands: ByteOperands?
  let weightPacking: X86DepthwisePacking
  private let quantized: QuantizedEpilogue?
  /// What makes words of floats.
  private let quantization: HybridQuantization?
  /// What makes words of bytes.
  let widening: WideningCode?
  private let layout: X86FactorLayout
  let factors: UnsafeMutableRawPointer
  /// The offsets of all taps, group by group.
  let taps: UnsafeMutablePointer<Int>
  /// Columns that one function takes at most.
  private let blockColumns: Int
  /// Whether functions take a row of taps at a time.
  private let takesRows: Bool
  /// Functions by their columns: finished outputs, for each count of channels that is written, and sums.
  private let outputs: [[UnsafeRawPointer?]]
  private let sums: [UnsafeRawPointer?]
  /// Functions for the runs of columns of an input that is read in place.
  let runFunctions: [UnsafeRawPointer]
  private let hasPlainFactors: Bool
  private let needsBoundedSums: Bool

  private typealias Function = @convention(c) (UnsafeMutableRawPointer) -> Void
  typealias Arguments = X86ProductGenerator.Arguments

  init?(_ convolution: DepthwiseConvolution, target: X86Target, bytes product: X86ProductGenerator.Product) {
    // Words are multiplied 256 bits at a time everywhere.
    let target = convolution.operands.isHybrid ? .avx2 : target
    guard
      let product = X86ProductGenerator.Product(convolution.operands, convolution.epilogue, bytes: product),
      convolution.epilogue.fits(convolution.operands, channels: convolution.outputChannels),
      let plan = X86DepthwisePlan(convolution, target: target, product: product)
    else { return nil }
    self.convolution = convolution
    self.plan = plan
    operands = convolution.operands.generatedBytes
    quantization = HybridQuantization(
      convolution.operands, batches: convolution.batches, inputCount: convolution.inputCount, code: .x86)
    widening =
      product == .words && !convolution.operands.isHybrid
      ? operands.flatMap { .x86(isSigned: $0.signFlip != 0) } : nil
    weightPacking = X86DepthwisePacking(plan: plan, operands: operands)
    quantized = QuantizedEpilogue(convolution.epilogue, channels: convolution.outputChannels)
    layout = X86FactorLayout(target)
    hasPlainFactors = convolution.epilogue.isPlain

    let kind = X86EpilogueGenerator.Kind(convolution.operands, convolution.epilogue, isPerRow: false)
    needsBoundedSums = kind.needsBoundedSums
    let step = product == .floats ? plan.columnStep ?? 0 : 0
    let mostColumns =
      step == 0
      ? 0
      : X86DepthwiseRowGenerator.mostColumns(
        columnStep: step, tapStep: convolution.dilationWidth, tapColumns: convolution.filterWidth)
    takesRows = mostColumns > 0
    // Blocks as equal as can be.
    let most =
      mostColumns > 0
      ? ceilingQuotient(plan.columnCount, ceilingQuotient(plan.columnCount, mostColumns))
      : X86DepthwiseGenerator.maximumPixels
    blockColumns = most
    func rowFunctions(channels: Int) -> [UnsafeRawPointer?]? {
      var functions: [UnsafeRawPointer?] = Array(repeating: nil, count: most + 1)
      let counts = [most, plan.columnCount % most, (plan.columnCount - 1) % most, 1]
      for columns in counts where columns > 0 && functions[columns] == nil {
        let generator = X86DepthwiseRowGenerator(
          target: target, epilogue: kind, columnCount: columns, channelCount: channels, columnStep: step,
          tapStep: convolution.dilationWidth,
          tapColumns: convolution.filterWidth)
        guard let function = GeneratedCode.function(for: generator, generate: generator.generate) else {
          return nil
        }
        functions[columns] = function
      }
      return functions
    }
    var runFunctions: [UnsafeRawPointer] = []
    for run in plan.runs {
      var generator = X86DepthwiseRowGenerator(
        target: target, epilogue: kind, columnCount: run.columns, channelCount: target.lanes,
        columnStep: convolution.strideWidth, tapStep: convolution.dilationWidth,
        tapColumns: convolution.filterWidth)
      generator.place = .init(
        tapRows: convolution.filterHeight, missingFirst: run.missingFirst, missingLast: run.missingLast)
      guard let function = GeneratedCode.function(for: generator, generate: generator.generate) else {
        return nil
      }
      unsafe runFunctions.append(function)
    }
    self.runFunctions = runFunctions
    func functions(_ kind: X86EpilogueGenerator.Kind, channels: Int) -> [UnsafeRawPointer?]? {
      if mostColumns > 0 { return rowFunctions(channels: channels) }
      var functions: [UnsafeRawPointer?] = [nil]
      for pixels in 1...X86DepthwiseGenerator.maximumPixels {
        let generator = X86DepthwiseGenerator(
          target: target, product: product, epilogue: kind, pixelCount: pixels, channelCount: channels)
        guard let function = GeneratedCode.function(for: generator, generate: generator.generate) else {
          return nil
        }
        functions.append(function)
      }
      return functions
    }
    var outputs: [[UnsafeRawPointer?]] = Array(repeating: [], count: plan.blockChannels + 1)
    if hasPlainFactors, plan.runs.isEmpty {
      for block in 0..<plan.blockCount {
        for pixels in [plan.pixelsTogether, plan.lastColumnPixels] {
          let channels = plan.validChannels(block: block, pixels: pixels)
          guard channels > 0, outputs[channels].isEmpty else { continue }
          guard let made = functions(kind, channels: channels) else { return nil }
          outputs[channels] = made
        }
      }
    }
    self.outputs = outputs
    if hasPlainFactors, !needsBoundedSums {
      sums = []
    } else {
      guard let made = functions(.sums, channels: plan.blockChannels) else { return nil }
      sums = made
    }

    let tapCount = plan.groupCount * plan.tapsPerGroup
    unsafe taps = .allocate(capacity: tapCount)
    for tap in 0..<tapCount { unsafe taps[tap] = plan.tapOffset(tap) }
    unsafe factors = .allocate(byteCount: plan.blockCount * layout.byteCount, alignment: 64)
    for block in 0..<plan.blockCount {
      unsafe layout.fill(
        factors + block * layout.byteCount, epilogue: convolution.epilogue, kind: kind, target: target,
        vectorCount: plan.vectorCount
      ) { column in
        let index = block * plan.blockChannels + column
        return index < plan.channels * plan.pixelsTogether ? index % plan.channels : nil
      }
    }
  }

  deinit {
    unsafe taps.deallocate()
    unsafe factors.deallocate()
  }

  var packing: String {
    "x86 depthwise \(plan.target.rawValue) \(plan.product.rawValue) zero \(operands?.lhsZeroPoint ?? 0) \(operands?.rhsZeroPoint ?? 0) "
      + "taps \(plan.tapCount) channels \(plan.channels)×\(plan.pixelsTogether) by \(plan.vectorCount)"
      + (convolution.operands.isHybrid ? " hybrid" : "")
  }

  var packedByteCount: Int { weightPacking.byteCount }

  func packedByteCount(for weights: RawSpan) -> Int { weightPacking.byteCount(for: weights) }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    weightPacking.pack(weights: weights, bias: bias, into: packed)
  }

  // MARK: Running

  private var tapListByteCount: Int { roundedUp(plan.groupCount * 3 * plan.tapsPerGroup * 8, to: 64) }
  private var blockByteCount: Int { 2 * X86DepthwiseGenerator.maximumPixels * plan.blockChannels * 4 + 64 }
  private var workerByteCount: Int { plan.planeByteCount + tapListByteCount + blockByteCount }

  private var quantizedByteCount: Int { quantization?.byteCount ?? 0 }

  func scratchByteCount(threads: Int) -> Int { 64 + quantizedByteCount + threads * workerByteCount }

  func run(
    _ packed: PackedWeights, input: RawSpan, output: inout MutableRawSpan, scratch: inout MutableRawSpan,
    threads: ThreadTeam
  ) {
    let elementByteCount = convolution.operands.generatedByteCount
    let inputCount =
      convolution.batches * convolution.inputHeight * convolution.inputWidth * convolution.inputChannels
    let outputCount =
      convolution.batches * convolution.outputHeight * convolution.outputWidth * convolution.outputChannels
    precondition(
      input.byteCount >= inputCount * elementByteCount && output.byteCount >= outputCount * elementByteCount
        && scratch.byteCount >= scratchByteCount(threads: threads.count))
    unsafe input.withUnsafeBytes { input in
      unsafe output.withUnsafeMutableBytes { output in
        unsafe scratch.withUnsafeMutableBytes { scratch in
          guard let input = input.baseAddress, let output = output.baseAddress,
            let scratch = scratch.baseAddress
          else { return }
          let tilesPerImage = plan.tilesPerImage(threads: threads.count)
          let shared = unsafe scratch.alignedUp(toMultipleOf: 64)
          let rows = unsafe quantization?.run(input, to: shared, threads: threads) ?? input
          let work = unsafe Work(
            owner: .passUnretained(self), packed: .passUnretained(packed), tilesPerImage: tilesPerImage,
            input: rows, scales: UnsafeRawPointer(shared), output: output,
            scratch: shared + quantizedByteCount)
          threads.run(tiles: convolution.batches * tilesPerImage * plan.chunkCount, work)
        }
      }
    }
  }

  /// One run: pointers that live as long as its call.
  struct Work: TileWork {
    let owner: Unmanaged<X86Depthwise>
    let packed: Unmanaged<PackedWeights>
    let tilesPerImage: Int
    let input: UnsafeRawPointer
    /// The scales of quantized images.
    let scales: UnsafeRawPointer
    let output: UnsafeMutableRawPointer
    let scratch: UnsafeMutableRawPointer

    func run(tile: Int, worker: Int) {
      unsafe owner._withUnsafeGuaranteedRef { owner in
        unsafe packed._withUnsafeGuaranteedRef { packed in
          unsafe owner.run(self, packed, tile: tile, scratch: scratch + worker &* owner.workerByteCount)
        }
      }
    }
  }

  private func run(_ work: Work, _ packed: PackedWeights, tile: Int, scratch: UnsafeMutableRawPointer) {
    let chunk = tile % plan.chunkCount
    let lineTile = tile / plan.chunkCount
    let image = lineTile / work.tilesPerImage
    let lines = share(
      of: convolution.outputHeight, tile: lineTile % work.tilesPerImage, of: work.tilesPerImage)
    let (first, end) = (lines.lowerBound, lines.upperBound)
    guard plan.runs.isEmpty else {
      return runInPlace(work, packed, image: image, lines: lines)
    }
    unsafe gather(work.input, image: image, chunk: chunk, first: first, end: end, to: scratch)
    let list = unsafe (scratch + plan.planeByteCount).assumingMemoryBound(to: Int.self)
    let memory = unsafe UnsafeMutableRawPointer(list) + tapListByteCount
    let makesOutputs = hasPlainFactors && (!needsBoundedSums || X86DepthwisePacking.isBounded(packed))
    let elementByteCount = convolution.operands.generatedByteCount
    let outputPixelByteCount = plan.channels &* elementByteCount
    let outputStride = plan.pixelsTogether &* outputPixelByteCount
    let lineStride = convolution.strideHeight &* plan.rowByteCount

    let firstBlock = chunk &* plan.chunkBlocks
    for block in firstBlock..<min(firstBlock &+ plan.chunkBlocks, plan.blockCount) {
      let record = weightPacking.record(packed, block: block)
      var arguments = unsafe Arguments(
        rows: 0, rowStride: takesRows ? plan.pixelByteCount : plan.columnByteCount,
        taps: Int(bitPattern: taps),
        tapCount: takesRows ? convolution.filterHeight : plan.groupCount,
        weights: Int(bitPattern: packed.address + record.weights),
        offsets: Int(bitPattern: packed.address + weightPacking.offsets(block: block)),
        factors: Int(bitPattern: factors + block &* layout.byteCount), output: 0, outputStride: outputStride,
        blocks: 0, scales: Int(bitPattern: work.scales + 4 &* image))
      if record.extraCount > 0 {
        unsafe listTaps(record, packed, to: list)
        arguments.taps = Int(bitPattern: list)
        arguments.tapCount = plan.groupCount &+ record.extraCount
      }
      let valid = plan.validChannels(block: block, pixels: plan.pixelsTogether)
      let lastValid = plan.validChannels(block: block, pixels: plan.lastColumnPixels)
      // Columns that have all channels of the block that any has; the last may have fewer.
      let fullColumns = lastValid == valid ? plan.columnCount : plan.columnCount &- 1
      for line in first..<end {
        let pixel = (image &* convolution.outputHeight &+ line) &* convolution.outputWidth
        let rows =
          unsafe scratch + (line &- first) &* lineStride
          + (block &- firstBlock) &* plan.blockChannels &* plan.laneByteCount
        let output =
          unsafe work.output + pixel &* outputPixelByteCount + block &* plan.blockChannels &* elementByteCount
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

  private func listTaps(
    _ record: X86DepthwisePacking.Record, _ packed: PackedWeights, to list: UnsafeMutablePointer<Int>
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
    _ arguments: inout Arguments, rows: UnsafeRawPointer, output: UnsafeMutableRawPointer, columns: Int,
    valid: Int,
    block: Int, memory: UnsafeMutableRawPointer, makesOutputs: Bool
  ) {
    guard columns > 0 else { return }
    if makesOutputs {
      let most = blockColumns
      arguments.rows = Int(bitPattern: rows)
      arguments.output = Int(bitPattern: output)
      arguments.blocks = columns / most
      if columns >= most { call(outputs[valid][most], &arguments) }
      let rest = columns % most
      if rest > 0 {
        let done = columns &- rest
        arguments.rows &+= done &* plan.columnByteCount
        arguments.output &+= done &* arguments.outputStride
        arguments.blocks = 1
        call(outputs[valid][rest], &arguments)
      }
      return
    }
    // By way of memory: sums that the generated code cannot finish.
    let most = X86DepthwiseGenerator.maximumPixels
    let outputStride = arguments.outputStride
    var column = 0
    while column < columns {
      let count = min(most, columns &- column)
      arguments.rows = Int(bitPattern: rows + column &* arguments.rowStride)
      arguments.output = Int(bitPattern: memory)
      arguments.outputStride = plan.blockChannels &* 4
      arguments.blocks = 1
      call(sums[count], &arguments)
      unsafe finish(
        memory, count: count, offsets: arguments.offsets, valid: valid, block: block,
        to: output + column &* outputStride, outputStride: outputStride)
      arguments.outputStride = outputStride
      column &+= count
    }
  }

  func call(_ address: UnsafeRawPointer?, _ arguments: inout Arguments) {
    guard let address else { return }
    let function = unsafe unsafeBitCast(address, to: Function.self)
    unsafe withUnsafeMutablePointer(to: &arguments) { unsafe function(UnsafeMutableRawPointer($0)) }
  }

  /// Makes outputs of sums in plain Swift.
  private func finish(
    _ memory: UnsafeMutableRawPointer, count: Int, offsets: Int, valid: Int, block: Int,
    to output: UnsafeMutableRawPointer, outputStride: Int
  ) {
    guard let quantized, let offsets = UnsafePointer<Int32>(bitPattern: offsets) else { return }
    let unordered = unsafe memory.assumingMemoryBound(to: Int32.self)
    let ordered = unsafe unordered + X86DepthwiseGenerator.maximumPixels &* plan.blockChannels
    let zeros = unsafe ordered + X86DepthwiseGenerator.maximumPixels &* plan.blockChannels
    unsafe zeros.update(repeating: 0, count: 8)
    let vectors = X86DepthwiseGenerator.vectorCount(plan.target)
    for vector in 0..<vectors {
      for lane in 0..<plan.target.lanes {
        let column = X86ProductGenerator.column(
          plan.target, isBytes: true, vectorCount: vectors, vector: vector, lane: lane)
        let place = vector &* plan.target.lanes &+ lane
        for pixel in 0..<count {
          let base = pixel &* plan.blockChannels
          unsafe ordered[base &+ column] = unordered[base &+ place] &+ offsets[place]
        }
      }
    }
    var index = 0
    while index < valid {
      let channel = (block &* plan.blockChannels &+ index) % plan.channels
      let width = min(8, valid &- index, plan.channels &- channel)
      unsafe quantized.store(
        ordered + index, sumStride: plan.blockChannels, rows: count, bias: zeros, channel: channel,
        count: width,
        to: (output + index).assumingMemoryBound(to: UInt8.self), outputStride: outputStride)
      index &+= width
    }
  }
}
