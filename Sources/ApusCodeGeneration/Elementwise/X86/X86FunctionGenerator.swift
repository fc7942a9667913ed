// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates functions of floats as steps on vectors. Results, but for GELU, are within two units in the last place of the true
/// values, as those of ``FloatVectorFunction``, which has no fused products. ``X86FormulaGenerator`` writes the code of most
/// functions; this type writes the code of those that are precise up to a limit, a vector at a time.
struct X86FunctionGenerator: CodeGenerator, Hashable {
  struct Arguments: CodeArguments {
    var source = 0
    var target = 0
    /// The number of vectors.
    var vectors = 0
    var constants = 0
    /// The address where a vector with the greatest magnitude of each lane is written.
    var magnitudes = 0
  }

  let target: X86Target
  let function: FloatFunction

  typealias Program = X86VectorProgram
  typealias Value = X86VectorProgram.Value
  private typealias A = Arguments

  /// The register with the greatest magnitude of each lane; programs have the registers below it.
  static let magnitudes = 15

  /// The magnitude up to which the code is precise; nil if it is precise for all values.
  var limit: Float? { function.vectorLimit }

  func generate() -> [UInt8]? {
    guard let (program, result) = try? program() else { return nil }
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    a.load(.rax, .init(.rdi, A.offset(\.source)))
    a.load(.rdx, .init(.rdi, A.offset(\.target)))
    a.load(.rcx, .init(.rdi, A.offset(\.vectors)))
    a.load(.rsi, .init(.rdi, A.offset(\.constants)))
    program.holdConstants(&a, target, at: .rsi)
    a.zeroVector(Self.magnitudes, target.width)
    let next = a.loopHead()
    guard
      let registers = program.write(
        result, to: &a, target, registerCount: Self.magnitudes, inputs: [[.init(.rax)]], constants: .rsi)
    else { return nil }
    a.vector(.vmovupsStore, target.width, registers[0], 0, .init(.rdx))
    a.add(.rax, target.width.byteCount)
    a.add(.rdx, target.width.byteCount)
    a.decrement(.rcx)
    a.jump(.notEqual, next)
    a.load(.rax, .init(.rdi, A.offset(\.magnitudes)))
    a.vector(.vmovupsStore, target.width, Self.magnitudes, 0, .init(.rax))
    a.zeroUpper()
    a.return()
    return a.finish()
  }

  /// The function's steps and the value of its result; throws if it has no code.
  private func program() throws(Decline) -> (Program, result: Value) {
    var program = Program()
    let result = try steps(of: function, program.input(), &program)
    return (program, result)
  }

  /// The constants, in the form in which the code reads them.
  func constants() throws(Decline) -> [UInt32] { Self.constants(of: try program().0, target) }

  static func constants(of program: X86VectorProgram, _ target: X86Target) -> [UInt32] {
    target == .avx512
      ? program.constants : program.constants.flatMap { Array(repeating: $0, count: target.lanes) }
  }

