// SPDX-License-Identifier: Apache-2.0

/// `SHAPE` and `RANK`: the input's dimensions, or their number; known at preparation.
enum Shape {
  /// The type of SHAPE's result, by its options.
  static func type(_ options: OperatorOptions) throws(ApusError) -> ElementType? { try options.shape.type }

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    _ = try type(node.options)
    let dimensions = try node.input(0).shape.dimensions
    return try node.integerOutput(0, shape: [dimensions.count], dimensions)
  }

  static func prepareRank(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let rank = try node.input(0).shape.rank
    return try node.constantOutput(0, shape: [], values: [Int32(clamping: rank)])
  }
}

extension Node {
  /// Makes an `int32` or `int64` output a constant.
  func integerOutput(_ position: Int, shape: TensorShape, _ values: [Int]) throws(ApusError) -> any Operator {
    if try outputType(position) == .int64 {
      return try constantOutput(position, shape: shape, values: values.map(Int64.init))
    }
    return try constantOutput(position, shape: shape, values: values.map { Int32(truncatingIfNeeded: $0) })
  }
}
