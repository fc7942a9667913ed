// SPDX-License-Identifier: Apache-2.0

/// Instructions on the eight tile registers of AMX, each of up to 16 rows of 64 bytes. All have VEX encoding.
extension X86Assembler {
  /// The prefix and opcode of an instruction of map 2 with a second source, if there is one.
  private mutating func tile(prefix: UInt8, _ opcode: UInt8, second: Int = 0, memory: Memory? = nil) {
    let base = memory?.base.rawValue ?? 0
    let index = memory?.index?.rawValue ?? 0
    let notX: UInt8 = index & 8 == 0 ? 0x40 : 0
    let notB: UInt8 = base & 8 == 0 ? 0x20 : 0
    emit(0xC4, 0x80 | notX | notB | 2, UInt8(~second & 15) << 3 | prefix)
    emit(opcode)
  }

  /// `ldtilecfg [memory]`: sets the sizes of all tiles, from 64 bytes, and fills them with zeros.
  package mutating func loadTileSizes(_ memory: Memory) {
    tile(prefix: 0, 0x49, memory: memory)
    memoryOperand(0, memory, unit: 1)
  }

  /// `tilerelease`: leaves all tiles without sizes, so that context switches need not save them.
  package mutating func releaseTiles() {
    tile(prefix: 0, 0x49)
    registerOperand(0, 0)
  }

  /// `tilezero tile`.
  package mutating func zeroTile(_ tile: Int) {
    self.tile(prefix: 3, 0x49)
    registerOperand(tile, 0)
  }

  /// `tileloadd tile, [base + index · scale + displacement]`: rows are `index · scale` bytes apart.
  package mutating func loadTile(_ tile: Int, _ memory: Memory) {
    self.tile(prefix: 3, 0x4B, memory: memory)
    memoryOperand(tile, memory, unit: 1)
  }

  /// `tilestored [base + index · scale + displacement], tile`: rows are `index · scale` bytes apart.
  package mutating func storeTile(_ memory: Memory, _ tile: Int) {
    self.tile(prefix: 2, 0x4B, memory: memory)
    memoryOperand(tile, memory, unit: 1)
  }

  /// `tdpbf16ps sums, rows, columns`: adds the products of pairs of bfloat16.
  package mutating func multiplyTiles(_ sums: Int, _ rows: Int, _ columns: Int) {
    tile(prefix: 2, 0x5C, second: columns)
    registerOperand(sums, rows)
  }
}
