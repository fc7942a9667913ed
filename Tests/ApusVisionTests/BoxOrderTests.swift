// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Testing

private typealias Answer = DetectorModel.Answer

/// The order of a box's numbers, and of outputs, in models with suppression inside.
@Suite struct BoxOrderTests {
  /// Twice as wide as high, and as the inputs below.
  private func picture() throws -> ImageBuffer {
    try ImageBuffer(bytes: [UInt8](repeating: 99, count: 128 * 64 * 3), width: 128, height: 64, format: .rgb)
  }

  private func detector(
    _ model: DetectorModel, _ change: (inout ObjectDetector.Options) -> Void = { _ in }
  ) throws -> ObjectDetector {
    var options = ObjectDetector.Options()
    change(&options)
    return try ObjectDetector(model: model.model(), options: options)
  }

  private func order(_ detector: ObjectDetector) -> Assumption? {
    detector.assumptions.readings.first { $0.subject == "box order" }
  }

  /// An object from (8, 20) to (40, 32) of an input of 64 × 64 pixels, with the score 0.9 and class 16, and one row that does not count.
  private func outputs(_ names: [String], _ numbers: [Float] = [8, 20, 40, 32]) -> [Answer] {
    [
      Answer(shape: [1, 1], values: [1]).named(names[0]),
      Answer.boxes(numbers + [0, 0, 0, 0]).named(names[1]),
      Answer.rows([0.9, 0]).named(names[2]), Answer.rows([16, 0]).named(names[3]),
    ]
  }

  private let expected = PixelRect(x: 16, y: 20, width: 64, height: 12)

  @Test(
    "exports from PyTorch with a count have left, top, right, bottom, which is a guess by their names",
    arguments: [
      ["num_dets", "det_boxes", "det_scores", "det_classes"], ["num_dets", "boxes", "scores", "labels"],
      ["num_predictions", "pred_boxes", "pred_scores", "pred_classes"],
    ])
  func readsExportsOfPyTorch(names: [String]) throws {
    let detector = try detector(.answering(outputs(names), shape: [1, 64, 64, 3]))
    let found = try detector.detect(picture()).detections
    // A letterbox has 16 rows above and below the picture.
    #expect(found.map(\.rect) == [PixelRect(x: 16, y: 8, width: 64, height: 24)])
    #expect(found.map(\.index) == [16])
    let reading = try #require(order(detector))
    #expect(reading.value == "left, top, right, bottom" && reading.source == .guess)
    #expect(reading.option == "--box-order")
  }

  @Test("the option decides", arguments: BoxOrder.allCases)
  func followsTheOption(given: BoxOrder) throws {
    let numbers: [Float] =
      switch given {
      case .ltrb: [8, 20, 40, 32]
      case .tlbr: [20, 8, 32, 40]
      case .xywh: [8, 20, 32, 12]
      case .cxcywh: [24, 26, 32, 12]
      }
    for divisor: Float in [1, 64] {
      let model = DetectorModel.answering(
        outputs(["a", "b", "c", "d"], numbers.map { $0 / divisor }), shape: [1, 64, 64, 3])
      let detector = try detector(model) { $0.boxOrder = given }
      #expect(try detector.detect(picture()).detections.map(\.rect) == [expected])
      #expect(order(detector)?.source == .given)
    }
  }

  @Test("names of TensorFlow say the order of fractions, and are a guess for pixels")
  func believesTensorFlow() throws {
    let names = ["num_detections", "detection_boxes", "detection_scores", "detection_classes"]
    let fractions = try detector(
      .answering(outputs(names, [20, 8, 32, 40].map { $0 / 64 }), shape: [1, 64, 64, 3]))
    #expect(try fractions.detect(picture()).detections.map(\.rect) == [expected])
    #expect(order(fractions)?.source == .model && order(fractions)?.value == "top, left, bottom, right")
    let pixels = try detector(.answering(outputs(names, [20, 8, 32, 40]), shape: [1, 64, 64, 3]))
    #expect(try pixels.detect(picture()).detections.map(\.rect) == [expected])
    #expect(order(pixels)?.source == .guess)
  }

  @Test("the name of the boxes says more than those of others")
  func believesTheBoxes() throws {
    let names = ["num_detections", "detection_boxes", "detection_scores", "detection_class_labels"]
    let detector = try detector(
      .answering(outputs(names, [20, 8, 32, 40].map { $0 / 64 }), shape: [1, 64, 64, 3]))
    #expect(try detector.detect(picture()).detections.map(\.rect) == [expected])
    #expect(order(detector)?.source == .model)
  }