  /// Appends the steps of a function of `x` to a program; throws if the function has no code.
  func steps(
    of function: FloatFunction, _ x: Value, _ program: inout Program
  ) throws(Decline) -> Value {
    switch function {
    case .exp: return exponential(x, &program)
    case .log: return logarithm(x, &program)
    case .sin: return Self.sine(x, &program)
    case .cos: return Self.cosine(x, &program)
    case .logistic: return logistic(x, &program)
    case .swish:
      return program.lesser(.greatestFiniteMagnitude, program.multiply(logistic(x, &program), .value(x)))
    case .tanh: return Self.hyperbolicTangent(x, &program)
    case .elu:
      let below = Self.exponentialMinusOne(program.greater(-88, program.lesser(0, x)), &program)
      // Negative zero stays negative zero.
      let signed = program.or(below, .value(program.and(x, .bits(1 << 31))))
      return Self.choose(signed, x, where: program.shiftRight(x, by: 31), &program)
    case .gelu(isApproximate: true): return Self.approximateGelu(x, &program)
    case .gelu(isApproximate: false): return gelu(x, &program)
    case .clamp(let minimum, let maximum): return program.lesser(maximum, program.greater(minimum, x))
    case .leakyRelu(let alpha):
      guard alpha.isFinite else { throw Decline("the factor, \(alpha), is not finite") }
      let product = program.multiply(x, .bits(alpha.bitPattern))
      // Zero is multiplied, too, which shows if the factor is negative. Subtracting 1 from the bits of +0 sets the sign bit; for
      // other positive floats it does not.
      let isBelow =
        alpha.sign == .plus ? x : program.or(x, .value(program.subtractIntegers(x, .bits(1))))
      return Self.choose(product, x, where: program.shiftRight(isBelow, by: 31), &program)
    case .hardSwish:
      let sum = program.greater(0, program.add(x, 3))
      // A division takes four times as long. The sixth of the factor is 0.5 next to zero, so subnormal numbers round as quotients do.
      // Where 6x is infinite, so is the quotient; such an x is the sum.
      let product = program.multiply(sum, 6)
      let excess = program.subtract(product, .value(program.lesser(.greatestFiniteMagnitude, product)))
      return program.multiply(x, .value(program.fma(program.lesser(6, sum), 0x1.555556p-3, .value(excess))))
    case .absolute: return program.and(x, .bits(0x7FFF_FFFF))
    case .negate: return program.xor(x, .bits(1 << 31))
    case .square: return program.multiply(x, .value(x))
    case .squareRoot: return program.squareRoot(x)
    case .inverseSquareRoot: return inverseSquareRoot(x, &program)
    case .round:
      // −0 + 0 is 0. Only zero keeps its sign: the bits of a magnitude, minus 1, are negative only for 0.
      let magnitude = program.and(x, .bits(0x7FFF_FFFF))
      let isZero = program.shiftRight(program.subtractIntegers(magnitude, .bits(1)), by: 31)
      let rounded = program.add(program.unary(.vrndscaleps, x, immediate: 8), 0)
      return program.or(rounded, .value(program.and(x, .value(isZero))))
    case .floor: return program.unary(.vrndscaleps, x, immediate: 9)
    case .ceil: return program.unary(.vrndscaleps, x, immediate: 10)
    case .sign:
      // The smallest numbers, times 2²⁰⁰, are above one, and −0 + 0 is 0.
      let large = program.multiply(program.multiply(x, 0x1p100), 0x1p100)
      return program.add(program.lesser(1, program.greater(-1, large)), 0)
    case .halfGelu, .fakeQuantize: throw Decline("there is no code for \(function)")
    }
  }

  // MARK: Functions

  /// The rest `r`, the exponent `n`, and the bits of a float whose lowest are `n`, with `x = n·ln 2 + r` and `|r| ≤ ln 2 / 2`.
  private static func reduced(
    _ x: Value, _ p: inout Program
  ) -> (rest: Value, exponents: Value, bits: Value) {
    // Adding 1.5·2²³ leaves the nearest integer as the lowest bits of the mantissa.
    let shifted = p.fma(x, 1.442_695_04, 0x1.8p23)
    let n = p.subtract(shifted, 0x1.8p23)
    // ln 2 is the sum of nine bits, whose small multiples are exact, and a rest.
    let high = p.fma(n, .bits((-0x1.63p-1 as Float).bitPattern), .value(x))
    return (p.fma(n, 2.121_944_4e-4, .value(high)), n, shifted)
  }

  /// `e^r − 1`, and the bits of a float whose lowest are `n`, with `x = n·ln 2 + r`.
  private static func fractions(_ x: Value, _ p: inout Program) -> (fractions: Value, bits: Value) {
    let (r, _, bits) = reduced(x, &p)
    let polynomial = p.polynomial(
      r, [0.001_392_644_084, 0.008_363_384_99, 0.041_666_553_07, 0.166_665_757_5, 0.5])
    let square = p.multiply(r, .value(r))
    return (p.fma(square, .value(polynomial), .value(r)), bits)
  }

