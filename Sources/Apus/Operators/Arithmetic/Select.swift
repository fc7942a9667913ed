// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `SELECT`: elements of the second or the third input, chosen by Booleans: one per element, one per slice
/// along the first axis, or one for all.
struct Select: Operator {
  private let kernel: SelectKernel
  private let condition: TensorSlot
  private let first: TensorSlot
  private let second: TensorSlot
  private let output: TensorSlot

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try Select(node, broadcasts: false)
  }

  /// `SELECT_V2`: elements of the second or the third input, chosen by Booleans; all three broadcast to each other.
  static func prepareVersion2(_ node: Node) throws(ApusError) -> any Operator {
    try Select(node, broadcasts: true)
  }

  private init(_ node: Node, broadcasts: Bool) throws(ApusError) {
    try node.expect(inputs: 3...3)
    condition = try node.input(0, types: [.bool])
    first = try node.input(1, types: ElementType.movableBytes)
    second = try node.input(2, types: [first.type])
    var conditionShape = condition.shape.dimensions
    let isAlike = condition.shape == first.shape && first.shape == second.shape
    let declared = TensorShape(try node.declaredOutputShape(0))
    let result: [Int]
    if condition.shape.elementCount == 1, first.shape.elementCount == 1, second.shape.elementCount == 1,
      declared.elementCount == 1
    {
      // Single elements of different ranks: the shape in the file decides.
      result = declared.dimensions
      conditionShape = []
    } else if isAlike || broadcasts {
      guard let pair = BroadcastShapes(conditionShape, first.shape.dimensions),
        let shapes = BroadcastShapes(pair.result, second.shape.dimensions)
      else { throw Self.mismatch(condition, first, second, node) }
      result = shapes.result
    } else {
      guard first.shape == second.shape else { throw Self.mismatch(condition, first, second, node) }
      if condition.shape.rank == 1, first.shape.rank > 0, conditionShape[0] == first.shape[0] {
        conditionShape += Array(repeating: 1, count: first.shape.rank - 1)
      } else if condition.shape.rank > 0 {
        throw Self.mismatch(condition, first, second, node)
      }
      result = first.shape.dimensions
    }
    try node.requireCountable(result)
    output = try node.output(0, shape: TensorShape(result), like: first)
    let isSingle = result.allSatisfy { $0 == 1 }
    guard
      let kernel = SelectKernel(
        condition: conditionShape, first: isSingle ? [] : first.shape.dimensions,
        second: isSingle ? [] : second.shape.dimensions, result: result,
        elementByteCount: first.type.byteCount ?? 0)
    else { throw node.unsupported("\(first.type) is not supported") }
    self.kernel = kernel
  }

  private static func mismatch(
    _ condition: TensorSlot, _ first: TensorSlot, _ second: TensorSlot, _ node: Node
  ) -> ApusError {
    node.malformed("the shapes \(condition.shape), \(first.shape) and \(second.shape) do not fit each other")
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    kernel.run(
      tensors.readBytes(condition), tensors.readBytes(first), tensors.readBytes(second), to: &result,
      threads: tensors.threads)
  }
}
