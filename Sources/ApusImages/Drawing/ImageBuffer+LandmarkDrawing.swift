// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision

extension ImageBuffer {
  /// The picture after orientation, as rgb, with hands drawn on it: left and right ones in different colors.
  ///
  /// - Throws: `unsupportedImage` if this build cannot draw or the picture is wider or higher than 32,767
  ///   pixels; `resourceLimit` if memory runs out.
  public func drawing(hands: [Hand], style: AnnotationStyle = AnnotationStyle()) throws(ApusError)
    -> ImageBuffer
  {
    var sketch = Sketch()
    for hand in hands {
      let index = hand.handedness == .left ? 0 : 1
      sketch.add(hand.landmarks, Hand.connections, style.palette[index])
      let gesture = hand.gesture.map { ", " + ($0.name ?? "unknown") } ?? ""
      let category = Category(
        index: index, score: hand.handednessScore, label: hand.handedness.rawValue + gesture)
      guard let box = PixelRect(around: hand.landmarks) else { continue }
      let detection = Detection(
        category: category, boundingBox: BoundingBox(minX: 0, minY: 0, maxX: 1, maxY: 1), rect: box)
      sketch.add(
        box, style.caption(for: detection), style.palette[index], width: uprightWidth, height: uprightHeight,
        isOutlined: false)
    }
    return try draw(sketch, on: copyToDrawOn(), style: style)
  }

  /// The picture after orientation, as rgb, with face meshes drawn on it: the points, and the outlines of lips, eyes, brows, irises and face.
  ///
  /// - Throws: As ``drawing(hands:style:)``.
  public func drawing(faceMeshes: [FaceMesh], style: AnnotationStyle = AnnotationStyle()) throws(ApusError)
    -> ImageBuffer
  {
    // Hundreds of points hide a face unless they are fine.
    var style = style
    style.lineWidth = style.lineWidth ?? 1
    var sketch = Sketch()
    for (number, face) in faceMeshes.enumerated() {
      let color = style.palette[number]
      sketch.dots += face.landmarks.filter { $0.x.isFinite && $0.y.isFinite }
        .map { Sketch.Dot(x: $0.x, y: $0.y, color: color) }
      for outline in FaceMesh.outlines {
        sketch.add(
          face.landmarks, Array(zip(outline, outline.dropFirst())), style.palette[number + 1], isDotted: false
        )
      }
    }
    return try draw(sketch, on: copyToDrawOn(), style: style)
  }

  /// The picture after orientation, as rgb, with people's bodies drawn on it: points that are visible, and the lines between them.
  ///
  /// - Parameters:
  ///   - bodies: Their points are on this picture.
  ///   - minVisibility: The minimum visibility of a drawn point.
  ///   - style: Colors and widths.
  /// - Throws: As ``drawing(hands:style:)``.
  public func drawing(
    bodies: [BodyPose], minVisibility: Float = 0.5, style: AnnotationStyle = AnnotationStyle()
  ) throws(ApusError) -> ImageBuffer {
    var sketch = Sketch()
    for (number, body) in bodies.enumerated() {
      // Points that are not finite are not drawn.
      let points = body.landmarks.map { point in
        (point.visibility ?? 1) >= minVisibility ? point : Landmark(x: .nan, y: .nan, z: .nan)
      }
      sketch.add(points, BodyPose.connections, style.palette[number])
    }
    return try draw(sketch, on: copyToDrawOn(), style: style)
  }

  /// The picture after orientation, as rgb, with a person's face, body and hands drawn on it.
  ///
  /// - Throws: As ``drawing(hands:style:)``.
  public func drawing(person: HolisticResult, style: AnnotationStyle = AnnotationStyle()) throws(ApusError)
    -> ImageBuffer
  {
    var picture = self
    if let face = person.face { picture = try picture.drawing(faceMeshes: [face], style: style) }
    if let pose = person.pose { picture = try picture.drawing(bodies: [pose], style: style) }
    let hands = [person.leftHand, person.rightHand].compactMap(\.self)
    return try picture.drawing(hands: hands, style: style)
  }
}

extension PixelRect {
  /// The rectangle around points; nil if there are none.
  package init?(around points: [Landmark]) {
    guard let left = points.map(\.x).min(), let right = points.map(\.x).max(),
      let top = points.map(\.y).min(), let bottom = points.map(\.y).max()
    else { return nil }
    self.init(x: left, y: top, width: right - left, height: bottom - top)
  }
}

extension Sketch {
  /// Adds points and the lines between them; those that are not finite are left out.
  ///
  /// - Parameter isDotted: Whether the points themselves are drawn.
  mutating func add(
    _ points: [Landmark], _ connections: [(Int, Int)], _ color: PixelColor, isDotted: Bool = true
  ) {
    let isShown = points.map { $0.x.isFinite && $0.y.isFinite }
    for (from, to) in connections where points.indices.contains(from) && points.indices.contains(to) {
      guard isShown[from], isShown[to] else { continue }
      lines.append(
        Line(from: (points[from].x, points[from].y), to: (points[to].x, points[to].y), color: color))
    }
    guard isDotted else { return }
    for (point, isShown) in zip(points, isShown) where isShown {
      dots.append(Dot(x: point.x, y: point.y, color: color))
    }
  }
}
