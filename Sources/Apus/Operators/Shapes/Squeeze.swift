// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// `SQUEEZE`: drops dimensions of size 1, all of them or those that the options name.
enum Squeeze {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let input = try node.input(0, ranks: 0...8)
    let named = try node.options.squeeze.axes
    var isDropped = Array(repeating: named.isEmpty, count: input.shape.rank)
    for name in named {
      let axis = try node.axis(Int(name), rank: input.shape.rank)
      guard input.shape[axis] == 1 else {
        throw node.malformed("axis \(name) of \(input.name), \(input.shape), does not have size 1")
      }
      isDropped[axis] = true
    }
    let shape = TensorShape(
      input.shape.dimensions.indices.filter { input.shape[$0] != 1 || !isDropped[$0] }.map { input.shape[$0] }
    )
    return try node.view(0, of: input, shape: shape)
  }
}
