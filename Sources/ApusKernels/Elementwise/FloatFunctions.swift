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
  case absolute, negate, square, squareRoot, inverseSquareRoot
  /// To an integer: down, up, or to the nearest, of two the even one.
  case floor, ceil, round
  /// −1, 0 or 1; NaN stays.
  case sign
  case exp, log, sin, cos, tanh
  /// `1 / (1 + e⁻ˣ)`
  case logistic
  /// `eˣ − 1` below zero.
  case elu
  /// `αx` below zero.
  case leakyRelu(alpha: Float)
  /// `x · min(6, max(0, x + 3)) / 6`
  case hardSwish
  /// `x · Φ(x)`, with the normal distribution or an approximation of it by a hyperbolic tangent.
  case gelu(isApproximate: Bool)
  /// To the nearest of the multiples of `scale` from `minimum` to `maximum`; NaN becomes `minimum`.
  case fakeQuantize(scale: Float, minimum: Float, maximum: Float)

  /// The function's value.
  @inline(__always)
  package func callAsFunction(_ value: Float) -> Float {
    switch self {
    case .clamp(let minimum, let maximum): ScalarBounds(minimum: minimum, maximum: maximum).clamp(value)
    case .absolute: abs(value)
    case .negate: -value
    case .square: value * value
    case .squareRoot: value.squareRoot()
    case .inverseSquareRoot: 1 / value.squareRoot()
    case .floor: value.rounded(.down)
    case .ceil: value.rounded(.up)
    case .round: value.rounded(.toNearestOrEven)
    case .sign: value > 0 ? 1 : value < 0 ? -1 : value.isNaN ? value : 0
    case .exp: expf(value)
    case .log: logf(value)
    case .sin: sinf(value)
    case .cos: cosf(value)
    case .tanh: tanhf(value)
    case .logistic: 1 / (1 + expf(-value))
    case .elu: value < 0 ? expm1f(value) : value
    case .leakyRelu(let alpha): value > 0 ? value : value * alpha
    case .hardSwish: value * ScalarBounds(minimum: 0, maximum: 6).clamp(value + 3) / 6
    case .gelu(let isApproximate): Self.gelu(value, isApproximate: isApproximate)
    case .fakeQuantize(let scale, let minimum, let maximum):
      ((min(maximum, minimum < value ? value : minimum) - minimum) * (1 / scale))
        .rounded(.toNearestOrAwayFromZero) * scale + minimum
    }
  }

  private static func gelu(_ value: Float, isApproximate: Bool) -> Float {
    guard isApproximate else { return 0.5 * value * erfcf(value * -Float(0.5).squareRoot()) }
    // √(2/π)
    let factor: Float = 0.797_884_560_802_865_36
    return 0.5 * value * (1 + tanhf(factor * (value + 0.044715 * value * value * value)))
  }

  /// The kernel for `count` floats.
  package func kernel(count: Int) -> any UnaryKernel {
    switch self {
    case .clamp(let minimum, let maximum):
      UnaryMap(Clamp(bounds: ScalarBounds(minimum: minimum, maximum: maximum)), count: count)
    case .absolute: UnaryMap(Absolute(), count: count)
    case .negate: UnaryMap(Negative(), count: count)
    case .square: UnaryMap(Square(), count: count)
    case .squareRoot: UnaryMap(SquareRoot(), count: count)
    case .leakyRelu(let alpha): UnaryMap(LeakyRelu(alpha: alpha), count: count)
    case .hardSwish: UnaryMap(HardSwish(), count: count)
    default: UnaryMap(ClosureFunction { self($0) }, count: count, isCostly: true)
    }
  }
}

private struct Clamp: UnaryFunction {
  let bounds: ScalarBounds<Float>

  @inline(__always)
  func callAsFunction(_ value: Float) -> Float { bounds.clamp(value) }
}

private struct Absolute: UnaryFunction {
  @inline(__always)
  func callAsFunction(_ value: Float) -> Float { abs(value) }
}

private struct Negative: UnaryFunction {
  @inline(__always)
  func callAsFunction(_ value: Float) -> Float { -value }
}

private struct Square: UnaryFunction {
  @inline(__always)
  func callAsFunction(_ value: Float) -> Float { value * value }
}

private struct SquareRoot: UnaryFunction {
  @inline(__always)
  func callAsFunction(_ value: Float) -> Float { value.squareRoot() }
}

private struct LeakyRelu: UnaryFunction {
  let alpha: Float

  @inline(__always)
  func callAsFunction(_ value: Float) -> Float { value > 0 ? value : value * alpha }
}

private struct HardSwish: UnaryFunction {
  @inline(__always)
  func callAsFunction(_ value: Float) -> Float { FloatFunction.hardSwish(value) }
}
