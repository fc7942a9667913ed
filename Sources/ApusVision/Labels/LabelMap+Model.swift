// SPDX-License-Identifier: Apache-2.0

import Apus

extension LabelMap {
  /// The labels inside a model file: in the file that the metadata names for an output, or else in the one that `Model.labelFile`
  /// finds. All forms of label files are read, as from files beside the model. Nil if there are none, or none readable: damage costs the
  /// labels, never the model.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - offset: How many label rows precede class 0; nil to detect it.
  public init?(of model: Model, offset: Int? = nil) {
    guard let name = model.labelFile, let labels = try? LabelMap(inside: model, file: name, offset: offset),
      labels.rowCount > 0
    else { return nil }
    self = labels
  }

  /// Reads a label file inside a model, in the form that its name and its text have.
  ///
  /// - Throws: `malformedLabels` with the line, or for a file that is missing; `resourceLimit` for one that is too long.
  init(inside model: Model, file: String, offset: Int? = nil) throws(ApusError) {
    try self.init(parsing: model.associatedFile(named: file), format: Format(ofFile: file), offset: offset)
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
