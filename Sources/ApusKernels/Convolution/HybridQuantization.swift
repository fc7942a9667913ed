// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Quantizes floats to signed bytes at run time, image by image. Stores them as `int16` differences from the
/// zero point, or as bytes plus 128.
///
/// Symmetric: the largest magnitude becomes 127. Asymmetric: the range, zero included, becomes `-128...127`.
/// Rounding is to nearest, halves away from zero, in single precision, as in the reference.
///
/// NaN does not count for the range and becomes the minimum. An infinity makes the scale infinite and becomes the
/// minimum, too. An image of zeros and NaN alone becomes zeros.
package struct HybridQuantization: Sendable {
  let batches: Int
  /// Elements per image.
  let count: Int
  let isAsymmetric: Bool
  /// Whether results are bytes.
  let makesBytes: Bool
  /// Generated code for most of the work, with equal results.
  private let code: QuantizationCode?
  /// Elements per tile, if a tile is a part of an image.
  private static let chunk = 16_384
  private let chunksPerBatch: Int
  private let batchesPerTile: Int
  /// The memory for each image's parameters and each chunk's extremes, in bytes.
  private let parameterByteCount: Int

  /// The quantization for operands; nil unless they are floats with quantized weights.
  package init?(
    _ operands: MatrixOperands, batches: Int, inputCount: Int, makesBytes: Bool = false,
    code: QuantizationCode? = nil
  ) {
    guard case .hybrid(let isAsymmetric) = operands else { return nil }
    self.init(
      batches: batches, count: inputCount / max(1, batches), isAsymmetric: isAsymmetric,
      makesBytes: makesBytes, code: code)
  }

  /// Quantizes images of `count` elements each.
  init(batches: Int, count: Int, isAsymmetric: Bool, makesBytes: Bool = false, code: QuantizationCode? = nil)
  {
    self.batches = batches
    self.count = count
    self.isAsymmetric = isAsymmetric
    self.makesBytes = makesBytes
    self.code = code
    chunksPerBatch = max(1, ceilingQuotient(count, Self.chunk))
    batchesPerTile = max(1, Self.chunk / max(1, count))
    parameterByteCount = roundedUp(batches * (2 + 2 * chunksPerBatch) * 4, to: 64)
    byteCount = parameterByteCount + roundedUp(batches * count * (makesBytes ? 1 : 2), to: 64) + 64
  }

  /// The memory of a run: each image's scale, zero point and other parameters, and the quantized values, with
  /// room to read beyond their end.
  package let byteCount: Int

  /// The position of the negated zero points of bytes, as 32-bit integers.
  package var zeroPointOffset: Int { 4 * batches }

  private var laneByteCount: Int { makesBytes ? 1 : 2 }

  /// Quantizes into `memory`, of `byteCount` bytes, and returns the address of the quantized values; the
  /// scales are at its start.
  package func run(
    _ input: UnsafeRawPointer, to memory: UnsafeMutableRawPointer, threads: ThreadTeam
  ) -> UnsafeRawPointer {
    let lanes = unsafe memory + parameterByteCount
    unsafe run(
      input.assumingMemoryBound(to: Float.self), to: lanes,
      scales: memory.assumingMemoryBound(to: Float.self), threads: threads)
    return UnsafeRawPointer(lanes)
  }

  private func run(
    _ input: UnsafePointer<Float>, to lanes: UnsafeMutableRawPointer, scales: UnsafeMutablePointer<Float>,
    threads: ThreadTeam
  ) {
    guard batches > 0, count > 0 else { return }
    let extremes = unsafe scales + 2 * batches
    if chunksPerBatch == 1 {
      let work = unsafe WholeImages(owner: self, input: input, lanes: lanes, scales: scales)
      threads.run(tiles: batches == 1 ? 1 : ceilingQuotient(batches, batchesPerTile), work)
    } else {
      let search = unsafe ExtremeSearch(owner: self, input: input, extremes: extremes)
      threads.run(tiles: batches * chunksPerBatch, search)
      let work = unsafe Chunks(owner: self, input: input, lanes: lanes, scales: scales, extremes: extremes)
      threads.run(tiles: batches * chunksPerBatch, work)
    }
  }

  private func chunkRange(_ chunk: Int) -> Range<Int> {
    chunk * Self.chunk..<min(count, (chunk + 1) * Self.chunk)
  }

  @safe private struct WholeImages: TileWork {
    static var mayStop: Bool { true }

    let owner: HybridQuantization
    let input: UnsafePointer<Float>
    let lanes: UnsafeMutableRawPointer
    let scales: UnsafeMutablePointer<Float>

    func run(tile: Int, worker: Int) {
      let first = tile &* owner.batchesPerTile
      let end = min(owner.batches, first &+ owner.batchesPerTile)
      if let code = owner.code, owner.count.isMultiple(of: QuantizationCode.step) {
        return fill(first..<end, code)
      }
      for batch in first..<end {
        let source = unsafe input + batch &* owner.count
        let (least, most) = unsafe owner.extremes(source, count: owner.count)
        let step = HybridStep(least: least, most: most, isAsymmetric: owner.isAsymmetric)
        unsafe owner.keep(step, batch, scales)
        unsafe owner.fill(lanes, step, from: source, position: batch &* owner.count, count: owner.count)
      }
    }

    /// Quantizes images whose length is a multiple of the code's step, some at a time; their extremes are on
    /// the stack.
    private func fill(_ images: Range<Int>, _ code: QuantizationCode) {
      let steps = owner.count / QuantizationCode.step
      unsafe withUnsafeTemporaryAllocation(of: SIMD2<Float>.self, capacity: Self.imagesAtOnce) { extremes in
        unsafe withUnsafeTemporaryAllocation(
          of: QuantizationCode.RowParameters.self, capacity: Self.imagesAtOnce
        ) { parameters in
          guard let found = extremes.baseAddress, let rows = parameters.baseAddress else { return }
          var first = images.lowerBound
          while first < images.upperBound {
            let count = min(Self.imagesAtOnce, images.upperBound &- first)
            let values = unsafe input + first &* owner.count
            unsafe code.findExtremes(values, steps: steps, rows: count, to: found)
            for image in 0..<count {
              let range = unsafe found[image]
              let step = HybridStep(least: range[0], most: range[1], isAsymmetric: owner.isAsymmetric)
              unsafe owner.keep(step, first &+ image, scales)
              unsafe (rows + image).initialize(to: step.parameters)
            }
            unsafe code.fill(
              lanes + first &* owner.count &* owner.laneByteCount, from: values, steps: steps, rows: count,
              rows)
            first &+= count
          }
        }
      }
    }

    private static let imagesAtOnce = 32
  }

  @safe private struct ExtremeSearch: TileWork {
    static var mayStop: Bool { true }

    let owner: HybridQuantization
    let input: UnsafePointer<Float>
    let extremes: UnsafeMutablePointer<Float>

    func run(tile: Int, worker: Int) {
      let (batch, chunk) = (tile / owner.chunksPerBatch, tile % owner.chunksPerBatch)
      let range = owner.chunkRange(chunk)
      let (least, most) = unsafe owner.extremes(
        input + (batch &* owner.count &+ range.lowerBound), count: range.count)
      unsafe extremes[2 &* tile] = least
      unsafe extremes[2 &* tile &+ 1] = most
    }
  }

  @safe private struct Chunks: TileWork {
    static var mayStop: Bool { true }

    let owner: HybridQuantization
    let input: UnsafePointer<Float>
    let lanes: UnsafeMutableRawPointer
    let scales: UnsafeMutablePointer<Float>
    let extremes: UnsafePointer<Float>

    func run(tile: Int, worker: Int) {
      let (batch, chunk) = (tile / owner.chunksPerBatch, tile % owner.chunksPerBatch)
      let first = unsafe extremes + batch &* owner.chunksPerBatch &* 2
      var (least, most) = unsafe (first[0], first[1])
      for other in 1..<owner.chunksPerBatch {
        least = unsafe min(least, first[2 &* other])
        most = unsafe max(most, first[2 &* other &+ 1])
      }
      let step = HybridStep(least: least, most: most, isAsymmetric: owner.isAsymmetric)
      if chunk == 0 { unsafe owner.keep(step, batch, scales) }
      let range = owner.chunkRange(chunk)
      let position = batch &* owner.count &+ range.lowerBound
      unsafe owner.fill(lanes, step, from: input + position, position: position, count: range.count)
    }
  }

  private func keep(_ step: HybridStep, _ batch: Int, _ scales: UnsafeMutablePointer<Float>) {
    unsafe scales[batch] = step.scale
    unsafe UnsafeMutableRawPointer(scales).storeBytes(
      of: 0 &- step.byteZeroPoint, toByteOffset: zeroPointOffset &+ 4 &* batch, as: Int32.self)
  }

  private func fill(
    _ lanes: UnsafeMutableRawPointer, _ step: HybridStep, from values: UnsafePointer<Float>, position: Int,
    count: Int
  ) {
    let target = unsafe lanes + position &* laneByteCount
    if makesBytes {
      unsafe step.fill(target.assumingMemoryBound(to: UInt8.self), from: values, count: count, code: code)
    } else {
      unsafe step.fill(target.assumingMemoryBound(to: Int16.self), from: values, count: count, code: code)
    }
  }

  private func extremes(_ values: UnsafePointer<Float>, count: Int) -> (least: Float, most: Float) {
    // NaN is passed over, as it does not compare.
    var (low, high): (Float, Float) = (.infinity, -.infinity)
    var index = 0
    if let code, count >= QuantizationCode.step {
      let steps = count / QuantizationCode.step
      var found = SIMD2<Float>()
      unsafe withUnsafeMutablePointer(to: &found) {
        unsafe code.findExtremes(values, steps: steps, rows: 1, to: $0)
      }
      (low, high) = (found[0], found[1])
      index = steps &* QuantizationCode.step
    } else if count >= 4 {
      var (least, most) = (SIMD4(repeating: low), SIMD4(repeating: high))
      while index &+ 4 <= count {
        let next = unsafe load4(values, index)
        least = least.replacing(with: next, where: next .< least)
        most = most.replacing(with: next, where: next .> most)
        index &+= 4
      }
      (low, high) = (least.min(), most.max())
    }
    while index < count {
      low = unsafe min(low, values[index])
      high = unsafe max(high, values[index])
      index &+= 1
    }
    return (low, high)
  }
}

