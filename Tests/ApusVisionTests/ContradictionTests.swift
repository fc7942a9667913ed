// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Testing

private typealias Answer = DetectorModel.Answer

/// Contradictions: invalid numbers, shapes of other layouts, columns of other heads, names of other models.
@Suite struct ContradictionTests {
  private static let cells = 84
  private static let logistic: Int32 = 14

  private func picture() throws -> ImageBuffer {
    try ImageBuffer(bytes: [UInt8](repeating: 99, count: 64 * 64 * 3), width: 64, height: 64, format: .rgb)
  }

  private func model(_ shapes: [[Int32]], _ value: (Int) -> Float) -> DetectorModel {
    DetectorModel.answering(
      shapes.map { shape in
        Answer(shape: shape, values: (0..<Int(shape.reduce(1, *))).map(value))
      }, shape: [1, 64, 64, 3])
  }

  private func detector(
    _ model: DetectorModel, _ layout: DetectorLayout? = nil, labels: [String]? = nil
  ) throws -> ObjectDetector {
    var options = ObjectDetector.Options()
    options.layout = layout
    return try ObjectDetector(
      model: model.model(), labels: labels.map { LabelMap($0, offset: 0) }, options: options)
  }

  private func message(_ body: () throws -> Void) -> String {
    let error = #expect(throws: ApusError.self) { try body() }
    return error?.message ?? ""
  }

  // MARK: Numbers

  /// A score of each layout and what else is in its row, for an input of 64 × 64 pixels.
  private static let heads: [(DetectorLayout, [[Int32]])] = [
    (.yolo5, [[1, 252, 7]]), (.yolo8, [[1, 7, 84]]), (.yolo10Raw, [[1, 7, 84]]),
    (.yoloEndToEnd, [[1, 9, 6]]),
    (.yolo6, [[1, 84, 7]]), (.yolox, [[1, 84, 7]]), (.yoloxRaw, [[1, 84, 7]]),
    (.yolo4Tiny, [[1, 4, 4, 21], [1, 2, 2, 21]]), (.yoloNAS, [[1, 84, 4], [1, 84, 3]]),
    (.rtDETR, [[1, 300, 9]]), (.detr, [[1, 100, 4], [1, 100, 5]]), (.efficientDet, [[1, 100, 7]]),
    (.yolo7EndToEnd, [[1, 100, 7]]), (.yoloOBBEndToEnd, [[1, 100, 7]]), (.yoloOBB, [[1, 8, 84]]),
    (.classFirst, [[100, 6]]), (.fomo, [[1, 8, 8, 3]]), (.ssd, [[1, 84, 4], [1, 84, 3]]),
  ]

  @Test("scores that are not numbers are an error of every head", arguments: heads.indices.dropLast())
  func refusesNaN(index: Int) throws {
    let (layout, shapes) = Self.heads[index]
    let detector = try detector(model(shapes) { _ in .nan }, layout)
    let error = #expect(throws: ApusError.self) { try detector.detect(picture()) }
    #expect(error?.code == .invalidData && error?.message.contains("not a number") == true)
  }

  /// Boxes with the corners (10, 12) and (30, 40) in 84 cells, one of them crossed, and one score.
  private func corners(score: Float) -> DetectorModel {
    var boxes = (0..<Self.cells).flatMap { _ in [10, 12, 30, 40] as [Float] }
    boxes[4 * 3 + 2] = 5
    var scores = [Float](repeating: 0.001, count: 3 * Self.cells)
    scores[3 * 7 + 1] = score
    return DetectorModel.answering(
      [Answer(shape: [1, 84, 4], values: boxes), Answer(shape: [1, 84, 3], values: scores)],
      shape: [1, 64, 64, 3])
  }

  @Test("one crossed box does not make sizes of all corners")
  func keepsCorners() throws {
    let found = try detector(corners(score: 0.9)).detect(picture()).detections
    #expect(found.map(\.rect) == [PixelRect(x: 10, y: 12, width: 20, height: 28)])
  }

