// SPDX-License-Identifier: Apache-2.0
import Apus

/// Reads the first output of a model as scores of classes, whatever its input: what a classifier does after a run.
package struct TensorClassifier: Sendable {
  private let heads: ClassificationHeads

  /// Looks at a model's first output.
  ///
  /// - Parameters:
  ///   - output: The output as prepared.
  ///   - labels: The names of the classes; nil for those inside the model.
  ///   - scores: What the numbers are; nil for what the file says, or else what the first answer shows.
  /// - Throws: `invalidArgument` if it is no list of scores, or the options name unknown labels.
  package init(
    _ model: Model, output: Tensor, labels: LabelMap?, scores: ScoreForm?, options: ResultOptions
  ) throws(ApusError) {
    try options.check()
    heads = try ClassificationHeads(
      of: DescribedFile(model, outputs: [output]), labels: labels, scores: scores, options: options)
  }

  /// The names of the classes; nil if neither the caller nor the model has any.
  package var labels: LabelMap? { heads.labels?.map }
  /// How many classes there are.
  package var classCount: Int { heads.classCount }
  /// Whether the next answer may decide how all later ones are read.
  package var isUndecided: Bool { heads.isUndecided }
  /// How the scores and the labels are read.
  package var readings: [Assumption] { heads.readings + (heads.labels?.readings ?? []) }

  /// The warnings about the labels, and those from answers so far; usually empty.
  package var warnings: [String] { heads.warnings + (heads.labels?.warnings ?? []) }

  /// The classes after a run, the best first.
  ///
  /// - Throws: `invalidData` for numbers that the reading cannot have.
  package func classify(_ interpreter: Interpreter) throws(ApusError) -> [Category] {
    try heads.classifications(of: ModelRun(interpreter)).first?.categories ?? []
  }
}
