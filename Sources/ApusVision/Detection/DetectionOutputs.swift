// SPDX-License-Identifier: Apache-2.0

/// Which output of a detection model holds what, by position.
///
/// ``ObjectDetector`` finds this out by itself. If it cannot, set ``ObjectDetector/Options/outputs``.
public struct DetectionOutputs: Hashable, Sendable {
  /// The boxes, `1×N×4`: top, left, bottom and right as fractions of the input, unless the metadata says otherwise; see
  /// ``ObjectDetector/assumptions`` for boxes in pixels.
  public var boxes: Int
  /// The classes, `1×N`: whole numbers.
  public var classes: Int
  /// The scores, `1×N`.
  public var scores: Int
  /// How many of the `N` rows are detections, one number; nil if the model has no such output: then all are.
  public var count: Int?

  /// Makes the positions; the default is the order of `TFLite_Detection_PostProcess`.
  public init(boxes: Int = 0, classes: Int = 1, scores: Int = 2, count: Int? = 3) {
    self.boxes = boxes
    self.classes = classes
    self.scores = scores
    self.count = count
  }

  /// The positions in the order boxes, classes, scores, count.
  var positions: [Int] { [boxes, classes, scores] + (count.map { [$0] } ?? []) }
}
