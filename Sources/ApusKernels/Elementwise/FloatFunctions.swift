#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A function of one float.
package enum FloatFunction: Hashable, Sendable {
  /// Brings values into a range; NaN passes.
  case clamp(minimum: Float, maximum: Float)
  /// `1 / (1 + e⁻ˣ)`
  case logistic
  case tanh

  /// The function's value.
  package func callAsFunction(_ value: Float) -> Float {
    switch self {
    case .clamp(let minimum, let maximum): ScalarBounds(minimum: minimum, maximum: maximum).clamp(value)
    case .logistic: 1 / (1 + exp(-value))
    case .tanh: tanhf(value)
    }
  }

  /// The kernel for `count` floats.
  package func kernel(count: Int) -> any UnaryKernel {
    switch self {
    case .clamp(let minimum, let maximum):
      UnaryMap(Clamp(bounds: ScalarBounds(minimum: minimum, maximum: maximum)), count: count)
    default:
      UnaryMap(ClosureFunction { self($0) }, count: count, isCostly: true)
    }
  }
}

private struct Clamp: UnaryFunction {
  let bounds: ScalarBounds<Float>

  @inline(__always)
  func callAsFunction(_ value: Float) -> Float { bounds.clamp(value) }
}
