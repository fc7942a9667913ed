// SPDX-License-Identifier: Apache-2.0

/// The faces of a picture, with the points of a mesh.
public struct FaceMeshResult: LandmarkResult, Hashable {
  /// The width of the picture after orientation, in pixels.
  public let imageWidth: Int
  /// The height of the picture after orientation, in pixels.
  public let imageHeight: Int
  /// The faces: those that the detector is surest of first; in frames, those that were tracked.
  public var faces: [FaceMesh]
  /// The time of each stage of all models.
  public var timings = StageTimings()

  /// Makes a result.
  public init(imageWidth: Int, imageHeight: Int, faces: [FaceMesh], timings: StageTimings = StageTimings()) {
    self.imageWidth = imageWidth
    self.imageHeight = imageHeight
    self.faces = faces
    self.timings = timings
  }

  /// The faces.
  public var subjects: [FaceMesh] {
    get { faces }
    set { faces = newValue }
  }
}

extension FaceMeshResult: Encodable {
  /// The encoded properties: all but the size of the picture.
  private enum CodingKeys: String, CodingKey {
    case faces
    case timings = "milliseconds"
  }
}
