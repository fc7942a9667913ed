// SPDX-License-Identifier: Apache-2.0

import ApusKernels
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
      let (lhsCount, rhsCount) = (
        Int.random(in: 1...3, using: &random), Int.random(in: 1...4, using: &random)
      )
      let pairs = (0..<Int.random(in: 1...9, using: &random)).map { _ in
        (lhs: Int.random(in: 0..<lhsCount, using: &random), rhs: Int.random(in: 0..<rhsCount, using: &random))
      }
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
      for pair in pairs {
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
}
