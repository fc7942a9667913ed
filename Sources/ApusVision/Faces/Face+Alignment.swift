// SPDX-License-Identifier: Apache-2.0

extension Face {
  /// Where the eyes, the nose and the mouth are in an aligned face, as fractions of its side: the middle of the mouth and
  /// the points before it of the template that ArcFace made common, for 112 × 112 pixels.
  private static let template: [(x: Double, y: Double)] = [
    (38.2946 / 112, 51.6963 / 112), (73.5318 / 112, 51.5014 / 112), (56.0252 / 112, 71.7366 / 112),
    (56.1396 / 112, 92.2848 / 112),
  ]

  /// The face, upright in the middle of a square picture, as embedding models expect it; nil if it lacks points of
  /// eyes, nose or mouth, or they coincide.
  ///
  /// The picture is turned, scaled and moved, but not distorted, so that these points come as near as possible (by least
  /// squares) to their places in the template. Pixels beyond the picture's edge are black.
  ///
  /// - Parameters:
  ///   - image: The picture in which the face was found.
  ///   - size: The side of the square, in pixels.
  public func aligned(in image: ImageBuffer, size: Int = 112) -> ImageBuffer? {
    guard size > 0, size <= 4096, keypoints.count >= Self.template.count else { return nil }
    let points = keypoints.prefix(Self.template.count).map { (x: Double($0.x), y: Double($0.y)) }
    guard points.allSatisfy({ $0.x.isFinite && $0.y.isFinite }) else { return nil }
    let targets = Self.template.map { (x: $0.x * Double(size), y: $0.y * Double(size)) }
    guard let transform = AffineTransform(from: targets, to: points) else { return nil }
    return image.warped(by: transform, size: size)
  }
}

extension AffineTransform {
  /// The turn, scale and shift that take points nearest to others, by least squares; nil if all are in one place.
  fileprivate init?(from sources: [(x: Double, y: Double)], to targets: [(x: Double, y: Double)]) {
    guard sources.count == targets.count, !sources.isEmpty else { return nil }
    let count = Double(sources.count)
    let (sx, sy) = (sources.reduce(0) { $0 + $1.x } / count, sources.reduce(0) { $0 + $1.y } / count)
    let (ux, uy) = (targets.reduce(0) { $0 + $1.x } / count, targets.reduce(0) { $0 + $1.y } / count)
    var (dot, cross, spread) = (0.0, 0.0, 0.0)
    for (source, target) in zip(sources, targets) {
      let (px, py, qx, qy) = (source.x - sx, source.y - sy, target.x - ux, target.y - uy)
      dot += px * qx + py * qy
      cross += px * qy - py * qx
      spread += px * px + py * py
    }
    guard spread > 0, dot * dot + cross * cross > 0 else { return nil }
    let (a, b) = (dot / spread, cross / spread)
    self.init(xx: a, xy: -b, dx: ux - a * sx + b * sy, yx: b, yy: a, dy: uy - b * sx - a * sy)
  }
}

extension ImageBuffer {
  /// Samples of a large square are fewer for each pixel.
  private static let maximumSamples = 1 << 26

  /// A square whose pixel centers are taken from where a transform leads in this picture as it is seen, as rgb. The transform has one scale
  /// for both axes.
  ///
  /// Where the picture shrinks, a pixel is the mean of several samples, at most 8 × 8; samples are bilinear.
  fileprivate func warped(by transform: AffineTransform, size: Int) -> ImageBuffer {
    let source = oriented().converted(to: .rgb)
    // Points far outside the picture have a scale that no integer holds.
    let scale = (transform.xx * transform.xx + transform.yx * transform.yx).squareRoot()
    var samples = Int(min(max(scale.rounded(.up), 1), 8))
    while samples > 1, size * size * samples * samples > Self.maximumSamples { samples -= 1 }
    var pixels = [UInt8](repeating: 0, count: size * size * 3)
    for row in 0..<size {
      for column in 0..<size {
        var sums = SIMD3<Double>.zero
        for i in 0..<samples {
          for j in 0..<samples {
            let y = Double(row) + (Double(i) + 0.5) / Double(samples)
            let x = Double(column) + (Double(j) + 0.5) / Double(samples)
            let place = transform(x, y)
            sums += source.sample(x: place.x - 0.5, y: place.y - 0.5)
          }
        }
        let mean = sums / Double(samples * samples)
        for channel in 0..<3 {
          pixels[(row * size + column) * 3 + channel] = UInt8(min(max(mean[channel].rounded(), 0), 255))
        }
      }
    }
    return ImageBuffer(trusted: pixels, width: size, height: size, format: .rgb)
  }

  /// The color between pixels of a tightly packed rgb picture; black outside.
  private func sample(x: Double, y: Double) -> SIMD3<Double> {
    guard x > -1, y > -1, x < Double(width), y < Double(height) else { return .zero }
    let (left, top) = (Int(x.rounded(.down)), Int(y.rounded(.down)))
    let (wx, wy) = (x - Double(left), y - Double(top))
    func color(_ column: Int, _ row: Int) -> SIMD3<Double> {
      guard column >= 0, row >= 0, column < width, row < height else { return .zero }
      let start = row * bytesPerRow + column * 3
      return SIMD3(Double(bytes[start]), Double(bytes[start + 1]), Double(bytes[start + 2]))
    }
    let upper = color(left, top) * (1 - wx) + color(left + 1, top) * wx
    let lower = color(left, top + 1) * (1 - wx) + color(left + 1, top + 1) * wx
    return upper * (1 - wy) + lower * wy
  }
}
