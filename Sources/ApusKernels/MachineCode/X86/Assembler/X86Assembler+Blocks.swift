// SPDX-License-Identifier: Apache-2.0

/// Brings the lanes of a vector together, by an instruction such as a sum.
extension X86Assembler {
  /// Brings the parts of 128 bits into the lowest: of `zmm` with EVEX, of `ymm` with VEX.
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

  /// Brings all lanes of 32 bits into the first.
  mutating func foldLanes(_ register: Int, _ width: Width, _ instruction: Instruction, spare: Int) {
    foldParts(register, width, instruction, spare: spare)
    vector(.vpunpckhqdq, .xmm, spare, register, register)
    vector(instruction, .xmm, register, register, spare)
    vector(.vmovshdup, .xmm, spare, 0, register)
    vector(instruction, .xmm, register, register, spare)
  }
}

/// How generated functions of ``ConvolutionArguments`` begin and end.
extension X86Assembler {
  private static let kept: [General] = [.rbx, .rbp, .r12, .r13, .r14, .r15]

  /// Saves the registers that a function must keep; `r8` becomes the first row, `r14` the first output, and `r15` the
  /// count of blocks.
  mutating func enter() {
    for register in Self.kept { push(register) }
    load(.r8, .init(.rdi, ConvolutionArguments.offset(\.rows)))
    load(.r14, .init(.rdi, ConvolutionArguments.offset(\.output)))
    load(.r15, .init(.rdi, ConvolutionArguments.offset(\.blocks)))
  }

  /// Restores them and returns.
  mutating func leave() {
    zeroUpper()
    for register in Self.kept.reversed() { pop(register) }
    `return`()
  }
}
