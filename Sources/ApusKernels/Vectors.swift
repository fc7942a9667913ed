// SPDX-License-Identifier: Apache-2.0

// Vector conversions, written lane by lane. The standard library's generic ones are equivalent, but whether
// the compiler inlines them depends on the size of the module, and a call per vector costs ten times the
// work.

extension SIMD8<Int32> {
  /// Signed values, widened.
  @inlinable @inline(__always)
  package init(widening other: SIMD8<Int16>) {
    self.init()
    for lane in 0..<8 { self[lane] = Int32(other[lane]) }
  }

  /// Reinterprets the bits.
  @inline(__always)
  init(bits other: SIMD8<UInt32>) {
    self = unsafe unsafeBitCast(other, to: Self.self)
  }
}

extension SIMD8<Int32> {
  /// −1 in lanes that are set, zero in the others.
  @inline(__always)
  init(bits mask: SIMDMask<SIMD8<Int32>>) {
    self = unsafe unsafeBitCast(mask, to: Self.self)
  }

  /// The bits of floats.
  @inline(__always)
  init(bits other: SIMD8<Float>) {
    self = unsafe unsafeBitCast(other, to: Self.self)
  }
}

extension SIMDMask<SIMD8<Int32>> {
  /// Whether any lane is set; the library's `any` tests lane after lane.
  @inline(__always)
  var isSomewhereSet: Bool {
    let words = unsafe unsafeBitCast(self, to: SIMD4<UInt64>.self)
    let pairs = words.lowHalf | words.highHalf
    return pairs[0] | pairs[1] != 0
  }
}

extension SIMDMask<SIMD4<Int32>> {
  /// Whether any lane is set.
  @inlinable @inline(__always)
  package var isSomewhereSet: Bool {
    let words = unsafe unsafeBitCast(self, to: SIMD2<UInt64>.self)
    return words[0] | words[1] != 0
  }
}

extension SIMD8<Float> {
  /// The floats of these bits.
  @inline(__always)
  init(bits other: SIMD8<Int32>) {
    self = unsafe unsafeBitCast(other, to: Self.self)
  }
}

extension SIMD8<UInt32> {
  /// Unsigned values, widened.
  @inlinable @inline(__always)
  package init(widening other: SIMD8<UInt16>) {
    self.init()
    for lane in 0..<8 { self[lane] = UInt32(other[lane]) }
  }

  /// Unsigned values, widened.
  @inline(__always)
  init(widening other: SIMD8<UInt8>) {
    self.init()
    for lane in 0..<8 { self[lane] = UInt32(other[lane]) }
  }

  /// Reinterprets the bits.
  @inline(__always)
  init(bits other: SIMD8<Int32>) {
    self = unsafe unsafeBitCast(other, to: Self.self)
  }
}

extension SIMD8<Int16> {
  /// Signed values, widened.
  @inline(__always)
  init(widening other: SIMD8<Int8>) {
    self.init()
    for lane in 0..<8 { self[lane] = Int16(other[lane]) }
  }

  /// Unsigned values, widened.
  @inlinable @inline(__always)
  package init(widening other: SIMD8<UInt8>) {
    self.init()
    for lane in 0..<8 { self[lane] = Int16(other[lane]) }
  }

  /// The low halves.
  @inline(__always)
  init(lowWords other: SIMD8<Int32>) {
    self.init()
    for lane in 0..<8 { self[lane] = Int16(truncatingIfNeeded: other[lane]) }
  }

  /// Values saturated to 16 bits: one `packssdw`.
  @inline(__always)
  init(saturating other: SIMD8<Int32>) {
    self.init()
    for lane in 0..<8 {
      self[lane] = Int16(truncatingIfNeeded: Swift.min(Swift.max(other[lane], -0x8000), 0x7FFF))
    }
  }

  /// Values clamped lane by lane.
  @inlinable @inline(__always)
  package func bounded(_ least: Self, _ most: Self) -> Self {
    var result = Self()
    for lane in 0..<8 { result[lane] = Swift.min(Swift.max(self[lane], least[lane]), most[lane]) }
    return result
  }
}

extension SIMD8<Int16> {
  /// The maximum, lane by lane, with eight values that are given as two 64-bit words.
  @inline(__always)
  private func greater(_ words: SIMD2<UInt64>) -> Self {
    let other = unsafe unsafeBitCast(words, to: Self.self)
    return replacing(with: other, where: self .< other)
  }

  @inline(__always)
  private var words: SIMD2<UInt64> { unsafe unsafeBitCast(self, to: SIMD2<UInt64>.self) }

  /// The maximum of all lanes; the library's `max` compares one after the other.
  @inline(__always)
  var greatest: Int16 {
    let four = greater(SIMD2(words[1], words[0]))
    let two = four.greater(four.words &>> SIMD2(repeating: 32))
    return two.greater(two.words &>> SIMD2(repeating: 16))[0]
  }
}

