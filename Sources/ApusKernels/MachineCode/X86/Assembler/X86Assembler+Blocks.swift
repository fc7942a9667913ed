// SPDX-License-Identifier: Apache-2.0

/// Horizontal reductions of a vector, by an instruction such as an addition.
extension X86Assembler {
  /// Reduces the 128-bit parts into the lowest: of `zmm` with EVEX, of `ymm` with VEX.
  mutating func foldParts(_ register: Int, _ width: Width, _ instruction: Instruction, spare: Int) {
    if width == .zmm {
      vector(.vextracti64x4, .zmm, register, 0, spare, immediate: 1)
      vector(instruction, .ymm, register, register, spare)
      vector(.vextracti32x4, .ymm, register, 0, spare, immediate: 1)
    } else {
      vector(.vextracti128, .ymm, register, 0, spare, immediate: 1)
    }
    vector(instruction, .xmm, register, register, spare)
  }

  /// Reduces all 32-bit lanes into the first.
  mutating func foldLanes(_ register: Int, _ width: Width, _ instruction: Instruction, spare: Int) {
    foldParts(register, width, instruction, spare: spare)
    vector(.vpunpckhqdq, .xmm, spare, register, register)
    vector(instruction, .xmm, register, register, spare)
    vector(.vmovshdup, .xmm, spare, 0, register)
    vector(instruction, .xmm, register, register, spare)
  }
}

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
