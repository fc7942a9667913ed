// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// The one-dimensional transforms Bᵀ, G and Aᵀ, on vectors in registers.
extension X86WinogradGenerator {
  func operate(_ a: inout X86Assembler, _ name: X86Assembler.Instruction, _ to: Int, _ x: Int, _ y: Int) {
    a.vector(name, target.width, to, x, y)
  }

  /// `to = 4x` for `int16`.
  private func quadruple(_ a: inout X86Assembler, _ to: Int, _ x: Int) {
    a.shift(.shiftWords, digit: 6, target.width, to, x, by: 2)
  }

  // MARK: Inputs

  /// Transforms `reach` pixels in registers 0 and up; returns the registers of the points.
  func transformInputs(_ a: inout X86Assembler) -> [Int] {
    guard variant == .words else {
      operate(&a, .vsubps, 0, 0, 2)
      operate(&a, .vaddps, 4, 1, 2)
      operate(&a, .vsubps, 5, 2, 1)
      operate(&a, .vsubps, 6, 1, 3)
      return [0, 4, 5, 6]
    }
    // x₄ − 4x₂ and x₃ − 4x₁: their sum and difference.
    quadruple(&a, 6, 2)
    operate(&a, .vpsubw, 6, 4, 6)
    quadruple(&a, 7, 1)
    operate(&a, .vpsubw, 7, 3, 7)
    operate(&a, .vpaddw, 8, 6, 7)
    operate(&a, .vpsubw, 9, 6, 7)
    // x₄ − x₂ and x₃ − x₁.
    operate(&a, .vpsubw, 6, 4, 2)
    operate(&a, .vpsubw, 7, 3, 1)
    // 4(x₀ − x₂) + x₄ − x₂
    operate(&a, .vpsubw, 0, 0, 2)
    quadruple(&a, 0, 0)
    operate(&a, .vpaddw, 0, 0, 6)
    // x₅ − x₃ − 4(x₃ − x₁)
    operate(&a, .vpsubw, 5, 5, 3)
    quadruple(&a, 10, 7)
    operate(&a, .vpsubw, 5, 5, 10)
    // x₄ − x₂ ± 2(x₃ − x₁)
    operate(&a, .vpaddw, 7, 7, 7)
    operate(&a, .vpaddw, 10, 6, 7)
    operate(&a, .vpsubw, 11, 6, 7)
    return [0, 8, 9, 10, 11, 5]
  }

  // MARK: Weights

  /// The register of the weights' factor: 6, or ½ for floats.
  var weightFactor: Int { 15 }

  /// The first point from the first weight, or the last point from the last weight.
  func transformOuterWeights(_ a: inout X86Assembler, _ to: Int, _ weight: Int) {
    if variant == .words {
      operate(&a, .vpmullw, to, weight, weightFactor)
    } else {
      a.vector(.vmovdqu, target.width, to, 0, weight)
    }
  }

  /// Transforms three weights in place to the terms whose sums and differences are the other points: for
  /// `int16` `w₀ + 4w₂`, `2w₁` and `2(w₀ + w₂)`; for floats `½(w₀ + w₂)` and `½w₁`.
  func transformInnerWeights(_ a: inout X86Assembler, _ first: Int, _ second: Int, _ third: Int) {
    if variant == .words {
      operate(&a, .vpaddw, 12, first, third)
      quadruple(&a, third, third)
      operate(&a, .vpaddw, first, first, third)
      operate(&a, .vpaddw, second, second, second)
      operate(&a, .vpaddw, third, 12, 12)
    } else {
      operate(&a, .vaddps, first, first, third)
      operate(&a, .vmulps, first, first, weightFactor)
      operate(&a, .vmulps, second, second, weightFactor)
    }
  }

  /// The inner points: each is a sum or difference of two terms of ``transformInnerWeights(_:_:_:_:)``; the
  /// numbers are those of three registers each.
  var innerWeights: [(X86Assembler.Instruction, Int, Int)] {
    variant == .words
      ? [(.vpaddw, 6, 3), (.vpsubw, 6, 3), (.vpaddw, 0, 3), (.vpsubw, 0, 3)]
      : [(.vaddps, 0, 3), (.vsubps, 0, 3)]
  }

  /// Transforms three weights to points in memory; overwrites their registers.
  func transformWeights(
    _ a: inout X86Assembler, _ row: [Int], _ place: (Int) -> X86Assembler.Memory
  ) {
    for (weight, point) in [(0, 0), (2, variant.reach - 1)] {
      transformOuterWeights(&a, 12, row[weight])
      a.vector(.vmovdquStore, target.width, 12, 0, place(point))
    }
    transformInnerWeights(&a, row[0], row[1], row[2])
    for (index, (instruction, first, second)) in innerWeights.enumerated() {
      operate(&a, instruction, 12, row[first / 3], row[second / 3])
      a.vector(.vmovdquStore, target.width, 12, 0, place(1 + index))
    }
  }

  // MARK: Outputs

  /// Transforms sums at the points of a row, in memory, to the first outputs of a Winograd tile; clobbers
  /// registers 8 to 11.
  func transformOutputs(
    _ a: inout X86Assembler, to results: [Int], _ place: (Int) -> X86Assembler.Memory
  ) {
    let (sum, difference, farSum, farDifference) = (9, 8, 11, 10)
    func pair(
      _ add: X86Assembler.Instruction, _ subtract: X86Assembler.Instruction, _ sum: Int,
      _ difference: Int, _ first: Int
    ) {
      a.vector(.vmovdqu, target.width, difference, 0, place(first))
      a.vector(add, target.width, sum, difference, place(first + 1))
      a.vector(subtract, target.width, difference, difference, place(first + 1))
    }
    guard variant == .words else {
      pair(.vaddps, .vsubps, sum, difference, 1)
      a.vector(.vaddps, target.width, results[0], sum, place(0))
      if results.count > 1 { a.vector(.vsubps, target.width, results[1], difference, place(3)) }
      return
    }
    pair(.vpaddd, .vpsubd, sum, difference, 1)
    pair(.vpaddd, .vpsubd, farSum, farDifference, 3)
    operate(&a, .vpaddd, sum, sum, sum)
    for (index, result) in results.enumerated() {
      switch index {
      case 0:
        operate(&a, .vpsubd, result, farSum, sum)
        a.vector(.vpaddd, target.width, result, result, place(0))
      case 1:
        operate(&a, .vpsubd, result, farDifference, difference)
        operate(&a, .vpaddd, result, result, result)
      case 2:
        a.shift(.shiftDoubles, digit: 6, target.width, farSum, farSum, by: 2)
        operate(&a, .vpsubd, result, farSum, sum)
      default:
        operate(&a, .vpaddd, farDifference, farDifference, farDifference)
        a.vector(.vpaddd, target.width, farDifference, farDifference, place(5))
        operate(&a, .vpaddd, farDifference, farDifference, farDifference)
        operate(&a, .vpsubd, farDifference, farDifference, difference)
        operate(&a, .vpaddd, result, farDifference, farDifference)
      }
    }
  }
}
