/// 8-bit depthwise convolution in plain Swift: 16-bit differences, two taps of a filter row at a
/// time.
///
/// Packed layout: for each group of eight output channels `[tap pair][channel][2]` 16-bit weights minus their
/// zero point, a missing last tap of a row as zeros; then the bias of all channels.
final class PortableByteDepthwise: PreparedConvolution, @unchecked Sendable {
  private let convolution: DepthwiseConvolution
  private let operands: ByteOperands
  private let tiling: DepthwiseTiling
  private let epilogue: QuantizedEpilogue
  private let pairsPerRow: Int
  private let tapPairs: Int
  /// Where each pair of taps lies in a plane, counted from the first.
  private let pairOffsets: UnsafeMutablePointer<Int>

  init?(_ convolution: DepthwiseConvolution) {
    guard let operands = convolution.operands.bytes,
      convolution.epilogue.fits(convolution.operands, channels: convolution.outputChannels),
      let epilogue = QuantizedEpilogue(convolution.epilogue, channels: convolution.outputChannels)
    else { return nil }
    self.convolution = convolution
    self.operands = operands
    self.epilogue = epilogue
    tiling = DepthwiseTiling(convolution, gatheredCount: 24_576)
    pairsPerRow = ceilingQuotient(convolution.filterWidth, 2)
    tapPairs = convolution.filterHeight * pairsPerRow
    pairOffsets = tiling.tapOffsets(
      rows: convolution.filterHeight, columns: pairsPerRow, columnStep: 2 * tiling.tapColumnStep)
  }

  deinit {
    unsafe pairOffsets.deallocate()
  }

  private var biasOffset: Int { roundedUp(tiling.groupCount * tapPairs * 16 * 2, to: 64) }
  private var gatheredByteCount: Int { roundedUp(tiling.gatheredCount * 4, to: 64) }
  private var workerByteCount: Int { gatheredByteCount + tiling.columnsPerTile * 32 + 64 }

  var packing: String {
    "portable-bytes-depthwise flip \(operands.signFlip) zero \(operands.rhsZeroPoint) "
      + "taps \(convolution.taps) channels \(convolution.outputChannels)"
  }

  var packedByteCount: Int { biasOffset + (roundedUp(convolution.outputChannels, to: 8) + 8) * 4 }

