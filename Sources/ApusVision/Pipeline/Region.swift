// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem

/// A part of a picture that may be turned: where a model looks for a hand, a face or a person.
///
/// Positions and sizes are in pixels of the picture after orientation. A region may reach beyond the picture.
public struct Region: Hashable, Sendable {
  /// The middle.
  public var center: PixelPoint
  /// The size along the region's own horizontal axis.
  public var width: Float
  /// The size along the region's own vertical axis.
  public var height: Float
  /// How far the region is turned about its middle, in radians, clockwise as seen in the picture.
  public var rotation: Float

  /// Makes a region.
  public init(center: PixelPoint, width: Float, height: Float, rotation: Float = 0) {
    self.center = center
    self.width = width
    self.height = height
    self.rotation = rotation
  }

  /// Makes a region that covers a rectangle.
  public init(_ rect: PixelRect) {
    self.init(
      center: PixelPoint(x: rect.x + rect.width / 2, y: rect.y + rect.height / 2), width: rect.width,
      height: rect.height)
  }

  /// Beyond this many pixels, positions and sizes are not those of a region in a picture.
  static let farthest: Float = 1_048_576

  /// Whether the region has an area, and all its numbers are finite and not far beyond any picture.
  public var isUsable: Bool {
    width > 0 && height > 0 && width <= Self.farthest && height <= Self.farthest
      && abs(center.x) <= Self.farthest && abs(center.y) <= Self.farthest && rotation.isFinite
  }

  /// Checks that there is something to look at.
  ///
  /// - Parameter what: Whose region it is, for the error: `the palm`.
  func check(_ what: String) throws(ApusError) {
    guard !isUsable else { return }
    throw ApusError(
      .invalidData,
      """
      the region of \(what) is \(width) × \(height) pixels around (\(center.x), \(center.y)), turned by \(rotation); its sides \
      must be above 0, and all numbers within ±\(Int(Self.farthest))
      """)
  }

  /// The rectangle that the region covers before it is turned.
  public var unrotatedRect: PixelRect {
    PixelRect(x: center.x - width / 2, y: center.y - height / 2, width: width, height: height)
  }

  /// The four corners in turn, beginning with the one at the top left before the turn.
  public var corners: [PixelPoint] {
    let map = AffineTransform(unitSquareTo: self)
    return [(0, 0), (1, 0), (1, 1), (0, 1)].map { (corner: (x: Double, y: Double)) in
      let point = map(corner.x, corner.y)
      return PixelPoint(x: Float(point.x), y: Float(point.y))
    }
  }

  /// The region moved along its own axes, made square and enlarged, in this order.
  ///
  /// - Parameters:
  ///   - shift: How far it moves down, in its heights; negative for up.
  ///   - scale: What its sides are multiplied by after the shorter one has become as long as the longer one.
  public func squared(shiftedDown shift: Float, scaledBy scale: Float) -> Region {
    let distance = height * shift
    let side = max(width, height) * scale
    return Region(
      center: PixelPoint(
        x: center.x - distance * sin(rotation), y: center.y + distance * cos(rotation)),
      width: side, height: side, rotation: rotation)
  }

  /// The region with the proportions of an input, enlarged about its middle.
  func padded(toProportions width: Int, _ height: Int) -> Region {
    var region = self
    let wanted = Float(height) / Float(width)
    if wanted > self.height / self.width {
      region.height = self.width * wanted
    } else {
      region.width = self.height / wanted
    }
    return region
  }

  /// The overlap (intersection over union) with another region, both without their turns.
  public func overlap(with other: Region) -> Float { unrotatedRect.overlap(other.unrotatedRect) }

  /// The regions that are left, in their order, if of two that overlap the later one stays: MediaPipe's `AssociationNormRectCalculator`.
  ///
  /// - Parameter maximumOverlap: The overlap (intersection over union) above which two are one, both without their turns.
  static func separated(_ regions: [Region], maximumOverlap: Float) -> [Region] {
    var separated: [Region] = []
    for region in regions {
      separated.removeAll { $0.overlap(with: region) > maximumOverlap }
      separated.append(region)
    }
    return separated
  }

  /// The region in a frame of another size, as a normalized one would be there: positions and sides are multiplied, the turn stays.
  func scaled(x: Float, y: Float) -> Region {
    Region(
      center: PixelPoint(x: center.x * x, y: center.y * y), width: width * x, height: height * y,
      rotation: rotation)
  }

  /// An angle in radians brought into −π to π.
  static func normalized(_ angle: Float) -> Float {
    angle - 2 * .pi * ((angle + .pi) / (2 * .pi)).rounded(.down)
  }

  /// How far a region is turned in which the direction between two points is upright.
  ///
  /// - Parameter target: The direction that counts as upright, in radians counterclockwise from the right: π/2 is up.
  static func rotation(
    from start: (x: Float, y: Float), to end: (x: Float, y: Float), target: Float = .pi / 2
  ) -> Float {
    normalized(target - atan2(start.y - end.y, end.x - start.x))
  }
}

extension Region: Codable {
  private enum CodingKeys: CodingKey {
    case x, y, width, height, rotation
  }

  /// Encodes `x` and `y` of the middle, `width`, `height` and `rotation`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(center.x, forKey: .x)
    try container.encode(center.y, forKey: .y)
    try container.encode(width, forKey: .width)
    try container.encode(height, forKey: .height)
    try container.encode(rotation, forKey: .rotation)
  }

  /// Reads what ``encode(to:)`` writes.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      center: PixelPoint(
        x: try container.decode(Float.self, forKey: .x), y: try container.decode(Float.self, forKey: .y)),
      width: try container.decode(Float.self, forKey: .width),
      height: try container.decode(Float.self, forKey: .height),
      rotation: try container.decode(Float.self, forKey: .rotation))
  }
}