  /// `scale·eˣ` with AVX-512, which multiplies by powers of two in one instruction; the scale is a power of two.
  private static func scaledPower(_ x: Value, scale: Float = 1, _ p: inout Program) -> Value {
    let (r, exponents, _) = reduced(x, &p)
    let coefficients: [Float] = [
      0.001_392_644_084, 0.008_363_384_99, 0.041_666_553_07, 0.166_665_757_5, 0.5, 1, 1,
    ]
    return p.scale(p.polynomial(r, coefficients.map { $0 * scale }), byPowerOfTwo: exponents)
  }

  /// `scale·2ⁿ`, from bits whose lowest are `n`, if it has an exponent in `-126...127`. The exponents next to these give 0 and
  /// infinity.
  private static func powerOfTwo(_ bits: Value, scale: Float = 1, _ p: inout Program) -> Value {
    p.addIntegers(p.shiftLeft(bits, by: 23), .bits(scale.bitPattern))
  }

  private func exponential(_ x: Value, _ p: inout Program) -> Value { Self.exponential(x, &p, target) }

  /// `eˣ`.
  static func exponential(_ x: Value, _ p: inout Program, _ target: X86Target) -> Value {
    // Beyond these bounds all results are infinite or 0.
    let bounded = p.lesser(89, p.greater(-104.5, x))
    guard target != .avx512 else { return scaledPower(bounded, &p) }
    let (fractions, bits) = fractions(bounded, &p)
    // Two factors, since neither 2¹²⁸ nor 2⁻¹⁵¹ has a normal exponent.
    let half = p.shiftRight(bits, by: 1)
    let first = powerOfTwo(half, &p)
    let second = powerOfTwo(p.subtractIntegers(bits, .value(half)), &p)
    return p.multiply(p.fma(fractions, .value(first), .value(first)), .value(second))
  }

  /// `eˣ` of numbers not above zero, in fewer steps, if results below 2⁻¹²⁵ make no difference: with AVX2, these are zero.
  static func exponentialBelowZero(_ x: Value, _ p: inout Program, _ target: X86Target) -> Value {
    guard target != .avx512 else { return scaledPower(p.greater(-104, x), &p) }
    // At −88, n is −127, whose power of two has the bits of zero.
    return product(p.greater(-88, x), scale: 1, &p)
  }

  /// The factor by which ``enlargedExponential(_:least:_:_:)`` exceeds the exponential.
  static let enlargement: Float = 0x1p24

  /// `2²⁴·eˣ` of numbers not above zero: normal down to where `eˣ` rounds to zero.
  ///
  /// - Parameter least: the value that smaller numbers are replaced by. From −104.7 down, `n` is −151 or less, and the result's
  ///   product with 2⁻²⁴ or less is zero. With AVX2, it must not be below −104.7.
  static func enlargedExponential(
    _ x: Value, least: Float, _ p: inout Program, _ target: X86Target
  ) -> Value {
    let bounded = p.greater(least, x)
    return target == .avx512
      ? scaledPower(bounded, scale: enlargement, &p) : product(bounded, scale: enlargement, &p)
  }

  /// `scale·eˣ`, if the power of two has an exponent.
  private static func product(_ x: Value, scale: Float, _ p: inout Program) -> Value {
    let (fractions, bits) = fractions(x, &p)
    let power = powerOfTwo(bits, scale: scale, &p)
    return p.fma(fractions, .value(power), .value(power))
  }

  /// `eˣ − 1` of numbers from −88 to 88.
  private static func exponentialMinusOne(_ x: Value, _ p: inout Program) -> Value {
    let (fractions, bits) = fractions(x, &p)
    let power = powerOfTwo(bits, &p)
    let rest = p.subtract(power, 1)
    return p.fma(fractions, .value(power), .value(rest))
  }

