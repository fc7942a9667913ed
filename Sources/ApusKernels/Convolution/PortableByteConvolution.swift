/// 8-bit convolution in plain Swift: bytes minus their zero points as 16-bit integers, multiplied in pairs.
///
/// A product of two differences is at most 255² < 2¹⁶, so a pair fits; sums wrap as the reference's do.
/// Packed layout: for each group panels of eight output channels, each `[term pair][channel][2]`, the terms
/// padded with zeros in every block; then the bias of all channels.
final class PortableByteConvolution: PreparedConvolution {
  private let convolution: Convolution
  private let operands: ByteOperands
  private let tiling: ConvolutionTiling
  private let epilogue: QuantizedEpilogue
  /// Terms of all blocks with their padding.
  private let paddedDepth: Int
  private let panels: Int
  /// Columns of which sums are kept before they become outputs.
  private let chunk: Int

  init?(_ convolution: Convolution) {
    guard let operands = convolution.operands.bytes,
      convolution.epilogue.fits(convolution.operands, channels: convolution.outputChannels),
      let epilogue = QuantizedEpilogue(convolution.epilogue, channels: convolution.outputChannels)
    else { return nil }
    self.convolution = convolution
    self.operands = operands
    self.epilogue = epilogue
    tiling = ConvolutionTiling(
      convolution, maximumDepth: 2_048, gatheredCount: 32_768, leastSharedRows: 16, maximumRows: 256,
      columnStep: 64)
    paddedDepth = tiling.depthBlocks * tiling.depthPerBlock
    panels = ceilingQuotient(tiling.columnCount, 8)
    chunk = min(roundedUp(tiling.columnsPerTile, to: 8), tiling.depthBlocks == 1 ? 64 : 512)
  }

  private var panelCount: Int { paddedDepth * 8 }
  private var biasOffset: Int { roundedUp(convolution.groups * panels * panelCount * 2, to: 64) }
  private var gatheredByteCount: Int { roundedUp(tiling.rowsPerTile * tiling.depthPerBlock * 2, to: 64) }
  private var workerByteCount: Int { gatheredByteCount + roundedUp(tiling.rowsPerTile * chunk * 4, to: 64) }

  var packing: String {
    "portable-bytes flip \(operands.signFlip) zero \(operands.rhsZeroPoint) depth \(tiling.depth) "
      + "blocks of \(tiling.depthPerBlock) columns \(tiling.columnCount) groups \(convolution.groups)"
  }

  var packedByteCount: Int { biasOffset + (roundedUp(convolution.outputChannels, to: 8) + 8) * 4 }

