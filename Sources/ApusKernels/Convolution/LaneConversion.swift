// SPDX-License-Identifier: Apache-2.0

/// How gathered elements are converted to the lanes of a kernel.
@usableFromInline package protocol LaneConversion {
  associatedtype Lane: BitwiseCopyable & SIMDScalar

  /// The size of an element of the source.
  static var elementByteCount: Int { get }

  /// The lane of a tap in the padding.
  var padding: Lane { get }

  /// Converts `count` elements, reading none beyond them.
  func convert(_ source: UnsafeRawPointer, to lanes: UnsafeMutablePointer<Lane>, count: Int)

  /// The bits flipped in bytes that are otherwise copied; nil for other conversions.
  var flips: UInt8? { get }
}

extension LaneConversion {
  @inlinable package var flips: UInt8? { nil }

  /// Converts runs of `count` elements, `step` bytes apart, into consecutive lanes.
  @inlinable @inline(__always)
  package func convert(
    _ source: UnsafeRawPointer, step: Int, to lanes: UnsafeMutablePointer<Lane>, count: Int, runs: Int
  ) {
    if let flips,
      unsafe copyShortRuns(
        source, step: step, to: lanes, byteCount: count &* MemoryLayout<Lane>.stride, runs: runs, flips: flips
      )
    {
      return
    }
    for run in 0..<runs {
      unsafe convert(source + run &* step, to: lanes + run &* count, count: count)
    }
  }
}

/// Copies short runs of bytes, `step` bytes apart, and flips bits of each byte; returns false and does
/// nothing for other runs.
@usableFromInline func copyShortRuns(
  _ source: UnsafeRawPointer, step: Int, to target: UnsafeMutableRawPointer, byteCount: Int, runs: Int,
  flips: UInt8
) -> Bool {
  let turns = 0x0101_0101_0101_0101 &* UInt64(flips)
  if byteCount == 4 {
    let turns = UInt32(truncatingIfNeeded: turns)
    for run in 0..<runs {
      let bits = unsafe source.loadUnaligned(fromByteOffset: run &* step, as: UInt32.self)
      unsafe target.storeBytes(of: bits ^ turns, toByteOffset: 4 &* run, as: UInt32.self)
    }
    return true
  }
  if byteCount == 8 {
    for run in 0..<runs {
      let bits = unsafe source.loadUnaligned(fromByteOffset: run &* step, as: UInt64.self)
      unsafe target.storeBytes(of: bits ^ turns, toByteOffset: 8 &* run, as: UInt64.self)
    }
    return true
  }
  guard byteCount & 15 == 0, byteCount <= 128 else { return false }
  let pairs = SIMD2(repeating: turns)
  var place = 0
  for run in 0..<runs {
    let from = unsafe source + run &* step
    var offset = 0
    while offset < byteCount {
      let bits = unsafe from.loadUnaligned(fromByteOffset: offset, as: SIMD2<UInt64>.self)
      unsafe target.storeBytes(of: bits ^ pairs, toByteOffset: place, as: SIMD2<UInt64>.self)
      offset &+= 16
      place &+= 16
    }
  }
  return true
}

/// Bytes minus their zero point as `int16`: exact, since both are in `0...255`.
@usableFromInline package struct CenteredInt16: LaneConversion, Sendable {
  @usableFromInline package let signFlip: UInt8
  /// The zero point of the unsigned bytes.
  @usableFromInline package let zeroPoint: Int16
  /// Generated code for most of a long run, for signed bytes if `signFlip` is not 0.
  @usableFromInline package var code: WideningCode?

  /// Bytes that are unsigned after their bits in `signFlip` are flipped.
  package init(signFlip: UInt8, zeroPoint: Int16, code: WideningCode? = nil) {
    self.signFlip = signFlip
    self.zeroPoint = zeroPoint
    self.code = code
  }

  @inlinable package static var elementByteCount: Int { 1 }
  @inlinable package var padding: Int16 { 0 }

  @inlinable @inline(__always)
  package func convert(_ source: UnsafeRawPointer, to lanes: UnsafeMutablePointer<Int16>, count: Int) {
    let flips = SIMD16<UInt8>(repeating: signFlip)
    let offsets = SIMD8<Int16>(repeating: zeroPoint)
    let target = UnsafeMutableRawPointer(lanes)
    var index = 0
    if let code, count >= WideningCode.step {
      let steps = count / WideningCode.step
      unsafe code.convert(
        source, to: lanes, steps: steps, zeroPoint: zeroPoint &- (signFlip == 0 ? 0 : 128))
      index = steps &* WideningCode.step
    }
    // The tail is converted together with elements before it: short runs are common.
    if count >= 16 {
      while index < count {
        index = min(index, count &- 16)
        let bytes = unsafe source.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self) ^ flips
        let low = SIMD8<Int16>(widening: bytes.lowHalf) &- offsets
        let high = SIMD8<Int16>(widening: bytes.highHalf) &- offsets
        unsafe target.storeBytes(of: low, toByteOffset: 2 &* index, as: SIMD8<Int16>.self)
        unsafe target.storeBytes(of: high, toByteOffset: 2 &* index &+ 16, as: SIMD8<Int16>.self)
        index &+= 16
      }
    } else if count >= 8 {
      while index < count {
        index = min(index, count &- 8)
        let bytes = unsafe source.loadUnaligned(fromByteOffset: index, as: SIMD8<UInt8>.self) ^ flips.lowHalf
        let values = SIMD8<Int16>(widening: bytes) &- offsets
        unsafe target.storeBytes(of: values, toByteOffset: 2 &* index, as: SIMD8<Int16>.self)
        index &+= 8
      }
    }
    while index < count {
      let byte = unsafe source.load(fromByteOffset: index, as: UInt8.self) ^ signFlip
      unsafe lanes[index] = Int16(truncatingIfNeeded: byte) &- zeroPoint
      index &+= 1
    }
  }
}

