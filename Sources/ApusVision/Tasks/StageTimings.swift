// SPDX-License-Identifier: Apache-2.0

/// The time that each stage of one result took. Encoded as milliseconds.
public struct StageTimings: Hashable, Encodable, Sendable {
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

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(preprocess / .milliseconds(1), forKey: .preprocess)
    try container.encode(inference / .milliseconds(1), forKey: .inference)
    try container.encode(postprocess / .milliseconds(1), forKey: .postprocess)
  }
}
