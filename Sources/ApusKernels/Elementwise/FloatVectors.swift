// SPDX-License-Identifier: Apache-2.0

// Functions of eight floats at once, without branches. They are within two units in the last place of the true values, unless a
// comment says otherwise, down to the smallest subnormal number. NaN gives NaN, and infinities give the functions' limits.

extension SIMD8<Float> {
  /// `eˣ`.
  @inline(__always)
  var exponential: Self {
    // Beyond these bounds all results are infinite or 0.
    let (fractions, exponents) = bounded(-104, 89).reduced
    // Two factors, since neither 2¹²⁸ nor 2⁻¹⁵⁰ has a normal exponent.
    let first = exponents &>> SIMD8<Int32>(repeating: 1)
    let scaled = (fractions + 1) * Self(powersOfTwo: first)
    return scaled * Self(powersOfTwo: exponents &- first)
  }

  /// `eˣ − 1` for `x` from −88 to 88, beyond which it is constant.
  @inline(__always)
  var exponentialMinusOne: Self {
    let (fractions, exponents) = bounded(-88, 88).reduced
    let power = Self(powersOfTwo: exponents)
    return fractions * power + (power - 1)
  }

  /// `FloatFunction.logistic`.
  @inline(__always)
  var logistic: Self {
    // Numerator and denominator are scaled by 2⁻²⁴, so that the power in e⁻ˣ is normal down to x = −104.9, where eˣ rounds to
    // 0. At 105.5, n is 152, whose power of two has the bits of infinity.
    let (fractions, exponents) = (-self).bounded(-70, 105.5).reduced
    let isBelow = self .< Self(repeating: FloatFunction.logisticCutoff)
    let one = Self(repeating: 0x1p-24).replacing(with: 0, where: isBelow)
    let powers = (fractions + 1) * Self(powersOfTwo: exponents &- SIMD8<Int32>(repeating: 24))
    return 0x1p-24 / (one + powers)
  }

  /// The hyperbolic tangent.
  @inline(__always)
  var hyperbolicTangent: Self {
    // With t = e^(2|x|) − 1, it is t / (t + 2); from 10 on, it rounds to 1.
    let magnitudes = Self(bits: SIMD8<Int32>(bits: self) & SIMD8<Int32>(repeating: .max))
    let power = (magnitudes.bounded(0, 10) * 2).exponentialMinusOne
    let signs = SIMD8<Int32>(bits: self) & SIMD8<Int32>(repeating: .min)
    return Self(bits: SIMD8<Int32>(bits: power / (power + 2)) | signs)
  }

  /// The natural logarithm; NaN below zero.
  @inline(__always)
  var naturalLogarithm: Self {
    // Subnormal numbers are scaled first, as they have no exponent of their own.
    let isTiny = self .< Self(repeating: 0x1p-126)
    let values = replacing(with: self * 0x1p23, where: isTiny)
    let shift = Self(repeating: 0).replacing(with: Self(repeating: 23), where: isTiny)
    // x = 2ⁿ·(1 + f), with 1 + f from √½, whose bits these are, to √2.
    let root = SIMD8<Int32>(repeating: 0x3F35_04F3)
    let distances = SIMD8<Int32>(bits: values) &- root
    let n = Self(small: distances &>> SIMD8<Int32>(repeating: 23)) - shift
    let f = Self(bits: (distances & SIMD8<Int32>(repeating: 0x7F_FFFF)) &+ root) - 1
    // log(1 + f) = f − f²/2 + f³·P(f)
    var polynomial = f * 0.069_716_114_71 - 0.114_797_338_5
    polynomial = polynomial * f + 0.116_854_199_2
    polynomial = polynomial * f - 0.124_256_873_3
    polynomial = polynomial * f + 0.142_490_576_5
    polynomial = polynomial * f - 0.166_678_023_2
    polynomial = polynomial * f + 0.200_007_157_5
    polynomial = polynomial * f - 0.249_999_969_6
    polynomial = polynomial * f + 0.333_333_311_8
    let square = f * f
    let small = square * f * polynomial + n * Self.lowLogarithmOfTwo - square * 0.5
    var result = f + small + n * Self.highLogarithmOfTwo
    result = replacing(with: result, where: self .< Self(repeating: .infinity))
    result.replace(with: Self(repeating: .nan), where: self .< Self(repeating: 0))
    return result.replacing(with: Self(repeating: -.infinity), where: self .== Self(repeating: 0))
  }

