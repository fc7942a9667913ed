// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// `SQUEEZE`: drops dimensions of size 1, all of them or those that the options name.
enum Squeeze {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let input = try node.input(0, ranks: 0...8)
    let named = try node.option { options throws(FormatError) in try options.int32Vector(0) } ?? []
    var dropped: Set<Int> = []
    for name in named {
      let axis = try node.axis(Int(name), rank: input.shape.rank)
      guard input.shape[axis] == 1 else {
        throw node.malformed("axis \(name) of \(input.name), \(input.shape), does not have size 1")
      }
      dropped.insert(axis)
    }
    let dimensions = input.shape.dimensions.enumerated().filter { axis, size in
      named.isEmpty ? size != 1 : !dropped.contains(axis)
    }
    return try node.view(0, of: input, shape: TensorShape(dimensions.map(\.element)))
  }
}
