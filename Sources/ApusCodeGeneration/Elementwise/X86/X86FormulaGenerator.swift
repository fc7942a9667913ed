// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates the code of a float formula: a loop over rows, with a loop over several vectors at a time and a loop over the
/// remaining vectors in it.
struct X86FormulaGenerator: CodeGenerator, Hashable {
  let target: X86Target
  let inputs: [FloatFormula.Input]
  let output: FloatFormula.Output
  /// The steps, which read repeated inputs from the last registers, see ``held(_:of:)``.
  let program: X86VectorProgram
  let result: X86VectorProgram.Value
  /// The number of vectors computed at a time.
  let vectorsAtOnce: Int

  private typealias Memory = X86Assembler.Memory
  private typealias A = FormulaCode.Arguments
  private var width: X86Assembler.Width { target.width }

  // General registers. `rdi` holds the address of the arguments.
  private static let addresses: [X86Assembler.General] = [.rax, .rdx, .r8, .r9, .r10, .r11, .rbx, .rbp]
  private let constants = X86Assembler.General.rsi
  private let place = X86Assembler.General.rcx
  private let wideEnd = X86Assembler.General.r12
  private let end = X86Assembler.General.r13
  private let written = X86Assembler.General.r14
  private let rows = X86Assembler.General.r15
  private static let kept: [X86Assembler.General] = [.rbx, .rbp, .r12, .r13, .r14, .r15]

  // Vector registers: the program's first, then sums, then inputs that have one float for a row.
  /// The number of registers of sums. Sixteen lanes are summed separately, as in ``SumOfFloats``.
  private var sumCount: Int { output == .sum ? FormulaCode.unit / target.lanes : 0 }
  private var repeatedCount: Int { inputs.count { $0 == .repeatedFloat } }
  private var firstSum: Int { 16 - repeatedCount - sumCount }
  /// The number of registers for narrowing: AVX2 clobbers one, and AVX-512 needs a zero for unsigned bytes.
  private var spareCount: Int {
    output == .byte(isSigned: true) && target == .avx512 || output.byteCount != 1 ? 0 : 1
  }
  private var spare: Int { firstSum - 1 }

  /// The register that holds a repeated input.
  private static func held(_ input: Int, of inputs: [FloatFormula.Input]) -> Int {
    16 - inputs[input...].count { $0 == .repeatedFloat }
  }

  func generate() -> [UInt8]? {
    guard inputs.count <= Self.addresses.count else { return nil }
    let addresses = Array(zip(inputs.indices, Self.addresses))
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    for register in Self.kept { a.push(register) }
    for (index, register) in addresses { a.load(register, .init(.rdi, A.offset(\.inputs) + 8 * index)) }
    a.load(written, .init(.rdi, A.offset(\.output)))
    a.load(rows, .init(.rdi, A.offset(\.rows)))
    a.load(constants, .init(.rdi, A.offset(\.constants)))
    a.load(wideEnd, .init(.rdi, A.offset(\.wideCount)))
    a.load(end, .init(.rdi, A.offset(\.count)))
    program.holdConstants(&a, target, at: constants)
    if spareCount > 0 { a.zeroVector(spare, width) }
    let nextRow = a.loopHead()
    for (index, address) in addresses where inputs[index] == .repeatedFloat {
      a.vector(.vbroadcastss, width, Self.held(index, of: inputs), 0, .init(address))
    }
    for sum in 0..<sumCount { a.zeroVector(firstSum + sum, width) }
    a.zero(place)
    let (single, done) = (a.makeLabel(), a.makeLabel())
    let minimumAtOnce = max(1, sumCount)
    if vectorsAtOnce > minimumAtOnce {
      a.test(wideEnd)
      a.jump(.equal, single)
      guard writeLoop(&a, vectorsAtOnce, until: wideEnd) else { return nil }
      a.place(single)
      a.compare(place, end)
      a.jump(.equal, done)
    }
    guard writeLoop(&a, minimumAtOnce, until: end) else { return nil }
    a.place(done)
    if output == .sum { writeSum(&a) }
    for (index, register) in addresses { a.add(register, Memory(.rdi, A.offset(\.strides) + 8 * index)) }
    a.add(written, Memory(.rdi, A.offset(\.outputStride)))
    a.decrement(rows)
    a.jump(.notEqual, nextRow)
    a.zeroUpper()
    for register in Self.kept.reversed() { a.pop(register) }
    a.return()
    return a.finish()
  }

