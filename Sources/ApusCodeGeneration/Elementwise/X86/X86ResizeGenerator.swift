// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates the weighted sums of two rows of bytes, see ``ResizeCode``.
struct X86ResizeRowsGenerator: CodeGenerator, Hashable {
  let target: X86Target
  let isSigned: Bool

  private typealias A = ResizeCode.Rows
  private typealias Memory = X86Assembler.Memory

  func generate() -> [UInt8]? {
    let (upper, lower, near, far) = (0, 1, 2, 3)
    let width = target.width
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    a.load(.rax, .init(.rdi, A.offset(\.upper)))
    a.load(.rcx, .init(.rdi, A.offset(\.lower)))
    a.load(.rdx, .init(.rdi, A.offset(\.sums)))
    a.load(.rsi, .init(.rdi, A.offset(\.lowerProducts)))
    a.load(.r8, .init(.rdi, A.offset(\.steps)))
    a.vector(.vpbroadcastd, width, near, 0, Memory(.rdi, A.offset(\.near)))
    a.vector(.vpbroadcastd, width, far, 0, Memory(.rdi, A.offset(\.far)))
    let next = a.loopHead()
    for (register, row, weight) in [(upper, X86Assembler.General.rax, near), (lower, .rcx, far)] {
      a.vector(isSigned ? .vpmovsxbd : .vpmovzxbd, width, register, 0, Memory(row))
      if !isSigned { a.vector(.vcvtdq2ps, width, register, 0, register) }
      a.vector(isSigned ? .vpmulld : .vmulps, width, register, register, weight)
      a.add(row, target.lanes)
    }
    if isSigned {
      a.vector(.vpaddd, width, upper, upper, lower)
    } else {
      a.vector(.vmovupsStore, width, lower, 0, Memory(.rsi))
      a.add(.rsi, width.byteCount)
    }
    a.vector(.vmovupsStore, width, upper, 0, Memory(.rdx))
    a.add(.rdx, width.byteCount)
    a.decrement(.r8)
    a.jump(.notEqual, next)
    a.zeroUpper()
    a.return()
    return a.finish()
  }
}

/// Generates bytes interpolated between two columns of sums, see ``ResizeCode``.
struct X86ResizeColumnsGenerator: CodeGenerator, Hashable {
  let target: X86Target
  let isSigned: Bool

  private typealias A = ResizeCode.Columns
  private typealias Column = ResizeCode.Column
  private typealias Memory = X86Assembler.Memory

  // Registers: values and their addends, then constants.
  private let value = 0
  private let spare = 1
  private let near = 2
  private let far = 3
  private let half = 4

  private static func offset(_ field: PartialKeyPath<Column>) -> Int {
    MemoryLayout<Column>.offset(of: field) ?? 0
  }

  func generate() -> [UInt8]? {
    let width = target.width
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    a.push(.rbx)
    a.load(.rax, .init(.rdi, A.offset(\.sums)))
    a.load(.rcx, .init(.rdi, A.offset(\.count)))
    a.load(.rdx, .init(.rdi, A.offset(\.result)))
    a.load(.rsi, .init(.rdi, A.offset(\.columns)))
    a.load(.r11, .init(.rdi, A.offset(\.lowerDistance)))
    a.vector(.vpbroadcastd, width, half, 0, Memory(.rdi, A.offset(\.half)))
    let nextColumn = a.loopHead()
    a.load(.r8, Memory(.rsi, Self.offset(\.left)))
    a.load(.r9, Memory(.rsi, Self.offset(\.right)))
    a.add(.r8, .rax)
    a.add(.r9, .rax)
    a.vector(.vpbroadcastd, width, near, 0, Memory(.rsi, Self.offset(\.near)))
    a.vector(.vpbroadcastd, width, far, 0, Memory(.rsi, Self.offset(\.far)))
    a.move(.rbx, .rdx)
    a.load(.r10, .init(.rdi, A.offset(\.steps)))
    let next = a.loopHead(alignment: 16)
    if isSigned { blendIntegers(&a) } else { blendFloats(&a) }
    store(&a)
    for register in [X86Assembler.General.r8, .r9] { a.add(register, width.byteCount) }
    a.add(.rbx, target.lanes)
    a.decrement(.r10)
    a.jump(.notEqual, next)
    a.add(.rdx, Memory(.rdi, A.offset(\.channels)))
    a.add(.rsi, MemoryLayout<Column>.stride)
    a.decrement(.rcx)
    a.jump(.notEqual, nextColumn)
    a.zeroUpper()
    a.pop(.rbx)
    a.return()
    return a.finish()
  }

  /// Sums in units of 2⁻²⁰, rounded to nearest, halves away from zero. Negative sums take half less 2⁻²⁰ before they are
  /// rounded down.
  private func blendIntegers(_ a: inout X86Assembler) {
    let width = target.width
    a.vector(.vpmulld, width, value, near, Memory(.r8))
    a.vector(.vpmulld, width, spare, far, Memory(.r9))
    a.vector(.vpaddd, width, value, value, spare)
    a.shift(.shiftDoubles, digit: 4, width, spare, value, by: 31)
    a.vector(.vpaddd, width, value, value, half)
    a.vector(.vpaddd, width, value, value, spare)
    a.shift(.shiftDoubles, digit: 4, width, value, value, by: 20)
  }

  /// Products in the reference's order, each step rounded. Sums are not negative, so that cutting off their fractions rounds
  /// down.
  private func blendFloats(_ a: inout X86Assembler) {
    let width = target.width
    a.vector(.vmulps, width, value, near, Memory(.r8))
    a.vector(.vmulps, width, spare, near, Memory(.r8, index: .r11))
    a.vector(.vaddps, width, value, value, spare)
    a.vector(.vmulps, width, spare, far, Memory(.r9))
    a.vector(.vaddps, width, value, value, spare)
    a.vector(.vmulps, width, spare, far, Memory(.r9, index: .r11))
    a.vector(.vaddps, width, value, value, spare)
    a.vector(.vaddps, width, value, value, half)
    a.vector(.vcvttps2dq, width, value, 0, value)
  }

  /// Stores the 32-bit lanes as bytes.
  private func store(_ a: inout X86Assembler) {
    if target == .avx512 {
      a.vector(isSigned ? .vpmovsdb : .vpmovusdb, .zmm, value, 0, value)
      a.vector(.vmovupsStore, .xmm, value, 0, Memory(.rbx))
    } else {
      a.vector(.vextracti128, .ymm, value, 0, spare, immediate: 1)
      a.vector(.vpackssdw, .xmm, value, value, spare)
      a.vector(isSigned ? .vpacksswb : .vpackuswb, .xmm, value, value, value)
      a.vector(.vmovqStore, .xmm, value, 0, Memory(.rbx))
    }
  }
}

extension X86Target {
  /// The code of a resize; throws if it cannot be placed.
  func resize(isSigned: Bool) throws(Decline) -> ResizeCode {
    try ResizeCode(
      lanes: lanes, isSigned: isSigned, rows: X86ResizeRowsGenerator(target: self, isSigned: isSigned),
      columns: X86ResizeColumnsGenerator(target: self, isSigned: isSigned))
  }
}
