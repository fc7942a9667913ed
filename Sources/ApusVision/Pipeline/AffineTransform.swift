// SPDX-License-Identifier: Apache-2.0
import ApusSystem

/// A turn, scales and a shift of the plane: `x′ = xx·x + xy·y + dx`, `y′ = yx·x + yy·y + dy`.
struct AffineTransform: Hashable, Sendable {
  var xx: Double
  var xy: Double
  var dx: Double
  var yx: Double
  var yy: Double
  var dy: Double

  /// Maps a point.
  func callAsFunction(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
    (xx * x + xy * y + dx, yx * x + yy * y + dy)
  }
}

extension AffineTransform {
  /// From fractions of a region, 0 to 1 along its own axes, to pixels of the picture.
  init(unitSquareTo region: Region) {
    let (cosine, sine) = (cos(Double(region.rotation)), sin(Double(region.rotation)))
    let (width, height) = (Double(region.width), Double(region.height))
    self.init(
      xx: width * cosine, xy: -height * sine,
      dx: Double(region.center.x) - (width * cosine - height * sine) / 2,
      yx: width * sine, yy: height * cosine,
      dy: Double(region.center.y) - (width * sine + height * cosine) / 2)
  }

  /// This transform of a plane whose units are `x` and `y` times as long.
  func scaled(x: Double, y: Double) -> AffineTransform {
    AffineTransform(xx: xx * x, xy: xy * y, dx: dx, yx: yx * x, yy: yy * y, dy: dy)
  }

  /// The transform that leads back; nil if there is none, as for a region without an area.
  var inverse: AffineTransform? {
    let determinant = xx * yy - xy * yx
    guard determinant != 0, determinant.isFinite else { return nil }
    let (a, b, c, d) = (yy / determinant, -xy / determinant, -yx / determinant, xx / determinant)
    return AffineTransform(xx: a, xy: b, dx: -(a * dx + b * dy), yx: c, yy: d, dy: -(c * dx + d * dy))
  }
}
