// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Conversions from one element type to another.
///
/// Integers keep their low bits. Floats lose their fraction and saturate; NaN becomes the maximum integer. Truth values are 0
/// and 1, and every value but zero is true. Complex numbers give their real part.
package enum CastKernel {
  /// The kernel for `count` elements: code of the kernel set if it has some, otherwise a portable loop.
  package static func choose(
    from source: ScalarType, to target: ScalarType, count: Int, using set: KernelSet
  ) -> KernelSet.Chosen<any UnaryKernel> {
    guard source == .float32 else { return (kernel(from: source, to: target, count: count), .plain) }
    return set.choose(otherwise: kernel(from: source, to: target, count: count)) { set throws(Decline) in
      try generatedKernel(to: target, count: count, using: set)
    }
  }

  /// The kernel for `count` elements in plain Swift.
  package static func kernel(from source: ScalarType, to target: ScalarType, count: Int) -> any UnaryKernel {
    switch source {
    case .bool: kernel(Truth.self, target, count)
    case .int8: kernel(Int8.self, target, count)
    case .uint8: kernel(UInt8.self, target, count)
    case .int16: kernel(Int16.self, target, count)
    case .uint16: kernel(UInt16.self, target, count)
    case .int32: kernel(Int32.self, target, count)
    case .uint32: kernel(UInt32.self, target, count)
    case .int64: kernel(Int64.self, target, count)
    case .float16: kernel(Half.self, target, count)
    case .bfloat16: kernel(BrainFloat.self, target, count)
    case .float32: kernel(Float.self, target, count)
    case .float64: kernel(Double.self, target, count)
    case .complex64: kernel(Complex<Float>.self, target, count)
    default: source.isNotTaken()
    }
  }

  @inline(__always)
  private static func kernel<Source: CastElement>(
    _ source: Source.Type, _ target: ScalarType, _ count: Int
  ) -> any UnaryKernel {
    switch target {
    case .bool: UnaryMap(Cast<Source, Truth>(), count: count)
    case .int8: UnaryMap(Cast<Source, Int8>(), count: count)
    case .uint8: UnaryMap(Cast<Source, UInt8>(), count: count)
    case .int16: UnaryMap(Cast<Source, Int16>(), count: count)
    case .uint16: UnaryMap(Cast<Source, UInt16>(), count: count)
    case .int32: UnaryMap(Cast<Source, Int32>(), count: count)
    case .uint32: UnaryMap(Cast<Source, UInt32>(), count: count)
    case .int64: UnaryMap(Cast<Source, Int64>(), count: count)
    case .float16: UnaryMap(Cast<Source, Half>(), count: count)
    case .bfloat16: UnaryMap(Cast<Source, BrainFloat>(), count: count)
    case .float32: UnaryMap(Cast<Source, Float>(), count: count)
    case .float64: UnaryMap(Cast<Source, Double>(), count: count)
    case .complex64: UnaryMap(Cast<Source, Complex<Float>>(), count: count)
    default: target.isNotTaken()
    }
  }

  /// The generated kernel for floats to integers that `int32` holds; throws if there is none.
  private static func generatedKernel(
    to target: ScalarType, count: Int, using set: KernelSet
  ) throws(Decline) -> any UnaryKernel {
    let code = try set.generatedKernels()
    return switch target {
    case .int8: unsafe UnaryMap(TruncatingCast<Int8>(mapping: try code.truncation()), count: count)
    case .uint8: unsafe UnaryMap(TruncatingCast<UInt8>(mapping: try code.truncation()), count: count)
    case .int16: unsafe UnaryMap(TruncatingCast<Int16>(mapping: try code.truncation()), count: count)
    case .uint16: unsafe UnaryMap(TruncatingCast<UInt16>(mapping: try code.truncation()), count: count)
    case .int32: unsafe UnaryMap(TruncatingCast<Int32>(mapping: try code.truncation()), count: count)
    default: throw Decline("floats are converted to \(target), which int32 cannot hold")
    }
  }

  /// The kernel for floats to integers narrower than a byte, clamped to their range and stored in a byte each.
  package static func packed(minimum: Float, maximum: Float, count: Int) -> any UnaryKernel {
    UnaryMap(PackedCast(bounds: ScalarBounds(minimum: minimum, maximum: maximum)), count: count)
  }
}

private struct PackedCast: UnaryFunction {
  let bounds: ScalarBounds<Float>

