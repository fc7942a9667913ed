// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generates elementwise sums of quantized bytes in single precision, four vectors at a time.
///
/// A sum is `round(c + a·x + b·y)`, added in that order. ``X86LinearSum`` finds out whether its coefficients give the bytes of
/// ``X86SumGenerator``.
struct X86LinearSumGenerator: X86ByteGenerator, Hashable {
  struct Arguments: X86ByteArguments {
    var lhs = 0
    var rhs = 0
    var output = 0
    var blocks = 0
    var lhsFactor: Float = 0
    var rhsFactor: Float = 0
    /// The constant term.
    var base: Float = 0
    /// The minimum result, as a byte.
    var minimum: UInt8 = 0
    /// The maximum result, as a byte.
    var maximum: UInt8 = 0
    /// The permutation of 32-bit lanes, a byte for each, that undoes in-lane packing.
    var order: (UInt64, UInt64) = (0, 0)
  }

  let target: X86Target
  let isSigned: Bool
  var lhsIsBroadcast: Bool
  var rhsIsBroadcast: Bool

  private typealias General = X86Assembler.General
  private typealias Memory = X86Assembler.Memory
  private typealias A = Arguments
  private var width: X86Assembler.Width { target.width }
  var blockLength: Int { width.byteCount }

  // Registers of constants. Four results and the operands of two vectors in turn have the registers below.
  private var lhsFactor: Int { 8 }
  private var rhsFactor: Int { 9 }
  private var base: Int { 10 }
  private var order: Int { 11 }
  private var minimum: Int { 12 }
  private var maximum: Int { 13 }
  private var lhsStaying: Int { 14 }
  private var rhsStaying: Int { 15 }

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    a.load(.rax, .init(.rdi, A.offset(\.lhs)))
    a.load(.rcx, .init(.rdi, A.offset(\.rhs)))
    a.load(.rdx, .init(.rdi, A.offset(\.output)))
    a.load(.rsi, .init(.rdi, A.offset(\.blocks)))
    a.vector(.vbroadcastss, width, lhsFactor, 0, Memory(.rdi, A.offset(\.lhsFactor)))
    a.vector(.vbroadcastss, width, rhsFactor, 0, Memory(.rdi, A.offset(\.rhsFactor)))
    a.vector(.vbroadcastss, width, base, 0, Memory(.rdi, A.offset(\.base)))
    a.vector(.vpbroadcastb, width, minimum, 0, Memory(.rdi, A.offset(\.minimum)))
    a.vector(.vpbroadcastb, width, maximum, 0, Memory(.rdi, A.offset(\.maximum)))
    a.vector(.vpmovzxbd, width, order, 0, Memory(.rdi, A.offset(\.order)))
    if lhsIsBroadcast { load(&a, lhsStaying, .rax, part: nil) }
    if rhsIsBroadcast { load(&a, rhsStaying, .rcx, part: nil) }
    let next = a.loopHead()
    for part in 0..<4 { self.part(&a, part) }
    a.vector(.vpackssdw, width, 0, 0, 1)
    a.vector(.vpackssdw, width, 2, 2, 3)
    a.vector(isSigned ? .vpacksswb : .vpackuswb, width, 0, 0, 2)
    a.vector(isSigned ? .vpmaxsb : .vpmaxub, width, 0, 0, minimum)
    a.vector(isSigned ? .vpminsb : .vpminub, width, 0, 0, maximum)
    a.vector(.vpermd, width, 0, order, 0)
    a.vector(.vmovdquStore, width, 0, 0, Memory(.rdx))
    if !lhsIsBroadcast { a.add(.rax, width.byteCount) }
    if !rhsIsBroadcast { a.add(.rcx, width.byteCount) }
    a.add(.rdx, width.byteCount)
    a.decrement(.rsi)
    a.jump(.notEqual, next)
    a.zeroUpper()
    a.return()
    return a.finish()
  }

  /// Computes a vector of results, as integers.
  private func part(_ a: inout X86Assembler, _ part: Int) {
    let own = 4 + part % 2 * 2
    let (lhs, rhs) = (lhsIsBroadcast ? lhsStaying : own, rhsIsBroadcast ? rhsStaying : own + 1)
    if !lhsIsBroadcast { load(&a, lhs, .rax, part: part) }
    if !rhsIsBroadcast { load(&a, rhs, .rcx, part: part) }
    a.vector(.vmovdqu, width, part, 0, base)
    a.vector(.vfmadd231ps, width, part, lhs, lhsFactor)
    a.vector(.vfmadd231ps, width, part, rhs, rhsFactor)
    a.vector(.vcvtps2dq, width, part, 0, part)
  }

  /// Loads a vector of bytes as floats, or broadcasts one.
  private func load(_ a: inout X86Assembler, _ value: Int, _ from: General, part: Int?) {
    let widening: X86Assembler.Instruction = isSigned ? .vpmovsxbd : .vpmovzxbd
    if let part {
      a.vector(widening, width, value, 0, Memory(from, part * target.lanes))
    } else {
      a.vector(.vpbroadcastb, .xmm, value, 0, Memory(from))
      a.vector(widening, width, value, 0, value)
    }
    a.vector(.vcvtdq2ps, width, value, 0, value)
  }
}
