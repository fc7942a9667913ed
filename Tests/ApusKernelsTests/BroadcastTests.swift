// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime
import Testing

/// Functions of two tensors whose work is cut into many tiles.
@Suite struct BroadcastTests {
  /// Shapes with one long row, with many short rows, and with several loops.
  static let shapes: [([Int], [Int])] = [
    ([200_003], [200_003]), ([200_003], []), ([1], [100_001]), ([3, 70_001], [70_001]),
    ([50_021, 3], [50_021, 1]),
    ([50_021, 3], [3]), ([17, 1, 31, 5, 13], [1, 29, 1, 5, 1]),
    ([2, 3, 2, 3, 2, 3, 2, 3], [3, 1, 3, 1, 3, 1, 3]),
    ([0, 5], [1, 5]), ([1, 1, 1], [1]),
  ]

  @Test("each element is computed from its operands, on any number of threads", arguments: shapes, [1, 3])
  func computesEachElement(operands: ([Int], [Int]), threads: Int) throws {
    let shapes = try #require(BroadcastShapes(operands.0, operands.1))
    let lhs = (0..<operands.0.reduce(1, *)).map { Int32($0) }
    let rhs = (0..<operands.1.reduce(1, *)).map { Int32($0) &* 1_000_003 }
    let count = shapes.result.reduce(1, *)
    var output = [Int32](repeating: -1, count: count)
    let kernel = try #require(
      ArithmeticOperation.add.integers(.int32, minimum: .min, maximum: .max, shapes))
    var span = output.mutableSpan
    var bytes = span.mutableBytes
    kernel.run(lhs.span.bytes, rhs.span.bytes, to: &bytes, threads: ThreadTeam(count: threads))
    let expected = (0..<count).map { index in
      lhs[Self.position(index, in: operands.0, of: shapes.result)]
        &+ rhs[Self.position(index, in: operands.1, of: shapes.result)]
    }
    #expect(output == expected)
  }

  @Test("shapes that do not fit have no common one")
  func refusesOtherShapes() {
    #expect(BroadcastShapes([2, 3], [3, 2]) == nil)
    #expect(BroadcastShapes([4], [0]) == nil)
    #expect(BroadcastShapes([1], [0])?.result == [0])
  }

  /// Where an operand has its element for the result's at `index`.
  private static func position(_ index: Int, in shape: [Int], of result: [Int]) -> Int {
    var (rest, position, stride) = (index, 0, 1)
    for axis in result.indices.reversed() {
      let coordinate = rest % result[axis]
      rest /= result[axis]
      let own = axis - (result.count - shape.count)
      guard own >= 0 else { continue }
      if shape[own] != 1 { position += coordinate * stride }
      stride *= shape[own]
    }
    return position
  }
}
