// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generates the writing of results as three bytes each, four pixels at a time.
///
/// It also writes the four bytes behind the last pixel.
struct X86PictureTriplesGenerator: CodeGenerator, Hashable {
  private typealias A = PictureCode.Elements
  private typealias Memory = X86Assembler.Memory

  func generate() -> [UInt8]? {
    let (pixels, flip, order) = (0, 1, 2)
    var a = X86Assembler(encoding: .vex)
    a.load(.rax, .init(.rdi, A.offset(\.line)))
    a.load(.rcx, .init(.rdi, A.offset(\.target)))
    a.load(.r9, .init(.rdi, A.offset(\.count)))
    a.vector(.vmovdqu, .xmm, order, 0, Memory(.rdi, A.offset(\.order)))
    a.vector(.vpbroadcastd, .xmm, flip, 0, Memory(.rdi, A.offset(\.flip)))
    let next = a.loopHead()
    a.vector(.vmovdqu, .xmm, pixels, 0, Memory(.rax))
    a.vector(.vpshufb, .xmm, pixels, pixels, order)
    a.vector(.vpxor, .xmm, pixels, pixels, flip)
    a.vector(.vmovdquStore, .xmm, pixels, 0, Memory(.rcx))
    a.add(.rax, 16)
    a.add(.rcx, 12)
    a.decrement(.r9)
    a.jump(.notEqual, next)
    a.return()
    return a.finish()
  }
}
