// SPDX-License-Identifier: Apache-2.0

/// Instructions on general registers, of 64 bits where no other width is named.
extension X86Assembler {
  private mutating func rex(_ register: Int, _ base: Int, index: Int = 0) {
    emit(0x48 | UInt8(register >> 3) << 2 | UInt8(index >> 3) << 1 | UInt8(base >> 3))
  }

  /// The prefix of an instruction on 32 bits or on a byte: registers 8 to 15 need it, and for bytes registers 4 to 7, too.
  private mutating func narrowRex(_ register: General, _ memory: Memory, isByte: Bool = false) {
    let bits =
      UInt8(register.rawValue >> 3) << 2 | UInt8((memory.index?.rawValue ?? 0) >> 3) << 1
      | UInt8(memory.base.rawValue >> 3)
    if bits != 0 || isByte && register.rawValue > 3 { emit(0x40 | bits) }
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
  /// `movzx register, byte [memory]`.
  package mutating func loadByte(_ register: General, _ memory: Memory) {
    rex(register.rawValue, memory.base.rawValue, index: memory.index?.rawValue ?? 0)
    emit(0x0F, 0xB6)
    memoryOperand(register.rawValue, memory, unit: 1)
  }
  /// `movzx register, word [memory]`.
  package mutating func loadWord(_ register: General, _ memory: Memory) {
    rex(register.rawValue, memory.base.rawValue, index: memory.index?.rawValue ?? 0)
    emit(0x0F, 0xB7)
    memoryOperand(register.rawValue, memory, unit: 1)
  }
  /// `mov [memory], register` of the lowest byte.
  package mutating func storeByte(_ memory: Memory, _ register: General) {
    narrowRex(register, memory, isByte: true)
    emit(0x88)
    memoryOperand(register.rawValue, memory, unit: 1)
  }
  /// `mov register, [memory]` of 32 bits; the others become zero.
  package mutating func loadDouble(_ register: General, _ memory: Memory) {
    narrowRex(register, memory)
    emit(0x8B)
    memoryOperand(register.rawValue, memory, unit: 1)
  }
  /// `mov [memory], register` of 32 bits.
  package mutating func storeDouble(_ memory: Memory, _ register: General) {
    narrowRex(register, memory)
    emit(0x89)
    memoryOperand(register.rawValue, memory, unit: 1)
  }
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
  /// `imul destination, source, value`.
  package mutating func multiply(_ destination: General, _ source: General, _ value: Int) {
    general(0x69, rm: source, destination)
    emit32(value)
  }
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
  /// `prefetcht1 [memory]`: into the second-level cache.
  package mutating func prefetch(_ memory: Memory) {
    if memory.base.rawValue > 7 || (memory.index?.rawValue ?? 0) > 7 {
      emit(0x40 | UInt8((memory.index?.rawValue ?? 0) >> 3) << 1 | UInt8(memory.base.rawValue >> 3))
    }
    emit(0x0F, 0x18)
    memoryOperand(2, memory, unit: 1)
  }
  /// `ret`.
  package mutating func `return`() { emit(0xC3) }
}
