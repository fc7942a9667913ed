// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates the product of rows of bytes with a vector of bytes, see ``RecurrentCode``.
///
/// AVX-512 multiplies 64 bytes per K-step. It makes the matrix unsigned by adding 128 to each byte, and
/// accumulators start from −128 times the sum of the vector. AVX2 widens 16 bytes per K-step to `int16`.
struct X86RecurrentProductGenerator: CodeGenerator, Hashable {
  let target: X86Target

  private typealias A = RecurrentCode.Products
  private typealias Memory = X86Assembler.Memory

  // Registers: four accumulators, a K-step of each row, a K-step of the vector, and constants.
  private static let rowsTogether = 4
  private func sum(_ row: Int) -> Int { row }
  private func lane(_ row: Int) -> Int { 4 + row }
  private let vector = 8
  private let spare = 9
  private let start = 10
  private let flips = 11
  private var mask: X86Assembler.Mask { .init(1, zeroes: true) }

  private var width: X86Assembler.Width { target.width }
  private var hasMasks: Bool { target == .avx512 }
  private var stepByteCount: Int { hasMasks ? 64 : 16 }
  /// The addresses of the first rows.
  private var rows: [Memory] {
    [
      Memory(.rax), Memory(.rax, index: .r8), Memory(.rax, index: .r8, scale: 2),
      Memory(.rax, index: .r11),
    ]
  }

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: hasMasks ? .evex : .vex)
    a.push(.rbx)
    a.load(.rax, .init(.rdi, A.offset(\.matrix)))
    a.load(.r8, .init(.rdi, A.offset(\.depth)))
    a.load(.rcx, .init(.rdi, A.offset(\.rows)))
    a.load(.rsi, .init(.rdi, A.offset(\.sums)))
    a.load(.rbx, .init(.rdi, A.offset(\.rest)))
    a.address(.r11, Memory(.r8, index: .r8, scale: 2))
    a.vector(.vpbroadcastd, width, flips, 0, Memory(.rdi, A.offset(\.flips)))
    a.zeroVector(start, width)
    if hasMasks {
      a.moveMask(1, .rbx)
      sumVector(&a)
    }
    let (single, done) = (a.makeLabel(), a.makeLabel())
    a.subtract(.rcx, Self.rowsTogether)
    a.jump(.less, single)
    let four = a.loopHead()
    block(&a, Self.rowsTogether)
    a.address(.rax, Memory(.r9, index: .r8, scale: 4))
    a.add(.rsi, 16)
    a.subtract(.rcx, Self.rowsTogether)
    a.jump(.greaterOrEqual, four)
    a.place(single)
    a.add(.rcx, Self.rowsTogether)
    a.jump(.equal, done)
    let one = a.loopHead()
    block(&a, 1)
    a.address(.rax, Memory(.r9, index: .r8))
    a.add(.rsi, 4)
    a.decrement(.rcx)
    a.jump(.notEqual, one)
    a.place(done)
    a.zeroUpper()
    a.pop(.rbx)
    a.return()
    return a.finish()
  }

  /// Loops over the whole K-steps of a row, then handles the rest; advances `rdx` and `rax`.
  private func forEachStep(_ a: inout X86Assembler, _ body: (inout X86Assembler, _ isRest: Bool) -> Void) {
    let (rest, done) = (a.makeLabel(), a.makeLabel())
    a.load(.rdx, .init(.rdi, A.offset(\.vector)))
    a.load(.r10, .init(.rdi, A.offset(\.steps)))
    a.test(.r10)
    a.jump(.equal, rest)
    let next = a.loopHead(alignment: 16)
    body(&a, false)
    a.add(.rax, stepByteCount)
    a.add(.rdx, stepByteCount)
    a.decrement(.r10)
    a.jump(.notEqual, next)
    a.place(rest)
    a.test(.rbx)
    a.jump(.equal, done)
    body(&a, true)
    a.place(done)
  }

  /// Loads one K-step of the vector or of a row.
  private func load(_ a: inout X86Assembler, _ register: Int, _ place: Memory, isRest: Bool) {
    switch (hasMasks, isRest) {
    case (true, false): a.vector(.vmovdqu, width, register, 0, place)
    case (true, true): a.vector(.vmovdqu8, width, register, 0, place, mask: mask)
    case (false, _): a.vector(.vpmovsxbw, isRest ? .xmm : .ymm, register, 0, place)
    }
  }

  /// Computes −128 times the sum of the vector, in the lanes that accumulators start from.
  private func sumVector(_ a: inout X86Assembler) {
    a.move(.r9, .rax)
    a.zeroVector(spare, width)
    forEachStep(&a) { a, isRest in
      load(&a, vector, Memory(.rdx), isRest: isRest)
      a.vector(.vpdpbusd, width, spare, flips, vector)
    }
    a.vector(.vpsubd, width, start, start, spare)
    a.move(.rax, .r9)
  }

  /// Computes the sums of some rows; `r9` keeps the address of the first.
  private func block(_ a: inout X86Assembler, _ count: Int) {
    a.move(.r9, .rax)
    for row in 0..<count { a.vector(.vmovdqu, width, sum(row), 0, start) }
    forEachStep(&a) { a, isRest in
      load(&a, vector, Memory(.rdx), isRest: isRest)
      for row in 0..<count {
        if hasMasks {
          if isRest {
            load(&a, lane(row), rows[row], isRest: true)
            a.vector(.vpxor, width, lane(row), lane(row), flips)
          } else {
            a.vector(.vpxor, width, lane(row), flips, rows[row])
          }
          a.vector(.vpdpbusd, width, sum(row), lane(row), vector)
        } else {
          // A load of 128 bits zeroes the upper half.
          load(&a, lane(row), rows[row], isRest: isRest)
          a.vector(.vpmaddwd, isRest ? .xmm : .ymm, lane(row), lane(row), vector)
          a.vector(.vpaddd, .ymm, sum(row), sum(row), lane(row))
        }
      }
    }
    for row in 0..<count { a.foldParts(sum(row), width, .vpaddd, spare: spare) }
    if count == 1 {
      a.vector(.vpunpckhqdq, .xmm, spare, sum(0), sum(0))
      a.vector(.vpaddd, .xmm, sum(0), sum(0), spare)
      a.vector(.vmovshdup, .xmm, spare, 0, sum(0))
      a.vector(.vpaddd, .xmm, sum(0), sum(0), spare)
    } else {
      // Horizontal adds: of two accumulators each, then of both pairs.
      for row in [0, 2] {
        a.vector(.vpunpckhdq, .xmm, spare, sum(row), sum(row + 1))
        a.vector(.vpunpckldq, .xmm, sum(row), sum(row), sum(row + 1))
        a.vector(.vpaddd, .xmm, sum(row), sum(row), spare)
      }
      a.vector(.vpunpckhqdq, .xmm, spare, sum(0), sum(2))
      a.vector(.vpunpcklqdq, .xmm, sum(0), sum(0), sum(2))
      a.vector(.vpaddd, .xmm, sum(0), sum(0), spare)
    }
    a.vector(.vmovupsStore, .xmm, sum(0), 0, Memory(.rsi))
  }
}

