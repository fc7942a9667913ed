// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates the rounding of floats to bfloat16, as `BFloat16Rounding` defines it: to floats with AVX2, to bfloat16 with
/// AVX-512 BF16.
struct X86RoundingGenerator: CodeGenerator, Hashable {
  /// Whether results are floats.
  let isWide: Bool

  private typealias A = RoundingArguments
  private typealias Memory = X86Assembler.Memory

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: isWide ? .vex : .evex)
    a.load(.rcx, .init(.rdi, A.offset(\.steps)))
    a.load(.rdx, .init(.rdi, A.offset(\.lanes)))
    if isWide { begin(&a) }
    a.load(.rax, .init(.rdi, A.offset(\.source)))
    let next = a.loopHead()
    if isWide {
      for part in 0..<2 { roundWide(&a, part) }
    } else {
      a.vector(.vcvtneps2bf16, .zmm, 0, 0, Memory(.rax))
      a.vector(.vmovdquStore, .ymm, 0, 0, Memory(.rdx))
    }
    a.add(.rax, 4 * RoundingCode.step)
    a.add(.rdx, (isWide ? 4 : 2) * RoundingCode.step)
    a.decrement(.rcx)
    a.jump(.notEqual, next)
    if isWide { a.loadModes(.init(.rdi, A.offset(\.modes) + 4)) }
    a.zeroUpper()
    a.return()
    return a.finish()
  }

  // The registers of the constants.
  private var one: Int { 12 }
  private var belowHalf: Int { 13 }
  private var lastDigit: Int { 14 }
  private var kept: Int { 15 }

  /// Loads the constants, and sets the modes so that subnormal numbers are zeros.
  private func begin(_ a: inout X86Assembler) {
    a.storeModes(.init(.rdi, A.offset(\.modes) + 4))
    a.loadModes(.init(.rdi, A.offset(\.modes)))
    a.vector(.vbroadcastss, .ymm, one, 0, Memory(.rdi, A.offset(\.one)))
    a.vector(.vbroadcastss, .ymm, belowHalf, 0, Memory(.rdi, A.offset(\.belowHalf)))
    a.vector(.vbroadcastss, .ymm, lastDigit, 0, Memory(.rdi, A.offset(\.lastDigit)))
    a.vector(.vbroadcastss, .ymm, kept, 0, Memory(.rdi, A.offset(\.kept)))
  }

  private func roundWide(_ a: inout X86Assembler, _ part: Int) {
    let (value, digit, nan) = (3 * part, 3 * part + 1, 3 * part + 2)
    // The product is zero for subnormal numbers, and quiet for NaN.
    a.vector(.vmulps, .ymm, value, one, Memory(.rax, 32 * part))
    // 3: unordered.
    a.vector(.vcmpps, .ymm, nan, value, value, immediate: 3)
    a.shift(.shiftDoubles, digit: 2, .ymm, digit, value, by: 16)
    a.vector(.vpand, .ymm, digit, digit, lastDigit)
    a.vector(.vpaddd, .ymm, value, value, belowHalf)
    a.vector(.vpaddd, .ymm, value, value, digit)
    a.vector(.vpor, .ymm, value, value, nan)
    a.vector(.vpand, .ymm, value, value, kept)
    a.vector(.vmovdquStore, .ymm, value, 0, Memory(.rdx, 32 * part))
  }
}
