// SPDX-License-Identifier: Apache-2.0

import TensorFlowLite
import Testing

/// The texts are those of TensorFlowLiteSwift: clients print and compare them.
struct ErrorTextTests {
  @Test(
    "an interpreter's error has its fixed text",
    arguments: [
      (.invalidTensorIndex(index: 3, maxIndex: 1), "Invalid tensor index 3, max index is 1."),
      (
        .invalidTensorDataCount(provided: 7, required: 8),
        "Provided data count 7 must match the required count 8."
      ),
      (
        .invalidTensorDataType,
        "Tensor data type is unsupported or could not be determined due to a model error."
      ),
      (.failedToLoadModel, "Failed to load the given model."),
      (.failedToCreateInterpreter, "Failed to create the interpreter."),
      (.failedToResizeInputTensor(index: 2), "Failed to resize input tensor at index 2."),
      (.failedToCopyDataToInputTensor, "Failed to copy data to input tensor."),
      (.failedToAllocateTensors, "Failed to allocate memory for input tensors."),
      (.allocateTensorsRequired, "Must call allocateTensors()."),
      (.invokeInterpreterRequired, "Must call invoke()."),
      (.tensorFlowLiteError("why"), "TensorFlow Lite Error: why"),
    ] as [(InterpreterError, String)])
  func interpreterErrors(error: InterpreterError, text: String) {
    #expect(error.localizedDescription == text)
    #expect((error as any Error).localizedDescription == text)
    #expect("\(error)" == text)
  }

  @Test(
    "a signature runner's error has its fixed text",
    arguments: [
      (
        .invalidTensorDataCount(provided: 7, required: 8),
        "Provided data count 7 must match the required count 8."
      ),
      (
        .invalidTensorDataType,
        "Tensor data type is unsupported or could not be determined due to a model error."
      ),
      (
        .failedToCreateSignatureRunner(signatureKey: "k"),
        "Failed to create a signature runner. Signature with key (k) not found."
      ),
      (
        .failedToGetTensor(tensorType: "input", nameInSignature: "n"),
        "Failed to get input tensor with input name (n)."
      ),
      (.failedToResizeInputTensor(inputName: "n"), "Failed to resize input tensor with input name (n)."),
      (.failedToCopyDataToInputTensor, "Failed to copy data to input tensor."),
      (.failedToAllocateTensors, "Failed to allocate memory for input tensors."),
      (.failedToInvokeSignature(signatureKey: "k"), "Failed to invoke the signature runner with key (k)."),
      (.allocateTensorsRequired, "Must call allocateTensors()."),
    ] as [(SignatureRunnerError, String)])
  func signatureRunnerErrors(error: SignatureRunnerError, text: String) {
    #expect(error.localizedDescription == text)
    #expect((error as any Error).localizedDescription == text)
    #expect("\(error)" == text)
  }
}
