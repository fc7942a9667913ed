// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision

extension ObjectDetector {
  /// A detector with the embedded model, which finds triangles, rectangles, pentagons and circles.
  ///
  /// ```swift
  /// let detector = try ObjectDetector.shapes()
  /// let shapes = try detector.detect(picture)
  /// ```
  /// - Parameters:
  ///   - labels: Other names for the shapes, in the order of ``EmbeddedShapes/labels``; nil for those.
  ///   - options: How to detect.
  public static func shapes(labels: LabelMap? = nil, options: Options = Options()) throws(ApusError)
    -> ObjectDetector
  {
    try ObjectDetector(
      model: Model(bytes: EmbeddedShapes.modelBytes),
      labels: labels ?? LabelMap(EmbeddedShapes.labels, offset: 0),
      options: options)
  }
}
