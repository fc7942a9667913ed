// SPDX-License-Identifier: Apache-2.0

import ApusSystem

/// A real function of a complex number, stored as real and imaginary part.
package enum ComplexFunction: Hashable, Sendable {
  case real, imaginary, magnitude

  /// The kernel for `count` pairs of floats.
  package func floats(count: Int) -> any UnaryKernel {
    switch self {
    case .real: UnaryMap(RealPart<Float>(), count: count)
    case .imaginary: UnaryMap(ImaginaryPart<Float>(), count: count)
    case .magnitude: UnaryMap(FloatMagnitude(), count: count)
    }
  }

  /// The kernel for `count` pairs of doubles.
  package func doubles(count: Int) -> any UnaryKernel {
    switch self {
    case .real: UnaryMap(RealPart<Double>(), count: count)
    case .imaginary: UnaryMap(ImaginaryPart<Double>(), count: count)
    case .magnitude: UnaryMap(DoubleMagnitude(), count: count)
    }
  }
}

/// A complex number in the layout of tensors.
struct Complex<Real: BitwiseCopyable & Sendable>: BitwiseCopyable, Sendable {
  let real: Real
  let imaginary: Real
}

private struct RealPart<Real: BitwiseCopyable & Sendable>: UnaryFunction {
  @inline(__always)
  func callAsFunction(_ value: Complex<Real>) -> Real { value.real }
}

private struct ImaginaryPart<Real: BitwiseCopyable & Sendable>: UnaryFunction {
  @inline(__always)
  func callAsFunction(_ value: Complex<Real>) -> Real { value.imaginary }
}

private struct FloatMagnitude: UnaryFunction {
  @inline(__always)
  func callAsFunction(_ value: Complex<Float>) -> Float { hypotf(value.real, value.imaginary) }
}

private struct DoubleMagnitude: UnaryFunction {
  @inline(__always)
  func callAsFunction(_ value: Complex<Double>) -> Double { hypot(value.real, value.imaginary) }
}

/// The product of complex numbers, `(a + bi)(c + di)`.
package enum ComplexProduct {
  /// The kernel for pairs of floats.
  package static func floats(_ shapes: BroadcastShapes) -> any BinaryKernel {
    BroadcastBinary(FloatComplexProduct(), shapes)
  }
}

private struct FloatComplexProduct: BinaryFunction {
  @inline(__always)
  func callAsFunction(_ lhs: Complex<Float>, _ rhs: Complex<Float>) -> Complex<Float> {
    Complex(
      real: lhs.real * rhs.real - lhs.imaginary * rhs.imaginary,
      imaginary: lhs.real * rhs.imaginary + lhs.imaginary * rhs.real)
  }
}
