// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels
import ApusRuntime
import TestSupport
import Testing

/// Sums, products and the like of floats.
@Suite struct FloatOperationTests {
  @Test("every set answers as plain Swift does, bit by bit", arguments: KernelSet.tested)
  func agreesWithPlainSwift(set: KernelSet) throws {
    let shapes: [([Int], [Int])] = [
      ([1000], [1000]), ([1], [777]), ([777], []), ([5, 100], [5, 1]), ([5, 1], [5, 100]),
      ([9, 40, 3], [3]), ([4, 130], [130]), ([2, 3, 33], [2, 1, 33]), ([31], [31]), ([64], [64]),
      // Rows that go at once.
      ([50, 64], [50, 1]), ([1, 96], [70, 1]), ([7, 48], [48]), ([1, 9, 16], [1, 9, 1]),
      ([300, 80], [300, 1]),
    ]
    var random = SeededGenerator(seed: 7)
    for (left, right) in shapes {
      let shapes = try #require(BroadcastShapes(left, right))
      for kind in FloatOperation.Kind.allCases {
        let bounds: (Float, Float) = [(-.infinity, .infinity), (0, 6), (-.greatestFiniteMagnitude, 1e30)]
          .pick(using: &random)
        let operation = FloatOperation(kind, minimum: bounds.0, maximum: bounds.1)
        let lhs = floats(left.reduce(1, *), using: &random)
        let rhs = floats(right.reduce(1, *), using: &random)
        let expected = run(operation.kernel(shapes), lhs, rhs, shapes, threads: 1)
        for threads in [1, 2] {
          let found = run(set.prepare(operation, shapes), lhs, rhs, shapes, threads: threads)
          let differing = found.indices.filter {
            found[$0].bitPattern != expected[$0].bitPattern && !(found[$0].isNaN && expected[$0].isNaN)
          }
          #expect(differing.isEmpty, "\(kind) of \(left) and \(right)")
        }
      }
    }
  }

  @Test("a result may lie where an operand was", arguments: KernelSet.tested)
  func worksInPlace(set: KernelSet) throws {
    var random = SeededGenerator(seed: 8)
    for count in [16, 33, 47, 100, 1000] {
      let shapes = try #require(BroadcastShapes([count], [count]))
      let lhs = floats(count, using: &random)
      let rhs = floats(count, using: &random)
      let operation = FloatOperation(.multiply)
      let expected = run(operation.kernel(shapes), lhs, rhs, shapes, threads: 1)
      var values = lhs
      unsafe values.withUnsafeMutableBytes { memory in
        let operand = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(memory))
        var result = unsafe MutableRawSpan(_unsafeBytes: memory)
        set.prepare(operation, shapes).run(
          operand, rhs.span.bytes, to: &result, threads: ThreadTeam(count: 1))
      }
      #expect(zip(values, expected).allSatisfy { $0.bitPattern == $1.bitPattern || $0.isNaN && $1.isNaN })
    }
  }

  /// Random values. About one in eight is special: a zero of either sign, an infinity, NaN, 6 or an extreme magnitude.
  private func floats(_ count: Int, using random: inout SeededGenerator) -> [Float] {
    let rare: [Float] = [
      0, -0.0, .infinity, -.infinity, .nan, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 6,
    ]
    return (0..<count).map { _ in
      Int.random(in: 0..<8, using: &random) == 0
        ? rare.pick(using: &random) : .random(in: -10...10, using: &random)
    }
  }

  private func run(
    _ kernel: any BinaryKernel, _ lhs: [Float], _ rhs: [Float], _ shapes: BroadcastShapes, threads: Int
  ) -> [Float] {
    var output = [Float](repeating: -1, count: shapes.result.reduce(1, *))
    var span = output.mutableSpan
    var bytes = span.mutableBytes
    kernel.run(lhs.span.bytes, rhs.span.bytes, to: &bytes, threads: ThreadTeam(count: threads))
    return output
  }
}
