// SPDX-License-Identifier: Apache-2.0

/// A complex number of two floats: an element of a `complex64` tensor.
///
/// ```swift
/// let spectrum = try interpreter.output(at: 0, as: ComplexFloat.self)
/// let powers = spectrum.map { $0.real * $0.real + $0.imaginary * $0.imaginary }
/// ```
public struct ComplexFloat: BitwiseCopyable, Hashable, Sendable {
  /// The real part.
  public var real: Float
  /// The imaginary part.
  public var imaginary: Float

  /// Makes a number from its parts.
  public init(real: Float, imaginary: Float) {
    self.real = real
    self.imaginary = imaginary
  }
}

extension ComplexFloat: TensorElement {
  /// `complex64`.
  public static var elementType: ElementType { .complex64 }
}
