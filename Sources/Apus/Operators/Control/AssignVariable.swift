// SPDX-License-Identifier: Apache-2.0

/// `ASSIGN_VARIABLE`: gives a resource variable another value, shape and type.
struct AssignVariable: Operator {
  private let handle: TensorSlot
  private let value: TensorSlot
  private let resources: ResourceStore

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2, outputs: 0...0)
    return AssignVariable(
      handle: try node.resourceHandle(0), value: try node.input(1), resources: node.context.resources)
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    try resources.assign(
      tensors.read(handle, as: Int32.self)[0], type: value.type, shape: value.shape,
      bytes: tensors.readBytes(value))
  }
}
