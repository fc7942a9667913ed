// SPDX-License-Identifier: Apache-2.0

/// `ASSIGN_VARIABLE`: gives a resource variable another value, shape and type.
final class AssignVariable: Operator {
  private let variable: ResourceStore.Variable
  private let value: TensorSlot
  private let resources: ResourceStore

  private init(_ variable: ResourceStore.Variable, value: TensorSlot, resources: ResourceStore) {
    self.variable = variable
    self.value = value
    self.resources = resources
  }

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2, outputs: 0...0)
    let handle = try node.resourceHandle(0)
    let value = try node.input(1)
    let resources = node.context.resources
    guard let variable = try node.variable(of: handle) else {
      return AssignVariableOfRun(handle: handle, value: value, resources: resources)
    }
    return AssignVariable(variable, value: value, resources: resources)
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    try resources.assign(variable, type: value.type, shape: value.shape, bytes: tensors.readBytes(value))
  }
}

/// `ASSIGN_VARIABLE` whose handle only a run knows.
private struct AssignVariableOfRun: Operator {
  let handle: TensorSlot
  let value: TensorSlot
  let resources: ResourceStore

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    try resources.assign(
      tensors.read(handle, as: Int32.self)[0], type: value.type, shape: value.shape,
      bytes: tensors.readBytes(value))
  }
}
