// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// `RESHAPE`: the same elements in another shape, from an `int32` vector or the options; −1 is inferred from the
/// other sizes.
enum Reshape {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...2)
    let input = try node.input(0)
    var dimensions: [Int]
    if let shape = try node.optionalInput(1), shape.shape.rank == 1, shape.type == .int32 {
      dimensions = try node.integers(of: shape)
    } else {
      let vector = try node.options.reshape.shape
      // Old models write a scalar's shape as [0].
      dimensions = vector == [0] ? [] : vector
    }
    return try node.view(0, of: input, shape: resolve(dimensions, of: input, node))
  }

  /// Replaces −1 by a size.
  private static func resolve(
    _ target: [Int], of input: TensorSlot, _ node: Node
  ) throws(ApusError) -> TensorShape {
    let open = target.indices.filter { target[$0] == -1 }
    guard open.count <= 1, target.allSatisfy({ $0 >= -1 }) else {
      throw node.malformed("the shape \(target.brief) has negative sizes")
    }
    guard let axis = open.first else { return TensorShape(target) }
    var dimensions = target
    // Zeros count as ones, so that a size can be inferred next to them.
    let known = TensorShape(target.map { max($0, 1) }).elementCount
    let present = TensorShape(input.shape.dimensions.map { max($0, 1) }).elementCount
    let isLost = input.shape.elementCount == 0 && !target.contains(0)
    dimensions[axis] = isLost ? 0 : present / known
    return TensorShape(dimensions)
  }
}
