// SPDX-License-Identifier: Apache-2.0

/// Generates functions of floats, a vector at a time: within two units in the last place of the true values, as
/// ``FloatVectorFunction`` computes them without fused products.
struct X86FunctionGenerator: CodeGenerator, Hashable {
  struct Arguments: CodeArguments {
    var source = 0
    var target = 0
    /// How many vectors.
    var vectors = 0
    var constants = 0
  }

  let target: X86Target
  let function: FloatFunction

  typealias Program = X86VectorProgram
  typealias Value = X86VectorProgram.Value
  private typealias A = Arguments

  func generate() -> [UInt8]? {
    guard let (program, result) = program else { return nil }
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    a.load(.rax, .init(.rdi, A.offset(\.source)))
    a.load(.rdx, .init(.rdi, A.offset(\.target)))
    a.load(.rcx, .init(.rdi, A.offset(\.vectors)))
    a.load(.rsi, .init(.rdi, A.offset(\.constants)))
    let next = a.loopHead()
    guard
      let register = program.write(
        result, to: &a, target, registerCount: 16, source: .init(.rax), constants: .rsi)
    else { return nil }
    a.vector(.vmovupsStore, target.width, register, 0, .init(.rdx))
    a.add(.rax, target.width.byteCount)
    a.add(.rdx, target.width.byteCount)
    a.decrement(.rcx)
    a.jump(.notEqual, next)
    a.zeroUpper()
    a.return()
    return a.finish()
  }

  /// The function's steps; nil where it has none.
  private var program: (Program, result: Value)? {
    var program = Program()
    let x = program.input()
    let result: Value
    switch function {
    case .exp: result = Self.exponential(x, &program)
    case .logistic: result = Self.logistic(x, &program)
    case .swish:
      result = program.multiply(Self.logistic(x, &program), .value(x))
    case .tanh: result = Self.hyperbolicTangent(x, &program)
    case .elu:
      let below = Self.exponentialMinusOne(program.lesser(0, x), &program)
      // Negative zero stays what it is.
      let signed = program.or(below, .value(program.and(x, .bits(1 << 31))))
      result = Self.choose(signed, x, where: program.shiftRight(x, by: 31), &program)
    case .gelu(isApproximate: true):
      let cube = program.multiply(program.multiply(program.multiply(x, .value(x)), .value(x)), 0.044715)
      // √(2/π)
      let argument = program.multiply(program.add(cube, .value(x)), 0.797_884_560_802_865_36)
      let tangent = program.add(Self.hyperbolicTangent(argument, &program), 1)
      result = program.multiply(program.multiply(x, 0.5), .value(tangent))
    case .gelu(isApproximate: false): result = Self.gelu(x, &program)
    case .clamp(let minimum, let maximum):
      result = program.lesser(maximum, program.greater(minimum, x))
    case .leakyRelu(let alpha):
      guard alpha.isFinite else { return nil }
      let product = program.multiply(x, .bits(alpha.bitPattern))
      result = Self.choose(product, x, where: program.shiftRight(x, by: 31), &program)
    case .hardSwish:
      let factor = program.lesser(6, program.greater(0, program.add(x, 3)))
      result = program.divide(
        program.multiply(x, .value(factor)), .value(program.constant((6 as Float).bitPattern)))
    case .squareRoot: result = program.squareRoot(x)
    case .inverseSquareRoot:
      let root = program.squareRoot(x)
      result = program.divide(program.constant((1 as Float).bitPattern), .value(root))
    default: return nil
    }
    return (program, result)
  }

  /// Whether there is code for the function.
  var hasProgram: Bool { program != nil }

  /// The constants as the code reads them.
  var constants: [UInt32] {
    guard let program = program?.0 else { return [] }
    return Self.constants(of: program, target)
  }

  static func constants(of program: X86VectorProgram, _ target: X86Target) -> [UInt32] {
    target == .avx512
      ? program.constants : program.constants.flatMap { Array(repeating: $0, count: target.lanes) }
  }

  // MARK: Functions

