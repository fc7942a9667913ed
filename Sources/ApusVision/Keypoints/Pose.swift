// SPDX-License-Identifier: Apache-2.0

/// The joints of one person or animal.
public struct Pose: Hashable, Codable, Sendable {
  /// The score of the whole pose: the detection's, or else the mean of its keypoints'.
  public var score: Float
  /// The points, in the model's order.
  public var keypoints: [Keypoint]

  /// Makes a pose.
  public init(score: Float, keypoints: [Keypoint]) {
    self.score = score
    self.keypoints = keypoints
  }
}
