// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels
import ApusRuntime
import TestSupport
import Testing

@Suite("Quantized sums and products")
struct QuantizedSumTests {
  @Test("random sums and differences match the formula", arguments: KernelSet.tested)
  func sums(kernels: KernelSet) throws {
    for seed in 0..<200 {
      var random = SeededGenerator(seed: UInt64(seed))
      let isSigned = Bool.random(using: &random)
      func scale() -> Double { .random(in: 0.001...1, using: &random) }
      let left = scale()
      // With equal scales, many results are halves.
      let right = [scale(), 0.5, left].pick(using: &random)
      let common = 2 * max(left, right)
      // Results that fill the range, that leave it, and that are multiplied by more than one.
      let result = [left + right, 0.01 * (left + right), common * 0x1p-21].pick(using: &random)
      let sum = QuantizedSum(
        lhs: operand(left / common, isSigned, using: &random),
        rhs: operand(right / common, isSigned, using: &random), isDifference: Bool.random(using: &random),
        leftShift: 20,
        output: output(common / (0x1p20 * result), isSigned, using: &random))
      let shapes = try #require(randomShapes(using: &random))
      try check(kernels.prepare(sum, isSigned: isSigned, shapes), shapes, isSigned, using: &random) {
        lhs, rhs in
        let a = sum.lhs.multiplier.apply((lhs - sum.lhs.zeroPoint) << 20)
        let b = sum.rhs.multiplier.apply((rhs - sum.rhs.zeroPoint) << 20)
        return bounded(sum.isDifference ? a - b : a + b, sum.output)
      }
    }
  }

  @Test("random squared differences match the formula", arguments: KernelSet.tested)
  func squares(kernels: KernelSet) throws {
    for seed in 0..<200 {
      var random = SeededGenerator(seed: UInt64(seed))
      let isSigned = Bool.random(using: &random)
      let left = Double.random(in: 0.001...1, using: &random)
      let right = [.random(in: 0.001...1, using: &random), 0.5, left].pick(using: &random)
      let common = 2 * max(left, right)
      let result = [common * common * 63, common * common, common * common * 0x1p-14].pick(using: &random)
      let sum = QuantizedSum(
        lhs: operand(left / common, isSigned, using: &random),
        rhs: operand(right / common, isSigned, using: &random), isDifference: true, isSquared: true,
        leftShift: 7,
        output: output(common * common / (0x1p14 * result), isSigned, using: &random))
      let shapes = try #require(randomShapes(using: &random))
      try check(kernels.prepare(sum, isSigned: isSigned, shapes), shapes, isSigned, using: &random) {
        lhs, rhs in
        let a = sum.lhs.multiplier.apply((lhs - sum.lhs.zeroPoint) << 7)
        let b = sum.rhs.multiplier.apply((rhs - sum.rhs.zeroPoint) << 7)
        return bounded((a - b) * (a - b), sum.output)
      }
    }
  }

  @Test("random products match the formula", arguments: KernelSet.tested)
  func products(kernels: KernelSet) throws {
    for seed in 0..<200 {
      var random = SeededGenerator(seed: UInt64(seed))
      let isSigned = Bool.random(using: &random)
      let (lowest, highest) = range(isSigned)
      let product = QuantizedProduct(
        lhsZeroPoint: [lowest, highest, 3].pick(using: &random),
        rhsZeroPoint: [lowest, highest, 7].pick(using: &random),
        output: output([0.004, 0.03, 0.7, 3].pick(using: &random), isSigned, using: &random))
      let shapes = try #require(randomShapes(using: &random))
      try check(kernels.prepare(product, isSigned: isSigned, shapes), shapes, isSigned, using: &random) {
        lhs, rhs in
        bounded((lhs - product.lhsZeroPoint) * (rhs - product.rhsZeroPoint), product.output)
      }
    }
  }

  @Test("products of all pairs of bytes match the formula", arguments: KernelSet.tested)
  func allProducts(kernels: KernelSet) throws {
    let shapes = try #require(BroadcastShapes([256, 256], [256, 256]))
    let (left, right) = (
      (0..<65_536).map { UInt8($0 / 256) }, (0..<65_536).map { UInt8(truncatingIfNeeded: $0) }
    )
    var random = SeededGenerator(seed: 11)
    for seed in 0..<(kernels.isEmulated ? 6 : 60) {
      let isSigned = seed.isMultiple(of: 2)
      let (lowest, highest) = range(isSigned)
      // Many results are halves, or near them.
      let factor = [
        0.25, 1.0 / 256, 0x1.000002p-7, 0.75, .random(in: 0.0005...0.01, using: &random),
        .random(in: 0.01...0.999, using: &random),
      ].pick(using: &random)
      func zeroPoint() -> Int32 {
        [lowest, highest, .random(in: lowest...highest, using: &random)].pick(using: &random)
      }
      let product = QuantizedProduct(
        lhsZeroPoint: zeroPoint(), rhsZeroPoint: zeroPoint(), output: output(factor, isSigned, using: &random)
      )
      let kernel = kernels.prepare(product, isSigned: isSigned, shapes)
      var result = [UInt8](repeating: 0xA5, count: 65_536)
      var span = result.mutableSpan
      var bytes = span.mutableBytes
      kernel.run(left.span.bytes, right.span.bytes, to: &bytes, threads: ThreadTeam(count: 1))
      func number(_ byte: UInt8) -> Int32 { isSigned ? Int32(Int8(bitPattern: byte)) : Int32(byte) }
      let wrong = (0..<65_536).count { index in
        let distances = (
          number(left[index]) - product.lhsZeroPoint, number(right[index]) - product.rhsZeroPoint
        )
        let expected = bounded(distances.0 * distances.1, product.output)
        return UInt8(truncatingIfNeeded: expected) != result[index]
      }
      #expect(wrong == 0, "factor \(factor), \(kernel.implementation)")
    }
  }

