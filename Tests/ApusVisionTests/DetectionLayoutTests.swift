// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision
import Testing

private typealias Answer = DetectorModel.Answer

private let boxes = Answer.boxes([0, 0, 0.5, 0.25, 0.5, 0.5, 1, 1, 0, 0, 0, 0])
private let classes = Answer.rows([3, 0, 0])
private let scores = Answer.rows([0.875, 0.5, 0])
private let count = Answer.count(2)

/// Every order of four things.
private let orders: [[Int]] = (0..<256).map { [$0 & 3, $0 >> 2 & 3, $0 >> 4 & 3, $0 >> 6] }
  .filter { Set($0).count == 4 }

private func picture() throws -> ImageBuffer {
  try ImageBuffer(bytes: [UInt8](repeating: 7, count: 20 * 10 * 3), width: 20, height: 10, format: .rgb)
}

/// The output positions that an order gives to boxes, classes, scores and count.
private func positions(_ order: [Int]) throws -> DetectionOutputs {
  try DetectionOutputs(
    boxes: #require(order.firstIndex(of: 0)), classes: #require(order.firstIndex(of: 1)),
    scores: #require(order.firstIndex(of: 2)), count: order.firstIndex(of: 3))
}

private func expectBoth(_ detector: ObjectDetector) throws {
  let found = try detector.detect(picture()).detections
  #expect(found.map(\.index) == [3, 0])
  #expect(found.map(\.score) == [0.875, 0.5])
  #expect(found.first?.rect == PixelRect(x: 0, y: 0, width: 5, height: 5))
  #expect(found.last?.rect == PixelRect(x: 10, y: 5, width: 10, height: 5))
}

/// Which output is what.
@Suite struct DetectionLayoutTests {
  @Test("the operator decides, however its outputs are ordered", arguments: orders)
  func followsTheOperator(order: [Int]) throws {
    let detector = try ObjectDetector(model: DetectorModel.postProcess(order: order).model())
    #expect(try detector.outputs == positions(order))
    let found = try detector.detect(picture()).detections
    #expect(found.map(\.index) == [1, 0])
    #expect(found.map(\.score) == [0.75, 0.5])
    #expect(found.first?.boundingBox == BoundingBox(minX: 0, minY: 0, maxX: 0.5, maxY: 0.5))
  }

  @Test(
    "boxes are what the metadata says: edges, a corner and sides, a center and sides, in any order",
    arguments: [
      (0, [], [0.2, 0.1, 0.6, 0.8]), (1, [1, 0, 3, 2], [0.2, 0.1, 0.6, 0.8]),
      (1, [], [0.1, 0.2, 0.8, 0.6]), (1, [3, 2, 1, 0], [0.6, 0.8, 0.2, 0.1]),
      (2, [], [0.1, 0.2, 0.7, 0.4]), (2, [1, 0, 3, 2], [0.2, 0.1, 0.4, 0.7]),
      (3, [], [0.45, 0.4, 0.7, 0.4]), (3, [2, 3, 0, 1], [0.7, 0.4, 0.45, 0.4]),
    ] as [(UInt8, [Int32], [Float])])
  func readsKindsOfBoxes(kind: UInt8, index: [Int32], numbers: [Float]) throws {
    var model = DetectorModel.answering([
      Answer.boxes(numbers), Answer.rows([0]), Answer.rows([0.9]), Answer.count(1),
    ])
    model.metadataBoxes = (kind, index)
    var options = ObjectDetector.Options()
    options.outputs = DetectionOutputs()
    options.layout = .postProcessed
    let detector = try ObjectDetector(model: model.model(), options: options)
    let box = try #require(detector.detect(picture()).detections.first).boundingBox
    for (value, expected) in [(box.minX, 0.1), (box.minY, 0.2), (box.maxX, 0.8), (box.maxY, 0.6)]
      as [(Float, Float)]
    {
      #expect(abs(value - expected) < 1e-6, "\(box)")
    }
  }

  @Test("kinds of boxes that cannot be are refused")
  func refusesKindsOfBoxes() throws {
    var model = DetectorModel.postProcess(order: [0, 1, 2, 3])
    for (kind, index, isRead) in [
      (0, [], true), (1, [1, 0, 3, 2], true), (1, [], true), (2, [], false), (3, [1, 0, 3, 2], false),
      (1, [0, 1, 2], false), (1, [0, 1, 2, 2], false), (1, [1, 2, 3, 4], false),
    ] as [(UInt8, [Int32], Bool)] {
      model.metadataBoxes = (kind, index)
      let bytes = model.bytes
      if isRead {
        let found = try ObjectDetector(model: Model(bytes: bytes)).detect(picture()).detections
        #expect(found.first?.boundingBox == BoundingBox(minX: 0, minY: 0, maxX: 0.5, maxY: 0.5))
      } else {
        let error = #expect(throws: ApusError.self) { try ObjectDetector(model: Model(bytes: bytes)) }
        #expect(error?.code == .invalidArgument && error?.message.contains("metadata") == true)
      }
    }
  }

  @Test("the operator's count counts boxes, each of which may have several classes")
  func countsBoxesOfSeveralClasses() throws {
    var options = ObjectDetector.Options()
    options.scoreThreshold = 0
    for chosen in [nil, DetectionOutputs()] {
      options.outputs = chosen
      let model = DetectorModel.postProcess(order: [0, 1, 2, 3], classesPerDetection: 2)
      let found = try ObjectDetector(model: model.model(), options: options).detect(picture()).detections
      #expect(found.map(\.score) == [0.75, 0.5, 0.25, 0.125])
      #expect(found.map(\.index) == [1, 0, 0, 1])
      #expect(found[0].boundingBox == found[2].boundingBox && found[1].boundingBox == found[3].boundingBox)
    }
  }

  @Test("names decide where there is no such operator", arguments: orders)
  func followsNames(order: [Int]) throws {
    let names = [
      ["detection_boxes", "detection_classes", "detection_scores", "num_detections"],
      [
        "TFLite_Detection_PostProcess", "TFLite_Detection_PostProcess:1", "TFLite_Detection_PostProcess:2",
        "TFLite_Detection_PostProcess:3",
      ],
      [
        "StatefulPartitionedCall:3", "StatefulPartitionedCall:2", "StatefulPartitionedCall:1",
        "StatefulPartitionedCall",
      ],
      [
        "StatefulPartitionedCall:0", "StatefulPartitionedCall:1", "StatefulPartitionedCall:2",
        "StatefulPartitionedCall:3",
      ],
    ]
    // These values do not tell classes from scores.
    let answers = [boxes, Answer.rows([1, 1, 0]), Answer.rows([1, 1, 0]), count]
    for names in names {
      let model = DetectorModel.answering(order.map { answers[$0].named(names[$0]) })
      #expect(try ObjectDetector(model: model.model()).outputs == positions(order))
    }
    var model = DetectorModel.answering(order.map { answers[$0] })
    model.metadataNames = order.map { ["location", "category", "score", "number of detections"][$0] }
    #expect(try ObjectDetector(model: model.model()).outputs == positions(order))
    model.metadataNames = nil
    model.signature = order.map { names[0][$0] }
    #expect(try ObjectDetector(model: model.model()).outputs == positions(order))
  }

  @Test("names that the shapes contradict are not believed")
  func doubtsNames() throws {
    let model = DetectorModel.answering([
      count.named("detection_boxes"), classes.named("detection_classes"), scores.named("detection_scores"),
      boxes.named("num_detections"),
    ])
    try expectBoth(ObjectDetector(model: model.model()))
  }

  @Test("raw outputs beside the detections are passed over")
  func passesOverRawOutputs() throws {
    let model = DetectorModel.answering([
      Answer.rows([0, 1]).named("detection_anchor_indices"), boxes.named("detection_boxes"),
      classes.named("detection_classes"), Answer.boxes([0, 0, 0, 0]).named("raw_detection_boxes"),
      scores.named("detection_scores"), count.named("num_detections"),
      Answer.rows([0.5]).named("raw_detection_scores"), Answer.rows([1]).named("detection_multiclass_scores"),
    ])
    try expectBoth(ObjectDetector(model: model.model()))
  }

  @Test("shapes and values decide where nothing has a name", arguments: orders)
  func followsShapesAndValues(order: [Int]) throws {
    let answers = [boxes, classes, scores, count]
    try expectBoth(ObjectDetector(model: DetectorModel.answering(order.map { answers[$0] }).model()))
  }

  @Test("four rows are not taken for boxes, nor one row for a count")
  func tellsFewRowsApart() throws {
    let four = DetectorModel.answering([
      Answer.rows([0.75, 0.5, 0.5, 0.5]), Answer.boxes([Float](repeating: 0.5, count: 16)), .count(1),
      Answer.rows([9, 0, 0, 0]),
    ])
    #expect(try ObjectDetector(model: four.model()).detect(picture()).detections.map(\.index) == [9])
    let one = DetectorModel.answering([
      .count(1), Answer.boxes([0, 0, 1, 1]), Answer.rows([0.75]), Answer.rows([9]),
    ])
    #expect(try ObjectDetector(model: one.model()).detect(picture()).detections.map(\.index) == [9])
  }

  @Test("where values leave it open, classes follow first boxes and otherwise come last")
  func keepsTheConvention() throws {
    let same = Answer.rows([1, 1, 0])
    let first = try ObjectDetector(model: DetectorModel.answering([boxes, same, same, count]).model())
    #expect(first.outputs == DetectionOutputs(boxes: 0, classes: 1, scores: 2, count: 3))
    let second = try ObjectDetector(model: DetectorModel.answering([same, boxes, count, same]).model())
    #expect(second.outputs == DetectionOutputs(boxes: 1, classes: 3, scores: 0, count: 2))
  }

  @Test("a model may say nothing of a count")
  func doesWithoutACount() throws {
    let model = DetectorModel.answering([boxes, scores, classes])
    try expectBoth(ObjectDetector(model: model.model()))
  }

  @Test("the caller's order is taken, and checked")
  func takesTheCallersOrder() throws {
    let model = try DetectorModel.answering([count, scores, classes, boxes]).model()
    var options = ObjectDetector.Options()
    options.outputs = DetectionOutputs(boxes: 3, classes: 1, scores: 2, count: 0)
    options.scoreThreshold = 3
    options.scores = .raw
    // Scores taken for classes: 0.875 is no class, and the class 3 its score.
    let odd = #expect(throws: ApusError.self) {
      try ObjectDetector(model: model, options: options).detect(picture())
    }
    #expect(odd?.message.contains("a class of 0.875") == true)
    for wrong in [
      DetectionOutputs(boxes: 4), DetectionOutputs(boxes: -1), DetectionOutputs(boxes: 1, classes: 1),
    ] {
      options.outputs = wrong
      let error = #expect(throws: ApusError.self) { try ObjectDetector(model: model, options: options) }
      #expect(error?.code == .invalidArgument && error?.message.contains("4 outputs") == true)
    }
  }

  @Test("a model of another kind is refused, with its outputs")
  func refusesOtherModels() throws {
    for answers in [
      [classes], [classes, scores], [boxes, classes, Answer.rows([1]), count], [boxes, boxes, boxes],
    ] {
      let error = #expect(throws: ApusError.self) {
        try ObjectDetector(model: DetectorModel.answering(answers).model())
      }
      #expect(error?.code == .invalidArgument && error?.message.contains("output 0 (float32 1×") == true)
    }
  }
}
