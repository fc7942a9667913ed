// SPDX-License-Identifier: Apache-2.0

/// The time that each stage of one result took. Encoded as milliseconds.
public struct StageTimings: Hashable, Codable, Sendable {
  /// Resizing the picture and writing the input.
  public var preprocess: Duration
  /// Running the model.
  public var inference: Duration
  /// Turning outputs into a result.
  public var postprocess: Duration

  /// Makes timings.
  public init(preprocess: Duration = .zero, inference: Duration = .zero, postprocess: Duration = .zero) {
    self.preprocess = preprocess
    self.inference = inference
    self.postprocess = postprocess
  }

  /// All stages together.
  public var total: Duration { preprocess + inference + postprocess }

  /// Adds the times of another result, stage by stage.
  public static func += (timings: inout StageTimings, other: StageTimings) {
    timings.preprocess += other.preprocess
    timings.inference += other.inference
    timings.postprocess += other.postprocess
  }

  private enum CodingKeys: CodingKey {
    case preprocess, inference, postprocess
  }

  /// Encodes milliseconds.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(preprocess / .milliseconds(1), forKey: .preprocess)
    try container.encode(inference / .milliseconds(1), forKey: .inference)
    try container.encode(postprocess / .milliseconds(1), forKey: .postprocess)
  }

  /// Reads milliseconds.
  ///
  /// - Throws: `DecodingError` for a time that is not finite or longer than a thousand years.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func duration(_ key: CodingKeys) throws -> Duration {
      let milliseconds = try container.decode(Double.self, forKey: key)
      guard abs(milliseconds) < 3.2e13 else {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: container, debugDescription: "\(milliseconds) milliseconds are no time of a stage")
      }
      return .milliseconds(1) * milliseconds
    }
    self.init(
      preprocess: try duration(.preprocess), inference: try duration(.inference),
      postprocess: try duration(.postprocess))
  }
}
