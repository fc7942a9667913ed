// SPDX-License-Identifier: Apache-2.0

internal import Apus

/// A model, read and checked. Internal, with the members that tests of TensorFlowLiteSwift look at.
final class Model {
  /// The engine's model. The name is TensorFlowLiteSwift's, whose model is a C pointer.
  let cModel: Apus.Model?

  /// The bytes that the model was made of; nil if it came from a file.
  let data: Data?

  /// Reads a model from a file; nil if the file cannot be read or is not a model.
  init?(filePath: String) {
    guard let model = try? Apus.Model(contentsOfFile: filePath) else { return nil }
    cModel = model
    data = nil
  }

  /// Reads a model from bytes; nil if they are not a model.
  init?(modelData: Data) {
    guard let model = try? Apus.Model(bytes: [UInt8](modelData)) else { return nil }
    cModel = model
    data = modelData
  }
}