  func scratchByteCount(threads: Int) -> Int { 64 + threads * workerByteCount }

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
            var value: Int16 = 0
            if channel < channels {
              let byte = unsafe weights[tap * channels + channel] ^ operands.signFlip
              value = Int16(truncatingIfNeeded: Int32(byte) &- operands.rhsZeroPoint)
            }
            unsafe destination[pair + lane * 2 + column % 2] = value
            if column % 2 == 0, column + 1 == convolution.filterWidth {
              unsafe destination[pair + lane * 2 + 1] = 0
            }
          }
        }
      }
    }
    unsafe packBias(bias, count: channels, to: packed.address + biasOffset)
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
    let owner: Unmanaged<PortableByteDepthwise>
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
    let tile = tiling.tile(tile, of: convolution)
    let lanes = unsafe scratch.assumingMemoryBound(to: Int32.self)
    let sums = unsafe (scratch + gatheredByteCount).assumingMemoryBound(to: Int32.self)
    let gathering = PlaneGathering(
      convolution: convolution, tiling: tiling,
      conversion: CenteredPair(
        signFlip: operands.signFlip, zeroPoint: Int16(truncatingIfNeeded: operands.lhsZeroPoint),
        isPaired: convolution.filterWidth > 1))
    unsafe gathering.gather(tile, from: work.input, to: lanes)
    let bias = unsafe (work.packed + biasOffset).assumingMemoryBound(to: Int32.self)
    let weights = unsafe work.packed.assumingMemoryBound(to: Int16.self)
    let channels = convolution.outputChannels
    for group in tile.groups {
      let plane = unsafe lanes + (group &- tile.groups.lowerBound) &* tiling.planeCount
      let used = min(8, channels &- group &* 8)
      for row in tile.rows {
        let line = (row &- tile.rows.lowerBound) &* convolution.strideHeight &* tiling.planeColumns
        let position = (tile.batch &* convolution.outputHeight &+ row) &* convolution.outputWidth
        let first = (position &+ tile.columns.lowerBound) &* channels &+ group &* 8
        unsafe multiplyLine(
          plane + line &* 8, weights: weights + group &* tapPairs &* 16, columns: tile.columns.count,
          to: sums)
        unsafe epilogue.store(
          sums, sumStride: 8, rows: tile.columns.count, bias: bias + group &* 8, channel: group &* 8,
          count: used, to: work.output + first, outputStride: channels)
      }
    }
  }

  /// One group's sums along a row.
  private func multiplyLine(
    _ line: UnsafePointer<Int32>, weights: UnsafePointer<Int16>, columns: Int,
    to sums: UnsafeMutablePointer<Int32>
  ) {
    if pairsPerRow == 2, convolution.filterHeight == 3 {
      unsafe multiplyThreeRows(line, weights: weights, columns: columns, to: sums)
      return
    }
    let step = convolution.strideWidth &* 8
    let pairs = tapPairs
    let offsets = unsafe pairOffsets
    var position = unsafe line
    var destination = unsafe sums
    for _ in 0..<columns {
      var low = SIMD4<Int32>()
      var high = SIMD4<Int32>()
      for pair in 0..<pairs {
        unsafe addPair(position + offsets[pair], weights + pair &* 16, &low, &high)
      }
      unsafe storeSums(low, high, to: destination)
      unsafe position += step
      unsafe destination += 8
    }
  }

  /// Three rows of two pairs, those of 3×3 and 3×4, without a loop over them.
  private func multiplyThreeRows(
    _ line: UnsafePointer<Int32>, weights: UnsafePointer<Int16>, columns: Int,
    to sums: UnsafeMutablePointer<Int32>
  ) {
    let step = convolution.strideWidth &* 8
    let pairStep = unsafe pairOffsets[1]
    let rowStep = unsafe pairOffsets[2]
    var first = unsafe line
    var second = unsafe line + rowStep
    var third = unsafe line + 2 &* rowStep
    var destination = unsafe sums
    for _ in 0..<columns {
      var low = SIMD4<Int32>()
      var high = SIMD4<Int32>()
      unsafe addPair(first, weights, &low, &high)
      unsafe addPair(first + pairStep, weights + 16, &low, &high)
      unsafe addPair(second, weights + 32, &low, &high)
      unsafe addPair(second + pairStep, weights + 48, &low, &high)
      unsafe addPair(third, weights + 64, &low, &high)
      unsafe addPair(third + pairStep, weights + 80, &low, &high)
      unsafe storeSums(low, high, to: destination)
      unsafe first += step
      unsafe second += step
      unsafe third += step
      unsafe destination += 8
    }
  }
}

@inline(__always)
private func addPair(
  _ lanes: UnsafePointer<Int32>, _ weights: UnsafePointer<Int16>, _ low: inout SIMD4<Int32>,
  _ high: inout SIMD4<Int32>
) {
  let lanes = unsafe UnsafeRawPointer(lanes)
  let weights = unsafe UnsafeRawPointer(weights)
  low &+= unsafe pairSums(lanes.load(as: SIMD8<Int16>.self), weights.load(as: SIMD8<Int16>.self))
  high &+= unsafe pairSums(
    lanes.load(fromByteOffset: 16, as: SIMD8<Int16>.self),
    weights.load(fromByteOffset: 16, as: SIMD8<Int16>.self))
}

@inline(__always)
private func storeSums(_ low: SIMD4<Int32>, _ high: SIMD4<Int32>, to sums: UnsafeMutablePointer<Int32>) {
  unsafe UnsafeMutableRawPointer(sums).storeBytes(of: low, as: SIMD4<Int32>.self)
  unsafe UnsafeMutableRawPointer(sums + 4).storeBytes(of: high, as: SIMD4<Int32>.self)
}