  /// `FloatFunction.logistic`.
  private func logistic(_ x: Value, _ p: inout Program) -> Value {
    let negative = p.xor(x, .bits(1 << 31))
    // Numerator and denominator are scaled by 2⁻²⁴, so that the power in e⁻ˣ is normal down to x = −104.9, where eˣ rounds to
    // zero. At 105.5, n is 152, whose power of two is infinite.
    let bounded = p.lesser(105.5, p.greater(-70, negative))
    let scale: Float = 0x1p-24
    let exponential: Value
    if target == .avx512 {
      exponential = Self.scaledPower(bounded, scale: scale, &p)
    } else {
      let (fractions, bits) = Self.fractions(bounded, &p)
      exponential = p.multiply(p.add(fractions, 1), .value(Self.powerOfTwo(bits, scale: scale, &p)))
    }
    let one = p.constant(scale.bitPattern)
    // All bits where −x is at most the cutoff's magnitude; beyond it, the 1 beside the exponential is left out.
    let distance = p.subtract(negative, .bits((-FloatFunction.logisticCutoff).nextUp.bitPattern))
    let addend = p.and(p.shiftRight(distance, by: 31), .value(one))
    return p.divide(one, .value(p.add(exponential, .value(addend))))
  }

  private static func hyperbolicTangent(_ x: Value, _ p: inout Program) -> Value {
    // With t = e^(2|x|) − 1, it is t / (t + 2); from 10 on, it rounds to 1.
    let magnitude = p.lesser(10, p.and(x, .bits(0x7FFF_FFFF)))
    let t = exponentialMinusOne(p.add(magnitude, .value(magnitude)), &p)
    let quotient = p.divide(t, .value(p.add(t, 2)))
    return p.or(quotient, .value(p.and(x, .bits(1 << 31))))
  }

  /// `x·(½ + h(x))`, where `h` is `½·tanh(√(2/π)·(x + 0.044715·x³))`: within three units in the last place of `x`. The
  /// reference is within two, as its sum of one and a tangent keeps no more of results far below zero.
  ///
  /// `h` is `x` times a quotient of polynomials of `x²`, fitted within 10⁻⁸ up to where `h` rounds to ½.
  private static func approximateGelu(_ x: Value, _ p: inout Program) -> Value {
    let bounded = p.lesser(5.2, p.greater(-5.2, x))
    let square = p.multiply(bounded, .value(bounded))
    let numerator = p.polynomial(
      square,
      [2.427_671_22e-8, 7.069_480_49e-6, 1.328_719_52e-4, 0.003_631_020_2, 0.030_296_644_2, 0.398_942_322])
    let denominator = p.polynomial(
      square, [1.323_662_45e-6, 7.566_317_8e-5, 0.001_295_864_47, 0.024_301_707_7, 0.243_434_802, 1])
    let quotient = p.divide(p.multiply(numerator, .value(bounded)), .value(denominator))
    // At the limits, the quotient is slightly more than ½, so that nothing is left of `x` beyond. Other coefficients must
    // ensure this, too.
    let half = p.lesser(0.5, p.greater(-0.5, quotient))
    return p.multiply(p.add(half, 0.5), .value(x))
  }

