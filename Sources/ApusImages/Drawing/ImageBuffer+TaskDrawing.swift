// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision

extension ImageBuffer {
  /// The picture after orientation, as rgb, with faces and their points drawn on it.
  ///
  /// - Throws: `unsupportedImage` if this build cannot draw or the picture is wider or higher than 32,767
  ///   pixels; `resourceLimit` if memory runs out.
  public func drawing(faces: [Face], style: AnnotationStyle = AnnotationStyle()) throws(ApusError)
    -> ImageBuffer
  {
    let (pictureWidth, pictureHeight) = (uprightWidth, uprightHeight)
    var sketch = Sketch()
    for face in faces {
      let color = style.palette[0]
      let category = Category(index: 0, score: face.score, label: "face")
      let detection = Detection(category: category, boundingBox: face.boundingBox, rect: face.rect)
      sketch.add(
        face.rect, style.caption(for: detection), color, width: pictureWidth, height: pictureHeight)
      sketch.dots += face.keypoints.map { Sketch.Dot(x: $0.x, y: $0.y, color: style.palette[1]) }
    }
    return try draw(sketch, on: copyToDrawOn(), style: style)
  }

  /// The picture after orientation, as rgb, with the names that a gallery knows drawn on it: around faces, or around
  /// the whole picture.
  ///
  /// Of several matches for a face, the first one is drawn. A name has the same color in every picture; what is unknown
  /// is gray.
  ///
  /// - Throws: As ``drawing(_:style:)``.
  public func drawing(
    matches: [GalleryResult.Match], style: AnnotationStyle = AnnotationStyle()
  ) throws(ApusError) -> ImageBuffer {
    let (pictureWidth, pictureHeight) = (uprightWidth, uprightHeight)
    let whole = PixelRect(x: 0, y: 0, width: Float(pictureWidth), height: Float(pictureHeight))
    var sketch = Sketch()
    var drawn: Set<PixelRect> = []
    for match in matches {
      let box = match.box ?? whole
      guard drawn.insert(box).inserted else { continue }
      sketch.add(
        box, style.caption(for: match), style.color(ofName: match.name), width: pictureWidth,
        height: pictureHeight)
    }
    return try draw(sketch, on: copyToDrawOn(), style: style)
  }

  /// The picture after orientation, as rgb, in a frame with the name and the score of its best class, the first one.
  ///
  /// - Throws: As ``drawing(_:style:)``.
  public func drawing(
    categories: [Category], style: AnnotationStyle = AnnotationStyle()
  ) throws(ApusError) -> ImageBuffer {
    let (pictureWidth, pictureHeight) = (uprightWidth, uprightHeight)
    var sketch = Sketch()
    if let best = categories.first {
      let whole = Detection(
        category: best, boundingBox: BoundingBox(minX: 0, minY: 0, maxX: 1, maxY: 1),
        imageWidth: pictureWidth, imageHeight: pictureHeight)
      sketch.add(
        whole.rect, style.caption(for: whole), style.palette[best.index], width: pictureWidth,
        height: pictureHeight)
    }
    return try draw(sketch, on: copyToDrawOn(), style: style)
  }

  /// The picture after orientation, as rgb, with poses drawn on it: their points and, for people of seventeen points, the limbs
  /// between them.
  ///
  /// - Parameters:
  ///   - poses: Their points are on this picture.
  ///   - keypointThreshold: The minimum score of a drawn point; points without a score are always drawn.
  ///   - style: Colors and widths.
  /// - Throws: As ``drawing(_:style:)``.
  public func drawing(
    poses: [Pose], keypointThreshold: Float = 0.3, style: AnnotationStyle = AnnotationStyle()
  ) throws(ApusError) -> ImageBuffer {
    var sketch = Sketch()
    for (number, pose) in poses.enumerated() {
      sketch.add(pose.keypoints, keypointThreshold, style.palette[number])
    }
    return try draw(sketch, on: copyToDrawOn(), style: style)
  }

  /// The picture after orientation, as rgb, tinted by the classes of its pixels; class 0, usually the background, is
  /// not tinted.
  ///
  /// - Parameters:
  ///   - segmentation: The classes of this picture's pixels.
  ///   - opacity: How much of a pixel is the class's color, 0 to 1.
  ///   - palette: The colors of the classes.
  /// - Throws: `invalidArgument` if the mask belongs to a picture of another size.
  public func drawing(
    segmentation: SegmentationResult, opacity: Float = 0.5, palette: ClassPalette = .standard
  ) throws(ApusError) -> ImageBuffer {
    var picture = try copyToDrawOn()
    let (width, height) = (picture.width, picture.height)
    let mask = segmentation.categoryMask
    guard !mask.isEmpty else {
      throw ApusError(
        .invalidArgument,
        "the result has no class for each pixel: its segmenter had outputsCategoryMask = false")
    }
    guard segmentation.imageWidth == width, segmentation.imageHeight == height,
      mask.count == width * height
    else {
      throw ApusError(
        .invalidArgument,
        """
        the mask of \(segmentation.imageWidth) × \(segmentation.imageHeight) pixels is not one of a picture of \
        \(width) × \(height)
        """)
    }
    let weight = max(0, min(256, Int((opacity.isNaN ? 0.5 : opacity) * 256)))
    var bytes = picture.takeBytes()
    for (pixel, index) in mask.enumerated() where index > 0 {
      blend(&bytes, at: pixel * 3, palette[Int(index) - 1], weight)
    }
    return try ImageBuffer(bytes: bytes, width: width, height: height, format: .rgb)
  }

