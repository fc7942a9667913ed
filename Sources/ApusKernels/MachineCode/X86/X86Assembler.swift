/// Writes x86-64 machine code: the instructions that the generated kernels are made of.
///
/// Vector instructions are written in one of two encodings: VEX (AVX2, FMA, AVX-VNNI; 16 registers, 128 and 256 bits)
/// or EVEX (AVX-512; 32 registers, masks, embedded broadcasts, 512 bits). Operands follow Intel's order: destination
/// first. Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
package struct X86Assembler {
  /// How vector instructions are encoded.
  package enum Encoding: Sendable {
    case vex
    case evex
  }

  /// The width of a vector instruction's registers.
  package enum Width: Int, Sendable {
    case xmm = 0
    case ymm = 1
    case zmm = 2

    /// Bytes of a register of this width.
    package var byteCount: Int { 16 << rawValue }
  }

  /// A general register.
  package enum General: Int, CaseIterable, Sendable {
    case rax = 0
    case rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15
  }

  /// A place in memory: `base + index · scale + displacement`.
  package struct Memory: Sendable {
    package var base: General
    package var index: General?
    package var scale: Int
    package var displacement: Int

    /// Names a place; `scale` is 1, 2, 4 or 8, and `index` cannot be `rsp`.
    package init(_ base: General, index: General? = nil, scale: Int = 1, _ displacement: Int = 0) {
      self.base = base
      self.index = index
      self.scale = scale
      self.displacement = displacement
    }
  }

  /// A mask register's use by one instruction.
  package struct Mask: Sendable {
    package let register: Int
    package let zeroes: Bool

    /// `k1` to `k7`; lanes outside the mask are kept, or set to zero.
    package init(_ register: Int, zeroes: Bool = false) {
      self.register = register
      self.zeroes = zeroes
    }
  }

  /// A place in the code to jump to.
  package struct Label: Hashable, Sendable {
    fileprivate let number: Int
  }

  /// The condition of a jump.
  package enum Condition: UInt8, Sendable {
    case below = 2
    case aboveOrEqual = 3
    case equal = 4
    case notEqual = 5
    case less = 12
    case greaterOrEqual = 13
    case lessOrEqual = 14
    case greater = 15
  }

  /// How an instruction's memory operand scales an 8-bit displacement in the EVEX encoding.
  package enum TupleType: Sendable {
    /// The whole vector; one element of `elementByteCount` when broadcast.
    case full
    /// The whole vector, without broadcast.
    case fullMemory
    /// Half of the vector.
    case half
    /// A quarter of the vector.
    case quarter
    /// One element.
    case scalar
  }

  /// What identifies a vector instruction.
  package struct Instruction: Sendable {
    package let name: String
    let prefix: UInt8  // 0: none, 1: 66, 2: F3, 3: F2
    let map: UInt8  // 1: 0F, 2: 0F38, 3: 0F3A
    let opcode: UInt8
    let evexW: UInt8
    let vexW: UInt8
    let elementByteCount: Int
    let tuple: TupleType

    init(
      _ name: String, prefix: UInt8, map: UInt8, _ opcode: UInt8, w: UInt8 = 0, vexW: UInt8 = 0,
      elementByteCount: Int = 4, tuple: TupleType = .full
    ) {
      self.name = name
      self.prefix = prefix
      self.map = map
      self.opcode = opcode
      evexW = w
      self.vexW = vexW
      self.elementByteCount = elementByteCount
      self.tuple = tuple
    }
  }

  /// The code so far, with room for more. Jumps are filled in by ``finish()``.
  private var bytes: [UInt8]
  /// Bytes written so far.
  package private(set) var count = 0

  /// How vector instructions are written.
  package let encoding: Encoding

  private var labels: [Int?] = []
  private var jumps: [(position: Int, label: Label)] = []

  /// Begins a function.
  package init(encoding: Encoding) {
    self.encoding = encoding
    bytes = Array(repeating: 0, count: 4096)
  }

  /// Writes the low bytes of a word, the lowest first: at once, as instructions are many and each is a few of these.
  private mutating func emit(_ word: UInt64, count byteCount: Int) {
    if count + 8 > bytes.count { bytes += Array(repeating: 0, count: bytes.count) }
    bytes.withUnsafeMutableBytes {
      unsafe $0.storeBytes(of: word.littleEndian, toByteOffset: count, as: UInt64.self)
    }
    count += byteCount
  }

  private mutating func emit(_ byte: UInt8) { emit(UInt64(byte), count: 1) }

  private mutating func emit(_ first: UInt8, _ second: UInt8) {
    emit(UInt64(first) | UInt64(second) << 8, count: 2)
  }

  private mutating func emit(_ first: UInt8, _ second: UInt8, _ third: UInt8) {
    emit(UInt64(first) | UInt64(second) << 8 | UInt64(third) << 16, count: 3)
  }

  private mutating func emit32(_ value: Int) {
    emit(UInt64(UInt32(truncatingIfNeeded: value)), count: 4)
  }

  // MARK: Labels

  /// Makes a label, to be placed later.
  package mutating func makeLabel() -> Label {
    labels.append(nil)
    return Label(number: labels.count - 1)
  }

  /// Places a label here.
  package mutating func place(_ label: Label) {
    labels[label.number] = count
  }

  /// Makes a label and places it here, after padding to `alignment` bytes: the head of a loop.
  package mutating func loopHead(alignment: Int = 32) -> Label {
    var missing = (alignment - count % alignment) % alignment
    while missing > 0 {
      let length = min(missing, 8)
      emit(Self.nop(length), count: length)
      missing -= length
    }
    let label = makeLabel()
    place(label)
    return label
  }

  /// An instruction of 1 to 8 bytes that does nothing, the lowest byte first.
  private static func nop(_ length: Int) -> UInt64 {
    switch length {
    case 1: 0x90
    case 2: 0x90_66
    case 3: 0x00_1F_0F
    case 4: 0x00_40_1F_0F
    case 5: 0x44_1F_0F
    case 6: 0x44_1F_0F_66
    case 7: 0x80_1F_0F
    default: 0x84_1F_0F
    }
  }

  /// Jumps to a label.
  package mutating func jump(_ label: Label) {
    emit(0xE9)
    jumps.append((count, label))
    emit32(0)
  }

  /// Jumps to a label if the flags say so.
  package mutating func jump(_ condition: Condition, _ label: Label) {
    emit(0x0F, 0x80 | condition.rawValue)
    jumps.append((count, label))
    emit32(0)
  }

  /// The finished code; nil if a label was never placed.
  package mutating func finish() -> [UInt8]? {
    for (position, label) in jumps {
      guard let target = labels[label.number] else { return nil }
      let distance = UInt32(truncatingIfNeeded: target - (position + 4))
      for byte in 0..<4 { bytes[position + byte] = UInt8(truncatingIfNeeded: distance >> UInt32(8 * byte)) }
    }
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  // MARK: Operand bytes

  /// The ModRM byte, SIB byte and displacement of a memory operand; `unit` scales an 8-bit displacement.
  private mutating func memoryOperand(_ register: Int, _ memory: Memory, unit: Int) {
    let displacement = memory.displacement
    let base = memory.base.rawValue & 7
    // A power of two.
    let short = displacement & (unit - 1) == 0 ? displacement >> unit.trailingZeroBitCount : .max
    let mode: Int
    if displacement == 0, base != 5 { mode = 0x00 } else { mode = (-128...127).contains(short) ? 0x40 : 0x80 }
    var word = mode | (register & 7) << 3
    var length = 1
    if memory.index != nil || base == 4 {
      let index = memory.index.map { $0.rawValue & 7 | memory.scale.trailingZeroBitCount << 3 } ?? 4
      word |= 4 | (index << 3 | base) << 8
      length = 2
    } else {
      word |= base
    }
    if mode == 0x40 {
      word |= (short & 0xFF) << (8 * length)
      length += 1
    } else if mode == 0x80 {
      word |= (displacement & 0xFFFF_FFFF) << (8 * length)
      length += 4
    }
    emit(UInt64(truncatingIfNeeded: word), count: length)
  }

  private mutating func registerOperand(_ register: Int, _ other: Int) {
    emit(0xC0 | UInt8(register & 7) << 3 | UInt8(other & 7))
  }

  // MARK: Vector instructions

  /// The prefix and opcode of a vector instruction. `rm` is a vector register, `memory` a place.
  private mutating func prefix(
    _ instruction: Instruction, _ width: Width, register: Int, second: Int, rm: Int?, memory: Memory?,
    broadcasts: Bool, mask: Mask?
  ) {
    let base = rm ?? memory?.base.rawValue ?? 0
    let index = rm.map { $0 >> 1 } ?? memory?.index?.rawValue ?? 0  // EVEX: bit 4 of a register operand is X
    let notR: UInt8 = register & 8 == 0 ? 0x80 : 0
    let notX: UInt8 = index & 8 == 0 ? 0x40 : 0
    let notB: UInt8 = base & 8 == 0 ? 0x20 : 0
    let notV = UInt8(~second & 15) << 3
    switch encoding {
    case .evex:
      let notR2: UInt8 = register & 16 == 0 ? 0x10 : 0
      let notV2: UInt8 = second & 16 == 0 ? 0x08 : 0
      let lanes: UInt8 =
        (mask?.zeroes == true ? 0x80 : 0) | UInt8(width.rawValue) << 5 | (broadcasts ? 0x10 : 0)
      emit(
        0x62, notR | notX | notB | notR2 | instruction.map,
        instruction.evexW << 7 | notV | 4 | instruction.prefix)
      emit(lanes | notV2 | UInt8(mask?.register ?? 0), instruction.opcode)
    case .vex:
      let vexX: UInt8 = rm == nil ? notX : 0x40
      emit(0xC4, notR | vexX | notB | instruction.map)
      emit(
        instruction.vexW << 7 | notV | UInt8(width.rawValue) << 2 | instruction.prefix, instruction.opcode)
    }
  }

  /// `instruction register, second, rm`.
  package mutating func vector(
    _ instruction: Instruction, _ width: Width, _ register: Int, _ second: Int, _ rm: Int, mask: Mask? = nil,
    immediate: UInt8? = nil
  ) {
    prefix(
      instruction, width, register: register, second: second, rm: rm, memory: nil, broadcasts: false,
      mask: mask)
    registerOperand(register, rm)
    if let immediate { emit(immediate) }
  }

  /// `instruction register, second, [memory]`, where `broadcasts` repeats one element (EVEX only).
  package mutating func vector(
    _ instruction: Instruction, _ width: Width, _ register: Int, _ second: Int, _ memory: Memory,
    broadcasts: Bool = false, mask: Mask? = nil, immediate: UInt8? = nil
  ) {
    prefix(
      instruction, width, register: register, second: second, rm: nil, memory: memory, broadcasts: broadcasts,
      mask: mask)
    var unit = 1
    if encoding == .evex {
      unit =
        switch instruction.tuple {
        case .full: broadcasts ? instruction.elementByteCount : width.byteCount
        case .fullMemory: width.byteCount
        case .half: width.byteCount / 2
        case .quarter: width.byteCount / 4
        case .scalar: instruction.elementByteCount
        }
    }
    memoryOperand(register, memory, unit: unit)
    if let immediate { emit(immediate) }
  }

  /// The third operand of a vector instruction.
  package enum Operand: Sendable {
    case register(Int)
    case memory(Memory)
  }

  /// `instruction register, second, operand`.
  package mutating func vector(
    _ instruction: Instruction, _ width: Width, _ register: Int, _ second: Int, _ operand: Operand
  ) {
    switch operand {
    case .register(let rm): vector(instruction, width, register, second, rm)
    case .memory(let memory): vector(instruction, width, register, second, memory)
    }
  }

  /// Sets a vector register to zero.
  package mutating func zeroVector(_ register: Int, _ width: Width) {
    vector(.vpxor, width, register, register, register)
  }

  /// A shift by a constant: `instruction register, rm, count`; `extensionDigit` is the opcode's in ModRM.
  package mutating func shift(
    _ instruction: Instruction, digit: Int, _ width: Width, _ register: Int, _ rm: Int, by count: UInt8
  ) {
    prefix(
      instruction, width, register: digit, second: register, rm: rm, memory: nil, broadcasts: false, mask: nil
    )
    registerOperand(digit, rm)
    emit(count)
  }

  /// `vzeroupper`.
  package mutating func zeroUpper() {
    emit(0xC5, 0xF8, 0x77)
  }

  /// `kmovq mask, general` (64 lanes).
  package mutating func moveMask(_ mask: Int, _ general: General) {
    emit(0xC4, 0xE1 & ~(general.rawValue & 8 == 0 ? 0 : 0x20))
    emit(0xFB, 0x92)
    registerOperand(mask, general.rawValue)
  }

  // MARK: General instructions, all of 64 bits

  private mutating func rex(_ register: Int, _ base: Int, index: Int = 0) {
    emit(0x48 | UInt8(register >> 3) << 2 | UInt8(index >> 3) << 1 | UInt8(base >> 3))
  }

  private mutating func general(_ opcode: UInt8, _ register: General, _ memory: Memory) {
    rex(register.rawValue, memory.base.rawValue, index: memory.index?.rawValue ?? 0)
    emit(opcode)
    memoryOperand(register.rawValue, memory, unit: 1)
  }

  private mutating func general(_ opcode: UInt8, rm: General, _ register: General) {
    rex(register.rawValue, rm.rawValue)
    emit(opcode)
    registerOperand(register.rawValue, rm.rawValue)
  }

  private mutating func immediate(_ digit: UInt8, _ register: General, _ value: Int) {
    rex(0, register.rawValue)
    if (-128...127).contains(value) {
      emit(0x83, 0xC0 | digit << 3 | UInt8(register.rawValue & 7), UInt8(truncatingIfNeeded: value))
    } else {
      emit(0x81, 0xC0 | digit << 3 | UInt8(register.rawValue & 7))
      emit32(value)
    }
  }

  /// `mov register, [memory]`.
  package mutating func load(_ register: General, _ memory: Memory) { general(0x8B, register, memory) }
  /// `mov [memory], register`.
  package mutating func store(_ memory: Memory, _ register: General) { general(0x89, register, memory) }
  /// `mov destination, source`.
  package mutating func move(_ destination: General, _ source: General) {
    general(0x89, rm: destination, source)
  }
  /// `mov register, value`, sign-extended from 32 bits.
  package mutating func move(_ register: General, _ value: Int) {
    rex(0, register.rawValue)
    emit(0xC7, 0xC0 | UInt8(register.rawValue & 7))
    emit32(value)
  }
  /// `mov register, value`, of 64 bits.
  package mutating func moveWide(_ register: General, _ value: Int) {
    rex(0, register.rawValue)
    emit(0xB8 | UInt8(register.rawValue & 7))
    emit32(value)
    emit32(value >> 32)
  }
  /// `lea register, [memory]`.
  package mutating func address(_ register: General, _ memory: Memory) { general(0x8D, register, memory) }
  /// `add destination, source`.
  package mutating func add(_ destination: General, _ source: General) {
    general(0x01, rm: destination, source)
  }
  /// `add register, [memory]`.
  package mutating func add(_ register: General, _ memory: Memory) { general(0x03, register, memory) }
  /// `add register, value`.
  package mutating func add(_ register: General, _ value: Int) { immediate(0, register, value) }
  /// `sub destination, source`.
  package mutating func subtract(_ destination: General, _ source: General) {
    general(0x29, rm: destination, source)
  }
  /// `sub register, value`.
  package mutating func subtract(_ register: General, _ value: Int) { immediate(5, register, value) }
  /// `cmp register, value`.
  package mutating func compare(_ register: General, _ value: Int) { immediate(7, register, value) }
  /// `cmp first, second`.
  package mutating func compare(_ first: General, _ second: General) { general(0x39, rm: first, second) }
  /// `test register, register`.
  package mutating func test(_ register: General) { general(0x85, rm: register, register) }
  /// `xor register, register`: zero.
  package mutating func zero(_ register: General) { general(0x31, rm: register, register) }
  /// `dec register`.
  package mutating func decrement(_ register: General) {
    rex(0, register.rawValue)
    emit(0xFF, 0xC8 | UInt8(register.rawValue & 7))
  }
  /// `push register`.
  package mutating func push(_ register: General) {
    if register.rawValue > 7 { emit(0x41) }
    emit(0x50 | UInt8(register.rawValue & 7))
  }
  /// `pop register`.
  package mutating func pop(_ register: General) {
    if register.rawValue > 7 { emit(0x41) }
    emit(0x58 | UInt8(register.rawValue & 7))
  }
  /// `prefetcht0 [memory]`.
  package mutating func prefetch(_ memory: Memory) {
    if memory.base.rawValue > 7 || (memory.index?.rawValue ?? 0) > 7 {
      emit(0x40 | UInt8((memory.index?.rawValue ?? 0) >> 3) << 1 | UInt8(memory.base.rawValue >> 3))
    }
    emit(0x0F, 0x18)
    memoryOperand(1, memory, unit: 1)
  }
  /// `ret`.
  package mutating func `return`() { emit(0xC3) }
}
