// SPDX-License-Identifier: Apache-2.0

/// The errors of a ``SignatureRunner``.
///
/// Every case has the fixed English text of TensorFlowLiteSwift. ``SignatureRunner/failureReason`` has the cause of the
/// two cases that hide one, ``failedToAllocateTensors`` and ``failedToInvokeSignature(signatureKey:)``.
public enum SignatureRunnerError: Error, Equatable, Hashable {
  /// The data do not have exactly the bytes of the tensor.
  case invalidTensorDataCount(provided: Int, required: Int)
  /// The tensor holds strings, handles or variants, which are not plain bytes.
  case invalidTensorDataType
  /// The model has no signature of that name.
  case failedToCreateSignatureRunner(signatureKey: String)
  /// The signature has no tensor of that name; `tensorType` is `input` or `output`.
  case failedToGetTensor(tensorType: String, nameInSignature: String)
  /// The signature has no input of that name, or the shape has a dimension below zero or above `Int32.max`.
  case failedToResizeInputTensor(inputName: String)
  /// TensorFlow Lite's refusal of a copy; never thrown here.
  case failedToCopyDataToInputTensor
  /// The signature cannot run with the shapes of its inputs.
  case failedToAllocateTensors
  /// A value in a tensor stopped the run.
  case failedToInvokeSignature(signatureKey: String)
  /// An input was resized and ``SignatureRunner/allocateTensors()`` has not been called since, or an output's size is
  /// known only after a run.
  case allocateTensorsRequired
}

extension SignatureRunnerError: LocalizedError {
  /// The fixed text of the case.
  public var errorDescription: String? {
    switch self {
    case .invalidTensorDataCount(let provided, let required):
      "Provided data count \(provided) must match the required count \(required)."
    case .invalidTensorDataType:
      "Tensor data type is unsupported or could not be determined due to a model error."
    case .failedToCreateSignatureRunner(let key):
      "Failed to create a signature runner. Signature with key (\(key)) not found."
    case .failedToGetTensor(let type, let name): "Failed to get \(type) tensor with \(type) name (\(name))."
    case .failedToResizeInputTensor(let name): "Failed to resize input tensor with input name (\(name))."
    case .failedToCopyDataToInputTensor: "Failed to copy data to input tensor."
    case .failedToAllocateTensors: "Failed to allocate memory for input tensors."
    case .failedToInvokeSignature(let key): "Failed to invoke the signature runner with key (\(key))."
    case .allocateTensorsRequired: "Must call allocateTensors()."
    }
  }
}

extension SignatureRunnerError: CustomStringConvertible {
  /// The fixed text of the case.
  public var description: String { errorDescription ?? "" }
}
