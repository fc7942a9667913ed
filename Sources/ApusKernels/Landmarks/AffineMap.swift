// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// The first two rows of a 4 × 4 matrix, as MediaPipe's operators apply it to points of a plane.
package struct AffineMap: Sendable {
  /// The row that computes x.
  package var x: SIMD4<Float>
  /// The row that computes y.
  package var y: SIMD4<Float>

  /// Reads a matrix of 16 numbers, row by row.
  package init(_ matrix: Span<Float>) {
    precondition(matrix.count >= 8)
    x = SIMD4(matrix[0], matrix[1], matrix[2], matrix[3])
    y = SIMD4(matrix[4], matrix[5], matrix[6], matrix[7])
  }

  /// This map for coordinates relative to the center of the first pixel, not to its corner.
  package var ofPixelCenters: AffineMap {
    func moved(_ row: SIMD4<Float>) -> SIMD4<Float> {
      var row = row
      row[3] = Float(Double(row[3]) + Double(row[0]) * 0.5 + Double(row[1]) * 0.5 - 0.5)
      return row
    }
    var result = self
    (result.x, result.y) = (moved(x), moved(y))
    return result
  }

  /// Maps a point.
  @inline(__always)
  func callAsFunction(_ px: Float, _ py: Float) -> (x: Float, y: Float) {
    func product(_ row: SIMD4<Float>) -> Float { row[0] * px + row[1] * py + row[2] * 0 + row[3] }
    return (product(x), product(y))
  }

  /// Maps points that have `depth` coordinates, two or three; a third one stays.
  package func map(_ points: Span<Float>, depth: Int, to result: inout MutableSpan<Float>) {
    precondition(result.count >= points.count && (2...3).contains(depth) && points.count % depth == 0)
    for first in stride(from: 0, to: points.count, by: depth) {
      let point = self(points[first], points[first + 1])
      result[first] = point.x
      result[first + 1] = point.y
      if depth == 3 { result[first + 2] = points[first + 2] }
    }
  }

  /// Fills each pixel of an image with another image's value at the mapped position, interpolated between
  /// four pixels; zero outside.
  package func sample(
    _ image: Span<Float>, height: Int, width: Int, channels: Int, to result: inout MutableSpan<Float>,
    height resultHeight: Int, width resultWidth: Int, threads: ThreadTeam
  ) {
    precondition(
      image.count >= height * width * channels && result.count >= resultHeight * resultWidth * channels)
    var target = 0
    var poll = StopPoll(threads)
    for row in 0..<resultHeight {
      for column in 0..<resultWidth {
        if poll.mustStop(before: 8 &* channels) { return }
        let point = self(Float(column), Float(row))
        if point.x >= 0, point.x <= Float(width &- 1), point.y >= 0, point.y <= Float(height &- 1) {
          let (left, top) = (min(Int(point.x), width &- 1), min(Int(point.y), height &- 1))
          let (right, lower) = (Double(point.x) - Double(left), Double(point.y) - Double(top))
          for channel in 0..<channels {
            func value(_ y: Int, _ x: Int) -> Double {
              y < height && x < width ? Double(image[(y &* width &+ x) &* channels &+ channel]) : 0
            }
            let first = (1 - right) * value(top, left) + right * value(top, left &+ 1)
            let second = (1 - right) * value(top &+ 1, left) + right * value(top &+ 1, left &+ 1)
            result[target &+ channel] = Float(lower * second + (1 - lower) * first)
          }
        } else {
          for channel in 0..<channels { result[target &+ channel] = 0 }
        }
        target &+= channels
      }
    }
  }
}
