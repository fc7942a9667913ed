// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generates elementwise products of quantized bytes in single precision, two vectors of `int16` at a time.
///
/// A product of two distances from zero points has 17 bits, which a float holds. Multiplied by the factor, with an offset of
/// its sign added and the fraction cut off, it is a result: see ``SinglePrecisionFactor``.
struct X86SingleProductGenerator: X86ByteGenerator, Hashable {
  struct Arguments: X86ByteArguments {
    var lhs = 0
    var rhs = 0
    var output = 0
    var blocks = 0
    var factor: Float = 0
    var rest: Float = 0
    var offset: Float = 0
    var sign: UInt32 = 1 << 31
    var lhsZeroPoint: Int16 = 0
    var rhsZeroPoint: Int16 = 0
    var zeroPoint: Int16 = 0
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
  /// Whether the factor has a second float.
  let hasRest: Bool

  private typealias General = X86Assembler.General
  private typealias Memory = X86Assembler.Memory
  private typealias A = Arguments
  private var width: X86Assembler.Width { target.width }
  var blockLength: Int { width.byteCount }

  // Registers of constants. Two results and their temporaries have the registers below.
  private let factor = 6
  private let offset = 7
  private let sign = 8
  private let lhsZeroPoint = 9
  private let rhsZeroPoint = 10
  private let zeroPoint = 11
  private let order = 12
  private let minimum = 13
  private let maximum = 14
  private let rest = 15

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    a.load(.rax, .init(.rdi, A.offset(\.lhs)))
    a.load(.rcx, .init(.rdi, A.offset(\.rhs)))
    a.load(.rdx, .init(.rdi, A.offset(\.output)))
    a.load(.rsi, .init(.rdi, A.offset(\.blocks)))
    for (register, place) in [
      (factor, A.offset(\.factor)), (offset, A.offset(\.offset)), (sign, A.offset(\.sign)),
    ] { a.vector(.vbroadcastss, width, register, 0, Memory(.rdi, place)) }
    if hasRest { a.vector(.vbroadcastss, width, rest, 0, Memory(.rdi, A.offset(\.rest))) }
    for (register, place) in [
      (lhsZeroPoint, A.offset(\.lhsZeroPoint)), (rhsZeroPoint, A.offset(\.rhsZeroPoint)),
      (zeroPoint, A.offset(\.zeroPoint)),
    ] { a.vector(.vpbroadcastw, width, register, 0, Memory(.rdi, place)) }
    a.vector(.vpbroadcastb, width, minimum, 0, Memory(.rdi, A.offset(\.minimum)))
    a.vector(.vpbroadcastb, width, maximum, 0, Memory(.rdi, A.offset(\.maximum)))
    a.vector(.vpmovzxbd, width, order, 0, Memory(.rdi, A.offset(\.order)))
    if lhsIsBroadcast { loadStaying(&a, lhsZeroPoint, .rax) }
    if rhsIsBroadcast { loadStaying(&a, rhsZeroPoint, .rcx) }
    let next = a.loopHead()
    for part in 0..<2 { self.part(&a, part) }
    a.vector(isSigned ? .vpacksswb : .vpackuswb, width, 0, 0, 1)
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

  /// Computes a vector of results, as `int16`.
  private func part(_ a: inout X86Assembler, _ part: Int) {
    let (low, high) = (2, 3)
    let lhs = lhsIsBroadcast ? lhsZeroPoint : low
    let rhs = rhsIsBroadcast ? rhsZeroPoint : high
    if !lhsIsBroadcast { load(&a, lhs, .rax, part: part, zeroPoint: lhsZeroPoint) }
    if !rhsIsBroadcast { load(&a, rhs, .rcx, part: part, zeroPoint: rhsZeroPoint) }
    // Interleaves the halves of products: the first four of each 128-bit lane, then the others. Packing restores their order.
    a.vector(.vpmullw, width, 4, lhs, rhs)
    a.vector(.vpmulhw, width, 5, lhs, rhs)
    a.vector(.vpunpcklwd, width, low, 4, 5)
    a.vector(.vpunpckhwd, width, high, 4, 5)
    for (value, spare) in [(low, 4), (high, 5)] {
      a.vector(.vcvtdq2ps, width, value, 0, value)
      a.vector(.vpand, width, spare, value, sign)
      a.vector(.vpor, width, spare, spare, offset)
      if hasRest {
        a.vector(.vfmadd231ps, width, spare, value, rest)
        a.cuttingOff(.vfmadd213ps, value, factor, spare)
      } else {
        a.vector(.vfmadd213ps, width, value, factor, spare)
      }
      a.vector(.vcvttps2dq, width, value, 0, value)
    }
    a.vector(.vpackssdw, width, part, low, high)
    a.vector(.vpaddsw, width, part, part, zeroPoint)
  }

  /// Loads the distances of bytes from the zero point.
  private func load(_ a: inout X86Assembler, _ value: Int, _ from: General, part: Int, zeroPoint: Int) {
    a.vector(
      isSigned ? .vpmovsxbw : .vpmovzxbw, width, value, 0, Memory(from, part * width.byteCount / 2))
    a.vector(.vpsubw, width, value, value, zeroPoint)
  }

  /// Replaces the zero point by the distance of one byte from it, broadcast.
  private func loadStaying(_ a: inout X86Assembler, _ zeroPoint: Int, _ from: General) {
    a.vector(.vpbroadcastb, .ymm, 0, 0, Memory(from))
    a.vector(isSigned ? .vpmovsxbw : .vpmovzxbw, width, 0, 0, 0)
    a.vector(.vpsubw, width, zeroPoint, 0, zeroPoint)
  }
}
