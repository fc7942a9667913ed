// SPDX-License-Identifier: Apache-2.0

/// One person's body, hands and face.
public struct HolisticResult: VisionResult, Hashable {
  /// The width of the picture after orientation, in pixels.
  public let imageWidth: Int
  /// The height of the picture after orientation, in pixels.
  public let imageHeight: Int
  /// The body; nil if no person was found.
  public var pose: BodyPose?
  /// The person's left hand; nil if it is not seen.
  public var leftHand: Hand?
  /// The person's right hand; nil if it is not seen.
  public var rightHand: Hand?
  /// The face; nil if it is not seen.
  public var face: FaceMesh?
  /// The time of each stage of all models.
  public var timings = StageTimings()

  /// Makes a result.
  public init(
    imageWidth: Int, imageHeight: Int, pose: BodyPose? = nil, leftHand: Hand? = nil, rightHand: Hand? = nil,
    face: FaceMesh? = nil, timings: StageTimings = StageTimings()
  ) {
    self.imageWidth = imageWidth
    self.imageHeight = imageHeight
    self.pose = pose
    self.leftHand = leftHand
    self.rightHand = rightHand
    self.face = face
    self.timings = timings
  }
}

extension HolisticResult {
  /// The person in the pixels of a frame of another size.
  func scaled(toWidth width: Int, height: Int) -> HolisticResult {
    guard imageWidth > 0, imageHeight > 0, (width, height) != (imageWidth, imageHeight) else { return self }
    let (x, y) = (Float(width) / Float(imageWidth), Float(height) / Float(imageHeight))
    func scaled(_ landmarks: [Landmark]) -> [Landmark] {
      landmarks.map { landmark in
        var landmark = landmark
        (landmark.x, landmark.y, landmark.z) = (landmark.x * x, landmark.y * y, landmark.z * x)
        return landmark
      }
    }
    func scaled(_ hand: Hand) -> Hand {
      let landmarks = scaled(hand.landmarks)
      return Hand(
        handedness: hand.handedness, handednessScore: hand.handednessScore, score: hand.score,
        landmarks: landmarks, worldLandmarks: hand.worldLandmarks, gesture: hand.gesture,
        region: hand.region.scaled(x: x, y: y),
        nextRegion: landmarks.count == Hand.landmarkNames.count
          ? Hand.region(around: landmarks) : hand.nextRegion.scaled(x: x, y: y))
    }
    var result = HolisticResult(imageWidth: width, imageHeight: height, timings: timings)
    result.pose = pose.map { pose in
      var scaledPose = pose
      scaledPose.landmarks = scaled(pose.landmarks)
      scaledPose.regionPoints = pose.regionPoints.map { PixelPoint(x: $0.x * x, y: $0.y * y) }
      return scaledPose
    }
    result.leftHand = leftHand.map(scaled)
    result.rightHand = rightHand.map(scaled)
    result.face = face.map { face in
      let landmarks = scaled(face.landmarks)
      return FaceMesh(
        score: face.score, landmarks: landmarks, blendshapes: face.blendshapes, matrix: face.matrix,
        region: face.region.scaled(x: x, y: y),
        nextRegion: landmarks.count >= FaceMesh.minimumPointCount
          ? FaceMesh.region(around: landmarks) : face.nextRegion.scaled(x: x, y: y))
    }
    return result
  }
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
