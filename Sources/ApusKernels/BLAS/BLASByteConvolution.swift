// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// 8-bit convolution by `sgemm`, exactly: bytes minus 128 as floats.
///
/// Products are at most 2¹⁴ in magnitude, so sums of up to 1,024 are integers that a float represents
/// exactly. Blocks of K are summed as int32, which wraps as the reference does. With `a` and `w` minus 128
/// and zero points minus 128 as well, Σ(a − za)(w − zw) = Σaw − za·Σw − zw·Σa + n·za·zw: the weights' sums
/// join the bias when packed, the rows' sums are computed in each run, unless zw is 0.
///
/// Packed layout: `[output channel][k]` floats; then that bias.
final class BLASByteConvolution: TiledConvolution {
  private let convolution: Convolution
  private let operands: ByteOperands
  private let tiling: ConvolutionTiling
  private let epilogue: QuantizedEpilogue
  /// Columns per call of `sgemm`.
  private let chunk: Int

  /// Throws for floats; for few rows, where the portable kernel is faster; and for sizes that BLAS cannot
  /// express.
  init(_ convolution: Convolution) throws(Decline) {
    guard let operands = convolution.operands.bytes else {
      throw Decline("operands of \(convolution.operands.name) are not bytes")
    }
    try convolution.epilogue.requireFit(convolution.operands, channels: convolution.outputChannels)
    try BLASTiling.require(convolution)
    guard let epilogue = QuantizedEpilogue(convolution.epilogue, channels: convolution.outputChannels) else {
      throw Decline("\(convolution.epilogue.name) are not bytes")
    }
    self.convolution = convolution
    self.operands = operands
    self.epilogue = epilogue
    tiling = ConvolutionTiling(
      convolution, maximumDepth: 1_024, gatheredCount: 131_072, minimumSharedRows: 32, maximumRows: 256,
      columnStep: 64)
    chunk = min(roundedUp(tiling.columnsPerTile, to: 8), 256)
  }

  private var lhsZeroPoint: Int32 { operands.lhsZeroPoint &- 128 }
  private var rhsZeroPoint: Int32 { operands.rhsZeroPoint &- 128 }
  private var biasOffset: Int { roundedUp(convolution.weightCount * 4, to: 64) }
  private var gatheredByteCount: Int { roundedUp(tiling.rowsPerTile * tiling.depthPerBlock * 4, to: 64) }
  private var productByteCount: Int { roundedUp(tiling.rowsPerTile * chunk * 4, to: 64) }
  var tileCount: Int { tiling.count }
  var inputByteCount: Int { convolution.inputCount }
  var outputByteCount: Int { convolution.outputCount }
  var workerByteCount: Int {
    gatheredByteCount + 2 * productByteCount + roundedUp(tiling.rowsPerTile * 4, to: 64)
  }

  var implementation: String { "sgemm of bytes as floats, \(tiling.text), \(convolution.epilogue.name)" }

  var packing: WeightLayout {
    WeightLayout(
      "blas-bytes",
      numbers: [
        Int(operands.signFlip), Int(operands.lhsZeroPoint), Int(operands.rhsZeroPoint), tiling.depth,
        tiling.columnCount, convolution.groups,
      ])
  }