  /// `e^r − 1` and the bits of a float whose lowest are `n`, with `x = n·ln 2 + r` and `|r| ≤ ln 2 / 2`.
  private static func reduced(_ x: Value, _ p: inout Program) -> (fractions: Value, exponents: Value) {
    // Adding 1.5·2²³ leaves the nearest integer as the lowest bits of the mantissa.
    let shifted = p.fma(x, 1.442_695_04, 0x1.8p23)
    let n = p.subtract(shifted, 0x1.8p23)
    // ln 2 with nine bits, so that small multiples of it are exact, and the rest.
    let high = p.fma(n, .bits((-0x1.63p-1 as Float).bitPattern), .value(x))
    let r = p.fma(n, 2.121_944_4e-4, .value(high))
    let polynomial = p.polynomial(
      r, [0.001_392_644_084, 0.008_363_384_99, 0.041_666_553_07, 0.166_665_757_5, 0.5])
    let square = p.multiply(r, .value(r))
    return (p.fma(square, .value(polynomial), .value(r)), shifted)
  }

  /// 2ⁿ, for bits whose lowest are `n`, in `-126...127`.
  private static func powerOfTwo(_ bits: Value, _ p: inout Program) -> Value {
    p.addIntegers(p.shiftLeft(bits, by: 23), .bits((1 as Float).bitPattern))
  }

  static func exponential(_ x: Value, _ p: inout Program) -> Value {
    // Beyond these bounds all results are infinite or 0.
    let (fractions, bits) = reduced(p.lesser(89, p.greater(-104, x)), &p)
    // Two factors, since neither 2¹²⁸ nor 2⁻¹⁵⁰ has a normal exponent.
    let exponents = p.subtractIntegers(bits, .bits(0x4B40_0000))
    let half = p.shiftRight(exponents, by: 1)
    let rest = p.subtractIntegers(exponents, .value(half))
    let first = powerOfTwo(half, &p)
    let second = powerOfTwo(rest, &p)
    return p.multiply(p.multiply(p.add(fractions, 1), .value(first)), .value(second))
  }

  /// `eˣ` of numbers that are not above zero, in fewer steps, for AVX-512.
  static func exponentialBelowZero(_ x: Value, _ p: inout Program) -> Value {
    let (fractions, bits) = reduced(p.greater(-104, x), &p)
    let exponents = p.subtract(bits, 0x1.8p23)
    return p.scale(p.add(fractions, 1), byPowerOfTwo: exponents)
  }

  private static func exponentialMinusOne(_ x: Value, _ p: inout Program) -> Value {
    let (fractions, bits) = reduced(p.lesser(88, p.greater(-88, x)), &p)
    let power = powerOfTwo(bits, &p)
    let rest = p.subtract(power, 1)
    return p.fma(fractions, .value(power), .value(rest))
  }

  /// `FloatFunction.logistic`; zero below −87, since subnormal numbers would take a hundred times as long.
  private static func logistic(_ x: Value, _ p: inout Program) -> Value {
    let negative = p.xor(x, .bits(1 << 31))
    let (fractions, bits) = reduced(p.lesser(87, p.greater(-87, negative)), &p)
    let power = powerOfTwo(bits, &p)
    let exponential = p.fma(fractions, .value(power), .value(power))
    let one = p.constant((1 as Float).bitPattern)
    // All bits where −x is at most the cutoff's magnitude; beyond it, the 1 beside the exponential falls away.
    let distance = p.subtract(negative, .bits((-FloatFunction.logisticCutoff).nextUp.bitPattern))
    let addend = p.and(p.shiftRight(distance, by: 31), .value(one))
    let quotient = p.divide(one, .value(p.add(exponential, .value(addend))))
    // Zero from −88 on, and one from −87 on; NaN passes.
    let share = p.lesser(1, p.greater(0, p.add(x, 88)))
    return p.multiply(quotient, .value(share))
  }

  private static func hyperbolicTangent(_ x: Value, _ p: inout Program) -> Value {
    // With t = e^(2|x|) − 1, it is t / (t + 2); from 10 on, it rounds to 1.
    let magnitude = p.lesser(10, p.and(x, .bits(0x7FFF_FFFF)))
    let t = exponentialMinusOne(p.add(magnitude, .value(magnitude)), &p)
    let quotient = p.divide(t, .value(p.add(t, 2)))
    return p.or(quotient, .value(p.and(x, .bits(1 << 31))))
  }

