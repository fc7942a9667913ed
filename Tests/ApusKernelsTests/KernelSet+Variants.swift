// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusCodeGeneration
import ApusKernels

/// Sets that choose otherwise than those of the package, so that tests reach what this machine would not choose.
extension KernelSet {
  /// A convolution by this set alone.
  func convolution(_ convolution: Convolution) throws(Decline) -> any PreparedConvolution {
    try convolutions.convolution(convolution, isForOneThread: false)
  }

  /// The set, preparing all convolutions for one thread.
  var forOneThread: KernelSet {
    KernelSet(
      name: name, requires: requires, convolutions: KernelsForOneThread(kernels: convolutions),
      generated: generated)
  }

  /// The set with its generated convolutions changed; nil where it has none.
  private func varied(_ change: (inout CodeKernels) -> Void) -> KernelSet? {
    guard var kernels = convolutions as? CodeKernels else { return nil }
    change(&kernels)
    return KernelSet(name: name, requires: requires, convolutions: kernels, generated: generated)
  }

  /// The set, laid out for a machine with a second-level cache of a size; nil if it generates no convolutions.
  func with(secondLevelCache: Int) -> KernelSet? {
    varied { $0.machine.secondLevelCache = secondLevelCache }
  }

  #if arch(x86_64)
    /// AVX-512 as on machines with any pipes for 512 bits: products alone.
    static let withOtherPipes = [false, true].flatMap { areShared in
      [false, true].compactMap { areFullWidth in
        x86AVX512VNNI.varied {
          $0.machine.pipes = VectorPipes(areShared: areShared, areFullWidth: areFullWidth)
          $0.strategies = [.product]
        }
      }
    }

    /// AVX-512 with the instruction that multiplies bfloat16, whether or not it is the faster way on this machine.
    static let multiplyingBFloat16: [KernelSet] =
      CPUFeatures.current.contains(.avx512BF16)
      ? [x86AVX512VNNI].compactMap { $0.varied { $0.machine.pipes.multiplyBFloat16 = true } } : []

    /// AVX-512 with tile registers, where the machine has them.
    static let multiplyingTiles: [KernelSet] =
      CPUFeatures.current.contains(.tiles) && KernelSet.supported.contains { $0 === x86AVX512VNNI }
      ? [x86AVX512VNNI] : []

    /// The sets that have Winograd's method, taking it wherever it serves, be it slower.
    static let withWinogradEverywhere = [x86AVX512VNNI, x86AVX2].compactMap { set in
      set.varied { $0.comparesCost = false }
    }

    /// AVX-512 with the look-up of machines without VBMI.
    static let lookingUpRows: KernelSet = {
      var kernels = X86GeneratedKernels(target: .avx512)
      kernels.looksUpRows = true
      return KernelSet(
        name: "table rows", requires: x86AVX512VNNI.requires, convolutions: x86AVX512VNNI.convolutions,
        generated: kernels)
    }()
  #else
    static let multiplyingTiles: [KernelSet] = []
  #endif
}

/// Convolutions of a set, all for one thread.
private struct KernelsForOneThread: ConvolutionKernels {
  let kernels: any ConvolutionKernels

  func convolution(
    _ convolution: Convolution, isForOneThread: Bool
  ) throws(Decline) -> any PreparedConvolution {
    try kernels.convolution(convolution, isForOneThread: true)
  }
}
