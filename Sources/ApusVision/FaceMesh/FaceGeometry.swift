// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat
import ApusSystem

/// The shape of a usual face in centimeters, which says from the points of a mesh where a head is and how it is turned.
///
/// ```swift
/// let geometry = try FaceGeometry(bytes: metadata)  // geometry_pipeline_metadata_landmarks.binarypb
/// let matrix = geometry.matrix(of: face.landmarks, imageWidth: 640, imageHeight: 480)
/// ```
///
/// Bundles of face landmarkers have one, and ``FaceLandmarker`` uses it: see ``FaceMesh/matrix``.
public struct FaceGeometry: Sendable {
  /// A point that counts when the usual face is laid over a mesh.
  private struct Anchor {
    let index: Int
    let weight: Double
    let place: SIMD3<Double>
  }

  /// The number of points of the usual face: points of a mesh beyond these, such as those of irises, do not count.
  public let pointCount: Int

  private let anchors: [Anchor]

  /// The camera's vertical field of view, in degrees: MediaPipe's assumption about every picture.
  private static let fieldOfView = 63.0
  /// The distance of the plane on which the picture lies, in centimeters.
  private static let near = 1.0
  /// The maximum number of points.
  private static let maximumPointCount = 1 << 16

  /// Reads the metadata of a geometry: MediaPipe's message `GeometryPipelineMetadata`.
  ///
  /// - Throws: `malformedModel` if the bytes are no such message, or its points and weights are not those of a face.
  public init(bytes: [UInt8]) throws(ApusError) {
    let metadata: GeometryMetadata
    do throws(FormatError) { metadata = try GeometryMetadata(bytes[...]) } catch {
      throw ApusError(.malformedModel, "the face geometry: \(error.message)")
    }
    let (values, step) = (metadata.vertices, GeometryMetadata.vertexLength)
    func refuse(_ what: String) -> ApusError { ApusError(.malformedModel, "the face geometry \(what)") }
    guard metadata.source != .detector else {
      throw refuse("is for the keypoints of a face detector, not for a mesh")
    }
    guard values.count.isMultiple(of: step), (3...Self.maximumPointCount).contains(values.count / step) else {
      throw refuse(
        "has \(values.count) numbers for points of \(step) each, not those of 3 to \(Self.maximumPointCount) points"
      )
    }
    guard values.allSatisfy(\.isFinite) else { throw refuse("has a coordinate that is not finite") }
    pointCount = values.count / step
    var anchors: [Anchor] = []
    for reference in metadata.references {
      guard reference.index < UInt64(values.count / step), reference.weight.isFinite, reference.weight >= 0
      else {
        throw refuse(
          "weighs point \(reference.index) with \(reference.weight), not one of \(values.count / step) points with a weight of 0 or more"
        )
      }
      let first = Int(reference.index) * step
      anchors.append(
        Anchor(
          index: Int(reference.index), weight: Double(reference.weight),
          place: SIMD3(Double(values[first]), Double(values[first + 1]), Double(values[first + 2]))))
    }
    guard anchors.count <= Self.maximumPointCount, anchors.count(where: { $0.weight > 0 }) >= 3 else {
      throw refuse("has \(anchors.count) points with weights, not 3 or more")
    }
    self.anchors = anchors
  }

  /// The matrix that moves the usual face to where a face is in front of the camera: rotation, scale and translation.
  ///
  /// The camera is at the origin and looks along −z; x points to the right, y up; the unit is a centimeter.
  ///
  /// - Parameters:
  ///   - landmarks: The points of a mesh, in pixels.
  ///   - imageWidth: The width of the whole picture, in pixels.
  ///   - imageHeight: The height of the whole picture, in pixels.
  /// - Returns: 16 numbers, row by row; nil if there are fewer points than ``pointCount``, or they do not have the extent of a face.
  public func matrix(of landmarks: [Landmark], imageWidth: Int, imageHeight: Int) -> [Float]? {
    guard landmarks.count >= pointCount, imageWidth > 0, imageHeight > 0 else { return nil }
    // The picture on the near plane, its middle in front of the camera.
    let unit = 2 * Self.near * tan(Self.fieldOfView / 2 * .pi / 180) / Double(imageHeight)
    let (middleX, middleY) = (Double(imageWidth) / 2, Double(imageHeight) / 2)
    let seen = anchors.map { anchor in
      let point = landmarks[anchor.index]
      return SIMD3(
        (Double(point.x) - middleX) * unit, (middleY - Double(point.y)) * unit, Double(point.z) * unit)
    }
    let depth = landmarks.prefix(pointCount).reduce(0.0) { $0 + Double($1.z) } / Double(pointCount) * unit
    /// The points in space, if a face on the near plane is `scale` times as small as the usual one.
    func placed(_ scale: Double) -> [SIMD3<Double>] {
      seen.map { point in
        let distance = (point.z - depth + Self.near) / scale
        return SIMD3(point.x * distance / Self.near, point.y * distance / Self.near, -distance)
      }
    }
    // Depths are relative, so the scale is first estimated without perspective, and corrected with it.
    guard let first = alignment(with: seen.map { SIMD3($0.x, $0.y, -$0.z) }),
      let second = alignment(with: placed(first.scale)),
      let last = alignment(with: placed(first.scale * second.scale))
    else { return nil }
    let matrix = last.matrix.map { Float($0) }
    return matrix.allSatisfy(\.isFinite) ? matrix : nil
  }

  private func alignment(with targets: [SIMD3<Double>]) -> RigidAlignment? {
    RigidAlignment(anchors.map(\.place), to: targets, weights: anchors.map(\.weight))
  }
}
