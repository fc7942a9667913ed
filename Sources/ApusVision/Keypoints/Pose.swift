// SPDX-License-Identifier: Apache-2.0

/// The joints of one person or animal.
public struct Pose: Hashable, Encodable, Sendable {
  /// How sure the model is of the whole: the detection's score, or else the mean of its keypoints'.
  public var score: Float
  /// The points, in the model's order.
  public var keypoints: [Keypoint]

  /// Makes a pose.
  public init(score: Float, keypoints: [Keypoint]) {
    self.score = score
    self.keypoints = keypoints
  }
}
