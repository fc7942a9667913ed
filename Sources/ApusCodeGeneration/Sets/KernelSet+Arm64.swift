// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

extension KernelSet {
  /// Generated code for arm64 with DotProd: 16 products of bytes in an instruction.
  package static let arm64DotProduct = unsafe arm64(.dotProduct)

  /// Generated code for any arm64: 8 products of bytes in an instruction, plus two instructions that add
  /// them.
  package static let arm64Neon = unsafe arm64(.neon)

  /// A set of generated code for arm64, placed by `placement`.
  package static func arm64(
    _ target: Arm64Target, placement: @escaping CodePlacement = { unsafe $0.place() }
  ) -> KernelSet {
    unsafe KernelSet(
      name: target == .dotProduct ? "arm64-dotprod" : "arm64-neon",
      requires: target == .dotProduct ? [.generatedCode, .neon, .dotProduct] : [.generatedCode, .neon],
      convolutions: CodeKernels(target, bytes: .unsignedBytes, placement: placement))
  }
}