  /// Writes a loop over `count` vectors at a time; false if registers do not suffice.
  private func writeLoop(
    _ a: inout X86Assembler, _ count: Int, until end: X86Assembler.General
  ) -> Bool {
    let next = a.loopHead()
    let places = (0..<count).map { vector in
      zip(inputs, Self.addresses).map { input, address in
        memory(address, vector, byteCount: input.byteCount)
      }
    }
    guard
      let registers = program.write(
        result, to: &a, target, registerCount: firstSum - spareCount, inputs: places, constants: constants)
    else { return false }
    for (vector, register) in registers.enumerated() {
      switch output {
      case .sum:
        let sum = firstSum + vector % sumCount
        a.vector(.vaddps, width, sum, sum, register)
      case .byte where target != .avx512: continue
      case .byte(isSigned: true):
        a.vector(.vpmovsdb, width, register, 0, memory(written, vector, byteCount: 1))
      case .byte(isSigned: false):
        // The instruction takes negative lanes for large unsigned ones.
        a.vector(.vpmaxsd, width, register, register, spare)
        a.vector(.vpmovusdb, width, register, 0, memory(written, vector, byteCount: 1))
      case .float: a.vector(.vmovupsStore, width, register, 0, memory(written, vector, byteCount: 4))
      }
    }
    if case .byte(let isSigned) = output, target != .avx512 { pack(&a, registers, isSigned: isSigned) }
    a.add(place, count * target.lanes)
    a.compare(place, end)
    a.jump(.notEqual, next)
    return true
  }

  /// The address of a vector whose elements have `byteCount` bytes.
  private func memory(_ address: X86Assembler.General, _ vector: Int, byteCount: Int) -> Memory {
    Memory(address, index: place, scale: byteCount, vector * target.lanes * byteCount)
  }

  /// Narrows the 32-bit lanes of one, two or four vectors to bytes, with saturation, and stores them. AVX2 packs each half of a
  /// vector by itself. Clobbers `spare`.
  private func pack(_ a: inout X86Assembler, _ values: [Int], isSigned: Bool) {
    let narrow = isSigned ? X86Assembler.Instruction.vpacksswb : .vpackuswb
    let (place, first) = (memory(written, 0, byteCount: 1), values[0])
    guard values.count > 1 else {
      a.vector(.vextracti128, .ymm, first, 0, spare, immediate: 1)
      a.vector(.vpackssdw, .xmm, first, first, spare)
      a.vector(narrow, .xmm, first, first, first)
      return a.vector(.vmovqStore, .xmm, first, 0, place)
    }
    for pair in stride(from: 0, to: values.count, by: 2) {
      a.vector(.vpackssdw, width, values[pair], values[pair], values[pair + 1])
    }
    a.vector(narrow, width, first, first, values.count == 4 ? values[2] : first)
    // Four bytes of each vector's low half are followed by four of each high half: a permutation brings them into order.
    a.vector(.vpmovzxbd, width, spare, 0, Memory(.rdi, A.offset(\.order)))
    a.vector(.vpermd, width, first, spare, first)
    a.vector(.vmovdquStore, values.count == 4 ? .ymm : .xmm, first, 0, place)
  }

  /// Stores the sum of all lanes, divided by the divisor.
  private func writeSum(_ a: inout X86Assembler) {
    let (sum, spare) = (firstSum, 0)
    if sumCount == 2 { a.vector(.vaddps, width, sum, sum, sum + 1) }
    a.foldLanes(sum, width, .vaddps, spare: spare)
    a.vector(.vbroadcastss, .xmm, spare, 0, Memory(.rdi, A.offset(\.divisor)))
    a.vector(.vdivps, .xmm, sum, sum, spare)
    a.vector(.vmovdStore, .xmm, sum, 0, Memory(written))
  }

