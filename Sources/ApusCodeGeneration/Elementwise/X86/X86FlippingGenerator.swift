// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates a copy of bytes with their highest bits flipped. Whole vectors are stored: a store that misses the first-level
/// cache takes as long for a few bytes as for many.
struct X86FlippingGenerator: CodeGenerator, Hashable {
  let target: X86Target

  private typealias A = FlippingArguments
  private typealias Memory = X86Assembler.Memory

  func generate() -> [UInt8]? {
    let width = target.width
    let vectors = FlippingCode.minimumCount / width.byteCount
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    a.load(.rax, .init(.rdi, A.offset(\.source)))
    a.load(.rcx, .init(.rdi, A.offset(\.count)))
    a.load(.rdx, .init(.rdi, A.offset(\.target)))
    a.vector(.vpbroadcastd, width, 4, 0, Memory(.rdi, A.offset(\.flip)))
    let done = a.makeLabel()
    a.subtract(.rcx, FlippingCode.minimumCount)
    let next = a.loopHead()
    for vector in 0..<vectors {
      a.vector(.vpxor, width, vector, 4, Memory(.rax, vector * width.byteCount))
      a.vector(.vmovdquStore, width, vector, 0, Memory(.rdx, vector * width.byteCount))
    }
    a.add(.rax, FlippingCode.minimumCount)
    a.add(.rdx, FlippingCode.minimumCount)
    a.subtract(.rcx, FlippingCode.minimumCount)
    a.jump(.greaterOrEqual, next)
    a.compare(.rcx, -FlippingCode.minimumCount)
    a.jump(.equal, done)
    // The remainder is copied in a block that overlaps the one before it.
    a.add(.rax, .rcx)
    a.add(.rdx, .rcx)
    a.zero(.rcx)
    a.jump(next)
    a.place(done)
    a.zeroUpper()
    a.return()
    return a.finish()
  }
}
