// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusSystem

/// A function of one float.
package enum FloatFunction: Hashable, Sendable {
  /// Clamps values to a range; NaN passes.
  case clamp(minimum: Float, maximum: Float)
  case absolute, negate, square, squareRoot, inverseSquareRoot
  /// Rounds to an integer: down, up, or to nearest, ties to even.
  case floor, ceil, round
  /// −1, 0 or 1; NaN stays NaN.
  case sign
  case exp, log, sin, cos, tanh
  /// `1 / (1 + e⁻ˣ)`, and `eˣ` below `logisticCutoff`.
  case logistic
  /// `x` times `logistic`, which is rounded before the product; at most the greatest finite float, as `MUL` clamps.
  case swish
  /// `eˣ − 1` below zero, otherwise `x`.
  case elu
  /// `αx` below zero, otherwise `x`.
  case leakyRelu(alpha: Float)
  /// `x · min(6, max(0, x + 3)) / 6`
  case hardSwish
  /// `x · Φ(x)`, where Φ is the normal distribution or its approximation by a hyperbolic tangent.
  case gelu(isApproximate: Bool)
  /// GELU with each step rounded to `float16`.
  case halfGelu(isApproximate: Bool)
  /// The nearest of the values `minimum + n · scale` from `minimum` to `maximum`; NaN becomes `minimum`.
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
    // Only zero keeps its sign: the reference adds 1 to the floor of what it rounds up.
    case .round: value == 0 ? value : value.rounded(.toNearestOrEven) + 0
    case .sign: value > 0 ? 1 : value < 0 ? -1 : value.isNaN ? value : 0
    case .exp: expf(value)
    case .log: logf(value)
    case .sin: sinf(value)
    case .cos: cosf(value)
    case .tanh: tanhf(value)
    case .logistic: Self.logistic(value)
    case .swish:
      ScalarBounds(minimum: -.infinity, maximum: .greatestFiniteMagnitude).clamp(value * Self.logistic(value))
    case .elu: value < 0 ? expm1f(value) : value
    case .leakyRelu(let alpha): value > 0 ? value : value * alpha
    case .hardSwish: value * ScalarBounds(minimum: 0, maximum: 6).clamp(value + 3) / 6
    case .gelu(let isApproximate): Self.gelu(value, isApproximate: isApproximate)
    case .halfGelu(let isApproximate): Self.halfGelu(value, isApproximate: isApproximate)
    case .fakeQuantize(let scale, let minimum, let maximum):
      ((min(maximum, minimum < value ? value : minimum) - minimum) * (1 / scale))
        .rounded(.toNearestOrAwayFromZero) * scale + minimum
    }
  }

  /// Below this, LiteRT's reference computes the logistic function as `eˣ`, with a relative error of up to 1.2·10⁻⁴.
  package static let logisticCutoff: Float = -9

  /// The magnitude from which on code of vectors is imprecise, so that values are computed one at a time; nil if it is precise
  /// for all values.
  package var vectorLimit: Float? {
    switch self {
    case .sin, .cos: Self.angleLimit
    case .clamp, .absolute, .negate, .square, .squareRoot, .inverseSquareRoot, .floor, .ceil, .round, .sign,
      .exp, .log, .tanh, .logistic, .swish, .elu, .leakyRelu, .hardSwish, .gelu, .halfGelu, .fakeQuantize:
      nil
    }
  }

  /// The magnitude of angles from which on vectors leave the argument reduction to the system's library.
  fileprivate static let angleLimit: Float = 8192

  private static func logistic(_ value: Float) -> Float {
    value < logisticCutoff ? expf(value) : 1 / (1 + expf(-value))
  }

  private static func gelu(_ value: Float, isApproximate: Bool) -> Float {
    guard isApproximate else { return 0.5 * value * erfcf(value * -Float(0.5).squareRoot()) }
    // √(2/π)
    let factor: Float = 0.797_884_560_802_865_36
    return 0.5 * value * (1 + tanhf(factor * (value + 0.044715 * value * value * value)))
  }

  private static func halfGelu(_ value: Float, isApproximate: Bool) -> Float {
    let half = (0.5 * value).roundedToHalf
    guard isApproximate else {
      let factor = (-Float(0.5).squareRoot()).roundedToHalf
      return half * erfcf((value * factor).roundedToHalf).roundedToHalf
    }
    let cube = ((value * value).roundedToHalf * value).roundedToHalf
    let inner = (value + (Float(0.044715).roundedToHalf * cube).roundedToHalf).roundedToHalf
    let tangent = tanhf((Float(0.797_884_560_802_865_36).roundedToHalf * inner).roundedToHalf).roundedToHalf
    return half * (1 + tangent).roundedToHalf
  }

  /// The kernel for `count` floats: code of the kernel set if it has some, otherwise a portable loop.
  package func choose(count: Int, using set: KernelSet) -> KernelSet.Chosen<any UnaryKernel> {
    set.choose(otherwise: portableKernel(count: count)) { set throws(Decline) in
      let function = unsafe MappedFunction(
        function: self, mapping: try set.generatedKernels().floatMapping(self))
      return UnaryMap(function, count: count, formula: FloatFormula(self))
    }
  }

  private func portableKernel(count: Int) -> any UnaryKernel {
    switch self {
    case .clamp(let minimum, let maximum): UnaryMap(Clamp(minimum: minimum, maximum: maximum), count: count)
    case .absolute: UnaryMap(Absolute(), count: count)
    case .negate: UnaryMap(Negative(), count: count)
    case .square: UnaryMap(Square(), count: count)
    case .squareRoot: UnaryMap(SquareRoot(), count: count)
    case .floor: UnaryMap(Floor(), count: count)
    case .ceil: UnaryMap(Ceiling(), count: count)
    case .round: UnaryMap(NearestInteger(), count: count)
    case .sign: UnaryMap(Sign(), count: count)
    case .exp: UnaryMap(Exponential(), count: count, isCostly: true)
    case .log: UnaryMap(NaturalLogarithm(), count: count, isCostly: true)
    case .tanh: UnaryMap(HyperbolicTangent(), count: count, isCostly: true)
    case .logistic: UnaryMap(LogisticFunction(), count: count, isCostly: true)
    case .swish: UnaryMap(Swish(), count: count, isCostly: true)
    case .elu: UnaryMap(ExponentialUnit(), count: count, isCostly: true)
    case .leakyRelu(let alpha): UnaryMap(LeakyRelu(alpha: alpha), count: count)
    case .hardSwish: UnaryMap(HardSwish(), count: count)
    case .gelu(isApproximate: true): UnaryMap(ApproximateGelu(), count: count, isCostly: true)
    case .gelu(isApproximate: false): UnaryMap(Gelu(), count: count, isCostly: true)
    case .sin: UnaryMap(Sine(isCosine: false), count: count, isCostly: true)
    case .cos: UnaryMap(Sine(isCosine: true), count: count, isCostly: true)
    case .inverseSquareRoot, .halfGelu, .fakeQuantize:
      UnaryMap(ClosureFunction { self($0) }, count: count, isCostly: true)
    }
  }
}

