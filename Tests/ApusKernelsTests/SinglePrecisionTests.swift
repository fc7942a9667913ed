// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels
import Foundation
import ReferenceKernels
import TestSupport
import Testing

@Suite("Factors in single precision")
struct SinglePrecisionTests {
  typealias Factor = SinglePrecisionFactor

  /// The code's output of a sum, without the zero point.
  private func output(_ sum: Int32, _ factor: Factor) -> Int32 {
    let sum = Float(sum)
    let offset = Float(signOf: sum, magnitudeOf: factor.offset)
    guard let rest = factor.rest else { return Int32(offset.addingProduct(sum, factor.multiplier)) }
    // A double has all digits of products up to some 2¹¹, and it is the integers up to 256 that matter.
    return Int32(Double(offset.addingProduct(sum, rest)) + Double(sum) * Double(factor.multiplier))
  }

  /// The first of some sums, or of very great ones, that makes another output than the reference makes within the bounds.
  private func difference(
    _ multiplier: FixedPointMultiplier, _ factor: Factor, _ bounds: ClosedRange<Int32>,
    sums: ClosedRange<Int32>
  ) -> Int32? {
    func bounded(_ value: Int32) -> Int32 { min(max(value, bounds.lowerBound), bounds.upperBound) }
    func differs(_ sum: Int32) -> Bool { bounded(multiplier.apply(sum)) != bounded(output(sum, factor)) }
    // A shifted sum must stay a number of 32 bits.
    let most = Int32.max >> (max(multiplier.shift, 0) + (multiplier.shift > 0 ? 1 : 0))
    return sums.first(where: differs)
      ?? [0 - most, 1 - most, -1 << 25, 1 << 25, most - 1, most].first(where: differs)
  }

  @Test("floats that are found make the reference's outputs of every sum", arguments: [false, true])
  func found(withRest: Bool) {
    var foundCount = 0
    for seed in 0..<40 {
      var random = SeededGenerator(seed: UInt64(seed))
      let exponent = Double.random(in: -10...3, using: &random)
      let multiplier = FixedPointMultiplier(.random(in: 0.5...1, using: &random) * exp2(exponent))
      let isSymmetric = seed % 2 == 0
      let last = [127, 128, 255].pick(using: &random)
      let first = isSymmetric ? 1 : [1, 1, 30].pick(using: &random)
      guard let factor = Factor(multiplier, steps: first...last, withRest: withRest) else { continue }
      foundCount += 1
      #expect((factor.rest != nil) == withRest)
      let bounds = Int32(isSymmetric ? 0 - last : first - 1)...Int32(last)
      // All steps are before this sum.
      let limit = Int32(Double(last + 1) / exp2(exponent - 1)) + 1
      let difference = difference(
        multiplier, factor, bounds, sums: isSymmetric ? 0 - limit...limit : -999...limit)
      #expect(difference == nil, "\(multiplier) \(factor)")
    }
    #expect(foundCount >= (withRest ? 39 : 30))
  }

  @Test("where single precision makes other outputs, no floats are found")
  func refused() throws {
    // Powers of two, whose steps are at sums; factors whose last steps are at more than 24 digits, and none.
    for real in [0x1p-8, 0x1.23456789p-17, 0x1p-22, 0.75, 3.5, 0, -0.01] {
      for withRest in [false, true] {
        let factor = Factor(FixedPointMultiplier(real), steps: 1...255, withRest: withRest)
        #expect(factor == nil, "\(real)")
      }
    }
    // The nearest float, with the offset that stands for both roundings, is not enough for these.
    var (refusedCount, restCount) = (0, 0)
    for seed in 0..<60 {
      var random = SeededGenerator(seed: UInt64(1_000 + seed))
      let multiplier = FixedPointMultiplier(.random(in: 0x1p-13...0x1p-12, using: &random))
      guard Factor(multiplier, steps: 1...255) == nil else { continue }
      refusedCount += 1
      let real = Double(multiplier.value) * exp2(Double(multiplier.shift) - 31)
      let half = 0.5 + exp2(Double(multiplier.shift) - 1)
      let near = Factor(multiplier: Float(real), offset: Float(half))
      #expect(difference(multiplier, near, 0...255, sums: 0...1 << 21) != nil, "\(multiplier)")
      // With a rest, they are.
      guard let whole = Factor(multiplier, steps: 1...255, withRest: true) else { continue }
      restCount += 1
      #expect(difference(multiplier, whole, 0...255, sums: 0...1 << 21) == nil, "\(multiplier)")
    }
    #expect(refusedCount > 5 && restCount > refusedCount * 9 / 10)
  }

  @Test("layers of many outputs match the reference", arguments: KernelSet.tested)
  func layers(kernels: KernelSet) throws {
    for seed in kernels.seeds(24) {
      var random = SeededGenerator(seed: UInt64(seed))
      let isSigned = seed % 2 == 0
      let (lowest, highest): (Int32, Int32) = isSigned ? (-128, 127) : (0, 255)
      let channels = [5, 16, 24, 40, 70].pick(using: &random)
      let isDepthwise = seed % 3 == 0
      let depth = isDepthwise ? 9 : [3, 16, 20, 64].pick(using: &random)
      let scale = 1 / (40 * Double(depth).squareRoot())
      let factors = (0..<(seed % 4 < 2 ? 1 : channels)).map { _ in
        FixedPointMultiplier(scale * .random(in: 0.5...1.5, using: &random))
      }
      let zeroPoint = [lowest, lowest, 0, .random(in: lowest...highest, using: &random)].pick(using: &random)
      let minimum = [lowest, zeroPoint, min(zeroPoint + 9, highest)].pick(using: &random)
      let epilogue = Epilogue.fixedPoint(
        factors, zeroPoint: zeroPoint, minimum: minimum,
        maximum: [highest, max(minimum, highest - 30)].pick(using: &random))
      let operands =
        isSigned
        ? MatrixOperands.int8(lhsZeroPoint: 3, rhsZeroPoint: 0) : .uint8(lhsZeroPoint: 9, rhsZeroPoint: 131)
      let (height, width) = (31, 34)
      let biases = (0..<channels).map { _ in Int32.random(in: -9_999...9_999, using: &random) }
      func some(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255, using: &random) } }
      if isDepthwise {
        let convolution = Convolution(
          batches: 1, inputHeight: height, inputWidth: width, inputChannels: channels, filterHeight: 3,
          filterWidth: 3, outputHeight: height, outputWidth: width, outputChannels: channels, paddingTop: 1,
          paddingLeft: 1, isDepthwise: true, operands: operands, epilogue: epilogue)
        let (input, weights) = (some(height * width * channels), some(depth * channels))
        let expected = ReferenceConvolution.bytes(
          convolution, input: input, weights: weights, bias: biases)
        try compare(
          #require(kernels.prepare(convolution)), input, weights, bytes(biases), byteCount: expected.count,
          threads: kernels.threads([1, 2])
        ) { #expect($0 == expected, "\(convolution)") }
      } else {
        let convolution = Convolution(
          rows: height * width, depth: depth, columns: channels, operands: operands, epilogue: epilogue)
        let (input, weights) = (some(height * width * depth), some(depth * channels))
        let expected = ReferenceConvolution.bytes(convolution, input: input, weights: weights, bias: biases)
        try compare(
          #require(kernels.prepare(convolution)), input, weights, bytes(biases), byteCount: expected.count,
          threads: kernels.threads([1, 2])
        ) { #expect($0 == expected, "\(convolution)") }
      }
    }
    kernels.expectNoFaults()
  }
}
