// SPDX-License-Identifier: Apache-2.0

/// The classes of a picture.
public struct ClassificationResult: VisionResult, Hashable {
  /// The width of the picture after orientation, in pixels.
  public let imageWidth: Int
  /// The height of the picture after orientation, in pixels.
  public let imageHeight: Int
  /// The classes of each head; most models have one.
  public var classifications: [Classifications]
  /// The form of the scores: probabilities, or the model's own numbers.
  public var scoreForm = ScoreForm.probability
  /// The minimum score of a decision; nil for no decision.
  public var decisionThreshold: Float?
  /// The time of each stage.
  public var timings = StageTimings()

  /// Makes a result.
  public init(
    imageWidth: Int, imageHeight: Int, classifications: [Classifications],
    scoreForm: ScoreForm = .probability, decisionThreshold: Float? = nil,
    timings: StageTimings = StageTimings()
  ) {
    self.imageWidth = imageWidth
    self.imageHeight = imageHeight
    self.classifications = classifications
    self.scoreForm = scoreForm
    self.decisionThreshold = decisionThreshold
    self.timings = timings
  }

  /// The classes of the first head, best first.
  public var categories: [Category] { classifications.first?.categories ?? [] }
}

extension ClassificationResult: Encodable {
  private enum CodingKeys: String, CodingKey {
    case decision
    case scoreForm = "scores"
    case timings = "milliseconds"
  }

  /// Encodes `classes`, or `heads` if there are several; `decision` if there is a threshold; `"scores":"raw"` if they are
  /// not probabilities; `milliseconds`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    let decision = decisionThreshold.map { threshold in
      { (head: Classifications?) in
        (head?.decision(threshold: threshold) ?? Classifications.Decision.nothing).text
      }
    }
    try EncodedClassifications(classifications: classifications, decision: decision).encode(to: encoder)
    if scoreForm != .probability { try container.encode(scoreForm, forKey: .scoreForm) }
    try container.encodeIfPresent(decision?(classifications.first), forKey: .decision)
    try container.encode(timings, forKey: .timings)
  }
}

extension ClassificationResult: TimedResult {}
