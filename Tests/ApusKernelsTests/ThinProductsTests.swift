// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusCodeGeneration
import ApusKernels
import ApusRuntime
import TestSupport
import Testing

/// Products of few rows with unpacked matrices.
@Suite struct ThinProductsTests {
  /// The kernel sets of this machine that have code for thin products.
  private static let sets = KernelSet.supported.filter {
    (try? ThinProducts(rows: 1, depth: 1, columns: 64, pairs: MatrixPairs(lhs: [], rhs: []), using: $0))
      != nil
  }

  @Test("all rows, terms and columns are there, with any number of threads", arguments: sets)
  func multiplies(set: KernelSet) throws {
    for seed in 0..<120 {
      var random = SeededGenerator(seed: UInt64(seed))
      let rows = Int.random(in: 1...8, using: &random)
      let depth = seed % 10 == 0 ? 1500 : Int.random(in: 1...70, using: &random)
      let columns = 16 * Int.random(in: 1...(seed % 10 == 0 ? 30 : 9), using: &random)
      let pairs = [
        MatrixPairs(lhs: [], rhs: []), MatrixPairs(lhs: [3], rhs: [3]),
        MatrixPairs(lhs: [2, 1], rhs: [1, 2]),
        MatrixPairs(lhs: [1, 4], rhs: [2, 1]),
      ][seed % 4]
      let (lhsCount, rhsCount) = (pairs.lhsCount, pairs.rhsCount)
      // Small integers, whose sums are exact in any order.
      let lhs = (0..<lhsCount * rows * depth).map { _ in Float(Int.random(in: -9...9, using: &random)) }
      let rhs = (0..<rhsCount * depth * columns).map { _ in Float(Int.random(in: -9...9, using: &random)) }
      let products = try ThinProducts(rows: rows, depth: depth, columns: columns, pairs: pairs, using: set)
      var expected: [Float] = []
      for pair in (0..<pairs.count).map({ pairs[$0] }) {
        for row in 0..<rows {
          var sums = [Float](repeating: 0, count: columns)
          for term in 0..<depth {
            let factor = lhs[(pair.lhs * rows + row) * depth + term]
            let first = (pair.rhs * depth + term) * columns
            for column in 0..<columns { sums[column] += factor * rhs[first + column] }
          }
          expected += sums
        }
      }
      for threads in [1, 2, 3] {
        // The numbers behind the products must stay.
        var output = [Float](repeating: .nan, count: expected.count) + Array(repeating: -7, count: 32)
        var span = output.mutableSpan
        var bytes = span.mutableBytes
        products.run(
          lhs: lhs.span.bytes, rhs: rhs.span.bytes, output: &bytes, threads: ThreadTeam(count: threads))
        #expect(Array(output.dropLast(32)) == expected, "seed \(seed), \(threads) threads")
        #expect(output.suffix(32).allSatisfy { $0 == -7 })
      }
    }
  }

  @Test("products of many rows, and of columns that do not fill vectors, are left to others", arguments: sets)
  func declines(set: KernelSet) {
    for (rows, columns) in [(9, 64), (0, 64), (1, 63), (1, 0)] {
      #expect(throws: Decline.self) {
        try ThinProducts(
          rows: rows, depth: 8, columns: columns, pairs: MatrixPairs(lhs: [], rhs: []), using: set)
      }
    }
  }
}
