// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// `TFLite_Detection_PostProcess`: turns the raw outputs of a single-shot detector into boxes.
///
/// Inputs: encodings `1×N×E` with E ≥ 4, scores `1×N×C` (or one more, the background first), anchors `M×4`. Outputs:
/// boxes `1×D×4` (top, left, bottom, right), classes `1×D`, scores `1×D`, and how many boxes there are. Slots
/// beyond these are zero.
struct DetectionPostProcess: Operator {
  private let selection: DetectionSelection
  private let place: String
  private let encodings: TensorSlot
  private let scores: TensorSlot
  private let anchors: TensorSlot
  private let boxes: TensorSlot
  private let classes: TensorSlot
  private let detectionScores: TensorSlot
  private let count: TensorSlot
  private let scratch: TensorSlot

  /// The maximum number of detections, and of classes for each.
  private static let limit = 65_536

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try DetectionPostProcess(preparing: node)
  }

  private init(preparing node: Node) throws(ApusError) {
    try node.expect(inputs: 3...3, outputs: 4...4)
    let options = try Options(of: node)
    encodings = try node.input(0, types: [.float32, .uint8], rank: 3)
    scores = try node.input(1, types: [.float32, .uint8], rank: 3)
    anchors = try node.input(2, types: [encodings.type], rank: 2)
    let boxCount = encodings.shape[1]
    guard encodings.shape[0] == 1, scores.shape[0] == 1 else {
      throw node.unsupported(
        "a batch of \(max(encodings.shape[0], scores.shape[0])) is not supported, only of 1")
    }
    guard encodings.shape[2] >= 4 else {
      throw node.malformed("\(encodings.name) has \(encodings.shape[2]) numbers for each box, not 4 or more")
    }
    guard scores.shape[1] == boxCount else {
      throw node.malformed("\(scores.name) has scores of \(scores.shape[1]) boxes, not of \(boxCount)")
    }
    guard anchors.shape[1] == 4, anchors.shape[0] >= boxCount else {
      throw node.malformed("\(anchors.name) is \(anchors.shape), not \(boxCount)×4 or more")
    }
    let background = scores.shape[2].subtractingReportingOverflow(options.classCount)
    guard background.partialValue == 0 || background.partialValue == 1 else {
      throw node.malformed(
        "\(scores.name) has \(scores.shape[2]) scores for each box; num_classes is \(options.classCount)")
    }
    guard !boxCount.multipliedReportingOverflow(by: options.classCount).overflow,
      boxCount * options.classCount <= Int(UInt32.max)
    else {
      throw node.malformed("\(boxCount) boxes of \(options.classCount) classes are more than can be numbered")
    }
    // No overflow: each is at most 65,536.
    let rows = options.maximumDetections * options.classesPerDetection
    guard rows <= Int(Int32.max) else {
      throw node.malformed(
        "max_detections × max_classes_per_detection, \(options.maximumDetections) × "
          + "\(options.classesPerDetection), is more than \(Int32.max)")
    }
    try node.check(
      plainWork: Double(boxCount) * Double(options.mode.runCount(classes: options.classCount))
        * Double(min(options.maximumDetections, boxCount)))
    boxes = try node.output(0, shape: [1, rows, 4], types: [.float32])
    classes = try node.output(1, shape: [1, rows], types: [.float32])
    detectionScores = try node.output(2, shape: [1, rows], types: [.float32])
    count = try node.output(3, shape: [1], types: [.float32])
    selection = DetectionSelection(
      boxCount: boxCount, encodingWidth: encodings.shape[2], classCount: options.classCount,
      scoreWidth: scores.shape[2], mode: options.mode, maximumDetections: options.maximumDetections,
      scoreThreshold: options.scoreThreshold, overlapThreshold: options.overlapThreshold,
      scaling: options.scaling,
      encodings: try Self.elements(of: encodings, node), scores: try Self.elements(of: scores, node),
      anchors: try Self.elements(of: anchors, node))
    scratch = try node.scratch(byteCount: selection.scratchByteCount)
    place = node.place
  }

  private static func elements(of slot: TensorSlot, _ node: Node) throws(ApusError)
    -> DetectionSelection.Elements
  {
    guard slot.type == .uint8 else { return .float32 }
    let (scale, zeroPoint) = try node.quantization(of: slot)
    return .uint8(scale: scale, zeroPoint: zeroPoint)
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    let inputs = DetectionSelection.Inputs(
      encodings: tensors.readBytes(encodings), scores: tensors.readBytes(scores),
      anchors: tensors.readBytes(anchors))
    var boxes = tensors.write(boxes, as: Float.self)
    var classes = tensors.write(classes, as: Float.self)
    var detectionScores = tensors.write(detectionScores, as: Float.self)
    var count = tensors.write(count, as: Float.self)
    var scratch = tensors.writeBytes(scratch)
    let inverted = selection.run(
      inputs, boxes: &boxes, classes: &classes, detectionScores: &detectionScores, count: &count,
      scratch: &scratch,
      threads: tensors.threads)
    if let inverted {
      throw ApusError(
        .invalidData, "\(place): box \(inverted) ends before it begins, by an anchor of negative size")
    }
  }

  /// The operator's options, a FlexBuffer map, checked.
  private struct Options {
    let maximumDetections: Int
    let classesPerDetection: Int
    let classCount: Int
    let scoreThreshold: Float
    let overlapThreshold: Float
    let scaling: DetectionSelection.Scaling
    let mode: DetectionSelection.Mode

    init(of node: Node) throws(ApusError) {
      let map = try node.flexBufferOptions()
      func integer(_ key: String, in range: ClosedRange<Int>, default value: Int64 = 0) throws(ApusError)
        -> Int
      {
        var number = value
        if let found = map[key], found != .null { number = found.int64 }
        guard let result = Int(exactly: number), range.contains(result) else {
          throw node.malformed("\(key) is \(number), not \(range.lowerBound) to \(range.upperBound)")
        }
        return result
      }
      func scale(_ key: String) throws(ApusError) -> Float {
        let value = Float(map.double(key))
        guard value.isFinite, value != 0 else {
          throw node.malformed("\(key) is \(value); a finite number other than zero is expected")
        }
        return value
      }
      maximumDetections = try integer("max_detections", in: 0...limit)
      classesPerDetection = try integer("max_classes_per_detection", in: 1...limit)
      classCount = try integer("num_classes", in: 1...Int(Int32.max))
      scoreThreshold = Float(map.double("nms_score_threshold"))
      guard !scoreThreshold.isNaN else { throw node.malformed("nms_score_threshold is not a number") }
      overlapThreshold = Float(map.double("nms_iou_threshold"))
      guard overlapThreshold > 0, overlapThreshold <= 1 else {
        throw node.malformed("nms_iou_threshold is \(overlapThreshold), not above 0 and up to 1")
      }
      scaling = .init(
        y: try scale("y_scale"), x: try scale("x_scale"), height: try scale("h_scale"),
        width: try scale("w_scale"))
      if map.bool("use_regular_nms") {
        let perClass = try integer("detections_per_class", in: 1...Int(Int32.max), default: 100)
        guard maximumDetections > 0 else { throw node.malformed("max_detections is 0 with use_regular_nms") }
        mode = .everyClass(perClass: min(perClass, maximumDetections))
      } else {
        mode = .bestClass(listing: classesPerDetection)
      }
    }
  }
}

extension DetectionSelection.Mode {
  /// How often boxes are compared with each other.
  fileprivate func runCount(classes: Int) -> Int {
    if case .everyClass = self { return classes }
    return 1
  }
}
