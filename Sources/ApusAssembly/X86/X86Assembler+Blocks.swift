// SPDX-License-Identifier: Apache-2.0

/// Horizontal reductions of a vector, by an instruction such as an addition.
extension X86Assembler {
  /// Reduces the 128-bit parts into the lowest: of `zmm` with EVEX, of `ymm` with VEX.
  package mutating func foldParts(_ register: Int, _ width: Width, _ instruction: Instruction, spare: Int) {
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
  package mutating func foldLanes(_ register: Int, _ width: Width, _ instruction: Instruction, spare: Int) {
    foldParts(register, width, instruction, spare: spare)
    vector(.vpunpckhqdq, .xmm, spare, register, register)
    vector(instruction, .xmm, register, register, spare)
    vector(.vmovshdup, .xmm, spare, 0, register)
    vector(instruction, .xmm, register, register, spare)
  }
}
