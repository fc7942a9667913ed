// SPDX-License-Identifier: Apache-2.0

/// A point of a hand, a face or a body.
public struct Landmark: Hashable, Sendable {
  /// The point's name, such as `wrist`; nil for points of a mesh, which have only numbers.
  public var name: String?
  /// The distance from the left, in pixels of the picture after orientation.
  public var x: Float
  /// The distance from the top, in pixels of the picture after orientation.
  public var y: Float
  /// How much further away the point is than the subject's origin, such as the wrist; in about the unit of `x`.
  public var z: Float
  /// The confidence that the point is in the picture and nothing hides it, 0 to 1; nil if the model does not say.
  public var visibility: Float?
  /// The confidence that the point is in the picture, 0 to 1; nil if the model does not say.
  public var presence: Float?

  /// Makes a point.
  public init(
    name: String? = nil, x: Float, y: Float, z: Float, visibility: Float? = nil, presence: Float? = nil
  ) {
    self.name = name
    self.x = x
    self.y = y
    self.z = z
    self.visibility = visibility
    self.presence = presence
  }
}

extension Landmark: Codable {
  private enum CodingKeys: CodingKey {
    case name, x, y, z, visibility, presence
  }

  /// Encodes `x`, `y`, `z`, and of `name`, `visibility` and `presence` what is known.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(name, forKey: .name)
    try container.encode(x, forKey: .x)
    try container.encode(y, forKey: .y)
    try container.encode(z, forKey: .z)
    try container.encodeIfPresent(visibility, forKey: .visibility)
    try container.encodeIfPresent(presence, forKey: .presence)
  }
}

/// A point of a hand or a body in space, in meters from its origin; the axes are those of the picture.
public struct WorldLandmark: Hashable, Codable, Sendable {
  /// To the right.
  public var x: Float
  /// Down.
  public var y: Float
  /// Away from the camera.
  public var z: Float

  /// Makes a point.
  public init(x: Float, y: Float, z: Float) {
    self.x = x
    self.y = y
    self.z = z
  }
}

extension Region {
  /// The points of a model's output, from pixels of the input that shows this region.
  ///
  /// - Parameters:
  ///   - values: The numbers, `step` for each point: x, y, z first.
  ///   - width: The input's width, which is also the unit of z.
  ///   - depthScale: What z is divided by.
  func landmarks(
    _ values: [Float], step: Int = 3, names: [String] = [], width inputWidth: Int, height inputHeight: Int,
    depthScale: Float = 1
  ) -> [Landmark] {
    let map = AffineTransform(unitSquareTo: self)
    return (0..<values.count / step).map { index in
      let x = Double(values[index * step]) / Double(inputWidth)
      let y = Double(values[index * step + 1]) / Double(inputHeight)
      let point = map(x, y)
      return Landmark(
        name: names.indices.contains(index) ? names[index] : nil, x: Float(point.x), y: Float(point.y),
        z: values[index * step + 2] / Float(inputWidth) / depthScale * width)
    }
  }

  /// The points of a model's output in space, turned as the region is.
  func worldLandmarks(_ values: [Float], step: Int = 3) -> [WorldLandmark] {
    let (cosine, sine) = AffineTransform(
      unitSquareTo: Region(center: PixelPoint(x: 0, y: 0), width: 1, height: 1, rotation: rotation)
    ).axis
    return stride(from: 0, to: values.count - 2, by: step).map { index in
      WorldLandmark(
        x: cosine * values[index] - sine * values[index + 1],
        y: sine * values[index] + cosine * values[index + 1], z: values[index + 2])
    }
  }
}

extension AffineTransform {
  /// Where the horizontal axis points.
  fileprivate var axis: (Float, Float) { (Float(xx), Float(yx)) }
}

extension Landmark {
  /// The distance to another point in the picture.
  func distance(to other: Landmark) -> Float {
    ((x - other.x) * (x - other.x) + (y - other.y) * (y - other.y)).squareRoot()
  }
}

extension Region {
  /// The smallest region, turned by an angle, that has all points inside.
  init(fitting points: [Landmark], rotation: Float) {
    let axes = AffineTransform(
      unitSquareTo: Region(center: PixelPoint(x: 0, y: 0), width: 1, height: 1, rotation: rotation)
    ).axis
    var (low, high) = (SIMD2<Float>(repeating: .infinity), SIMD2<Float>(repeating: -.infinity))
    // Relative to one of the points: sums stay small.
    let origin = points.first ?? Landmark(x: 0, y: 0, z: 0)
    for point in points {
      let (x, y) = (point.x - origin.x, point.y - origin.y)
      let turned = SIMD2(axes.0 * x + axes.1 * y, axes.0 * y - axes.1 * x)
      low = pointwiseMin(low, turned)
      high = pointwiseMax(high, turned)
    }
    let (middle, size) = ((low + high) / 2, high - low)
    self.init(
      center: PixelPoint(
        x: origin.x + axes.0 * middle.x - axes.1 * middle.y,
        y: origin.y + axes.1 * middle.x + axes.0 * middle.y),
      width: size.x, height: size.y, rotation: rotation)
  }
}