  var packedByteCount: Int { biasOffset + (roundedUp(convolution.outputChannels, to: 8) + 8) * 4 }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    precondition(weights.byteCount >= convolution.weightCount && packed.byteCount >= packedByteCount)
    unsafe packBias(bias, count: convolution.outputChannels, to: packed.address + biasOffset)
    let conversion = CenteredFloat(signFlip: operands.signFlip, zeroPoint: operands.rhsZeroPoint)
    let depth = tiling.depth
    unsafe weights.withUnsafeBytes { weights in
      guard let source = weights.baseAddress else { return }
      let lanes = unsafe packed.address.assumingMemoryBound(to: Float.self)
      let sums = unsafe (packed.address + biasOffset).assumingMemoryBound(to: Int32.self)
      let constant = Int32(truncatingIfNeeded: depth) &* lhsZeroPoint &* rhsZeroPoint
      for channel in 0..<convolution.outputChannels {
        if channel * depth & ~0xFFFF != (channel - 1) * depth & ~0xFFFF, packed.mustStop { return }
        let line = unsafe lanes + channel * depth
        unsafe conversion.convert(source + channel * depth, to: line, count: depth)
        var sum: Int32 = 0
        for term in 0..<depth { sum &+= unsafe Int32(line[term]) }
        unsafe sums[channel] &+= constant &- lhsZeroPoint &* sum
      }
    }
  }

  func run(_ work: ConvolutionWork, tile: Int, scratch: UnsafeMutableRawPointer) {
    let (rows, columns, group) = tiling.tile(tile)
    let lanes = unsafe scratch.assumingMemoryBound(to: Float.self)
    let product = unsafe (scratch + gatheredByteCount).assumingMemoryBound(to: Float.self)
    let afterProduct = unsafe scratch + gatheredByteCount + productByteCount
    let sums = unsafe afterProduct.assumingMemoryBound(to: Int32.self)
    let corrections = unsafe (afterProduct + productByteCount).assumingMemoryBound(to: Int32.self)
    let bias = unsafe (work.packed + biasOffset).assumingMemoryBound(to: Int32.self)
    let output = unsafe work.output.assumingMemoryBound(to: UInt8.self)
    let weights = unsafe work.packed.assumingMemoryBound(to: Float.self)
    let stride = tiling.depthPerBlock
    let gathering = PatchGathering(
      convolution, CenteredFloat(signFlip: operands.signFlip, zeroPoint: operands.lhsZeroPoint))
    var isGathered = false
    var first = columns.lowerBound
    while first < columns.upperBound {
      let count = min(chunk, columns.upperBound &- first)
      let channel = group &* tiling.columnCount &+ first
      for block in 0..<tiling.depthBlocks {
        let depth = tiling.depthRange(block)
        if !isGathered {
          unsafe gathering.gather(
            rows: rows, depth: depth, group: group, from: work.input, to: lanes, stride: stride, zero: 0)
          for row in 0..<rows.count {
            let sum = rhsZeroPoint == 0 ? 0 : unsafe rowSum(lanes + row &* stride, count: stride)
            let previous = block == 0 ? 0 : unsafe corrections[row]
            unsafe corrections[row] = previous &- rhsZeroPoint &* sum
          }
          isGathered = tiling.depthBlocks == 1
        }
        unsafe BLAS.multiply(
          rows: rows.count, columns: count, terms: depth.count, lhs: lanes, lhsStride: stride,
          rhs: weights + (channel &* tiling.depth &+ depth.lowerBound), rhsStride: tiling.depth,
          product: product, productStride: chunk, accumulates: false)
        let isLast = block == tiling.depthBlocks &- 1
        for row in 0..<rows.count {
          unsafe addIntegers(
            product + row &* chunk, correction: isLast ? corrections[row] : 0, to: sums + row &* chunk,
            count: count, accumulates: block > 0)
        }
      }
      var column = 0
      while column < count {
        let position = rows.lowerBound &* convolution.outputChannels &+ channel &+ column
        unsafe epilogue.store(
          sums + column, sumStride: chunk, rows: rows.count, bias: bias + channel + column,
          channel: channel &+ column, count: min(8, count &- column), to: output + position,
          outputStride: convolution.outputChannels)
        column &+= 8
      }
      first &+= count
    }
  }
}

/// The sum of integers stored as floats; `count` is a multiple of eight, and every partial sum is below 2²⁴.
private func rowSum(_ lanes: UnsafePointer<Float>, count: Int) -> Int32 {
  var low = SIMD4<Float>()
  var high = SIMD4<Float>()
  var index = 0
  while index < count {
    low += unsafe load4(lanes, index)
    high += unsafe load4(lanes, index &+ 4)
    index &+= 8
  }
  return Int32((low + high).sum())
}

/// Adds integers of at most 2²⁴ in magnitude, stored as floats, and a correction, to `count` sums or to
/// zeros.
///
/// Whole groups of four lanes are read and written: each row has room for them.
private func addIntegers(
  _ values: UnsafePointer<Float>, correction: Int32, to sums: UnsafeMutablePointer<Int32>, count: Int,
  accumulates: Bool
) {
  // 1.5 · 2²³ + x has an integer x below 2²² as its lowest mantissa bits, offset: so a value goes in two parts.
  let magic = SIMD4<Float>(repeating: 0x1.8p23)
  let offset = Int32(bitPattern: 0x4B40_0000)
  let corrections = SIMD4<Int32>(repeating: correction &- offset &- offset &* 4_096)
  let shift = SIMD4<Int32>(repeating: 12)
  var index = 0
  while index < count {
    let value = unsafe load4(values, index)
    let high = value * 0x1p-12 + magic
    let low = value - (high - magic) * 0x1p12 + magic
    let highBits = unsafe unsafeBitCast(high, to: SIMD4<Int32>.self)
    let lowBits = unsafe unsafeBitCast(low, to: SIMD4<Int32>.self)
    let previous = unsafe accumulates ? load4(sums, index) : SIMD4<Int32>()
    unsafe UnsafeMutableRawPointer(sums + index).storeBytes(
      of: lowBits &+ highBits &<< shift &+ corrections &+ previous, as: SIMD4<Int32>.self)
    index &+= 4
  }
}