/// Bytes minus 128, as floats; the padding is the zero point minus 128.
struct CenteredFloat: LaneConversion {
  let signFlip: UInt8
  let zeroPoint: Int32

  static var elementByteCount: Int { 1 }
  var padding: Float { Float(zeroPoint &- 128) }

  @inline(__always)
  func convert(_ source: UnsafeRawPointer, to lanes: UnsafeMutablePointer<Float>, count: Int) {
    // 2²³ + byte has the byte as its lowest mantissa bits: no conversion instruction, and exact.
    let flips = SIMD8<UInt8>(repeating: signFlip)
    let exponents = SIMD4<UInt32>(repeating: 0x4B00_0000)
    let offsets = SIMD4<Float>(repeating: 0x1p23 + 128)
    var index = 0
    while index &+ 8 <= count {
      let bytes = unsafe source.loadUnaligned(fromByteOffset: index, as: SIMD8<UInt8>.self) ^ flips
      let words = SIMD8<UInt32>(widening: bytes)
      let low = unsafe unsafeBitCast(words.lowHalf | exponents, to: SIMD4<Float>.self) - offsets
      let high = unsafe unsafeBitCast(words.highHalf | exponents, to: SIMD4<Float>.self) - offsets
      unsafe UnsafeMutableRawPointer(lanes + index).storeBytes(of: low, as: SIMD4<Float>.self)
      unsafe UnsafeMutableRawPointer(lanes + index + 4).storeBytes(of: high, as: SIMD4<Float>.self)
      index &+= 8
      if index < count, index &+ 8 > count { index = count &- 8 }
    }
    while index < count {
      let byte = unsafe source.load(fromByteOffset: index, as: UInt8.self) ^ signFlip
      unsafe lanes[index] = Float(byte) - 128
      index &+= 1
    }
  }
}

/// Bytes with their highest bit flipped: unsigned ones as signed, or vice versa.
@usableFromInline package struct FlippedBytes: LaneConversion, Sendable {
  @usableFromInline package let padding: UInt8
  /// Generated code for long runs.
  @usableFromInline package var code: FlippingCode?

  /// A conversion with a byte for taps in the padding.
  package init(padding: UInt8, code: FlippingCode? = nil) {
    self.padding = padding
    self.code = code
  }

  @inlinable package static var elementByteCount: Int { 1 }
  @inlinable package var flips: UInt8? { 0x80 }

  @inlinable @inline(__always)
  package func convert(_ source: UnsafeRawPointer, to lanes: UnsafeMutablePointer<UInt8>, count: Int) {
    if let code, count >= FlippingCode.minimumCount {
      return unsafe code.copy(source, to: UnsafeMutableRawPointer(lanes), count: count)
    }
    let target = UnsafeMutableRawPointer(lanes)
    let flips = SIMD16<UInt8>(repeating: 0x80)
    var index = 0
    while index &+ 16 <= count {
      let bytes = unsafe source.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
      unsafe target.storeBytes(of: bytes ^ flips, toByteOffset: index, as: SIMD16<UInt8>.self)
      index &+= 16
      // The tail is converted together with bytes before it.
      if index < count, index &+ 16 > count { index = count &- 16 }
    }
    while index < count {
      unsafe lanes[index] = source.load(fromByteOffset: index, as: UInt8.self) ^ 0x80
      index &+= 1
    }
  }
}

/// Elements, unchanged.
@usableFromInline package struct Copy<Lane: BitwiseCopyable & SIMDScalar>: LaneConversion {
  @usableFromInline package let padding: Lane

  /// A copy with an element for taps in the padding.
  package init(padding: Lane) { self.padding = padding }

  @inlinable package static var elementByteCount: Int { MemoryLayout<Lane>.stride }
  @inlinable package var flips: UInt8? { 0 }

  @inlinable @inline(__always)
  package func convert(_ source: UnsafeRawPointer, to lanes: UnsafeMutablePointer<Lane>, count: Int) {
    unsafe UnsafeMutableRawPointer(lanes).copyMemory(
      from: source, byteCount: count &* MemoryLayout<Lane>.stride)
  }
}

extension Copy: Sendable where Lane: Sendable {}
