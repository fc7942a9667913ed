// SPDX-License-Identifier: Apache-2.0

/// The rotation, scale and translation that bring points nearest to others: the weighted orthogonal Procrustes problem.
///
/// The rotation is the unit quaternion of Horn, "Closed-form solution of absolute orientation using unit quaternions" (1987), which
/// cannot be a reflection.
struct RigidAlignment {
  /// The rows of the rotation.
  let rotation: [SIMD3<Double>]
  let scale: Double
  let translation: SIMD3<Double>

  /// Aligns points.
  ///
  /// - Returns: Nil if the points or their weights do not determine a scale above 0, or a number is not finite.
  init?(_ sources: [SIMD3<Double>], to targets: [SIMD3<Double>], weights: [Double]) {
    let total = weights.reduce(0, +)
    guard sources.count == targets.count, sources.count == weights.count, total > 0 else { return nil }
    func mean(_ points: [SIMD3<Double>]) -> SIMD3<Double> {
      var sum = SIMD3<Double>.zero
      for (point, weight) in zip(points, weights) { sum += point * weight }
      return sum / total
    }
    let (sourceMean, targetMean) = (mean(sources), mean(targets))
    // For each axis of the sources, the weighted products with the targets.
    var products = [SIMD3<Double>](repeating: .zero, count: 3)
    var spread = 0.0
    for index in sources.indices {
      let (source, target) = (sources[index] - sourceMean, targets[index] - targetMean)
      for axis in 0..<3 { products[axis] += target * (source[axis] * weights[index]) }
      spread += (source * source).sum() * weights[index]
    }
    let size = products.reduce(0) { $0 + ($1 * $1).sum() }
    // Points that all lie in one place, in the sources or in the targets.
    guard spread > 1e-18, size > 1e-18, size.isFinite else { return nil }
    let rows = Self.rotation(products)
    var numerator = 0.0
    for axis in 0..<3 { for other in 0..<3 { numerator += rows[other][axis] * products[axis][other] } }
    let factor = numerator / spread
    guard factor.isFinite, factor > 1e-12 else { return nil }
    let turned = SIMD3<Double>(rows.map { ($0 * sourceMean).sum() })
    rotation = rows
    scale = factor
    translation = targetMean - turned * factor
  }

  /// The rows of the matrix that moves a point, the last one 0, 0, 0, 1.
  var matrix: [Double] {
    var numbers: [Double] = []
    for row in 0..<3 {
      let turned = rotation[row] * scale
      numbers += [turned.x, turned.y, turned.z, translation[row]]
    }
    return numbers + [0, 0, 0, 1]
  }

  /// The rotation that makes the sum of products of turned sources with targets a maximum.
  private static func rotation(_ s: [SIMD3<Double>]) -> [SIMD3<Double>] {
    let (xx, xy, xz) = (s[0].x, s[0].y, s[0].z)
    let (yx, yy, yz) = (s[1].x, s[1].y, s[1].z)
    let (zx, zy, zz) = (s[2].x, s[2].y, s[2].z)
    let diagonal: [Double] = [xx + yy + zz, xx - yy - zz, yy - xx - zz, zz - xx - yy]
    let (wx, wy, wz): (Double, Double, Double) = (yz - zy, zx - xz, xy - yx)
    let quaternion = largestEigenvector([
      [diagonal[0], wx, wy, wz],
      [wx, diagonal[1], xy + yx, zx + xz],
      [wy, xy + yx, diagonal[2], yz + zy],
      [wz, zx + xz, yz + zy, diagonal[3]],
    ])
    let (w, x, y, z) = (quaternion[0], quaternion[1], quaternion[2], quaternion[3])
    let (x2, y2, z2): (Double, Double, Double) = (x + x, y + y, z + z)
    let first = SIMD3<Double>(1 - (y * y2 + z * z2), x * y2 - w * z2, x * z2 + w * y2)
    let second = SIMD3<Double>(x * y2 + w * z2, 1 - (x * x2 + z * z2), y * z2 - w * x2)
    let third = SIMD3<Double>(x * z2 - w * y2, y * z2 + w * x2, 1 - (x * x2 + y * y2))
    return [first, second, third]
  }

  /// The unit eigenvector of a symmetric matrix's largest eigenvalue, by Jacobi's rotations.
  private static func largestEigenvector(_ symmetric: [[Double]]) -> [Double] {
    var a = symmetric
    let count = a.count
    var vectors = (0..<count).map { row in (0..<count).map { $0 == row ? 1.0 : 0.0 } }
    // Each sweep squares the error; few are needed.
    for _ in 0..<32 {
      var off = 0.0
      for row in 0..<count { for column in 0..<row { off += a[row][column] * a[row][column] } }
      if off == 0 { break }
      for p in 0..<count {
        for q in p + 1..<count where a[p][q] != 0 {
          let theta = (a[q][q] - a[p][p]) / (2 * a[p][q])
          let t = (theta < 0 ? -1 : 1) / (abs(theta) + (theta * theta + 1).squareRoot())
          let cosine = 1 / (t * t + 1).squareRoot()
          let sine = t * cosine
          for k in 0..<count {
            (a[k][p], a[k][q]) = (cosine * a[k][p] - sine * a[k][q], sine * a[k][p] + cosine * a[k][q])
          }
          for k in 0..<count {
            (a[p][k], a[q][k]) = (cosine * a[p][k] - sine * a[q][k], sine * a[p][k] + cosine * a[q][k])
          }
          for k in 0..<count {
            (vectors[k][p], vectors[k][q]) = (
              cosine * vectors[k][p] - sine * vectors[k][q], sine * vectors[k][p] + cosine * vectors[k][q]
            )
          }
        }
      }
    }
    let largest = (0..<count).max { a[$0][$0] < a[$1][$1] } ?? 0
    return vectors.map { $0[largest] }
  }
}
