// SPDX-License-Identifier: Apache-2.0

import ApusSystem

/// The matrix from the pixels of a crop to those of a picture; the crop is an upright rectangle around some
/// landmarks.
///
/// Source: MediaPipe's `Landmarks2TransformMatrix`.
package struct LandmarkCrop: Sendable {
  /// The version of the operator, with its options.
  package enum Version: Sendable {
    /// Landmarks are in units of `range` across the picture, angles are those of a line, and pixels lie at corners.
    case first(range: Float, multiplier: Float, input: SIMD2<Float>)
    /// Landmarks are in pixels; in the crop, the line between two of them has this angle.
    case second(angle: Float, scale: SIMD2<Float>)
  }

  private let version: Version
  private let subset: [Int]
  private let left: Int
  private let right: Int
  private let size: SIMD2<Float>

  /// Describes a crop.
  ///
  /// - Parameters:
  ///   - subset: the landmarks that it contains, at least one.
  ///   - left: the landmark at which the line begins.
  ///   - right: the landmark at which the line ends.
  ///   - size: the crop's columns and rows.
  package init(_ version: Version, subset: [Int], left: Int, right: Int, size: SIMD2<Float>) {
    precondition(!subset.isEmpty)
    self.version = version
    self.subset = subset
    self.left = left
    self.right = right
    self.size = size
  }

  /// Writes the 16 numbers of the matrix, row by row; landmarks have three coordinates each.
  package func write(_ landmarks: Span<Float>, to matrix: inout MutableSpan<Float>) {
    precondition(matrix.count >= 16)
    func landmark(_ index: Int) -> SIMD2<Float> {
      SIMD2(landmarks[3 * index], landmarks[3 * index + 1])
    }
    let line = landmark(right) - landmark(left)
    let angle =
      switch version {
      case .first: -atanf(line.y / line.x)
      case .second(let target, _): target - atan2f(line.y, line.x)
      }
    var least = turned(landmark(subset[0]), by: angle)
    var most = least
    for index in subset.dropFirst() {
      let point = turned(landmark(index), by: angle)
      least = point.replacing(with: least, where: least .<= point)
      most = point.replacing(with: most, where: most .>= point)
    }
    let middle = turned((least + most) / 2, by: -angle)
    // The size of one crop pixel in the picture, along each axis of the crop, and the position of the crop's
    // first pixel.
    let step: SIMD2<Float>
    let origin: SIMD2<Float>
    switch version {
    case .first(let range, let multiplier, let input):
      let half = (input - 1) / 2
      let extent = (most - least) * multiplier / range
      // From −1 to 1 across the crop, turned and moved, to −1 to 1 across the picture.
      let center = middle / range * 2 - 1
      step = extent * (2 / (size - 1))
      let (x, y) = (turned(SIMD2(step.x, 0), by: -angle), turned(SIMD2(0, step.y), by: -angle))
      origin = (turned(-extent, by: -angle) + center) * half + half
      write(columns: (x * half, y * half), origin: origin, to: &matrix)
    case .second(_, let scale):
      step = scale * (most - least) / size
      let (x, y) = (turned(SIMD2(step.x, 0), by: -angle), turned(SIMD2(0, step.y), by: -angle))
      origin = middle + turned(step * (size / -2), by: -angle)
      write(columns: (x, y), origin: origin, to: &matrix)
    }
  }

  private func turned(_ point: SIMD2<Float>, by angle: Float) -> SIMD2<Float> {
    let (cosine, sine) = (cosf(angle), sinf(angle))
    return SIMD2(point.x * cosine - point.y * sine, point.x * sine + point.y * cosine)
  }

  private func write(
    columns: (SIMD2<Float>, SIMD2<Float>), origin: SIMD2<Float>, to matrix: inout MutableSpan<Float>
  ) {
    for row in 0..<4 {
      for column in 0..<4 { matrix[4 * row + column] = row == column ? 1 : 0 }
    }
    for row in 0..<2 {
      matrix[4 * row] = columns.0[row]
      matrix[4 * row + 1] = columns.1[row]
      matrix[4 * row + 2] = 0
      matrix[4 * row + 3] = origin[row]
    }
  }
}