  @Test("a score above 1 makes no logits where none is below 0")
  func refusesLargeScores() throws {
    #expect(message { _ = try detector(corners(score: 1.4)).detect(picture()) }.contains("1.4"))
  }

  /// One candidate of YOLO v8 with two classes, among others of score 0.
  private func candidate(_ numbers: [Float]) -> DetectorModel {
    model([[1, 6, 84]]) { place in place % 84 == 5 ? numbers[place / 84] : 0 }
  }

  @Test("a box that is no number is an error where its score counts, and nothing where it does not")
  func refusesBoxes() throws {
    let odd = try detector(candidate([.nan, 0.5, 0.2, 0.2, 0.9, 0]), .yolo8)
    #expect(message { _ = try odd.detect(picture()) }.contains("an edge at nan"))
    let quiet = try detector(candidate([.nan, 0.5, 0.2, 0.2, 0.2, 0]), .yolo8)
    #expect(try quiet.detect(picture()).detections.isEmpty)
  }

  @Test("classes of a list that are none are errors", arguments: [Float.nan, .infinity, -1, 1.5])
  func refusesClasses(number: Float) throws {
    let row: [Float] = [0.1, 0.1, 0.5, 0.5, 0.9, number]
    let detector = try detector(model([[1, 9, 6]]) { $0 < 6 ? row[$0] : 0 }, .yoloEndToEnd)
    #expect(message { _ = try detector.detect(picture()) }.contains("not a whole number from 0 on"))
  }

  @Test("points of a pose have scores of 0 to 1, unless raw ones are wanted")
  func refusesPoints() throws {
    let model = DetectorModel.answering(
      [Answer(shape: [1, 1, 17, 3], values: (0..<51).map { $0 == 8 ? 1.7 : 0.5 })], shape: [1, 32, 32, 3])
    let detector = try KeypointDetector(model: model.model())
    #expect(message { _ = try detector.detect(picture()) }.contains("a score of 1.7"))
    var options = KeypointDetector.Options()
    options.scores = .raw
    let raw = try KeypointDetector(model: model.model(), options: options).detect(picture())
    #expect(raw.poses.first?.keypoints[2].score == 1.7)
  }

  @Test("a threshold that leaves a point out does not let it be anywhere", arguments: [0.3, 0.8])
  func refusesPlaces(threshold: Float) throws {
    // The second of three numbers of a point is its column.
    let model = DetectorModel.answering(
      [Answer(shape: [1, 1, 17, 3], values: (0..<51).map { $0 == 7 ? 180 : 0.5 })], shape: [1, 32, 32, 3])
    var options = KeypointDetector.Options()
    options.scoreThreshold = threshold
    let detector = try KeypointDetector(model: model.model(), options: options)
    #expect(message { _ = try detector.detect(picture()) }.contains("a position of 180.0 times"))
  }

  // MARK: Shapes

  @Test(
    "a layout with another number of candidates is refused with both shapes",
    arguments: [
      (.yolo5, [1, 7, 84], "1×252×(5+classes)"), (.detr, [1, 7, 84], "N queries"),
      (.rtDETR, [1, 7, 84], "N queries"), (.yoloEndToEnd, [1, 7, 84], "1×N×6"),
      (.yolo8, [1, 252, 7], "1×(4+classes)×84"), (.yoloOBB, [1, 252, 7], "1×(4+classes+1)×84"),
      (.yoloEndToEnd, [1, 252, 7], "1×N×6"), (.yolo2, [1, 7, 84], "5·(5+classes)"),
      (.fomo, [1, 7, 84], "1×8×8×(1+classes)"), (.yoloNAS, [1, 7, 84], "1×84×4"),
      (.yolo8, [1, 7, 1000], "1×(4+classes)×84"), (.yolo8, [1, 90, 91], "1×(4+classes)×84"),
      (.yolo5, [1, 1000, 7], "1×252×(5+classes)"), (.yolox, [1, 83, 7], "1×84×(5+classes)"),
    ] as [(DetectorLayout, [Int32], String)])
  func refusesShapes(layout: DetectorLayout, shape: [Int32], expected: String) throws {
    let text = message { _ = try detector(model([shape]) { _ in 0 }, layout) }
    #expect(text.contains(layout.rawValue) && text.contains(expected), "\(text)")
    #expect(text.contains(shape.map(String.init).joined(separator: "×")), "\(text)")
  }