  /// A formula's steps and the value of its result; throws if a step has no code.
  static func program(
    of formula: FloatFormula, _ target: X86Target
  ) throws(Decline) -> (X86VectorProgram, result: X86VectorProgram.Value) {
    var program = X86VectorProgram()
    var results: [X86VectorProgram.Value] = []
    var held = [X86VectorProgram.Value?](repeating: nil, count: formula.inputs.count)
    func value(_ operand: FloatFormula.Operand) -> X86VectorProgram.Value {
      switch operand {
      case .step(let number): return results[number]
      case .input(let number):
        switch formula.inputs[number] {
        case .float: return program.input(number)
        case .byte(let isSigned): return program.bytes(number, isSigned: isSigned)
        case .repeatedFloat:
          let value = held[number] ?? program.held(in: Self.held(number, of: formula.inputs))
          held[number] = value
          return value
        }
      }
    }
    for (index, step) in formula.steps.enumerated() {
      switch step {
      case .function(let function, let operand):
        let generator = X86FunctionGenerator(target: target, function: function)
        if let limit = generator.limit {
          throw Decline("the code of \(function) is precise up to \(limit) only")
        }
        results.append(try generator.steps(of: function, value(operand), &program))
      case .operation(let kind, let lhs, let rhs, let minimum, let maximum):
        let (left, right) = (value(lhs), value(rhs))
        var result = program.binary(kind, left, right)
        // The instruction returns the second source if it is NaN.
        if minimum != -.infinity { result = program.greater(minimum, result) }
        if maximum != .infinity { result = program.lesser(maximum, result) }
        results.append(result)
      case .dequantization(let dequantization, let operand):
        results.append(program.dequantized(value(operand), dequantization))
      case .quantization(let quantization, let operand):
        // Narrowing clamps results to the bounds of bytes.
        let saturates = index == formula.steps.count - 1 && quantization.fillsBytes
        results.append(
          saturates
            ? program.roundedQuotient(value(operand), quantization)
            : program.quantized(value(operand), quantization))
      }
    }
    // An input that is the result may add a step.
    let result = results.last ?? value(.input(0))
    return (program, result)
  }
}

extension X86VectorProgram {
  fileprivate mutating func binary(_ kind: FloatOperation.Kind, _ left: Value, _ right: Value) -> Value {
    switch kind {
    case .add: return add(left, .value(right))
    case .subtract: return subtract(left, .value(right))
    case .multiply: return multiply(left, .value(right))
    case .divide: return divide(left, .value(right))
    case .squaredDifference:
      let difference = subtract(left, .value(right))
      return multiply(difference, .value(difference))
    case .parametricRelu: return parametricRelu(left, factors: right)
    case .maximum: return greaterOne(left, right)
    case .minimum: return lesserOne(left, right)
    }
  }

  fileprivate mutating func dequantized(_ value: Value, _ kind: Dequantization) -> Value {
    let distance = subtractIntegers(value, .bits(UInt32(bitPattern: kind.zeroPoint)))
    return multiply(unary(.vcvtdq2ps, distance), .bits(kind.scale.bitPattern))
  }

  /// The rounded quotient plus the zero point: integers that may be beyond the bounds. For NaN and quotients beyond `int32`,
  /// the rounded quotient is −2³¹. Only then may the sum wrap, as ``FloatQuantization/outOfRange`` does.
  fileprivate mutating func roundedQuotient(_ value: Value, _ kind: FloatQuantization) -> Value {
    addIntegers(rounded(quotient(value, kind)), .bits(UInt32(bitPattern: kind.zeroPoint)))
  }

  /// The value divided by the scale, or a product that gives the same integers.
  private mutating func quotient(_ value: Value, _ kind: FloatQuantization) -> Value {
    guard let reciprocal = kind.reciprocal else { return divide(value, .bits(kind.scale.bitPattern)) }
    let low = multiply(value, .bits(reciprocal.low.bitPattern))
    return fma(value, .bits(reciprocal.high.bitPattern), .value(low))
  }

  /// The nearest integers, halves away from zero: almost one half is added away from zero, then the fraction is cut off.
  private mutating func rounded(_ value: Value) -> Value {
    let half = or(and(value, .bits(1 << 31)), .bits((0x1.fffffep-2 as Float).bitPattern))
    return unary(.vcvttps2dq, add(value, .value(half)))
  }

  /// Quantized values that are bytes, as `int32`.
  fileprivate mutating func quantized(_ value: Value, _ kind: FloatQuantization) -> Value {
    let quotient = quotient(value, kind)
    // All bits where the quotient fits 32 bits: its magnitude is below the bits of 2³¹, and that of NaN is not.
    let magnitude = and(quotient, .bits(0x7FFF_FFFF))
    let fits = shiftRight(subtractIntegers(magnitude, .bits(0x4F00_0000)), by: 31)
    // Bounds are integers, on either side of zero: clamping before rounding makes no difference.
    let bounded = lesser(
      Float(kind.maximum - kind.zeroPoint), greater(Float(kind.minimum - kind.zeroPoint), quotient))
    let result = addIntegers(rounded(bounded), .bits(UInt32(bitPattern: kind.zeroPoint)))
    let outOfRange = Term.bits(UInt32(bitPattern: kind.outOfRange))
    return xor(and(xor(result, outOfRange), .value(fits)), outOfRange)
  }

