// SPDX-License-Identifier: Apache-2.0

/// The kinds of detection models, by what their outputs hold.
public enum DetectorLayout: String, CaseIterable, Hashable, Sendable {
  /// Boxes, classes, scores and usually a count: suppression is part of the model.
  case postProcessed = "post-processed"
  /// Encoded boxes and scores of a single-shot detector, one row for each anchor.
  case ssd
  /// YOLO v5: `N × (5 + classes)`, with objectness.
  case yolo5
  /// YOLO v8, v9, 11, 12, and others without an end-to-end head: `(4 + classes) × N`, or transposed.
  case yolo8
  /// A raw one-to-one head of YOLO v10 or 26: like ``yolo8``, but boxes are given by their corners, and none is suppressed.
  case yolo10Raw = "yolo10-raw"
  /// YOLO v10 or 26, or an export with suppression inside: `300 × 6`.
  case yoloEndToEnd = "yolo-end-to-end"

  /// The default minimum score: 0.25 for YOLO, exclusive; otherwise 0.5, inclusive.
  public var defaultScoreThreshold: Float { isYOLO ? 0.25 : 0.5 }

  /// The default maximum number of results: 300 for YOLO, otherwise 10.
  public var defaultMaxResults: Int { isYOLO ? 300 : 10 }

  /// Whether it is one of YOLO's.
  public var isYOLO: Bool {
    switch self {
    case .postProcessed, .ssd: false
    case .yolo5, .yolo8, .yolo10Raw, .yoloEndToEnd: true
    }
  }
}
