// SPDX-License-Identifier: Apache-2.0
import ApusSystem

/// Where the pixels of a crop are in a picture, as OpenCV's `getPerspectiveTransform` and `warpPerspective` compute it.
///
/// Positions are rounded to 1/32 pixel. In an upright crop of a picture whose larger side is no multiple of 4, many of them lie right between
/// two steps, and the last bits of the matrix decide. So the equations are the same, and are solved in the same order.
struct CropMap: Sendable {
  // The rows of the matrix from a pixel of the crop, (column, row, 1), to its position in the picture in homogeneous coordinates.
  private let x: SIMD3<Double>
  private let y: SIMD3<Double>
  private let weight: SIMD3<Double>

  /// Steps of a position in a pixel.
  private static let steps = 32.0
  /// Beyond this, a position is as far outside as it gets.
  private static let farthest = Double(Int32.max)
  /// Columns are counted from the last multiple of this, as OpenCV works in blocks.
  private static let block = 64

  /// The map of a crop that shows a region.
  ///
  /// - Parameters:
  ///   - region: A region with an area, in pixels of the picture.
  ///   - width: The crop's width in pixels.
  ///   - height: The crop's height in pixels.
  init(_ region: Region, width: Int, height: Int) {
    let (right, bottom) = (Float(width), Float(height))
    let targets = [SIMD2(0, bottom), SIMD2(0, 0), SIMD2(right, 0), SIMD2(right, bottom)]
    if let inverse = Self.matrix(from: Self.corners(of: region), to: targets).flatMap(Self.inverse) {
      (x, y, weight) = inverse
    } else {
      // The corners are too near each other for the equations.
      let map = AffineTransform(unitSquareTo: region).scaled(x: 1 / Double(width), y: 1 / Double(height))
      x = SIMD3(map.xx, map.xy, map.dx)
      y = SIMD3(map.yx, map.yy, map.dy)
      weight = SIMD3(0, 0, 1)
    }
  }

  /// The position of a pixel of the crop, in 1/32 pixels of the picture.
  @inline(__always)
  func steps(column: Int, row: Int) -> (x: Int, y: Int) {
    let first = Double(column & ~(Self.block - 1))
    let rest = Double(column & (Self.block - 1))
    let line = Double(row)
    let divisor = (weight.x * first + weight.y * line + weight.z) + weight.x * rest
    let scale = divisor == 0 ? 0 : Self.steps / divisor
    return (
      Self.whole(((x.x * first + x.y * line + x.z) + x.x * rest) * scale),
      Self.whole(((y.x * first + y.y * line + y.z) + y.x * rest) * scale)
    )
  }

  /// The nearest integer, ties to even; no number is the farthest one.
  @inline(__always)
  private static func whole(_ value: Double) -> Int {
    // A comparison with NaN is false.
    let limited = value < farthest ? value : farthest
    return Int((limited > -farthest ? limited : -farthest).rounded(.toNearestOrEven))
  }

  /// The corners of a region in OpenCV's order: bottom left, top left, top right, bottom right before the turn.
  private static func corners(of region: Region) -> [SIMD2<Float>] {
    let degrees = Float(Double(region.rotation * 180) / Double.pi)
    let radians = Double(degrees) * Double.pi / 180
    let (cosine, sine) = (Float(cos(radians)) * 0.5, Float(sin(radians)) * 0.5)
    let center = SIMD2(region.center.x, region.center.y)
    let bottomLeft = SIMD2(
      center.x - sine * region.height - cosine * region.width,
      center.y + cosine * region.height - sine * region.width)
    let topLeft = SIMD2(
      center.x + sine * region.height - cosine * region.width,
      center.y - cosine * region.height - sine * region.width)
    return [bottomLeft, topLeft, 2 * center - bottomLeft, 2 * center - topLeft]
  }

  /// The eight numbers of the matrix that maps four points to others, by elimination with partial pivots; its ninth is 1. Nil if there is none.
  private static func matrix(from points: [SIMD2<Float>], to targets: [SIMD2<Float>]) -> [Double]? {
    var rows: [[Double]] = []
    for (point, target) in zip(points, targets) {
      let product = -point * target.x
      rows.append(
        [point.x, point.y, 1, 0, 0, 0, product.x, product.y, target.x].map(Double.init))
    }
    for (point, target) in zip(points, targets) {
      let product = -point * target.y
      rows.append(
        [0, 0, 0, point.x, point.y, 1, product.x, product.y, target.y].map(Double.init))
    }
    let count = rows.count
    for step in 0..<count {
      var pivot = step
      for row in step..<count where abs(rows[row][step]) > abs(rows[pivot][step]) { pivot = row }
      guard abs(rows[pivot][step]) >= 100 * Double.ulpOfOne else { return nil }
      rows.swapAt(step, pivot)
      let scale = -1 / rows[step][step]
      for row in (step + 1)..<count {
        let factor = rows[row][step] * scale
        for column in (step + 1)...count { rows[row][column] += factor * rows[step][column] }
      }
    }
    var solution = rows.map { $0[count] }
    for step in (0..<count).reversed() {
      for column in (step + 1)..<count {
        solution[step] -= rows[step][column] * solution[column]
      }
      solution[step] /= rows[step][step]
    }
    return solution
  }

  /// The rows of the inverse of a 3 × 3 matrix whose ninth number is 1; nil if there is none.
  private static func inverse(
    of m: [Double]
  ) -> (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>)? {
    let (a, b, c, d, e, f, g, h) = (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7])
    let determinant = a * (e - f * h) - b * (d - f * g) + c * (d * h - e * g)
    let scale = 1 / determinant
    let rows = (
      SIMD3(e - f * h, c * h - b, b * f - c * e) * scale,
      SIMD3(f * g - d, a - c * g, c * d - a * f) * scale,
      SIMD3(d * h - e * g, b * g - a * h, a * e - b * d) * scale
    )
    let sum = (rows.0 + rows.1 + rows.2).sum()
    return determinant != 0 && sum.isFinite ? rows : nil
  }
}
