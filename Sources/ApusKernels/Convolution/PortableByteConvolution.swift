// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// 8-bit convolution in plain Swift: bytes minus their zero points as 16-bit integers, multiplied in pairs.
///
/// A product of two differences is at most 255² < 2¹⁶, so a sum of two fits in 32 bits; sums wrap as the
/// reference's do.
///
/// Packed layout: for each group, panels of eight output channels in the order of `packPanels`; then the bias
/// of all channels.
final class PortableByteConvolution: TiledConvolution {
  private let convolution: Convolution
  private let operands: ByteOperands
  private let tiling: ConvolutionTiling
  private let epilogue: QuantizedEpilogue
  /// The number of weights in a panel.
  private let panelCount: Int
  /// Columns whose sums are kept before the epilogue.
  private let chunk: Int

  init(_ convolution: Convolution) throws(Decline) {
    try convolution.epilogue.requireFit(convolution.operands, channels: convolution.outputChannels)
    guard let operands = convolution.operands.bytes,
      let epilogue = QuantizedEpilogue(convolution.epilogue, channels: convolution.outputChannels)
    else { throw Decline("operands of \(convolution.operands.name) are not bytes") }
    self.convolution = convolution
    self.operands = operands
    self.epilogue = epilogue
    tiling = ConvolutionTiling(
      convolution, maximumDepth: 2_048, gatheredCount: 32_768, minimumSharedRows: 16, maximumRows: 256,
      columnStep: 64)
    panelCount = tiling.paddedDepth * 8
    chunk = min(roundedUp(tiling.columnsPerTile, to: 8), tiling.depthBlocks == 1 ? 64 : 512)
  }

  private var biasOffset: Int { roundedUp(convolution.groups * tiling.panels * panelCount * 2, to: 64) }
  private var gatheredByteCount: Int { roundedUp(tiling.rowsPerTile * tiling.depthPerBlock * 2, to: 64) }
  var tileCount: Int { tiling.count }
  var inputByteCount: Int { convolution.inputCount }
  var outputByteCount: Int { convolution.outputCount }
  var workerByteCount: Int { gatheredByteCount + roundedUp(tiling.rowsPerTile * chunk * 4, to: 64) }

  var implementation: String {
    "portable products of 16-bit integers, \(tiling.text), \(convolution.epilogue.name)"
  }

  var packing: WeightLayout {
    WeightLayout(
      "portable-bytes",
      numbers: [
        Int(operands.signFlip), Int(operands.rhsZeroPoint), tiling.depth, tiling.depthPerBlock,
        tiling.columnCount, convolution.groups,
      ])
  }

  var packedByteCount: Int { biasOffset + (roundedUp(convolution.outputChannels, to: 8) + 8) * 4 }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    precondition(weights.byteCount >= convolution.weightCount && packed.byteCount >= packedByteCount)
    let (flip, zeroPoint) = (operands.signFlip, operands.rhsZeroPoint)
    unsafe weights.withUnsafeBytes { weights in
      unsafe tiling.packPanels(to: packed.address.assumingMemoryBound(to: Int16.self), of: packed) { place in
        unsafe Int16(truncatingIfNeeded: Int32(weights[place] ^ flip) &- zeroPoint)
      }
    }
    unsafe packBias(bias, count: convolution.outputChannels, to: packed.address + biasOffset)
  }

  func run(_ work: ConvolutionWork, tile: Int, scratch: UnsafeMutableRawPointer) {
    let (rows, columns, group) = tiling.tile(tile)
    let lanes = unsafe scratch.assumingMemoryBound(to: Int16.self)
    let sums = unsafe (scratch + gatheredByteCount).assumingMemoryBound(to: Int32.self)
    let bias = unsafe (work.packed + biasOffset).assumingMemoryBound(to: Int32.self)
    let output = unsafe work.output.assumingMemoryBound(to: UInt8.self)
    let weights =
      unsafe work.packed.assumingMemoryBound(to: Int16.self) + group &* tiling.panels &* panelCount
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
            lanes, rowCount: rows.count, terms: stride, panel, columns: count &- column, sums + column,
            sumStride: chunk,
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
          count: min(8, count &- column), to: output + position,
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