/// The quantization of one image.
struct HybridStep {
  /// The real value of one quantization step.
  let scale: Float
  private let inverse: Float
  private let zeroPoint: Float
  private let minimum: Float
  private let maximum: Float

  /// Chooses the scale for values from `least` to `most`; if `most` is less, there are none.
  init(least: Float, most: Float, isAsymmetric: Bool) {
    let range = isAsymmetric ? max(0, most) - min(0, least) : max(abs(least), abs(most))
    guard range != 0, least <= most else {
      (scale, inverse, zeroPoint, minimum, maximum) = (1, 0, 0, 0, 0)
      return
    }
    maximum = 127
    guard isAsymmetric else {
      (scale, inverse, zeroPoint, minimum) = (range / 127, 127 / range, 0, -127)
      return
    }
    minimum = -128
    // The reference computes the range in single precision and the rest in double precision.
    let (low, high) = (Double(min(0, least)), Double(max(0, most)))
    let step = Double(range) / 255
    let fromLow = -128 - low / step
    let fromHigh = 127 - high / step
    let lowError = 128 + abs(low / step)
    let highError = 127 + abs(high / step)
    let exact = lowError < highError ? fromLow : fromHigh
    // A quotient of infinities has no nearest integer.
    zeroPoint = Float(
      exact <= -128 ? -128 : exact >= 127 ? 127 : exact.isNaN ? 0 : Self.nearest(exact))
    scale = Float(step)
    inverse = 1 / scale
  }

