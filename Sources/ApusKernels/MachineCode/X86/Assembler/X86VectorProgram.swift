// SPDX-License-Identifier: Apache-2.0

/// A computation on vectors of floats, or of words, without branches, written down value by value and then as code for a loop.
///
/// Values are numbered in the order of their making. A register is a value's from there to its last use. Constants are data: the
/// code of equal programs, whose constants may differ, is the same.
struct X86VectorProgram: Hashable {
  /// What a step makes a value with.
  private enum Step: Hashable {
    case input(Int)
    /// Bytes as `int32`.
    case bytes(Int, isSigned: Bool)
    /// What a register holds that is the caller's.
    case held(Int)
    /// `first ∘ second`; the second may be a constant in memory. Some have an immediate.
    case binary(X86Assembler.Instruction, Int, Operand, UInt8? = nil)
    /// `first · second + third`, of which the third may be a constant in memory.
    case product(Int, Operand, Operand)
    /// A function of one value; some have an immediate.
    case unary(X86Assembler.Instruction, Int, UInt8?)
    /// Keeps the greatest of integers in a register that is the caller's; it is no value.
    case greatest(Int, register: Int)
    /// A shift of 32-bit lanes, or of words: `digit` as in ``X86Assembler/shift(_:digit:_:_:_:by:)``.
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
  struct Value: Hashable {
    fileprivate let number: Int
  }

  /// What may be the second of two operands: a value, or the bits of a constant.
  enum Term: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
    case value(Value)
    case bits(UInt32)

    init(floatLiteral value: Float) { self = .bits(value.bitPattern) }
    init(integerLiteral value: Float) { self = .bits(value.bitPattern) }
  }

  private var steps: [Step] = []
  /// The constants, each once.
  private(set) var constants: [UInt32] = []

  static func == (first: Self, second: Self) -> Bool {
    first.steps == second.steps && first.constants.count == second.constants.count
  }

  func hash(into hasher: inout Hasher) {
    for step in steps { hasher.combine(step) }
    hasher.combine(constants.count)
  }

  /// How many steps there are.
  var count: Int { steps.count }

  // MARK: Writing

  /// An argument of the function, by its number.
  mutating func input(_ number: Int = 0) -> Value { make(.input(number)) }

  /// An argument of the function that has bytes, as `int32`.
  mutating func bytes(_ number: Int, isSigned: Bool) -> Value { make(.bytes(number, isSigned: isSigned)) }

  /// What the caller holds in a register, beyond those that the program may use.
  mutating func held(in register: Int) -> Value { make(.held(register)) }

  /// A constant in a register.
  mutating func constant(_ bits: UInt32) -> Value { make(.load(place(bits))) }

