/// 8-bit depthwise convolution in plain Swift: 16-bit differences, two taps at a time.
///
/// Packed layout: for each group of eight output channels `[tap pair][channel][2]` 16-bit weights minus their
/// zero point, a missing last tap as zeros; then the bias of all channels.
final class PortableByteDepthwise: PreparedConvolution, @unchecked Sendable {
  private let convolution: DepthwiseConvolution
  private let operands: ByteOperands
  private let tiling: DepthwiseTiling
  private let epilogue: QuantizedEpilogue
  private let tapPairs: Int
  /// Where each tap lies in a plane, counted from the first; an even number of them.
  private let tapOffsets: UnsafeMutablePointer<Int>

  init?(_ convolution: DepthwiseConvolution) {
    guard let operands = convolution.operands.bytes,
      convolution.epilogue.fits(convolution.operands, channels: convolution.outputChannels),
      let epilogue = QuantizedEpilogue(convolution.epilogue, channels: convolution.outputChannels)
    else { return nil }
    self.convolution = convolution
    self.operands = operands
    self.epilogue = epilogue
    tiling = DepthwiseTiling(convolution, gatheredCount: 49_152)
    tapPairs = ceilingQuotient(convolution.taps, 2)
    unsafe tapOffsets = tiling.tapOffsets(of: convolution, count: 2 * tapPairs)
  }

  deinit {
    unsafe tapOffsets.deallocate()
  }

  private var biasOffset: Int { roundedUp(tiling.groupCount * tapPairs * 16 * 2, to: 64) }
  private var workerByteCount: Int { roundedUp(tiling.gatheredCount * 2, to: 64) }

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
        for tap in 0..<2 * tapPairs {
          for lane in 0..<8 {
            let channel = group * 8 + lane
            var value: Int16 = 0
            if tap < convolution.taps, channel < channels {
              let byte = unsafe weights[tap * channels + channel] ^ operands.signFlip
              value = Int16(truncatingIfNeeded: Int32(byte) &- operands.rhsZeroPoint)
            }
            unsafe destination[((group * tapPairs + tap / 2) * 8 + lane) * 2 + tap % 2] = value
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
    let lanes = unsafe scratch.assumingMemoryBound(to: Int16.self)
    let gathering = PlaneGathering(
      convolution: convolution, tiling: tiling,
      conversion: CenteredInt16(
        signFlip: operands.signFlip, zeroPoint: Int16(truncatingIfNeeded: operands.lhsZeroPoint)))
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
          plane + line &* 8, weights: weights + group &* tapPairs &* 16, bias: bias + group &* 8,
          channel: group &* 8, columns: tile.columns.count, to: work.output + first, channels: channels,
          used: used)
      }
    }
  }

  /// One group's outputs along a row.
  private func multiplyLine(
    _ line: UnsafePointer<Int16>, weights: UnsafePointer<Int16>, bias: UnsafePointer<Int32>, channel: Int,
    columns: Int, to output: UnsafeMutablePointer<UInt8>, channels: Int, used: Int
  ) {
    let lowBias = unsafe load4(bias, 0)
    let highBias = unsafe load4(bias, 4)
    let step = convolution.strideWidth &* 8
    let pairs = tapPairs
    let offsets = unsafe tapOffsets
    var position = unsafe line
    var destination = unsafe output
    for _ in 0..<columns {
      var low = lowBias
      var high = highBias
      for pair in 0..<pairs {
        let first = unsafe loadEight(position + offsets[2 &* pair])
        let second = unsafe loadEight(position + offsets[2 &* pair &+ 1])
        unsafe addTapPair(first, second, weights + pair &* 16, &low, &high)
      }
      unsafe storeLanes(epilogue.bytes(low, high, channel: channel), to: destination, count: used)
      unsafe position += step
      unsafe destination += channels
    }
  }
}

extension DepthwiseTiling {
  /// Where each tap lies in a plane, counted from the first; from the last tap on, zero. The caller frees it.
  func tapOffsets(of convolution: DepthwiseConvolution, count: Int) -> UnsafeMutablePointer<Int> {
    let offsets = UnsafeMutablePointer<Int>.allocate(capacity: count)
    unsafe offsets.initialize(repeating: 0, count: count)
    for tap in 0..<convolution.taps {
      let row = tap / convolution.filterWidth * tapRowStep
      let column = tap % convolution.filterWidth * tapColumnStep
      unsafe offsets[tap] = (row * planeColumns + column) * 8
    }
    return unsafe offsets
  }
}

@inline(__always)
private func loadEight(_ lanes: UnsafePointer<Int16>) -> SIMD8<Int16> {
  unsafe UnsafeRawPointer(lanes).loadUnaligned(as: SIMD8<Int16>.self)
}

/// Adds two taps' products for eight channels: interleaved, they are four `pmaddwd` lanes each.
@inline(__always)
private func addTapPair(
  _ first: SIMD8<Int16>, _ second: SIMD8<Int16>, _ weights: UnsafePointer<Int16>,
  _ low: inout SIMD4<Int32>, _ high: inout SIMD4<Int32>
) {
  var pairs = SIMD16<Int16>()
  pairs.evenHalf = first
  pairs.oddHalf = second
  low &+= unsafe pairSums(pairs.lowHalf, loadEight(weights))
  high &+= unsafe pairSums(pairs.highHalf, loadEight(weights + 8))
}

@inline(__always)
private func pairSums(_ lanes: SIMD8<Int16>, _ weights: SIMD8<Int16>) -> SIMD4<Int32> {
  let products = SIMD8<Int32>(truncatingIfNeeded: lanes) &* SIMD8<Int32>(truncatingIfNeeded: weights)
  return products.evenHalf &+ products.oddHalf
}
