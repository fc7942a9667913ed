// SPDX-License-Identifier: Apache-2.0

/// The taps of one output pixel, and the functions that combine them.
struct PoolingWindow {
  let rows: Int
  let columns: Int
  /// Elements from one input row to the next.
  let rowStride: Int
  let channels: Int

  var count: Int { rows &* columns }

  /// Calls `body` with the element offset of each tap, in order.
  @inline(__always)
  func forEachTap(_ body: (Int) -> Void) {
    var row = 0
    while row < rows {
      var offset = row &* rowStride
      let end = offset &+ columns &* channels
      while offset < end {
        body(offset)
        offset &+= channels
      }
      row &+= 1
    }
  }

  // MARK: Bytes

  /// Pools uint8 or int8 channels.
  ///
  /// Signed bytes are flipped to unsigned ones, 128 higher, and back.
  func poolBytes(
    _ kind: Pooling.Kind, _ source: UnsafeRawPointer, to destination: UnsafeMutableRawPointer, isSigned: Bool,
    minimum: Int32, maximum: Int32
  ) {
    let flip: UInt8 = isSigned ? 0x80 : 0
    let offset: Int32 = isSigned ? 128 : 0
    let least = UInt8(truncatingIfNeeded: minimum &+ offset)
    let most = UInt8(truncatingIfNeeded: maximum &+ offset)
    let lowest = SIMD16<UInt8>(repeating: least)
    let highest = SIMD16<UInt8>(repeating: most)
    let flips = SIMD16<UInt8>(repeating: flip)
    var channel = 0
    func store(_ pooled: SIMD16<UInt8>, at channel: Int) {
      var result = pooled
      result.replace(with: lowest, where: result .< lowest)
      result.replace(with: highest, where: highest .< result)
      unsafe destination.storeBytes(of: result ^ flips, toByteOffset: channel, as: SIMD16<UInt8>.self)
    }
    // A cache line of each tap at once.
    while kind == .maximum, channel &+ 64 <= channels {
      let result = unsafe maximumOf64(source + channel, flip: flip)
      store(result.0, at: channel)
      store(result.1, at: channel &+ 16)
      store(result.2, at: channel &+ 32)
      store(result.3, at: channel &+ 48)
      channel &+= 64
    }
    while channel < channels, channels >= 16 {
      // The last 16 channels may overlap the ones before.
      channel = min(channel, channels &- 16)
      store(unsafe poolBytes16(kind, source + channel, flip: flip), at: channel)
      channel &+= 16
    }
    while channel < channels {
      var result = unsafe poolByte(kind, source + channel, flip: flip)
      result = min(max(result, least), most)
      unsafe destination.storeBytes(of: result ^ flip, toByteOffset: channel, as: UInt8.self)
      channel &+= 1
    }
  }

