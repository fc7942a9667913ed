/// Depthwise convolution of 16-bit lanes in plain Swift: int16 activations, and floats quantized as they come.
///
/// Packed layout: for each group of eight output channels `[tap pair][channel][2]` 16-bit weights, a missing last
/// tap of a row as zeros; then the bias of all channels.
final class PortableWordDepthwise: PreparedConvolution, @unchecked Sendable {
  private let convolution: DepthwiseConvolution
  private let operands: WordOperands
  private let tiling: DepthwiseTiling
  private let epilogue: WordEpilogue
  private let quantization: HybridQuantization?
  private let pairsPerRow: Int
  private let tapPairs: Int
  /// Where each pair of taps lies in a plane, counted from the first.
  private let pairOffsets: UnsafeMutablePointer<Int>
  /// Pairs of taps whose sums fit in 32 bits.
  private static let pairsPerBlock = 252

  init?(_ convolution: DepthwiseConvolution) {
    guard let operands = WordOperands(convolution.operands), operands.planes == 1,
      operands.weightZeroPoint == nil,
      let epilogue = WordEpilogue(
        convolution.epilogue, operands: convolution.operands, channels: convolution.outputChannels)
    else { return nil }
    self.convolution = convolution
    self.operands = operands
    self.epilogue = epilogue
    quantization = HybridQuantization(
      convolution.operands, batches: convolution.batches, inputCount: convolution.inputCount)
    tiling = DepthwiseTiling(convolution, gatheredCount: 24_576)
    pairsPerRow = ceilingQuotient(convolution.filterWidth, 2)
    tapPairs = convolution.filterHeight * pairsPerRow
    unsafe pairOffsets = tiling.tapOffsets(
      rows: convolution.filterHeight, columns: pairsPerRow, columnStep: 2 * tiling.tapColumnStep)
  }

  deinit {
    unsafe pairOffsets.deallocate()
  }

  private var biasOffset: Int { roundedUp(tiling.groupCount * tapPairs * 16 * 2, to: 64) }
  private var gatheredByteCount: Int { roundedUp(tiling.gatheredCount * 4, to: 64) }
  private var sumsByteCount: Int { roundedUp(tiling.columnsPerTile * 32, to: 64) }
  private var workerByteCount: Int { gatheredByteCount + 3 * sumsByteCount }
  private var sharedByteCount: Int { quantization?.byteCount ?? 0 }

  var packing: String {
    "portable-words-depthwise \(operands.packing) taps \(convolution.taps) channels \(convolution.outputChannels)"
  }

  var packedByteCount: Int {
    biasOffset + (roundedUp(convolution.outputChannels, to: 8) + 8) * operands.packedBiasByteCount
  }

