// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

#if arch(x86_64)
  extension KernelSet {
    /// Generated code for AVX-512 VNNI: 64 products of bytes in an instruction.
    package static let x86AVX512VNNI = unsafe KernelSet(
      name: "x86-avx512vnni", requires: [.generatedCode, .avx512VNNI],
      convolutions: CodeKernels(X86Target.avx512, bytes: .unsignedBytes),
      generated: X86GeneratedKernels(target: .avx512))

    /// Generated code for AVX-VNNI: 32 products of bytes in an instruction, with AVX2 for the rest.
    package static let x86AVXVNNI = unsafe KernelSet(
      name: "x86-avxvnni", requires: [.generatedCode, .avx2, .avxVNNI],
      convolutions: CodeKernels(X86Target.avx2, bytes: .unsignedBytes, depthwiseBytes: .words),
      generated: X86GeneratedKernels(target: .avx2))

    /// Generated code for AVX2 and FMA: 16 products of 16-bit integers in an instruction.
    package static let x86AVX2 = unsafe KernelSet(
      name: "x86-avx2", requires: [.generatedCode, .avx2],
      convolutions: CodeKernels(X86Target.avx2, bytes: .words),
      generated: X86GeneratedKernels(target: .avx2))
  }
#endif