  @Test("generated sets have sums and products of their own")
  func ownKernels() throws {
    let shapes = try #require(BroadcastShapes([100], [100]))
    let factor = FixedPointMultiplier(0.4)
    let result = QuantizedResult(multiplier: factor, zeroPoint: 0, minimum: 0, maximum: 255)
    let operand = QuantizedOperand(zeroPoint: 1, multiplier: factor)
    let sum = QuantizedSum(lhs: operand, rhs: operand, isDifference: false, leftShift: 20, output: result)
    let square = QuantizedSum(
      lhs: operand, rhs: operand, isDifference: true, isSquared: true, leftShift: 7, output: result)
    let product = QuantizedProduct(lhsZeroPoint: 1, rhsZeroPoint: 1, output: result)
    for kernels in KernelSet.tested {
      let isGenerated = kernels.name.hasPrefix("x86")
      #expect(((try? kernels.generatedKernels().sum(sum, isSigned: false, shapes)) != nil) == isGenerated)
      #expect(
        ((try? kernels.generatedKernels().sum(square, isSigned: false, shapes)) != nil) == isGenerated)
      #expect(
        ((try? kernels.generatedKernels().product(product, isSigned: false, shapes)) != nil)
          == isGenerated)
    }
  }

  // MARK: Cases

  private func range(_ isSigned: Bool) -> (Int32, Int32) { isSigned ? (-128, 127) : (0, 255) }

  private func operand(
    _ factor: Double, _ isSigned: Bool, using random: inout SeededGenerator
  ) -> QuantizedOperand {
    let (lowest, highest) = range(isSigned)
    return QuantizedOperand(
      zeroPoint: [lowest, highest, .random(in: lowest...highest, using: &random)].pick(using: &random),
      multiplier: FixedPointMultiplier(factor))
  }

  private func output(
    _ factor: Double, _ isSigned: Bool, using random: inout SeededGenerator
  ) -> QuantizedResult {
    let (lowest, highest) = range(isSigned)
    let clamps = Bool.random(using: &random)
    return QuantizedResult(
      multiplier: FixedPointMultiplier(factor), zeroPoint: .random(in: lowest...highest, using: &random),
      minimum: clamps ? lowest + 30 : lowest, maximum: clamps ? highest - 30 : highest)
  }

  /// Equal shapes, one number for all, or one for each row; often with a few elements left over.
  private func randomShapes(using random: inout SeededGenerator) -> BroadcastShapes? {
    let count = Int.random(in: 1...90, using: &random)
    let rows = [1, 1, 3].pick(using: &random)
    switch Int.random(in: 0..<7, using: &random) {
    case 0: return BroadcastShapes([rows, count], [1])
    case 1: return BroadcastShapes([rows, 1], [rows, count])
    case 2: return BroadcastShapes([rows, count], [count])
    // Rows that go at once.
    case 6:
      let (left, right) = (
        [130, [1, count].pick(using: &random)], [[130, 1], [1, count]].pick(using: &random)
      )
      return Bool.random(using: &random) ? BroadcastShapes(left, right) : BroadcastShapes(right, left)
    // From some size on, another way may be tried.
    case 3: return BroadcastShapes([40_000], [40_000])
    case 4: return BroadcastShapes([2, 20_000], [[1], [2, 1]].pick(using: &random))
    default: return BroadcastShapes([rows, count], [rows, count])
    }
  }

  private func bounded(_ value: Int32, _ output: QuantizedResult) -> Int32 {
    min(max(output.multiplier.apply(value) &+ output.zeroPoint, output.minimum), output.maximum)
  }

  private func check(
    _ kernel: any BinaryKernel, _ shapes: BroadcastShapes, _ isSigned: Bool,
    using random: inout SeededGenerator,
    _ formula: (Int32, Int32) -> Int32
  ) throws {
    func values(_ shape: [Int]) -> [UInt8] {
      (0..<shape.reduce(1, *)).map { _ in .random(in: 0...255, using: &random) }
    }
    let (lhs, rhs) = (values(shapes.lhs), values(shapes.rhs))
    let count = shapes.result.reduce(1, *)
    let columns = shapes.result.last ?? 1
    func element(_ values: [UInt8], _ shape: [Int], _ index: Int) -> Int32 {
      let column = shape.last == 1 ? 0 : index % columns
      let row = shape.count < 2 || shape[0] == 1 ? 0 : index / columns
      let byte = values[row * (shape.last ?? 1) + column]
      return isSigned ? Int32(Int8(bitPattern: byte)) : Int32(byte)
    }
    let expected = (0..<count).map {
      UInt8(truncatingIfNeeded: formula(element(lhs, shapes.lhs, $0), element(rhs, shapes.rhs, $0)))
    }
    for threads in [1, 2] {
      var result = [UInt8](repeating: 0xA5, count: count + 64)
      var span = result.mutableSpan
      var bytes = span.mutableBytes
      kernel.run(lhs.span.bytes, rhs.span.bytes, to: &bytes, threads: ThreadTeam(count: threads))
      #expect(Array(result.prefix(count)) == expected, "\(shapes)")
      #expect(result.suffix(64).allSatisfy { $0 == 0xA5 }, "a write beyond the output")
    }
  }
}
