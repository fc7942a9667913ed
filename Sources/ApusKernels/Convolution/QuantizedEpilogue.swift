/// Makes bytes of int32 sums: the factors of an `Epilogue`, laid out for SIMD.
///
/// The output byte is the low one of the clamped value: the same bits for uint8 and int8.
final class QuantizedEpilogue: @unchecked Sendable {
  private enum Rounding {
    /// Double rounding; all shifts go right, by the same count.
    case uniform
    /// Double rounding; all shifts go right.
    case rightShifts
    /// Double rounding, anything else.
    case anyShifts
    /// One rounding in double precision.
    case once
  }

  private let rounding: Rounding
  private let multipliers: [FixedPointMultiplier]
  private let scales: [Double]
  /// For each channel a factor, then as many right shifts, then as many masks, each padded by eight.
  private let table: UnsafeMutablePointer<Int32>
  private let tableStride: Int
  private let zeroPoint: Int32
  private let minimum: Int32
  private let maximum: Int32

  /// Lays out an epilogue for `channels` output channels; nil for that of floats.
  init?(_ epilogue: Epilogue, channels: Int) {
    tableStride = roundedUp(channels, to: 8) + 8
    switch epilogue {
    case .float32:
      return nil
    case .fixedPoint(let multipliers, let zeroPoint, let minimum, let maximum):
      self.multipliers = multipliers
      scales = []
      (self.zeroPoint, self.minimum, self.maximum) = (zeroPoint, minimum, maximum)
      let isPlain = multipliers.allSatisfy { $0.value >= 0 && $0.shift <= 0 }
      let isUniform = multipliers.allSatisfy { $0.shift == multipliers.first?.shift }
      rounding = isPlain ? (isUniform ? .uniform : .rightShifts) : .anyShifts
    case .float64(let scales, let zeroPoint, let minimum, let maximum):
      multipliers = []
      self.scales = scales
      (self.zeroPoint, self.minimum, self.maximum) = (zeroPoint, minimum, maximum)
      rounding = .once
    }
    unsafe table = .allocate(capacity: 3 * tableStride)
    unsafe table.initialize(repeating: 0, count: 3 * tableStride)
    guard let first = multipliers.first else { return }
    for channel in 0..<tableStride {
      let multiplier = multipliers.count > 1 && channel < multipliers.count ? multipliers[channel] : first
      let right = max(0, 0 - multiplier.shift)
      unsafe table[channel] = multiplier.value
      unsafe table[tableStride + channel] = right
      unsafe table[2 * tableStride + channel] = Int32(truncatingIfNeeded: (Int64(1) << Int64(right)) - 1)
    }
  }

  deinit {
    unsafe table.deallocate()
  }

  /// Writes `count` outputs, of channels from `channel` on, from sums to which the bias is added first.
  ///
  /// Sums and bias may be read, not used, up to the next multiple of eight.
  func store(
    _ sums: UnsafePointer<Int32>, bias: UnsafePointer<Int32>, channel: Int, count: Int,
    to output: UnsafeMutablePointer<UInt8>
  ) {
    switch rounding {
    case .uniform:
      unsafe storeVectors(sums, bias: bias, channel: channel, count: count, to: output, isUniform: true)
    case .rightShifts:
      unsafe storeVectors(sums, bias: bias, channel: channel, count: count, to: output, isUniform: false)
    case .anyShifts, .once:
      var index = 0
      while index < count {
        let sum = unsafe sums[index] &+ bias[index]
        unsafe output[index] = outputByte(sum, channel: channel &+ index)
        index &+= 1
      }
    }
  }

  /// Eight output bytes, of channels from `channel` on, from sums that have their bias.
  @inline(__always)
  func bytes(_ low: SIMD4<Int32>, _ high: SIMD4<Int32>, channel: Int) -> SIMD8<UInt8> {
    switch rounding {
    case .uniform: return vector(low, high, channel: channel, isUniform: true)
    case .rightShifts: return vector(low, high, channel: channel, isUniform: false)
    case .anyShifts, .once: return scalars(low, high, channel: channel)
    }
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

  /// One output; a channel beyond the last (a lane of padding) takes the first one's factor.
  private func outputByte(_ sum: Int32, channel: Int) -> UInt8 {
    let value: Int32
    if rounding == .once {
      let scale = scales.count > 1 && channel < scales.count ? scales[channel] : scales[0]
      value = requantizeOnce(sum, scale: scale, zeroPoint: zeroPoint)
    } else {
      let factor =
        multipliers.count > 1 && channel < multipliers.count ? multipliers[channel] : multipliers[0]
      value = factor.apply(sum) &+ zeroPoint
    }
    return UInt8(truncatingIfNeeded: min(max(value, minimum), maximum))
  }

  @inline(__always)
  private func storeVectors(
    _ sums: UnsafePointer<Int32>, bias: UnsafePointer<Int32>, channel: Int, count: Int,
    to output: UnsafeMutablePointer<UInt8>, isUniform: Bool
  ) {
    var index = 0
    while index < count {
      let low = unsafe load4(sums, index) &+ load4(bias, index)
      let high = unsafe load4(sums, index &+ 4) &+ load4(bias, index &+ 4)
      let bytes = vector(low, high, channel: channel &+ index, isUniform: isUniform)
      unsafe storeLanes(bytes, to: output + index, count: count &- index)
      index &+= 8
    }
  }

  @inline(__always)
  private func vector(
    _ low: SIMD4<Int32>, _ high: SIMD4<Int32>, channel: Int, isUniform: Bool
  ) -> SIMD8<UInt8> {
    let offsets = SIMD4(repeating: zeroPoint)
    let first = half(low, channel: channel, isUniform: isUniform) &+ offsets
    let second = half(high, channel: channel &+ 4, isUniform: isUniform) &+ offsets
    // Saturating to 16 bits first changes nothing, since the bounds are those of a byte.
    let words = saturated(SIMD8(lowHalf: first, highHalf: second)).clamped(
      lowerBound: SIMD8(repeating: Int16(truncatingIfNeeded: minimum)),
      upperBound: SIMD8(repeating: Int16(truncatingIfNeeded: maximum)))
    return SIMD8<UInt8>(truncatingIfNeeded: words)
  }

  @inline(__always)
  private func half(_ sums: SIMD4<Int32>, channel: Int, isUniform: Bool) -> SIMD4<Int32> {
    let factors = unsafe SIMD4<UInt32>(truncatingIfNeeded: load4(table, channel))
    let products = roundingDoublingHighMultiply(sums, factors)
    if isUniform {
      let exponents = unsafe SIMD4(repeating: table[tableStride])
      return unsafe roundingDivideByPowerOfTwo(
        products, exponents, SIMD4(repeating: table[2 &* tableStride]))
    }
    return unsafe roundingDivideByPowerOfTwo(
      products, load4(table, tableStride &+ channel), load4(table, 2 &* tableStride &+ channel))
  }
}

/// Eight values saturated to 16 bits: lane by lane, this is one `packssdw`.
@inline(__always)
private func saturated(_ values: SIMD8<Int32>) -> SIMD8<Int16> {
  var result = SIMD8<Int16>()
  for lane in 0..<8 {
    result[lane] = Int16(truncatingIfNeeded: min(max(values[lane], Int32(Int16.min)), Int32(Int16.max)))
  }
  return result
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
    for lane in 0..<count { unsafe output[lane] = lanes[lane] }
  }
}
