// SPDX-License-Identifier: Apache-2.0

/// The form of a model's scores.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum ScoreForm: String, Codable, Hashable, Sendable, CaseIterable {
  /// Probabilities, 0 to 1.
  case probability
  /// Logits, any number: a sigmoid or softmax makes probabilities of them.
  case logit
  /// Any numbers, reported as the model gives them.
  case raw
  /// Probabilities times 255, as bytes without a scale have them: for classifiers and masks.
  case byte
}
