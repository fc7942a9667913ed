// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// 8-bit depthwise convolution in plain Swift: 16-bit differences, two taps of a filter row at a
/// time.
///
/// Packed layout: for each group of eight output channels `[tap pair][channel][2]` 16-bit weights minus their
/// zero point, a missing last tap of a row as zeros; then the bias of all channels.
@safe final class PortableByteDepthwise: TiledConvolution, @unchecked Sendable {
  private let convolution: Convolution
  private let operands: ByteOperands
  private let tiling: DepthwiseTiling
  private let epilogue: QuantizedEpilogue
  private let tapPairs: TapPairs
  /// The offset of each pair of taps in a plane, relative to the first.
  private let pairOffsets: UnsafeMutablePointer<Int>

  init(_ convolution: Convolution) throws(Decline) {
    try convolution.epilogue.requireFit(convolution.operands, channels: convolution.outputChannels)
    guard let operands = convolution.operands.bytes,
      let epilogue = QuantizedEpilogue(convolution.epilogue, channels: convolution.outputChannels)
    else { throw Decline("operands of \(convolution.operands.name) are not bytes") }
    self.convolution = convolution
    self.operands = operands
    self.epilogue = epilogue
    tiling = DepthwiseTiling(convolution, gatheredCount: 24_576)
    tapPairs = TapPairs(convolution)
    unsafe pairOffsets = unsafe tiling.tapOffsets(
      rows: convolution.filterHeight, columns: tapPairs.perRow, columnStep: 2 * tiling.tapColumnStep)
  }

  deinit {
    unsafe pairOffsets.deallocate()
  }

  private var biasOffset: Int { roundedUp(tiling.groupCount * tapPairs.count * 16 * 2, to: 64) }
  private var gatheredByteCount: Int { roundedUp(tiling.gatheredCount * 4, to: 64) }
  var tileCount: Int { tiling.count }
  var inputByteCount: Int { convolution.inputCount }
  var outputByteCount: Int { convolution.outputCount }
  var workerByteCount: Int { gatheredByteCount + tiling.columnsPerTile * 32 + 64 }

  var implementation: String {
    "portable depthwise products of 16-bit integers in pairs, \(tiling.text), \(convolution.epilogue.name)"
  }

  var packing: WeightLayout {
    WeightLayout(
      "portable-bytes", "depthwise",
      numbers: [
        Int(operands.signFlip), Int(operands.rhsZeroPoint), convolution.filterHeight, convolution.filterWidth,
        convolution.outputChannels,
      ])
  }

  var packedByteCount: Int { biasOffset + (roundedUp(convolution.outputChannels, to: 8) + 8) * 4 }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    precondition(weights.byteCount >= convolution.weightCount && packed.byteCount >= packedByteCount)
    let (flip, zeroPoint) = (operands.signFlip, operands.rhsZeroPoint)
    unsafe weights.withUnsafeBytes { weights in
      unsafe tapPairs.pack(to: packed.address.assumingMemoryBound(to: Int16.self)) { place in
        unsafe Int16(truncatingIfNeeded: Int32(weights[place] ^ flip) &- zeroPoint)
      }
    }
    unsafe packBias(bias, count: convolution.outputChannels, to: packed.address + biasOffset)
  }

  func run(_ work: ConvolutionWork, tile: Int, scratch: UnsafeMutableRawPointer) {
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
    let output = unsafe work.output.assumingMemoryBound(to: UInt8.self)
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
          plane + line &* 8, weights: weights + group &* tapPairs.count &* 16, columns: tile.columns.count,
          to: sums)
        unsafe epilogue.store(
          sums, sumStride: 8, rows: tile.columns.count, bias: bias + group &* 8, channel: group &* 8,
          count: used, to: output + first, outputStride: channels)
      }
    }
  }

  /// One group's sums along a row.
  private func multiplyLine(
    _ line: UnsafePointer<Int32>, weights: UnsafePointer<Int16>, columns: Int,
    to sums: UnsafeMutablePointer<Int32>
  ) {
    if tapPairs.perRow == 2, convolution.filterHeight == 3 {
      unsafe multiplyThreeRows(line, weights: weights, columns: columns, to: sums)
      return
    }
    let step = convolution.strideWidth &* 8
    let pairs = tapPairs.count
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

  /// Three rows of two pairs (3×3 and 3×4 filters), without a loop over them.
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
