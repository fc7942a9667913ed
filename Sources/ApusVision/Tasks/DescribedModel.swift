// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// A model with what is known about it, before anybody asks it anything.
protocol DescribedModel {
  /// The model.
  var model: Model { get }
  /// What its maker says about its inputs and outputs.
  var metadata: ModelMetadata? { get }
  /// What an exporter of YOLO models appended to it.
  var export: ExportMetadata? { get }
  /// The outputs as prepared, in the model's order.
  var outputs: [Tensor] { get }
}

extension DescribedModel {
  /// The outputs, for an error that says what was found.
  var outputDescription: String { outputs.map(\.description).joined(separator: ", ") }
}
