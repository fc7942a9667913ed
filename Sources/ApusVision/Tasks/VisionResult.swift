// SPDX-License-Identifier: Apache-2.0

/// The result of a task for a picture: plain values, encoded as the command line and the server print them.
public protocol VisionResult: Encodable, Sendable {
  /// The width of the picture after orientation, in pixels.
  var imageWidth: Int { get }
  /// The height of the picture after orientation, in pixels.
  var imageHeight: Int { get }
  /// The time of each stage.
  var timings: StageTimings { get }
}