  @Test("grids of other strides, and lists as long as grids, are taken where they are chosen")
  func takesOtherShapes() throws {
    for (layout, shape) in [
      (.yolo8, [1, 7, 64]), (.yolo5, [1, 192, 7]), (.yoloEndToEnd, [1, 84, 6]), (.rtDETR, [1, 300, 84]),
      (.yoloOBB, [1, 8, 64]),
    ] as [(DetectorLayout, [Int32])] {
      #expect(try detector(model([shape]) { _ in 0 }, layout).layout == layout)
    }
  }

  @Test("a single row of scores is a classifier's, however many there are")
  func refusesClassifiers() throws {
    for count in Array(1...12) + [80, 84, 85, 252] as [Int32] {
      for shape in [[1, count], [1, 1, count], [1, 1, 1, count]] {
        let text = message { _ = try detector(model([shape]) { _ in 0.1 }) }
        #expect(text.contains("not those of a detector"), "\(shape): \(text)")
      }
    }
    #expect(try detector(model([[1, 6]]) { _ in 0 }, .yoloEndToEnd).layout == .yoloEndToEnd)
  }

  @Test("rows of candidates are no picture, one without its edges is")
  func refusesRowsAsPictures() throws {
    for shape in [[1, 5, 84], [1, 84, 5], [1, 252, 7], [1, 300, 6], [1, 1, 84, 4], [1, 3, 84, 8]] as [[Int32]]
    {
      let text = message { _ = try PictureTransformer(model: model([shape]) { _ in 0.1 }.model()) }
      #expect(text.contains("in about the proportions of the input, 64×64"), "\(shape): \(text)")
      let mask = message { _ = try ImageSegmenter(model: model([shape]) { _ in 0.1 }.model()) }
      #expect(mask.contains("not those of a segmenter"), "\(shape): \(mask)")
    }
    let exact = try DetectorModel.postProcess(order: [0, 1, 2, 3], detections: 4).model()
    #expect(
      message { _ = try PictureTransformer(model: exact) }.contains("which detect answers, not transform"))
    for shape in [[1, 64, 64], [1, 60, 66], [1, 128, 128, 3], [1, 3, 52, 64]] as [[Int32]] {
      let transformer = try PictureTransformer(model: model([shape]) { _ in 0.1 }.model())
      #expect(transformer.outputWidth * transformer.outputHeight > 3000)
    }
  }

  @Test("a detector of one object is no classifier, though each of its outputs is a row")
  func refusesDetectors() throws {
    let model = try DetectorModel.postProcess(order: [0, 1, 2, 3], detections: 1).model()
    #expect(message { _ = try ImageClassifier(model: model) }.contains("which detect answers, not classify"))
    #expect(try ObjectDetector(model: model).detect(picture()).detections.count == 1)
  }

  @Test("a model with two inputs is refused with their names and what runs it")
  func namesInputs() throws {
    let two = DetectorModel(
      tensors: [
        .init(name: "images", shape: [1, 64, 64, 3]), .init(name: "orig_target_sizes", shape: [1, 2]),
        .init(
          name: "mask", shape: [1, 64, 64, 1], data: DetectorModel.data([Float](repeating: 0, count: 64 * 64))
        ),
      ], inputCount: 2, outputs: [2])
    let error = #expect(throws: ApusError.self) { try ImageSegmenter(model: two.model()) }
    for text in ["2 inputs", "images (float32 1×64×64×3)", "orig_target_sizes", "'apus run MODEL --input"] {
      #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
    }
  }

  // MARK: Columns

  /// Candidates of box, classes and more, with these numbers in every cell but for noise.
  private func columns(_ numbers: [Float]) -> DetectorModel {
    model([[1, Int32(numbers.count), 84]]) { place in
      let (column, cell) = (place / Self.cells, place % Self.cells)
      return column < 2 ? Float(cell % 8) / 8 : numbers[column] * (1 + Float(cell % 5) / 50)
    }
  }

  @Test("a last column that no score can have is an angle, however many classes there are")
  func recognizesAngles() throws {
    for angle: Float in [-0.6, 2.2] {
      let found = try detector(columns([0, 0, 0.1, 0.1, 0.001, 0.002, 0.001, angle]))
      #expect(found.layout == .yoloOBB)
    }
    #expect(try detector(columns([0, 0, 0.1, 0.1, 0.001, 0.002, 0.001, 0.003])).layout == .yolo8)
  }

  @Test("columns that are unlike scores are an error that lists what they can be, unless names decide")
  func listsAlternatives() throws {
    let angles = columns([0, 0, 0.1, 0.1, 0.001, 0.002, 0.001, 0.6])
    let text = message { _ = try detector(angles) }
    #expect(text.contains("yolo8") && text.contains("yolo-obb") && text.contains("--layout"), "\(text)")
    #expect(try detector(angles, labels: ["a", "b", "c", "d"]).layout == .yolo8)
    let pose = message { _ = try detector(columns([0, 0, 0.1, 0.1, 0.001, 0.4, 0.5, 0.01, 0.6, 0.7, 0.01])) }
    #expect(pose.contains("--keypoints 2x3"), "\(pose)")
  }

  @Test(
    "the number of names decides about objectness where candidates are rows, and is ambiguous where they are columns",
    arguments: [
      (false, ["a", "b"], .yolox), (false, ["a", "b", "c"], .yolo8), (true, ["a", "b", "c"], .yolo8),
      (true, ["a", "b"], nil),
    ] as [(Bool, [String], DetectorLayout?)])
  func countsNames(isTransposed: Bool, names: [String], layout: DetectorLayout?) throws {
    let strides = [8, 16, 32].flatMap { stride in
      Array(repeating: stride, count: (64 / stride) * (64 / stride))
    }
    let rows = strides.indices.map { row -> [Float] in
      let (stride, side) = (strides[row], 64 / strides[row])
      let cell = row - (strides.firstIndex(of: stride) ?? 0)
      let (x, y) = (cell % side * stride + stride / 2, cell / side * stride + stride / 2)
      return [Float(x), Float(y), 10, 12, 0.001, 0.002, row == 9 ? 0.9 : 0.003]
    }
    let model = model([isTransposed ? [1, 7, 84] : [1, 84, 7]]) { place in
      isTransposed ? rows[place % 84][place / 84] : rows[place / 7][place % 7]
    }
    guard let layout else {
      let text = message { _ = try detector(model, labels: names) }
      #expect(text.contains("yolo8 (box and 3 classes, one of which has no name among the 2)"), "\(text)")
      #expect(text.contains("yolox (box, objectness and 2 classes)") && text.contains("--layout"), "\(text)")
      #expect(
        try detector(model, .yolo8, labels: names).assumptions.warnings.contains {
          $0.contains("2 labels for 3")
        })
      return
    }
    let found = try detector(model, labels: names)
    #expect(found.layout == layout)
    #expect(found.assumptions.readings.first { $0.subject == "layout" }?.source == .guess)
  }

  @Test("an output with another number of classes than the exporter names is refused with both")
  func refusesNames() throws {
    var model = columns([0, 0, 0.1, 0.1, 0.001, 0.002, 0.001])
    (model.labels, model.appendedName) = (
      #"{"task": "detect", "names": ["a", "b", "c", "d", "e"]}"#, "metadata.json"
    )
    let text = message { _ = try detector(model) }
    #expect(text.contains("3 classes") && text.contains("of 5") && text.contains("--layout yolo8"), "\(text)")
    #expect(try detector(model, .yolo8).layout == .yolo8)
  }

  @Test("a class beyond the caller's names warns, one beyond the exporter's is an error")
  func classesBeyondNames() throws {
    let row: [Float] = [0.1, 0.1, 0.5, 0.5, 0.9, 7]
    var model = model([[1, 9, 6]]) { $0 < 6 ? row[$0] : 0 }
    let named = try detector(model, labels: ["a", "b", "c"])
    #expect(named.assumptions.warnings.isEmpty)
    #expect(try named.detect(picture()).detections.map(\.index) == [7])
    #expect(named.assumptions.warnings.contains { $0.contains("class 7") && $0.contains("3 labels") })
    let enough = try detector(model, labels: (0...7).map { "\($0)" })
    #expect(try enough.detect(picture()).detections.map(\.label) == ["7"])
    #expect(enough.assumptions.warnings.isEmpty)
    (model.labels, model.appendedName) = (#"{"task": "detect", "names": ["a"]}"#, "metadata.json")
    let exported = try detector(model, .yoloEndToEnd)
    #expect(message { _ = try exported.detect(picture()) }.contains("class 7"))
  }

  // MARK: Scores

  /// A classifier of three numbers, perhaps through a sigmoid.
  private func classifier(_ values: [Float], isSigmoid: Bool = false, type: UInt8 = DetectorModel.float32)
    -> DetectorModel
  {
    let shape = [1, Int32(values.count)]
    var model = DetectorModel(
      tensors: [
        .init(name: "image", shape: [1, 64, 64, 3], type: DetectorModel.uint8, quantization: (1 / 255, 0)),
        .init(
          name: "numbers", shape: shape, type: type,
          data: type == DetectorModel.uint8 ? values.map { UInt8($0) } : DetectorModel.data(values)),
        .init(name: "chances", shape: shape),
      ], outputs: [1])
    if isSigmoid {
      model.operators = [.init(code: Self.logistic, inputs: [1], outputs: [2])]
      model.outputs = [2]
    }
    return model
  }

  private func classify(_ model: DetectorModel, _ scores: ScoreForm?) throws -> (
    scores: [Float], warnings: [String]
  ) {
    var options = ImageClassifier.Options()
    options.scores = scores
    let classifier = try ImageClassifier(model: model.model(), options: options)
    let classes = try classifier.classify(picture()).categories.sorted { $0.index < $1.index }
    return (classes.map(\.score), classifier.assumptions.warnings)
  }

  @Test("logits that a sigmoid has made probabilities are warned of")
  func warnsOfLogits() throws {
    let model = classifier([1, 2, 3], isSigmoid: true)
    #expect(try classify(model, nil).warnings.isEmpty)
    #expect(try classify(model, .logit).warnings.contains { $0.contains("already") })
    #expect(try classify(classifier([1, 2, 3]), .logit).warnings.isEmpty)
  }

  @Test("bytes are probabilities times 255 where the options say so, and boxes have no such scores")
  func readsBytes() throws {
    let bytes = classifier([0, 51, 255], type: DetectorModel.uint8)
    #expect(try classify(bytes, .byte).scores == [0, 0.2, 1])
    #expect(message { _ = try classify(classifier([0, 1, 300]), .byte) }.contains("300"))
    var options = ObjectDetector.Options()
    options.scores = .byte
    let list = try model([[1, 9, 6]]) { _ in 0 }.model()
    #expect(message { _ = try ObjectDetector(model: list, options: options) }.contains("byte"))
  }

  @Test("a mask of 0 to 255 whose file does not say so is one where the options do")
  func readsMasks() throws {
    let values: [Float] = [0, 255, 100, 200]
    let model = model([[1, 4, 4, 1]]) { values[$0 % 4] }
    var options = ImageSegmenter.Options()
    options.scores = .byte
    let segmenter = try ImageSegmenter(model: model.model(), options: options)
    // Above half of 255: two columns of four.
    #expect(try segmenter.segment(picture()).classes.map(\.index).sorted() == [0, 1])
    let mask = try segmenter.segment(picture())
    #expect(mask.category(x: 2, y: 5) == 0 && mask.category(x: 24, y: 5) == 1)
  }
}
