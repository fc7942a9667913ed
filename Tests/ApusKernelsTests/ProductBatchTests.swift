// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels
import ApusRuntime
import TestSupport
import Testing

/// Products of pairs of matrices.
@Suite struct ProductBatchTests {
  @Test(
    "products are of the right pairs, in every form, with any number of threads", arguments: KernelSet.tested)
  func multipliesPairs(set: KernelSet) throws {
    for seed in 0..<60 {
      var random = SeededGenerator(seed: UInt64(seed))
      let (rows, depth, outputs) = (
        Int.random(in: 1...40, using: &random), Int.random(in: 1...70, using: &random),
        Int.random(in: 1...90, using: &random)
      )
      let pairs = matrixPairs(using: &random)
      let (lhsCount, rhsCount) = (pairs.lhsCount, pairs.rhsCount)
      let (lhsTurns, rhsTurns) = (Bool.random(using: &random), Bool.random(using: &random))
      // Small integers, whose sums are exact in any order.
      let lhs = (0..<lhsCount * rows * depth).map { _ in Float(Int.random(in: -9...9, using: &random)) }
      let rhs = (0..<rhsCount * outputs * depth).map { _ in Float(Int.random(in: -9...9, using: &random)) }
      let kernel = try #require(
        set.prepare(
          Convolution(
            rows: rows, depth: depth, columns: outputs, operands: .float32,
            epilogue: .float32(minimum: -.infinity, maximum: .infinity))))
      let batch = ProductBatch(
        kernel,
        ProductBatch.Shape(rows: rows, depth: depth, outputs: outputs, widths: (lhs: 4, rhs: 4, product: 4)),
        pairs: pairs, isLhsTransposed: lhsTurns, isRhsTransposed: rhsTurns)
      var expected: [Float] = []
      for pair in (0..<pairs.count).map({ pairs[$0] }) {
        for row in 0..<rows {
          for output in 0..<outputs {
            var sum: Float = 0
            for term in 0..<depth {
              let left = lhsTurns ? term * rows + row : row * depth + term
              let right = rhsTurns ? term * outputs + output : output * depth + term
              sum += lhs[pair.lhs * rows * depth + left] * rhs[pair.rhs * outputs * depth + right]
            }
            expected.append(sum)
          }
        }
      }
      for threads in set.isEmulated ? [1] : [1, 2, 3] {
        for arePacked in [false, true] {
          let found = run(
            batch, kernel, lhs, rhs, rhsCount: rhsCount, count: expected.count, arePacked: arePacked,
            threads: threads)
          #expect(found == expected, "seed \(seed), \(threads) threads")
        }
      }
      set.expectNoFaults()
    }
  }

  @Test(
    "products of bytes whose right matrices come with each run are the sums that the definition says",
    arguments: KernelSet.testedConvolutions)
  func multipliesBytes(set: KernelSet) throws {
    for (index, seed) in set.seeds(160).enumerated() {
      var random = SeededGenerator(seed: UInt64(seed) &+ 4_711)
      let rows = index % 8 == 0 ? 400 : index % 2 == 0 ? index % 5 + 1 : .random(in: 1...40, using: &random)
      let depth = Int.random(in: 1...70, using: &random)
      let outputs = Int.random(in: 1...130, using: &random)
      let (lhsZero, rhsZero) = (zeroPoint(&random), zeroPoint(&random))
      // Some of these factors need code that accepts any sum.
      let factor = FixedPointMultiplier([0.004, 0.000_37, 0.5, 1.25].pick(using: &random))
      let (lhsTurns, rhsTurns) = (Bool.random(using: &random), Bool.random(using: &random))
      let pairs = matrixPairs(using: &random)
      let lhs = (0..<pairs.lhsCount * rows * depth).map { _ in Int8.random(in: -128...127, using: &random) }
      let rhs = (0..<pairs.rhsCount * outputs * depth).map { _ in
        Int8.random(in: -128...127, using: &random)
      }
      var expected: [Int8] = []
      for pair in (0..<pairs.count).map({ pairs[$0] }) {
        for row in 0..<rows {
          for output in 0..<outputs {
            var sum: Int32 = 0
            for term in 0..<depth {
              let left = lhsTurns ? term * rows + row : row * depth + term
              let right = rhsTurns ? term * outputs + output : output * depth + term
              sum +=
                (Int32(lhs[pair.lhs * rows * depth + left]) - lhsZero)
                * (Int32(rhs[pair.rhs * outputs * depth + right]) - rhsZero)
            }
            expected.append(Int8(clamping: factor.apply(sum) - 3))
          }
        }
      }
      for isTransient in [false, true] {
        var convolution = Convolution(
          rows: rows, depth: depth, columns: outputs,
          operands: .int8(lhsZeroPoint: lhsZero, rhsZeroPoint: rhsZero),
          epilogue: .fixedPoint([factor], zeroPoint: -3, minimum: -128, maximum: 127))
        convolution.hasTransientWeights = isTransient
        let kernel = try #require(set.prepare(convolution))
        let batch = ProductBatch(
          kernel,
          ProductBatch.Shape(
            rows: rows, depth: depth, outputs: outputs, widths: (lhs: 1, rhs: 1, product: 1)),
          pairs: pairs, isLhsTransposed: lhsTurns, isRhsTransposed: rhsTurns)
        for threads in set.threads([1, 2, 3]) {
          let found = try run(
            batch, kernel, lhs, rhs, count: expected.count, threads: threads)
          #expect(
            found == expected,
            "seed \(seed), \(threads) threads, \(rows)×\(depth)×\(outputs), \(kernel.implementation)")
        }
      }
      set.expectNoFaults()
    }
  }

  private func zeroPoint(_ random: inout SeededGenerator) -> Int32 {
    Bool.random(using: &random)
      ? [-128, 0, 127].pick(using: &random) : Int32.random(in: -128...127, using: &random)
  }

  /// Multiplies matrices between guard pages; the right matrices are packed in the run.
  private func run(
    _ batch: ProductBatch, _ kernel: any PreparedConvolution, _ lhs: [Int8], _ rhs: [Int8], count: Int,
    threads: Int
  ) throws -> [Int8] {
    let left = try #require(GuardedMemory(lhs.map { UInt8(bitPattern: $0) }))
    let right = try #require(GuardedMemory(rhs.map { UInt8(bitPattern: $0) }))
    let result = try #require(GuardedMemory(count: count, repeating: 0x5A))
    let work = try #require(
      GuardedMemory(count: batch.scratchByteCount(threads: threads), repeating: 0xFF))
    // Memory begins behind a page and ends before one in turn: with one more, each kind changes from run to run.
    _ = GuardedMemory(count: 1, repeating: 0)
    let weights = (0..<batch.packedCount(threads: threads)).map { _ in
      PackedWeights(byteCount: kernel.packedByteCount)
    }
    var output = unsafe result.bytes.mutableBytes
    var scratch = unsafe work.bytes.mutableBytes
    batch.run(
      lhs: unsafe UnsafeRawBufferPointer(left.bytes).bytes,
      rhs: unsafe UnsafeRawBufferPointer(right.bytes).bytes, weights: weights, arePacked: false,
      output: &output, scratch: &scratch, threads: ThreadTeam(count: threads))
    return unsafe result.bytes.map { Int8(bitPattern: $0) }
  }

  private func run(
    _ batch: ProductBatch, _ kernel: any PreparedConvolution, _ lhs: [Float], _ rhs: [Float], rhsCount: Int,
    count: Int, arePacked: Bool, threads: Int
  ) -> [Float] {
    var scratch = [UInt8](repeating: 0xFF, count: batch.scratchByteCount(threads: threads))
    var scratchSpan = scratch.mutableSpan
    var scratchBytes = scratchSpan.mutableBytes
    let weights = (0..<(arePacked ? rhsCount : batch.packedCount(threads: threads))).map { index in
      let packed = PackedWeights(byteCount: kernel.packedByteCount)
      if arePacked { batch.pack(index, of: rhs.span.bytes, into: packed, scratch: &scratchBytes) }
      return packed
    }
    var output = [Float](repeating: .nan, count: count)
    var span = output.mutableSpan
    var bytes = span.mutableBytes
    batch.run(
      lhs: lhs.span.bytes, rhs: rhs.span.bytes, weights: weights, arePacked: arePacked, output: &bytes,
      scratch: &scratchBytes, threads: ThreadTeam(count: threads))
    return output
  }

  @Test("pairs are those of all indices, one after the other")
  func pairs() {
    for seed in 0..<200 {
      var random = SeededGenerator(seed: UInt64(seed))
      let dimensions = dimensions(using: &random)
      let pairs = MatrixPairs(lhs: dimensions.lhs, rhs: dimensions.rhs)
      let exchanged = MatrixPairs(lhs: dimensions.rhs, rhs: dimensions.lhs)
      var expected = [(lhs: 0, rhs: 0)]
      for (left, right) in zip(dimensions.lhs, dimensions.rhs) {
        expected = expected.flatMap { pair in
          (0..<max(left, right)).map { index in
            (
              lhs: pair.lhs * left + (left == 1 ? 0 : index),
              rhs: pair.rhs * right + (right == 1 ? 0 : index)
            )
          }
        }
      }
      #expect(pairs.count == expected.count)
      #expect((0..<pairs.count).allSatisfy { pairs[$0] == expected[$0] })
      #expect((0..<pairs.count).allSatisfy { exchanged[$0] == (expected[$0].rhs, expected[$0].lhs) })
      for pairs in [pairs, exchanged] {
        let together = pairs.together
        #expect(pairs.count.isMultiple(of: together))
        #expect((0..<pairs.count).allSatisfy { pairs[$0].rhs == pairs[$0 / together * together].rhs })
      }
    }
    #expect(MatrixPairs(lhs: [3, 0], rhs: [1, 0]).count == 0)
  }

  private func dimensions(using random: inout SeededGenerator) -> (lhs: [Int], rhs: [Int]) {
    var (lhs, rhs): ([Int], [Int]) = ([], [])
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      let count = Int.random(in: 1...3, using: &random)
      let kind = Int.random(in: 0..<4, using: &random)
      lhs.append(kind == 1 ? 1 : count)
      rhs.append(kind == 2 ? 1 : count)
    }
    return (lhs, rhs)
  }

  private func matrixPairs(using random: inout SeededGenerator) -> MatrixPairs {
    let dimensions = dimensions(using: &random)
    return MatrixPairs(lhs: dimensions.lhs, rhs: dimensions.rhs)
  }
}
