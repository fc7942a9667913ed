// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Computes bytes from int32 sums in plain Swift: the factors of an `Epilogue`, laid out for SIMD.
///
/// The output byte is the low byte of the clamped value, for uint8 as for int8.
@safe final class QuantizedEpilogue: @unchecked Sendable {
  private enum Rounding {
    /// Double rounding, with a `DoublePrecisionFactor` for each factor.
    case doublePrecision
    /// Double rounding, factors that are not negative.
    case shifts
    /// Double rounding, anything else.
    case anyShifts
    /// One rounding in double precision.
    case once
  }

  private let rounding: Rounding
  private let multipliers: [FixedPointMultiplier]
  private let scales: [Double]
  /// The channels before this one round halves up.
  private let upwardChannels: Int
  /// Arrays with an entry per channel, each padded by eight: factors, right shifts, masks and left shifts. In
  /// double precision: scales and offsets.
  private let table: UnsafeMutableRawPointer
  private let tableStride: Int
  private let zeroPoint: Int32
  private let minimum: Int32
  private let maximum: Int32

  /// Lays out an epilogue for `channels` output channels; nil for one of floats.
  init?(_ epilogue: Epilogue, channels: Int) {
    tableStride = roundedUp(channels, to: 8) + 8
    switch epilogue {
    case .float32, .reducedFixedPoint, .hybrid, .sums:
      return nil
    case .fixedPointUpward(let multipliers, let zeroPoint, let minimum, let maximum):
      self.multipliers = multipliers
      (scales, upwardChannels) = ([], channels / 8 * 8)
      (self.zeroPoint, self.minimum, self.maximum) = (zeroPoint, minimum, maximum)
      rounding = .anyShifts
    case .fixedPoint(let multipliers, let zeroPoint, let minimum, let maximum):
      self.multipliers = multipliers
      (scales, upwardChannels) = ([], 0)
      (self.zeroPoint, self.minimum, self.maximum) = (zeroPoint, minimum, maximum)
      rounding =
        multipliers.allSatisfy { DoublePrecisionFactor($0) != nil }
        ? .doublePrecision : multipliers.allSatisfy { $0.value >= 0 } ? .shifts : .anyShifts
    case .float64(let scales, let zeroPoint, let minimum, let maximum):
      (multipliers, upwardChannels) = ([], 0)
      self.scales = scales
      (self.zeroPoint, self.minimum, self.maximum) = (zeroPoint, minimum, maximum)
      rounding = .once
    }
    unsafe table = .allocate(byteCount: tableStride * 16, alignment: 16)
    unsafe table.initializeMemory(as: UInt8.self, repeating: 0, count: tableStride * 16)
    guard let first = multipliers.first else { return }
    let factors = unsafe table.assumingMemoryBound(to: Int32.self)
    let scales = unsafe table.assumingMemoryBound(to: Double.self)
    for channel in 0..<tableStride {
      let multiplier = multipliers.count > 1 && channel < multipliers.count ? multipliers[channel] : first
      if rounding == .doublePrecision {
        guard let factor = DoublePrecisionFactor(multiplier) else { continue }
        unsafe scales[channel] = factor.scale
        unsafe scales[tableStride + channel] = factor.offset
      } else {
        let right = max(0, 0 &- multiplier.shift)
        unsafe factors[channel] = multiplier.value
        unsafe factors[tableStride + channel] = right
        unsafe factors[2 * tableStride + channel] = Int32(
          truncatingIfNeeded: (1 as UInt32) &<< UInt32(bitPattern: right) &- 1)
        unsafe factors[3 * tableStride + channel] = max(0, multiplier.shift)
      }
    }
  }

  deinit {
    unsafe table.deallocate()
  }

