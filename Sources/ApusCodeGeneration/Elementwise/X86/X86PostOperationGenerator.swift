// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates the operations on float results of a convolution; see ``PostOperationCode/Kind``.
struct X86PostOperationGenerator: CodeGenerator, Hashable {
  let target: X86Target
  let kind: PostOperationCode.Kind

  private typealias A = PostOperationCode.Arguments

  func generate() -> [UInt8]? {
    let width = target.width
    let (value, product, sign, minimum, maximum, zero) = (0, 1, 2, 3, 4, 5)
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    a.load(.rax, .init(.rdi, A.offset(\.values)))
    a.load(.rdx, .init(.rdi, A.offset(\.other)))
    a.load(.rcx, .init(.rdi, A.offset(\.vectors)))
    a.vector(.vbroadcastss, width, minimum, 0, .init(.rdi, A.offset(\.minimum)))
    a.vector(.vbroadcastss, width, maximum, 0, .init(.rdi, A.offset(\.maximum)))
    if kind != .sum { a.vector(.vpxor, width, zero, zero, zero) }
    func bound(_ a: inout X86Assembler) {
      // The instructions return the second source if it is NaN.
      a.vector(.vmaxps, width, value, minimum, value)
      a.vector(.vminps, width, value, maximum, value)
    }
    let next = a.loopHead()
    a.vector(.vmovups, width, value, 0, .init(.rax))
    switch kind {
    case .sum:
      a.vector(.vaddps, width, value, value, .init(.rdx))
      bound(&a)
    case .parametricRelu:
      // The product where the sign is set. The sum with 0 clears the sign of −0, which is not below zero.
      a.vector(.vmulps, width, product, value, .init(.rdx))
      a.vector(.vaddps, width, sign, value, zero)
      a.shift(.shiftDoubles, digit: 4, width, sign, sign, by: 31)
      a.vector(.vpxor, width, product, product, value)
      a.vector(.vpand, width, product, product, sign)
      a.vector(.vpxor, width, value, value, product)
    case .rectifiedSum:
      // If both sources are zeros, too, the instructions return the second one.
      a.vector(.vminps, width, product, zero, value)
      a.vector(.vmaxps, width, value, zero, value)
      a.vector(.vmulps, width, product, product, .init(.rdx))
      a.vector(.vaddps, width, value, value, product)
      bound(&a)
    }
    a.vector(.vmovupsStore, width, value, 0, .init(.rax))
    a.add(.rax, width.byteCount)
    a.add(.rdx, width.byteCount)
    a.decrement(.rcx)
    a.jump(.notEqual, next)
    a.zeroUpper()
    a.return()
    return a.finish()
  }
}

extension X86Target {
  /// Code for an operation on float results; throws if it cannot be placed.
  func postOperation(_ kind: PostOperationCode.Kind) throws(Decline) -> PostOperationCode {
    let generator = X86PostOperationGenerator(target: self, kind: kind)
    return PostOperationCode(function: try unsafe CodeFunction(generator), lanes: lanes)
  }
}
