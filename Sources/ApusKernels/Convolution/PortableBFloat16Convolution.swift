// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// Convolution of floats that are rounded to bfloat16, in plain Swift: the sums of ``BFloat16Sum``, to the bit.
///
/// Packed layout: for each group, panels of eight output channels, each `[k][channel]` of bfloat16; then the bias of
/// all channels.
final class PortableBFloat16Convolution: TiledConvolution {
  private let convolution: Convolution
  private let tiling: ConvolutionTiling
  private let bounds: FloatBounds
  private let chunk: Int

  init(_ convolution: Convolution) throws(Decline) {
    try convolution.epilogue.requireFit(convolution.operands, channels: convolution.outputChannels)
    try convolution.requirePairs()
    guard convolution.operands == .bfloat16, let bounds = FloatBounds(convolution.epilogue) else {
      throw Decline("operands of \(convolution.operands.name) are not bfloat16")
    }
    self.convolution = convolution
    self.bounds = bounds
    tiling = ConvolutionTiling(
      convolution, maximumDepth: 1_024, gatheredCount: 32_768, leastSharedRows: 16, maximumRows: 256,
      columnStep: 64)
    chunk = min(roundedUp(tiling.columnsPerTile, to: 8), tiling.depthBlocks == 1 ? 64 : 512)
  }

  private var panelCount: Int { tiling.depth * 8 }
  private var biasOffset: Int { roundedUp(convolution.groups * tiling.panels * panelCount * 2, to: 64) }
  private var gatheredByteCount: Int { roundedUp(tiling.rowsPerTile * tiling.depthPerBlock * 4, to: 64) }
  var tileCount: Int { tiling.count }
  var inputByteCount: Int { convolution.inputCount * 4 }
  var outputByteCount: Int { convolution.outputCount * 4 }
  var workerByteCount: Int { gatheredByteCount + roundedUp(tiling.rowsPerTile * chunk * 4, to: 64) }

  var implementation: String { "portable products of bfloat16, \(tiling.text), \(convolution.epilogue.name)" }

  var summation: String? { "bfloat16" }

  var packing: WeightLayout {
    WeightLayout("portable-bfloat16", numbers: [tiling.depth, tiling.columnCount, convolution.groups])
  }

  var packedByteCount: Int { biasOffset + (roundedUp(convolution.outputChannels, to: 8) + 8) * 4 }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    precondition(weights.byteCount >= convolution.weightCount * 4 && packed.byteCount >= packedByteCount)
    let depth = tiling.depth
    let columns = tiling.columnCount
    unsafe weights.withUnsafeBytes { weights in
      for group in 0..<convolution.groups {
        for column in 0..<columns {
          let panel = group * tiling.panels + column / 8
          let destination =
            unsafe packed.address.assumingMemoryBound(to: UInt16.self) + panel * panelCount + column % 8
          let source = (group * columns + column) * depth
          for term in 0..<depth {
            if term & 0xFFFF == 0, packed.mustStop { return }
            let value = unsafe weights.loadUnaligned(fromByteOffset: (source + term) * 4, as: Float.self)
            unsafe destination[term * 8] = BFloat16Rounding.bits(value)
          }
        }
      }
    }
    unsafe packBias(bias, count: convolution.outputChannels, to: packed.address + biasOffset)
  }

  func run(_ work: ConvolutionWork, tile: Int, scratch: UnsafeMutableRawPointer) {
    let (rows, columns, group) = tiling.tile(tile)
    let lanes = unsafe scratch.assumingMemoryBound(to: Float.self)
    let sums = unsafe (scratch + gatheredByteCount).assumingMemoryBound(to: Float.self)
    let bias = unsafe (work.packed + biasOffset).assumingMemoryBound(to: Float.self)
    let weights =
      unsafe work.packed.assumingMemoryBound(to: UInt16.self) + group &* tiling.panels &* panelCount
    let gathering = PatchGathering(convolution, RoundedFloats())
    let stride = tiling.depthPerBlock
    var isGathered = false
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
        var column = 0
        while column < count {
          let panel = unsafe weights + (first &+ column) / 8 &* panelCount + depth.lowerBound &* 8
          for row in 0..<rows.count {
            unsafe multiply(
              lanes + row &* stride, terms: depth.count, panel, sums + (row &* chunk &+ column),
              continues: block > 0)
          }
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

  /// Multiplies a row of an even number of terms with eight columns; sums continue those of the terms before, or
  /// start from zero.
  private func multiply(
    _ row: UnsafePointer<Float>, terms: Int, _ panel: UnsafePointer<UInt16>,
    _ sums: UnsafeMutablePointer<Float>,
    continues: Bool
  ) {
    var low = unsafe continues ? load4(sums, 0) : SIMD4<Float>()
    var high = unsafe continues ? load4(sums, 4) : SIMD4<Float>()
    var pair = 0
    while pair < terms {
      for turn in 0..<2 {
        let term = pair &+ 1 &- turn
        let value = unsafe SIMD4(repeating: row[term])
        let bits = unsafe UnsafeRawPointer(panel + term &* 8).loadUnaligned(as: SIMD8<UInt16>.self)
        let words = SIMD8<UInt32>(truncatingIfNeeded: bits) &<< 16
        low = BFloat16Sum.adding(value, unsafe unsafeBitCast(words.lowHalf, to: SIMD4<Float>.self), to: low)
        high = BFloat16Sum.adding(
          value, unsafe unsafeBitCast(words.highHalf, to: SIMD4<Float>.self), to: high)
      }
      pair &+= 2
    }
    unsafe UnsafeMutableRawPointer(sums).storeBytes(of: low, as: SIMD4<Float>.self)
    unsafe UnsafeMutableRawPointer(sums + 4).storeBytes(of: high, as: SIMD4<Float>.self)
  }
}
