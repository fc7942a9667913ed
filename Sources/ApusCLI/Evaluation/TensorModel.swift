// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision

/// A model that takes raw tensors, with an interpreter for each caller.
final class TensorModel: Sendable {
  /// The only input, with the shape that is prepared.
  let input: Tensor
  /// The outputs.
  let outputs: [Tensor]
  private let interpreters: InterpreterPool

  /// Prepares a model.
  ///
  /// - Parameter shape: The input's shape; nil for the model's own.
  /// - Throws: `invalidArgument` for a model with several inputs, or a shape that it does not take; errors of the interpreter.
  init(_ model: Model, options: Interpreter.Options, shape: [Int]?) throws(ApusError) {
    guard model.inputs.count == 1, let described = model.inputs.first else {
      throw ApusError(
        .invalidArgument, "the model has \(model.inputs.count) inputs; raw tensors are evaluated with one")
    }
    var options = options
    // Another shape with as many elements is no other input, but where the model leaves its shape open.
    let isOpen = described.shapeSignature.isEmpty || described.shapeSignature.contains { $0 < 0 }
    if let shape, isOpen || TensorShape(shape).elementCount != described.shape.elementCount {
      let signature = described.shapeSignature
      guard
        signature.isEmpty
          || signature.count == shape.count && zip(signature, shape).allSatisfy({ $0 < 0 || $0 == $1 })
      else {
        throw ApusError(
          .invalidArgument, "--shape is \(TensorShape(shape)), but the model's input is \(described)")
      }
      options.inputShapes[0] = TensorShape(shape)
    }
    let interpreter = try Interpreter(model: model, options: options)
    let prepared = interpreter.inputs[0]
    (input, outputs) = (prepared, interpreter.outputs)
    guard prepared.shape.elementCount > 0 else {
      throw ApusError(
        .invalidArgument, "the model's input \(prepared) has no elements; --shape says which shape it has")
    }
    interpreters = InterpreterPool(interpreter, options: options) { _ in prepared.shape }
  }

  /// The numbers of an output for the bytes of the input.
  ///
  /// - Throws: `invalidArgument` if there are more or fewer bytes; errors of the run.
  func numbers(for bytes: ArraySlice<UInt8>, output: Int = 0) throws(ApusError) -> [Float] {
    try run(bytes) { interpreter throws(ApusError) in try interpreter.dequantizedOutput(at: output) }
  }

  /// The result of `body` for the interpreter after a run on the bytes of the input.
  ///
  /// - Throws: `invalidArgument` if there are more or fewer bytes; errors of the run and of `body`.
  func run<Result>(
    _ bytes: ArraySlice<UInt8>, _ body: (Interpreter) throws(ApusError) -> Result
  ) throws(ApusError) -> Result {
    try interpreters.withInterpreter(cancellation: nil) { interpreter throws(ApusError) in
      try interpreter.withInputBytes(at: 0) { span throws(ApusError) in
        guard span.byteCount == bytes.count else {
          throw ApusError(
            .invalidArgument,
            "the input \(input) takes \(span.byteCount) bytes, but the file has \(bytes.count)")
        }
        for (offset, byte) in bytes.enumerated() {
          span.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
        }
      }
      try interpreter.invoke()
      return try body(interpreter)
    }
  }
}
