// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision

extension ImageBuffer {
  /// The picture after orientation, as rgb, with lines, texts and detections drawn on it.
  ///
  /// - Parameters:
  ///   - detections: The detections, drawn as ``drawing(_:style:)`` does.
  ///   - paths: Points that lines join, in pixels; those that are not finite are left out.
  ///   - texts: Texts, each at the top of a rectangle that is not drawn.
  /// - Throws: As ``drawing(_:style:)``.
  package func drawing(
    _ detections: [Detection], paths: [(points: [PixelPoint], color: PixelColor)],
    texts: [(text: String, place: PixelRect, color: PixelColor)], style: AnnotationStyle = AnnotationStyle()
  ) throws(ApusError) -> ImageBuffer {
    var sketch = Sketch()
    for (points, color) in paths where points.allSatisfy({ $0.x.isFinite && $0.y.isFinite }) {
      for (from, to) in zip(points, points.dropFirst()) {
        sketch.lines.append(Sketch.Line(from: (from.x, from.y), to: (to.x, to.y), color: color))
      }
    }
    for detection in detections {
      sketch.add(
        detection.rect, style.caption(for: detection), style.palette[detection.index], width: uprightWidth,
        height: uprightHeight)
    }
    for (text, place, color) in texts {
      sketch.add(place, text, color, width: uprightWidth, height: uprightHeight, isOutlined: false)
    }
    return try draw(sketch, on: copyToDrawOn(), style: style)
  }
}