  /// `x·Φ(x)`, as `max(x, 0) − |x|·Φ(−|x|)`: there is nothing to choose, and results far below zero lose no precision.
  private func gelu(_ x: Value, _ p: inout Program) -> Value {
    // Above 13, the second term is too small to matter. Below −14.4, it rounds to a negative zero. For −∞, t·m is 0·∞, as in
    // LiteRT's formula.
    let magnitude = p.and(p.lesser(13, x), .bits(0x7FFF_FFFF))
    // Φ(−m) = e^(−m²/2)·t·Q(t) with t = 1 / (1 + 0.35·m), within 4·10⁻⁸ of it for all m from 0 to 13. The factor is −2⁻²⁴·Q.
    let one = p.constant((1 as Float).bitPattern)
    let t = p.divide(one, .value(p.fma(magnitude, 0.35, .value(one))))
    let factor = p.polynomial(
      t,
      [
        0.029_108_893_13, -0.143_788_039_7, 0.255_326_896_9, -0.158_721_566_2, 0.022_790_439_43,
        -0.105_369_068_7, -0.119_869_120_4, -0.139_856_696_1, -0.139_621_704_8,
      ].map { $0 / Self.enlargement })
    let square = p.multiply(p.multiply(magnitude, -0.5), .value(magnitude))
    let exponential = Self.enlargedExponential(square, least: -104, &p, target)
    // No product before the last underflows, however small m, t or the exponential is: a subnormal result is rounded once, and
    // zero has the sign of Q.
    let product = p.multiply(p.multiply(exponential, .value(magnitude)), .value(t))
    return p.fma(product, .value(factor), .value(p.greater(0, x)))
  }

  private func inverseSquareRoot(_ x: Value, _ p: inout Program) -> Value {
    guard target == .avx512 else {
      let root = p.squareRoot(x)
      return p.divide(p.constant((1 as Float).bitPattern), .value(root))
    }
    // One Newton step: y + y·(1 − x·y²)/2. An infinite or zero y does not change, as the step, NaN, is replaced by a number.
    let y = p.unary(.vrsqrt14ps, x)
    let half = p.multiply(p.multiply(x, .value(y)), -0.5)
    let step = p.lesserNumber(p.fma(half, .value(y), 0.5), 0x1p-10)
    return p.fma(step, .value(y), .value(y))
  }

  /// The natural logarithm; NaN below zero.
  private func logarithm(_ x: Value, _ p: inout Program) -> Value { Self.logarithm(x, &p, target) }

  static func logarithm(_ x: Value, _ p: inout Program, _ target: X86Target) -> Value {
    // x = 2ⁿ·(1 + f), with 1 + f from ¾ to 1½.
    let (n, mantissa): (Value, Value)
    if target == .avx512 {
      // For zero and infinity, the mantissa is 1 and n is infinite.
      mantissa = p.unary(.vgetmantps, x, immediate: 0b1111)
      n = p.subtract(p.unary(.vgetexpps, x), .value(p.unary(.vgetexpps, mantissa)))
    } else {
      (n, mantissa) = parts(x, &p)
    }
    let f = p.subtract(mantissa, 1)
    // log(1 + f) = f + f²·(f·P(f) − ½)
    let polynomial = p.polynomial(
      f,
      [
        -0.046_166_673_3, 0.105_827_257_04, -0.131_869_077_68, 0.144_677_177_07, -0.166_437_417_27,
        0.199_910_894_04, -0.250_001_937_15, 0.333_334_475_76, -0.5,
      ])
    let square = p.multiply(f, .value(f))
    let small = p.fma(polynomial, .value(square), .value(f))
    let result = p.fma(n, 0.693_147_180_56, .value(small))
    guard target != .avx512 else { return result }
    let number = choose(x, result, where: p.compare(x, .infinity, by: 5), &p)
    let infinity = p.constant((-Float.infinity).bitPattern)
    let withZero = choose(infinity, number, where: p.compare(x, 0, by: 0), &p)
    return p.or(withZero, .value(p.compare(x, 0, by: 1)))
  }

  /// The exponents, as floats, and the mantissas, from ¾ to 1½, of numbers above zero.
  private static func parts(_ x: Value, _ p: inout Program) -> (exponents: Value, mantissas: Value) {
    // Subnormal numbers are scaled first, as they have no exponent of their own.
    let isTiny = p.shiftRight(p.subtractIntegers(x, .bits(0x80_0000)), by: 31)
    let one = (1 as Float).bitPattern
    let factor = p.xor(p.and(isTiny, .bits((0x1p23 as Float).bitPattern ^ one)), .bits(one))
    let distances = p.subtractIntegers(p.multiply(x, .value(factor)), .bits(0x3F40_0000))
    let exponents = p.unary(.vcvtdq2ps, p.shiftRight(distances, by: 23))
    let shift = p.and(isTiny, .bits((23 as Float).bitPattern))
    return (
      p.subtract(exponents, .value(shift)),
      p.addIntegers(p.and(distances, .bits(0x7F_FFFF)), .bits(0x3F40_0000))
    )
  }

