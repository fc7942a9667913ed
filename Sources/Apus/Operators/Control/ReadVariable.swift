// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `READ_VARIABLE`: the value that was assigned to a resource variable.
///
/// A result without dimensions has the shape of the variable. Any other keeps the shape that the file declares, as in the reference:
/// of a larger variable, as after an input was resized, it is the first elements.
final class ReadVariable: Operator {
  private let variable: ResourceStore.Variable
  private let output: TensorSlot
  private let place: String

  private init(_ variable: ResourceStore.Variable, output: TensorSlot, place: String) {
    self.variable = variable
    self.output = output
    self.place = place
  }

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let handle = try node.resourceHandle(0)
    let resources = node.context.resources
    var shape = TensorShape(try node.declaredOutputShape(0))
    if shape.rank == 0 {
      // Either a scalar or a tensor of any rank: only the variable decides.
      let number = try node.values(of: handle, as: Int32.self)[0]
      guard node.preparation.isNextInRun(node.index) else {
        throw ApusError(
          .valueNotKnown, "\(node.place): the variable's shape is known only when the model runs")
      }
      guard let variable = resources[number] else { throw .neverAssigned(node.place) }
      shape = variable.shape
      node.preparation.assume { resources[number]?.shape == shape }
    }
    let output = try node.output(0, shape: shape)
    guard let variable = try node.variable(of: handle) else {
      return ReadVariableOfRun(handle: handle, output: output, resources: resources, place: node.place)
    }
    return ReadVariable(variable, output: output, place: node.place)
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    try variable.read(to: output, tensors, place: place)
  }
}

/// `READ_VARIABLE` whose handle only a run knows.
private struct ReadVariableOfRun: Operator {
  let handle: TensorSlot
  let output: TensorSlot
  let resources: ResourceStore
  let place: String

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    guard let variable = resources[tensors.read(handle, as: Int32.self)[0]] else {
      throw .neverAssigned(place)
    }
    try variable.read(to: output, tensors, place: place)
  }
}

extension ResourceStore.Variable {
  /// Copies the value, or its first elements, to a tensor.
  @inline(__always)
  fileprivate func read(
    to output: TensorSlot, _ tensors: borrowing TensorTable, place: String
  ) throws(ApusError) {
    var bytes = tensors.writeBytes(output)
    guard isAssigned, type == output.type, byteCount >= bytes.byteCount else {
      guard isAssigned else { throw .neverAssigned(place) }
      throw ApusError(
        .invalidData,
        "\(place): the variable is \(type) \(shape), not \(output.type) \(output.shape)"
          + (type == output.type ? ", which has more elements" : ""))
    }
    copy(to: &bytes)
  }
}

extension ApusError {
  fileprivate static func neverAssigned(_ place: String) -> ApusError {
    ApusError(.invalidData, "\(place): reads a variable that was never assigned")
  }
}

extension Node {
  /// An input that names a resource variable.
  func resourceHandle(_ position: Int) throws(ApusError) -> TensorSlot {
    let handle = try input(position, types: [.resource, .int32])
    guard handle.shape.elementCount == 1 else {
      throw malformed("the handle \(handle.name) is \(handle.shape), not one element")
    }
    return handle
  }

  /// The variable of a handle that is a constant of the plan; nil if only a run knows it.
  func variable(of handle: TensorSlot) throws(ApusError) -> ResourceStore.Variable? {
    guard handle.isConstant else { return nil }
    return context.resources.named(try values(of: handle, as: Int32.self)[0])
  }
}
