// SPDX-License-Identifier: Apache-2.0
import Apus

/// A person with 33 points of the body.
public struct BodyPose: LandmarkSubject, PipelineSubject, Hashable {
  /// The confidence that there is a person, 0 to 1.
  public var score: Float
  /// The points in the order of ``landmarkNames``, with visibility and presence.
  public var landmarks: [Landmark]
  /// The points in space, in meters from the middle of the hips.
  public var worldLandmarks: [WorldLandmark]
  /// How sure it is of each pixel of the picture that it belongs to the person, in 255ths; nil unless it is asked for.
  public var mask: ImageBuffer?
  /// The file that the mask is written to, which the encoded pose names; nil for none.
  package var maskFile: String?
  /// Where the model looked.
  public let region: Region
  /// Two points from which ``nextRegion`` comes: the middle of the hips, and one above it, or below, at the rim of the circle around the body.
  public var regionPoints: [PixelPoint]

  /// Makes a person.
  public init(
    score: Float, landmarks: [Landmark], worldLandmarks: [WorldLandmark] = [], mask: ImageBuffer? = nil,
    region: Region, regionPoints: [PixelPoint] = []
  ) {
    self.score = score
    self.landmarks = landmarks
    self.worldLandmarks = worldLandmarks
    self.mask = mask
    self.region = region
    self.regionPoints = regionPoints
  }

  /// Where to look for the person in the next frame.
  public var nextRegion: Region {
    guard regionPoints.count == 2 else { return region }
    let (center, rim) = (regionPoints[0], regionPoints[1])
    return Self.region(center: (center.x, center.y), rim: (rim.x, rim.y))
  }

  /// The size of the region to look at next, which is steadier than that of the points.
  public var speedUnit: Float { (nextRegion.width + nextRegion.height) / 2 }

  /// The names of a body's points; left and right are the person's.
  public static let landmarkNames = [
    "nose", "left eye inner", "left eye", "left eye outer", "right eye inner", "right eye", "right eye outer",
    "left ear", "right ear", "mouth left", "mouth right", "left shoulder", "right shoulder", "left elbow",
    "right elbow", "left wrist", "right wrist", "left pinky", "right pinky", "left index", "right index",
    "left thumb", "right thumb", "left hip", "right hip", "left knee", "right knee", "left ankle",
    "right ankle", "left heel", "right heel", "left foot index", "right foot index",
  ]

  /// Pairs of points that are drawn with a line between them.
  public static let connections: [(Int, Int)] = [
    (0, 1), (1, 2), (2, 3), (3, 7), (0, 4), (4, 5), (5, 6), (6, 8), (9, 10), (11, 12), (11, 13), (13, 15),
    (15, 17), (15, 19), (15, 21), (17, 19), (12, 14), (14, 16), (16, 18), (16, 20), (16, 22), (18, 20),
    (11, 23), (12, 24), (23, 24), (23, 25), (24, 26), (25, 27), (26, 28), (27, 29), (28, 30), (29, 31),
    (30, 32), (27, 31), (28, 32),
  ]

  /// The region of a person, from two points: the middle of the hips, and one above it, or below, at the rim of the circle around the body.
  static func region(center: (x: Float, y: Float), rim: (x: Float, y: Float)) -> Region {
    let (x, y) = (rim.x - center.x, rim.y - center.y)
    let side = 2 * (x * x + y * y).squareRoot()
    return Region(
      center: PixelPoint(x: center.x, y: center.y), width: side, height: side,
      rotation: Region.rotation(from: center, to: rim)
    ).squared(shiftedDown: 0, scaledBy: 1.25)
  }
}

extension BodyPose: Encodable {
  private enum CodingKeys: CodingKey {
    case score, landmarks, world, mask, region
  }

  /// Encodes `score`, `landmarks`, `world` and `region`; for the command line also the file of the `mask`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(score, forKey: .score)
    try container.encode(landmarks, forKey: .landmarks)
    try container.encode(worldLandmarks, forKey: .world)
    try container.encodeIfPresent(maskFile, forKey: .mask)
    try container.encode(region, forKey: .region)
  }
}
