// SPDX-License-Identifier: Apache-2.0

/// Writes arm64 machine code: the instructions that the generated kernels use, each a word of 32 bits.
///
/// Operands follow Arm's order: destination first. Source: Arm Architecture Reference Manual for A-profile,
/// chapter C.
@usableFromInline package struct Arm64Assembler {
  /// A general register of 64 bits.
  package enum General: UInt32, CaseIterable, Sendable {
    case x0 = 0
    case x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15, x16, x17, x18, x19, x20, x21, x22
    case x23, x24, x25, x26, x27, x28, x29, x30
    /// The stack pointer, in places that allow it; zero elsewhere.
    case sp
  }

  /// How much of a vector register is loaded or stored.
  @usableFromInline package enum Part: UInt32, CaseIterable, Sendable {
    case b = 0
    case h, s, d, q

    /// The size of the part in bytes.
    @inlinable package var byteCount: Int {
      switch self {
      case .b: 1
      case .h: 2
      case .s: 4
      case .d: 8
      case .q: 16
      }
    }
  }

  /// A branch target.
  package struct Label: Hashable, Sendable {
    fileprivate let number: Int
  }

  /// The condition of a branch, after a signed comparison.
  package enum Condition: UInt32, CaseIterable, Sendable {
    case equal = 0
    case notEqual = 1
    case aboveOrEqual = 2
    case below = 3
    case greaterOrEqual = 10
    case less = 11
    case greater = 12
    case lessOrEqual = 13
  }

  /// A vector instruction of up to three registers.
  package struct Instruction: Sendable {
    package let name: String
    /// How each register is divided, such as `16b`.
    package let shapes: [String]
    let bits: UInt32

    init(_ name: String, _ shapes: String..., bits: UInt32) {
      self.name = name
      self.shapes = shapes
      self.bits = bits
    }
  }

  /// An instruction whose second source is one lane.
  package struct ByElement: Sendable {
    package let name: String
    /// How the destination, the first source and the lane are divided.
    package let shapes: [String]
    let bits: UInt32
  }

  /// The code so far. Branches are filled in by ``finish()``.
  package private(set) var words: [UInt32] = []

  private var labels: [Int?] = []
  private var branches: [(position: Int, label: Label, isConditional: Bool)] = []

  /// Begins a function.
  package init() {}

  mutating func emit(_ word: UInt32) {
    words.append(word)
  }

  /// The low bits of a number, moved into place; numbers that do not fit are a fault of the generator.
  func field(_ value: Int, bits count: Int, at shift: UInt32, isSigned: Bool = false) -> UInt32 {
    let least = isSigned ? -(1 << (count - 1)) : 0
    precondition(value >= least && value - least < 1 << count, "an operand does not fit its field")
    return UInt32(truncatingIfNeeded: value & (1 << count - 1)) << shift
  }

  func field(_ register: Int, at shift: UInt32) -> UInt32 { field(register, bits: 5, at: shift) }

  /// The fields of the destination and the first source.
  private func fields(_ d: General, _ n: General, _ m: General? = nil) -> UInt32 {
    d.rawValue | n.rawValue << 5 | (m?.rawValue ?? 0) << 16
  }

  // MARK: Labels

  /// Makes a label, to be placed later.
  package mutating func makeLabel() -> Label {
    labels.append(nil)
    return Label(number: labels.count - 1)
  }

  /// Places a label here.
  package mutating func place(_ label: Label) {
    labels[label.number] = words.count
  }

  /// Makes a label and places it here.
  package mutating func placeLabel() -> Label {
    let label = makeLabel()
    place(label)
    return label
  }

  /// `b label`.
  package mutating func branch(_ label: Label) {
    branches.append((words.count, label, false))
    emit(0x1400_0000)
  }

  /// `b.condition label`.
  package mutating func branch(_ condition: Condition, _ label: Label) {
    branches.append((words.count, label, true))
    emit(0x5400_0000 | condition.rawValue)
  }

  /// `cbz register, label`.
  package mutating func branchIfZero(_ register: General, _ label: Label) {
    branches.append((words.count, label, true))
    emit(0xB400_0000 | register.rawValue)
  }

  /// `cbnz register, label`.
  package mutating func branchUnlessZero(_ register: General, _ label: Label) {
    branches.append((words.count, label, true))
    emit(0xB500_0000 | register.rawValue)
  }

  /// The finished code, lowest byte first; nil if a label was never placed or is out of reach.
  package mutating func finish() -> [UInt8]? {
    for (position, label, isConditional) in branches {
      guard let target = labels[label.number] else { return nil }
      let distance = target - position
      guard abs(distance) < 1 << (isConditional ? 18 : 25) else { return nil }
      words[position] |=
        isConditional
        ? field(distance, bits: 19, at: 5, isSigned: true) : field(distance, bits: 26, at: 0, isSigned: true)
    }
    branches = []
    return words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
  }

  // MARK: General instructions, all of 64 bits

  /// `ldr register, [base, #offset]`.
  package mutating func load(_ register: General, _ base: General, _ offset: Int = 0) {
    emit(0xF940_0000 | field(offset / 8, bits: 12, at: 10) | fields(register, base))
  }
  /// `str register, [base, #offset]`.
  package mutating func store(_ register: General, _ base: General, _ offset: Int = 0) {
    emit(0xF900_0000 | field(offset / 8, bits: 12, at: 10) | fields(register, base))
  }
  /// `ldr register, [base], #step`.
  package mutating func load(_ register: General, _ base: General, step: Int) {
    emit(0xF840_0400 | field(step, bits: 9, at: 12, isSigned: true) | fields(register, base))
  }
  /// `ldp first, second, [base], #step`.
  package mutating func loadPair(_ first: General, _ second: General, _ base: General, step: Int) {
    emit(
      0xA8C0_0000 | field(step / 8, bits: 7, at: 15, isSigned: true) | second.rawValue << 10
        | fields(first, base))
  }
  /// `stp first, second, [base, #-step]!`.
  package mutating func pushPair(_ first: General, _ second: General, _ base: General, step: Int) {
    emit(
      0xA980_0000 | field(-step / 8, bits: 7, at: 15, isSigned: true) | second.rawValue << 10
        | fields(first, base))
  }
  /// `add destination, source, #value`; sets no flags.
  package mutating func add(_ destination: General, _ source: General, _ value: Int) {
    emit(0x9100_0000 | field(value, bits: 12, at: 10) | fields(destination, source))
  }
  /// `adds destination, source, #value`.
  package mutating func addSettingFlags(_ destination: General, _ source: General, _ value: Int) {
    emit(0xB100_0000 | field(value, bits: 12, at: 10) | fields(destination, source))
  }
  /// `subs destination, source, #value`.
  package mutating func subtractSettingFlags(_ destination: General, _ source: General, _ value: Int) {
    emit(0xF100_0000 | field(value, bits: 12, at: 10) | fields(destination, source))
  }
  /// `add destination, first, second`.
  package mutating func add(_ destination: General, _ first: General, _ second: General) {
    emit(0x8B00_0000 | fields(destination, first, second))
  }
  /// `sub destination, first, second`.
  package mutating func subtract(_ destination: General, _ first: General, _ second: General) {
    emit(0xCB00_0000 | fields(destination, first, second))
  }
  /// `madd destination, first, second, addend`.
  package mutating func multiplyAdd(
    _ destination: General, _ first: General, _ second: General, _ addend: General
  ) {
    emit(0x9B00_0000 | addend.rawValue << 10 | fields(destination, first, second))
  }
  /// `bic destination, first, second`: the bits of the first that the second lacks.
  package mutating func clearBits(_ destination: General, _ first: General, _ second: General) {
    emit(0x8A20_0000 | fields(destination, first, second))
  }
  /// `lsl destination, first, second`.
  package mutating func shiftLeft(_ destination: General, _ first: General, _ second: General) {
    emit(0x9AC0_2000 | fields(destination, first, second))
  }
  /// `ubfx destination, source, #lowest, #count`: bits as a number.
  package mutating func extractBits(_ destination: General, _ source: General, lowest: Int, count: Int) {
    emit(
      0xD340_0000 | field(lowest, bits: 6, at: 16) | field(lowest + count - 1, bits: 6, at: 10)
        | fields(destination, source))
  }
  /// `cmp first, second`.
  package mutating func compare(_ first: General, _ second: General) {
    emit(0xEB00_001F | first.rawValue << 5 | second.rawValue << 16)
  }
  /// `cmp register, #value`.
  package mutating func compare(_ register: General, _ value: Int) {
    subtractSettingFlags(.sp, register, value)
  }
  /// `mov destination, source`; neither is `sp`.
  package mutating func move(_ destination: General, _ source: General) {
    emit(0xAA00_03E0 | destination.rawValue | source.rawValue << 16)
  }
  /// `mov register, #value`, of 16 bits at most.
  package mutating func move(_ register: General, _ value: Int) {
    emit(0xD280_0000 | field(value, bits: 16, at: 5) | register.rawValue)
  }
  /// `movk register, #value, lsl #16 · part`.
  package mutating func insert(_ register: General, _ value: Int, part: Int) {
    emit(
      0xF280_0000 | field(part, bits: 2, at: 21) | field(value, bits: 16, at: 5) | register.rawValue)
  }
  /// `blr register`.
  package mutating func call(_ register: General) { emit(0xD63F_0000 | register.rawValue << 5) }
  /// `svc #0`.
  package mutating func callSystem() { emit(0xD400_0001) }
  /// `ret`.
  package mutating func `return`() { emit(0xD65F_03C0) }

  // MARK: Caches

  /// `mrs register, ctr_el0`: the sizes of cache lines.
  package mutating func readCacheType(_ register: General) { emit(0xD53B_0020 | register.rawValue) }
  /// `dc cvau, register`: writes a data cache line back.
  package mutating func cleanData(_ register: General) { emit(0xD50B_7B20 | register.rawValue) }
  /// `ic ivau, register`: forgets an instruction cache line.
  package mutating func invalidateInstructions(_ register: General) { emit(0xD50B_7520 | register.rawValue) }
  /// `dsb ish`.
  package mutating func synchronizeData() { emit(0xD503_3B9F) }
  /// `isb`.
  package mutating func synchronizeInstructions() { emit(0xD503_3FDF) }
}
