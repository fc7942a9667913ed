/// Makes bytes of int32 sums: the factors of an `Epilogue`, laid out for SIMD.
///
/// The output byte is the low one of the clamped value: the same bits for uint8 and int8.
final class QuantizedEpilogue: @unchecked Sendable {
  private enum Rounding {
    /// Double rounding; all shifts go right, by the same count.
    case uniform
    /// Double rounding; all shifts go right.
    case rightShifts
    /// Double rounding, factors that are not negative, some of which shift left.
    case bothShifts
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
  /// For each channel a factor, then as many right shifts, masks and left shifts, each padded by eight.
  private let table: UnsafeMutablePointer<Int32>
  private let tableStride: Int
  private let zeroPoint: Int32
  private let minimum: Int32
  private let maximum: Int32

  /// Lays out an epilogue for `channels` output channels; nil for that of floats.
  init?(_ epilogue: Epilogue, channels: Int) {
    tableStride = roundedUp(channels, to: 8) + 8
    switch epilogue {
    case .float32, .reducedFixedPoint, .hybrid, .sums, .singlePrecision:
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
      let isPositive = multipliers.allSatisfy { $0.value >= 0 }
      let shiftsRight = multipliers.allSatisfy { $0.shift <= 0 }
      let isUniform = multipliers.allSatisfy { $0.shift == multipliers.first?.shift }
      rounding = !isPositive ? .anyShifts : !shiftsRight ? .bothShifts : isUniform ? .uniform : .rightShifts
    case .float64(let scales, let zeroPoint, let minimum, let maximum):
      (multipliers, upwardChannels) = ([], 0)
      self.scales = scales
      (self.zeroPoint, self.minimum, self.maximum) = (zeroPoint, minimum, maximum)
      rounding = .once
    }
    unsafe table = .allocate(capacity: 4 * tableStride)
    unsafe table.initialize(repeating: 0, count: 4 * tableStride)
    guard let first = multipliers.first else { return }
    let (rights, masks, lefts) = unsafe (
      table + tableStride, table + 2 * tableStride, table + 3 * tableStride
    )
    for channel in 0..<tableStride {
      let multiplier = multipliers.count > 1 && channel < multipliers.count ? multipliers[channel] : first
      let right = max(0, 0 &- multiplier.shift)
      unsafe table[channel] = multiplier.value
      unsafe rights[channel] = right
      unsafe masks[channel] = Int32(truncatingIfNeeded: (1 as UInt32) &<< UInt32(bitPattern: right) &- 1)
      unsafe lefts[channel] = max(0, multiplier.shift)
    }
  }

  deinit {
    unsafe table.deallocate()
  }

  /// Writes up to eight channels of `rows` rows of outputs, from sums to which the bias is added first.
  ///
  /// Channels are `count` from `channel` on; eight sums of each row and eight biases may be read.
  func store(
    _ sums: UnsafePointer<Int32>, sumStride: Int, rows: Int, bias: UnsafePointer<Int32>, channel: Int,
    count: Int, to output: UnsafeMutablePointer<UInt8>, outputStride: Int
  ) {
    switch (rounding, count) {
    case (.uniform, 8):
      storeVectors(
        sums, sumStride: sumStride, rows: rows, bias: bias, channel: channel, count: 8, to: output,
        outputStride: outputStride, shifts: .uniform)
    case (.uniform, _), (.rightShifts, _):
      storeVectors(
        sums, sumStride: sumStride, rows: rows, bias: bias, channel: channel, count: count, to: output,
        outputStride: outputStride, shifts: .right)
    case (.bothShifts, _):
      storeVectors(
        sums, sumStride: sumStride, rows: rows, bias: bias, channel: channel, count: count, to: output,
        outputStride: outputStride, shifts: .both)
    case (.anyShifts, _), (.once, _):
      for row in 0..<rows {
        for lane in 0..<count {
          let sum = unsafe sums[row &* sumStride &+ lane] &+ bias[lane]
          unsafe output[row &* outputStride &+ lane] = outputByte(sum, channel: channel &+ lane)
        }
      }
    }
  }

