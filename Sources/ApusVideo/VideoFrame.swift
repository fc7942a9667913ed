// SPDX-License-Identifier: Apache-2.0
import ApusVision

/// One frame of a video or camera.
public struct VideoFrame: Sendable {
  /// The frame's number, from 0; frames that were dropped have one, too.
  public let number: Int
  /// When the frame is shown, in seconds from the beginning of a file; of live sources, when it arrived, from the first frame on.
  public let time: Double
  /// When the frame arrived in this process.
  public let arrival: ContinuousClock.Instant
  /// The pixels as the source delivered them.
  public let raw: RawPicture

  /// Makes a frame.
  public init(number: Int, time: Double, arrival: ContinuousClock.Instant = .now, raw: RawPicture) {
    self.number = number
    self.time = time
    self.arrival = arrival
    self.raw = raw
  }

  /// The picture as rgb, or gray. Its pixels are computed when they are read first; a task reads ``raw`` in one pass instead.
  public func picture() -> ImageBuffer { raw.converted() }
}