  /// Adds the bias to sums and writes up to eight channels of `rows` rows of outputs.
  ///
  /// The channels are `count` from `channel` on. Eight sums of each row and eight biases may be read.
  func store(
    _ sums: UnsafePointer<Int32>, sumStride: Int, rows: Int, bias: UnsafePointer<Int32>, channel: Int,
    count: Int, to output: UnsafeMutablePointer<UInt8>, outputStride: Int
  ) {
    switch rounding {
    case .doublePrecision:
      unsafe storeVectors(
        sums, sumStride: sumStride, rows: rows, bias: bias, count: count, to: output,
        outputStride: outputStride, factors(DoublePrecisionFactors.self, channel: channel))
    case .shifts:
      unsafe storeVectors(
        sums, sumStride: sumStride, rows: rows, bias: bias, count: count, to: output,
        outputStride: outputStride, factors(ShiftingFactors.self, channel: channel))
    case .anyShifts, .once:
      for row in 0..<rows {
        for lane in 0..<count {
          let sum = unsafe sums[row &* sumStride &+ lane] &+ bias[lane]
          unsafe output[row &* outputStride &+ lane] = outputByte(sum, channel: channel &+ lane)
        }
      }
    }
  }

  /// Eight output bytes from sums that include their bias, for channels from `channel` on; lanes beyond the
  /// last channel are padding.
  @inline(__always)
  func bytes(_ low: SIMD4<Int32>, _ high: SIMD4<Int32>, channel: Int) -> SIMD8<UInt8> {
    switch rounding {
    case .doublePrecision:
      let factors = factors(DoublePrecisionFactors.self, channel: channel)
      return bounds.bytes(factors.0(low), factors.1(high))
    case .shifts:
      let factors = factors(ShiftingFactors.self, channel: channel)
      return bounds.bytes(factors.0(low), factors.1(high))
    case .anyShifts, .once:
      return scalars(low, high, channel: channel)
    }
  }

  /// The factors of eight channels.
  @inline(__always)
  private func factors<Factors: RescalingFactors>(_ type: Factors.Type, channel: Int) -> (Factors, Factors) {
    unsafe (
      Factors(table, stride: tableStride, channel: channel, zeroPoint: zeroPoint),
      Factors(table, stride: tableStride, channel: channel &+ 4, zeroPoint: zeroPoint)
    )
  }

  @inline(never)
  private func scalars(_ low: SIMD4<Int32>, _ high: SIMD4<Int32>, channel: Int) -> SIMD8<UInt8> {
    var bytes = SIMD8<UInt8>()
    for lane in 0..<4 {
      bytes[lane] = outputByte(low[lane], channel: channel &+ lane)
      bytes[lane &+ 4] = outputByte(high[lane], channel: channel &+ lane &+ 4)
    }
    return bytes
  }

  /// One output. A lane of padding uses the first channel's factor.
  private func outputByte(_ sum: Int32, channel: Int) -> UInt8 {
    let value: Int32
    if rounding == .once {
      let scale = scales.count > 1 && channel < scales.count ? scales[channel] : scales[0]
      value = requantizeOnce(sum, scale: scale, zeroPoint: zeroPoint)
    } else {
      let factor =
        multipliers.count > 1 && channel < multipliers.count ? multipliers[channel] : multipliers[0]
      value = (channel < upwardChannels ? factor.applyUpward(sum) : factor.apply(sum)) &+ zeroPoint
    }
    return UInt8(truncatingIfNeeded: min(max(value, minimum), maximum))
  }

  @inline(__always)
  private func storeVectors<Factors: RescalingFactors>(
    _ sums: UnsafePointer<Int32>, sumStride: Int, rows: Int, bias: UnsafePointer<Int32>, count: Int,
    to output: UnsafeMutablePointer<UInt8>, outputStride: Int, _ factors: (Factors, Factors)
  ) {
    let lowBias = unsafe load4(bias, 0)
    let highBias = unsafe load4(bias, 4)
    let bounds = bounds
    var source = unsafe sums
    var destination = unsafe output
    for _ in 0..<rows {
      let low = unsafe factors.0(load4(source, 0) &+ lowBias)
      let high = unsafe factors.1(load4(source, 4) &+ highBias)
      unsafe storeLanes(bounds.bytes(low, high), to: destination, count: count)
      unsafe source += sumStride
      unsafe destination += outputStride
    }
  }

  @inline(__always)
  private var bounds: OutputBounds {
    OutputBounds(
      least: SIMD8(repeating: Int16(truncatingIfNeeded: minimum)),
      most: SIMD8(repeating: Int16(truncatingIfNeeded: maximum)))
  }
}

/// The bounds of a byte's values.
private struct OutputBounds {
  let least: SIMD8<Int16>
  let most: SIMD8<Int16>