  /// `x·Φ(x)`, as `max(x, 0) − |x|·Φ(−|x|)`: so there is nothing to choose.
  private static func gelu(_ x: Value, _ p: inout Program) -> Value {
    // Above 13, the second term is far too small to be seen.
    let magnitude = p.and(p.lesser(13, x), .bits(0x7FFF_FFFF))
    // Φ(−m) = e^(−m²/2)·t·Q(t) with t = 1 / (1 + 0.35·m), within 4·10⁻⁸ of it for all m from 0 to 13.
    let one = p.constant((1 as Float).bitPattern)
    let t = p.divide(one, .value(p.fma(magnitude, 0.35, .value(one))))
    let factor = p.polynomial(
      t,
      [
        -0.029_108_893_13, 0.143_788_039_7, -0.255_326_896_9, 0.158_721_566_2, -0.022_790_439_43,
        0.105_369_068_7, 0.119_869_120_4, 0.139_856_696_1, 0.139_621_704_8,
      ])
    let square = p.multiply(p.multiply(magnitude, -0.5), .value(magnitude))
    let (fractions, bits) = reduced(p.greater(-84, square), &p)
    let power = powerOfTwo(bits, &p)
    let exponential = p.fma(fractions, .value(power), .value(power))
    let tail = p.multiply(p.multiply(p.multiply(exponential, .value(t)), .value(factor)), .value(magnitude))
    // Beyond √168, where e^(−m²/2) stays what it is, it counts as zero.
    let limit = (168 as Float).squareRoot()
    let isSeen = p.shiftRight(p.subtract(magnitude, .bits(limit.bitPattern)), by: 31)
    return p.subtract(p.greater(0, x), .value(p.and(tail, .value(isSeen))))
  }

  /// Lanes of `first` where all bits are set, of `second` where none is.
  private static func choose(_ first: Value, _ second: Value, where mask: Value, _ p: inout Program) -> Value
  {
    p.xor(p.and(p.xor(first, .value(second)), .value(mask)), .value(second))
  }
}

extension X86Target {
  /// Code for a function of floats; throws where there is none, or it cannot be placed.
  func mapping(_ function: FloatFunction) throws(Decline) -> FloatMapping {
    let generator = X86FunctionGenerator(target: self, function: function)
    let placed: CodeFunction<X86FunctionGenerator.Arguments>
    do throws(Decline) {
      placed = try unsafe CodeFunction(generator)
    } catch {
      guard generator.hasProgram else { throw Decline("there is no code for \(function)") }
      throw error
    }
    let code = X86FunctionCode(function: placed, constants: generator.constants, lanes: lanes)
    return { output, count, input in unsafe code.fill(output, count: count, input: input) }
  }
}

/// Placed code and its constants.
private struct X86FunctionCode {
  let function: CodeFunction<X86FunctionGenerator.Arguments>
  let constants: [UInt32]
  let lanes: Int

  /// Computes `count` values; what is left over of vectors by way of one of its own.
  func fill(_ output: UnsafeMutablePointer<Float>, count: Int, input: UnsafePointer<Float>) {
    ExecutableMemory.seal()
    unsafe constants.withUnsafeBufferPointer { constants in
      let constants = Int(bitPattern: constants.baseAddress)
      func call(_ source: Int, _ target: Int, _ vectors: Int) {
        function.call(.init(source: source, target: target, vectors: vectors, constants: constants))
      }
      let vectors = count / lanes
      let (source, target) = (Int(bitPattern: input), Int(bitPattern: output))
      if vectors > 0 { call(source, target, vectors) }
      let done = vectors &* lanes
      guard done < count else { return }
      var rest = SIMD16<Float>()
      for lane in 0..<count &- done { rest[lane] = unsafe input[done &+ lane] }
      unsafe withUnsafeMutablePointer(to: &rest) { rest in
        let place = Int(bitPattern: rest)
        call(place, place, 1)
      }
      for lane in 0..<count &- done { unsafe output[done &+ lane] = rest[lane] }
    }
  }
}
