import Apus
import ApusVision

extension ImageBuffer {
  /// The picture as it is seen, as rgb, with boxes, names and scores drawn on it.
  ///
  /// Boxes are taken from ``Detection/rect`` and cut at the picture's edges; those without finite coordinates or
  /// outside the picture are left out. The first detections lie on top. Where the system has no font, the boxes
  /// are drawn without text.
  ///
  /// ```swift
  /// let annotated = try picture.drawing(detections)
  /// try annotated.write(toFile: "found.png")
  /// ```
  /// - Throws: `unsupportedImage` where this build cannot draw or the picture is wider or higher than 32,767
  ///   pixels; `resourceLimit` where memory runs out.
  public func drawing(_ detections: [Detection], style: AnnotationStyle = AnnotationStyle()) throws(ApusError)
    -> ImageBuffer
  {
    let (pictureWidth, pictureHeight) = (uprightWidth, uprightHeight)
    let visible = detections.compactMap { detection -> Annotation? in
      let rect = detection.rect
      guard rect.x.isFinite, rect.y.isFinite, rect.maxX.isFinite, rect.maxY.isFinite else { return nil }
      let box = rect.clamped(width: pictureWidth, height: pictureHeight)
      guard box.width > 0, box.height > 0 else { return nil }
      return Annotation(
        box: box, text: style.caption(for: detection), color: style.palette[detection.index])
    }
    return try draw(visible, on: oriented().converted(to: .rgb), style: style)
  }
}

/// One box to draw, inside the picture.
struct Annotation {
  let box: PixelRect
  let text: String
  let color: PixelColor
}
