// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates the widening of bytes to `int16`, less their zero point, with AVX2.
struct X86WideningGenerator: CodeGenerator, Hashable {
  let isSigned: Bool

  private typealias A = WideningArguments
  private typealias Memory = X86Assembler.Memory

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: .vex)
    a.load(.rax, .init(.rdi, A.offset(\.source)))
    a.load(.rcx, .init(.rdi, A.offset(\.steps)))
    a.load(.rdx, .init(.rdi, A.offset(\.lanes)))
    a.vector(.vpbroadcastw, .ymm, 4, 0, Memory(.rdi, A.offset(\.zeroPoint)))
    let next = a.loopHead()
    for part in 0..<4 {
      a.vector(isSigned ? .vpmovsxbw : .vpmovzxbw, .ymm, part, 0, Memory(.rax, 16 * part))
      a.vector(.vpsubw, .ymm, part, part, 4)
      a.vector(.vmovdquStore, .ymm, part, 0, Memory(.rdx, 32 * part))
    }
    a.add(.rax, WideningCode.step)
    a.add(.rdx, 2 * WideningCode.step)
    a.decrement(.rcx)
    a.jump(.notEqual, next)
    a.zeroUpper()
    a.return()
    return a.finish()
  }
}
