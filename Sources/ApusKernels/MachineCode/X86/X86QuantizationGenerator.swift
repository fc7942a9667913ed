/// Generates the quantization of floats at run time, with AVX2: all sets that ask for it have that.
enum X86QuantizationGenerator: CodeGenerator, Hashable {
  /// The least and the greatest values.
  case extremes
  /// `int16` differences from the zero point.
  case words
  /// Unsigned bytes: the same with their zero point.
  case bytes

  private typealias A = QuantizationCode.Arguments
  private typealias Memory = X86Assembler.Memory

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: .vex)
    a.load(.rax, .init(.rdi, A.offset(\.values)))
    a.load(.r8, .init(.rdi, A.offset(\.rows)))
    a.load(.rdx, .init(.rdi, A.offset(\.result)))
    if self != .extremes { loadConstants(&a) }
    let nextRow = a.loopHead()
    a.load(.rcx, .init(.rdi, A.offset(\.steps)))
    switch self {
    case .extremes: writeExtremes(&a)
    case .words: writeLanes(&a, areBytes: false)
    case .bytes: writeLanes(&a, areBytes: true)
    }
    a.decrement(.r8)
    a.jump(.notEqual, nextRow)
    a.zeroUpper()
    a.return()
    return a.finish()
  }

  /// Four vectors of each kind, so that none waits for the one before it.
  private func writeExtremes(_ a: inout X86Assembler) {
    for part in 0..<4 {
      a.vector(.vmovups, .ymm, part, 0, Memory(.rax, 32 * part))
      a.vector(.vmovups, .ymm, 4 + part, 0, Memory(.rax, 32 * part))
    }
    let next = a.loopHead()
    for part in 0..<4 {
      a.vector(.vmovups, .ymm, 8 + part, 0, Memory(.rax, 32 * part))
      // What was found is the second source: what the instructions answer where the value is NaN.
      a.vector(.vminps, .ymm, part, 8 + part, part)
      a.vector(.vmaxps, .ymm, 4 + part, 8 + part, 4 + part)
    }
    a.add(.rax, 4 * QuantizationCode.step)
    a.decrement(.rcx)
    a.jump(.notEqual, next)
    for (first, second) in [(0, 1), (2, 3), (0, 2)] {
      a.vector(.vminps, .ymm, first, first, second)
      a.vector(.vmaxps, .ymm, 4 + first, 4 + first, 4 + second)
    }
    a.foldLanes(0, .ymm, .vminps, spare: 8)
    a.foldLanes(4, .ymm, .vmaxps, spare: 8)
    a.vector(.vmovdStore, .xmm, 0, 0, Memory(.rdx))
    a.vector(.vmovdStore, .xmm, 4, 0, Memory(.rdx, 4))
    a.add(.rdx, 8)
  }

  // Registers.
  private var inverse: Int { 8 }
  private var least: Int { 9 }
  private var most: Int { 10 }
  private var sign: Int { 11 }
  private var half: Int { 12 }
  private var zeroPoints: Int { 13 }
  private var order: Int { 14 }

  private func loadConstants(_ a: inout X86Assembler) {
    a.load(.rsi, .init(.rdi, A.offset(\.parameters)))
    a.vector(.vbroadcastss, .ymm, sign, 0, Memory(.rdi, A.offset(\.sign)))
    a.vector(.vbroadcastss, .ymm, half, 0, Memory(.rdi, A.offset(\.belowHalf)))
    a.vector(.vpmovzxbd, .ymm, order, 0, Memory(.rdi, A.offset(\.order)))
  }

  private func writeLanes(_ a: inout X86Assembler, areBytes: Bool) {
    typealias Row = QuantizationCode.RowParameters
    a.vector(.vbroadcastss, .ymm, inverse, 0, Memory(.rsi, Row.offset(\.inverse)))
    a.vector(.vbroadcastss, .ymm, least, 0, Memory(.rsi, Row.offset(\.least)))
    a.vector(.vbroadcastss, .ymm, most, 0, Memory(.rsi, Row.offset(\.most)))
    if areBytes { a.vector(.vpbroadcastw, .ymm, zeroPoints, 0, Memory(.rsi, Row.offset(\.zeroPoint))) }
    a.add(.rsi, MemoryLayout<Row>.stride)
    let next = a.loopHead()
    for part in 0..<4 {
      a.vector(.vmulps, .ymm, part, inverse, Memory(.rax, 32 * part))
      // The bounds are integers: it makes no difference that they come first. NaN becomes the greater one.
      a.vector(.vminps, .ymm, part, part, most)
      a.vector(.vmaxps, .ymm, part, part, least)
      a.vector(.vpand, .ymm, 4 + part, part, sign)
      a.vector(.vpor, .ymm, 4 + part, 4 + part, half)
      a.vector(.vaddps, .ymm, part, part, 4 + part)
      a.vector(.vcvttps2dq, .ymm, part, 0, part)
    }
    for pair in 0..<2 {
      a.vector(.vpackssdw, .ymm, pair, 2 * pair, 2 * pair + 1)
      if areBytes {
        a.vector(.vpaddw, .ymm, pair, pair, zeroPoints)
      } else {
        a.vector(.vpermq, .ymm, pair, 0, pair, immediate: 0xD8)
        a.vector(.vmovdquStore, .ymm, pair, 0, Memory(.rdx, 32 * pair))
      }
    }
    if areBytes {
      a.vector(.vpackuswb, .ymm, 0, 0, 1)
      a.vector(.vpermd, .ymm, 0, order, 0)
      a.vector(.vmovdquStore, .ymm, 0, 0, Memory(.rdx))
    }
    a.add(.rax, 4 * QuantizationCode.step)
    a.add(.rdx, (areBytes ? 1 : 2) * QuantizationCode.step)
    a.decrement(.rcx)
    a.jump(.notEqual, next)
  }
}

extension QuantizationCode {
  /// The code for x86; nil where it cannot be placed.
  static var x86: QuantizationCode? {
    guard
      let extremes = X86QuantizationGenerator.extremes.place(),
      let words = X86QuantizationGenerator.words.place(),
      let bytes = X86QuantizationGenerator.bytes.place()
    else { return nil }
    ExecutableMemory.seal()
    return unsafe QuantizationCode(extremes: extremes, words: words, bytes: bytes)
  }
}
