// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates elementwise sums, differences, squared differences and products of quantized bytes, sixteen at a time.
///
/// Sums rescale each operand to the common scale and the sum to the result's, as the reference does: a product with a
/// multiplier of 31 bits, rounded, and a shift to the right, rounded again.
struct X86SumGenerator: X86ByteGenerator, Hashable {
  /// The operation on two operands.
  enum Kind: Hashable {
    case sum
    case difference
    case squaredDifference
    case product

    /// The bits by which operands are shifted left before they are multiplied.
    var leftShift: Int { self == .squaredDifference ? 7 : 20 }
  }

  struct Arguments: X86ByteArguments {
    var lhs = 0
    var rhs = 0
    var output = 0
    var blocks = 0
    /// The address of the constants, see ``X86SumFactors``.
    var factors: Int
  }

  let target: X86Target
  let kind: Kind
  let isSigned: Bool
  var lhsIsBroadcast: Bool
  var rhsIsBroadcast: Bool
  /// Whether the first operand's multiplier is one half, as that of the operand with the larger scale is.
  var lhsHalves = false
  /// Whether the second operand's multiplier is one half, as that of the operand with the larger scale is.
  var rhsHalves = false
  /// Whether the first operand's multiplier has a shift. One of zero bits is left out, as its rounding would change negative
  /// values.
  let lhsShifts: Bool
  /// Whether the second operand's multiplier has a shift.
  let rhsShifts: Bool
  /// Whether the result's multiplier has a shift.
  let outputShifts: Bool

  /// The number of elements computed at a time.
  static let blockLength = 16
  var blockLength: Int { Self.blockLength }

