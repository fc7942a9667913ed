// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Computes int16 or float outputs from 32- or 64-bit sums in plain Swift.
@safe final class WordEpilogue: @unchecked Sendable {
  private enum Rule {
    case double([FixedPointMultiplier], Int32)
    case reduced([FixedPointMultiplier])
    case once([Double], Int32)
    case hybrid(areWeightsFirst: Bool)
    case sums
  }

  private let rule: Rule
  private let minimum: Int32
  private let maximum: Int32
  private let bounds: FloatBounds?
  /// For the hybrid rule: one scale per channel, padded by eight.
  private let scales: UnsafeMutablePointer<Float>

  /// Lays out an epilogue for `channels` output channels; nil for one of bytes or of plain floats.
  init?(_ epilogue: Epilogue, operands: MatrixOperands, channels: Int) {
    guard epilogue.fits(operands, channels: channels) else { return nil }
    var factors: [Float] = []
    switch epilogue {
    case .float32, .fixedPointUpward: return nil
    case .fixedPoint(let multipliers, let zeroPoint, let minimum, let maximum):
      rule = .double(multipliers, zeroPoint)
      (self.minimum, self.maximum, bounds) = (minimum, maximum, nil)
    case .float64(let scales, let zeroPoint, let minimum, let maximum):
      rule = .once(scales, zeroPoint)
      (self.minimum, self.maximum, bounds) = (minimum, maximum, nil)
    case .reducedFixedPoint(let multipliers, let minimum, let maximum):
      rule = .reduced(multipliers)
      (self.minimum, self.maximum, bounds) = (minimum, maximum, nil)
    case .sums:
      rule = .sums
      (self.minimum, self.maximum, bounds) = (0, 0, nil)
    case .hybrid(let scales, let minimum, let maximum, let areWeightsFirst):
      rule = .hybrid(areWeightsFirst: areWeightsFirst)
      (self.minimum, self.maximum) = (0, 0)
      bounds = FloatBounds(.float32(minimum: minimum, maximum: maximum))
      factors = scales
    }
    let count = factors.isEmpty ? 0 : roundedUp(channels, to: 8) + 8
    unsafe scales = .allocate(capacity: max(count, 1))
    for channel in 0..<count {
      let scale = factors.count > 1 ? (channel < factors.count ? factors[channel] : 0) : factors[0]
      unsafe (scales + channel).initialize(to: scale)
    }
  }

  deinit {
    unsafe scales.deallocate()
  }

  /// Writes `count` floats from `channel` on; `scale` is the quantized image's.
  func store(
    _ sums: UnsafePointer<Int32>, bias: UnsafePointer<Float>, scale: Float, channel: Int, count: Int,
    to output: UnsafeMutablePointer<Float>
  ) {
    guard let bounds, case .hybrid(let areWeightsFirst) = rule else { return }
    let factors = unsafe scales + channel
    let scales = SIMD4(repeating: scale)
    var index = 0
    while index &+ 4 <= count {
      let (sum, factor) = unsafe (floats(load4(sums, index)), load4(factors, index))
      let values = areWeightsFirst ? sum * factor * scales : sum * (factor * scales)
      unsafe UnsafeMutableRawPointer(output + index).storeBytes(
        of: bounds.clamp(values + load4(bias, index)), as: SIMD4<Float>.self)
      index &+= 4
    }
    while index < count {
      let (sum, factor) = unsafe (Float(sums[index]), factors[index])
      let value = areWeightsFirst ? sum * factor * scale : sum * (factor * scale)
      unsafe output[index] = bounds.clamp(SIMD4(repeating: value + bias[index]))[0]
      index &+= 1
    }
  }

  /// Writes `count` 16-bit outputs from 32-bit sums, from `channel` on.
  func store(
    _ sums: UnsafePointer<Int32>, bias: UnsafePointer<Int32>, channel: Int, count: Int,
    to output: UnsafeMutablePointer<Int16>
  ) {
    switch rule {
    case .double(let multipliers, let zeroPoint):
      unsafe store(sums, bias, channel, count, output, multipliers) { $1.apply($0) &+ zeroPoint }
    case .once(let factors, let zeroPoint):
      unsafe store(sums, bias, channel, count, output, factors) {
        requantizeOnce($0, scale: $1, zeroPoint: zeroPoint)
      }
    case .reduced(let multipliers):
      unsafe store(sums, bias, channel, count, output, multipliers) { $1.applyReduced(Int64($0)) }
    case .hybrid, .sums: break
    }
  }

  /// Writes `count` 16-bit outputs from 64-bit sums, from `channel` on.
  func store(
    _ sums: UnsafePointer<Int64>, bias: UnsafePointer<Int64>, channel: Int, count: Int,
    to output: UnsafeMutablePointer<Int16>
  ) {
    switch rule {
    case .once(let factors, let zeroPoint):
      unsafe store(sums, bias, channel, count, output, factors) {
        requantizeOnce($0, scale: $1, zeroPoint: zeroPoint)
      }
    case .reduced(let multipliers):
      unsafe store(sums, bias, channel, count, output, multipliers) { $1.applyReduced($0) }
    case .double, .hybrid, .sums: break
    }
  }

  /// Rescales `count` sums, from `channel` on, by a common factor or by one for each channel.
  @inline(__always)
  private func store<Sum: FixedWidthInteger, Factor>(
    _ sums: UnsafePointer<Sum>, _ bias: UnsafePointer<Sum>, _ channel: Int, _ count: Int,
    _ output: UnsafeMutablePointer<Int16>, _ factors: [Factor], _ rescale: (Sum, Factor) -> Int32
  ) {
    for index in 0..<count {
      let sum = unsafe sums[index] &+ bias[index]
      let factor = factors.count > 1 ? factors[channel &+ index] : factors[0]
      unsafe output[index] = clamped(rescale(sum, factor))
    }
  }

  @inline(__always)
  private func clamped(_ value: Int32) -> Int16 {
    Int16(truncatingIfNeeded: min(max(value, minimum), maximum))
  }
}

/// Four integers as floats.
@inline(__always)
private func floats(_ values: SIMD4<Int32>) -> SIMD4<Float> {
  SIMD4(Float(values[0]), Float(values[1]), Float(values[2]), Float(values[3]))
}

/// Copies biases as wide as the sums, or writes zeros.
func packBias(_ bias: RawSpan?, count: Int, operands: WordOperands, to destination: UnsafeMutableRawPointer) {
  let width = operands.packedBiasByteCount
  guard let bias else {
    unsafe destination.initializeMemory(as: UInt8.self, repeating: 0, count: count * width)
    return
  }
  precondition(bias.byteCount >= count * operands.biasByteCount)
  unsafe bias.withUnsafeBytes { bias in
    guard let source = bias.baseAddress else { return }
    if operands.biasByteCount == width {
      unsafe destination.copyMemory(from: source, byteCount: count * width)
    } else {
      for index in 0..<count {
        let value = unsafe source.loadUnaligned(fromByteOffset: index * 4, as: Int32.self)
        unsafe destination.storeBytes(of: Int64(value), toByteOffset: index * 8, as: Int64.self)
      }
    }
  }
}
