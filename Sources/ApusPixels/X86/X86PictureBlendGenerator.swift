// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generates means of 2×2 pixels, two columns at a time, with AVX2.
struct X86PictureBlendGenerator: CodeGenerator, Hashable {
  private typealias A = PictureCode.Blend
  private typealias Memory = X86Assembler.Memory

  func generate() -> [UInt8]? {
    let (upper, lower, high, shifted, lowBytes, half, rows, order) = (0, 1, 2, 3, 12, 13, 14, 15)
    var a = X86Assembler(encoding: .vex)
    a.load(.rax, .init(.rdi, A.offset(\.upper)))
    a.load(.rcx, .init(.rdi, A.offset(\.lower)))
    a.load(.rdx, .init(.rdi, A.offset(\.bases)))
    a.load(.rsi, .init(.rdi, A.offset(\.weights)))
    a.load(.r8, .init(.rdi, A.offset(\.line)))
    a.load(.r9, .init(.rdi, A.offset(\.order)))
    a.vector(.vmovdqu, .xmm, order, 0, Memory(.r9))
    a.load(.r9, .init(.rdi, A.offset(\.count)))
    a.vector(.vpbroadcastd, .ymm, rows, 0, Memory(.rdi, A.offset(\.rowWeights)))
    a.vector(.vpbroadcastd, .ymm, half, 0, Memory(.rdi, A.offset(\.half)))
    a.vector(.vpbroadcastd, .ymm, lowBytes, 0, Memory(.rdi, A.offset(\.lowBytes)))
    let next = a.loopHead()
    a.load(.r10, Memory(.rdx))
    a.load(.r11, Memory(.rdx, 8))
    for (register, row) in [(upper, X86Assembler.General.rax), (lower, .rcx)] {
      a.vector(.vmovq, .xmm, register, 0, Memory(row, index: .r10, scale: 1))
      a.vector(.vmovhps, .xmm, register, register, Memory(row, index: .r11, scale: 1))
      a.vector(.vpshufb, .xmm, register, register, order)
      a.vector(.vpmovzxbw, .ymm, register, 0, register)
      a.vector(.vpmaddwd, .ymm, register, register, Memory(.rsi))
    }
    // Interleaves the high 16 bits of both rows' sums, and their low bytes.
    a.shift(.shiftDoubles, digit: 4, .ymm, high, upper, by: 8)
    a.shift(.shiftDoubles, digit: 6, .ymm, shifted, lower, by: 8)
    a.vector(.vpblendw, .ymm, high, high, shifted, immediate: 0xAA)
    a.shift(.shiftDoubles, digit: 6, .ymm, lower, lower, by: 16)
    a.vector(.vpblendw, .ymm, upper, upper, lower, immediate: 0xAA)
    a.vector(.vpand, .ymm, upper, upper, lowBytes)
    a.vector(.vpmaddwd, .ymm, high, high, rows)
    a.vector(.vpmaddwd, .ymm, upper, upper, rows)
    a.shift(.shiftDoubles, digit: 4, .ymm, upper, upper, by: 8)
    a.vector(.vpaddd, .ymm, high, high, half)
    a.vector(.vpaddd, .ymm, high, high, upper)
    a.shift(.shiftDoubles, digit: 2, .ymm, high, high, by: 22)
    a.vector(.vextracti128, .ymm, high, 0, upper, immediate: 1)
    a.vector(.vpackssdw, .xmm, high, high, upper)
    a.vector(.vpackuswb, .xmm, high, high, high)
    a.vector(.vmovqStore, .xmm, high, 0, Memory(.r8))
    a.add(.rdx, 16)
    a.add(.rsi, 32)
    a.add(.r8, 8)
    a.decrement(.r9)
    a.jump(.notEqual, next)
    a.zeroUpper()
    a.return()
    return a.finish()
  }
}
