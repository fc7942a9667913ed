// SPDX-License-Identifier: Apache-2.0

/// How a raw YOLO head encodes boxes: its anchors, and how offsets and sizes are computed.
struct YOLOAnchors: Hashable, Sendable {
  /// A width and a height in pixels of the input.
  struct Anchor: Hashable, Sendable {
    let width: Float
    let height: Float
  }

  /// One grid.
  struct Level: Hashable, Sendable {
    let stride: Int
    let anchors: [Anchor]
    /// How far an offset reaches beyond its cell: `scale_x_y` of Darknet.
    let reach: Float
  }

  /// The grids, the finest first.
  let levels: [Level]
  /// Whether a size is its anchor times `exp(value)`, or else times `(2 · sigmoid(value))²`.
  let isExponential: Bool

  private init(_ strides: [Int], _ reaches: [Float], _ sizes: [Float], isExponential: Bool) {
    let anchors = stride(from: 0, to: sizes.count - 1, by: 2).map {
      Anchor(width: sizes[$0], height: sizes[$0 + 1])
    }
    let perLevel = anchors.count / strides.count
    levels = strides.indices.map { level in
      Level(
        stride: strides[level], anchors: Array(anchors[level * perLevel..<(level + 1) * perLevel]),
        reach: reaches[level])
    }
    self.isExponential = isExponential
  }

  /// The anchors that a layout was published with; nil for other layouts.
  ///
  /// - Parameters:
  ///   - stride: The stride of the only grid, where there is one.
  ///   - given: Widths and heights of other anchors, the finest grid first; as many for each grid.
  init?(_ layout: DetectorLayout, stride: Int, given: [Float]? = nil) {
    let (three, two) = ([8, 16, 32], [16, 32])
    switch layout {
    case .yolo2: self.init([stride], [1], given ?? Self.two.map { $0 * Float(stride) }, isExponential: true)
    case .yolo3: self.init(three, [1, 1, 1], given ?? Self.three, isExponential: true)
    case .yolo3Tiny: self.init(two, [1, 1], given ?? Self.tiny, isExponential: true)
    case .yolo4: self.init(three, [1.2, 1.1, 1.05], given ?? Self.four, isExponential: true)
    case .yolo4Tiny: self.init(two, [1.05, 1.05], given ?? Self.fourTiny, isExponential: true)
    case .yolo5Raw: self.init(three, [2, 2, 2], given ?? Self.five, isExponential: false)
    case .yolo7Raw: self.init(three, [2, 2, 2], given ?? Self.four, isExponential: false)
    default: return nil
    }
  }

  /// The layouts with anchors.
  static let layouts: [DetectorLayout] = [
    .yolo2, .yolo3, .yolo3Tiny, .yolo4, .yolo4Tiny, .yolo5Raw, .yolo7Raw,
  ]

  /// The anchors of Darknet's yolov2.cfg for COCO, in cells.
  private static let two: [Float] = [
    0.57273, 0.677385, 1.87446, 2.06253, 3.33843, 5.47434, 7.88282, 3.52778, 9.77052, 9.16828,
  ]
  // The anchors of Darknet's yolov3.cfg, yolov3-tiny.cfg, yolov4.cfg and yolov4-tiny.cfg, and of YOLO v5.
  private static let three: [Float] = [
    10, 13, 16, 30, 33, 23, 30, 61, 62, 45, 59, 119, 116, 90, 156, 198, 373, 326,
  ]
  private static let tiny: [Float] = [10, 14, 23, 27, 37, 58, 81, 82, 135, 169, 344, 319]
  private static let four: [Float] = [
    12, 16, 19, 36, 40, 28, 36, 75, 76, 55, 72, 146, 142, 110, 192, 243, 459, 401,
  ]
  private static let fourTiny: [Float] = [23, 27, 37, 58, 81, 82, 81, 82, 135, 169, 344, 319]
  private static let five: [Float] = three
}
