// SPDX-License-Identifier: Apache-2.0
import Apus

/// The options that detectors and classifiers share: which classes they report, and how they name them.
///
/// They are also members of the options of detectors and classifiers, by ``CategoryOptions``.
public struct ResultOptions: Hashable, Sendable {
  /// The minimum score, inclusive except for YOLO; nil for the minimum in the metadata, or else all classes, and for a
  /// detector ``DetectorLayout/defaultScoreThreshold``.
  public var scoreThreshold: Float?

  /// The maximum number of detections, or of classes per head; nil for all classes, or for a detector's
  /// ``DetectorLayout/defaultMaxResults``.
  ///
  /// Detections are counted when boxes have been suppressed, in the model's input, as the published pipelines of YOLO and TensorFlow do;
  /// those that then lie wholly in the bars of a letterbox are left out, so that there may be fewer.
  public var maxResults: Int?

  /// The only labels to report; empty for all. Cannot be combined with ``categoryDenylist``.
  public var categoryAllowlist: [String] = []

  /// The labels to leave out. Cannot be combined with ``categoryAllowlist``.
  public var categoryDenylist: [String] = []

  /// The language of display names, such as `en` or `de-CH`, if the metadata has them; nil for none.
  public var displayNamesLocale: String?

  /// How many label rows precede class 0; nil for what ``LabelMap/detectedOffset`` and the number of classes suggest, or
  /// what the given labels say.
  public var labelOffset: Int?

  /// Makes the default options.
  public init() {}

  /// Refuses numbers that cannot be.
  func check() throws(ApusError) {
    if let scoreThreshold, scoreThreshold.isNaN {
      throw ApusError(.invalidArgument, "the score threshold is not a number")
    }
    if let maxResults, maxResults < 1 {
      throw ApusError(.invalidArgument, "maxResults is \(maxResults), not 1 or more")
    }
  }

  /// The steps that a classifier applies to scores, in words.
  var classificationSteps: [String] {
    var steps: [String] = []
    if let scoreThreshold { steps.append("score >= \(scoreThreshold)") }
    steps.append("best first, equal scores by their index" + (maxResults.map { ", at most \($0)" } ?? ""))
    return steps
  }
}
