// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// The transforms of Winograd's method, and their costs.
struct X86Winograd: WinogradCode {
  let target: X86Target

  func cost(_ product: ProductKind) -> WinogradCost? {
    switch (target, product) {
    case (.avx2, .words): WinogradCost(finish: 10, input: 270, weights: 80, output: 250, margin: 1.1)
    case (.avx2, .floats): WinogradCost(finish: 4, input: 130, weights: 40, output: 95, margin: 1.15)
    // By static analysis of the code, for the slower of two processors.
    case (.avx512, .floats): WinogradCost(finish: 4, input: 140, weights: 50, output: 120, margin: 1.25)
    case (.avx512, _):
      WinogradCost(directSteps: 2, finish: 12, input: 260, weights: 120, output: 400, margin: 1.25)
    default: nil
    }
  }

  func generator(_ transform: WinogradTransform) -> any CodeGenerator {
    X86WinogradGenerator(target, transform)
  }
}
