// SPDX-License-Identifier: Apache-2.0

extension Arm64Assembler {
  // MARK: Vector loads and stores

  /// The size field and the opcode bit of a part.
  private func bits(of part: Part) -> UInt32 {
    part == .q ? 0x0080_0000 : part.rawValue << 30
  }

  /// `ldr part, [base, #offset]`.
  package mutating func load(_ part: Part, _ register: Int, _ base: General, _ offset: Int = 0) {
    emit(
      0x3D40_0000 | bits(of: part) | field(offset / part.byteCount, bits: 12, at: 10) | base.rawValue << 5
        | field(register, at: 0))
  }
  /// `str part, [base, #offset]`.
  package mutating func store(_ part: Part, _ register: Int, _ base: General, _ offset: Int = 0) {
    emit(
      0x3D00_0000 | bits(of: part) | field(offset / part.byteCount, bits: 12, at: 10) | base.rawValue << 5
        | field(register, at: 0))
  }
  /// `ldr part, [base], #step`.
  package mutating func load(_ part: Part, _ register: Int, _ base: General, step: Int) {
    emit(
      0x3C40_0400 | bits(of: part) | field(step, bits: 9, at: 12, isSigned: true) | base.rawValue << 5
        | field(register, at: 0))
  }
  /// `ldr part, [base, index]`.
  package mutating func load(_ part: Part, _ register: Int, _ base: General, index: General) {
    emit(
      0x3C60_6800 | bits(of: part) | index.rawValue << 16 | base.rawValue << 5 | field(register, at: 0))
  }
  /// `ldp q, q, [base], #step`.
  package mutating func loadPair(_ first: Int, _ second: Int, _ base: General, step: Int) {
    emit(
      0xACC0_0000 | field(step / 16, bits: 7, at: 15, isSigned: true) | field(second, at: 10)
        | base.rawValue << 5 | field(first, at: 0))
  }
  /// `ldp q, q, [base, #offset]`.
  package mutating func loadPair(_ first: Int, _ second: Int, _ base: General, _ offset: Int = 0) {
    emit(
      0xAD40_0000 | field(offset / 16, bits: 7, at: 15, isSigned: true) | field(second, at: 10)
        | base.rawValue << 5 | field(first, at: 0))
  }
  /// `stp d, d, [base, #offset]`: the halves of registers that a function must keep.
  package mutating func storeHalves(_ first: Int, _ second: Int, _ base: General, _ offset: Int) {
    emit(
      0x6D00_0000 | field(offset / 8, bits: 7, at: 15, isSigned: true) | field(second, at: 10)
        | base.rawValue << 5 | field(first, at: 0))
  }
  /// `ldp d, d, [base, #offset]`.
  package mutating func loadHalves(_ first: Int, _ second: Int, _ base: General, _ offset: Int) {
    emit(
      0x6D40_0000 | field(offset / 8, bits: 7, at: 15, isSigned: true) | field(second, at: 10)
        | base.rawValue << 5 | field(first, at: 0))
  }
  /// `ld4 {v.16b × 4}, [base], #64`: each register takes every fourth byte.
  package mutating func loadInterleaved(_ first: Int, _ base: General) {
    emit(0x4CDF_0000 | base.rawValue << 5 | field(first, at: 0))
  }
  /// `st1 {v.part}[lane], [base], #size`; not for `q`.
  package mutating func storeLane(_ part: Part, _ register: Int, _ lane: Int, _ base: General) {
    precondition(part != .q && lane * part.byteCount < 16)
    // The byte that the lane begins at, in the bits Q, S and size; the opcode and the lowest bit tell parts apart.
    let byte = UInt32(truncatingIfNeeded: lane * part.byteCount)
    let opcode: UInt32 =
      switch part {
      case .b: 0
      case .h: 0x4000
      case .s: 0x8000
      case .d, .q: 0x8400
      }
    emit(
      0x0D9F_0000 | opcode | (byte >> 3) << 30 | (byte >> 2 & 1) << 12 | (byte & 3) << 10 | base.rawValue << 5
        | field(register, at: 0))
  }

  // MARK: Vector instructions

  /// `instruction register, source`.
  package mutating func vector(_ instruction: Instruction, _ register: Int, _ source: Int) {
    precondition(instruction.shapes.count == 2)
    emit(instruction.bits | field(source, at: 5) | field(register, at: 0))
  }

  /// `instruction register, first, second`.
  package mutating func vector(_ instruction: Instruction, _ register: Int, _ first: Int, _ second: Int) {
    precondition(instruction.shapes.count == 3)
    emit(instruction.bits | field(second, at: 16) | field(first, at: 5) | field(register, at: 0))
  }

  /// `instruction register, first, second[lane]`: one of four lanes of the second source is used for all.
  package mutating func vector(
    _ instruction: ByElement, _ register: Int, _ first: Int, _ second: Int, lane: Int
  ) {
    let lane = field(lane, bits: 2, at: 0)
    emit(
      instruction.bits | (lane & 1) << 21 | (lane >> 1) << 11 | field(second, at: 16) | field(first, at: 5)
        | field(register, at: 0))
  }

  /// `sshr register.4s, source.4s, #count`: each lane shifted right, keeping signs.
  package mutating func shiftRight(_ register: Int, _ source: Int, by count: Int) {
    emit(0x4F00_0400 | field(64 - count, bits: 7, at: 16) | field(source, at: 5) | field(register, at: 0))
  }
  /// `ssra register.4s, source.4s, #count`: each lane shifted right, keeping signs, and added to the
  /// register.
  package mutating func addShiftedRight(_ register: Int, _ source: Int, by count: Int) {
    emit(0x4F00_1400 | field(64 - count, bits: 7, at: 16) | field(source, at: 5) | field(register, at: 0))
  }
  /// `dup register.4s, source.s[lane]`.
  package mutating func repeatLane(_ register: Int, _ source: Int, lane: Int) {
    emit(
      0x4E00_0400 | field(lane << 3 | 4, bits: 5, at: 16) | field(source, at: 5) | field(register, at: 0))
  }
  /// `movi register.16b, #value`.
  package mutating func fill(_ register: Int, _ value: UInt8) {
    emit(0x4F00_E400 | UInt32(value >> 5) << 16 | UInt32(value & 31) << 5 | field(register, at: 0))
  }
}
