// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `ARG_MAX` and `ARG_MIN`: the index of the maximum or minimum along an axis; the first of equals.
struct ArgMinMax: Operator {
  private let search: ExtremeSearch
  private let input: TensorSlot
  private let output: TensorSlot

  /// The type of ARG_MAX's result, by its options.
  static func maximumType(_ options: OperatorOptions) throws(ApusError) -> ElementType? {
    try options.argMax.type
  }

  /// The type of ARG_MIN's result, by its options.
  static func minimumType(_ options: OperatorOptions) throws(ApusError) -> ElementType? {
    try options.argMin.type
  }

  static func maximum(_ node: Node) throws(ApusError) -> any Operator {
    _ = try maximumType(node.options)
    return try ArgMinMax(node, isMaximum: true)
  }

  static func minimum(_ node: Node) throws(ApusError) -> any Operator {
    _ = try minimumType(node.options)
    return try ArgMinMax(node, isMaximum: false)
  }

  private init(_ node: Node, isMaximum: Bool) throws(ApusError) {
    try node.expect(inputs: 2...2)
    input = try node.input(0, types: [.float32, .uint8, .int8, .int32, .bool])
    let position = try node.integer(of: node.input(1, types: [.int32, .int64]))
    let axis = try node.axis(position, rank: input.shape.rank)
    guard input.shape[axis] > 0 else {
      throw node.malformed("axis \(axis) of \(input.name), \(input.shape), is empty")
    }
    var dimensions = input.shape.dimensions
    let length = dimensions.remove(at: axis)
    output = try node.output(0, shape: TensorShape(dimensions), types: [.int32, .int64])
    let elements: ScalarType = input.type.scalarType(in: .reducible) ?? .uint8
    search = ExtremeSearch(
      elements, isMaximum: isMaximum, outer: input.shape.elementCount(in: 0..<axis), length: length,
      inner: input.shape.elementCount(in: axis + 1..<input.shape.rank), isWide: output.type == .int64)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    search.run(tensors.readBytes(input), to: &result, threads: tensors.threads)
  }
}