  @inline(__always)
  func bytes(_ low: SIMD4<Int32>, _ high: SIMD4<Int32>) -> SIMD8<UInt8> {
    // Saturating to 16 bits first changes nothing, since the bounds are those of a byte.
    let words = SIMD8<Int16>(saturating: SIMD8(lowHalf: low, highHalf: high))
    return SIMD8(lowBytes: words.bounded(least, most))
  }
}

/// A form of rescaling: computes four channels' outputs from their sums, zero point included.
private protocol RescalingFactors {
  init(_ table: UnsafeRawPointer, stride: Int, channel: Int, zeroPoint: Int32)
  func callAsFunction(_ sums: SIMD4<Int32>) -> SIMD4<Int32>
}

/// Fixed-point factors that are not negative, with two roundings and shifts in both directions.
private struct ShiftingFactors: RescalingFactors {
  private let multipliers: SIMD4<UInt32>
  private let exponents: SIMD4<Int32>
  private let masks: SIMD4<Int32>
  private let lefts: SIMD4<Int32>
  private let zeroPoint: SIMD4<Int32>

  @inline(__always)
  init(_ table: UnsafeRawPointer, stride: Int, channel: Int, zeroPoint: Int32) {
    let factors = unsafe table.assumingMemoryBound(to: Int32.self) + channel
    unsafe multipliers = SIMD4<UInt32>(bits: load4(factors, 0))
    unsafe exponents = load4(factors, stride)
    unsafe masks = load4(factors, 2 &* stride)
    unsafe lefts = load4(factors, 3 &* stride)
    self.zeroPoint = SIMD4(repeating: zeroPoint)
  }

  @inline(__always)
  func callAsFunction(_ sums: SIMD4<Int32>) -> SIMD4<Int32> {
    roundingDivideByPowerOfTwo(roundingDoublingHighMultiply(sums &<< lefts, multipliers), exponents, masks)
      &+ zeroPoint
  }
}

/// Factors in double precision.
private struct DoublePrecisionFactors: RescalingFactors {
  private let scales: SIMD4<Double>
  private let offsets: SIMD4<UInt64>
  private let signs: SIMD4<UInt64>
  private let rounding: SIMD4<Double>

  @inline(__always)
  init(_ table: UnsafeRawPointer, stride: Int, channel: Int, zeroPoint: Int32) {
    let scales = unsafe table.assumingMemoryBound(to: Double.self) + channel
    unsafe self.scales = UnsafeRawPointer(scales).loadUnaligned(as: SIMD4<Double>.self)
    unsafe offsets = UnsafeRawPointer(scales + stride).loadUnaligned(as: SIMD4<UInt64>.self)
    signs = SIMD4(repeating: 1 << 63)
    // Numbers of this magnitude have an ulp of 1. Adding them rounds to an integer, which is in the lower
    // half.
    rounding = SIMD4(repeating: 0x1.8p52 + Double(zeroPoint))
  }

  @inline(__always)
  func callAsFunction(_ sums: SIMD4<Int32>) -> SIMD4<Int32> {
    let products = SIMD4<Double>(converting: sums) * scales
    let offset = SIMD4<Double>(bits: SIMD4<UInt64>(bits: products) & signs | offsets)
    return SIMD4<Int32>(
      bits: SIMD4<UInt32>(lowHalves: SIMD4<UInt64>(bits: products + offset + rounding)))
  }
}

/// Four values at `index`.
@inline(__always)
func load4(_ values: UnsafePointer<Int32>, _ index: Int) -> SIMD4<Int32> {
  unsafe UnsafeRawPointer(values + index).loadUnaligned(as: SIMD4<Int32>.self)
}

/// Writes the first `count` lanes of a vector, at most all of them.
@inline(__always)
func storeLanes(_ lanes: SIMD8<UInt8>, to output: UnsafeMutablePointer<UInt8>, count: Int) {
  if count >= 8 {
    unsafe UnsafeMutableRawPointer(output).storeBytes(of: lanes, as: SIMD8<UInt8>.self)
  } else {
    var lane = 0
    while lane < count {
      unsafe output[lane] = lanes[lane & 7]
      lane &+= 1
    }
  }
}
