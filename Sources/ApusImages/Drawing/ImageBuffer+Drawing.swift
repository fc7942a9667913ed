// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision

extension ImageBuffer {
  /// The picture after orientation, as rgb, with boxes, names and scores drawn on it.
  ///
  /// Boxes are taken from ``Detection/rect`` and cut at the picture's edges; those without finite coordinates or
  /// outside the picture are left out. Masks shine through, keypoints of at least the score 0.3 and centers are dots; turned
  /// boxes are drawn by their corners. The first
  /// detections lie on top. If the system has no font, the boxes
  /// are drawn without text.
  ///
  /// ```swift
  /// let annotated = try picture.drawing(detections)
  /// try annotated.write(toFile: "found.png")
  /// ```
  /// - Throws: `unsupportedImage` if this build cannot draw or the picture is wider or higher than 32,767
  ///   pixels; `invalidArgument` if a mask reaches beyond the picture; `resourceLimit` if memory runs out.
  public func drawing(_ detections: [Detection], style: AnnotationStyle = AnnotationStyle()) throws(ApusError)
    -> ImageBuffer
  {
    try drawing(detections, style: style) { () throws(ApusError) in }
  }

  /// A copy with detections drawn on it, in bands of about `bandPixelCount` pixels; `checkTime` is called
  /// before each mask.
  package func drawing(
    _ detections: [Detection], style: AnnotationStyle = AnnotationStyle(), bandPixelCount: Int? = nil,
    _ checkTime: () throws(ApusError) -> Void
  ) throws(ApusError) -> ImageBuffer {
    var sketch = Sketch()
    for detection in detections {
      let color = style.palette[detection.index]
      sketch.add(
        detection.rect, style.caption(for: detection), color, width: uprightWidth, height: uprightHeight,
        isOutlined: detection.orientedBox == nil)
      if let box = detection.orientedBox { sketch.add(box.corners, color) }
      if let center = detection.center { sketch.add([Keypoint(x: center.x, y: center.y)], 0, color) }
      sketch.add(detection.keypoints, 0.3, color)
    }
    let picture = try copyToDrawOn().blended(detections, style.palette, checkTime)
    return try draw(
      sketch, on: consume picture, style: style, bandPixelCount: bandPixelCount ?? Sketch.bandPixelCount)
  }
}

/// One box to draw, inside the picture.
struct Annotation {
  let box: PixelRect
  let text: String
  let color: PixelColor
  /// Whether the box itself is drawn, or only its text.
  var isOutlined = true
}
