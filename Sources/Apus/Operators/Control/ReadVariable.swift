// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `READ_VARIABLE`: the value that was assigned to a resource variable.
///
/// A result without dimensions has the shape of the variable. Any other keeps the shape that the file declares, as in the reference:
/// of a larger variable, as after an input was resized, it is the first elements.
struct ReadVariable: Operator {
  private let handle: TensorSlot
  private let output: TensorSlot
  private let resources: ResourceStore
  private let place: String

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
      guard let variable = resources[number] else { throw neverAssigned(node.place) }
      shape = variable.shape
      node.preparation.assume { resources[number]?.shape == shape }
    }
    return ReadVariable(
      handle: handle, output: try node.output(0, shape: shape), resources: resources, place: node.place)
  }

  private static func neverAssigned(_ place: String) -> ApusError {
    ApusError(.invalidData, "\(place): reads a variable that was never assigned")
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    guard let variable = resources[tensors.read(handle, as: Int32.self)[0]] else {
      throw Self.neverAssigned(place)
    }
    var bytes = tensors.writeBytes(output)
    let byteCount = bytes.byteCount
    guard variable.type == output.type, variable.byteCount >= byteCount else {
      throw ApusError(
        .invalidData,
        "\(place): the variable is \(variable.type) \(variable.shape), not \(output.type) \(output.shape)"
          + (variable.type == output.type ? ", which has more elements" : ""))
    }
    unsafe bytes.withUnsafeMutableBytes {
      unsafe $0.copyMemory(from: UnsafeRawBufferPointer(start: variable.memory.base, count: byteCount))
    }
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
}
