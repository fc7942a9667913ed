// SPDX-License-Identifier: Apache-2.0
import Apus

/// A face with the points of a mesh, and how far its expressions go.
public struct FaceMesh: LandmarkSubject, PipelineSubject, Hashable {
  /// An expression of a face, such as an open jaw.
  public struct Blendshape: Hashable, Codable, Sendable {
    /// The name, such as `jawOpen`.
    public let name: String
    /// How far it goes, 0 to 1.
    public let score: Float

    /// Makes an expression.
    public init(name: String, score: Float) {
      self.name = name
      self.score = score
    }
  }

  /// The confidence that there is a face, 0 to 1.
  public var score: Float
  /// The points in the numbering of MediaPipe's face mesh: 468, or 478 with irises.
  public var landmarks: [Landmark]
  /// The expressions in the order of ``blendshapeNames``; empty without a model for them. In frames, they are those of the smoothed points.
  public var blendshapes: [Blendshape]
  /// Where the head is and how it is turned: the matrix that moves a usual face, in centimeters, in front of a camera at the origin
  /// that looks along −z, with x to the right and y up. 16 numbers, row by row; nil without a ``FaceGeometry``. In frames, it is that of the
  /// smoothed points.
  public var matrix: [Float]?
  /// Where the model looked.
  public let region: Region
  /// Where to look for the face in the next frame.
  public let nextRegion: Region

  /// Makes a face; without `nextRegion`, it is looked for in the same region.
  public init(
    score: Float, landmarks: [Landmark], blendshapes: [Blendshape] = [], matrix: [Float]? = nil,
    region: Region, nextRegion: Region? = nil
  ) {
    self.score = score
    self.landmarks = landmarks
    self.blendshapes = blendshapes
    self.matrix = matrix
    self.region = region
    self.nextRegion = nextRegion ?? region
  }

  /// The names of the expressions; the first one is the face at rest.
  public static let blendshapeNames = [
    "_neutral", "browDownLeft", "browDownRight", "browInnerUp", "browOuterUpLeft", "browOuterUpRight",
    "cheekPuff", "cheekSquintLeft", "cheekSquintRight", "eyeBlinkLeft", "eyeBlinkRight", "eyeLookDownLeft",
    "eyeLookDownRight", "eyeLookInLeft", "eyeLookInRight", "eyeLookOutLeft", "eyeLookOutRight",
    "eyeLookUpLeft", "eyeLookUpRight", "eyeSquintLeft", "eyeSquintRight", "eyeWideLeft", "eyeWideRight",
    "jawForward", "jawLeft", "jawOpen", "jawRight", "mouthClose", "mouthDimpleLeft", "mouthDimpleRight",
    "mouthFrownLeft", "mouthFrownRight", "mouthFunnel", "mouthLeft", "mouthLowerDownLeft",
    "mouthLowerDownRight", "mouthPressLeft", "mouthPressRight", "mouthPucker", "mouthRight", "mouthRollLower",
    "mouthRollUpper", "mouthShrugLower", "mouthShrugUpper", "mouthSmileLeft", "mouthSmileRight",
    "mouthStretchLeft", "mouthStretchRight", "mouthUpperUpLeft", "mouthUpperUpRight", "noseSneerLeft",
    "noseSneerRight",
  ]

  /// The points of a mesh without irises.
  static let minimumPointCount = 468

  /// Points that are drawn with lines between them, one after the other: lips, eyes, brows, the face's oval, irises.
  public static var outlines: [[Int]] { FaceMeshPoints.outlines }

  /// The region of a face whose points are known: their box, turned so that the eyes are level, square and half as large again.
  static func region(around landmarks: [Landmark]) -> Region {
    let (right, left) = (
      landmarks[FaceMeshPoints.outerEyeCorners.0], landmarks[FaceMeshPoints.outerEyeCorners.1]
    )
    var region = Region(fitting: landmarks, rotation: 0)
    region.rotation = Region.rotation(from: (right.x, right.y), to: (left.x, left.y), target: 0)
    return region.squared(shiftedDown: 0, scaledBy: 1.5)
  }
}

extension FaceMesh: Encodable {
  private enum CodingKeys: CodingKey {
    case score, landmarks, blendshapes, matrix, region
  }

  /// Encodes `score`, `landmarks`, `blendshapes` and `matrix` if there are any, and `region`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(score, forKey: .score)
    try container.encode(landmarks, forKey: .landmarks)
    if !blendshapes.isEmpty { try container.encode(blendshapes, forKey: .blendshapes) }
    try container.encodeIfPresent(matrix, forKey: .matrix)
    try container.encode(region, forKey: .region)
  }
}
