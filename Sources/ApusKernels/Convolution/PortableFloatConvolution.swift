/// Float convolution in plain Swift.
///
/// Packed layout: for each group panels of eight output channels, each `[term][channel]`; then the bias of all
/// channels. Each output is summed in the order of its terms, block by block.
final class PortableFloatConvolution: PreparedConvolution {
  private let convolution: Convolution
  private let tiling: ConvolutionTiling
  private let bounds: FloatBounds
  private let panels: Int
  private let chunk: Int

  init?(_ convolution: Convolution) {
    guard convolution.operands == .float32, let bounds = FloatBounds(convolution.epilogue) else { return nil }
    self.convolution = convolution
    self.bounds = bounds
    tiling = ConvolutionTiling(
      convolution, maximumDepth: 1_024, gatheredCount: 32_768, leastSharedRows: 16, maximumRows: 256,
      columnStep: 64)
    panels = ceilingQuotient(tiling.columnCount, 8)
    chunk = min(roundedUp(tiling.columnsPerTile, to: 8), tiling.depthBlocks == 1 ? 64 : 512)
  }

  private var panelCount: Int { tiling.depth * 8 }
  private var biasOffset: Int { roundedUp(convolution.groups * panels * panelCount * 4, to: 64) }
  private var gatheredByteCount: Int {
    convolution.readsInputInPlace ? 0 : roundedUp(tiling.rowsPerTile * tiling.depthPerBlock * 4, to: 64)
  }
  private var workerByteCount: Int { gatheredByteCount + roundedUp(tiling.rowsPerTile * chunk * 4, to: 64) }

  var packing: String {
    "portable-float depth \(tiling.depth) columns \(tiling.columnCount) groups \(convolution.groups)"
  }

  var packedByteCount: Int { biasOffset + (roundedUp(convolution.outputChannels, to: 8) + 8) * 4 }

  func scratchByteCount(threads: Int) -> Int { 64 + threads * workerByteCount }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    precondition(weights.byteCount >= convolution.weightCount * 4 && packed.byteCount >= packedByteCount)
    let depth = tiling.depth
    let columns = tiling.columnCount
    unsafe weights.withUnsafeBytes { weights in
      for group in 0..<convolution.groups {
        for column in 0..<columns {
          let panel = group * panels + column / 8
          let destination =
            unsafe packed.address.assumingMemoryBound(to: Float.self)
            + panel * panelCount + column % 8
          let source = (group * columns + column) * depth
          for term in 0..<depth {
            unsafe destination[term * 8] = weights.loadUnaligned(
              fromByteOffset: (source + term) * 4, as: Float.self)
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
      input.byteCount >= convolution.inputCount * 4 && output.byteCount >= convolution.outputCount * 4
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
            output: output, scratch: scratch.alignedUp(toMultipleOf: 64))
          threads.run(tiles: tiling.count, work)
        }
      }
    }
  }

  /// One run: pointers that live as long as its call.
  private struct Work: TileWork {
    let owner: Unmanaged<PortableFloatConvolution>
    let packed: UnsafeMutableRawPointer
    let input: UnsafeRawPointer
    let output: UnsafeMutableRawPointer
    let scratch: UnsafeMutableRawPointer

    func run(tile: Int, worker: Int) {
      unsafe owner._withUnsafeGuaranteedRef { owner in
        unsafe owner.run(self, tile: tile, scratch: scratch + worker &* owner.workerByteCount)
      }
    }
  }

  private func run(_ work: Work, tile: Int, scratch: UnsafeMutableRawPointer) {
    let (rows, columns, group) = tiling.tile(tile)
    let lanes = unsafe scratch.assumingMemoryBound(to: Float.self)
    let sums = unsafe (scratch + gatheredByteCount).assumingMemoryBound(to: Float.self)
    let bias = unsafe (work.packed + biasOffset).assumingMemoryBound(to: Float.self)
    let weights = unsafe work.packed.assumingMemoryBound(to: Float.self) + group &* panels &* panelCount
    let gathering = PatchGathering(convolution, Copy<Float>(padding: 0))
    let isInPlace = convolution.readsInputInPlace
    let stride = isInPlace ? convolution.inputChannels : tiling.depthPerBlock
    var isGathered = isInPlace
    var first = columns.lowerBound
    while first < columns.upperBound {
      let count = min(chunk, columns.upperBound &- first)
      for block in 0..<tiling.depthBlocks {
        let depth = tiling.depthRange(block)
        if !isGathered {
          unsafe gathering.gather(
            rows: rows, depth: depth, group: group, from: work.input, to: lanes, stride: stride, zero: 0)
          isGathered = tiling.depthBlocks == 1
        }
        let inputOffset =
          rows.lowerBound &* stride &+ group &* convolution.channelsPerGroup &+ depth.lowerBound
        let source = unsafe isInPlace ? work.input + inputOffset &* 4 : UnsafeRawPointer(lanes)
        var column = 0
        while column < count {
          let panel = unsafe weights + (first &+ column) / 8 &* panelCount + depth.lowerBound &* 8
          unsafe multiplyPanel(
            source, rowCount: rows.count, rowStride: stride, terms: depth.count, panel, sums + column,
            sumStride: chunk, accumulates: block > 0)
          column &+= 8
        }
      }
      for row in 0..<rows.count {
        let channel = group &* tiling.columnCount &+ first
        let position = (rows.lowerBound &+ row) &* convolution.outputChannels &+ channel
        unsafe bounds.store(
          sums + row &* chunk, bias: bias + channel, count: count, to: work.output + position &* 4)
      }
      first &+= count
    }
  }
}