  private mutating func parametricRelu(_ value: Value, factors: Value) -> Value {
    // The product where the sign is set. The sum with 0 clears the sign of −0, which is not below zero.
    let product = multiply(value, .value(factors))
    let sign = shiftRight(add(value, 0), by: 31)
    return xor(value, .value(and(xor(product, .value(value)), .value(sign))))
  }
}

extension FloatQuantization {
  /// Whether packing can clamp the results. The bounds must be those of signed or unsigned bytes, and the zero point must not
  /// make the greatest quotient of 32 bits, 2³¹ − 128, wrap.
  fileprivate var fillsBytes: Bool {
    zeroPoint < 128 && ((minimum, maximum) == (-128, 127) || (minimum, maximum) == (0, 255))
  }
}

extension X86Target {
  /// Code for a formula; throws if a step has none, registers do not suffice, or code cannot be placed.
  func formula(_ formula: FloatFormula) throws(Decline) -> FormulaCode {
    let (program, result) = try X86FormulaGenerator.program(of: formula, self)
    return try code(program, result, of: formula.inputs, to: formula.output)
  }

  /// Code for PRELU of rows of bytes. The second input holds the factors of values below zero.
  func parametricRelu(_ relu: SinglePrecisionRelu) throws(Decline) -> FormulaCode {
    var program = X86VectorProgram()
    let bytes = program.bytes(0, isSigned: relu.isSigned)
    let distance = program.subtractIntegers(bytes, .bits(UInt32(bitPattern: relu.zeroPoint)))
    let value = program.unary(.vcvtdq2ps, distance)
    // One of the two products is zero, so that their sum is exact, and each product is rounded once.
    let below = program.multiply(program.lesserNumber(value, 0), .value(program.input(1)))
    let above = program.greaterNumber(value, 0)
    let product = program.fma(above, .bits(relu.positive.bitPattern), .value(below))
    let offset = program.or(program.and(product, .bits(1 << 31)), .bits(relu.offset.bitPattern))
    var sum = product
    if relu.extra != 0 {
      // Distances above zero are at least one, which exceeds the extra; the other distances are zero.
      let more = program.lesserNumber(above, relu.extra.magnitude)
      sum = relu.extra < 0 ? program.subtract(sum, .value(more)) : program.add(sum, .value(more))
    }
    sum = program.add(sum, .value(offset))
    let result = program.addIntegers(
      program.unary(.vcvttps2dq, sum), .bits(UInt32(bitPattern: relu.outputZeroPoint)))
    return try code(
      program, result, of: [.byte(isSigned: relu.isSigned), .float], to: .byte(isSigned: relu.isSigned))
  }

  /// Code for a program of steps; no call computes more than `vectors` whole vectors.
  func code(
    _ program: X86VectorProgram, _ result: X86VectorProgram.Value, of inputs: [FloatFormula.Input],
    to output: FloatFormula.Output, vectors: Int = .max
  ) throws(Decline) -> FormulaCode {
    // Short programs wait for memory, so that two vectors at a time suffice; but packing is better the more bytes there are.
    let packs = output.byteCount == 1 && self != .avx512
    let least = output == .sum ? FormulaCode.unit / lanes : 1
    let most = max(least, min(program.count < 12 && !packs ? 2 : 4, vectors))
    var declined = Decline("registers do not suffice")
    for vectorsAtOnce in [4, 2, 1] where (least...most).contains(vectorsAtOnce) {
      let generator = X86FormulaGenerator(
        target: self, inputs: inputs, output: output, program: program, result: result,
        vectorsAtOnce: vectorsAtOnce)
      do throws(Decline) {
        return FormulaCode(
          function: try unsafe CodeFunction(generator), inputs: inputs, output: output, lanes: lanes,
          vectorsAtOnce: vectorsAtOnce, constants: X86FunctionGenerator.constants(of: program, self))
      } catch {
        // With fewer vectors at a time, registers may suffice.
        declined = error
      }
    }
    throw declined
  }
}
