/// A convolution by generated products: rows in place or gathered, outputs written by the same code that sums.
final class X86Convolution: PreparedConvolution, @unchecked Sendable {
  let convolution: Convolution
  let plan: X86ConvolutionPlan
  private let weightPacking: X86WeightPacking
  let operands: ByteOperands?
  private let quantized: QuantizedEpilogue?
  /// What makes words of floats.
  private let quantization: HybridQuantization?
  /// What makes words of bytes.
  let widening: WideningCode?
  private let layout: X86FactorLayout
  /// A block of factors for each group and panel.
  private let factors: UnsafeMutableRawPointer
  /// An offset and a count of steps for each tap.
  private let taps: UnsafeMutablePointer<Int>
  /// The functions for full and partial panels of each vector count, by rows: finished outputs, then sums.
  private let outputs: [UnsafeRawPointer?]
  private let sums: [UnsafeRawPointer?]
  /// Whether factors allow outputs to be made by the generated code.
  private let hasPlainFactors: Bool
  /// Whether it depends on the weights whether it does.
  private let needsBoundedSums: Bool
  /// Whether neighboring panels are one call.
  private let movesAlongPanels: Bool

  private typealias Function = @convention(c) (UnsafeMutableRawPointer) -> Void
  private typealias Arguments = X86ProductGenerator.Arguments

  init?(_ convolution: Convolution, target: X86Target, bytes product: X86ProductGenerator.Product) {
    guard
      let product = X86ProductGenerator.Product(convolution.operands, convolution.epilogue, bytes: product),
      convolution.epilogue.fits(convolution.operands, channels: convolution.outputChannels),
      let plan = X86ConvolutionPlan(convolution, target: target, product: product)
    else { return nil }
    self.convolution = convolution
    self.plan = plan
    operands = convolution.operands.generatedBytes
    quantization = HybridQuantization(
      convolution.operands, batches: convolution.batches, inputCount: convolution.inputCount, code: .x86)
    widening =
      product == .words && !convolution.operands.isHybrid
      ? operands.flatMap { .x86(isSigned: $0.signFlip != 0) } : nil
    weightPacking = X86WeightPacking(plan: plan, operands: operands)
    quantized = QuantizedEpilogue(convolution.epilogue, channels: convolution.outputChannels)
    layout = X86FactorLayout(target)
    // A list of all steps stays small beside the first-level cache's weights, or another kernel is better.
    guard !weightPacking.mayHaveExtras || plan.stepCount <= 8192 else { return nil }
    let isPlain = convolution.epilogue.isPlain
    hasPlainFactors = isPlain

    let kind = X86EpilogueGenerator.Kind(
      convolution.operands, convolution.epilogue, isPerRow: plan.isDense && convolution.batches > 1)
    needsBoundedSums = kind.needsBoundedSums
    movesAlongPanels = plan.isOneBlock && !weightPacking.mayHaveExtras
    let needsSums = !isPlain || needsBoundedSums
    var outputs: [UnsafeRawPointer?] = Array(
      repeating: nil, count: Self.key(rows: 16, vectorCount: 0, isPartial: false))
    var sums = outputs
    // All panels but the last are alike.
    for panel in Set([plan.panels.startIndex, plan.panels.endIndex - 1]).compactMap({ plan.panel($0) }) {
      for rows in plan.neededRowCounts(vectorCount: panel.vectorCount) {
        for (isSums, isWanted) in [(false, isPlain), (true, needsSums)] where isWanted {
          let key = Self.key(
            rows: rows, vectorCount: panel.vectorCount,
            isPartial: !isSums && panel.columnCount < panel.paddedCount)
          guard (isSums ? sums : outputs)[key] == nil else { continue }
          var generator = X86ProductGenerator(
            target: target, product: product, epilogue: isSums ? .sums : kind, rowCount: rows,
            vectorCount: panel.vectorCount, columnCount: isSums ? panel.paddedCount : panel.columnCount)
          generator.hasNarrowWeights = plan.hasNarrowWeights
          generator.sumSets = plan.sumSets
          generator.movesAlongPanels = movesAlongPanels && !isSums
          guard let function = GeneratedCode.function(for: generator, generate: generator.generate) else {
            return nil
          }
          if isSums { sums[key] = function } else { outputs[key] = function }
        }
      }
    }
    self.outputs = outputs
    self.sums = sums

    unsafe taps = .allocate(capacity: 2 * plan.tapCount)
    for tap in 0..<plan.tapCount {
      unsafe taps[2 * tap] = plan.tapOffset(tap)
      unsafe taps[2 * tap + 1] = plan.stepsPerTap
    }
    unsafe factors = .allocate(
      byteCount: convolution.groups * plan.panels.count * layout.byteCount, alignment: 64)
    for group in 0..<convolution.groups {
      for (index, panel) in plan.panels.enumerated() {
        let first = group * convolution.columnCount + panel.firstColumn
        unsafe layout.fill(
          factors + (group * plan.panels.count + index) * layout.byteCount, epilogue: convolution.epilogue,
          kind: kind, target: target, vectorCount: panel.vectorCount
        ) { $0 < panel.columnCount ? first + $0 : nil }
      }
    }
  }

