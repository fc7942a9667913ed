// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generates weighted sums along rows with AVX2, from the `int16` high parts of neighboring pixels and from their low bytes, and their
/// results: four bytes for each column.
struct X86PictureColumnsGenerator: CodeGenerator, Hashable {
  /// Pairs of pixels, up to ``maximumPairs``.
  let pairs: Int
  let bytesPerPixel: Int

  /// The maximum number of pairs for which the loop is unrolled.
  static let maximumPairs = 12

  private typealias A = PictureCode.Columns
  private typealias Memory = X86Assembler.Memory

  func generate() -> [UInt8]? {
    guard (1...Self.maximumPairs).contains(pairs) else { return nil }
    let (words, high, low, half, order) = (0, 1, 2, 14, 15)
    var a = X86Assembler(encoding: .vex)
    a.load(.rax, .init(.rdi, A.offset(\.high)))
    a.load(.r9, .init(.rdi, A.offset(\.order)))
    a.vector(.vmovdqu, .ymm, order, 0, Memory(.r9))
    a.load(.r9, .init(.rdi, A.offset(\.low)))
    a.load(.rcx, .init(.rdi, A.offset(\.bases)))
    a.load(.rdx, .init(.rdi, A.offset(\.weights)))
    a.load(.rsi, .init(.rdi, A.offset(\.line)))
    a.load(.r8, .init(.rdi, A.offset(\.count)))
    a.vector(.vpbroadcastd, .xmm, half, 0, Memory(.rdi, A.offset(\.half)))
    let next = a.loopHead()
    a.load(.r10, Memory(.rcx))
    for (sum, part) in [(high, X86Assembler.General.rax), (low, .r9)] {
      for pair in stride(from: 0, to: pairs, by: 2) {
        // Two pairs at once, one in each half.
        let width: X86Assembler.Width = pair + 1 < pairs ? .ymm : .xmm
        let place = { Memory(part, index: .r10, scale: 2, 4 * bytesPerPixel * $0) }
        a.vector(.vmovdqu, .xmm, words, 0, place(pair))
        if width == .ymm { a.vector(.vinserti128, .ymm, words, words, place(pair + 1), immediate: 1) }
        a.vector(.vpshufb, width, words, words, order)
        a.vector(.vpmaddwd, width, pair == 0 ? sum : words, words, Memory(.rdx, 16 * pair))
        if pair > 0 { a.vector(.vpaddd, .ymm, sum, sum, words) }
      }
      if pairs > 1 {
        a.vector(.vextracti128, .ymm, sum, 0, words, immediate: 1)
        a.vector(.vpaddd, .xmm, sum, sum, words)
      }
    }
    a.shift(.shiftDoubles, digit: 4, .xmm, low, low, by: 8)
    a.vector(.vpaddd, .xmm, high, high, half)
    a.vector(.vpaddd, .xmm, high, high, low)
    a.shift(.shiftDoubles, digit: 2, .xmm, high, high, by: 22)
    a.vector(.vpackssdw, .xmm, high, high, high)
    a.vector(.vpackuswb, .xmm, high, high, high)
    a.vector(.vmovdStore, .xmm, high, 0, Memory(.rsi))
    a.add(.rcx, 8)
    a.add(.rdx, 16 * pairs)
    a.add(.rsi, 4)
    a.decrement(.r8)
    a.jump(.notEqual, next)
    a.zeroUpper()
    a.return()
    return a.finish()
  }
}
