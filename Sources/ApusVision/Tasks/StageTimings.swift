// SPDX-License-Identifier: Apache-2.0

/// The time of each stage of one result, in milliseconds.
public struct StageTimings: Hashable, Encodable, Sendable {
  /// Resizing the picture and writing the input.
  public var preprocess: Double
  /// Running the model.
  public var inference: Double
  /// Turning outputs into a result.
  public var postprocess: Double

  /// Makes timings, in milliseconds.
  public init(preprocess: Double = 0, inference: Double = 0, postprocess: Double = 0) {
    self.preprocess = preprocess
    self.inference = inference
    self.postprocess = postprocess
  }

  /// All stages together.
  public var total: Double { preprocess + inference + postprocess }
}

extension ContinuousClock.Instant {
  /// Milliseconds from an earlier instant to this one.
  func milliseconds(since start: ContinuousClock.Instant) -> Double {
    let (seconds, attoseconds) = (self - start).components
    return Double(seconds) * 1e3 + Double(attoseconds) / 1e15
  }
}
