// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generated code that rounds floats to bfloat16 in whole steps, as ``BFloat16Rounding`` does.
@usableFromInline package typealias RoundingCode = CodeFunction<RoundingArguments>

/// The arguments of ``RoundingCode``: addresses and a count, then the constants of the code.
@usableFromInline package struct RoundingArguments: CodeArguments {
  /// The address of the floats.
  @usableFromInline package var source: Int
  /// The number of steps, at least one.
  @usableFromInline package var steps: Int
  /// The address of the results: bfloat16, or floats.
  @usableFromInline package var lanes: Int
  /// A factor that changes no number.
  @usableFromInline package var one: Float = 1
  /// Almost half of the last digit that is kept.
  @usableFromInline package var belowHalf: UInt32 = 0x7FFF
  /// The last digit that is kept, shifted to the end.
  @usableFromInline package var lastDigit: UInt32 = 1
  /// The digits that are kept.
  @usableFromInline package var kept: UInt32 = 0xFFFF_0000
  /// The modes of float arithmetic that take subnormal numbers as zeros; in the upper half, the code keeps the caller's.
  @usableFromInline package var modes: UInt64 = 0x9FC0

  /// The conversion of `steps` steps at an address.
  @inlinable package init(source: Int, steps: Int, lanes: Int) {
    self.source = source
    self.steps = steps
    self.lanes = lanes
  }
}

extension RoundingCode {
  /// The number of floats in a step.
  @inlinable package static var step: Int { 16 }

  /// Converts `count` floats, at least one step; the last step may repeat floats of the one before.
  @inlinable package func convert(
    _ source: UnsafeRawPointer, to lanes: UnsafeMutableRawPointer, laneByteCount: Int, count: Int
  ) {
    let steps = count / Self.step
    var arguments = RoundingArguments(
      source: Int(bitPattern: source), steps: steps, lanes: Int(bitPattern: lanes))
    call(&arguments)
    guard count > steps &* Self.step else { return }
    let first = count &- Self.step
    arguments.source = Int(bitPattern: unsafe source + first &* 4)
    arguments.lanes = Int(bitPattern: unsafe lanes + first &* laneByteCount)
    arguments.steps = 1
    call(&arguments)
  }
}

/// Floats rounded to bfloat16, as floats.
@usableFromInline package struct RoundedFloats: LaneConversion, Sendable {
  /// Generated code for long runs.
  @usableFromInline package var code: RoundingCode?

  /// A conversion, in plain Swift without code.
  package init(code: RoundingCode? = nil) { self.code = code }

  @inlinable package static var elementByteCount: Int { 4 }
  @inlinable package var padding: Float { 0 }

  @inlinable @inline(__always)
  package func convert(_ source: UnsafeRawPointer, to lanes: UnsafeMutablePointer<Float>, count: Int) {
    let target = UnsafeMutableRawPointer(lanes)
    if let code, count >= RoundingCode.step {
      return unsafe code.convert(source, to: target, laneByteCount: 4, count: count)
    }
    var index = 0
    while index &+ 4 <= count {
      let bits = unsafe source.loadUnaligned(fromByteOffset: 4 &* index, as: SIMD4<UInt32>.self)
      unsafe target.storeBytes(
        of: BFloat16Rounding.rounded(bits), toByteOffset: 4 &* index, as: SIMD4<UInt32>.self)
      index &+= 4
    }
    while index < count {
      let value = unsafe source.loadUnaligned(fromByteOffset: 4 &* index, as: Float.self)
      unsafe lanes[index] = BFloat16Rounding.rounded(value)
      index &+= 1
    }
  }
}

/// Floats rounded to bfloat16.
@usableFromInline package struct RoundedHalves: LaneConversion, Sendable {
  /// Generated code for long runs.
  @usableFromInline package var code: RoundingCode?

  /// A conversion, in plain Swift without code.
  package init(code: RoundingCode? = nil) { self.code = code }

  @inlinable package static var elementByteCount: Int { 4 }
  @inlinable package var padding: UInt16 { 0 }

  @inlinable @inline(__always)
  package func convert(_ source: UnsafeRawPointer, to lanes: UnsafeMutablePointer<UInt16>, count: Int) {
    if let code, count >= RoundingCode.step {
      return unsafe code.convert(source, to: UnsafeMutableRawPointer(lanes), laneByteCount: 2, count: count)
    }
    for index in 0..<count {
      let value = unsafe source.loadUnaligned(fromByteOffset: 4 &* index, as: Float.self)
      unsafe lanes[index] = BFloat16Rounding.bits(value)
    }
  }
}
