// SPDX-License-Identifier: Apache-2.0

/// A computation on vectors of floats or integers without branches: recorded value by value, then written as the body of a loop.
///
/// Values are numbered in the order of their definition. A value occupies a register from its definition to its last use. Constants are
/// data: programs that differ only in constants are equal, and have equal code.
package struct X86VectorProgram: Hashable, Sendable {
  /// A step, which defines a value.
  private enum Step: Hashable {
    case input(Int)
    /// Bytes of an input, widened to `int32`.
    case bytes(Int, isSigned: Bool)
    /// A register of the caller.
    case held(Int)
    /// An instruction of two operands; the second may be a constant in memory. Some have an immediate.
    case binary(X86Assembler.Instruction, Int, Operand, UInt8? = nil)
    /// `first · second + third`; the second or the third may be a constant in memory.
    case product(Int, Operand, Operand)
    /// An instruction of one operand; some have an immediate.
    case unary(X86Assembler.Instruction, Int, UInt8?)
    /// Updates the lane-wise maximum of `int32` in a register of the caller; defines no value.
    case greatest(Int, register: Int)
    /// A shift of 32-bit or 16-bit lanes: `digit` as in ``X86Assembler/shift(_:digit:_:_:_:by:)``.
    case shift(X86Assembler.Instruction, digit: Int, Int, by: UInt8)
    /// A constant in a register.
    case load(Int)
  }

  /// A value, or a constant by its number.
  private enum Operand: Hashable {
    case value(Int)
    case constant(Int)
  }

  /// A value of the program.
  package struct Value: Hashable, Sendable {
    fileprivate let number: Int
  }

  /// A second operand: a value, or the bits of a constant.
  package enum Term: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral, Sendable {
    case value(Value)
    case bits(UInt32)

    /// The constant's bits.
    package init(floatLiteral value: Float) { self = .bits(value.bitPattern) }
    /// The bits of the float that an integer literal stands for.
    package init(integerLiteral value: Float) { self = .bits(value.bitPattern) }
  }

  private var steps: [Step] = []
  /// The bits of the constants, without duplicates.
  package private(set) var constants: [UInt32] = []

  /// An empty program.
  package init() {}

  package static func == (first: Self, second: Self) -> Bool {
    first.steps == second.steps && first.constants.count == second.constants.count
  }

  package func hash(into hasher: inout Hasher) {
    for step in steps { hasher.combine(step) }
    hasher.combine(constants.count)
  }

  /// The number of steps.
  package var count: Int { steps.count }

  // MARK: Recording

  /// An input of floats, by its number.
  package mutating func input(_ number: Int = 0) -> Value { make(.input(number)) }

  /// An input of bytes, widened to `int32`.
  package mutating func bytes(_ number: Int, isSigned: Bool) -> Value {
    make(.bytes(number, isSigned: isSigned))
  }

  /// The contents of a register of the caller, which the program does not overwrite.
  package mutating func held(in register: Int) -> Value { make(.held(register)) }

  /// A constant in a register.
  package mutating func constant(_ bits: UInt32) -> Value { make(.load(place(bits))) }

  /// The sum of floats.
  package mutating func add(_ first: Value, _ second: Term) -> Value { binary(.vaddps, first, second) }
  /// The difference of floats.
  package mutating func subtract(_ first: Value, _ second: Term) -> Value { binary(.vsubps, first, second) }
  /// The product of floats.
  package mutating func multiply(_ first: Value, _ second: Term) -> Value { binary(.vmulps, first, second) }
  /// The quotient of floats.
  package mutating func divide(_ first: Value, _ second: Term) -> Value { binary(.vdivps, first, second) }
  /// The maximum of a constant and a value; the value if it is NaN.
  package mutating func greater(_ constant: Float, _ value: Value) -> Value {
    binary(.vmaxps, self.constant(constant.bitPattern), .value(value))
  }
  /// The minimum of a constant and a value; the value if it is NaN.
  package mutating func lesser(_ constant: Float, _ value: Value) -> Value {
    binary(.vminps, self.constant(constant.bitPattern), .value(value))
  }
  /// The maximum of two values; the second if either is NaN.
  package mutating func greaterOne(_ first: Value, _ second: Value) -> Value {
    binary(.vmaxps, first, .value(second))
  }
  /// The minimum of two values; the second if either is NaN.
  package mutating func lesserOne(_ first: Value, _ second: Value) -> Value {
    binary(.vminps, first, .value(second))
  }
  /// The bitwise and.
  package mutating func and(_ first: Value, _ second: Term) -> Value { binary(.vpand, first, second) }
  /// The bitwise or.
  package mutating func or(_ first: Value, _ second: Term) -> Value { binary(.vpor, first, second) }
  /// The bitwise exclusive or.
  package mutating func xor(_ first: Value, _ second: Term) -> Value { binary(.vpxor, first, second) }
  /// The sum of 32-bit integers.
  package mutating func addIntegers(_ first: Value, _ second: Term) -> Value {
    binary(.vpaddd, first, second)
  }
  /// The difference of 32-bit integers.
  package mutating func subtractIntegers(_ first: Value, _ second: Term) -> Value {
    binary(.vpsubd, first, second)
  }
  /// 32-bit integers, shifted left.
  package mutating func shiftLeft(_ value: Value, by count: UInt8) -> Value {
    make(.shift(.shiftDoubles, digit: 6, value.number, by: count))
  }
  /// 32-bit integers, shifted right with their sign.
  package mutating func shiftRight(_ value: Value, by count: UInt8) -> Value {
    make(.shift(.shiftDoubles, digit: 4, value.number, by: count))
  }
  /// How `int16` lanes are shifted: left, or right with zeros or with their sign.
  package enum WordShift: Int, Sendable {
    case rightUnsigned = 2
    case right = 4
    case left = 6
  }
  /// `int16` lanes, shifted.
  package mutating func shiftWords(_ value: Value, _ way: WordShift, by count: UInt8) -> Value {
    make(.shift(.shiftWords, digit: way.rawValue, value.number, by: count))
  }
  /// The result of an instruction on the 16-bit lanes of two values.
  package mutating func words(_ instruction: X86Assembler.Instruction, _ first: Value, _ second: Value)
    -> Value
  {
    binary(instruction, first, .value(second))
  }
  /// `value · 2^exponent`; AVX-512 only.
  package mutating func scale(_ value: Value, byPowerOfTwo exponent: Value) -> Value {
    binary(.vscalefps, value, .value(exponent))
  }
  /// The square root of floats.
  package mutating func squareRoot(_ value: Value) -> Value { unary(.vsqrtps, value) }
  /// The result of an instruction of one operand.
  package mutating func unary(
    _ instruction: X86Assembler.Instruction, _ value: Value, immediate: UInt8? = nil
  ) -> Value {
    make(.unary(instruction, value.number, immediate))
  }
  /// The minimum of a value and a constant; the constant if the value is NaN.
  package mutating func lesserNumber(_ value: Value, _ constant: Float) -> Value {
    binary(.vminps, value, .bits(constant.bitPattern))
  }
  /// The maximum of a value and a constant; the constant if the value is NaN.
  package mutating func greaterNumber(_ value: Value, _ constant: Float) -> Value {
    binary(.vmaxps, value, .bits(constant.bitPattern))
  }
  /// All bits set in the lanes whose comparison with a constant is true, see ``X86Assembler/Instruction/vcmpps``; AVX2 only.
  package mutating func compare(_ value: Value, _ constant: Float, by predicate: UInt8) -> Value {
    make(.binary(.vcmpps, value.number, operand(.bits(constant.bitPattern)), predicate))
  }
  /// Updates the lane-wise maximum of `int32` in a register of the caller.
  package mutating func keepGreatest(_ value: Value, in register: Int) {
    steps.append(.greatest(value.number, register: register))
  }
  /// `first · second + third`, rounded once.
  package mutating func fma(_ first: Value, _ second: Term, _ third: Term) -> Value {
    // Only the instruction's last operand can be in memory.
    let factor =
      if case .bits(let bits) = second, case .bits = third { Term.value(constant(bits)) } else { second }
    return make(.product(first.number, operand(factor), operand(third)))
  }

  /// `((c₀·x + c₁)·x + …)·x + cₙ`.
  package mutating func polynomial(_ x: Value, _ coefficients: [Float]) -> Value {
    var result = constant(coefficients[0].bitPattern)
    for coefficient in coefficients.dropFirst() {
      result = fma(result, .value(x), .bits(coefficient.bitPattern))
    }
    return result
  }

  private mutating func binary(_ instruction: X86Assembler.Instruction, _ first: Value, _ second: Term)
    -> Value
  {
    make(.binary(instruction, first.number, operand(second)))
  }

  private mutating func make(_ step: Step) -> Value {
    steps.append(step)
    return Value(number: steps.count - 1)
  }

  private mutating func operand(_ term: Term) -> Operand {
    switch term {
    case .value(let value): .value(value.number)
    case .bits(let bits): .constant(place(bits))
    }
  }

  private mutating func place(_ bits: UInt32) -> Int {
    if let index = constants.firstIndex(of: bits) { return index }
    constants.append(bits)
    return constants.count - 1
  }

  // MARK: Code

  /// The registers for constants of a loop: those that only AVX-512 has.
  static func spareRegisters(_ target: X86Target) -> Range<Int> { target == .avx512 ? 16..<32 : 0..<0 }

  /// Loads the first constants into ``spareRegisters(_:)``, before a loop.
  package func holdConstants(_ a: inout X86Assembler, _ target: X86Target, at place: X86Assembler.General) {
    for (constant, register) in zip(constants.indices, Self.spareRegisters(target)) {
      a.vector(.vbroadcastss, target.width, register, 0, .init(place, constant * 4))
    }
  }

  /// Writes the steps for several vectors, with registers below `registerCount`. Returns the register of each vector's result; nil if
  /// the registers do not suffice.
  ///
  /// The steps of one vector mostly depend on each other, so the vectors' steps are interleaved: a processor looks about sixty
  /// instructions ahead.
  ///
  /// - Parameters:
  ///   - inputs: the addresses of the inputs of each vector, by their numbers.
  ///   - constants: the address of the constants: one element each for AVX-512, a whole vector each for AVX2.
  ///   - areHeld: whether ``holdConstants(_:_:at:)`` has loaded the first of them.
  package func write(
    _ result: Value, to a: inout X86Assembler, _ target: X86Target, registerCount: Int,
    inputs: [[X86Assembler.Memory]], constants: X86Assembler.General, areHeld: Bool = true
  ) -> [Int]? {
    let width = target.width
    let repeats = target == .avx512
    let distance = repeats ? 4 : width.byteCount
    let spare = areHeld ? Self.spareRegisters(target) : 0..<0
    func held(_ constant: Int) -> Int? { constant < spare.count ? spare.lowerBound + constant : nil }
    func place(_ constant: Int) -> X86Assembler.Memory { .init(constants, constant * distance) }
    /// An instruction whose last operand is a constant.
    func vector(
      _ instruction: X86Assembler.Instruction, _ own: Int, _ first: Int, _ constant: Int, _ immediate: UInt8?
    ) {
      if let register = held(constant) {
        a.vector(instruction, width, own, first, register, immediate: immediate)
      } else {
        a.vector(
          instruction, width, own, first, place(constant), broadcasts: repeats, immediate: immediate)
      }
    }
    var lastUses = Array(repeating: 0, count: steps.count)
    for (index, step) in steps.enumerated() {
      for value in Self.values(of: step) { lastUses[value] = index }
    }
    lastUses[result.number] = .max
    // Constants in registers stay there.
    for (index, step) in steps.enumerated() {
      switch step {
      case .held: lastUses[index] = .max
      case .load(let constant): if held(constant) != nil { lastUses[index] = .max }
      default: continue
      }
    }
    var free = Array((0..<registerCount).reversed())
    var allRegisters = Array(
      repeating: Array(repeating: -1, count: steps.count), count: inputs.count)
    for (index, step) in steps.enumerated() {
      for (copy, inputs) in inputs.enumerated() {
        let registers = allRegisters[copy]
        if case .held(let register) = step {
          allRegisters[copy][index] = register
          continue
        }
        if case .load(let constant) = step, let register = held(constant) {
          allRegisters[copy][index] = register
          continue
        }
        // After a value's last use, its register is the result's, or free.
        var ended: [Int] = []
        for value in Self.values(of: step)
        where lastUses[value] == index && !ended.contains(registers[value]) {
          ended.append(registers[value])
        }
        if case .greatest(let value, let register) = step {
          a.vector(.vpmaxsd, width, register, register, registers[value])
          free += ended
          continue
        }
        var own: Int
        if case .product(let first, _, _) = step {
          // The first factor is overwritten.
          own = registers[first]
          if !ended.contains(own) {
            guard let next = free.popLast() else { return nil }
            a.vector(.vmovups, width, next, 0, own)
            own = next
          }
        } else if let register = ended.first {
          own = register
        } else {
          guard let next = free.popLast() else { return nil }
          own = next
        }
        switch step {
        case .held, .greatest: continue
        case .input(let number):
          guard inputs.indices.contains(number) else { return nil }
          a.vector(.vmovups, width, own, 0, inputs[number])
        case .bytes(let number, let isSigned):
          guard inputs.indices.contains(number) else { return nil }
          a.vector(isSigned ? .vpmovsxbd : .vpmovzxbd, width, own, 0, inputs[number])
        case .load(let constant):
          if repeats {
            a.vector(.vbroadcastss, width, own, 0, place(constant))
          } else {
            a.vector(.vmovups, width, own, 0, place(constant))
          }
        case .unary(let instruction, let value, let immediate):
          a.vector(instruction, width, own, 0, registers[value], immediate: immediate)
        case .shift(let instruction, let digit, let value, let count):
          a.shift(instruction, digit: digit, width, own, registers[value], by: count)
        case .binary(let instruction, let first, .value(let second), let immediate):
          a.vector(instruction, width, own, registers[first], registers[second], immediate: immediate)
        case .binary(let instruction, let first, .constant(let second), let immediate):
          vector(instruction, own, registers[first], second, immediate)
        case .product(_, .value(let second), .value(let third)):
          a.vector(.vfmadd213ps, width, own, registers[second], registers[third])
        case .product(_, .value(let second), .constant(let third)):
          vector(.vfmadd213ps, own, registers[second], third, nil)
        case .product(_, .constant(let second), .value(let third)):
          // first · constant + third: the constant is the last operand, in memory.
          vector(.vfmadd132ps, own, registers[third], second, nil)
        case .product(_, .constant, .constant): return nil
        }
        allRegisters[copy][index] = own
        free += ended.filter { $0 != own }
      }
    }
    return allRegisters.map { $0[result.number] }
  }

  private static func values(of step: Step) -> [Int] {
    func value(_ operand: Operand) -> [Int] { if case .value(let number) = operand { [number] } else { [] } }
    return switch step {
    case .input, .bytes, .held, .load: []
    case .binary(_, let first, let second, _): [first] + value(second)
    case .product(let first, let second, let third): [first] + value(second) + value(third)
    case .unary(_, let value, _), .greatest(let value, _): [value]
    case .shift(_, _, let value, _): [value]
    }
  }
}