  /// The picture after orientation, as tightly packed rgb.
  ///
  /// - Throws: `resourceLimit` if the system refuses memory for it, for one that is turned, and for what drawing takes.
  func copyToDrawOn() throws(ApusError) -> ImageBuffer {
    try requireMemory(10 * width * height, for: "drawing on a picture of \(width) × \(height) pixels")
    return oriented().converted(to: .rgb)
  }

  /// A tightly packed rgb picture with the masks of detections.
  consuming func blended(
    _ detections: [Detection], _ palette: ClassPalette, _ checkTime: () throws(ApusError) -> Void
  ) throws(ApusError) -> ImageBuffer {
    guard detections.contains(where: { $0.mask != nil }) else { return self }
    let (width, height) = (width, height)
    var bytes = takeBytes()
    for detection in detections.reversed() {
      guard let mask = detection.mask else { continue }
      guard mask.x + mask.width <= width, mask.y + mask.height <= height else {
        throw ApusError(
          .invalidArgument,
          """
          the mask of a detection reaches to (\(mask.x + mask.width), \(mask.y + mask.height)), outside a picture of \
          \(width) × \(height) pixels; draw on the picture that was asked about
          """)
      }
      try checkTime()
      let pixels = mask.pixels()
      for row in 0..<mask.height {
        for column in 0..<mask.width where pixels[row * mask.width + column] == 1 {
          blend(&bytes, at: ((mask.y + row) * width + mask.x + column) * 3, palette[detection.index], 102)
        }
      }
    }
    return try ImageBuffer(bytes: bytes, width: width, height: height, format: .rgb)
  }
}

/// Mixes a color into three bytes; `weight` is in 256ths.
private func blend(_ bytes: inout [UInt8], at start: Int, _ color: PixelColor, _ weight: Int) {
  func mixed(_ byte: UInt8, _ value: UInt8) -> UInt8 {
    UInt8(truncatingIfNeeded: min((Int(byte) * (256 - weight) + Int(value) * weight + 128) >> 8, 255))
  }
  bytes[start] = mixed(bytes[start], color.red)
  bytes[start + 1] = mixed(bytes[start + 1], color.green)
  bytes[start + 2] = mixed(bytes[start + 2], color.blue)
}

/// The shapes to draw on a picture: boxes with text, lines, dots.
struct Sketch {
  /// A line between two points.
  struct Line {
    let from: (x: Float, y: Float)
    let to: (x: Float, y: Float)
    let color: PixelColor
  }

  /// A filled circle.
  struct Dot {
    let x: Float
    let y: Float
    let color: PixelColor
  }

  /// How many lines and dots are drawn at most, the first ones: each takes microseconds.
  static let maximumLines = 1 << 14
  static let maximumDots = 1 << 15
  /// The maximum number of pixels in memory once more while a picture is drawn on.
  static let bandPixelCount = 1 << 24

  var boxes: [Annotation] = []
  var lines: [Line] = []
  var dots: [Dot] = []

  /// The limbs of COCO's seventeen points.
  private static let limbs = [
    (0, 1), (0, 2), (1, 3), (2, 4), (5, 6), (5, 7), (7, 9), (6, 8), (8, 10), (5, 11), (6, 12), (11, 12),
    (11, 13), (13, 15), (12, 14), (14, 16),
  ]

  /// Adds a box where it is inside the picture and finite.
  mutating func add(
    _ rect: PixelRect, _ text: String, _ color: PixelColor, width: Int, height: Int, isOutlined: Bool = true
  ) {
    guard rect.x.isFinite, rect.y.isFinite, rect.maxX.isFinite, rect.maxY.isFinite else { return }
    let box = rect.clamped(width: width, height: height)
    guard box.width > 0, box.height > 0 else { return }
    boxes.append(Annotation(box: box, text: text, color: color, isOutlined: isOutlined))
  }

  /// Adds the sides between corners, where all of them are finite.
  mutating func add(_ corners: [PixelPoint], _ color: PixelColor) {
    guard corners.allSatisfy({ $0.x.isFinite && $0.y.isFinite }) else { return }
    for (corner, next) in zip(corners, corners.dropFirst() + corners.prefix(1)) {
      lines.append(Line(from: (corner.x, corner.y), to: (next.x, next.y), color: color))
    }
  }

  /// Adds points that are sure enough, and the limbs between them.
  mutating func add(_ points: [Keypoint], _ threshold: Float, _ color: PixelColor) {
    let isShown = points.map { ($0.score ?? 1) >= threshold && $0.x.isFinite && $0.y.isFinite }
    if points.count == Keypoint.cocoNames.count {
      for (from, to) in Self.limbs where isShown[from] && isShown[to] {
        lines.append(
          Line(from: (points[from].x, points[from].y), to: (points[to].x, points[to].y), color: color))
      }
    }
    for (point, isShown) in zip(points, isShown) where isShown {
      dots.append(Dot(x: point.x, y: point.y, color: color))
    }
  }
}
