// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates a reduction of taps, see ``TapReduction``.
///
/// Four vectors are computed at a time, at equal distances: neighbors in a row or a pixel, or equal channels
/// of neighboring pixels.
struct X86PoolingGenerator: CodeGenerator, Hashable {
  let target: X86Target
  let reduction: TapReduction

  private typealias Memory = X86Assembler.Memory
  private typealias A = TapReductionCode.Arguments

  private static let vectorsAtOnce = 4
  private static let kept: [X86Assembler.General] = [.rbx, .r12, .r13, .r14, .r15]
  // Registers: the accumulator of each vector, a tap of each, then constants.
  private let least = 8
  private let most = 9
  private let factor = 10
  private let rounding = 11
  private let halves = 12
  private let flip = 13
  private let shift = 14

  private var width: X86Assembler.Width { reduction.width == 64 ? .zmm : reduction.width == 32 ? .ymm : .xmm }
  private var makesBytes: Bool { reduction.resultByteCount < reduction.operation.byteCounts.kept }

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    a.load(.rax, .init(.rdi, A.offset(\.source)))
    a.load(.rdx, .init(.rdi, A.offset(\.target)))
    for register in Self.kept { a.push(register) }
    a.load(.r12, .init(.rdi, A.offset(\.pixels)))
    a.load(.r13, .init(.rdi, A.offset(\.sourcePixelStep)))
    a.load(.r14, .init(.rdi, A.offset(\.targetPixelStep)))
    a.load(.r15, .init(.rdi, A.offset(\.count)))
    a.load(.r9, .init(.rdi, A.offset(\.sourceStep)))
    a.load(.r10, .init(.rdi, A.offset(\.targetStep)))
    a.load(.rsi, .init(.rdi, A.offset(\.taps)))
    a.load(.r11, .init(.rdi, A.offset(\.tapsEnd)))
    loadConstants(&a)
    a.address(.rbx, Memory(.r9, index: .r9, scale: 2))

