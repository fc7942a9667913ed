// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Prologue and epilogue of functions of ``ConvolutionArguments``.
extension X86Assembler {
  private static let kept: [General] = [.rbx, .rbp, .r12, .r13, .r14, .r15]

  /// The prologue: saves callee-saved registers, and sets `r8` to the first row, `r14` to the first output
  /// and `r15` to the number of blocks.
  mutating func enter() {
    for register in Self.kept { push(register) }
    load(.r8, .init(.rdi, ConvolutionArguments.offset(\.rows)))
    load(.r14, .init(.rdi, ConvolutionArguments.offset(\.output)))
    load(.r15, .init(.rdi, ConvolutionArguments.offset(\.blocks)))
  }

  /// Restores the registers that ``enter()`` saved, and returns.
  mutating func leave() {
    zeroUpper()
    for register in Self.kept.reversed() { pop(register) }
    `return`()
  }
}
