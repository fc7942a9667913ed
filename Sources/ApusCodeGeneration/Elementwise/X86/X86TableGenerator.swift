// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates code that maps whole blocks of bytes by a table of 256 entries.
struct X86TableGenerator: CodeGenerator, Hashable {
  struct Arguments: CodeArguments {
    var source = 0
    var target = 0
    /// The number of blocks.
    var blocks = 0
    /// The address of the table in the form of ``layOut(_:)``.
    var table = 0
  }

  /// How bytes are looked up.
  enum Way {
    /// Each half of the table lies in two registers, and one instruction looks up 64 bytes in a half.
    case permutation
    /// The table's rows of sixteen entries are looked up in turn.
    case rows
  }

  let target: X86Target
  let way: Way

  private typealias Memory = X86Assembler.Memory
  private typealias A = Arguments
  private var width: X86Assembler.Width { target.width }

  /// A generator with the fastest way of this machine.
  init(_ target: X86Target) {
    self.init(
      target, target == .avx512 && CPUFeatures.current.contains(.avx512VBMI) ? .permutation : .rows)
  }

  init(_ target: X86Target, _ way: Way) {
    self.target = target
    self.way = way
  }

  /// The bytes of a block.
  var blockLength: Int { way == .permutation ? width.byteCount : 2 * width.byteCount }

  /// The table in the form in which the code reads it.
  ///
  /// A row, but for the first of each half, holds the differences of its bits from the row before it. Subtracting 16 after each
  /// row makes the bytes of that row and earlier ones negative, for which look-ups give 0. The exclusive or of all look-ups is
  /// therefore the entry of a byte's own row.
  func layOut(_ table: [UInt8]) -> [UInt8] {
    guard way == .rows else { return table }
    var result: [UInt8] = []
    for row in 0..<16 {
      let entries = (0..<16).map {
        row % 8 == 0 ? table[16 * row + $0] : table[16 * row + $0] ^ table[16 * row + $0 - 16]
      }
      for _ in 0..<width.byteCount / 16 { result += entries }
    }
    // The step that is subtracted, and the sign bit.
    return result + Array(repeating: 16, count: width.byteCount)
      + Array(repeating: 128, count: width.byteCount)
  }

  func generate() -> [UInt8]? {
    guard way == .rows || target == .avx512 else { return nil }
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    a.load(.rax, .init(.rdi, A.offset(\.source)))
    a.load(.rdx, .init(.rdi, A.offset(\.target)))
    a.load(.rcx, .init(.rdi, A.offset(\.blocks)))
    a.load(.rsi, .init(.rdi, A.offset(\.table)))
    switch way {
    case .permutation: writePermutation(&a)
    case .rows: writeRows(&a)
    }
    a.zeroUpper()
    a.return()
    return a.finish()
  }

  private func writePermutation(_ a: inout X86Assembler) {
    for part in 0..<4 { a.vector(.vmovdqu, width, 28 + part, 0, Memory(.rsi, 64 * part)) }
    let next = a.loopHead()
    a.vector(.vmovdqu, width, 0, 0, Memory(.rax))
    a.vector(.vmovdqu, width, 1, 0, 0)
    a.vector(.vpmovb2m, width, 1, 0, 0)
    a.vector(.vpermi2b, width, 0, 28, 29)
    // Bytes from 128 on; the others keep their entries of the first half.
    a.vector(.vpermi2b, width, 1, 30, 31)
    a.vector(.vmovdqu8, width, 0, 0, 1, mask: .init(1))
    a.vector(.vmovdquStore, width, 0, 0, Memory(.rdx))
    advance(&a, next)
  }

  /// A loop over two vectors at a time, so that a row is read once for both.
  private func writeRows(_ a: inout X86Assembler) {
    let (step, sign, row) = (15, 14, 13)
    a.vector(.vmovdqu, width, step, 0, Memory(.rsi, 16 * width.byteCount))
    a.vector(.vmovdqu, width, sign, 0, Memory(.rsi, 17 * width.byteCount))
    let next = a.loopHead()
    for part in 0..<2 { a.vector(.vmovdqu, width, part, 0, Memory(.rax, part * width.byteCount)) }
    for part in 0..<2 { a.vector(.vpxor, width, 2 + part, part, sign) }
    for index in 0..<16 {
      a.vector(.vmovdqu, width, row, 0, Memory(.rsi, index * width.byteCount))
      for part in 0..<2 {
        let bytes = index < 8 ? part : 2 + part
        if index == 0 {
          a.vector(.vpshufb, width, 4 + part, row, bytes)
        } else {
          a.vector(.vpshufb, width, 6 + part, row, bytes)
          a.vector(.vpxor, width, 4 + part, 4 + part, 6 + part)
        }
        if index % 8 < 7 { a.vector(.vpsubsb, width, bytes, bytes, step) }
      }
    }
    for part in 0..<2 { a.vector(.vmovdquStore, width, 4 + part, 0, Memory(.rdx, part * width.byteCount)) }
    advance(&a, next)
  }

  private func advance(_ a: inout X86Assembler, _ next: X86Assembler.Label) {
    a.add(.rax, blockLength)
    a.add(.rdx, blockLength)
    a.decrement(.rcx)
    a.jump(.notEqual, next)
  }
}

extension X86Target {
  /// Code that maps bytes by a table, in a given way or the fastest of this machine; throws if it cannot be placed.
  func mapping(_ table: [UInt8], by way: X86TableGenerator.Way? = nil) throws(Decline) -> ByteMapping {
    let generator = way.map { X86TableGenerator(self, $0) } ?? X86TableGenerator(self)
    guard table.count == 256 else { throw Decline("a table of \(table.count) bytes does not have 256") }
    let code = unsafe X86TableCode(
      function: try CodeFunction(generator), table: generator.layOut(table),
      blockLength: generator.blockLength)
    return { output, count, input in unsafe code.fill(output, count: count, input: input) }
  }
}

/// Placed code and the table that it reads.
private struct X86TableCode {
  let function: CodeFunction<X86TableGenerator.Arguments>
  let table: [UInt8]
  let blockLength: Int

  /// Maps whole blocks and returns the number of bytes mapped.
  func fill(_ output: UnsafeMutableRawPointer, count: Int, input: UnsafeRawPointer) -> Int {
    let blocks = count / blockLength
    guard blocks > 0 else { return 0 }
    ExecutableMemory.seal()
    unsafe table.withUnsafeBufferPointer { table in
      function.call(
        X86TableGenerator.Arguments(
          source: Int(bitPattern: input), target: Int(bitPattern: output), blocks: blocks,
          table: Int(bitPattern: table.baseAddress)))
    }
    return blocks * blockLength
  }
}
