// SPDX-License-Identifier: Apache-2.0

/// The kinds of detection models, by what their outputs hold.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
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
  /// YOLO v6: `N × (5 + classes)`, one row for each cell, whose objectness is always 1.
  case yolo6
  /// YOLOX with decoded boxes: `N × (5 + classes)`, one row for each cell, with objectness.
  case yolox
  /// YOLOX as its network has it: offsets from the cell and logarithms of sizes, in strides.
  case yoloxRaw = "yolox-raw"
  /// YOLO v2 and ST's YOLO-lc as their networks have them: one map, with five anchors in each cell, and a softmax of classes.
  case yolo2
  /// YOLO v3 as its network has it: a map for each of three grids, with three anchors in each cell.
  case yolo3
  /// Tiny YOLO v3 as its network has it: a map for each of two grids.
  case yolo3Tiny = "yolo3-tiny"
  /// YOLO v4 as its network has it: a map for each of three grids.
  case yolo4
  /// Tiny YOLO v4 as its network has it: a map for each of two grids.
  case yolo4Tiny = "yolo4-tiny"
  /// YOLO v4, or v3, with decoded boxes in one output and the scores of their classes in another.
  case yolo4Boxes = "yolo4-boxes"
  /// YOLO v5 as its network has it: a map for each of three grids, with three anchors in each cell.
  case yolo5Raw = "yolo5-raw"
  /// YOLO v7 as its network has it: like ``yolo5Raw``, with other anchors.
  case yolo7Raw = "yolo7-raw"
  /// YOLO-NAS: corners in one output, class scores in another.
  case yoloNAS = "yolo-nas"
  /// Corners, the best score and its class of each candidate in three outputs: YOLO models of Qualcomm AI Hub.
  case yoloBestClass = "yolo-best-class"
  /// YOLO v7 with suppression inside: rows of batch, left, top, right, bottom, class, score.
  case yolo7EndToEnd = "yolo7-end-to-end"
  /// YOLO-NAS with suppression inside, in its flat format: rows of image, left, top, right, bottom, score, class.
  case yoloNASEndToEnd = "yolo-nas-end-to-end"
  /// EfficientDet with suppression inside: rows of image, top, left, bottom, right, score, class.
  case efficientDet = "efficientdet"
  /// Rows of class, score, left, top, right, bottom with suppression inside, as PaddleDetection has them, or with the image before, as
  /// PINTO's model zoo has them.
  case classFirst = "class-first"
  /// Oriented boxes of YOLO v8 to 26: `(4 + classes + 1) × N`, the last of which is an angle.
  case yoloOBB = "yolo-obb"
  /// Oriented boxes with suppression inside, or without need of it: rows of center, size, score, class, angle.
  case yoloOBBEndToEnd = "yolo-obb-end-to-end"
  /// RT-DETR, D-FINE and RF-DETR: a box and a logit or probability of each class for each query; the best of all classes count.
  case rtDETR = "rt-detr"
  /// DETR: a box and the logits of each class and of no object for each query.
  case detr
  /// FOMO: a score of each class for each cell, the background first.
  case fomo

  /// The default minimum score: 0.25 for YOLO, exclusive; otherwise 0.5, inclusive.
  public var defaultScoreThreshold: Float { isYOLO ? 0.25 : 0.5 }

  /// The default maximum number of results: 10 for SSD and EfficientDet, otherwise 300. Models with suppression inside whose outputs are
  /// named as PyTorch's exports name them have 300, too.
  public var defaultMaxResults: Int {
    switch self {
    case .postProcessed, .ssd, .efficientDet: 10
    default: 300
    }
  }

  /// Whether it is one of YOLO's.
  public var isYOLO: Bool {
    switch self {
    case .postProcessed, .ssd, .efficientDet, .classFirst, .rtDETR, .detr, .fomo: false
    default: true
    }
  }

  /// The names that a caller can choose, for errors and help.
  package static var names: String {
    allCases.map(\.rawValue).filter { $0 != DetectorLayout.postProcessed.rawValue }.joined(separator: ", ")
  }
}
