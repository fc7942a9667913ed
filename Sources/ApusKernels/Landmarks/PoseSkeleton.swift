// SPDX-License-Identifier: Apache-2.0

/// The points of PoseNet's skeleton and the edges between them.
package enum PoseSkeleton {
  /// Nose, eyes, ears, shoulders, elbows, wrists, hips, knees and ankles; the left one of each pair first.
  static let pointCount = 17
  static let edgeCount = 16

  /// The two points of each edge; each edge occurs again in reverse, 16 later.
  static let edges: [(from: Int, to: Int)] = {
    let outward = [
      (0, 1), (1, 3), (0, 2), (2, 4), (0, 5), (5, 7), (7, 9), (5, 11), (11, 13), (13, 15), (0, 6), (6, 8),
      (8, 10), (6, 12), (12, 14), (14, 16),
    ]
    return (outward + outward.map { ($0.1, $0.0) }).map { (from: $0.0, to: $0.1) }
  }()

  /// The channel of an edge's displacement along the rows; the one along the columns is 16 further on.
  ///
  /// Channels are the rows and columns of edges outward, then those of edges back. The first edge back has
  /// the channel after the last edge outward, as in the published decoder.
  static func channel(ofEdge edge: Int) -> Int { edge > edgeCount ? edge + edgeCount : edge }
}

/// The pixels of an image, read with interpolation.
@safe struct PixelSampling {
  let values: UnsafeBufferPointer<Float>
  let height: Int
  let width: Int
  private let channels: Int

  /// Reads a float per channel of each pixel; neither side is zero.
  init(_ bytes: UnsafeRawBufferPointer, _ height: Int, _ width: Int, channels: Int) {
    precondition(height > 0 && width > 0 && bytes.count >= 4 * height * width * channels)
    unsafe values = bytes.assumingMemoryBound(to: Float.self)
    self.height = height
    self.width = width
    self.channels = channels
  }

  /// The value of a channel at a point, interpolated between four pixels.
  func callAsFunction(_ y: Float, _ x: Float, _ channel: Int) -> Float {
    let (top, bottom, down) = Self.neighbors(y, height)
    let (left, right, along) = Self.neighbors(x, width)
    func value(_ row: Int, _ column: Int) -> Float {
      unsafe values[(row &* width &+ column) &* channels &+ channel]
    }
    return (1 - down) * ((1 - along) * value(top, left) + along * value(top, right)) + down
      * ((1 - along) * value(bottom, left) + along * value(bottom, right))
  }

  /// Moves a point by the values of two channels, clamped to the image.
  func displaced(_ point: SIMD2<Float>, _ rowChannel: Int, _ columnChannel: Int) -> SIMD2<Float> {
    SIMD2(
      Self.inside(point.y + self(point.y, point.x, rowChannel), height),
      Self.inside(point.x + self(point.y, point.x, columnChannel), width), yFirst: ())
  }

  /// A coordinate clamped to the image; NaN stays.
  static func inside(_ value: Float, _ size: Int) -> Float {
    let last = Float(size &- 1)
    return value < 0 ? 0 : last < value ? last : value
  }

  private static func neighbors(_ value: Float, _ size: Int) -> (first: Int, second: Int, part: Float) {
    let inner = inside(value, size)
    guard inner >= 0 else { return (0, 0, value) }
    let first = min(Int(inner), size &- 1)
    return (first, min(Int(inner.rounded(.up)), size &- 1), value - Float(first))
  }
}

extension SIMD2<Float> {
  /// A point, given as (y, x).
  init(_ y: Float, _ x: Float, yFirst: Void) { self.init(x: x, y: y) }
}