  /// Rounds a number below 2⁵¹ to nearest, halves away from zero, without a function call.
  private static func nearest(_ value: Double) -> Double {
    let shifter = 0x1.8p52
    let even = (value + shifter) - shifter
    let rest = value - even
    return rest == 0.5 && value > 0 ? even + 1 : rest == -0.5 && value < 0 ? even - 1 : even
  }

  /// The zero point of bytes plus 128.
  var byteZeroPoint: Int32 { Int32(zeroPoint) &+ 128 }

  /// The parameters of generated code.
  fileprivate var parameters: QuantizationCode.RowParameters {
    QuantizationCode.RowParameters(
      inverse: inverse, least: minimum - zeroPoint, most: maximum - zeroPoint, zeroPoint: byteZeroPoint,
      minimumBytes: UInt32(max(0, minimum + 128)) &* 0x0101_0101)
  }

  /// Quantizes `count` values to bytes, and adds 128.
  func fill(
    _ bytes: UnsafeMutablePointer<UInt8>, from values: UnsafePointer<Float>, count: Int,
    code: QuantizationCode?
  ) {
    var index = 0
    if let code, count >= QuantizationCode.step {
      unsafe fill(bytes, from: values, count: count, code)
      index = count / QuantizationCode.step &* QuantizationCode.step
    }
    let offsets = SIMD4(repeating: byteZeroPoint)
    while index &+ 8 <= count {
      let low = unsafe quantize(load4(values, index)) &+ offsets
      let high = unsafe quantize(load4(values, index &+ 4)) &+ offsets
      let lanes = SIMD8<UInt8>(lowBytes: SIMD8<Int16>(lowWords: SIMD8<Int32>(lowHalf: low, highHalf: high)))
      unsafe UnsafeMutableRawPointer(bytes + index).storeBytes(of: lanes, as: SIMD8<UInt8>.self)
      index &+= 8
    }
    while index < count {
      let lanes = unsafe quantize(SIMD4(repeating: values[index])) &+ offsets
      unsafe bytes[index] = UInt8(truncatingIfNeeded: lanes[0])
      index &+= 1
    }
  }

