// SPDX-License-Identifier: Apache-2.0

import TensorFlowLite

/// The models of `Tests/Goldens/clients`, which `Tools/goldens/client_models.py` makes.
enum TestModel: String, CaseIterable {
  /// `input` [1, 8, 8, 3], three times itself in `output`.
  case add
  /// `input` [1, 8, 8, 3] in uint8, three times itself in `output`.
  case addQuantized = "add_quantized"
  /// The signatures `add`, x + 2, and `sub`, x − 2.
  case multiSignatures = "multi_signatures"
  /// `first` − `second` and their sum; the signature calls them `é` and `b`, `minus` and `plus`.
  case difference
  /// The numbers from 0 to a limit.
  case counting
  /// An element of [1, 2, 3].
  case lookup
  /// The sum of four int8 values.
  case weighted
  /// No input; −1 and 2.
  case constant
  /// A resource variable that starts at 10; the signatures `add`, which adds to it, and `read`.
  case counter
  /// A custom operator that has no implementation.
  case unknown

  /// The file.
  var path: String {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Goldens/clients/\(rawValue).tflite").path
  }

  /// An interpreter of the model.
  func interpreter() throws -> Interpreter { try Interpreter(modelPath: path) }
}

/// The bytes of values, as clients of TensorFlowLiteSwift make them.
func data<Element>(_ values: [Element]) -> Data {
  values.withUnsafeBufferPointer { Data(buffer: $0) }
}

/// The values of a tensor.
func values<Element>(_ tensor: Tensor, as type: Element.Type = Element.self) -> [Element] {
  tensor.data.withUnsafeBytes { Array($0.bindMemory(to: type)) }
}
