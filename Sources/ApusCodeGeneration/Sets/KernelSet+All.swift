// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

extension KernelSet {
  /// Every set in this build, the preferred one first; the last supports every description on every machine.
  package static let all: [KernelSet] = generated + [.blas, .portable]

  #if arch(x86_64)
    private static let generated: [KernelSet] = [.x86AVX512VNNI, .x86AVXVNNI, .x86AVX2]
  #elseif arch(arm64)
    private static let generated: [KernelSet] = [.arm64DotProduct, .arm64Neon]
  #else
    private static let generated: [KernelSet] = []
  #endif

  /// The sets whose instructions this machine has, the preferred one first.
  package static let supported: [KernelSet] = all.filter {
    CPUFeatures.current.isSuperset(of: $0.requires)
  }

  /// The set of that name, whether or not this machine can run it.
  package static func named(_ name: String) -> KernelSet? {
    all.first { $0.name == name }
  }
}
