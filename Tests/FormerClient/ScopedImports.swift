// SPDX-License-Identifier: Apache-2.0

import protocol TensorFlowLite.Delegate
import class TensorFlowLite.Interpreter
import enum TensorFlowLite.Runtime
import struct TensorFlowLite.Tensor

/// Code that names what it imports.
struct ModelSummary {
  let inputs: [Tensor.Shape]
  let version: String

  init(of interpreter: Interpreter) throws {
    inputs = try (0..<interpreter.inputTensorCount).map { try interpreter.input(at: $0).shape }
    version = Runtime.version
  }

  static func names(of delegates: [Delegate]?) -> [String] {
    (delegates ?? []).map { String(describing: type(of: $0)) }
  }
}
