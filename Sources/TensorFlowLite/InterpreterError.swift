// SPDX-License-Identifier: Apache-2.0

/// The errors of an ``Interpreter``.
///
/// Every case has the fixed English text of TensorFlowLiteSwift. Where the engine knows a cause, the error is
/// ``tensorFlowLiteError(_:)`` with that cause: the operator, the tensor, what was found and what was expected.
public enum InterpreterError: Error, Equatable, Hashable {
  /// There is no input or output with that index; `maxIndex` is −1 if there is none at all.
  case invalidTensorIndex(index: Int, maxIndex: Int)
  /// The data do not have exactly the bytes of the tensor.
  case invalidTensorDataCount(provided: Int, required: Int)
  /// The tensor holds strings, handles or variants, which are not plain bytes.
  case invalidTensorDataType
  /// The file cannot be read, or its bytes are not a model.
  case failedToLoadModel
  /// TensorFlow Lite's refusal of a model; here it is ``tensorFlowLiteError(_:)``, with the operator that cannot run.
  case failedToCreateInterpreter
  /// The shape has a dimension below zero or above `Int32.max`.
  case failedToResizeInputTensor(index: Int)
  /// TensorFlow Lite's refusal of a copy; never thrown here.
  case failedToCopyDataToInputTensor
  /// TensorFlow Lite's refusal of a shape; here it is ``tensorFlowLiteError(_:)``, with the operator that refuses.
  case failedToAllocateTensors
  /// ``Interpreter/allocateTensors()`` has not been called since the interpreter was made, or since an input was resized.
  case allocateTensorsRequired
  /// The output's size depends on data: it is known after ``Interpreter/invoke()``. Also thrown before allocation.
  case invokeInterpreterRequired
  /// The engine's own message.
  case tensorFlowLiteError(String)
}

extension InterpreterError: LocalizedError {
  /// The fixed text of the case.
  public var errorDescription: String? {
    switch self {
    case .invalidTensorIndex(let index, let maxIndex):
      "Invalid tensor index \(index), max index is \(maxIndex)."
    case .invalidTensorDataCount(let provided, let required):
      "Provided data count \(provided) must match the required count \(required)."
    case .invalidTensorDataType:
      "Tensor data type is unsupported or could not be determined due to a model error."
    case .failedToLoadModel: "Failed to load the given model."
    case .failedToCreateInterpreter: "Failed to create the interpreter."
    case .failedToResizeInputTensor(let index): "Failed to resize input tensor at index \(index)."
    case .failedToCopyDataToInputTensor: "Failed to copy data to input tensor."
    case .failedToAllocateTensors: "Failed to allocate memory for input tensors."
    case .allocateTensorsRequired: "Must call allocateTensors()."
    case .invokeInterpreterRequired: "Must call invoke()."
    case .tensorFlowLiteError(let message): "TensorFlow Lite Error: \(message)"
    }
  }

  /// How to find the cause, if the case cannot carry one; otherwise nil.
  public var recoverySuggestion: String? {
    self == .failedToLoadModel
      ? "Apus.Model(contentsOfFile:) and the command `apus inspect` say what is wrong with the file, and where."
      : nil
  }
}

extension InterpreterError: CustomStringConvertible {
  /// The fixed text of the case.
  public var description: String { errorDescription ?? "" }
}
