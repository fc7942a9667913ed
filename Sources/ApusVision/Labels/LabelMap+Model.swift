// SPDX-License-Identifier: Apache-2.0

import Apus

extension LabelMap {
  /// The labels inside a model file, one name a line: in the file that the metadata names for an
  /// output, or else in the only text that is appended to the model. Nil if there are none, or none readable:
  /// damage costs the labels, never the model.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - offset: How many label rows precede class 0; nil to detect it.
  public init?(of model: Model, offset: Int? = nil) {
    guard let name = model.labelFile, let text = try? model.associatedFile(named: name),
      let labels = try? LabelMap(parsing: text, format: .lines, offset: offset), labels.rowCount > 0
    else { return nil }
    self = labels
  }
}