  func scratchByteCount(threads: Int) -> Int { 64 + threads * workerByteCount }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    precondition(weights.byteCount >= convolution.weightCount && packed.byteCount >= packedByteCount)
    let depth = tiling.depth
    let columns = tiling.columnCount
    unsafe weights.withUnsafeBytes { weights in
      for group in 0..<convolution.groups {
        for panel in 0..<panels {
          let destination =
            unsafe packed.address.assumingMemoryBound(to: Int16.self)
            + (group * panels + panel) * panelCount
          for lane in 0..<8 {
            let column = panel * 8 + lane
            let source = (group * columns + column) * depth
            for term in 0..<paddedDepth {
              var value: Int16 = 0
              if column < columns, term < depth {
                let byte = unsafe weights[source + term] ^ operands.signFlip
                value = Int16(truncatingIfNeeded: Int32(byte) &- operands.rhsZeroPoint)
              }
              unsafe destination[(term / 2 * 8 + lane) * 2 + term % 2] = value
            }
          }
        }
      }
    }
    unsafe packBias(bias, count: convolution.outputChannels, to: packed.address + biasOffset)
  }

  func run(
    _ packed: PackedWeights, input: RawSpan, output: inout MutableRawSpan, scratch: inout MutableRawSpan,
    threads: ThreadTeam
  ) {
    precondition(
      input.byteCount >= convolution.inputCount && output.byteCount >= convolution.outputCount
        && packed.byteCount >= packedByteCount
        && scratch.byteCount >= scratchByteCount(threads: threads.count))
    unsafe input.withUnsafeBytes { input in
      unsafe output.withUnsafeMutableBytes { output in
        unsafe scratch.withUnsafeMutableBytes { scratch in
          guard let input = input.baseAddress, let output = output.baseAddress,
            let scratch = scratch.baseAddress
          else { return }
          let work = unsafe Work(
            owner: .passUnretained(self), packed: packed.address, input: input,
            output: output.assumingMemoryBound(to: UInt8.self), scratch: scratch.alignedUp(toMultipleOf: 64))
          threads.run(tiles: tiling.count, work)
        }
      }
    }
  }

  /// One run: pointers that live as long as its call.
  private struct Work: TileWork {
    let owner: Unmanaged<PortableByteConvolution>
    let packed: UnsafeMutableRawPointer
    let input: UnsafeRawPointer
    let output: UnsafeMutablePointer<UInt8>
    let scratch: UnsafeMutableRawPointer

    func run(tile: Int, worker: Int) {
      unsafe owner._withUnsafeGuaranteedRef { owner in
        unsafe owner.run(self, tile: tile, scratch: scratch + worker &* owner.workerByteCount)
      }
    }
  }

  private func run(_ work: Work, tile: Int, scratch: UnsafeMutableRawPointer) {
    let (rows, columns, group) = tiling.tile(tile)
    let lanes = unsafe scratch.assumingMemoryBound(to: Int16.self)
    let sums = unsafe (scratch + gatheredByteCount).assumingMemoryBound(to: Int32.self)
    let bias = unsafe (work.packed + biasOffset).assumingMemoryBound(to: Int32.self)
    let weights = unsafe work.packed.assumingMemoryBound(to: Int16.self) + group &* panels &* panelCount
    let stride = tiling.depthPerBlock
    let gathering = PatchGathering(
      convolution,
      CenteredInt16(
        signFlip: operands.signFlip, zeroPoint: Int16(truncatingIfNeeded: operands.lhsZeroPoint)))
    var isGathered = false
    var first = columns.lowerBound
    while first < columns.upperBound {
      let count = min(chunk, columns.upperBound &- first)
      var column = 0
      for block in 0..<tiling.depthBlocks {
        if !isGathered {
          unsafe gathering.gather(
            rows: rows, depth: tiling.depthRange(block), group: group, from: work.input, to: lanes,
            stride: stride, zero: 0)
          isGathered = tiling.depthBlocks == 1
        }
        column = 0
        while column < count {
          let panel = unsafe weights + (first &+ column) / 8 &* panelCount + block &* stride &* 8
          unsafe multiplyPanel(
            lanes, rowCount: rows.count, terms: stride, panel, sums + column, sumStride: chunk,
            accumulates: block > 0)
          column &+= 8
        }
      }
      column = 0
      while column < count {
        let channel = group &* tiling.columnCount &+ first &+ column
        let position = rows.lowerBound &* convolution.outputChannels &+ channel
        unsafe epilogue.store(
          sums + column, sumStride: chunk, rows: rows.count, bias: bias + channel, channel: channel,
          count: min(8, count &- column), to: work.output + position,
          outputStride: convolution.outputChannels)
        column &+= 8
      }
      first &+= count
    }
  }
}

/// Copies `count` 32-bit biases, or writes zeros.
func packBias(_ bias: RawSpan?, count: Int, to destination: UnsafeMutableRawPointer) {
  guard let bias else {
    unsafe destination.initializeMemory(as: UInt8.self, repeating: 0, count: count * 4)
    return
  }
  precondition(bias.byteCount >= count * 4)
  unsafe bias.withUnsafeBytes { bias in
    if let source = bias.baseAddress {
      unsafe destination.copyMemory(from: source, byteCount: count * 4)
    }
  }
}