  func scratchByteCount(threads: Int) -> Int { 64 + sharedByteCount + threads * workerByteCount }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    precondition(weights.byteCount >= convolution.weightCount && packed.byteCount >= packedByteCount)
    let channels = convolution.outputChannels
    unsafe weights.withUnsafeBytes { weights in
      let destination = unsafe packed.address.assumingMemoryBound(to: Int16.self)
      for group in 0..<tiling.groupCount {
        for tap in 0..<convolution.taps {
          let row = tap / convolution.filterWidth
          let column = tap % convolution.filterWidth
          let pair = (group * tapPairs + row * pairsPerRow + column / 2) * 16
          for lane in 0..<8 {
            let channel = group * 8 + lane
            unsafe destination[pair + lane * 2 + column % 2] =
              channel < channels ? operands.weight(weights, tap * channels + channel, plane: 0) : 0
            if column % 2 == 0, column + 1 == convolution.filterWidth {
              unsafe destination[pair + lane * 2 + 1] = 0
            }
          }
        }
      }
    }
    unsafe packBias(bias, count: channels, operands: operands, to: packed.address + biasOffset)
  }

  func run(
    _ packed: PackedWeights, input: RawSpan, output: inout MutableRawSpan, scratch: inout MutableRawSpan,
    threads: ThreadTeam
  ) {
    precondition(
      input.byteCount >= convolution.inputCount * operands.inputByteCount
        && output.byteCount >= convolution.outputCount * operands.outputByteCount
        && packed.byteCount >= packedByteCount
        && scratch.byteCount >= scratchByteCount(threads: threads.count))
    unsafe input.withUnsafeBytes { input in
      unsafe output.withUnsafeMutableBytes { output in
        unsafe scratch.withUnsafeMutableBytes { scratch in
          guard let input = input.baseAddress, let output = output.baseAddress,
            let scratch = scratch.baseAddress
          else { return }
          let shared = unsafe scratch.alignedUp(toMultipleOf: 64)
          let scales = unsafe shared.assumingMemoryBound(to: Float.self)
          let source = unsafe quantization?.run(input, to: shared, threads: threads) ?? input
          let work = unsafe Work(
            owner: .passUnretained(self), packed: packed.address, input: source, scales: scales,
            output: output,
            scratch: shared + sharedByteCount)
          threads.run(tiles: tiling.count, work)
        }
      }
    }
  }

  /// One run: pointers that live as long as its call.
  private struct Work: TileWork {
    let owner: Unmanaged<PortableWordDepthwise>
    let packed: UnsafeMutableRawPointer
    let input: UnsafeRawPointer
    let scales: UnsafePointer<Float>
    let output: UnsafeMutableRawPointer
    let scratch: UnsafeMutableRawPointer

    func run(tile: Int, worker: Int) {
      unsafe owner._withUnsafeGuaranteedRef { owner in
        unsafe owner.run(self, tile: tile, scratch: scratch + worker &* owner.workerByteCount)
      }
    }
  }

  private func run(_ work: Work, tile: Int, scratch: UnsafeMutableRawPointer) {
    let tile = tiling.tile(tile, of: convolution)
    let lanes = unsafe scratch.assumingMemoryBound(to: Int32.self)
    let sums = unsafe (scratch + gatheredByteCount).assumingMemoryBound(to: Int32.self)
    let wideSums = unsafe (scratch + gatheredByteCount + sumsByteCount).assumingMemoryBound(to: Int64.self)
    unsafe PlaneGathering(
      convolution: convolution, tiling: tiling, conversion: PlainPair(isPaired: convolution.filterWidth > 1)
    ).gather(tile, from: work.input, to: lanes)
    let weights = unsafe work.packed.assumingMemoryBound(to: Int16.self)
    let columns = tile.columns.count
    for group in tile.groups {
      let plane = unsafe lanes + (group &- tile.groups.lowerBound) &* tiling.planeCount
      for row in tile.rows {
        let line = (row &- tile.rows.lowerBound) &* convolution.strideHeight &* tiling.planeColumns
        var first = 0
        while first < tapPairs {
          let last = operands.isWide ? min(tapPairs, first &+ Self.pairsPerBlock) : tapPairs
          unsafe multiplyLine(
            plane + line &* 8, weights: weights + group &* tapPairs &* 16, pairs: first..<last,
            columns: columns,
            to: sums)
          if operands.isWide {
            for index in 0..<columns &* 8 {
              let previous = unsafe first == 0 ? 0 : wideSums[index]
              unsafe wideSums[index] = previous &+ Int64(sums[index])
            }
          }
          first = last
        }
        let position = (tile.batch &* convolution.outputHeight &+ row) &* convolution.outputWidth
        unsafe store(
          sums, wideSums, work, batch: tile.batch, columns: columns, group: group,
          position: (position &+ tile.columns.lowerBound) &* convolution.outputChannels &+ group &* 8)
      }
    }
  }

  /// One group's sums along a row, of some pairs of taps.
  private func multiplyLine(
    _ line: UnsafePointer<Int32>, weights: UnsafePointer<Int16>, pairs: Range<Int>, columns: Int,
    to sums: UnsafeMutablePointer<Int32>
  ) {
    let step = convolution.strideWidth &* 8
    let offsets = unsafe pairOffsets
    var position = unsafe line
    var destination = UnsafeMutableRawPointer(sums)
    for _ in 0..<columns {
      var low = SIMD4<Int32>()
      var high = SIMD4<Int32>()
      for pair in pairs {
        let lanes = unsafe UnsafeRawPointer(position + offsets[pair])
        let factors = unsafe UnsafeRawPointer(weights + pair &* 16)
        low &+= unsafe pairSums(lanes.load(as: SIMD8<Int16>.self), factors.load(as: SIMD8<Int16>.self))
        high &+= unsafe pairSums(
          lanes.load(fromByteOffset: 16, as: SIMD8<Int16>.self),
          factors.load(fromByteOffset: 16, as: SIMD8<Int16>.self))
      }
      unsafe destination.storeBytes(of: low, as: SIMD4<Int32>.self)
      unsafe destination.storeBytes(of: high, toByteOffset: 16, as: SIMD4<Int32>.self)
      unsafe position += step
      unsafe destination += 32
    }
  }

  private func store(
    _ sums: UnsafePointer<Int32>, _ wideSums: UnsafePointer<Int64>, _ work: Work, batch: Int, columns: Int,
    group: Int, position: Int
  ) {
    let bias = unsafe UnsafeRawPointer(work.packed + biasOffset)
    let channel = group &* 8
    let used = min(8, convolution.outputChannels &- channel)
    for column in 0..<columns {
      let target = position &+ column &* convolution.outputChannels
      if quantization != nil {
        unsafe epilogue.store(
          sums + column &* 8, bias: bias.assumingMemoryBound(to: Float.self) + channel,
          scale: work.scales[batch],
          channel: channel, count: used, to: work.output.assumingMemoryBound(to: Float.self) + target)
      } else if operands.isWide {
        unsafe epilogue.store(
          wideSums + column &* 8, bias: bias.assumingMemoryBound(to: Int64.self) + channel, channel: channel,
          count: used, to: work.output.assumingMemoryBound(to: Int16.self) + target)
      } else {
        unsafe epilogue.store(
          sums + column &* 8, bias: bias.assumingMemoryBound(to: Int32.self) + channel, channel: channel,
          count: used, to: work.output.assumingMemoryBound(to: Int16.self) + target)
      }
    }
  }
}