  private typealias General = X86Assembler.General
  private var width: X86Assembler.Width { target.width }
  private var lanes: Int { target.lanes }
  private var register: (half: Int, spare: Int) { (15, 14) }
  private var bytes: Int { width.byteCount }

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    a.load(.rax, .init(.rdi, 0))
    a.load(.rcx, .init(.rdi, 8))
    a.load(.rdx, .init(.rdi, 16))
    a.load(.rsi, .init(.rdi, 24))
    a.load(.r8, .init(.rdi, 32))
    if target == .avx512 {
      a.move(.r9, 0xAAAA)
      a.moveMask(1, .r9)
    }
    a.vector(.vmovdqu, width, register.half, 0, .init(.r8, X86SumFactors.half))
    let next = a.loopHead()
    for part in 0..<16 / lanes {
      let (lhs, rhs) = (4 * part, 4 * part + 1)
      load(&a, lhs, .rax, part: part, stays: lhsIsBroadcast, zeroPoint: X86SumFactors.lhsZeroPoint)
      load(&a, rhs, .rcx, part: part, stays: rhsIsBroadcast, zeroPoint: X86SumFactors.rhsZeroPoint)
      switch kind {
      case .product: a.vector(.vpmulld, width, lhs, lhs, rhs)
      case .sum, .difference, .squaredDifference:
        scaleOperand(&a, lhs, part, X86SumFactors.lhs, shifts: lhsShifts, halves: lhsHalves)
        scaleOperand(&a, rhs, part, X86SumFactors.rhs, shifts: rhsShifts, halves: rhsHalves)
        a.vector(kind == .sum ? .vpaddd : .vpsubd, width, lhs, lhs, rhs)
        if kind == .squaredDifference { a.vector(.vpmulld, width, lhs, lhs, lhs) }
      }
      scale(&a, lhs, part, X86SumFactors.output, shifts: outputShifts)
    }
    store(&a)
    if !lhsIsBroadcast { a.add(.rax, 16) }
    if !rhsIsBroadcast { a.add(.rcx, 16) }
    a.add(.rdx, 16)
    a.decrement(.rsi)
    a.jump(.notEqual, next)
    a.zeroUpper()
    a.return()
    return a.finish()
  }

  /// Widens bytes to 32 bits and takes their distance from the zero point.
  private func load(
    _ a: inout X86Assembler, _ value: Int, _ base: X86Assembler.General, part: Int, stays: Bool,
    zeroPoint: Int
  ) {
    let widening: X86Assembler.Instruction = isSigned ? .vpmovsxbd : .vpmovzxbd
    if stays {
      a.vector(.vpbroadcastb, .xmm, value, 0, .init(base))
      a.vector(widening, width, value, 0, value)
    } else {
      a.vector(widening, width, value, 0, .init(base, part * lanes))
    }
    a.vector(.vpsubd, width, value, value, .init(.r8, zeroPoint))
  }

  /// Rescales an operand `x = 2ˢ·d` to the common scale, with the result of ``scale(_:_:_:_:shifts:)``. `d` is the distance of
  /// a byte from its zero point, below 2⁸ in magnitude.
  ///
  /// With `m = 2¹⁵·h + l`, the result is `(d·m + 2³⁰⁻ˢ) >> (31 − s)`: for s = 20, `2⁴·d·h + ((d·l + 2¹⁰) >> 11)`, and for s =
  /// 7, `(d·h + ((d·l + 2²³) >> 15)) >> 9`. No intermediate value exceeds 2²⁸. For a multiplier of one half, it is `2ˢ⁻¹·d`.
  private func scaleOperand(
    _ a: inout X86Assembler, _ value: Int, _ part: Int, _ factor: Int, shifts: Bool, halves: Bool
  ) {
    guard !halves else {
      a.shift(.shiftDoubles, digit: 6, width, value, value, by: UInt8(kind.leftShift - 1))
      return
    }
    let (high, spare) = (4 * part + 2, 4 * part + 3)
    a.vector(.vpmulld, width, high, value, .init(.r8, factor + X86SumFactors.high))
    a.vector(.vpmulld, width, value, value, .init(.r8, factor + X86SumFactors.low))
    a.vector(.vpaddd, width, value, value, .init(.r8, X86SumFactors.smallHalf))
    let rest = 31 - kind.leftShift
    a.shift(.shiftDoubles, digit: 4, width, value, value, by: UInt8(min(rest, 15)))
    a.vector(.vpaddd, width, value, value, high)
    if rest > 15 { a.shift(.shiftDoubles, digit: 4, width, value, value, by: UInt8(rest - 15)) }
    if shifts { shiftRight(&a, value, spare, factor) }
  }

  /// Computes `(x·m + 2³⁰) >> 31` for even and odd lanes separately, then `(y + 2ᵉ⁻¹ − (y < 0)) >> e`.
  private func scale(_ a: inout X86Assembler, _ value: Int, _ part: Int, _ factor: Int, shifts: Bool) {
    let (even, odd) = (4 * part + 2, 4 * part + 3)
    let multiplier = X86Assembler.Memory(.r8, factor)
    a.shift(.shiftQuads, digit: 2, width, odd, value, by: 32)
    a.vector(.vpmuldq, width, even, value, multiplier)
    a.vector(.vpmuldq, width, odd, odd, multiplier)
    a.vector(.vpaddq, width, even, even, register.half)
    a.vector(.vpaddq, width, odd, odd, register.half)
    a.shift(.shiftQuads, digit: 2, width, even, even, by: 31)
    a.vector(.vpaddq, width, odd, odd, odd)
    if target == .avx512 {
      a.vector(.vpblendmd, width, value, even, odd, mask: .init(1))
    } else {
      a.vector(.vpblendd, width, value, even, odd, immediate: 0xAA)
    }
    if shifts { shiftRight(&a, value, even, factor) }
  }

  /// Computes `(y + 2ᵉ⁻¹ − (y < 0)) >> e`.
  private func shiftRight(_ a: inout X86Assembler, _ value: Int, _ spare: Int, _ factor: Int) {
    a.shift(.shiftDoubles, digit: 4, width, spare, value, by: 31)
    a.vector(.vpaddd, width, value, value, .init(.r8, factor + X86SumFactors.rounding))
    a.vector(.vpaddd, width, value, value, spare)
    a.vector(.vpsravd, width, value, value, .init(.r8, factor + X86SumFactors.shift))
  }

  /// Stores sixteen 32-bit values as bytes.
  private func store(_ a: inout X86Assembler) {
    let words: X86Assembler.Width = .ymm
    if target == .avx512 {
      a.vector(.vpmovsdw, width, 0, 0, 0)
    } else {
      a.vector(.vpackssdw, width, 0, 0, 4)
      a.vector(.vpermq, width, 0, 0, 0, immediate: 0xD8)
    }
    a.vector(.vpaddsw, words, 0, 0, .init(.r8, X86SumFactors.zeroPoint))
    a.vector(.vpmaxsw, words, 0, 0, .init(.r8, X86SumFactors.minimum))
    a.vector(.vpminsw, words, 0, 0, .init(.r8, X86SumFactors.maximum))
    if target == .avx512 {
      a.vector(.vpmovwb, words, 0, 0, 0)
    } else {
      a.vector(isSigned ? .vpacksswb : .vpackuswb, words, 0, 0, 0)
      a.vector(.vpermq, words, 0, 0, 0, immediate: 0x08)
    }
    a.vector(.vmovdquStore, .xmm, 0, 0, .init(.rdx))
  }
}