  /// `x·Φ(x)`, with the normal distribution; within `x²/2` units in the last place where it is small.
  @inline(__always)
  var gelu: Self {
    // Above 12.73, erfc(x/√2) is too small to be seen; below −14.42, the result rounds to zero.
    let bits = SIMD8<Int32>(bits: bounded(-14.424_98, 12.73))
    let magnitudes = Self(bits: bits & SIMD8<Int32>(repeating: .max))
    let z = magnitudes * 0.707_106_781_2
    let square = z * z
    // erf(z) = z·P(z²) below 1
    var polynomial = square * 7.875_875_063e-5 - 0.000_801_686_428_7
    polynomial = polynomial * square + 0.005_189_087_423
    polynomial = polynomial * square - 0.026_854_212_01
    polynomial = polynomial * square + 0.112_835_947_2
    polynomial = polynomial * square - 0.376_126_266_7
    polynomial = polynomial * square + 1.128_379_166
    let near = 1 - polynomial * z
    // erfc(z) = e^(−x²/2)·t·Q(t) with t = 1 / (1 + z/2), from 1 on. The power is scaled by 2²⁴, and Q(t) by 2⁻²⁴.
    let t = 1 / (z * 0.5 + 1)
    var quotient = t * 0.091_166_241_74 - 0.219_186_884_7
    quotient = quotient * t + 0.073_462_007_82
    quotient = quotient * t + 0.067_188_072_73
    quotient = quotient * t + 0.176_304_651_1
    quotient = quotient * t + 0.247_539_811_4
    quotient = quotient * t + 0.281_967_600_3
    quotient = quotient * t + 0.282_102_130_5
    let far = t * quotient * 0x1p-24
    let (fractions, exponents) = (magnitudes * -0.5 * magnitudes).reduced
    var power = (fractions + 1) * Self(powersOfTwo: exponents &+ SIMD8<Int32>(repeating: 24))
    power.replace(with: Self(), where: self .< Self(repeating: -14.424_98))
    let isNear = z .< Self(repeating: 1)
    let half = self * 0.5
    let above = half * (2 - (far * power).replacing(with: near, where: isNear))
    let below = (half * far * power).replacing(with: half * near, where: isNear)
    return above.replacing(with: below, where: self .< Self(repeating: 0))
  }

  /// The sine, or the cosine, of angles below 8192 in magnitude.
  @inline(__always)
  func sine(isCosine: Bool) -> Self {
    // x = n·π/2 + r: the first part of π/2 has 33 bits, so that its multiples are exact in double precision.
    let shifted = self * 0.636_619_772_4 + 0x1.8p23
    let n = SIMD8<Double>(shifted - 0x1.8p23)
    let r = Self(SIMD8<Double>(self) - n * 0x1.921f_b544p0 - n * 0x1.0b46_11a6_2633_1p-34)
    let square = r * r
    var sine = square * 2.724_378_141e-6 - 0.000_198_400_388_7
    sine = sine * square + 0.008_333_331_785
    sine = sine * square - 0.166_666_666_6
    sine = sine * square * r + r
    // The sine of −0 keeps its sign.
    sine = Self(bits: SIMD8<Int32>(bits: sine) | SIMD8<Int32>(bits: r) & SIMD8<Int32>(repeating: .min))
    var cosine = square * -2.729_583_083e-7 + 2.480_056_043e-5
    cosine = cosine * square - 0.001_388_888_76
    cosine = cosine * square + 0.041_666_666_66
    cosine = cosine * square * square - square * 0.5 + 1
    // Quadrants alternate between sine and cosine, and every other pair of them is negative.
    let quarters = SIMD8<Int32>(bits: shifted) &+ SIMD8<Int32>(repeating: isCosine ? 1 : 0)
    let isOdd = (quarters & SIMD8<Int32>(repeating: 1)) .!= SIMD8<Int32>()
    let signs = (quarters & SIMD8<Int32>(repeating: 2)) &<< SIMD8<Int32>(repeating: 30)
    return Self(bits: SIMD8<Int32>(bits: sine.replacing(with: cosine, where: isOdd)) ^ signs)
  }

