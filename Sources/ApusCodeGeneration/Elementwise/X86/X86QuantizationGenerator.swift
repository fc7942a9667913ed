// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates the quantization of rows of floats at run time.
struct X86QuantizationGenerator: CodeGenerator, Hashable {
  enum Result: Hashable {
    /// The minimum and the maximum of each row.
    case extremes
    /// `int16` differences from the zero point.
    case words
    /// Unsigned bytes: quantized values with their zero point added.
    case bytes
  }

  let target: X86Target
  let result: Result

  private typealias A = QuantizationCode.Arguments
  private typealias Row = QuantizationCode.RowParameters
  private typealias Memory = X86Assembler.Memory

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    a.load(.rax, .init(.rdi, A.offset(\.values)))
    a.load(.r8, .init(.rdi, A.offset(\.rows)))
    a.load(.rdx, .init(.rdi, A.offset(\.result)))
    if result != .extremes { loadConstants(&a) }
    let nextRow = a.loopHead()
    a.load(.rcx, .init(.rdi, A.offset(\.steps)))
    if result == .extremes { writeExtremes(&a) } else { writeLanes(&a) }
    a.decrement(.r8)
    a.jump(.notEqual, nextRow)
    a.zeroUpper()
    a.return()
    return a.finish()
  }

  /// A loop over the steps of a row. AVX-512 does two steps at a time with 512 bits, and the last of an odd number with 256.
  private func forEachStep(_ a: inout X86Assembler, _ body: (inout X86Assembler, X86Assembler.Width) -> Void)
  {
    guard target == .avx512 else {
      let next = a.loopHead()
      body(&a, .ymm)
      a.decrement(.rcx)
      a.jump(.notEqual, next)
      return
    }
    let (last, done) = (a.makeLabel(), a.makeLabel())
    a.subtract(.rcx, 2)
    a.jump(.less, last)
    let next = a.loopHead()
    body(&a, .zmm)
    a.subtract(.rcx, 2)
    a.jump(.greaterOrEqual, next)
    a.place(last)
    a.compare(.rcx, -1)
    a.jump(.notEqual, done)
    body(&a, .ymm)
    a.place(done)
  }

  // MARK: Extremes

  /// Finds minimum and maximum in four vectors each, so that no instruction waits for the one before it.
  private func writeExtremes(_ a: inout X86Assembler) {
    let width = target.width
    for part in 0..<4 {
      a.vector(.vbroadcastss, width, part, 0, Memory(.rdi, A.offset(\.infinity)))
      a.vector(.vbroadcastss, width, 4 + part, 0, Memory(.rdi, A.offset(\.negativeInfinity)))
    }
    forEachStep(&a) { a, stepWidth in
      for part in 0..<(4 * stepWidth.byteCount / width.byteCount) {
        a.vector(.vmovups, width, 8 + part, 0, Memory(.rax, width.byteCount * part))
        // The second source is the extreme so far, which the instructions return if the value is NaN.
        a.vector(.vminps, width, part, 8 + part, part)
        a.vector(.vmaxps, width, 4 + part, 8 + part, 4 + part)
      }
      a.add(.rax, 4 * stepWidth.byteCount)
    }
    for (first, second) in [(0, 1), (2, 3), (0, 2)] {
      a.vector(.vminps, width, first, first, second)
      a.vector(.vmaxps, width, 4 + first, 4 + first, 4 + second)
    }
    a.foldLanes(0, width, .vminps, spare: 8)
    a.foldLanes(4, width, .vmaxps, spare: 8)
    a.vector(.vmovdStore, .xmm, 0, 0, Memory(.rdx))
    a.vector(.vmovdStore, .xmm, 4, 0, Memory(.rdx, 4))
    a.add(.rdx, 8)
  }

  // MARK: int16 and bytes

  // Registers.
  private var inverse: Int { 8 }
  /// The minimum result: a float for `int16`, otherwise a byte.
  private var least: Int { 9 }
  private var most: Int { 10 }
  private var sign: Int { 11 }
  private var half: Int { 12 }
  private var zeroPoints: Int { 13 }
  private var order: Int { 14 }
  private var wideOrder: Int { 15 }

  private func loadConstants(_ a: inout X86Assembler) {
    let width = target.width
    a.load(.rsi, .init(.rdi, A.offset(\.parameters)))
    a.vector(.vbroadcastss, width, sign, 0, Memory(.rdi, A.offset(\.sign)))
    a.vector(.vbroadcastss, width, half, 0, Memory(.rdi, A.offset(\.belowHalf)))
    a.vector(.vpmovzxbd, .ymm, order, 0, Memory(.rdi, A.offset(\.order)))
    if width == .zmm { a.vector(.vpmovzxbd, width, wideOrder, 0, Memory(.rdi, A.offset(\.wideOrder))) }
  }

  private func writeLanes(_ a: inout X86Assembler) {
    let width = target.width
    a.vector(.vbroadcastss, width, inverse, 0, Memory(.rsi, Row.offset(\.inverse)))
    a.vector(.vbroadcastss, width, most, 0, Memory(.rsi, Row.offset(\.most)))
    if result == .bytes {
      a.vector(.vbroadcastss, width, least, 0, Memory(.rsi, Row.offset(\.minimumBytes)))
      a.vector(.vpbroadcastw, width, zeroPoints, 0, Memory(.rsi, Row.offset(\.zeroPoint)))
    } else {
      a.vector(.vbroadcastss, width, least, 0, Memory(.rsi, Row.offset(\.least)))
    }
    a.add(.rsi, MemoryLayout<Row>.stride)
    forEachStep(&a) { a, width in
      for part in 0..<4 {
        a.vector(.vmulps, width, part, inverse, Memory(.rax, width.byteCount * part))
        // The bounds are integers, so that clamping may precede rounding. For `int16`, NaN becomes the lower bound; for bytes,
        // the minimum integer, which saturates.
        if result == .words { a.vector(.vmaxps, width, part, part, least) }
        a.vector(.vminps, width, part, most, part)
        writeHalf(&a, width, of: part, to: 4 + part)
        a.vector(.vaddps, width, part, part, 4 + part)
        a.vector(.vcvttps2dq, width, part, 0, part)
      }
      if result == .bytes { writeBytes(&a, width) } else { writeWords(&a, width) }
      a.add(.rax, 4 * width.byteCount)
      a.add(.rdx, (result == .bytes ? 1 : 2) * width.byteCount)
    }
  }

  /// Writes almost one half, with the signs of a vector's lanes.
  private func writeHalf(_ a: inout X86Assembler, _ width: X86Assembler.Width, of part: Int, to halves: Int) {
    guard target == .avx512 else {
      a.vector(.vpand, width, halves, part, sign)
      return a.vector(.vpor, width, halves, halves, half)
    }
    // (x ∧ sign) ∨ half
    a.vector(.vmovups, width, halves, 0, part)
    a.vector(.vpternlogd, width, halves, sign, half, immediate: 0xEA)
  }

  private func writeWords(_ a: inout X86Assembler, _ width: X86Assembler.Width) {
    for pair in 0..<2 {
      a.vector(.vpackssdw, width, pair, 2 * pair, 2 * pair + 1)
      a.vector(.vpermq, width, pair, 0, pair, immediate: 0xD8)
      a.vector(.vmovdquStore, width, pair, 0, Memory(.rdx, width.byteCount * pair))
    }
  }

  /// Packs lanes to bytes. Saturation and an integer maximum apply the lower bound, so that floats need none.
  private func writeBytes(_ a: inout X86Assembler, _ width: X86Assembler.Width) {
    for pair in 0..<2 {
      a.vector(.vpackssdw, width, pair, 2 * pair, 2 * pair + 1)
      a.vector(.vpaddw, width, pair, pair, zeroPoints)
    }
    a.vector(.vpackuswb, width, 0, 0, 1)
    a.vector(.vpmaxub, width, 0, 0, least)
    a.vector(.vpermd, width, 0, width == .zmm ? wideOrder : order, 0)
    a.vector(.vmovdquStore, width, 0, 0, Memory(.rdx))
  }
}

extension X86Target {
  func quantization(makesBytes: Bool) throws(Decline) -> QuantizationCode {
    // `int16` is for products without VNNI, 256 bits at a time.
    let target = makesBytes ? self : .avx2
    let code = QuantizationCode(
      extremes: try unsafe CodeFunction(X86QuantizationGenerator(target: target, result: .extremes)),
      lanes: try unsafe CodeFunction(
        X86QuantizationGenerator(target: target, result: makesBytes ? .bytes : .words)))
    ExecutableMemory.seal()
    return code
  }
}