  /// The sine: `(−1)ⁿ·sin r`, with `x = n·π + r` and `|r| ≤ π/2`.
  private static func sine(_ x: Value, _ p: inout Program) -> Value {
    keepMagnitude(x, &p)
    let shifted = p.fma(x, 0.318_309_886_2, 0x1.8p23)
    let n = p.subtract(shifted, 0x1.8p23)
    return p.xor(sineOfRest(x, n, &p), .value(p.shiftLeft(shifted, by: 31)))
  }

  /// The cosine: `−(−1)ⁿ·sin r`, with `x = (n + ½)·π + r`.
  private static func cosine(_ x: Value, _ p: inout Program) -> Value {
    keepMagnitude(x, &p)
    let shifted = p.add(p.fma(x, 0.318_309_886_2, -0.5), 0x1.8p23)
    let n = p.add(p.subtract(shifted, 0x1.8p23), 0.5)
    let sign = p.xor(p.shiftLeft(shifted, by: 31), .bits(1 << 31))
    return p.xor(sineOfRest(x, n, &p), .value(sign))
  }

  private static func keepMagnitude(_ x: Value, _ p: inout Program) {
    p.keepGreatest(p.and(x, .bits(0x7FFF_FFFF)), in: magnitudes)
  }

  /// `sin(x − n·π)` for a small difference. The first subtraction is exact: both terms are multiples of 2⁻²³, or of a smaller
  /// unit for smaller numbers. Three parts of π leave the difference all of its digits near any multiple; all three are
  /// subtracted, lest −0 become 0.
  private static func sineOfRest(_ x: Value, _ n: Value, _ p: inout Program) -> Value {
    let first = p.fma(n, .bits((-0x1.921fb4p1 as Float).bitPattern), .value(x))
    let second = p.fma(n, .bits((-0x1.4442dp-23 as Float).bitPattern), .value(first))
    let r = p.fma(n, .bits((-0x1.84698ap-47 as Float).bitPattern), .value(second))
    let square = p.multiply(r, .value(r))
    // Coefficients for which the sine of a quarter turn is one.
    let polynomial = p.polynomial(
      square, [2.603_160_74e-6, -1.980_867_24e-4, 0.008_333_054_37, -0.166_666_582_23])
    let result = p.fma(p.multiply(polynomial, .value(square)), .value(r), .value(r))
    return p.or(result, .value(p.and(r, .bits(1 << 31))))
  }

  /// Floats truncated to the bits of `int32`: saturated beyond its range, the maximum for NaN.
  static func truncation(_ x: Value, _ p: inout Program) -> Value {
    // NaN and numbers too large become 2³¹. The conversion gives the minimum integer for it, as for numbers too small. Only 2³¹
    // leaves an excess, whose exponent flips all bits of the result.
    let bounded = p.lesserNumber(x, 0x1p31)
    let excess = p.greater(0, p.subtract(bounded, .bits((0x1p31 as Float).nextDown.bitPattern)))
    let isLarge = p.shiftRight(p.shiftLeft(excess, by: 1), by: 31)
    return p.xor(p.unary(.vcvttps2dq, bounded), .value(isLarge))
  }

  /// Lanes of `first` where all bits of `mask` are set, of `second` where none is.
  private static func choose(_ first: Value, _ second: Value, where mask: Value, _ p: inout Program) -> Value
  {
    p.xor(p.and(p.xor(first, .value(second)), .value(mask)), .value(second))
  }
}
