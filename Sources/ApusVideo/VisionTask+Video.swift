// SPDX-License-Identifier: Apache-2.0
import ApusVision

extension VisionTask {
  /// Results for the newest frames of a camera or another source, until it ends or fails. The source never waits for results.
  ///
  /// ```swift
  /// for try await result in detector.latestAnswers(to: camera) { … }
  /// ```
  /// When the reader ends its loop and drops the results, or its task is cancelled, no more frames are taken. An error of the source ends
  /// the results, and the reader gets it.
  ///
  /// - Parameters:
  ///   - frames: The frames, as they come. Trackers smooth landmarks by their times.
  ///   - region: The part of each frame to look at; nil for the whole frame.
  ///   - deadline: The maximum time from a frame's arrival to its result; nil means no limit.
  /// - Returns: The results, for one reader.
  public func latestAnswers<Frames: AsyncSequence & Sendable>(
    to frames: Frames, in region: PixelRect? = nil, deadline: Duration? = nil
  ) -> some AsyncSequence<FrameResult<Answer>, Frames.Failure> & Sendable where Frames.Element == VideoFrame {
    LatestAnswers(LatestFrames(self, region: region, deadline: deadline), to: frames) {
      ($0.picture(), $0.time)
    }
  }
}