  @Test("without names, a count, boxes in pixels, scores and classes are as YOLO's exports have them")
  func readsLostNames() throws {
    let answers = outputs(["", "", "", ""])
    for (order, isOpen) in [([0, 1, 2, 3], false), ([1, 3, 2, 0], true)] {
      let named = order.enumerated().map { answers[$1].named($0 == 0 ? "Identity" : "Identity_\($0)") }
      var model = DetectorModel.answering(named, shape: [1, 64, 64, 3])
      let classes = 1 + (order.firstIndex(of: 3) ?? 0)
      model.tensors[classes].type = DetectorModel.int32
      model.tensors[classes].data = [16, 0, 0, 0, 0, 0, 0, 0]
      let detector = try detector(model)
      let found = try detector.detect(picture()).detections
      #expect(found.map(\.index) == [16] && found.map(\.score) == [0.9])
      #expect((found.map(\.rect) == [expected]) == !isOpen)
      #expect(detector.assumptions.warnings.contains { $0.contains("--box-order ltrb") } == isOpen)
      let given = try self.detector(model) { $0.boxOrder = .ltrb }
      #expect(try given.detect(picture()).detections.map(\.rect) == [expected])
      #expect(!given.assumptions.warnings.contains { $0.contains("--box-order") })
    }
  }

  @Test("scores of exactly 1 are no classes beside integers", arguments: [true, false])
  func believesTypes(areClassesFirst: Bool) throws {
    let (boxes, scores, classes) = (
      Answer.boxes([0.1, 0.1, 0.5, 0.5, 0.5, 0.5, 0.9, 0.9]), Answer.rows([1, 1]), Answer.rows([1, 0])
    )
    var model = DetectorModel.answering(
      areClassesFirst ? [boxes, classes, scores] : [boxes, scores, classes], shape: [1, 64, 64, 3])
    let place = areClassesFirst ? 2 : 3
    model.tensors[place].type = DetectorModel.int32
    model.tensors[place].data = [1, 0, 0, 0, 0, 0, 0, 0]
    #expect(try detector(model).detect(picture()).detections.map(\.index) == [1, 0])
  }

  @Test("exports from PyTorch show more than ten results, and take pixels from 0 to 1")
  func showsAllResults() throws {
    let count = 28
    let names = ["num_predictions", "pred_boxes", "pred_scores", "pred_classes"]
    let namesOfTensorFlow = ["num_detections", "detection_boxes", "detection_scores", "detection_classes"]
    for (names, expected) in [(names, count), (namesOfTensorFlow, 10)] {
      let detector = try detector(
        .answering(
          [
            Answer(shape: [1, 1], values: [Float(count)]).named(names[0]),
            Answer.boxes((0..<count).flatMap { [0, 0, 0.1 + Float($0) / 64, 0.5] }).named(names[1]),
            Answer.rows([Float](repeating: 0.9, count: count)).named(names[2]),
            Answer.rows((0..<count).map { Float($0) }).named(names[3]),
          ], shape: [1, 64, 64, 3], type: DetectorModel.float32))
      #expect(try detector.detect(picture()).detections.count == expected)
      let pixels = try #require(detector.assumptions.readings.first { $0.subject == "pixels" })
      #expect(pixels.value.hasPrefix(expected == count ? "unit" : "signed"), "\(pixels.value)")
    }
  }

  @Test("rows without a fixed number are those of MMDetection, too")
  func readsOpenRows() throws {
    let rows = Answer(shape: [1, 1, 5], values: [8, 20, 40, 32, 0.9]).named("dets")
    var model = DetectorModel.answering([rows, Answer.rows([16]).named("labels")], shape: [1, 64, 64, 3])
    #expect(throws: ApusError.self) { try detector(model) }
    (model.tensors[1].signature, model.tensors[2].signature) = ([1, -1, 5], [1, -1])
    model.tensors[2].type = DetectorModel.int64
    model.tensors[2].data = [0, 0, 0, 0, 0, 0, 0, 0]
    let labels = LabelMap(["person", "bicycle"])
    let found = try ObjectDetector(model: model.model(), labels: labels).detect(picture()).detections
    #expect(found.map(\.rect) == [expected] && found.map(\.category.label) == ["person"])
    // An open batch of a classifier with five classes is no list of rows.
    model.tensors[0].signature = [-1, 64, 64, 3]
    (model.tensors[1].shape, model.tensors[1].signature) = ([1, 5], [-1, 5])
    (model.tensors[2].shape, model.tensors[2].signature) = ([1], [-1])
    #expect(throws: ApusError.self) { try detector(model) }
  }

  @Test("the operator has one order, and another that is given is refused")
  func knowsTheOperator() throws {
    let model = DetectorModel.postProcess(order: [0, 1, 2, 3])
    #expect(order(try detector(model))?.source == .model)
    _ = try detector(model) { $0.boxOrder = .tlbr }
    let error = #expect(throws: ApusError.self) { try detector(model) { $0.boxOrder = .ltrb } }
    #expect(error?.message.contains("box order is given as ltrb") == true)
  }

  @Test("boxes beyond a wide input that lie within it with x and y exchanged are refused")
  func refusesExchangedBoxes() throws {
    let answers = outputs(["a", "b", "c", "d"], [60, 10, 120, 30])
    let model = DetectorModel.answering([1, 3, 2, 0].map { answers[$0] }, shape: [1, 32, 128, 3])
    let error = #expect(throws: ApusError.self) { try detector(model).detect(picture()) }
    #expect(error?.message.contains("--box-order") == true, "\(error?.message ?? "")")
    let found = try detector(model) { $0.boxOrder = .ltrb }.detect(picture()).detections
    #expect(found.map(\.rect) == [PixelRect(x: 60, y: 20, width: 60, height: 40)])
  }

