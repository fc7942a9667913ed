// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// Convolution of 16-bit lanes in plain Swift: int16 activations, floats quantized at run time, and bytes
/// with int16 outputs.
///
/// Packed layout: for each plane (the upper bytes of 16-bit weights, then the lower ones; one plane for
/// others) and each group, panels of eight output channels in the order of `packPanels`; then the bias of all
/// channels.
final class PortableWordConvolution: TiledConvolution {
  private let convolution: Convolution
  private let operands: WordOperands
  private let epilogue: WordEpilogue
  private let tiling: ConvolutionTiling
  let quantization: HybridQuantization?
  /// The number of weights in a panel.
  private let panelCount: Int
  /// Columns whose sums are kept before the epilogue.
  private let chunk: Int

  init(_ convolution: Convolution) throws(Decline) {
    try convolution.epilogue.requireFit(convolution.operands, channels: convolution.outputChannels)
    guard let operands = WordOperands(convolution.operands),
      let epilogue = WordEpilogue(
        convolution.epilogue, operands: convolution.operands, channels: convolution.outputChannels)
    else { throw Decline("operands of \(convolution.operands.name) are not 16-bit lanes") }
    self.convolution = convolution
    self.operands = operands
    self.epilogue = epilogue
    quantization = HybridQuantization(
      convolution.operands, batches: convolution.batches, inputCount: convolution.inputCount)
    tiling = ConvolutionTiling(
      convolution, maximumDepth: operands.maximumDepth, gatheredCount: 32_768, minimumSharedRows: 16,
      maximumRows: 256, columnStep: 64)
    panelCount = tiling.paddedDepth * 8
    chunk = min(roundedUp(tiling.columnsPerTile, to: 8), tiling.depthBlocks == 1 ? 64 : 512)
  }

  private var planeCount: Int { convolution.groups * tiling.panels * panelCount }
  private var biasOffset: Int { roundedUp(operands.planes * planeCount * 2, to: 64) }
  private var gatheredByteCount: Int { roundedUp(tiling.rowsPerTile * tiling.depthPerBlock * 2, to: 64) }
  private var sumsByteCount: Int { roundedUp(tiling.rowsPerTile * chunk * 4, to: 64) }
  var tileCount: Int { tiling.count }
  var inputByteCount: Int { convolution.inputCount * operands.inputByteCount }
  var outputByteCount: Int { convolution.outputCount * operands.outputByteCount }
  var workerByteCount: Int {
    gatheredByteCount + sumsByteCount + (operands.isWide ? 2 * sumsByteCount : 0)
  }

  var implementation: String {
    """
    portable products of 16-bit integers\(operands.isWide ? " with sums of 64 bits" : ""), \(tiling.text), \
    \(convolution.epilogue.name)
    """
  }

  /// One value for all hybrid layers, whose sums of integers have no order: floats are quantized with a scale for each image.
  var summation: String? { "portable, of integers" }

  var packing: WeightLayout {
    operands.packing.of(
      "columns",
      numbers: [tiling.depth, tiling.depthPerBlock, tiling.columnCount, convolution.groups])
  }

