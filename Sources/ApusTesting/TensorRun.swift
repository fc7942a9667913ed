// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision

/// A run of a model that keeps every tensor.
package struct TensorRun {
  private let interpreter: Interpreter
  /// The inputs, then what operators compute, in the order of the graph.
  package let tensors: [RecordedTensor]

  /// Reads the tensors of an interpreter that preserves all of them.
  package init(_ interpreter: Interpreter) {
    self.interpreter = interpreter
    tensors = RecordedTensor.all(of: interpreter.model)
  }

  /// Prepares a model for inputs; each array's shape becomes its input's where the model leaves that open.
  init(of model: Model, options: Interpreter.Options, inputs: [NumPyArray]) throws(ApusError) {
    var options = options
    options.preservesAllTensors = true
    let described = model.inputs
    for (position, array) in inputs.enumerated() where array.shape != described[position].shape.dimensions {
      let signature = described[position].shapeSignature
      let isOpen =
        signature.isEmpty
        || signature.count == array.shape.count
          && zip(signature, array.shape).allSatisfy { $0 < 0 || $0 == $1 }
      guard isOpen else {
        throw ApusError(
          .invalidArgument,
          "input \(position) (\(described[position].name)) has the shape \(described[position].shape), but is given "
            + "\(TensorShape(array.shape))")
      }
      options.inputShapes[position] = TensorShape(array.shape)
    }
    self.init(try Interpreter(model: model, options: options))
  }

  /// The inputs, with the shapes that are prepared.
  var inputs: [Tensor] { interpreter.inputs }

  /// Fills an input with elements of its own type, or with the real numbers that they represent.
  func fill(_ position: Int, with array: NumPyArray) throws(ApusError) {
    let tensor = interpreter.inputs[position]
    let bytes: [UInt8]
    if array.fits(tensor.type) {
      bytes = array.tensorBytes(of: tensor.type)
    } else {
      guard array.holdsFloats, let converted = tensor.bytes(of: try array.numbers()) else {
        throw ApusError(
          .invalidArgument,
          "input \(position) (\(tensor.name)) is \(tensor.type), but its file holds \(array.typeName)")
      }
      bytes = converted
    }
    try fill(position, with: bytes)
  }

  /// Fills an input with real numbers.
  func fill(_ position: Int, withReals reals: [Double]) throws(ApusError) {
    let tensor = interpreter.inputs[position]
    guard let bytes = tensor.bytes(of: reals) else {
      throw ApusError(
        .invalidArgument,
        "input \(position) (\(tensor.name)) is \(tensor.type), which takes no real numbers; give its elements in a file"
      )
    }
    try fill(position, with: bytes)
  }

  private func fill(_ position: Int, with bytes: [UInt8]) throws(ApusError) {
    try interpreter.withInputBytes(at: position) { span throws(ApusError) in
      guard span.byteCount == bytes.count else {
        throw ApusError(
          .invalidArgument, "input \(position) takes \(span.byteCount) bytes, not \(bytes.count)")
      }
      for index in bytes.indices { span.storeBytes(of: bytes[index], toByteOffset: index, as: UInt8.self) }
    }
  }

  /// Runs the model.
  func invoke() throws(ApusError) { try interpreter.invoke() }

  /// The description of a tensor, with the shape of the last run.
  func description(of tensor: RecordedTensor) -> Tensor { interpreter.tensor(tensor.index) }

  /// The elements of a tensor; nil if it has none that `.npy` files hold, or the run did not compute it.
  package func array(of tensor: RecordedTensor) throws(ApusError) -> NumPyArray? {
    let description = description(of: tensor)
    guard let width = description.type.byteCount else { return nil }
    let bytes = try interpreter.tensorBytes(at: tensor.index)
    let (byteCount, overflow) = description.shape.elementCount.multipliedReportingOverflow(by: width)
    guard !overflow, byteCount == bytes.count else { return nil }
    return try NumPyArray(tensor: bytes, of: description.type, shape: description.shape.dimensions)
  }
}
