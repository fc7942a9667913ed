// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// Float convolution by `sgemm`; reads rows in place if they are contiguous in the input.
///
/// Packed layout: the weights in their order, `[output channel][k]`; then the bias.
final class BLASFloatConvolution: TiledConvolution {
  private let convolution: Convolution
  private let tiling: ConvolutionTiling
  private let bounds: FloatBounds

  /// Throws for operands other than floats; for single rows, where the portable kernel is faster; and for
  /// sizes that BLAS cannot express.
  init(_ convolution: Convolution) throws(Decline) {
    try convolution.epilogue.requireFit(convolution.operands, channels: convolution.outputChannels)
    guard let bounds = FloatBounds(convolution.epilogue) else {
      throw Decline("operands of \(convolution.operands.name) are not float32")
    }
    try BLASTiling.require(convolution)
    self.convolution = convolution
    self.bounds = bounds
    tiling = ConvolutionTiling(
      convolution, maximumDepth: convolution.readsInputInPlace ? convolution.depth : 1_024,
      gatheredCount: convolution.readsInputInPlace ? .max : 131_072, minimumSharedRows: 32, maximumRows: 512,
      columnStep: 64)
  }

  private var biasOffset: Int { roundedUp(convolution.weightCount * 4, to: 64) }
  var tileCount: Int { tiling.count }
  var inputByteCount: Int { convolution.inputCount * 4 }
  var outputByteCount: Int { convolution.outputCount * 4 }
  var workerByteCount: Int {
    convolution.readsInputInPlace ? 0 : roundedUp(tiling.rowsPerTile * tiling.depthPerBlock * 4, to: 64)
  }

  var implementation: String { "sgemm, \(tiling.text), \(convolution.epilogue.name)" }

  var packing: WeightLayout {
    WeightLayout("blas-float", numbers: [tiling.depth, tiling.columnCount, convolution.groups])
  }

  var packedByteCount: Int { biasOffset + roundedUp(convolution.outputChannels, to: 8) * 4 }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    precondition(weights.byteCount >= convolution.weightCount * 4 && packed.byteCount >= packedByteCount)
    unsafe weights.withUnsafeBytes { weights in
      guard let source = weights.baseAddress else { return }
      let byteCount = convolution.weightCount * 4
      for first in stride(from: 0, to: byteCount, by: 1 << 24) {
        if first > 0, packed.mustStop { return }
        unsafe (packed.address + first).copyMemory(
          from: source + first, byteCount: min(1 << 24, byteCount - first))
      }
    }
    unsafe packBias(bias, count: convolution.outputChannels, to: packed.address + biasOffset)
  }

  func run(_ work: ConvolutionWork, tile: Int, scratch: UnsafeMutableRawPointer) {
    let (rows, columns, group) = tiling.tile(tile)
    let lanes = unsafe scratch.assumingMemoryBound(to: Float.self)
    let isInPlace = convolution.readsInputInPlace
    let stride = isInPlace ? convolution.inputChannels : tiling.depthPerBlock
    let channel = group &* tiling.columnCount &+ columns.lowerBound
    let input = unsafe work.input.assumingMemoryBound(to: Float.self)
    let weights = unsafe work.packed.assumingMemoryBound(to: Float.self)
    let outputs =
      unsafe work.output.assumingMemoryBound(to: Float.self)
      + (rows.lowerBound &* convolution.outputChannels &+ channel)
    let gathering = PatchGathering(convolution, Copy<Float>(padding: 0))
    for block in 0..<tiling.depthBlocks {
      let depth = tiling.depthRange(block)
      var lhs = unsafe UnsafePointer(lanes)
      if isInPlace {
        unsafe lhs =
          input
          + (rows.lowerBound &* stride &+ group &* convolution.channelsPerGroup &+ depth.lowerBound)
      } else {
        unsafe gathering.gather(
          rows: rows, depth: depth, group: group, from: work.input, to: lanes, stride: stride, zero: 0)
      }
      unsafe BLAS.multiply(
        rows: rows.count, columns: columns.count, terms: depth.count, lhs: lhs, lhsStride: stride,
        rhs: weights + (channel &* tiling.depth &+ depth.lowerBound), rhsStride: tiling.depth,
        product: outputs, productStride: convolution.outputChannels, accumulates: block > 0)
    }
    let bias = unsafe weights + (biasOffset / 4 &+ channel)
    for row in 0..<rows.count {
      let line = unsafe outputs + row &* convolution.outputChannels
      unsafe bounds.store(line, bias: bias, count: columns.count, to: UnsafeMutableRawPointer(line))
    }
  }
}