  var packedByteCount: Int {
    biasOffset + (roundedUp(convolution.outputChannels, to: 8) + 8) * operands.packedBiasByteCount
  }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    precondition(
      weights.byteCount >= convolution.weightCount * operands.weightByteCount
        && packed.byteCount >= packedByteCount)
    unsafe weights.withUnsafeBytes { weights in
      let planes = unsafe packed.address.assumingMemoryBound(to: Int16.self)
      for plane in 0..<operands.planes {
        unsafe tiling.packPanels(to: planes + plane * planeCount, of: packed) { place in
          unsafe operands.weight(weights, place, plane: plane)
        }
      }
    }
    unsafe packBias(
      bias, count: convolution.outputChannels, operands: operands, to: packed.address + biasOffset)
  }

  func run(_ work: ConvolutionWork, tile: Int, scratch: UnsafeMutableRawPointer) {
    let (rows, columns, group) = tiling.tile(tile)
    let lanes = unsafe scratch.assumingMemoryBound(to: Int16.self)
    let sums = unsafe (scratch + gatheredByteCount).assumingMemoryBound(to: Int32.self)
    let wideSums = unsafe (scratch + gatheredByteCount + sumsByteCount).assumingMemoryBound(to: Int64.self)
    let weights =
      unsafe work.packed.assumingMemoryBound(to: Int16.self) + group &* tiling.panels &* panelCount
    let stride = tiling.depthPerBlock
    var isGathered = false
    var first = columns.lowerBound
    while first < columns.upperBound {
      let count = min(chunk, columns.upperBound &- first)
      for block in 0..<tiling.depthBlocks {
        if !isGathered {
          unsafe gather(rows, tiling.depthRange(block), group, from: work.input, to: lanes)
          isGathered = tiling.depthBlocks == 1
        }
        for plane in 0..<operands.planes {
          var column = 0
          while column < count {
            let panel =
              unsafe weights + plane &* planeCount + (first &+ column) / 8 &* panelCount + block &* stride
              &* 8
            unsafe multiplyPanel(
              lanes, rowCount: rows.count, terms: stride, panel, columns: count &- column, sums + column,
              sumStride: chunk,
              accumulates: block > 0 && !operands.isWide)
            column &+= 8
          }
          guard operands.isWide else { continue }
          unsafe widen(
            sums, to: wideSums, rows: rows.count, count: count,
            shift: operands.planes == 2 && plane == 0 ? 8 : 0, accumulates: block > 0 || plane > 0)
        }
      }
      unsafe store(
        sums, wideSums, work, rows: rows, channel: group &* tiling.columnCount &+ first, count: count)
      first &+= count
    }
  }

  private func gather(
    _ rows: Range<Int>, _ depth: Range<Int>, _ group: Int, from input: UnsafeRawPointer,
    to lanes: UnsafeMutablePointer<Int16>
  ) {
    if case .bytes(let signFlip, let zeroPoint) = operands.source {
      unsafe PatchGathering(convolution, CenteredInt16(signFlip: signFlip, zeroPoint: zeroPoint)).gather(
        rows: rows, depth: depth, group: group, from: input, to: lanes, stride: tiling.depthPerBlock, zero: 0)
    } else {
      unsafe PatchGathering(convolution, Copy<Int16>(padding: 0)).gather(
        rows: rows, depth: depth, group: group, from: input, to: lanes, stride: tiling.depthPerBlock, zero: 0)
    }
  }

  /// Adds a block's sums, which fit in 32 bits, to the wide ones.
  private func widen(
    _ sums: UnsafePointer<Int32>, to wideSums: UnsafeMutablePointer<Int64>, rows: Int, count: Int,
    shift: Int64,
    accumulates: Bool
  ) {
    for row in 0..<rows {
      for column in row &* chunk..<row &* chunk &+ count {
        let previous = unsafe accumulates ? wideSums[column] : 0
        unsafe wideSums[column] = previous &+ Int64(sums[column]) &<< shift
      }
    }
  }

  private func store(
    _ sums: UnsafePointer<Int32>, _ wideSums: UnsafePointer<Int64>, _ work: ConvolutionWork, rows: Range<Int>,
    channel: Int,
    count: Int
  ) {
    let bias = unsafe UnsafeRawPointer(work.packed + biasOffset)
    let pixels = convolution.outputHeight &* convolution.outputWidth
    for row in 0..<rows.count {
      let position = (rows.lowerBound &+ row) &* convolution.outputChannels &+ channel
      if quantization != nil {
        unsafe epilogue.store(
          sums + row &* chunk, bias: bias.assumingMemoryBound(to: Float.self) + channel,
          scale: work.scales[(rows.lowerBound &+ row) / pixels], channel: channel, count: count,
          to: work.output.assumingMemoryBound(to: Float.self) + position)
      } else if operands.isWide {
        unsafe epilogue.store(
          wideSums + row &* chunk, bias: bias.assumingMemoryBound(to: Int64.self) + channel, channel: channel,
          count: count, to: work.output.assumingMemoryBound(to: Int16.self) + position)
      } else if operands.isRaw {
        unsafe (work.output + position &* 4).copyMemory(from: sums + row &* chunk, byteCount: count &* 4)
      } else {
        unsafe epilogue.store(
          sums + row &* chunk, bias: bias.assumingMemoryBound(to: Int32.self) + channel, channel: channel,
          count: count, to: work.output.assumingMemoryBound(to: Int16.self) + position)
      }
    }
  }
}
