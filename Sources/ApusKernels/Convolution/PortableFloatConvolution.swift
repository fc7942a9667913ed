// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// Float convolution in plain Swift.
///
/// Packed layout: for each group, panels of eight output channels, each `[k][channel]` of the products' weights; then the
/// bias of all channels as floats. Each output is summed in the order of K, block by block.
final class PortableFloatConvolution: TiledConvolution {
  private let products: any PortableFloatProducts.Type
  private let convolution: Convolution
  private let tiling: ConvolutionTiling
  private let bounds: FloatBounds
  private let chunk: Int
  /// The values of K whose sum is added at once; 0 if each product is.
  private let part: Int

  init(_ convolution: Convolution) throws(Decline) {
    try convolution.epilogue.requireFit(convolution.operands, channels: convolution.outputChannels)
    products = convolution.operands.isBFloat16 ? PortableBFloat16Products.self : PlainFloatProducts.self
    try products.requireFit(convolution)
    guard let bounds = FloatBounds(convolution.epilogue) else {
      throw Decline("operands of \(convolution.operands.name) are not floats")
    }
    self.convolution = convolution
    self.bounds = bounds
    let part = if case .bfloat16(.parts(let pairs)) = convolution.operands { 2 * pairs } else { 0 }
    guard part == 0 || convolution.depth.isMultiple(of: part) else {
      throw Decline("\(counted(convolution.depth, "term")) of a sum are no whole parts of \(part)")
    }
    self.part = part
    tiling = ConvolutionTiling(
      convolution, maximumDepth: 1_024, gatheredCount: 32_768, minimumSharedRows: 16, maximumRows: 256,
      columnStep: 64, depthStep: part == 0 ? 8 : 4 * part)
    chunk = min(roundedUp(tiling.columnsPerTile, to: 8), tiling.depthBlocks == 1 ? 64 : 512)
  }

  private var panelCount: Int { tiling.depth * 8 }
  private var biasOffset: Int {
    roundedUp(convolution.groups * tiling.panels * panelCount * products.weightByteCount, to: 64)
  }
  private var isInPlace: Bool { products.readsInputAsItIs && convolution.readsInputInPlace }
  private var gatheredByteCount: Int {
    isInPlace ? 0 : roundedUp(tiling.rowsPerTile * tiling.depthPerBlock * 4, to: 64)
  }
  var tileCount: Int { tiling.count }
  var inputByteCount: Int { convolution.inputCount * 4 }
  var outputByteCount: Int { convolution.outputCount * 4 }
  var workerByteCount: Int { gatheredByteCount + roundedUp(tiling.rowsPerTile * chunk * 4, to: 64) }

  var implementation: String {
    let order = if case .bfloat16(let order) = convolution.operands { ", \(order.name)" } else { "" }
    return "portable products of \(products.name)\(order), \(tiling.text), \(convolution.epilogue.name)"
  }

  var summation: String? {
    if case .bfloat16(let order) = convolution.operands { return "bfloat16, \(order.name)" }
    return products.summation(tiling)
  }

  var packing: WeightLayout {
    WeightLayout(products.layoutName, numbers: [tiling.depth, tiling.columnCount, convolution.groups])
  }

  var packedByteCount: Int { biasOffset + (roundedUp(convolution.outputChannels, to: 8) + 8) * 4 }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    // Each branch names a concrete type, for which the compiler specializes the loops; `run` has the same branches.
    if products == PortableBFloat16Products.self {
      pack(PortableBFloat16Products.self, weights: weights, bias: bias, into: packed)
    } else {
      pack(PlainFloatProducts.self, weights: weights, bias: bias, into: packed)
    }
  }

  private func pack<Products: PortableFloatProducts>(
    _: Products.Type, weights: RawSpan, bias: RawSpan?, into packed: PackedWeights
  ) {
    precondition(weights.byteCount >= convolution.weightCount * 4 && packed.byteCount >= packedByteCount)
    let depth = tiling.depth
    let columns = tiling.columnCount
    unsafe weights.withUnsafeBytes { weights in
      for group in 0..<convolution.groups {
        for column in 0..<columns {
          let panel = group * tiling.panels + column / 8
          let destination =
            unsafe packed.address.assumingMemoryBound(to: Products.Weight.self)
            + panel * panelCount + column % 8
          let source = (group * columns + column) * depth
          for term in 0..<depth {
            if term & 0xFFFF == 0, packed.mustStop { return }
            unsafe destination[term * 8] = Products.weight(
              weights.loadUnaligned(fromByteOffset: (source + term) * 4, as: Float.self))
          }
        }
      }
    }
    unsafe packBias(bias, count: convolution.outputChannels, to: packed.address + biasOffset)
  }

  func run(_ work: ConvolutionWork, tile: Int, scratch: UnsafeMutableRawPointer) {
    if products == PortableBFloat16Products.self {
      unsafe run(PortableBFloat16Products.self, work, tile: tile, scratch: scratch)
    } else {
      unsafe run(PlainFloatProducts.self, work, tile: tile, scratch: scratch)
    }
  }

  private func run<Products: PortableFloatProducts>(
    _: Products.Type, _ work: ConvolutionWork, tile: Int, scratch: UnsafeMutableRawPointer
  ) {
    let (rows, columns, group) = tiling.tile(tile)
    let lanes = unsafe scratch.assumingMemoryBound(to: Float.self)
    let sums = unsafe (scratch + gatheredByteCount).assumingMemoryBound(to: Float.self)
    let bias = unsafe (work.packed + biasOffset).assumingMemoryBound(to: Float.self)
    let weights =
      unsafe work.packed.assumingMemoryBound(to: Products.Weight.self) + group &* tiling.panels &* panelCount
    let gathering = PatchGathering(convolution, Products.conversion)
    let isInPlace = isInPlace
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
          unsafe Products.multiplyPanel(
            source, rowCount: rows.count, rowStride: stride, terms: depth.count, part: part, panel,
            sums + column,
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