  @Test("an order that is given to a kind of model with its own is warned of")
  func warnsOfIdleOrder() throws {
    let rows: [Float] = [0, 1, 2, 30, 40, 3, 0.5] + [0, 1, 2, 30, 40, 4, 0.25]
    let model = DetectorModel.answering([Answer(shape: [2, 7], values: rows)], shape: [1, 64, 64, 3])
    let detector = try detector(model) { ($0.layout, $0.boxOrder) = (.yolo7EndToEnd, .tlbr) }
    #expect(detector.assumptions.warnings.contains { $0.contains("--box-order changes nothing") })
  }

  // MARK: Outputs

  @Test("functions of TensorFlow that return boxes, scores, classes and a count are told by their values")
  func readsScoresBeforeClasses() throws {
    let answers = outputs(["", "", "", ""])
    let named = [answers[1], answers[2], answers[3], answers[0]].enumerated().map {
      $1.named("StatefulPartitionedCall:\($0)")
    }
    let detector = try detector(.answering(named, shape: [1, 64, 64, 3]))
    let found = try detector.detect(picture()).detections
    #expect(found.map(\.index) == [16] && found.map(\.score) == [0.9])
    let reading = detector.assumptions.readings.first { $0.subject == "classes and scores" }
    #expect(reading?.source == .guess)
  }

  /// The outputs of TensorFlow's detection API, in the alphabetical order of their names.
  private var api: [(String, Answer)] {
    let answers = outputs(["", "", "", ""], [20, 8, 32, 40].map { $0 / 64 })
    return [
      ("detection_anchor_indices", Answer.rows([3, 4])), ("detection_boxes", answers[1]),
      ("detection_classes", answers[3]),
      ("detection_multiclass_scores", Answer(shape: [1, 2, 3], values: [0, 0.9, 0, 0, 0, 0])),
      ("detection_scores", answers[2]), ("num_detections", Answer.count(1)),
      ("raw_detection_boxes", Answer(shape: [1, 9, 4], values: [Float](repeating: 0, count: 36))),
      ("raw_detection_scores", Answer(shape: [1, 9, 3], values: [Float](repeating: 0, count: 27))),
    ]
  }

  @Test(
    "the outputs of TensorFlow's detection API are found by their names and by their numbers",
    arguments: ["", "Identity_", "StatefulPartitionedCall:"])
  func readsTheDetectionAPI(prefix: String) throws {
    let answers = api.enumerated().map { place, output in
      output.1.named(prefix.isEmpty ? output.0 : place == 0 ? String(prefix.dropLast()) : "\(prefix)\(place)")
    }
    for answers in [answers, answers.reversed()] {
      let found = try detector(.answering(answers, shape: [1, 64, 64, 3])).detect(picture()).detections
      #expect(found.map(\.rect) == [expected] && found.map(\.index) == [16] && found.map(\.score) == [0.9])
    }
  }

  @Test("the points of CenterNet are no second list of scores", arguments: [true, false])
  func readsCenterNet(isNamed: Bool) throws {
    let answers = outputs(["", "", "", ""], [20, 8, 32, 40].map { $0 / 64 })
    let points = [Float](repeating: 0.5, count: 2 * 17)
    let all: [(String, Answer)] = [
      ("detection_boxes", answers[1]), ("detection_classes", answers[3]),
      ("detection_keypoint_scores", Answer(shape: [1, 2, 17], values: points)),
      ("detection_keypoints", Answer(shape: [1, 2, 17, 2], values: points + points)),
      ("detection_scores", answers[2]), ("num_detections", Answer.count(1)),
    ]
    let named = all.enumerated().map { place, output in
      output.1.named(isNamed ? output.0 : "StatefulPartitionedCall:\(place)")
    }
    let found = try detector(.answering(named, shape: [1, 64, 64, 3])).detect(picture()).detections
    #expect(found.map(\.rect) == [expected] && found.map(\.index) == [16])
  }

  @Test("five numbers a row and labels are corners, a score and classes, in either order")
  func readsScoredBoxes() throws {
    let rows = Answer(shape: [1, 2, 5], values: [8, 20, 40, 32, 0.9, 0, 0, 0, 0, 0]).named("dets")
    let labels = Answer.rows([16, 0]).named("labels")
    for answers in [[rows, labels], [labels, rows]] {
      let detector = try detector(.answering(answers, shape: [1, 64, 64, 3]))
      let found = try detector.detect(picture()).detections
      #expect(found.map(\.rect) == [expected] && found.map(\.index) == [16] && found.map(\.score) == [0.9])
      #expect(order(detector)?.source == .guess)
      let roles = detector.assumptions.outputs.map(\.role)
      #expect(roles.contains { $0.contains("and a score") } && roles.contains("classes"))
    }
  }
}
