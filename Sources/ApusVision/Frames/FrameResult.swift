// SPDX-License-Identifier: Apache-2.0
import Apus

/// The answer to a frame, with the frame, so that both can be shown in one step.
public struct FrameResult<Answer: VisionResult>: Sendable {
  /// The frame.
  public let frame: ImageBuffer
  /// The frame's number, as ``LatestFrames/submit(_:)`` returned it.
  public let number: Int
  /// The answer, or what went wrong.
  public let answer: Result<Answer, ApusError>
  /// How long it took from the frame's arrival to its answer, waiting included.
  public let latency: Duration
}