extension SIMD8<Int16> {
  /// Reinterprets the bits.
  @inline(__always)
  init(bits other: SIMD8<UInt16>) {
    self = unsafe unsafeBitCast(other, to: Self.self)
  }
}

extension SIMD8<UInt16> {
  /// Unsigned values, widened.
  @inlinable @inline(__always)
  package init(widening other: SIMD8<UInt8>) {
    self.init()
    for lane in 0..<8 { self[lane] = UInt16(other[lane]) }
  }

  /// Reinterprets the bits.
  @inline(__always)
  init(bits other: SIMD8<Int16>) {
    self = unsafe unsafeBitCast(other, to: Self.self)
  }
}

extension SIMD8<UInt8> {
  /// The low bytes.
  @inlinable @inline(__always)
  package init(lowBytes other: SIMD8<Int16>) {
    self.init()
    for lane in 0..<8 { self[lane] = UInt8(truncatingIfNeeded: other[lane]) }
  }

  /// The low bytes.
  @inline(__always)
  init(lowBytes other: SIMD8<UInt32>) {
    self.init()
    for lane in 0..<8 { self[lane] = UInt8(truncatingIfNeeded: other[lane]) }
  }
}

extension SIMD16<UInt16> {
  /// Unsigned values, widened.
  @inline(__always)
  init(widening other: SIMD16<UInt8>) {
    self.init()
    for lane in 0..<16 { self[lane] = UInt16(other[lane]) }
  }
}

extension SIMD16<UInt8> {
  /// The maximum, lane by lane.
  @inlinable @inline(__always)
  package func greater(_ other: Self) -> Self {
    replacing(with: other, where: self .< other)
  }

  /// The maximum of all lanes.
  @inline(__always)
  var greatest: UInt8 {
    var result = self[0]
    for lane in 1..<16 { result = Swift.max(result, self[lane]) }
    return result
  }
}

extension SIMD4<UInt32> {
  /// Reinterprets the bits.
  @inline(__always)
  init(bits other: SIMD4<Int32>) {
    self = unsafe unsafeBitCast(other, to: Self.self)
  }

  /// The low halves.
  @inline(__always)
  init(lowHalves other: SIMD4<UInt64>) {
    self.init()
    for lane in 0..<4 { self[lane] = UInt32(truncatingIfNeeded: other[lane]) }
  }

  /// The bits of pairs.
  @inlinable @inline(__always)
  package init(bits other: SIMD8<Int16>) {
    self = unsafe unsafeBitCast(other, to: Self.self)
  }
}

extension SIMD4<UInt16> {
  /// The low bytes, in pairs.
  @inlinable @inline(__always)
  package init(bytePairs other: SIMD8<Int16>) {
    self = unsafe unsafeBitCast(SIMD8<UInt8>(lowBytes: other), to: Self.self)
  }
}

extension SIMD2<UInt32> {
  /// The low bytes, four by four.
  @inlinable @inline(__always)
  package init(byteQuads other: SIMD8<Int16>) {
    self = unsafe unsafeBitCast(SIMD8<UInt8>(lowBytes: other), to: Self.self)
  }
}

extension SIMD4<Int32> {
  /// Reinterprets the bits.
  @inline(__always)
  init(bits other: SIMD4<UInt32>) {
    self = unsafe unsafeBitCast(other, to: Self.self)
  }
}

extension SIMD4<Double> {
  /// Converts the values.
  @inline(__always)
  init(converting other: SIMD4<Int32>) {
    self.init()
    for lane in 0..<4 { self[lane] = Double(other[lane]) }
  }

  /// The doubles of these bits.
  @inline(__always)
  init(bits other: SIMD4<UInt64>) {
    self = unsafe unsafeBitCast(other, to: Self.self)
  }
}

extension SIMD4<UInt64> {
  /// The bits of doubles.
  @inline(__always)
  init(bits other: SIMD4<Double>) {
    self = unsafe unsafeBitCast(other, to: Self.self)
  }

  /// Unsigned values, widened.
  @inline(__always)
  init(widening other: SIMD4<UInt32>) {
    self.init()
    for lane in 0..<4 { self[lane] = UInt64(other[lane]) }
  }
}

/// Sums of neighboring products of signed 16-bit lanes: one `pmaddwd`, as long as there are eight lanes.
@inlinable @inline(__always)
package func pairSums(_ lhs: SIMD8<Int16>, _ rhs: SIMD8<Int16>) -> SIMD4<Int32> {
  let products = SIMD8<Int32>(widening: lhs) &* SIMD8<Int32>(widening: rhs)
  return products.evenHalf &+ products.oddHalf
}
