// SPDX-License-Identifier: Apache-2.0
import Apus

/// How the scores of a detector with anchors are read: by what its file says, or else by what the first answer shows.
struct AnchorScores: Sendable {
  private let form: Decision<ScoreForm>
  /// A warning if the model contradicts the given scores; nil otherwise.
  private let givenWarning: String?

  /// Reads what a model's file says.
  ///
  /// - Parameters:
  ///   - output: The output with a score for each anchor.
  ///   - given: What the caller says; nil for nothing.
  ///   - option: Whether the caller has an option that says it.
  init(ofOutput output: Int, of prepared: PreparedModel, given: ScoreForm? = nil, hasOption: Bool = false) {
    let reading = prepared.scores(of: output, given: given, usual: .logit)
    var assumption = reading.assumption
    if !hasOption {
      assumption = Assumption(
        assumption.subject, assumption.value, assumption.source, reason: assumption.reason)
    }
    form = Decision(reading.form, assumption)
    givenWarning = reading.warning
  }

  /// Whether the scores are logits, as far as that is decided.
  var areLogits: Bool { form.value == .logit }
  /// Whether the next answer may decide how all later ones are read.
  var isUndecided: Bool { form.isOpen }
  /// The reading as decided so far.
  var assumption: Assumption { form.assumption }
  /// Warnings about the reading; usually empty.
  var warnings: [String] { [form.warning, givenWarning].compactMap(\.self) }

  /// Whether the scores of an answer, one for each anchor, are logits.
  ///
  /// - Throws: `invalidData` if earlier answers showed another form.
  func areLogits(in scores: [Float]) throws(ApusError) -> Bool {
    try form.settle(byCandidates: scores) == .logit
  }
}