/// Applies a function to `count` floats. The output may overwrite the input in place.
package typealias FloatMapping =
  @Sendable (
    _ output: UnsafeMutablePointer<Float>, _ count: Int, _ input: UnsafePointer<Float>
  ) -> Void

/// A function of floats that generated code computes.
@safe private struct MappedFunction: UnaryFunction {
  let function: FloatFunction
  let mapping: FloatMapping

  var loopDescription: String { "generated loop of a vector at a time" }

  func callAsFunction(_ value: Float) -> Float { function(value) }

  @inline(__always)
  func fill(_ output: UnsafeMutablePointer<Float>, count: Int, input: UnsafePointer<Float>) {
    unsafe mapping(output, count, input)
  }
}

private struct Clamp: FloatVectorFunction {
  let minimum: Float
  let maximum: Float

  @inline(__always)
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float> { values.bounded(minimum, maximum) }
}

private struct Absolute: FloatVectorFunction {
  @inline(__always)
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float> {
    SIMD8(bits: SIMD8<Int32>(bits: values) & SIMD8(repeating: .max))
  }
}

private struct Negative: FloatVectorFunction {
  @inline(__always)
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float> {
    SIMD8(bits: SIMD8<Int32>(bits: values) ^ SIMD8(repeating: .min))
  }
}

