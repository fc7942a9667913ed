// SPDX-License-Identifier: Apache-2.0
import Apus

/// A hand with its 21 points.
public struct Hand: LandmarkSubject, PipelineSubject, Hashable {
  /// Whose hand it is.
  public enum Side: String, Hashable, Codable, Sendable, CaseIterable {
    /// The person's left hand.
    case left = "Left"
    /// The person's right hand.
    case right = "Right"
  }

  /// Whether it is the person's left or right hand, in a picture that is not mirrored.
  public var handedness: Side
  /// The confidence in ``handedness``, 0 to 1: 0.5 or more from ``HandLandmarker``. ``HolisticLandmarker`` takes the side from the body; the
  /// score is then what the model of hands says of that side, below 0.5 if it sees the other one.
  public var handednessScore: Float
  /// The confidence that there is a hand, 0 to 1.
  public var score: Float
  /// The points in the order of ``landmarkNames``; the wrist has the depth 0.
  public var landmarks: [Landmark]
  /// The points in space, in meters from the middle of the hand.
  public var worldLandmarks: [WorldLandmark]
  /// The gesture, if the landmarker has a ``LandmarkClassifier`` that knows any: its name is nil for an unknown one.
  public var gesture: EmbeddingGallery.Match?
  /// Where the model looked.
  public let region: Region
  /// Where to look for the hand in the next frame.
  public let nextRegion: Region

  /// Makes a hand; without `nextRegion`, it is looked for in the same region.
  public init(
    handedness: Side, handednessScore: Float, score: Float, landmarks: [Landmark],
    worldLandmarks: [WorldLandmark] = [], gesture: EmbeddingGallery.Match? = nil, region: Region,
    nextRegion: Region? = nil
  ) {
    self.handedness = handedness
    self.handednessScore = handednessScore
    self.score = score
    self.landmarks = landmarks
    self.worldLandmarks = worldLandmarks
    self.gesture = gesture
    self.region = region
    self.nextRegion = nextRegion ?? region
  }

  /// The names of a hand's points: of each finger from the palm to the tip.
  public static let landmarkNames = [
    "wrist", "thumb cmc", "thumb mcp", "thumb ip", "thumb tip", "index finger mcp", "index finger pip",
    "index finger dip", "index finger tip", "middle finger mcp", "middle finger pip", "middle finger dip",
    "middle finger tip", "ring finger mcp", "ring finger pip", "ring finger dip", "ring finger tip",
    "pinky mcp", "pinky pip", "pinky dip", "pinky tip",
  ]

  /// Pairs of points that are drawn with a line between them.
  public static let connections: [(Int, Int)] = [
    (0, 1), (1, 2), (2, 3), (3, 4), (0, 5), (5, 6), (6, 7), (7, 8), (5, 9), (9, 10), (10, 11), (11, 12),
    (9, 13), (13, 14), (14, 15), (15, 16), (13, 17), (0, 17), (17, 18), (18, 19), (19, 20),
  ]

  /// Points that move little when fingers do: they say where the hand is in the next frame.
  private static let steadyPoints = [0, 1, 2, 3, 5, 6, 9, 10, 13, 14, 17, 18]

  /// The region of a hand whose points are known.
  ///
  /// The wrist is below the mean of the first joints of index, middle and ring finger; the region fits the steady points, is moved up by a
  /// tenth of its height, and is twice as large.
  static func region(around landmarks: [Landmark]) -> Region {
    let (wrist, index, middle, ring) = (landmarks[0], landmarks[5], landmarks[9], landmarks[13])
    let rotation = Region.rotation(
      from: (wrist.x, wrist.y),
      to: (
        ((index.x + ring.x) / 2 + middle.x) / 2,
        ((index.y + ring.y) / 2 + middle.y) / 2
      ))
    return Region(fitting: steadyPoints.map { landmarks[$0] }, rotation: rotation)
      .squared(shiftedDown: -0.1, scaledBy: 2)
  }

  /// Whether most points of both hands are near each other, compared with the size of the palms, and their boxes overlap.
  func isDuplicate(of other: Hand) -> Bool {
    let reach = 0.2 * max(palmSize, other.palmSize)
    let near = zip(landmarks, other.landmarks).count { $0.distance(to: $1) < reach }
    guard near >= 10 else { return false }
    return Region(fitting: landmarks, rotation: 0).overlap(
      with: Region(fitting: other.landmarks, rotation: 0))
      > 0.2
  }

  /// The longest side of the triangle of wrist, index finger and pinky, in pixels.
  private var palmSize: Float {
    let (wrist, index, pinky) = (landmarks[0], landmarks[5], landmarks[17])
    return max(wrist.distance(to: index), index.distance(to: pinky), pinky.distance(to: wrist))
  }
}

extension Hand: Encodable {
  private enum CodingKeys: CodingKey {
    case handedness, handednessScore, score, gesture, landmarks, world, region
  }

  private enum GestureKeys: CodingKey {
    case name, distance
  }

  /// Encodes `handedness`, `handednessScore`, `score`, `gesture` if there is one (with the name `unknown` where it is not known),
  /// `landmarks`, `world` and `region`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(handedness, forKey: .handedness)
    try container.encode(handednessScore, forKey: .handednessScore)
    try container.encode(score, forKey: .score)
    if let gesture {
      var match = container.nestedContainer(keyedBy: GestureKeys.self, forKey: .gesture)
      try match.encode(gesture.name ?? "unknown", forKey: .name)
      try match.encode(gesture.distance, forKey: .distance)
    }
    try container.encode(landmarks, forKey: .landmarks)
    try container.encode(worldLandmarks, forKey: .world)
    try container.encode(region, forKey: .region)
  }
}
