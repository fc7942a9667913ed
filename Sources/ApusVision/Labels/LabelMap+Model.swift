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

  /// The names of an output's scores, as ``ImageClassifier`` has them: those that are given; else the exporter's; else those in the output's
  /// own file, or in another one inside the model. Nil if there are none.
  ///
  /// The map is aligned to the scores, so that names of a list that leaves out the background begin at class 1. A single score that has
  /// two names is that of the second.
  ///
  /// - Parameters:
  ///   - output: The output's position among the model's; nil for one that the metadata does not describe.
  ///   - model: The model.
  ///   - count: How many scores the output has.
  ///   - given: Names that come before the model's own.
  public init?(ofOutput output: Int?, of model: Model, scoreCount count: Int, given: LabelMap? = nil) {
    let described = DescribedFile(model, outputs: model.outputs)
    guard var source = LabelSource(given: given, of: described, output: output) else { return nil }
    let isPair = count == 1 && source.map.rowCount == 2
    source.align(toScores: isPair ? 2 : count)
    self = source.map
    if isPair { offset += 1 }
  }
}