private struct Square: FloatVectorFunction {
  @inline(__always)
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float> { values * values }
}

private struct SquareRoot: FloatVectorFunction {
  @inline(__always)
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float> { values.squareRoot() }
}

private struct Floor: FloatVectorFunction {
  @inline(__always)
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float> {
    let nearest = values.nearestIntegers
    return nearest.replacing(with: nearest - 1, where: nearest .> values)
  }
}

private struct Ceiling: FloatVectorFunction {
  @inline(__always)
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float> {
    let nearest = values.nearestIntegers
    // The result has the sign of its argument, also if it is zero.
    let signs = SIMD8<Int32>(bits: values) & SIMD8<Int32>(repeating: .min)
    let next = SIMD8<Float>(bits: SIMD8<Int32>(bits: nearest + 1) | signs)
    return nearest.replacing(with: next, where: nearest .< values)
  }
}

private struct NearestInteger: FloatVectorFunction {
  @inline(__always)
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float> {
    // −0 + 0 is 0.
    (values.nearestIntegers + SIMD8<Float>()).replacing(with: values, where: values .== SIMD8<Float>())
  }
}

private struct Sign: FloatVectorFunction {
  @inline(__always)
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float> {
    let zero = SIMD8<Float>()
    let magnitudes = zero.replacing(with: SIMD8(repeating: 1), where: values .!= zero)
    let signed = magnitudes.replacing(with: SIMD8(repeating: -1), where: values .< zero)
    return values.replacing(with: signed, where: values .== values)
  }
}

private struct Exponential: FloatVectorFunction {
  @inline(__always)
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float> { values.exponential }
}

private struct NaturalLogarithm: FloatVectorFunction {
  @inline(__always)
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float> { values.naturalLogarithm }
}

private struct HyperbolicTangent: FloatVectorFunction {
  @inline(__always)
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float> { values.hyperbolicTangent }
}

private struct LogisticFunction: FloatVectorFunction {
  @inline(__always)
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float> { values.logistic }
}

private struct Swish: FloatVectorFunction {
  @inline(__always)
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float> {
    // No product is below the minimum finite float: for −∞ it is NaN.
    (values * values.logistic).bounded(-.infinity, .greatestFiniteMagnitude)
  }
}

private struct ExponentialUnit: FloatVectorFunction {
  @inline(__always)
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float> {
    values.replacing(with: values.exponentialMinusOne, where: .!(values .>= SIMD8<Float>(repeating: 0)))
  }
}

private struct LeakyRelu: FloatVectorFunction {
  let alpha: Float

  @inline(__always)
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float> {
    // With the opposite condition, the compiler emits a branch for each lane.
    values.replacing(with: values * alpha, where: .!(values .> SIMD8<Float>(repeating: 0)))
  }
}

private struct HardSwish: FloatVectorFunction {
  @inline(__always)
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float> { values * (values + 3).bounded(0, 6) / 6 }
}

private struct ApproximateGelu: FloatVectorFunction {
  @inline(__always)
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float> {
    // √(2/π)
    let argument = (values + values * values * values * 0.044715) * 0.797_884_560_802_865_36
    return values * 0.5 * (argument.hyperbolicTangent + 1)
  }
}

private struct Gelu: FloatVectorFunction {
  @inline(__always)
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float> { values.gelu }
}

private struct Sine: FloatVectorFunction {
  let isCosine: Bool

  @inline(__always)
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float> {
    let magnitudes = SIMD8<Float>(bits: SIMD8<Int32>(bits: values) & SIMD8(repeating: .max))
    let results = values.sine(isCosine: isCosine)
    let areSmall = magnitudes .< SIMD8<Float>(repeating: FloatFunction.angleLimit)
    return all(areSmall) ? results : precise(values).replacing(with: results, where: areSmall)
  }

  /// Computes large angles by the system's library, whose argument reduction is more precise.
  @inline(never)
  private func precise(_ values: SIMD8<Float>) -> SIMD8<Float> {
    var results = values
    for lane in 0..<8 { results[lane] = isCosine ? cosf(values[lane]) : sinf(values[lane]) }
    return results
  }
}