  /// The nearest integer, ties to even.
  @inline(__always)
  var nearestIntegers: Self {
    let magnitudes = Self(bits: SIMD8<Int32>(bits: self) & SIMD8<Int32>(repeating: .max))
    let signs = SIMD8<Int32>(bits: self) & SIMD8<Int32>(repeating: .min)
    let rounded = SIMD8<Int32>(bits: (magnitudes + 0x1p23) - 0x1p23) | signs
    // From 2²³ on, every float is an integer.
    return replacing(with: Self(bits: rounded), where: magnitudes .< Self(repeating: 0x1p23))
  }

  /// The values clamped to bounds; NaN passes.
  @inline(__always)
  func bounded(_ minimum: Float, _ maximum: Float) -> Self {
    // Lane by lane, this becomes one instruction for each bound.
    var result = self
    for lane in 0..<8 { result[lane] = result[lane] < minimum ? minimum : result[lane] }
    for lane in 0..<8 { result[lane] = maximum < result[lane] ? maximum : result[lane] }
    return result
  }

  /// `e^r − 1` and `n`, with `x = n·ln 2 + r` and `|r| ≤ ln 2 / 2`, for `|x| < 2¹⁵`.
  @inline(__always)
  private var reduced: (fractions: Self, exponents: SIMD8<Int32>) {
    // Adding 1.5·2²³ leaves the nearest integer as the lowest bits of the mantissa.
    let shifted = self * 1.442_695_04 + 0x1.8p23
    let n = shifted - 0x1.8p23
    let r = self - n * Self.highLogarithmOfTwo - n * Self.lowLogarithmOfTwo
    var polynomial = r * 0.001_392_644_084 + 0.008_363_384_99
    polynomial = polynomial * r + 0.041_666_553_07
    polynomial = polynomial * r + 0.166_665_757_5
    polynomial = polynomial * r + 0.5
    return (r * r * polynomial + r, SIMD8<Int32>(bits: shifted) &- SIMD8<Int32>(repeating: 0x4B40_0000))
  }

  /// ln 2 rounded to nine bits, so that its small multiples are exact.
  private static var highLogarithmOfTwo: Float { 0x1.63p-1 }
  /// ln 2 less its value rounded to nine bits.
  private static var lowLogarithmOfTwo: Float { -2.121_944_4e-4 }

  /// Powers of two for exponents in `-126...127`.
  @inline(__always)
  private init(powersOfTwo exponents: SIMD8<Int32>) {
    self.init(bits: (exponents &+ SIMD8<Int32>(repeating: 127)) &<< SIMD8<Int32>(repeating: 23))
  }

  /// Converts integers below 2²² in magnitude to floats.
  @inline(__always)
  private init(small integers: SIMD8<Int32>) {
    self = Self(bits: integers &+ SIMD8<Int32>(repeating: 0x4B40_0000)) - 0x1.8p23
  }
}

/// A function of floats, computed on vectors of eight lanes.
protocol FloatVectorFunction: UnaryFunction where Argument == Float, Result == Float {
  /// The function's values.
  func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Float>
}

extension FloatVectorFunction {
  var loopDescription: String { "portable vectors of 8 lanes" }

  @inline(__always)
  func callAsFunction(_ value: Float) -> Float { self(SIMD8(repeating: value))[0] }

  @inline(__always)
  func fill(_ output: UnsafeMutablePointer<Float>, count: Int, input: UnsafePointer<Float>) {
    var index = 0
    while index &+ 8 <= count {
      let values = unsafe UnsafeRawPointer(input + index).loadUnaligned(as: SIMD8<Float>.self)
      unsafe UnsafeMutableRawPointer(output + index).storeBytes(of: self(values), as: SIMD8<Float>.self)
      index &+= 8
    }
    let rest = count &- index
    guard rest > 0 else { return }
    var values = SIMD8<Float>()
    for lane in 0..<8 where lane < rest { values[lane] = unsafe input[index &+ lane] }
    let results = self(values)
    for lane in 0..<8 where lane < rest { unsafe output[index &+ lane] = results[lane] }
  }
}