  mutating func add(_ first: Value, _ second: Term) -> Value { binary(.vaddps, first, second) }
  mutating func subtract(_ first: Value, _ second: Term) -> Value { binary(.vsubps, first, second) }
  mutating func multiply(_ first: Value, _ second: Term) -> Value { binary(.vmulps, first, second) }
  mutating func divide(_ first: Value, _ second: Term) -> Value { binary(.vdivps, first, second) }
  /// The greater of a constant and a value, which is the answer if it is NaN.
  mutating func greater(_ constant: Float, _ value: Value) -> Value {
    binary(.vmaxps, self.constant(constant.bitPattern), .value(value))
  }
  /// The lesser of a constant and a value, which is the answer if it is NaN.
  mutating func lesser(_ constant: Float, _ value: Value) -> Value {
    binary(.vminps, self.constant(constant.bitPattern), .value(value))
  }
  /// The greater of two values, the second where they do not compare.
  mutating func greaterOne(_ first: Value, _ second: Value) -> Value {
    binary(.vmaxps, first, .value(second))
  }
  /// The lesser of two values, the second where they do not compare.
  mutating func lesserOne(_ first: Value, _ second: Value) -> Value { binary(.vminps, first, .value(second)) }
  mutating func and(_ first: Value, _ second: Term) -> Value { binary(.vpand, first, second) }
  mutating func or(_ first: Value, _ second: Term) -> Value { binary(.vpor, first, second) }
  mutating func xor(_ first: Value, _ second: Term) -> Value { binary(.vpxor, first, second) }
  /// The sum of 32-bit integers.
  mutating func addIntegers(_ first: Value, _ second: Term) -> Value { binary(.vpaddd, first, second) }
  mutating func subtractIntegers(_ first: Value, _ second: Term) -> Value { binary(.vpsubd, first, second) }
  mutating func shiftLeft(_ value: Value, by count: UInt8) -> Value {
    make(.shift(.shiftDoubles, digit: 6, value.number, by: count))
  }
  /// Keeps the sign.
  mutating func shiftRight(_ value: Value, by count: UInt8) -> Value {
    make(.shift(.shiftDoubles, digit: 4, value.number, by: count))
  }
  /// How words are shifted: to the right, with their sign or with zeros.
  enum WordShift: Int {
    case rightUnsigned = 2
    case right = 4
    case left = 6
  }
  mutating func shiftWords(_ value: Value, _ way: WordShift, by count: UInt8) -> Value {
    make(.shift(.shiftWords, digit: way.rawValue, value.number, by: count))
  }
  /// What an instruction makes of the words of two values.
  mutating func words(_ instruction: X86Assembler.Instruction, _ first: Value, _ second: Value) -> Value {
    binary(instruction, first, .value(second))
  }
  /// A value times two to the power of another; AVX-512 alone has it.
  mutating func scale(_ value: Value, byPowerOfTwo exponent: Value) -> Value {
    binary(.vscalefps, value, .value(exponent))
  }
  mutating func squareRoot(_ value: Value) -> Value { unary(.vsqrtps, value) }
  /// What an instruction of one operand makes.
  mutating func unary(
    _ instruction: X86Assembler.Instruction, _ value: Value, immediate: UInt8? = nil
  ) -> Value {
    make(.unary(instruction, value.number, immediate))
  }
  /// The lesser of a value and a constant, which is the answer if the value is NaN.
  mutating func lesserNumber(_ value: Value, _ constant: Float) -> Value {
    binary(.vminps, value, .bits(constant.bitPattern))
  }
  /// The greater of a value and a constant, which is the answer if the value is NaN.
  mutating func greaterNumber(_ value: Value, _ constant: Float) -> Value {
    binary(.vmaxps, value, .bits(constant.bitPattern))
  }
  /// All bits of lanes where a comparison with a constant holds, see ``X86Assembler/Instruction/vcmpps``. AVX2 alone has it.
  mutating func compare(_ value: Value, _ constant: Float, by predicate: UInt8) -> Value {
    make(.binary(.vcmpps, value.number, operand(.bits(constant.bitPattern)), predicate))
  }
  /// Keeps the greatest of 32-bit integers of each lane in a register of the caller's.
  mutating func keepGreatest(_ value: Value, in register: Int) {
    steps.append(.greatest(value.number, register: register))
  }
  /// `first · second + third`, rounded once.
  mutating func fma(_ first: Value, _ second: Term, _ third: Term) -> Value {
    // Of the instruction's operands only one can lie in memory: the last.
    let factor =
      if case .bits(let bits) = second, case .bits = third { Term.value(constant(bits)) } else { second }
    return make(.product(first.number, operand(factor), operand(third)))
  }

  /// `((c₀·x + c₁)·x + …)·x + cₙ`.
  mutating func polynomial(_ x: Value, _ coefficients: [Float]) -> Value {
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

  /// The registers that can hold constants for a loop: those that only AVX-512 has.
  static func spareRegisters(_ target: X86Target) -> Range<Int> { target == .avx512 ? 16..<32 : 0..<0 }

  /// Loads the first constants into ``spareRegisters(_:)``, to be done before a loop.
  func holdConstants(_ a: inout X86Assembler, _ target: X86Target, at place: X86Assembler.General) {
    for (constant, register) in zip(constants.indices, Self.spareRegisters(target)) {
      a.vector(.vbroadcastss, target.width, register, 0, .init(place, constant * 4))
    }
  }

  /// Writes the steps with registers below `registerCount` for some vectors side by side, and answers which registers have their
  /// results; nil where the registers do not suffice.
  ///
  /// The steps of one vector mostly wait for each other, and processors look some sixty steps ahead: with several, each step is
  /// followed by the same of the others. Constants lie side by side from `constants` on: single ones for AVX-512, of which
  /// ``holdConstants(_:_:at:)`` has loaded some unless `areHeld` is false, whole vectors of each otherwise.
  ///
  /// - Parameter inputs: where the arguments of each vector lie, in the order of their numbers.
  func write(
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
    // What is held stays.
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
        // What is used for the last time gives its register to the result, or back.
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
          // first · constant + third: the constant takes the last place.
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