  /// Quantizes `count` values to differences from the zero point.
  func fill(
    _ words: UnsafeMutablePointer<Int16>, from values: UnsafePointer<Float>, count: Int,
    code: QuantizationCode?
  ) {
    var index = 0
    if let code, count >= QuantizationCode.step {
      unsafe fill(words, from: values, count: count, code)
      index = count / QuantizationCode.step &* QuantizationCode.step
    }
    while index &+ 8 <= count {
      let low = unsafe quantize(load4(values, index))
      let high = unsafe quantize(load4(values, index &+ 4))
      let lanes = SIMD8<Int16>(lowWords: SIMD8<Int32>(lowHalf: low, highHalf: high))
      unsafe UnsafeMutableRawPointer(words + index).storeBytes(of: lanes, as: SIMD8<Int16>.self)
      index &+= 8
    }
    while index < count {
      unsafe words[index] = Int16(truncatingIfNeeded: quantize(SIMD4(repeating: values[index]))[0])
      index &+= 1
    }
  }

  /// Quantizes a multiple of the code's step.
  private func fill(
    _ lanes: UnsafeMutableRawPointer, from values: UnsafePointer<Float>, count: Int, _ code: QuantizationCode
  ) {
    unsafe withUnsafePointer(to: parameters) {
      unsafe code.fill(
        lanes, from: values, steps: count / QuantizationCode.step, rows: 1, $0)
    }
  }

  /// Four differences from the zero point.
  @inline(__always)
  private func quantize(_ values: SIMD4<Float>) -> SIMD4<Int32> {
    let exact = values * SIMD4(repeating: inverse)
    // Clamping beyond a byte's range changes no result and makes the sum with the shifter exact; NaN becomes
    // the lower bound.
    let bound = SIMD4<Float>(repeating: 512)
    let above = (-bound).replacing(with: exact, where: exact .> -bound)
    let bounded = above.replacing(with: bound, where: above .> bound)
    let shifter = SIMD4<Float>(repeating: 0x1.8p23)
    var nearest = (bounded + shifter) - shifter
    // Rounded to nearest, ties to even. A remainder of one half with the value's sign was rounded toward
    // zero.
    let rest = bounded - nearest
    let (zero, half, one) = (SIMD4<Float>.zero, SIMD4<Float>(repeating: 0.5), SIMD4<Float>(repeating: 1))
    nearest.replace(with: nearest + one, where: (rest .== half) .& (bounded .> zero))
    nearest.replace(with: nearest - one, where: (rest .== -half) .& (bounded .< zero))
    let least = SIMD4<Float>(repeating: minimum - zeroPoint)
    let most = SIMD4<Float>(repeating: maximum - zeroPoint)
    nearest.replace(with: least, where: nearest .< least)
    nearest.replace(with: most, where: nearest .> most)
    let shifted = nearest + shifter
    return unsafe unsafeBitCast(shifted, to: SIMD4<Int32>.self) &- SIMD4(repeating: 0x4B40_0000)
  }
}
