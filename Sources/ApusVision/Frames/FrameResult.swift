// SPDX-License-Identifier: Apache-2.0
import Apus

/// The result for a frame, with the frame, so that both can be shown in one step.
public struct FrameResult<Answer: VisionResult>: Sendable {
  /// The frame.
  public let frame: ImageBuffer
  /// The frame's number, as ``LatestFrames/submit(_:)`` returned it.
  public let number: Int
  /// The frame's time in seconds, as it was submitted; nil if it was without.
  public let time: Double?
  /// The result, or the error.
  public let answer: Result<Answer, ApusError>
  /// The time from the frame's arrival to its result, waiting included.
  public let latency: Duration

  /// Makes a result, for tests and sources of one's own.
  public init(
    frame: ImageBuffer, number: Int, time: Double? = nil, answer: Result<Answer, ApusError>, latency: Duration
  ) {
    self.frame = frame
    self.number = number
    self.time = time
    self.answer = answer
    self.latency = latency
  }
}

extension FrameResult: Equatable where Answer: Equatable {}
extension FrameResult: Hashable where Answer: Hashable {}