    let nextPixel = a.loopHead()
    a.push(.rax)
    a.push(.rdx)
    a.move(.r8, .r15)
    let (rest, done) = (a.makeLabel(), a.makeLabel())
    a.subtract(.r8, Self.vectorsAtOnce)
    a.jump(.less, rest)
    let next = a.loopHead()
    block(&a, vectors: Self.vectorsAtOnce)
    a.address(.rax, Memory(.rax, index: .r9, scale: Self.vectorsAtOnce))
    a.subtract(.r8, Self.vectorsAtOnce)
    a.jump(.greaterOrEqual, next)
    a.place(rest)
    a.add(.r8, Self.vectorsAtOnce)
    a.jump(.equal, done)
    let single = a.loopHead()
    block(&a, vectors: 1)
    a.add(.rax, .r9)
    a.decrement(.r8)
    a.jump(.notEqual, single)
    a.place(done)
    a.pop(.rdx)
    a.pop(.rax)
    a.add(.rax, .r13)
    a.add(.rdx, .r14)
    a.decrement(.r12)
    a.jump(.notEqual, nextPixel)
    a.zeroUpper()
    for register in Self.kept.reversed() { a.pop(register) }
    a.return()
    return a.finish()
  }

  private func loadConstants(_ a: inout X86Assembler) {
    func load(_ register: Int, _ field: Int) {
      a.vector(.vpbroadcastd, width, register, 0, Memory(.rdi, field))
    }
    load(least, A.offset(\.least))
    load(most, A.offset(\.most))
    guard
      reduction.result == .product || reduction.result == .quotient || reduction.operation == .greatestFloats
    else { return }
    load(factor, A.offset(\.factor))
    guard makesBytes else { return }
    load(rounding, A.offset(\.rounding))
    load(halves, A.offset(\.halves))
    load(flip, A.offset(\.flip))
    a.vector(.vmovups, .xmm, shift, 0, Memory(.rdi, A.offset(\.shift)))
  }

  /// Computes `vectors` vectors and advances the target.
  private func block(_ a: inout X86Assembler, vectors: Int) {
    for vector in 0..<vectors { begin(&a, vector) }
    a.move(.rdi, .rsi)
    let next = a.loopHead(alignment: 16)
    a.load(.rcx, Memory(.rdi))
    a.add(.rdi, 8)
    a.add(.rcx, .rax)
    let places = [
      Memory(.rcx), Memory(.rcx, index: .r9), Memory(.rcx, index: .r9, scale: 2), Memory(.rcx, index: .rbx),
    ]
    for vector in 0..<vectors { take(&a, vector, places[vector]) }
    a.compare(.rdi, .r11)
    a.jump(.notEqual, next)
    for vector in 0..<vectors {
      finish(&a, vector)
      a.add(.rdx, .r10)
    }
  }

  private func begin(_ a: inout X86Assembler, _ kept: Int) {
    switch reduction.operation {
    case .greatestUnsignedBytes, .greatestSignedBytes: a.vector(.vmovups, width, kept, 0, least)
    // From the lower bound, a maximum of −0 would be the 0 of a rectifier.
    case .greatestFloats: a.vector(.vmovups, width, kept, 0, factor)
    case .sumOfUnsignedBytes, .sumOfSignedBytes, .sumOfWords, .sumOfFloats: a.zeroVector(kept, width)
    }
  }

  /// Combines a tap with an accumulator.
  private func take(_ a: inout X86Assembler, _ kept: Int, _ place: Memory) {
    let tap = kept + Self.vectorsAtOnce
    switch reduction.operation {
    case .greatestUnsignedBytes: a.vector(.vpmaxub, width, kept, kept, place)
    case .greatestSignedBytes: a.vector(.vpmaxsb, width, kept, kept, place)
    case .greatestFloats:
      // Skips NaN: the accumulator is the second source.
      a.vector(.vmovups, width, tap, 0, place)
      a.vector(.vmaxps, width, kept, tap, kept)
    case .sumOfUnsignedBytes, .sumOfSignedBytes:
      a.vector(reduction.operation == .sumOfSignedBytes ? .vpmovsxbw : .vpmovzxbw, width, tap, 0, place)
      a.vector(.vpaddw, width, kept, kept, tap)
    case .sumOfWords: a.vector(.vpaddw, width, kept, kept, place)
    case .sumOfFloats: a.vector(.vaddps, width, kept, kept, place)
    }
  }

  /// Computes a vector of results from an accumulator and stores it.
  private func finish(_ a: inout X86Assembler, _ kept: Int) {
    switch (reduction.result, reduction.operation) {
    case (.bounded, .greatestUnsignedBytes): a.vector(.vpminub, width, kept, kept, most)
    case (.bounded, .greatestSignedBytes): a.vector(.vpminsb, width, kept, kept, most)
    case (.bounded, .greatestFloats):
      // The second source is the result if both are zeros.
      a.vector(.vmaxps, width, kept, least, kept)
      a.vector(.vminps, width, kept, most, kept)
    case (.product, .sumOfFloats), (.quotient, .sumOfFloats):
      a.vector(reduction.result == .product ? .vmulps : .vdivps, width, kept, kept, factor)
      // The second source is the result if it is NaN.
      a.vector(.vmaxps, width, kept, least, kept)
      a.vector(.vminps, width, kept, most, kept)
    case (.product, _): return finishBytes(&a, kept)
    default: break
    }
    a.vector(.vmovupsStore, width, kept, 0, Memory(.rdx))
  }

  /// Computes bytes from 16-bit sums by ``WordMean`` and stores them.
  private func finishBytes(_ a: inout X86Assembler, _ kept: Int) {
    let spare = kept + Self.vectorsAtOnce
    a.shift(.shiftWords, digit: 4, width, spare, kept, by: 15)
    a.vector(.vpand, width, spare, spare, halves)
    a.vector(.vpaddw, width, kept, kept, rounding)
    a.vector(.vpaddw, width, kept, kept, spare)
    a.vector(.vpmulhuw, width, kept, kept, factor)
    a.vector(.vpsrlw, width, kept, kept, shift)
    a.vector(.vpmaxsw, width, kept, kept, least)
    a.vector(.vpminsw, width, kept, kept, most)
    let half: X86Assembler.Width = width == .zmm ? .ymm : .xmm
    if target == .avx512 {
      a.vector(.vpmovwb, width, kept, 0, spare)
    } else {
      // The bytes are the first eight of each half.
      a.vector(.vpackuswb, width, spare, kept, kept)
      a.vector(.vpermq, width, spare, 0, spare, immediate: 0x08)
    }
    a.vector(.vpxor, half, spare, spare, flip)
    a.vector(.vmovupsStore, half, spare, 0, Memory(.rdx))
  }
}

extension X86Target {
  /// The code of a reduction; throws if there is no memory for code.
  func pooling(_ reduction: TapReduction) throws(Decline) -> TapReductionCode {
    try TapReductionCode(reduction, X86PoolingGenerator(target: self, reduction: reduction))
  }
}
