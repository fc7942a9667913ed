// SPDX-License-Identifier: Apache-2.0
import ApusPixels
import ApusSystem

/// Where the pixels of a crop are in a picture, as OpenCV's `getPerspectiveTransform` and `warpPerspective` compute it.
///
/// Positions are rounded to 1/32 pixel. In an upright crop of a picture whose larger side is no multiple of 4, many of them lie right between
/// two steps, and the last bits of the matrix decide. So the equations are the same, and are solved in the same order.
enum CropMap {
  /// The crop that shows a region.
  ///
  /// - Parameters:
  ///   - region: A region with an area, in pixels of the picture.
  ///   - width: The crop's width in pixels.
  ///   - height: The crop's height in pixels.
  static func crop(of region: Region, width: Int, height: Int) -> PerspectiveCrop {
    let (right, bottom) = (Float(width), Float(height))
    let targets = [SIMD2(0, bottom), SIMD2(0, 0), SIMD2(right, 0), SIMD2(right, bottom)]
    if let (x, y, weight) = matrix(from: corners(of: region), to: targets).flatMap(inverse) {
      return PerspectiveCrop(x: x, y: y, weight: weight)
    }
    // The corners are too near each other for the equations.
    let map = AffineTransform(unitSquareTo: region).scaled(x: 1 / Double(width), y: 1 / Double(height))
    return PerspectiveCrop(
      x: SIMD3(map.xx, map.xy, map.dx), y: SIMD3(map.yx, map.yy, map.dy), weight: SIMD3(0, 0, 1))
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