  /// Four vectors rather than one of 64 bytes, which the compiler compares byte by byte.
  @inline(__always)
  private func maximumOf64(
    _ source: UnsafeRawPointer, flip: UInt8
  ) -> (SIMD16<UInt8>, SIMD16<UInt8>, SIMD16<UInt8>, SIMD16<UInt8>) {
    let flips = SIMD16(repeating: flip)
    var most = (SIMD16<UInt8>(), SIMD16<UInt8>(), SIMD16<UInt8>(), SIMD16<UInt8>())
    @inline(__always)
    func take(_ offset: Int, _ most: inout SIMD16<UInt8>) {
      let values = unsafe source.loadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self) ^ flips
      most.replace(with: values, where: most .< values)
    }
    forEachTap { offset in
      take(offset, &most.0)
      take(offset &+ 16, &most.1)
      take(offset &+ 32, &most.2)
      take(offset &+ 48, &most.3)
    }
    return most
  }

  @inline(__always)
  private func poolBytes16(_ kind: Pooling.Kind, _ source: UnsafeRawPointer, flip: UInt8) -> SIMD16<UInt8> {
    let flips = SIMD16(repeating: flip)
    if kind == .maximum {
      var most = SIMD16<UInt8>()
      forEachTap { offset in
        let values = unsafe source.loadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self) ^ flips
        most.replace(with: values, where: most .< values)
      }
      return most
    }
    guard count <= 181 else { return unsafe averageOfMany(source, flip: flip) }
    // 181 bytes sum to less than 2¹⁶.
    var sum = SIMD16<UInt16>()
    forEachTap { offset in
      let values = unsafe source.loadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self) ^ flips
      sum &+= SIMD16<UInt16>(widening: values)
    }
    return SIMD16(lowHalf: rounded(sum.lowHalf, flip: flip), highHalf: rounded(sum.highHalf, flip: flip))
  }

  /// Averages of more taps than 16-bit sums can hold.
  private func averageOfMany(_ source: UnsafeRawPointer, flip: UInt8) -> SIMD16<UInt8> {
    let flips = SIMD16(repeating: flip)
    var totals = SIMD16<UInt64>()
    var sum = SIMD16<UInt16>()
    var taps = 0
    func flush() {
      for lane in 0..<16 { totals[lane] &+= UInt64(sum[lane]) }
      (sum, taps) = (SIMD16(), 0)
    }
    forEachTap { offset in
      let values = unsafe source.loadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self) ^ flips
      sum &+= SIMD16<UInt16>(widening: values)
      taps &+= 1
      // 257 bytes sum to less than 2¹⁶.
      if taps == 257 { flush() }
    }
    flush()
    var result = SIMD16<UInt8>()
    for lane in 0..<16 { result[lane] = average(of: Int(totals[lane]), flip: flip) }
    return result
  }

  /// Sums divided by the count, rounded to nearest, halves away from the tensor's zero.
  ///
  /// Computed in single precision. Quotients are scaled by 1 + 2⁻¹⁸, so that exact halves end above one half.
  /// For counts up to 181 other quotients are at least 1/362 from a half, which is more than that scale
  /// changes 255, plus the product's rounding.
  @inline(__always)
  private func rounded(_ sums: SIMD8<UInt16>, flip: UInt8) -> SIMD8<UInt8> {
    let offset: Int32 = flip != 0 ? 128 : 0
    let factor = SIMD8(repeating: (1 + 0x1p-18) / Float(count))
    // An integer below 2²³ in the mantissa of 2²³ makes the float of their sum.
    let base = SIMD8(repeating: 0x1p23 + Float(offset &* Int32(truncatingIfNeeded: count)))
    let wide = SIMD8<Int32>(bits: SIMD8<UInt32>(widening: sums))
    let values = SIMD8<Float>(bits: wide | SIMD8(repeating: 0x4B00_0000)) - base
    // Adding 1.5·2²³ leaves the nearest integer in the mantissa.
    let shifted = values * factor + SIMD8(repeating: 0x1.8p23)
    let results = SIMD8<Int32>(bits: shifted) &- SIMD8(repeating: 0x4B40_0000 &- offset)
    return SIMD8<UInt8>(lowBytes: SIMD8<UInt32>(bits: results))
  }

  private func poolByte(_ kind: Pooling.Kind, _ source: UnsafeRawPointer, flip: UInt8) -> UInt8 {
    var most: UInt8 = 0
    var sum = 0
    forEachTap { offset in
      let value = unsafe source.load(fromByteOffset: offset, as: UInt8.self) ^ flip
      most = max(most, value)
      sum &+= Int(value)
    }
    return kind == .maximum ? most : average(of: sum, flip: flip)
  }

  /// A sum of unsigned bytes divided by the count, rounded to nearest, halves away from the tensor's zero.
  private func average(of sum: Int, flip: UInt8) -> UInt8 {
    guard flip != 0 else { return UInt8(truncatingIfNeeded: (sum &+ count / 2) / count) }
    return UInt8(truncatingIfNeeded: roundedMean(sum &- 128 &* count) &+ 128)
  }

  /// A sum divided by the count, rounded to nearest, halves away from zero.
  private func roundedMean(_ sum: Int) -> Int {
    sum > 0 ? (sum &+ count / 2) / count : (sum &- count / 2) / count
  }

  // MARK: Words

  /// Pools int16 channels.
  func poolWords(
    _ kind: Pooling.Kind, _ source: UnsafeRawPointer, to destination: UnsafeMutableRawPointer, minimum: Int32,
    maximum: Int32
  ) {
    for channel in 0..<channels {
      var most = Int(Int16.min)
      var sum = 0
      forEachTap { offset in
        let value = Int(unsafe source.loadUnaligned(fromByteOffset: (offset &+ channel) &* 2, as: Int16.self))
        most = max(most, value)
        sum &+= value
      }
      let result = kind == .maximum ? most : roundedMean(sum)
      let clamped = Int16(truncatingIfNeeded: min(max(result, Int(minimum)), Int(maximum)))
      unsafe destination.storeBytes(of: clamped, toByteOffset: channel &* 2, as: Int16.self)
    }
  }
}