/// Generates the rescaling of sums, whose results are added to `int16` values (``RecurrentCode``), with both
/// roundings of ``FixedPointMultiplier/apply(_:)``.
struct X86RecurrentRescalingGenerator: CodeGenerator, Hashable {
  let target: X86Target

  private typealias A = RecurrentCode.Rescaling
  private typealias Memory = X86Assembler.Memory

  func generate() -> [UInt8]? {
    let (sum, odd, other) = (0, 1, 2)
    let (factor, left, right, beforeLast, one, all, half) = (9, 10, 11, 12, 13, 14, 15)
    let width = target.width
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    a.load(.rax, .init(.rdi, A.offset(\.sums)))
    a.load(.rcx, .init(.rdi, A.offset(\.bias)))
    a.load(.rdx, .init(.rdi, A.offset(\.words)))
    a.load(.r8, .init(.rdi, A.offset(\.steps)))
    for (register, field) in [
      (factor, A.offset(\.factor)), (left, A.offset(\.left)), (right, A.offset(\.right)),
      (beforeLast, A.offset(\.beforeLast)), (one, A.offset(\.one)), (all, A.offset(\.all)),
    ] {
      a.vector(.vpbroadcastd, width, register, 0, Memory(.rdi, field))
    }
    a.vector(.vpbroadcastq, width, half, 0, Memory(.rdi, A.offset(\.half)))
    if target == .avx512 {
      a.move(.r9, 0xAAAA)
      a.moveMask(1, .r9)
    }
    let next = a.loopHead()
    a.vector(.vmovdqu, width, sum, 0, Memory(.rax))
    a.vector(.vpaddd, width, sum, sum, Memory(.rcx))
    a.vector(.vpsllvd, width, sum, sum, left)
    // The products of even and of odd lanes, which keep 32 bits.
    a.vector(.vmovshdup, width, odd, 0, sum)
    for register in [sum, odd] {
      a.vector(.vpmuldq, width, register, register, factor)
      a.vector(.vpaddq, width, register, register, half)
    }
    a.shift(.shiftQuads, digit: 2, width, sum, sum, by: 31)
    a.shift(.shiftQuads, digit: 6, width, odd, odd, by: 1)
    if target == .avx512 {
      a.vector(.vpblendmd, width, sum, sum, odd, mask: .init(1))
    } else {
      a.vector(.vpblendd, width, sum, sum, odd, immediate: 0xAA)
    }
    // Rounds halves away from zero: subtracts one from negative numbers, then rounds halves up.
    a.shift(.shiftDoubles, digit: 4, width, odd, sum, by: 31)
    a.vector(.vpand, width, odd, odd, all)
    a.vector(.vpaddd, width, sum, sum, odd)
    a.vector(.vpsravd, width, odd, sum, beforeLast)
    a.vector(.vpand, width, odd, odd, one)
    a.vector(.vpsravd, width, sum, sum, right)
    a.vector(.vpaddd, width, sum, sum, odd)
    a.vector(.vpmovsxwd, width, other, 0, Memory(.rdx))
    a.vector(.vpaddd, width, sum, sum, other)
    if target == .avx512 {
      a.vector(.vpmovsdw, .zmm, sum, 0, sum)
      a.vector(.vmovupsStore, .ymm, sum, 0, Memory(.rdx))
    } else {
      a.vector(.vextracti128, .ymm, sum, 0, other, immediate: 1)
      a.vector(.vpackssdw, .xmm, sum, sum, other)
      a.vector(.vmovupsStore, .xmm, sum, 0, Memory(.rdx))
    }
    a.add(.rax, width.byteCount)
    a.add(.rcx, width.byteCount)
    a.add(.rdx, width.byteCount / 2)
    a.decrement(.r8)
    a.jump(.notEqual, next)
    a.zeroUpper()
    a.return()
    return a.finish()
  }
}

extension X86Target {
  /// The code of a recurrent layer; throws if there is none, or no memory for code.
  func recurrence(tangentBits: [Int], wordCount: Int) throws(Decline) -> RecurrentCode {
    // A lane of the formula has two `int16` values. Vectors that no layer fills get no code.
    let vectors = wordCount / 2 / lanes
    func code(of function: X86WordFunction) throws(Decline) -> FormulaCode {
      var program = X86WordProgram()
      let result = program.write(function)
      return try self.code(program.steps, result, of: [.float], to: .float, vectors: vectors)
    }
    var tangents: [RecurrentCode.Tangent] = []
    for bits in tangentBits where !tangents.contains(where: { $0.integerBits == bits }) {
      tangents.append(.init(integerBits: bits, code: try code(of: .tangent(integerBits: bits))))
    }
    return try RecurrentCode(
      lanes: lanes, hasMasks: self == .avx512, products: X86RecurrentProductGenerator(target: self),
      rescaling: X86RecurrentRescalingGenerator(target: self), logistic: try code(of: .logistic),
      tangents: tangents)
  }
}
