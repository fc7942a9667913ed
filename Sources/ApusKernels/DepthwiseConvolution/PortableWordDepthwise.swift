// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// Depthwise convolution of 16-bit lanes in plain Swift: int16 activations, and floats quantized at run time.
///
/// Packed layout: for each group of eight output channels `[tap pair][channel][2]` 16-bit weights, a missing last
/// tap of a row as zeros; then the bias of all channels.
@safe final class PortableWordDepthwise: TiledConvolution, @unchecked Sendable {
  private let convolution: Convolution
  private let operands: WordOperands
  private let tiling: DepthwiseTiling
  private let epilogue: WordEpilogue
  let quantization: HybridQuantization?
  private let tapPairs: TapPairs
  /// The offset of each pair of taps in a plane, relative to the first.
  private let pairOffsets: UnsafeMutablePointer<Int>
  /// The number of pairs of taps whose sums fit in 32 bits.
  private static let pairsPerBlock = 252

  init(_ convolution: Convolution) throws(Decline) {
    try convolution.epilogue.requireFit(convolution.operands, channels: convolution.outputChannels)
    guard let operands = WordOperands(convolution.operands), operands.planes == 1,
      operands.weightZeroPoint == nil,
      let epilogue = WordEpilogue(
        convolution.epilogue, operands: convolution.operands, channels: convolution.outputChannels)
    else { throw Decline("operands of \(convolution.operands.name) are not 16-bit lanes with 8-bit weights") }
    self.convolution = convolution
    self.operands = operands
    self.epilogue = epilogue
    quantization = HybridQuantization(
      convolution.operands, batches: convolution.batches, inputCount: convolution.inputCount)
    tiling = DepthwiseTiling(convolution, gatheredCount: 24_576)
    tapPairs = TapPairs(convolution)
    unsafe pairOffsets = tiling.tapOffsets(
      rows: convolution.filterHeight, columns: tapPairs.perRow, columnStep: 2 * tiling.tapColumnStep)
  }

  deinit {
    unsafe pairOffsets.deallocate()
  }

  private var biasOffset: Int { roundedUp(tiling.groupCount * tapPairs.count * 16 * 2, to: 64) }
  private var gatheredByteCount: Int { roundedUp(tiling.gatheredCount * 4, to: 64) }
  private var sumsByteCount: Int { roundedUp(tiling.columnsPerTile * 32, to: 64) }
  var tileCount: Int { tiling.count }
  var inputByteCount: Int { convolution.inputCount * operands.inputByteCount }
  var outputByteCount: Int { convolution.outputCount * operands.outputByteCount }
  var workerByteCount: Int { gatheredByteCount + 3 * sumsByteCount }

  var implementation: String {
    """
    portable depthwise products of 16-bit integers in pairs\(operands.isWide ? " with sums of 64 bits" : ""), \
    \(tiling.text), \(convolution.epilogue.name)
    """
  }

  /// One value for all hybrid layers, whose sums of integers have no order: floats are quantized with a scale for each image.
  var summation: String? { "portable, of integers" }

  var packing: WeightLayout {
    operands.packing.of(
      "depthwise",
      numbers: [convolution.filterHeight, convolution.filterWidth, convolution.outputChannels])
  }

  var packedByteCount: Int {
    biasOffset + (roundedUp(convolution.outputChannels, to: 8) + 8) * operands.packedBiasByteCount
  }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    precondition(weights.byteCount >= convolution.weightCount && packed.byteCount >= packedByteCount)
    unsafe weights.withUnsafeBytes { weights in
      unsafe tapPairs.pack(to: packed.address.assumingMemoryBound(to: Int16.self)) { place in
        unsafe operands.weight(weights, place, plane: 0)
      }
    }
    unsafe packBias(
      bias, count: convolution.outputChannels, operands: operands, to: packed.address + biasOffset)
  }

  func run(_ work: ConvolutionWork, tile: Int, scratch: UnsafeMutableRawPointer) {
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
        while first < tapPairs.count {
          let last = operands.isWide ? min(tapPairs.count, first &+ Self.pairsPerBlock) : tapPairs.count
          unsafe multiplyLine(
            plane + line &* 8, weights: weights + group &* tapPairs.count &* 16, pairs: first..<last,
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

  /// One group's sums along a row, over some pairs of taps.
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
    _ sums: UnsafePointer<Int32>, _ wideSums: UnsafePointer<Int64>, _ work: ConvolutionWork, batch: Int,
    columns: Int,
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