/// The constants of a generated sum: vectors of 64 bytes, each with one value in all lanes.
@safe final class X86SumFactors: @unchecked Sendable {
  // @unchecked: written by `init` alone.

  static let half = 0
  static let lhsZeroPoint = 64
  static let rhsZeroPoint = 128
  static let zeroPoint = 192
  static let minimum = 256
  static let maximum = 320
  /// The offset of 2³⁰⁻ˢ, where operands are shifted left by s bits.
  static let smallHalf = 384
  /// The offset of the first operand's multiplier, which is followed by its rounding, its shift and its two parts.
  static let lhs = 448
  /// The offset of the second operand's multiplier, which is followed by its rounding, its shift and its two parts.
  static let rhs = 768
  /// The offset of the result's multiplier, which is followed by its rounding, its shift and its two parts.
  static let output = 1088
  static let rounding = 64
  static let shift = 128
  /// The offset, after a multiplier, of the upper 16 of its 31 bits, shifted left by s − 16 bits if s exceeds 16.
  static let high = 192
  /// The offset, after a multiplier, of its lower 15 bits.
  static let low = 256
  private static let byteCount = 1408

  let address: UnsafeMutableRawPointer

  init(lhs: QuantizedOperand, rhs: QuantizedOperand, output: QuantizedResult, leftShift: Int) {
    unsafe address = .allocate(byteCount: Self.byteCount, alignment: 64)
    unsafe address.initializeMemory(as: UInt8.self, repeating: 0, count: Self.byteCount)
    fill(Self.half, Int64(1) << 30)
    fill(Self.smallHalf, Int32(1) << (30 - leftShift))
    fill(Self.lhsZeroPoint, lhs.zeroPoint)
    fill(Self.rhsZeroPoint, rhs.zeroPoint)
    fill(Self.zeroPoint, Int16(truncatingIfNeeded: output.zeroPoint))
    fill(Self.minimum, Int16(truncatingIfNeeded: output.minimum))
    fill(Self.maximum, Int16(truncatingIfNeeded: output.maximum))
    for (place, multiplier) in [
      (Self.lhs, lhs.multiplier), (Self.rhs, rhs.multiplier), (Self.output, output.multiplier),
    ] {
      let shift = min(31, max(0, 0 - multiplier.shift))
      fill(place, multiplier.value)
      fill(place + Self.rounding, shift > 0 ? Int32(1) << (shift - 1) : 0)
      fill(place + Self.shift, shift)
      fill(place + Self.high, (multiplier.value >> 15) << max(0, leftShift - 16))
      fill(place + Self.low, multiplier.value & 0x7FFF)
    }
  }

  deinit {
    unsafe address.deallocate()
  }

  private func fill<Value: BitwiseCopyable>(_ place: Int, _ value: Value) {
    for offset in stride(from: 0, to: 64, by: MemoryLayout<Value>.size) {
      unsafe address.storeBytes(of: value, toByteOffset: place + offset, as: Value.self)
    }
  }
}