  deinit {
    unsafe taps.deallocate()
    unsafe factors.deallocate()
  }

  private static func key(rows: Int, vectorCount: Int, isPartial: Bool) -> Int {
    (rows &* 8 &+ vectorCount) &* 2 &+ (isPartial ? 1 : 0)
  }

  // MARK: Packing

  var packing: String {
    "x86 \(plan.target.rawValue) \(plan.product.rawValue) zero \(operands?.lhsZeroPoint ?? 0) \(operands?.rhsZeroPoint ?? 0) "
      + "taps \(plan.tapRows)×\(plan.tapColumns)×\(plan.lanesPerTap) columns \(convolution.columnCount) "
      + "groups \(convolution.groups)\(plan.hasNarrowWeights ? " narrow" : "")"
      + (convolution.operands.isHybrid ? " hybrid" : "")
  }

  var packedByteCount: Int { weightPacking.byteCount }

  func packedByteCount(for weights: RawSpan) -> Int { weightPacking.byteCount(for: weights) }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    weightPacking.pack(weights: weights, bias: bias, into: packed)
  }

  // MARK: Running

  /// Taps with room for all extra steps, in bytes.
  private var tapListByteCount: Int {
    roundedUp((plan.tapCount + (weightPacking.mayHaveExtras ? 2 * plan.stepCount : 0)) * 16, to: 64)
  }
  /// Sums or outputs of one block of rows, and sums in order.
  private var blockByteCount: Int { 2 * 14 * 64 * 4 + 64 }
  private var workerByteCount: Int {
    roundedUp(plan.planeByteCount, to: 64) + tapListByteCount + blockByteCount
  }

  /// Quantized floats, with room to read a little beyond, after the scales of their images.
  private var quantizedByteCount: Int { quantization?.byteCount ?? 0 }

  func scratchByteCount(threads: Int) -> Int { 64 + quantizedByteCount + threads * workerByteCount }

  func run(
    _ packed: PackedWeights, input: RawSpan, output: inout MutableRawSpan, scratch: inout MutableRawSpan,
    threads: ThreadTeam
  ) {
    unsafe run(
      packed, input: input, finish: nil, other: nil, output: &output, scratch: &scratch, threads: threads)
  }

  func run(
    _ packed: PackedWeights, input: RawSpan, finish: FloatFinish?, other: UnsafePointer<Float>?,
    output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam
  ) {
    let elementByteCount = convolution.operands.generatedByteCount
    precondition(
      input.byteCount >= convolution.inputCount * elementByteCount
        && output.byteCount >= convolution.outputCount * elementByteCount
        && scratch.byteCount >= scratchByteCount(threads: threads.count))
    unsafe input.withUnsafeBytes { input in
      unsafe output.withUnsafeMutableBytes { output in
        unsafe scratch.withUnsafeMutableBytes { scratch in
          guard let input = input.baseAddress, let output = output.baseAddress,
            let scratch = scratch.baseAddress
          else { return }
          let threads = plan.isSmall ? ThreadTeam(count: 1) : threads
          let tiling = plan.tiling(threads: threads.count)
          let shared = unsafe scratch.alignedUp(toMultipleOf: 64)
          let rows = unsafe quantization?.run(input, to: shared, threads: threads) ?? input
          let work = unsafe Work(
            owner: .passUnretained(self), packed: .passUnretained(packed), tiling: tiling, input: rows,
            scales: UnsafeRawPointer(shared), output: output, finish: finish.map { .passUnretained($0) },
            other: other,
            scratch: shared + quantizedByteCount)
          threads.run(tiles: tiling.count, work)
        }
      }
    }
  }

  /// One run: pointers that live as long as its call.
  struct Work: TileWork {
    let owner: Unmanaged<X86Convolution>
    let packed: Unmanaged<PackedWeights>
    let tiling: X86ConvolutionPlan.Tiling
    let input: UnsafeRawPointer
    /// The scales of quantized images.
    let scales: UnsafeRawPointer
    let output: UnsafeMutableRawPointer
    let finish: Unmanaged<FloatFinish>?
    let other: UnsafePointer<Float>?
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
    let tiling = work.tiling
    let panelTile = tile % tiling.panelTiles
    let rest = tile / tiling.panelTiles
    let group = rest % convolution.groups
    let imageTile = rest / convolution.groups
    let image = imageTile / tiling.tilesPerImage
    let range = tiling.range(imageTile % tiling.tilesPerImage)
    let (first, end) = (range.lowerBound, range.upperBound)

    let rows: UnsafeRawPointer
    if plan.isInPlace {
      let elements =
        plan.isDense
        ? first &* convolution.inputChannels
        : (image &* convolution.inputHeight &+ first &* convolution.strideHeight) &* convolution.inputWidth
          &* convolution.inputChannels
      rows = unsafe work.input + (elements &+ group &* convolution.channelsPerGroup) &* plan.laneByteCount
    } else {
      unsafe gather(work.input, image: image, group: group, first: first, end: end, to: scratch)
      rows = UnsafeRawPointer(scratch)
    }
    let list = unsafe (scratch + roundedUp(plan.planeByteCount, to: 64)).assumingMemoryBound(to: Int.self)
    let block = unsafe UnsafeMutableRawPointer(list) + tapListByteCount
    let makesOutputs = hasPlainFactors && (!needsBoundedSums || X86WeightPacking.isBounded(packed))
    // Rows of a line are of one image, or each is one.
    let scales = unsafe work.scales + 4 &* (plan.isDense ? (convolution.batches > 1 ? first : 0) : image)
    let outputStride = convolution.outputChannels &* convolution.operands.generatedByteCount

    var next = panelTile &* tiling.panelsPerTile
    let lastPanel = min(plan.panels.count, next &+ tiling.panelsPerTile)
    while next < lastPanel {
      let index = next
      let panel = plan.panels[index]
      let together = movesAlongPanels && makesOutputs ? max(1, plan.alikeCount(lastPanel) &- index) : 1
      next &+= together
      let record = weightPacking.record(packed, group: group, panel: index)
      let columns = group &* convolution.columnCount &+ panel.firstColumn
      var call = unsafe Call(
        arguments: Arguments(
          rows: 0, rowStride: plan.rowStride, taps: Int(bitPattern: taps), tapCount: plan.tapCount,
          weights: Int(bitPattern: packed.address + record.weights),
          offsets: Int(
            bitPattern: packed.address + weightPacking.offsets(group: group) + panel.paddedBefore &* 4),
          factors: Int(bitPattern: factors + (group &* plan.panels.count &+ index) &* layout.byteCount),
          output: 0, outputStride: outputStride, blocks: together, scales: Int(bitPattern: scales)),
        panel: panel, channel: columns, block: block, makesOutputs: makesOutputs)
      if record.extraCount > 0 {
        unsafe listTaps(record, packed, to: list)
        call.arguments.taps = Int(bitPattern: list)
        call.arguments.tapCount = plan.tapCount &+ record.extraCount
      }
      let columnOffset = columns &* convolution.operands.generatedByteCount
      if plan.isDense {
        let output = unsafe work.output + first &* outputStride + columnOffset
        unsafe runLine(&call, rows: rows, output: output, length: end &- first)
      } else {
        let lineStride = convolution.strideHeight &* plan.imageRowByteCount
        for line in first..<end {
          let pixel = (image &* convolution.outputHeight &+ line) &* convolution.outputWidth
          let output = unsafe work.output + pixel &* outputStride + columnOffset
          unsafe runLine(
            &call, rows: rows + (line &- first) &* lineStride, output: output, length: plan.lineLength)
        }
      }
    }
    if let finish = unsafe work.finish {
      let firstColumn = plan.panels[panelTile &* tiling.panelsPerTile].firstColumn
      let endColumn =
        lastPanel < plan.panels.count ? plan.panels[lastPanel].firstColumn : convolution.columnCount
      let lines = plan.isDense ? 0 : image &* convolution.outputHeight
      let width = plan.isDense ? 1 : plan.lineLength
      unsafe self.finish(
        finish, work, pixels: (lines &+ first) &* width..<(lines &+ end) &* width,
        channels: group &* convolution.columnCount &+ firstColumn..<group &* convolution.columnCount
          &+ endColumn)
    }
  }

  /// What the functions are called with for one panel.
  private struct Call {
    var arguments: Arguments
    let panel: X86ConvolutionPlan.Panel
    /// The first output channel.
    let channel: Int
    /// Memory for one block of rows.
    let block: UnsafeMutableRawPointer
    let makesOutputs: Bool
  }

  private func listTaps(
    _ record: X86WeightPacking.Record, _ packed: PackedWeights, to list: UnsafeMutablePointer<Int>
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

  /// Runs a panel over rows that lie equally far apart.
  private func runLine(
    _ call: inout Call, rows: UnsafeRawPointer, output: UnsafeMutableRawPointer, length: Int
  ) {
    let (rowCount, count, rest) = plan.blocks(length, vectorCount: call.panel.vectorCount)
    guard rowCount > 0 else { return }
    guard call.makesOutputs else {
      for index in 0...count {
        let height = index < count ? rowCount : rest
        guard height > 0 else { return }
        let row = index &* rowCount
        unsafe runBlock(
          &call, rows: rows + row &* plan.rowStride,
          output: output + row &* convolution.outputChannels &* convolution.operands.generatedByteCount,
          height: height)
      }
      return
    }
    let isPartial = call.panel.columnCount < call.panel.paddedCount
    call.arguments.rows = Int(bitPattern: rows)
    call.arguments.output = Int(bitPattern: output)
    if !movesAlongPanels { call.arguments.blocks = count }
    self.call(outputs, rowCount, isPartial: isPartial, &call)
    if rest > 0 {
      call.arguments.rows &+= count &* rowCount &* plan.rowStride
      call.arguments.output &+= count &* rowCount &* call.arguments.outputStride
      call.arguments.blocks = 1
      self.call(outputs, rest, isPartial: isPartial, &call)
    }
  }

  private func call(_ functions: [UnsafeRawPointer?], _ rows: Int, isPartial: Bool, _ call: inout Call) {
    let key = Self.key(rows: rows, vectorCount: call.panel.vectorCount, isPartial: isPartial)
    guard let address = functions[key] else { return }
    let function = unsafe unsafeBitCast(address, to: Function.self)
    unsafe withUnsafeMutablePointer(to: &call.arguments) { unsafe function(UnsafeMutableRawPointer($0)) }
  }

  /// One block of rows by way of memory: for sums that the generated code cannot finish.
  private func runBlock(
    _ call: inout Call, rows: UnsafeRawPointer, output: UnsafeMutableRawPointer, height: Int
  ) {
    guard let quantized else { return }
    let panel = call.panel
    let outputStride = call.arguments.outputStride
    call.arguments.rows = Int(bitPattern: rows)
    unsafe call.arguments.output = Int(bitPattern: call.block)
    call.arguments.outputStride = panel.paddedCount &* 4
    call.arguments.blocks = 1
    self.call(sums, height, isPartial: false, &call)
    call.arguments.outputStride = outputStride
    let unordered = unsafe call.block.assumingMemoryBound(to: Int32.self)
    let ordered = unsafe unordered + 14 &* 64
    let offsets = unsafe UnsafePointer<Int32>(bitPattern: call.arguments.offsets)
    for vector in 0..<panel.vectorCount {
      for lane in 0..<plan.target.lanes {
        let column = X86ProductGenerator.column(
          plan.target, isBytes: true, vectorCount: panel.vectorCount, vector: vector, lane: lane)
        let place = vector &* plan.target.lanes &+ lane
        let offset = unsafe offsets?[place] ?? 0
        for row in 0..<height {
          let base = row &* panel.paddedCount
          unsafe ordered[base &+ column] = unordered[base &+ place] &+ offset
        }
      }
    }
    let zeros = unsafe ordered + 14 &* 64
    unsafe zeros.update(repeating: 0, count: 8)
    var column = 0
    while column < panel.columnCount {
      unsafe quantized.store(
        ordered + column, sumStride: panel.paddedCount, rows: height, bias: zeros,
        channel: call.channel &+ column, count: min(8, panel.columnCount &- column),
        to: (output + column).assumingMemoryBound(to: UInt8.self), outputStride: outputStride)
      column &+= 8
    }
  }
}
