// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// Float depthwise convolution in plain Swift.
///
/// Packed layout: for each group of eight output channels `[tap][channel]`; then the bias of all channels.
@safe final class PortableFloatDepthwise: TiledConvolution, @unchecked Sendable {
  private let convolution: Convolution
  private let tiling: DepthwiseTiling
  private let bounds: FloatBounds
  /// The offset of each tap in a plane, relative to the first.
  private let tapOffsets: UnsafeMutablePointer<Int>

  init(_ convolution: Convolution) throws(Decline) {
    try convolution.epilogue.requireFit(convolution.operands, channels: convolution.outputChannels)
    guard let bounds = FloatBounds(convolution.epilogue) else {
      throw Decline("operands of \(convolution.operands.name) are not float32")
    }
    self.convolution = convolution
    self.bounds = bounds
    tiling = DepthwiseTiling(convolution, gatheredCount: 24_576)
    unsafe tapOffsets = tiling.tapOffsets(
      rows: convolution.filterHeight, columns: convolution.filterWidth, columnStep: tiling.tapColumnStep)
  }

  deinit {
    unsafe tapOffsets.deallocate()
  }

  private var biasOffset: Int { roundedUp(tiling.groupCount * convolution.taps * 8 * 4, to: 64) }
  var tileCount: Int { tiling.count }
  var inputByteCount: Int { convolution.inputCount * 4 }
  var outputByteCount: Int { convolution.outputCount * 4 }
  var workerByteCount: Int { roundedUp(tiling.gatheredCount * 4, to: 64) }

  var implementation: String {
    "portable depthwise products of floats, \(tiling.text), \(convolution.epilogue.name)"
  }

  var summation: String? { "portable, tap by tap" }

  var packing: WeightLayout {
    WeightLayout("portable-float", "depthwise", numbers: [convolution.taps, convolution.outputChannels])
  }

  var packedByteCount: Int { biasOffset + (roundedUp(convolution.outputChannels, to: 8) + 8) * 4 }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    precondition(weights.byteCount >= convolution.weightCount * 4 && packed.byteCount >= packedByteCount)
    let channels = convolution.outputChannels
    unsafe weights.withUnsafeBytes { weights in
      let destination = unsafe packed.address.assumingMemoryBound(to: Float.self)
      for tap in 0..<convolution.taps {
        for channel in 0..<channels {
          let position = (channel / 8 * convolution.taps + tap) * 8 + channel % 8
          unsafe destination[position] = weights.loadUnaligned(
            fromByteOffset: (tap * channels + channel) * 4, as: Float.self)
        }
      }
    }
    unsafe packBias(bias, count: channels, to: packed.address + biasOffset)
  }

  func run(_ work: ConvolutionWork, tile: Int, scratch: UnsafeMutableRawPointer) {
    let tile = tiling.tile(tile, of: convolution)
    let lanes = unsafe scratch.assumingMemoryBound(to: Float.self)
    let gathering = PlaneGathering(convolution: convolution, tiling: tiling, conversion: PlainLane())
    unsafe gathering.gather(tile, from: work.input, to: lanes)
    let bias = unsafe (work.packed + biasOffset).assumingMemoryBound(to: Float.self)
    let weights = unsafe work.packed.assumingMemoryBound(to: Float.self)
    let channels = convolution.outputChannels
    for group in tile.groups {
      let plane = unsafe lanes + (group &- tile.groups.lowerBound) &* tiling.planeCount
      let used = min(8, channels &- group &* 8)
      for row in tile.rows {
        let line = (row &- tile.rows.lowerBound) &* convolution.strideHeight &* tiling.planeColumns
        let position = (tile.batch &* convolution.outputHeight &+ row) &* convolution.outputWidth
        let first = (position &+ tile.columns.lowerBound) &* channels &+ group &* 8
        unsafe multiplyLine(
          plane + line &* 8, weights: weights + group &* convolution.taps &* 8, bias: bias + group &* 8,
          columns: tile.columns.count, to: work.output + first &* 4, channels: channels, used: used)
      }
    }
  }

  /// One group's outputs along a row.
  private func multiplyLine(
    _ line: UnsafePointer<Float>, weights: UnsafePointer<Float>, bias: UnsafePointer<Float>, columns: Int,
    to output: UnsafeMutableRawPointer, channels: Int, used: Int
  ) {
    // A constant number of taps, for 3×3, is unrolled.
    if convolution.taps == 9 {
      unsafe multiplyLine(
        line, weights: weights, bias: bias, taps: 9, columns: columns, to: output, channels: channels,
        used: used)
    } else {
      unsafe multiplyLine(
        line, weights: weights, bias: bias, taps: convolution.taps, columns: columns, to: output,
        channels: channels, used: used)
    }
  }

  @inline(__always)
  private func multiplyLine(
    _ line: UnsafePointer<Float>, weights: UnsafePointer<Float>, bias: UnsafePointer<Float>, taps: Int,
    columns: Int,
    to output: UnsafeMutableRawPointer, channels: Int, used: Int
  ) {
    let lowBias = unsafe load4(bias, 0)
    let highBias = unsafe load4(bias, 4)
    let step = convolution.strideWidth &* 8
    let offsets = unsafe tapOffsets
    var position = unsafe line
    var destination = unsafe output
    for _ in 0..<columns {
      var low = SIMD4<Float>()
      var high = SIMD4<Float>()
      for tap in 0..<taps {
        let offset = unsafe offsets[tap]
        low += unsafe load4(position, offset) * load4(weights, tap &* 8)
        high += unsafe load4(position, offset &+ 4) * load4(weights, tap &* 8 &+ 4)
      }
      low = bounds.clamp(low + lowBias)
      high = bounds.clamp(high + highBias)
      if used == 8 {
        unsafe destination.storeBytes(of: low, as: SIMD4<Float>.self)
        unsafe destination.storeBytes(of: high, toByteOffset: 16, as: SIMD4<Float>.self)
      } else {
        let lanes = SIMD8<Float>(lowHalf: low, highHalf: high)
        for lane in 0..<used {
          unsafe destination.storeBytes(of: lanes[lane], toByteOffset: lane &* 4, as: Float.self)
        }
      }
      unsafe position += step
      unsafe destination += channels &* 4
    }
  }
}
