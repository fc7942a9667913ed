// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import TestSupport
import Testing

private typealias Answer = DetectorModel.Answer

/// Options are compared with the graph: impossible ones are refused, idle ones are warned of.
@Suite struct GivenOptionTests {
  private func detector(_ model: DetectorModel, _ change: (inout ObjectDetector.Options) -> Void) throws
    -> ObjectDetector
  {
    var options = ObjectDetector.Options()
    change(&options)
    return try ObjectDetector(model: model.model(), options: options)
  }

  /// Rows of a constant behind a sigmoid, which no pixels can be.
  private func sigmoid(_ shapes: [[Int32]]) -> DetectorModel {
    var tensors = [DetectorModel.TensorSpec(name: "image", shape: [1, 64, 64, 3])]
    var model = DetectorModel(tensors: [], outputs: [])
    for shape in shapes {
      let values = [Float](repeating: -2, count: Int(shape.reduce(1, *)))
      tensors.append(.init(name: "numbers", shape: shape, data: DetectorModel.data(values)))
      tensors.append(.init(name: "chances", shape: shape))
      let place = Int32(tensors.count)
      model.operators.append(.init(code: 14, inputs: [place - 2], outputs: [place - 1]))
      model.outputs.append(place - 1)
    }
    model.tensors = tensors
    return model
  }

  @Test("the operator's boxes are fractions, whatever is given")
  func refusesPixelsOfTheOperator() throws {
    let model = DetectorModel.postProcess(order: [0, 1, 2, 3])
    let error = #expect(throws: ApusError.self) { try detector(model) { $0.boxUnits = .pixel } }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains("box units are given as pixel") == true, "\(error?.message ?? "")")
    _ = try detector(model) { $0.boxUnits = .fraction }
  }

  @Test(
    "boxes that the graph keeps below 1 are no pixels",
    arguments: [
      (.yolo8, [[1, 7, 84]]), (.rtDETR, [[1, 300, 9]]), (.detr, [[1, 100, 4], [1, 100, 5]]),
      (.yoloOBB, [[1, 8, 84]]),
    ] as [(DetectorLayout, [[Int32]])])
  func refusesPixelsOfSigmoids(layout: DetectorLayout, shapes: [[Int32]]) throws {
    let model = sigmoid(shapes)
    let error = #expect(throws: ApusError.self) {
      try detector(model) { ($0.layout, $0.boxUnits) = (layout, .pixel) }
    }
    #expect(error?.message.contains("box units are given as pixel") == true, "\(error?.message ?? "")")
    _ = try detector(model) { ($0.layout, $0.boxUnits) = (layout, .fraction) }
  }

  @Test("options of suppression are idle for a model that suppresses by itself")
  func warnsOfIdleOptions() throws {
    func change(_ options: inout ObjectDetector.Options) {
      (options.maximumOverlap, options.isClassAgnostic, options.isMultiLabel) = (0.6, true, true)
    }
    let idle = try detector(.postProcess(order: [0, 1, 2, 3]), change).assumptions.warnings
    for option in ["--iou-threshold", "--class-agnostic", "--multi-label"] {
      #expect(idle.contains { $0.hasPrefix("\(option) changes nothing") }, "\(idle)")
    }
    for (layout, shape) in [(.yolo8, [1, 7, 84]), (.yolo5, [1, 252, 7])] as [(DetectorLayout, [Int32])] {
      let heeding = try detector(
        DetectorModel.answering(
          [Answer(shape: shape, values: [Float](repeating: 0, count: Int(shape.reduce(1, *))))],
          shape: [1, 64, 64, 3])
      ) {
        $0.layout = layout
        change(&$0)
      }
      #expect(!heeding.assumptions.warnings.contains { $0.contains("changes nothing") })
    }
  }

  @Test(
    "an offset of labels that leaves some of three classes without names is a warning",
    arguments: [
      (3, 1, "--label-offset 1: 1 class has no name"), (3, 2, "--label-offset 2: 2 classes have no name"),
      (3, -1, "--label-offset -1: 1 class has no name"), (3, .max, "3 classes have no name"),
      (3, .min, "3 classes have no name"), (5, 1, "--label-offset 1: names may be those of other classes"),
      (3, 0, nil), (4, 1, nil), (2, -1, nil),
    ] as [(Int, Int, String?)])
  func warnsOfOffsets(rows: Int, offset: Int, words: String?) throws {
    let answer = Answer(shape: [1, 7, 84], values: [Float](repeating: 0, count: 7 * 84))
    var options = ObjectDetector.Options()
    (options.layout, options.labelOffset) = (.yolo8, offset)
    let found = try ObjectDetector(
      model: DetectorModel.answering([answer], shape: [1, 64, 64, 3]).model(),
      labels: LabelMap((0..<rows).map { "class \($0)" }), options: options
    ).assumptions.warnings.filter { $0.contains("labels for 3 classes") }
    #expect(found.count == (words == nil ? 0 : 1) && found.first?.contains(words ?? "") != false, "\(found)")
  }

  @Test("classes have no scores to be given")
  func refusesScoresOfClasses() throws {
    let model = DetectorModel(
      tensors: [
        .init(name: "image", shape: [1, 64, 64, 3]),
        .init(
          name: "classes", shape: [1, 8, 8], type: DetectorModel.int32,
          data: [UInt8](repeating: 0, count: 256)),
      ], outputs: [1])
    var options = ImageSegmenter.Options()
    _ = try ImageSegmenter(model: model.model(), options: options)
    options.scores = .logit
    let error = #expect(throws: ApusError.self) { try ImageSegmenter(model: model.model(), options: options) }
    #expect(error?.message.contains("whole classes, which have no scores") == true, "\(error?.message ?? "")")
  }

  @Test("logits are doubted where a pose's scores are probabilities already")
  func warnsOfLogitsOfPoses() throws {
    let shape: [Int32] = [1, 1, 17, 3]
    var options = KeypointDetector.Options()
    options.scores = .logit
    let warnings = try KeypointDetector(model: sigmoid([shape]).model(), options: options).assumptions
      .warnings
    #expect(warnings.contains { $0.contains("--scores logit") }, "\(warnings)")
    options.scores = nil
    #expect(
      try KeypointDetector(model: sigmoid([shape]).model(), options: options).assumptions.warnings.isEmpty)
  }
}
