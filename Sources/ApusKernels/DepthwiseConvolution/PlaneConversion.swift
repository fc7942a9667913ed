// SPDX-License-Identifier: Apache-2.0

/// How gathered elements are converted to the lanes of a depthwise kernel.
protocol PlaneConversion {
  associatedtype Lane: BitwiseCopyable

  /// The size of an element of the source.
  static var elementByteCount: Int { get }

  /// The lane of a tap in the padding.
  var padding: Lane { get }

  /// Converts one element.
  func convertOne(_ source: UnsafeRawPointer) -> Lane

  /// Converts eight elements of each of `count` columns, `step` bytes apart.
  func convertLine(_ source: UnsafeRawPointer, step: Int, count: Int, to lanes: UnsafeMutablePointer<Lane>)

  /// Completes a line of gathered columns, eight lanes each; the taps of a filter row are `tapStep` apart.
  func finish(_ line: UnsafeMutablePointer<Lane>, columns: Int, tapStep: Int)
}

/// Bytes minus their zero point as 16-bit integers, two neighboring taps in one lane.
///
/// The lower half of a lane is the column's own value. The upper half is that of the column `tapStep`
/// further, or undefined if there is none: two taps are then one multiplication of pairs.
struct CenteredPair: PlaneConversion {
  let signFlip: UInt8
  let zeroPoint: Int16
  /// Whether a filter row has a second tap at all.
  let isPaired: Bool

  static var elementByteCount: Int { 1 }
  var padding: Int32 { 0 }

  @inline(__always)
  func convertOne(_ source: UnsafeRawPointer) -> Int32 {
    let byte = unsafe source.load(as: UInt8.self) ^ signFlip
    return Int32(UInt16(bitPattern: Int16(truncatingIfNeeded: byte) &- zeroPoint))
  }

  @inline(__always)
  func convertLine(
    _ source: UnsafeRawPointer, step: Int, count: Int, to lanes: UnsafeMutablePointer<Int32>
  ) {
    var source = unsafe source
    var destination = UnsafeMutableRawPointer(lanes)
    let flips = SIMD8<UInt8>(repeating: signFlip)
    let offsets = SIMD8<Int16>(repeating: zeroPoint)
    for _ in 0..<count {
      let bytes = unsafe source.loadUnaligned(as: SIMD8<UInt8>.self) ^ flips
      let values = SIMD8<UInt16>(bits: SIMD8<Int16>(widening: bytes) &- offsets)
      unsafe destination.storeBytes(of: SIMD8<UInt32>(widening: values), as: SIMD8<UInt32>.self)
      unsafe source += step
      unsafe destination += 32
    }
  }

  @inline(__always)
  func finish(_ line: UnsafeMutablePointer<Int32>, columns: Int, tapStep: Int) {
    guard isPaired else { return }
    // In ascending order: each lane is read while its upper half is still empty.
    var index = 0
    while index < (columns &- tapStep) &* 8 {
      let pair = unsafe load4(line, index) | load4(line, index &+ tapStep &* 8) &<< SIMD4(repeating: 16)
      unsafe UnsafeMutableRawPointer(line + index).storeBytes(of: pair, as: SIMD4<Int32>.self)
      index &+= 4
    }
  }
}

/// Floats, unchanged, one per lane.
struct PlainLane: PlaneConversion {
  static var elementByteCount: Int { 4 }
  var padding: Float { 0 }

  @inline(__always)
  func convertOne(_ source: UnsafeRawPointer) -> Float {
    unsafe source.loadUnaligned(as: Float.self)
  }

  @inline(__always)
  func convertLine(
    _ source: UnsafeRawPointer, step: Int, count: Int, to lanes: UnsafeMutablePointer<Float>
  ) {
    var source = unsafe source
    var destination = UnsafeMutableRawPointer(lanes)
    for _ in 0..<count {
      unsafe destination.copyMemory(from: source, byteCount: 32)
      unsafe source += step
      unsafe destination += 32
    }
  }

  @inline(__always)
  func finish(_ line: UnsafeMutablePointer<Float>, columns: Int, tapStep: Int) {}
}

/// 16-bit integers, two neighboring taps in one lane, as in `CenteredPair`.
struct PlainPair: PlaneConversion {
  /// Whether a filter row has a second tap at all.
  let isPaired: Bool

  static var elementByteCount: Int { 2 }
  var padding: Int32 { 0 }

  @inline(__always)
  func convertOne(_ source: UnsafeRawPointer) -> Int32 {
    Int32(unsafe source.loadUnaligned(as: UInt16.self))
  }

  @inline(__always)
  func convertLine(
    _ source: UnsafeRawPointer, step: Int, count: Int, to lanes: UnsafeMutablePointer<Int32>
  ) {
    var source = unsafe source
    var destination = UnsafeMutableRawPointer(lanes)
    for _ in 0..<count {
      let values = unsafe source.loadUnaligned(as: SIMD8<UInt16>.self)
      unsafe destination.storeBytes(of: SIMD8<UInt32>(widening: values), as: SIMD8<UInt32>.self)
      unsafe source += step
      unsafe destination += 32
    }
  }

  @inline(__always)
  func finish(_ line: UnsafeMutablePointer<Int32>, columns: Int, tapStep: Int) {
    unsafe CenteredPair(signFlip: 0, zeroPoint: 0, isPaired: isPaired).finish(
      line, columns: columns, tapStep: tapStep)
  }
}