  @inline(__always)
  func callAsFunction(_ value: Float) -> Int8 {
    // NaN becomes the maximum integer.
    Int8(bounds.clamp(value < bounds.maximum ? value : bounds.maximum))
  }
}

/// A cast of floats to integers that `int32` holds: generated code converts to `int32`, and a loop clamps to the type's range.
@safe private struct TruncatingCast<Target: CastElement & FixedWidthInteger>: UnaryFunction {
  let mapping: FloatMapping

  var loopDescription: String { "generated loop of a vector at a time" }

  @inline(__always)
  func callAsFunction(_ value: Float) -> Target { value.cast(to: Target.self) }

  @inline(__always)
  func fill(_ output: UnsafeMutablePointer<Target>, count: Int, input: UnsafePointer<Float>) {
    if Target.self == Int32.self {
      unsafe mapping(UnsafeMutableRawPointer(output).assumingMemoryBound(to: Float.self), count, input)
      return
    }
    let (least, most) = (Int32(Target.min), Int32(Target.max))
    // A larger allocation, or a stricter alignment, would come from the heap.
    unsafe withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { memory in
      guard let memory = memory.baseAddress else { return }
      let integers = unsafe memory.assumingMemoryBound(to: Int32.self)
      var first = 0
      while first < count {
        let part = min(256, count &- first)
        unsafe mapping(memory.assumingMemoryBound(to: Float.self), part, input + first)
        let target = unsafe output + first
        for index in 0..<part {
          unsafe target[index] = Target(truncatingIfNeeded: min(max(integers[index], least), most))
        }
        first &+= part
      }
    }
  }
}

private struct Cast<Source: CastElement, Target: CastElement>: UnaryFunction {
  @inline(__always)
  func callAsFunction(_ value: Source) -> Target { value.cast(to: Target.self) }
}

/// An element type of casts. Integers and truth values are converted through `Int64`, other types through `Double`.
protocol CastElement: BitwiseCopyable, Sendable {
  init(integer: Int64)
  init(real: Double)
  func cast<Target: CastElement>(to type: Target.Type) -> Target
}

extension CastElement where Self: FixedWidthInteger {
  @inline(__always)
  init(integer: Int64) { self.init(truncatingIfNeeded: integer) }

  @inline(__always)
  init(real: Double) {
    // The first real number beyond the range. Unlike the maximum integer, it is exact as a double.
    let bound = Double(Self.max / 2 + 1) * 2
    if real < bound {
      // Through `Int64`, the conversion is an instruction; from a float to a generic integer type it is a loop over bits.
      self = real > Double(Self.min) ? Self(truncatingIfNeeded: Int64(real)) : .min
    } else {
      self = .max
    }
  }

  @inline(__always)
  func cast<Target: CastElement>(to type: Target.Type) -> Target {
    Target(integer: Int64(truncatingIfNeeded: self))
  }
}

extension Int8: CastElement {}
extension UInt8: CastElement {}
extension Int16: CastElement {}
extension UInt16: CastElement {}
extension Int32: CastElement {}
extension UInt32: CastElement {}
extension Int64: CastElement {}

extension Float: CastElement {
  @inline(__always)
  init(integer: Int64) { self.init(integer) }
  @inline(__always)
  init(real: Double) { self.init(real) }
  @inline(__always)
  func cast<Target: CastElement>(to type: Target.Type) -> Target { Target(real: Double(self)) }
}

extension Double: CastElement {
  @inline(__always)
  init(integer: Int64) { self.init(integer) }
  @inline(__always)
  init(real: Double) { self = real }
  @inline(__always)
  func cast<Target: CastElement>(to type: Target.Type) -> Target { Target(real: self) }
}

/// A truth value's byte.
private struct Truth: CastElement {
  let byte: UInt8

  @inline(__always)
  init(integer: Int64) { byte = integer == 0 ? 0 : 1 }
  @inline(__always)
  init(real: Double) { byte = real == 0 ? 0 : 1 }
  @inline(__always)
  func cast<Target: CastElement>(to type: Target.Type) -> Target { Target(integer: byte == 0 ? 0 : 1) }
}

extension Complex: CastElement where Real == Float {
  @inline(__always)
  init(integer: Int64) { self.init(real: Float(integer), imaginary: 0) }
  @inline(__always)
  init(real: Double) { self.init(real: Float(real), imaginary: 0) }
  @inline(__always)
  func cast<Target: CastElement>(to type: Target.Type) -> Target { Target(real: Double(real)) }
}
