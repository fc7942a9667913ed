// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates the transposition of sixteen rows, sixteen bytes of each at a time.
///
/// A register has parts of two rows, eight rows apart. Interleaving the elements of the first half of the registers with those
/// of the second is a perfect shuffle; after three of these, each half of a register has columns of eight rows. AVX-512 would
/// be no faster: the stores of sixteen bytes limit the speed.
struct X86TranspositionGenerator: CodeGenerator, Hashable {
  /// The bytes of an element: 1, 2 or 4.
  let width: Int

  private typealias A = TranspositionCode.Arguments
  private typealias Memory = X86Assembler.Memory
  private typealias General = X86Assembler.General

  /// Registers with the address of the first row, the address eight rows further, and multiples of the stride between rows.
  private struct Rows {
    let first: General
    let ninth: General
    let one: General
    let three: General
    let five: General
    let seven: General

    /// The address of one of sixteen rows.
    func place(_ row: Int, _ offset: Int = 0) -> Memory {
      let base = row < 8 ? first : ninth
      return switch row % 8 {
      case 0: Memory(base, offset)
      case 1: Memory(base, index: one, scale: 1, offset)
      case 2: Memory(base, index: one, scale: 2, offset)
      case 3: Memory(base, index: three, scale: 1, offset)
      case 4: Memory(base, index: one, scale: 4, offset)
      case 5: Memory(base, index: five, scale: 1, offset)
      case 6: Memory(base, index: three, scale: 2, offset)
      default: Memory(base, index: seven, scale: 1, offset)
      }
    }

    /// Loads the address and the stride between rows from the arguments.
    func load(_ a: inout X86Assembler, address: Int, stride: Int) {
      a.load(first, .init(.rdi, address))
      a.load(one, .init(.rdi, stride))
      for (more, less) in [(three, one), (five, three), (seven, five)] {
        a.move(more, less)
        a.add(more, one)
        a.add(more, one)
      }
      a.move(ninth, first)
      a.add(ninth, seven)
      a.add(ninth, one)
    }
  }

  private var source: Rows {
    Rows(first: .rax, ninth: .rdx, one: .r8, three: .r9, five: .r10, seven: .r11)
  }
  private var target: Rows {
    Rows(first: .rcx, ninth: .rsi, one: .r12, three: .r13, five: .r14, seven: .r15)
  }
  private var parts: General { .rbp }
  private var targetStep: General { .rbx }
  private static let kept: [General] = [.rbx, .rbp, .r12, .r13, .r14, .r15]

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: .vex)
    for register in Self.kept { a.push(register) }
    source.load(&a, address: A.offset(\.source), stride: A.offset(\.sourceStride))
    target.load(&a, address: A.offset(\.target), stride: A.offset(\.targetStride))
    a.load(parts, .init(.rdi, A.offset(\.parts)))
    a.load(targetStep, .init(.rdi, A.offset(\.targetStep)))
    let next = a.loopHead()
    for row in 0..<8 {
      a.vector(.vmovdqu, .xmm, row, 0, source.place(row))
      a.vector(.vinserti128, .ymm, row, row, source.place(row + 8), immediate: 1)
    }
    shuffle(&a, from: 0, to: 8)
    shuffle(&a, from: 8, to: 0)
    shuffle(&a, from: 0, to: 8)
    for register in 0..<8 { store(&a, register) }
    for register in [source.first, source.ninth] { a.add(register, TranspositionCode.byteCount) }
    for register in [target.first, target.ninth] { a.add(register, targetStep) }
    a.decrement(parts)
    a.jump(.notEqual, next)
    a.zeroUpper()
    for register in Self.kept.reversed() { a.pop(register) }
    a.return()
    return a.finish()
  }

  /// Interleaves the elements of four registers with those of the next four, into eight others.
  private func shuffle(_ a: inout X86Assembler, from first: Int, to result: Int) {
    let (low, high): (X86Assembler.Instruction, X86Assembler.Instruction) =
      switch width {
      case 1: (.vpunpcklbw, .vpunpckhbw)
      case 2: (.vpunpcklwd, .vpunpckhwd)
      default: (.vpunpckldq, .vpunpckhdq)
      }
    for row in 0..<4 {
      a.vector(low, .ymm, result + 2 * row, first + row, first + row + 4)
      a.vector(high, .ymm, result + 2 * row + 1, first + row, first + row + 4)
    }
  }

  /// Stores a shuffled register: two columns of bytes, one column of 16-bit elements, or half a column of 32-bit ones.
  private func store(_ a: inout X86Assembler, _ index: Int) {
    let register = 8 + index
    switch width {
    case 1:
      // Brings the halves of each column together.
      a.vector(.vpermq, .ymm, register, 0, register, immediate: 0xD8)
      a.vector(.vmovdquStore, .xmm, register, 0, target.place(2 * index))
      a.vector(.vextracti128, .ymm, register, 0, target.place(2 * index + 1), immediate: 1)
    case 2:
      a.vector(.vmovdquStore, .ymm, register, 0, target.place(index))
    default:
      let offset = 16 * (index % 2)
      a.vector(.vmovdquStore, .xmm, register, 0, target.place(index / 2, offset))
      a.vector(.vextracti128, .ymm, register, 0, target.place(index / 2, offset + 32), immediate: 1)
    }
  }
}
