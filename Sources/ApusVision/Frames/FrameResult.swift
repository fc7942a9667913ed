// SPDX-License-Identifier: Apache-2.0
import Apus

/// The result for a frame, with the frame, so that both can be shown in one step.
public struct FrameResult<Answer: VisionResult>: Sendable {
  /// The frame.
  public let frame: ImageBuffer
  /// The frame's number, as ``LatestFrames/submit(_:)`` returned it.
  public let number: Int
  /// The result, or the error.
  public let answer: Result<Answer, ApusError>
  /// The time from the frame's arrival to its result, waiting included.
  public let latency: Duration
}
