// SPDX-License-Identifier: Apache-2.0

/// One person's body, hands and face.
public struct HolisticResult: VisionResult, Hashable {
  /// The width of the picture after orientation, in pixels.
  public let imageWidth: Int
  /// The height of the picture after orientation, in pixels.
  public let imageHeight: Int
  /// The body; nil if nobody was found.
  public var pose: BodyPose?
  /// The person's left hand; nil if it is not seen.
  public var leftHand: Hand?
  /// The person's right hand; nil if it is not seen.
  public var rightHand: Hand?
  /// The face; nil if it is not seen.
  public var face: FaceMesh?
  /// The time of each stage of all models.
  public var timings = StageTimings()
}

extension HolisticResult: Encodable {
  private enum CodingKeys: String, CodingKey {
    case pose, leftHand, rightHand, face
    case timings = "milliseconds"
  }

  /// Encodes `pose`, `leftHand`, `rightHand` and `face`, with null for what was not found, and `milliseconds`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(pose, forKey: .pose)
    try container.encode(leftHand, forKey: .leftHand)
    try container.encode(rightHand, forKey: .rightHand)
    try container.encode(face, forKey: .face)
    try container.encode(timings, forKey: .timings)
  }
}