  /// Eight output bytes from sums that have their bias, of channels from `channel` on; lanes beyond the last channel are
  /// padding.
  @inline(__always)
  func bytes(_ low: SIMD4<Int32>, _ high: SIMD4<Int32>, channel: Int) -> SIMD8<UInt8> {
    switch rounding {
    case .uniform: return vectors(low, high, channel: channel, shifts: .uniform)
    case .rightShifts: return vectors(low, high, channel: channel, shifts: .right)
    case .bothShifts: return vectors(low, high, channel: channel, shifts: .both)
    case .anyShifts, .once: return scalars(low, high, channel: channel)
    }
  }

  @inline(__always)
  private func vectors(
    _ low: SIMD4<Int32>, _ high: SIMD4<Int32>, channel: Int, shifts: Shifts
  ) -> SIMD8<UInt8> {
    let offsets = SIMD4(repeating: zeroPoint)
    let first = unsafe Factors(table: table, stride: tableStride, channel: channel, shifts: shifts).apply(low)
    let second = unsafe Factors(table: table, stride: tableStride, channel: channel &+ 4, shifts: shifts)
      .apply(high)
    let words = SIMD8<Int16>(saturating: SIMD8(lowHalf: first &+ offsets, highHalf: second &+ offsets))
    return SIMD8(
      lowBytes: words.bounded(
        SIMD8(repeating: Int16(truncatingIfNeeded: minimum)),
        SIMD8(repeating: Int16(truncatingIfNeeded: maximum))))
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

  /// One output; a channel beyond the last, a lane of padding, takes the first one's factor.
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
  private func storeVectors(
    _ sums: UnsafePointer<Int32>, sumStride: Int, rows: Int, bias: UnsafePointer<Int32>, channel: Int,
    count: Int, to output: UnsafeMutablePointer<UInt8>, outputStride: Int, shifts: Shifts
  ) {
    let low = unsafe Factors(table: table, stride: tableStride, channel: channel, shifts: shifts)
    let high = unsafe Factors(table: table, stride: tableStride, channel: channel &+ 4, shifts: shifts)
    let lowBias = unsafe load4(bias, 0)
    let highBias = unsafe load4(bias, 4)
    let offsets = SIMD4(repeating: zeroPoint)
    let least = SIMD8(repeating: Int16(truncatingIfNeeded: minimum))
    let most = SIMD8(repeating: Int16(truncatingIfNeeded: maximum))
    var source = unsafe sums
    var destination = unsafe output
    var row = 0
    while row < rows {
      let first = unsafe low.apply(load4(source, 0) &+ lowBias) &+ offsets
      let second = unsafe high.apply(load4(source, 4) &+ highBias) &+ offsets
      // Saturating to 16 bits first changes nothing, since the bounds are those of a byte.
      let words = SIMD8<Int16>(saturating: SIMD8(lowHalf: first, highHalf: second)).bounded(least, most)
      unsafe storeLanes(SIMD8(lowBytes: words), to: destination, count: count)
      unsafe source += sumStride
      unsafe destination += outputStride
      row &+= 1
    }
  }

  /// How the channels' factors shift.
  private enum Shifts {
    case uniform
    case right
    case both
  }

  /// The factors of four channels, none of them negative.
  private struct Factors {
    let multipliers: SIMD4<UInt32>
    let exponents: SIMD4<Int32>
    let masks: SIMD4<Int32>
    let lefts: SIMD4<Int32>
    let shiftsLeft: Bool

    @inline(__always)
    init(table: UnsafePointer<Int32>, stride: Int, channel: Int, shifts: Shifts) {
      shiftsLeft = shifts == .both
      unsafe lefts = shiftsLeft ? load4(table, 3 &* stride &+ channel) : SIMD4()
      unsafe multipliers = SIMD4<UInt32>(bits: load4(table, channel))
      if shifts == .uniform {
        unsafe exponents = SIMD4(repeating: table[stride])
        unsafe masks = SIMD4(repeating: table[2 &* stride])
      } else {
        unsafe exponents = load4(table, stride &+ channel)
        unsafe masks = load4(table, 2 &* stride &+ channel)
      }
    }

    @inline(__always)
    func apply(_ sums: SIMD4<Int32>) -> SIMD4<Int32> {
      let shifted = shiftsLeft ? sums &<< lefts : sums
      return roundingDivideByPowerOfTwo(roundingDoublingHighMultiply(shifted, multipliers), exponents, masks)
    }
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
