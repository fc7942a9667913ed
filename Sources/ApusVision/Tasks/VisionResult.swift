// SPDX-License-Identifier: Apache-2.0

/// What a task answers to a picture: plain values, encoded in the form that the command line and the server give out.
public protocol VisionResult: Encodable, Sendable {
  /// The width of the picture as it is seen, in pixels.
  var imageWidth: Int { get }
  /// The height of the picture as it is seen, in pixels.
  var imageHeight: Int { get }
  /// How long the stages took.
  var timings: StageTimings { get }
}
