// SPDX-License-Identifier: Apache-2.0

/// Writes x86-64 machine code: the instructions that the generated kernels are made of.
///
/// Vector instructions are written in one of two encodings: VEX (AVX2, FMA, AVX-VNNI; 16 registers, 128 and 256 bits)
/// or EVEX (AVX-512; 32 registers, masks, embedded broadcasts, 512 bits). Operands follow Intel's order: destination
/// first. Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
@safe @usableFromInline package struct X86Assembler: ~Copyable {
  /// How vector instructions are encoded.
  package enum Encoding: Sendable {
    case vex
    case evex
  }

  /// The width of a vector instruction's registers.
  @usableFromInline package enum Width: Int, Sendable {
    case xmm = 0
    case ymm = 1
    case zmm = 2

    /// Bytes of a register of this width.
    @inlinable package var byteCount: Int {
      switch self {
      case .xmm: 16
      case .ymm: 32
      case .zmm: 64
      }
    }
  }

  /// A general register.
  @usableFromInline package enum General: Int, CaseIterable, Sendable {
    case rax = 0
    case rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15
  }

  /// A memory operand: `base + index · scale + displacement`.
  @usableFromInline package struct Memory: Sendable {
    @usableFromInline package var base: General
    @usableFromInline package var index: General?
    @usableFromInline package var scale: Int
    @usableFromInline package var displacement: Int

    /// Creates an operand; `scale` is 1, 2, 4 or 8, and `index` cannot be `rsp`.
    @inlinable package init(_ base: General, index: General? = nil, scale: Int = 1, _ displacement: Int = 0) {
      self.base = base
      self.index = index
      self.scale = scale
      self.displacement = displacement
    }
  }

  /// The use of a mask register by one instruction.
  @usableFromInline package struct Mask: Sendable {
    @usableFromInline package let register: Int
    @usableFromInline package let zeroes: Bool

    /// `k1` to `k7`; lanes outside the mask are kept, or set to zero.
    @inlinable package init(_ register: Int, zeroes: Bool = false) {
      self.register = register
      self.zeroes = zeroes
    }
  }

  /// A jump target.
  @usableFromInline package struct Label: Hashable, Sendable {
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

  /// Memory for the code. Jumps are filled in by ``finish()``.
  private var bytes: UnsafeMutableRawPointer
  private var capacity = 4096
  /// Bytes written so far.
  package private(set) var count = 0

  /// How vector instructions are written.
  package let encoding: Encoding

  /// The position of each label; negative until it is placed.
  private var labels: [Int] = []
  /// The positions of jump distances, each followed by the number of its label.
  private var jumps: [Int] = []

  /// Begins a function.
  package init(encoding: Encoding) {
    self.encoding = encoding
    unsafe bytes = .allocate(byteCount: capacity, alignment: 8)
  }

  deinit {
    unsafe bytes.deallocate()
  }

  /// Appends the low bytes of a word, lowest first, in one store: an instruction is usually a few such words.
  @inline(__always)
  mutating func emit(_ word: UInt64, count byteCount: Int) {
    if count &+ 8 > capacity { grow() }
    unsafe bytes.storeBytes(of: word.littleEndian, toByteOffset: count, as: UInt64.self)
    count &+= byteCount
  }

  private mutating func grow() {
    let larger = UnsafeMutableRawPointer.allocate(byteCount: 2 * capacity, alignment: 8)
    unsafe larger.copyMemory(from: bytes, byteCount: count)
    unsafe bytes.deallocate()
    unsafe bytes = larger
    capacity *= 2
  }

  mutating func emit(_ byte: UInt8) { emit(UInt64(byte), count: 1) }

  mutating func emit(_ first: UInt8, _ second: UInt8) {
    emit(UInt64(first) | UInt64(second) << 8, count: 2)
  }

  mutating func emit(_ first: UInt8, _ second: UInt8, _ third: UInt8) {
    emit(UInt64(first) | UInt64(second) << 8 | UInt64(third) << 16, count: 3)
  }

  mutating func emit32(_ value: Int) {
    emit(UInt64(UInt32(truncatingIfNeeded: value)), count: 4)
  }

  // MARK: Labels

  /// Makes a label, to be placed later.
  package mutating func makeLabel() -> Label {
    labels.append(-1)
    return Label(number: labels.count - 1)
  }

  /// Places a label here.
  package mutating func place(_ label: Label) {
    labels[label.number] = count
  }

  /// Makes a label and places it here, after padding to `alignment` bytes: the head of a loop.
  @usableFromInline package mutating func loopHead(alignment: Int = 32) -> Label {
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
    emitDistance(to: label)
  }

  /// Jumps to a label if the condition holds.
  package mutating func jump(_ condition: Condition, _ label: Label) {
    emit(0x0F, 0x80 | condition.rawValue)
    emitDistance(to: label)
  }

  private mutating func emitDistance(to label: Label) {
    jumps.append(count)
    jumps.append(label.number)
    emit32(0)
  }

  /// The finished code; nil if a label was never placed.
  package consuming func finish() -> [UInt8]? {
    for jump in stride(from: 0, to: jumps.count, by: 2) {
      let (position, target) = (jumps[jump], labels[jumps[jump + 1]])
      guard target >= 0 else { return nil }
      let distance = UInt32(truncatingIfNeeded: target - (position + 4))
      unsafe bytes.storeBytes(of: distance.littleEndian, toByteOffset: position, as: UInt32.self)
    }
    return unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count))
  }

  /// The ModRM byte, SIB byte and displacement of a memory operand; `unit` scales an 8-bit displacement.
  mutating func memoryOperand(_ register: Int, _ memory: Memory, unit: Int) {
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

  mutating func registerOperand(_ register: Int, _ other: Int) {
    emit(0xC0 | UInt8(register & 7) << 3 | UInt8(other & 7))
  }

  // MARK: Vector instructions

  /// The prefix and opcode of a vector instruction, lowest byte first: five bytes of EVEX or four of VEX.
  /// `rm` is a vector register, or `memory` the operand.
  private func prefix(
    _ instruction: Instruction, _ width: Width, register: Int, second: Int, rm: Int?, memory: Memory?,
    broadcasts: Bool, mask: Mask?
  ) -> UInt64 {
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
      let second = notR | notX | notB | notR2 | instruction.map
      let third = instruction.evexW << 7 | notV | 4 | instruction.prefix
      let fourth = lanes | notV2 | UInt8(mask?.register ?? 0)
      return 0x62 | UInt64(second) << 8 | UInt64(third) << 16 | UInt64(fourth) << 24
        | UInt64(instruction.opcode) << 32
    case .vex:
      let vexX: UInt8 = rm == nil ? notX : 0x40
      let second = notR | vexX | notB | instruction.map
      let third = instruction.vexW << 7 | notV | UInt8(width.rawValue) << 2 | instruction.prefix
      return 0xC4 | UInt64(second) << 8 | UInt64(third) << 16 | UInt64(instruction.opcode) << 24
    }
  }

  private var prefixLength: Int { encoding == .evex ? 5 : 4 }

  /// Appends an instruction on registers in one store.
  @inline(__always)
  private mutating func emit(_ prefix: UInt64, register: Int, rm: Int, immediate: UInt8?) {
    let operand = UInt64(0xC0 | UInt8(register & 7) << 3 | UInt8(rm & 7))
    let bits = UInt64(8 * prefixLength)
    emit(
      prefix | (operand | UInt64(immediate ?? 0) << 8) << bits,
      count: prefixLength + (immediate == nil ? 1 : 2))
  }

  /// `instruction register, second, rm`.
  @usableFromInline package mutating func vector(
    _ instruction: Instruction, _ width: Width, _ register: Int, _ second: Int, _ rm: Int, mask: Mask? = nil,
    immediate: UInt8? = nil
  ) {
    let prefix = prefix(
      instruction, width, register: register, second: second, rm: rm, memory: nil, broadcasts: false,
      mask: mask)
    emit(prefix, register: register, rm: rm, immediate: immediate)
  }

  /// `instruction register, second, rm, {rz-sae}`: an operation on 512 bits of floats that truncates its
  /// results instead of rounding them (EVEX only).
  package mutating func cuttingOff(_ instruction: Instruction, _ register: Int, _ second: Int, _ rm: Int) {
    // For register operands, the broadcast bit selects rounding by the width bits: all ones mean toward zero.
    let prefix = prefix(
      instruction, .zmm, register: register, second: second, rm: rm, memory: nil, broadcasts: true, mask: nil)
    emit(prefix | 0x60 << 24, register: register, rm: rm, immediate: nil)
  }

  /// `instruction register, second, [memory]`, where `broadcasts` repeats one element (EVEX only).
  @usableFromInline package mutating func vector(
    _ instruction: Instruction, _ width: Width, _ register: Int, _ second: Int, _ memory: Memory,
    broadcasts: Bool = false, mask: Mask? = nil, immediate: UInt8? = nil
  ) {
    let prefix = prefix(
      instruction, width, register: register, second: second, rm: nil, memory: memory, broadcasts: broadcasts,
      mask: mask)
    emit(prefix, count: prefixLength)
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
  @usableFromInline package enum Operand: Sendable {
    case register(Int)
    case memory(Memory)
  }

  /// `instruction register, second, operand`.
  @usableFromInline package mutating func vector(
    _ instruction: Instruction, _ width: Width, _ register: Int, _ second: Int, _ operand: Operand,
    immediate: UInt8? = nil
  ) {
    switch operand {
    case .register(let rm): vector(instruction, width, register, second, rm, immediate: immediate)
    case .memory(let memory): vector(instruction, width, register, second, memory, immediate: immediate)
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
    let prefix = prefix(
      instruction, width, register: digit, second: register, rm: rm, memory: nil, broadcasts: false, mask: nil
    )
    emit(prefix, register: digit, rm: rm, immediate: count)
  }

  /// A shift by a constant: `instruction register, [memory], count` (EVEX only).
  package mutating func shift(
    _ instruction: Instruction, digit: Int, _ width: Width, _ register: Int, _ memory: Memory, by count: UInt8
  ) {
    let prefix = prefix(
      instruction, width, register: digit, second: register, rm: nil, memory: memory, broadcasts: false,
      mask: nil)
    emit(prefix, count: prefixLength)
    memoryOperand(digit, memory, unit: width.byteCount)
    emit(count)
  }

  /// `stmxcsr [memory]`: stores the modes of float arithmetic. The base is one of the first eight registers.
  package mutating func storeModes(_ memory: Memory) {
    emit(0x0F, 0xAE)
    memoryOperand(3, memory, unit: 1)
  }

  /// `ldmxcsr [memory]`: sets the modes of float arithmetic. The base is one of the first eight registers.
  package mutating func loadModes(_ memory: Memory) {
    emit(0x0F, 0xAE)
    memoryOperand(2, memory, unit: 1)
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
}
